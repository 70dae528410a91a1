"""Files: graphs and seeds come in, labels and saved classifiers go out.

Read ``reading/`` first: it leads from a path to a Graph, seeds or vectors. ``labelled.py`` reads graph and seeds
together. ``output.py`` writes tables and ``models.py`` saved classifiers. Below them,
``formats.py`` knows the suffixes, ``layout.py`` has what a caller says about a file, ``streams/`` reads bytes, and
``memory.py`` says whether a graph fits. ``tables/`` parses tables of edges or seeds, ``graph_formats/`` the formats
that hold a whole graph, and ``packing/`` writes graphs that may not fit in memory. Every problem with a file is a
`FileError`, a ValueError whose sentence names the file, the place and the remedy. Tables need polars, and ``.zst``
files zstandard: ``pip install 'isotherm[cli]'``.
"""

from isotherm.files import FileError
from isotherm.io.errors import FileWarning, UnclearError
from isotherm.io.formats import FORMATS
from isotherm.io.labelled import read_labelled
from isotherm.io.layout import Column, Layout
from isotherm.io.output import check_output, write_rows, write_table
from isotherm.io.packing import pack_edges
from isotherm.io.reading.features import read_features
from isotherm.io.reading.graphs import GraphFile, read_graph, read_graph_file
from isotherm.io.reading.seeds import SeedsFile, labels_like, match_seeds, read_seeds, read_seeds_file, shifted_by

__all__ = [
    "FORMATS",
    "Column",
    "FileError",
    "FileWarning",
    "GraphFile",
    "Layout",
    "SeedsFile",
    "UnclearError",
    "check_output",
    "labels_like",
    "match_seeds",
    "pack_edges",
    "read_features",
    "read_graph",
    "read_graph_file",
    "read_labelled",
    "read_seeds",
    "read_seeds_file",
    "shifted_by",
    "write_rows",
    "write_table",
]
