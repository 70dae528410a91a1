"""From a path to a graph, seeds, vectors or features.

A path comes in, with what the caller says about the file; a `Graph`, labels by node, or arrays go out. Read
``graphs.py`` first: it picks the reader for the format. ``seeds.py`` reads known labels and matches them with the nodes
of a graph. ``vectors.py`` reads tables of vectors, and ``features.py`` puts them into the order of a graph.
"""
