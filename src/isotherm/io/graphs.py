"""Files to graphs."""

import os
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isotherm.graph import Graph
from isotherm.io.edges import Options, built, read_edges
from isotherm.io.errors import FileError, FileWarning, shorten
from isotherm.io.formats import Format, format_of
from isotherm.io.layout import Layout, Pick
from isotherm.io.matrices import read_npz
from isotherm.io.metis import read_metis
from isotherm.io.mtx import read_mtx
from isotherm.io.sniff import is_number
from isotherm.io.streams import Input, Progress
from isotherm.io.xml import read_gexf, read_graphml

__all__ = ["GraphFile", "read_graph", "read_graph_file"]

SOME = 10_000  # nodes that are looked at
FEW_EDGES = 4
RARE = 0.05  # share of the edges that stand alone

Reader = Callable[[Input, Options], tuple[Graph, Layout]]

READERS: dict[str, Reader] = {
    "mtx": read_mtx,
    "npz": read_npz,
    "graphml": read_graphml,
    "gexf": read_gexf,
    "metis": read_metis,
}


class GraphFile(NamedTuple):
    """A graph that was read, and how its file is laid out."""

    graph: Graph
    layout: Layout


def read_graph(
    path: str | os.PathLike[str],
    *,
    directed: bool | None = None,
    source: Pick = None,
    target: Pick = None,
    weight: Pick | bool = None,
    delimiter: str | None = None,
    header: bool | None = None,
    format: str | None = None,  # noqa: A002 - the name that the commands use
    progress: Progress | None = None,
) -> Graph:
    r"""Read a graph from a file; its suffix decides the format.

    ====================================  =========================================================================
    ``.csv`` ``.tsv`` ``.txt`` ``.edges``  One edge in each row. Delimiter, header and columns are found, see
    ``.el`` ``.ncol`` ``out.*`` ...        :mod:`isotherm.io.sniff`; files of SNAP and KONECT are read as they are.
                                          Ids are the texts in the file: ``007`` is not ``7``.
    ``.parquet`` ``.arrow`` ``.feather``   The same in columns; ids are text or integers, as in the file.
    ``.mtx`` ``.npz``                      A matrix, of MatrixMarket or of SciPy; rectangular: rows and columns are
                                          both nodes. Ids count from 1 in ``.mtx``, from 0 in ``.npz``.
    ``.graphml`` ``.gexf``                 Ids are those of the nodes, as text.
    ``.graph`` ``.metis``                  The METIS format; ids count from 1.
    ====================================  =========================================================================

    Text formats may be compressed, with the further suffix ``.gz`` or ``.zst``.

    Parameters
    ----------
    path
        The file, or ``-`` for standard input.
    directed
        Whether edges are arcs; by default what the file says, and no where it does not say.
    source, target, weight
        Columns of a table, by name or by number from 1. By default they are found by their names; without names they
        are the first two, and the third is the weight if it is numeric. ``weight=False`` reads all weights as one.
    delimiter
        Of delimited text: a character, or "tab" or "whitespace".
    header
        Whether the first row of delimited text names the columns.
    format
        In place of the suffix: csv, tsv, text, parquet, arrow, mtx, npz, graphml, gexf or metis.
    progress
        Called with what was read and what there is to read (None if unknown), from another thread.

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
    return read_graph_file(
        path,
        directed=directed,
        source=source,
        target=target,
        weight=weight,
        delimiter=delimiter,
        header=header,
        format=format,
        progress=progress,
    ).graph


def read_graph_file(
    path: str | os.PathLike[str],
    *,
    directed: bool | None = None,
    source: Pick = None,
    target: Pick = None,
    weight: Pick | bool = None,
    delimiter: str | None = None,
    header: bool | None = None,
    format: str | None = None,  # noqa: A002 - the name that the commands use
    progress: Progress | None = None,
) -> GraphFile:
    r"""Read a graph as `read_graph` does, and say which columns, header and delimiter were found.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> edges = Path(tempfile.mkdtemp()) / "edges.txt"
    >>> _ = edges.write_text("# a comment\n1 2 0.5\n2 3 1.5\n")
    >>> print(read_graph_file(edges).layout)
    source=col 1, target=col 2, weight=col 3, header=no, delimiter=whitespace
    """
    options = Options(directed, source, target, weight, delimiter, header)
    path = os.fspath(path)
    Input(path).check()
    known = format_of(path, format)
    file = Input(path, known.compression, progress)
    if known.name == "jsonl":
        raise FileError(f"{file.name}: JSON lines hold seeds or labels; edges are read from CSV or Parquet")
    try:
        if known.name in READERS:
            _check_no_columns(file, known, options)
            return GraphFile(*READERS[known.name](file, options))
        edges = read_edges(file, known, options)
        graph = built(edges, directed=bool(options.directed))
        _warn_about_blanks(file, graph)
        if options.header is None and edges.layout.header is False:
            _warn_about_header(file, graph, edges.layout)
        return GraphFile(graph, edges.layout)
    except ValueError as error:  # of the graph, which does not know the file
        if isinstance(error, FileError):
            raise
        raise FileError(f"{file.name}: {error}") from None


def _warn_about_header(file: Input, graph: Graph, layout: Layout) -> None:
    """Warn if the first row may name the columns: two texts that occur nowhere else, which is no habit of the file."""
    names = [str(node) for node in graph.nodes[:2]]
    if layout.roles["weight"] or graph.n_edges < FEW_EDGES or any(map(is_number, names)):
        return
    if _is_pair(graph) and _pairs(graph) <= max(1, RARE * graph.n_edges):
        first = " and ".join(map(shorten, names))
        warnings.warn(
            f"{file.name}: the first row is read as an edge, though {first} occur nowhere else; "
            "if it names the columns, say so with header=True, and if not, with header=False",
            FileWarning,
            stacklevel=3,
        )


def _warn_about_blanks(file: Input, graph: Graph) -> None:
    """Warn if ids differ by the blanks around them only, as where a blank follows each comma."""
    blank = [node for node in graph.nodes[:SOME].tolist() if isinstance(node, str) and node != node.strip()]
    twins = {node.strip() for node in blank}.intersection(graph.nodes.tolist()) if blank else set()
    if twins:
        bare = min(twins)
        padded = next(node for node in blank if node.strip() == bare)
        warnings.warn(
            f"{file.name}: {shorten(padded)} and {shorten(bare)} are different nodes; "
            "delete the blanks around ids if they are the same",
            FileWarning,
            stacklevel=3,
        )


def _is_pair(graph: Graph) -> bool:
    """Whether the first two nodes have one edge, between them, and no other."""
    entries = 1 if graph.directed else 2
    return int(graph.csr.indptr[2]) == entries == np.count_nonzero(graph.csr.indices < 2)


def _pairs(graph: Graph) -> int:
    """The number of such pairs among all nodes."""
    ends = np.stack([graph.csr.rows, graph.csr.indices])
    alone = np.bincount(ends.ravel(), minlength=graph.n_nodes) == (1 if graph.directed else 2)
    return int(np.count_nonzero(alone[ends].all(axis=0))) // (1 if graph.directed else 2)


def _check_no_columns(file: Input, known: Format, options: Options) -> None:
    asked = {name for name in ("source", "target", "delimiter", "header") if getattr(options, name) is not None}
    if asked:
        raise FileError(f"{file.name}: {known.name} files have no {' or '.join(sorted(asked))} to choose")
