"""Files: graphs, seeds and vectors come in, tables of labels and saved classifiers go out.

Read ``labelled.py`` first: it reads a graph and its seeds together, by ``graphs.py`` and ``seeds.py``; ``vectors.py``
reads tables of vectors and features. A table goes this way: ``formats.py`` knows the suffix, ``streams.py`` gives the
bytes, ``sniffing.py`` finds delimiter and header, ``columns.py`` decides which column is which, ``tables.py`` and
``text.py`` give batches of rows (``batches.py``), and ``edges.py`` numbers the ids by ``numbering.py``. Formats that
hold a whole graph are in ``matrices.py``, ``attribute_formats.py`` and ``numbered_formats.py``. ``packing.py`` writes
graphs that may not fit in memory, ``output.py`` tables and ``models.py`` classifiers.

Every problem with a file is a `FileError`, a ValueError whose sentence names the file, the place and the remedy. Tables
need polars, and ``.zst`` files zstandard: ``pip install 'isotherm[cli]'``.
"""

from isotherm.files import FileError
from isotherm.io.errors import FileWarning, UnclearError
from isotherm.io.file_layout import Column, Layout
from isotherm.io.formats import FORMATS
from isotherm.io.graphs import GraphFile, read_graph, read_graph_file
from isotherm.io.labelled import read_labelled
from isotherm.io.output import check_output, write_rows, write_table
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
    "read_graph",
    "read_graph_file",
    "read_labelled",
    "read_seeds",
    "read_seeds_file",
    "shifted_by",
    "write_rows",
    "write_table",
]
