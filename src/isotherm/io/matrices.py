"""SciPy's npz files of sparse matrices, those of the bundled datasets, and what all matrices share."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm.graph import Graph
from isotherm.io.edges import Edges, Options, built
from isotherm.io.errors import FileError, blaming, shorten
from isotherm.io.layout import Layout
from isotherm.io.streams import Input, opened, peek
from isotherm.nodes import distinct_ids, node_ids

__all__ = ["MODEL", "graph_of", "read_npz"]

MODEL = "isotherm"  # the array that tells a saved classifier
SAVE = "save a matrix with scipy.sparse.save_npz, or the arrays row, col and n"


def read_npz(file: Input, options: Options) -> tuple[Graph, Layout]:
    """A graph from an npz file: a sparse matrix that SciPy saved, or arrays ``row``, ``col`` and ``n``.

    The arrays may go with ``directed``, ``weight`` and ``node_names``. Without names, ids count from 0.
    """
    from scipy.sparse import load_npz

    source = file.source()
    if peek(source, 4) not in (b"PK\x03\x04", b"PK\x05\x06"):
        raise FileError(f"{file.name} is no npz file: it does not begin like one; {SAVE}")
    with blaming(file.name, "an npz file"), opened(source) as handle:
        with np.load(handle, allow_pickle=False) as arrays:
            if {"row", "col", "n"} <= set(arrays.files):
                return _from_lists(file.name, arrays, options), Layout("npz")
            if "format" not in arrays.files:
                raise _no_graph(file.name, arrays.files)
        handle.seek(0)
        matrix = load_npz(handle)
    return graph_of(file.name, matrix, options, first=0), Layout("npz")


def _no_graph(path: str, names: list[str]) -> FileError:
    if MODEL in names:
        return FileError(f"{path} is a saved classifier, not a graph; ask it with isotherm explain, or isotherm.load")
    return FileError(f"{path} holds no graph, but {', '.join(map(shorten, names[:3])) or 'nothing'}; {SAVE}")


def graph_of(path: str, matrix: Any, options: Options, first: int) -> Graph:
    """The graph of a matrix whose indices count from ``first``."""
    matrix = _weighted(path, matrix, options, first)
    rows, columns = matrix.shape
    if rows == columns:
        try:
            graph = Graph.from_scipy(matrix, directed=bool(options.directed))
        except ValueError as error:
            raise FileError(f"{path}: {error}{' (nodes counted from 0)' if first else ''}") from None
        return dataclasses.replace(graph, nodes=np.arange(first, first + rows))
    if options.directed:
        raise FileError(f"{path}: the matrix has {rows} rows and {columns} columns; such a graph is not directed")
    ids = np.arange(first, first + rows + columns)
    return Graph.from_biadjacency(matrix, rows=ids[:rows], columns=ids[rows:])


def _weighted(path: str, matrix: Any, options: Options, first: int) -> Any:
    """The matrix, with weights that are fine, or all one if they are not wanted."""
    from scipy.sparse import coo_array

    entries = coo_array(matrix)
    if entries.dtype.kind not in "biuf":
        raise FileError(f"{path}: the entries are {entries.dtype}; weights are real numbers")
    if options.weight is False:
        return coo_array(((entries.data != 0).astype(np.float64), (entries.row, entries.col)), shape=entries.shape)
    if options.weight not in (None, True):
        raise FileError(f"{path}: a matrix has no column {options.weight!r}; its entries are the weights")
    if len(entries.data) and not (entries.data.min() >= 0 and entries.data.max() < np.inf):
        bad = int(np.argmin((entries.data >= 0) & (entries.data < np.inf)))
        where = f"row {entries.row[bad] + first}, column {entries.col[bad] + first}"
        raise FileError(f"{path}, {where}: the weight is {entries.data[bad]}; it must be finite and not negative")
    return matrix


def _from_lists(path: str, arrays: Any, options: Options) -> Graph:
    n = int(arrays["n"])
    row, col = (_checked_positions(path, arrays[name], name, n) for name in ("row", "col"))
    if len(row) != len(col):
        raise FileError(f"{path}: row has {len(row)} entries and col {len(col)}; they must be as many")
    names = arrays["node_names"].ravel() if "node_names" in arrays.files else np.arange(n)
    if len(names) != n:
        raise FileError(f"{path}: there are {len(names)} node_names for {n} nodes")
    weight = arrays["weight"].ravel() if "weight" in arrays.files and options.weight is not False else None
    directed = options.directed
    if directed is None:
        directed = "directed" in arrays.files and bool(arrays["directed"])
    nodes = distinct_ids(node_ids(names, "node_names"))
    return built(Edges(row, col, weight, nodes, Layout("npz")), directed=directed)


def _checked_positions(path: str, positions: NDArray[Any], name: str, n: int) -> NDArray[np.integer]:
    if positions.dtype.kind not in "iu" or positions.ndim != 1:
        raise FileError(f"{path}: {name} must be a list of integers")
    if len(positions) and not (positions.min() >= 0 and positions.max() < n):
        raise FileError(f"{path}: {name} must hold positions from 0 to {n - 1}")
    return positions
