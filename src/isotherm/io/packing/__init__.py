"""Files of edges to packed graphs, however large: memory is bounded, the rest is on disk.

Names of files and folders go in, a folder ``graph.iso`` comes out. Read ``packing.py`` first: it reads all edges twice,
once to number the nodes and once to deal the edges to buckets by row. ``sources.py`` opens the files one after another,
``numbering.py`` turns ids into positions, and ``buckets.py`` deals, sorts and merges.
"""

from isotherm.io.packing.packing import pack_edges

__all__ = ["pack_edges"]
