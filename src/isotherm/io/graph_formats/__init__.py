"""Formats that hold one whole graph: SciPy's npz, MatrixMarket, METIS, GraphML and GEXF.

An open file and the caller's `Options` come in, a `Graph` and its `Layout` go out. There is one module for each family
of formats. Read ``npz.py`` first: its ``graph_of`` makes a graph of any matrix.
"""
