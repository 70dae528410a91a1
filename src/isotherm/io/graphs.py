"""Files to graphs."""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from isotherm.choices import DecimalSign
from isotherm.errors import Option, warn
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.graphs.packed import is_packed
from isotherm.io.edges import EdgeTable, built, is_one_file, number_edges, open_edges, open_parts
from isotherm.io.errors import FileWarning, shorten
from isotherm.io.file_layout import Layout, Options, Pick
from isotherm.io.formats import FORMATS, Format, format_of, imported
from isotherm.io.numbering import twins_among, warn_about_twins
from isotherm.io.sniffing import is_number
from isotherm.io.streams import Input, Progress

FEW_EDGES = 4
RARE = 0.05  # share of the edges that are isolated

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Reader = Callable[[Input, Options], tuple[Graph, Layout] | tuple[Graph, Layout, Any]]

LOGGER = logging.getLogger("isotherm")


class GraphFile(NamedTuple):
    """A graph that was read, how its file is laid out, and the vectors that it joins, if the file has them."""

    graph: Graph
    layout: Layout
    vectors: Any = None


def read_graph(
    path: Paths,
    *,
    directed: bool | None = None,
    source: Pick = None,
    target: Pick = None,
    weight: Pick | bool = None,
    delimiter: str | None = None,
    header: bool | None = None,
    format: str | None = None,  # noqa: A002 - the name that the commands use
    id: Pick = None,  # noqa: A002 - the name that the commands use
    encoding: str | None = None,
    thousands: bool = False,
    decimal: DecimalSign | None = None,
    nodes: str | os.PathLike[str] | Iterable[Any] | None = None,
    neighbors_key: str | None = None,
    edge_kind: Pick = None,
    max_graph_memory: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    r"""Read a graph from a file; its suffix decides the format.

    =====================================  =========================================================================
    ``.csv`` ``.tsv`` ``.txt`` ``.edges``  One edge in each row. Delimiter, header and columns are found, see
    ``.el`` ``.ncol`` ``out.*`` ...        :mod:`isotherm.io.sniffing`; files of SNAP and KONECT work
                                           unchanged. Ids are the texts in the file: ``007`` is not ``7``.
    ``.parquet`` ``.arrow`` ``.feather``   The same in columns; ids are text or integers, as in the file.
    ``.mtx`` ``.npz``                      A matrix, of MatrixMarket or of SciPy; rectangular: rows and columns are
                                           both nodes. Ids count from 1 in ``.mtx``, from 0 in ``.npz``.
    ``.mat``                               The only square matrix of a MATLAB file, or one named A; ids count from 1.
    ``.graphml`` ``.gexf`` ``.gml``        Ids are the ids of nodes, as text; in GML their labels, if all differ.
    ``.net``                               Pajek; ids are the labels of vertices if all differ, else numbers from 1.
    ``.xlsx``                              The first sheet of an Excel file, as a table.
    ``.graph`` ``.metis``                  The METIS format; ids count from 1.
    ``.h5ad``                              Cells of AnnData, and their neighbour graph; ids are barcodes.
    ``.iso``                               A packed graph, a folder that is mapped into memory; see `pack_edges`.
    =====================================  =========================================================================

    Text formats may be compressed, with the further suffix ``.gz``, ``.zst``, ``.bz2``, ``.xz`` or ``.zip``. A table
    may be in several files: a list of them, a pattern such as ``edges/*.parquet``, or a folder. A folder of NetSet,
    with ``adjacency.npz`` in it, is a graph.

    Parameters
    ----------
    path
        The file, or ``-`` for standard input; or several files.
    directed
        Whether edges are arcs; by default what the file says, and False if it says nothing.
    source, target, weight
        Columns of a table, by name or by number from 1. By default they are found by their names; without names they
        are the first two, and the third is the weight if it is numeric. ``weight=False`` ignores all weights, and
        ``weight="abs(amount)"`` takes the sizes of numbers of which some are negative.
    delimiter
        The delimiter of text: a character, or "tab" or "whitespace".
    header
        Whether the first row of delimited text names the columns.
    format
        Overrides the suffix: csv, tsv, text, parquet, arrow, xlsx, mtx, npz, mat, graphml, gexf, gml, pajek, metis,
        h5ad, netset or iso.
    id
        In GraphML, GEXF and GML, the attribute of nodes that is their id, such as ``name`` in files of igraph.
    encoding
        How text is written, such as cp1252; by default UTF-8.
    thousands
        Whether commas set off thousands in weights, as in 1,033.17.
    decimal
        The decimal sign of weights; "," for 1.033,17.
    nodes
        Further nodes, which may have no edges: their ids, or a table of them.
    neighbors_key
        In h5ad files, which neighbour graph, as scanpy calls it.
    edge_kind
        Of tables, the column that has the kind of each edge; `NodeClassifier` finds a weight for each kind.
    max_graph_memory
        The bytes that the graph may take, estimated from the numbers of nodes and edges; by default what is free, also
        in the container of this process. A larger graph is refused before it takes them.
    progress
        Called from another thread with the amount read so far and the total (None if unknown).

    Raises
    ------
    FileError
        A ValueError that says in one sentence which file is wrong, where, and what to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> edges = Path(tempfile.mkdtemp()) / "edges.csv"
    >>> _ = edges.write_text("from,to,weight\nann,bob,1\nbob,eve,2\n")
    >>> read_graph(edges)
    <Graph: 3 nodes, 2 edges, weighted>
    """
    options = Options(
        *(directed, source, target, weight, delimiter, header, max_graph_memory),
        *(id, encoding, thousands, decimal, neighbors_key, edge_kind),
    )
    read = with_nodes(read_graph_file(path, options, format=format, progress=progress), nodes)
    LOGGER.info("%s: %s; %s", path, read.layout, read.graph)
    return read.graph


def names_of(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """The names of one file, or of several."""
    return [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]


def with_nodes(read: GraphFile, nodes: str | os.PathLike[str] | Iterable[Any] | None) -> GraphFile:
    """The same graph with further nodes, from a list or from a table."""
    if nodes is None:
        return read
    if isinstance(nodes, str | os.PathLike):
        from isotherm.io.vectors import read_node_ids  # few graphs have such a table

        nodes = read_node_ids(nodes)
    return read._replace(graph=read.graph.with_nodes(nodes))


def read_graph_file(
    paths: Paths,
    options: Options = Options(),  # noqa: B008 - frozen
    *,
    format: str | None = None,  # noqa: A002 - the name that the commands use
    progress: Progress | None = None,
) -> GraphFile:
    r"""Read a graph as `read_graph` does, and say which columns, header and delimiter were found.

    >>> import tempfile
    >>> from pathlib import Path
    >>> edges = Path(tempfile.mkdtemp()) / "edges.txt"
    >>> _ = edges.write_text("# a comment\n1 2 0.5\n2 3 1.5\n")
    >>> print(read_graph_file(edges).layout)
    source=col 1, target=col 2, weight=col 3, header=no, delimiter=whitespace
    """
    names = names_of(paths)
    if len(names) != 1 or not is_one_file(names[0]):
        return _read_parts(names, options, format, progress)
    path = names[0]
    if is_packed(path):
        format = format or "iso"  # noqa: A001 - as above
    elif format != "iso" and not path.rstrip(os.sep).endswith(".iso") and not os.path.isdir(path):
        Input(path).check()
    known = format_of(path, format)
    file = Input(path, known.compression, progress, options.encoding)
    if known.name in ("jsonl", "communities"):
        raise FileError(f"{file.name}: {known.name} files hold seeds or labels; edges are read from CSV or Parquet")
    if options.id is not None and not FORMATS[known.name].attributes:
        named = ", ".join(name for name, kind in FORMATS.items() if kind.attributes)
        message = "{path}: {id} is for files whose nodes have attributes ({named}), not for {format}; leave it out"
        raise FileError(message, path=file.name, id=Option("id"), named=named, format=known.name)
    if known.name != "h5ad":
        _check_no_cells(file, options)
    with _naming(file):
        reader = FORMATS[known.name].reader
        if reader is not None:
            _check_no_columns(file, known, options)
            read: Reader = imported(reader)
            found = GraphFile(*read(file, options))
            if not found.graph.is_packed and found.graph.nodes.dtype == object:
                texts = (node for node in found.graph.nodes.tolist() if isinstance(node, str))
                warn_about_twins(file.name, twins_among(texts))
            return found
        found = _from_table(file, open_edges(file, known, options), options)
        if options.header is None and found.layout.header is False:
            _warn_about_header(file, found.graph, found.layout)
        return found


def _read_parts(names: list[str], options: Options, wanted: str | None, progress: Progress | None) -> GraphFile:
    """Read several tables of edges as one."""
    if not names:
        raise FileError("there are no files of edges: give at least one")
    table = open_parts(names, wanted, options, progress)
    file = Input(names[0])
    _check_no_cells(file, options)
    with _naming(file):
        return _from_table(file, table, options)


def _from_table(file: Input, table: EdgeTable, options: Options) -> GraphFile:
    edges = number_edges(file, table, options)
    return GraphFile(built(edges, directed=bool(options.directed)), edges.layout)


@contextmanager
def _naming(file: Input) -> Iterator[None]:
    """Add the name of the file to the errors of `Graph`, which does not know it."""
    try:
        yield
    except FileError:
        raise
    except ValueError as error:
        raise FileError("{path}: {error}", path=file.name, error=error) from None


def _warn_about_header(file: Input, graph: Graph, layout: Layout) -> None:
    """Warn if the first row may be a header: two texts that occur nowhere else, in a file where that is rare."""
    names = [str(node) for node in graph.nodes[:2]]
    if layout.roles["weight"] or graph.n_edges < FEW_EDGES or any(map(is_number, names)):
        return
    if _starts_isolated(graph) and _isolated_edges(graph) <= max(1, RARE * graph.n_edges):
        found = f"the first row is read as an edge, but {' and '.join(map(shorten, names))} occur nowhere else"
        message = "{path}: {found}; set {header} if it names the columns, and {no_header} if it does not"
        header, no_header = Option("header", True), Option("header", False)
        warning = FileWarning(message, path=file.name, found=found, header=header, no_header=no_header)
        warn(warning)


def _starts_isolated(graph: Graph) -> bool:
    """Whether the first two nodes have an edge between them and no other edge."""
    entries = 1 if graph.directed else 2
    return int(graph.csr.indptr[2]) == entries == np.count_nonzero(graph.csr.indices < 2)


def _isolated_edges(graph: Graph) -> int:
    """The number of such edges in the graph."""
    ends = np.stack([graph.csr.rows, graph.csr.indices])
    alone = np.bincount(ends.ravel(), minlength=graph.n_nodes) == (1 if graph.directed else 2)
    return int(np.count_nonzero(alone[ends].all(axis=0))) // (1 if graph.directed else 2)


def _check_no_cells(file: Input, options: Options) -> None:
    if options.neighbors_key is not None:
        message = "{path}: {key} is for files of cells (.h5ad), not for other graphs; leave it out"
        raise FileError(message, path=file.name, key=Option("neighbors_key"))


def _check_no_columns(file: Input, known: Format, options: Options) -> None:
    for name in ("source", "target", "delimiter", "header", "edge_kind"):
        if getattr(options, name) is not None:
            message = "{path}: {option} is for tables, not for {format} files; leave it out"
            raise FileError(message, path=file.name, option=Option(name), format=known.name)
