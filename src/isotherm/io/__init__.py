"""Files: graphs and seeds come in, labels and saved classifiers go out.

Read ``graphs.py`` first: it leads from a path to a Graph. Beside it, ``vectors.py`` reads tables of vectors,
``features.py`` puts them into the order of a graph, ``seeds.py`` reads known labels, ``labels.py`` writes results and
``models.py`` saves classifiers. Below them, ``streams/`` reads bytes, ``output.py`` writes them, ``memory.py`` says
whether a graph fits, ``formats.py`` knows the suffixes, ``tables/`` parses tables of edges or seeds, ``graph_formats/``
the formats that hold a whole graph, and ``packing/`` writes graphs that may not fit in memory. Every problem with a
file is a `FileError`, a ValueError whose sentence names the file, the place and the remedy. Tables need polars, and
``.zst`` files zstandard: ``pip install 'isotherm[cli]'``.
"""

from isotherm.io.errors import FileError, FileWarning, UnclearError
from isotherm.io.features import read_features
from isotherm.io.formats import FORMATS
from isotherm.io.graphs import GraphFile, read_graph, read_graph_file
from isotherm.io.labels import write_labels, write_table
from isotherm.io.layout import Column, Layout
from isotherm.io.output import check_output
from isotherm.io.packing import pack_edges
from isotherm.io.seeds import SeedsFile, labels_like, match_seeds, read_seeds, read_seeds_file, shifted_by

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
    "read_seeds",
    "read_seeds_file",
    "shifted_by",
    "write_labels",
    "write_table",
]
