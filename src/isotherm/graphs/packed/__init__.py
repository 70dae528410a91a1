"""Packed graphs: a graph as a folder of plain arrays, mapped into memory instead of read.

A `Graph` goes into a folder ``graph.iso`` (``writing.py``), piece by piece if it does not fit in memory, and comes out
again as a `PackedGraph` (``graph.py``), whose pages the system reads when they are used and drops when memory is short.
Read ``folder.py`` first: it says what is in the folder, and checks it before any kernel trusts it. ``ids.py`` finds
node ids without a dictionary of all nodes.
"""

from isotherm.graphs.packed.folder import Manifest, PackedError, is_packed, read_ids, read_rows
from isotherm.graphs.packed.graph import PackedGraph, open_packed
from isotherm.graphs.packed.writing import PackWriter, check_folder, pack, writing_folder

__all__ = [
    "Manifest",
    "PackWriter",
    "PackedError",
    "PackedGraph",
    "check_folder",
    "is_packed",
    "open_packed",
    "pack",
    "read_ids",
    "read_rows",
    "writing_folder",
]
