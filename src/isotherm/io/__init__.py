"""Files to graphs and seeds, labels to files; one module for each family of formats.

Every problem with a file is a `FileError`, a ValueError whose sentence names the file, the place and the remedy. Tables
need polars, and ``.zst`` files zstandard: ``pip install 'isotherm[cli]'``.
"""

from isotherm.io.errors import FileError, FileWarning
from isotherm.io.formats import FORMATS
from isotherm.io.graphs import GraphFile, read_graph, read_graph_file
from isotherm.io.labels import write_labels, write_table
from isotherm.io.layout import Column, Layout
from isotherm.io.output import check_output
from isotherm.io.seeds import SeedsFile, match_seeds, read_seeds, read_seeds_file

__all__ = [
    "FORMATS",
    "Column",
    "FileError",
    "FileWarning",
    "GraphFile",
    "Layout",
    "SeedsFile",
    "check_output",
    "match_seeds",
    "read_graph",
    "read_graph_file",
    "read_seeds",
    "read_seeds_file",
    "write_labels",
    "write_table",
]
