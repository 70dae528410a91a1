"""Graphs: nodes with ids of any kind, and weighted edges between them.

In come lists of edges, matrices, tables of vectors, and graphs of networkx or igraph. Out comes a `Graph`: the node
ids, and a checked matrix in compressed sparse rows (`Csr`). Edges and weights are validated here, once; the rooms above
trust a `Graph`. Read ``graph.py`` first. ``nodes.py`` numbers the ids, ``csr.py`` reads and tidies the matrix, and
``neighbours/`` finds the nearest rows of a table.
"""

from isotherm.graphs.csr import Csr
from isotherm.graphs.graph import Graph, as_graph

__all__ = ["Csr", "Graph", "as_graph"]
