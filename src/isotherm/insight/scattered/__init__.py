"""Labels without the client: a fit whose temperatures stay with the workers of a Dask cluster, who write the labels.

In come a packed graph that the client does not read, seeds and settings; out comes a folder of Parquet files, one for
each worker, and a `Scattered` with what was done. Read ``labels.py`` first: it is the fit of this machine, with sums in
place of arrays. ``parts.py`` is what a worker does with the rows that it keeps.
"""
