"""Graphs: nodes with ids of any kind, and weighted edges between them.

In come lists of edges, matrices, tables of vectors, and graphs of networkx or igraph. Out comes a `Graph`: the node
ids, and a checked matrix in compressed sparse rows (`Csr`). Edges and weights are validated here, once; the rooms above
trust a `Graph`. Read ``graph.py`` first, then ``constructors.py``, which has the ways to build one. ``nodes.py``
numbers the ids, ``csr.py`` reads and tidies the matrix, ``neighbours/`` finds the nearest rows of a table, and
``packed/`` maps graphs from disk.
"""

from isotherm.graphs.csr import Csr
from isotherm.graphs.graph import Graph, as_graph

__all__ = ["Csr", "Graph", "as_graph"]
