"""Graphs: nodes with ids of any kind, and weighted edges between them.

In come lists of edges, data frames, matrices, tables of vectors, and networkx or igraph graphs. Out comes a `Graph`:
the node ids, and a checked matrix in compressed sparse rows (`Csr`). Edges and weights are validated here, once; the
packages above trust a `Graph`. Read ``graph.py`` first. ``nodes.py`` numbers the ids, ``csr.py`` reads and cleans the
matrix and reads kinds of edges, ``colours.py`` tells nodes apart by their surroundings, and
``other_libraries.py`` reads data frames and the graphs of other libraries. ``neighbours.py`` finds the nearest rows of
a table, which ``vector_rows.py`` prepares.
``packed.py`` opens graphs that stay on disk, whose ids are in ``packed_ids.py``, and ``packed_writing.py`` writes them.
"""

from isotherm.graphs.csr import Csr
from isotherm.graphs.graph import Graph, as_graph

__all__ = ["Csr", "Graph", "as_graph"]
