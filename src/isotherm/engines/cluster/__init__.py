"""The engine of a Dask cluster: each worker holds some rows of the matrix, and all solve together.

In come a problem and options, as for the engine of this machine; out comes the same solution. Read ``engine.py`` first,
then ``session.py``: how a client sends a problem to the workers and begins again when one is lost. ``work.py`` is what
a worker does, ``rows.py`` its rows and the halo, ``part.py`` the solver, ``post.py`` the messages between workers,
``checkpoints.py`` what is saved on the way, and ``clients.py`` which cluster is used. Dask itself is imported only when
the engine is used.
"""
