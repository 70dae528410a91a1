"""NumPy's npz files: sparse matrices of SciPy, the bundled datasets, and what all matrices share."""

import dataclasses
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.graphs.nodes import distinct_ids, node_ids
from isotherm.io.errors import blaming, shorten
from isotherm.io.layout import Layout, Options, Pick
from isotherm.io.memory import Budget
from isotherm.io.streams import Input, opened, peek
from isotherm.io.tables.edges import Edges, built

__all__ = ["MODEL", "graph_of", "known_labels", "npz_labels", "read_npz"]

MODEL = "isotherm"  # the array that only a saved classifier has
SAVE = "save a matrix with scipy.sparse.save_npz, or the arrays row, col and n"


def read_npz(file: Input, options: Options) -> tuple[Graph, Layout]:
    """A graph from an npz file: a sparse matrix that SciPy saved, or arrays ``row``, ``col`` and ``n``.

    The arrays ``directed``, ``weight`` and ``node_names`` are optional. Without names, ids count from 0.
    """
    from scipy.sparse import load_npz

    with _opened(file, options) as handle:
        with np.load(handle, allow_pickle=False) as arrays:
            if {"row", "col", "n"} <= set(arrays.files):
                first_id = None if "node_names" in arrays.files else 0
                return _from_lists(file.name, arrays, options), Layout("npz", first_id=first_id)
            if "format" not in arrays.files:
                raise _no_graph(file.name, arrays.files)
        handle.seek(0)
        matrix = load_npz(handle)
    return graph_of(file.name, matrix, options, first=0), Layout("npz", first_id=0)


@contextmanager
def _opened(file: Input, options: Options) -> Iterator[Any]:
    """An npz file whose arrays fit in memory."""
    source = file.source()
    if peek(source, 4) not in (b"PK\x03\x04", b"PK\x05\x06"):
        raise FileError(f"{file.name} is not an npz file; {SAVE}")
    budget = Budget(file.name, options.max_memory)
    with blaming(file.name, "an npz file"), opened(source) as handle:
        with zipfile.ZipFile(handle) as archive:
            budget.check_bytes(sum(entry.file_size for entry in archive.infolist()))
        handle.seek(0)
        yield handle


def npz_labels(file: Input, options: Options, label: Pick) -> tuple[dict[Any, Any], str]:
    """The labels of nodes in an npz file, and the name of their array: by default one named labels, label or y.

    Labels are integers, -1 where unknown, or texts, empty where unknown. If there are ``label_names``, integers are
    positions among these.
    """
    with _opened(file, options) as handle, np.load(handle, allow_pickle=False) as arrays:
        names = [str(label)] if label is not None else ["labels", "label", "y"]
        name = next((name for name in names if name in arrays.files), None)
        if name is None:
            shown = ", ".join(map(shorten, arrays.files[:8])) or "nothing"
            message = "{path} has no array of labels named {names}, only {shown}; choose one with {label}"
            facts = {"path": file.name, "names": " or ".join(names), "shown": shown, "label": Option("label")}
            raise FileError(message, **facts)
        labels, ids = arrays[name].ravel(), _node_ids(file.name, arrays)
        texts = arrays["label_names"].ravel() if "label_names" in arrays.files and label is None else None
    if len(labels) != len(ids):
        raise FileError(f"{file.name}: there are {len(labels)} {name}, but {len(ids)} nodes; save one for each node")
    return known_labels(file.name, name, labels, texts, ids), name


def _node_ids(path: str, arrays: Any) -> NDArray[Any]:
    """The ids of the nodes of a graph in an npz file."""
    if "node_names" in arrays.files:
        return arrays["node_names"].ravel()
    if "n" in arrays.files:
        return np.arange(_checked_number(path, arrays["n"]))
    if "shape" not in arrays.files:
        raise _no_graph(path, arrays.files)
    rows, columns = arrays["shape"].tolist()
    return np.arange(rows if rows == columns else rows + columns)


def known_labels(
    path: str, name: str, labels: NDArray[Any], texts: NDArray[Any] | None, ids: NDArray[Any]
) -> dict[Any, Any]:
    """The labels that are known, by node."""
    if labels.dtype.kind not in "iubU":
        raise FileError(f"{path}: {name} holds {labels.dtype}; labels are integers or text")
    known = labels != "" if labels.dtype.kind == "U" else labels.astype(np.int64) != -1
    values = labels[known]
    if texts is not None and labels.dtype.kind in "iu":
        if len(values) and not 0 <= values.min() <= values.max() < len(texts):
            raise FileError(f"{path}: {name} must be positions among the {len(texts)} label_names; save it again")
        values = texts[values]
    found = dict(zip(ids[known].tolist(), values.tolist(), strict=True))
    if not found:
        raise FileError(f"{path} has no seeds: every label is empty; fill some in")
    return found


def _no_graph(path: str, names: list[str]) -> FileError:
    if MODEL in names:
        return FileError(f"{path} is a saved classifier, not a graph; ask it with isotherm explain, or isotherm.load")
    return FileError(f"{path} holds no graph, only {', '.join(map(shorten, names[:3])) or 'nothing'}; {SAVE}")


def graph_of(path: str, matrix: Any, options: Options, first: int) -> Graph:
    """The graph of a matrix whose indices count from ``first``."""
    matrix = _weighted(path, matrix, options, first)
    rows, columns = matrix.shape
    nodes = rows if rows == columns else rows + columns
    Budget(path, options.max_memory).check(nodes=nodes, edges=matrix.nnz, weighted=options.weight is not False)
    if rows == columns:
        try:
            graph = Graph.from_scipy(matrix, directed=bool(options.directed))
        except ValueError as error:
            note = " (nodes counted from 0)" if first else ""
            raise FileError("{path}: {error}{note}", path=path, error=error, note=note) from None
        return dataclasses.replace(graph, nodes=np.arange(first, first + rows))
    if options.directed:
        raise FileError(f"{path}: the matrix has {rows} rows and {columns} columns; only a square one can be directed")
    ids = np.arange(first, first + rows + columns)
    return Graph.from_biadjacency(matrix, rows=ids[:rows], columns=ids[rows:])


def _weighted(path: str, matrix: Any, options: Options, first: int) -> Any:
    """The matrix, with its weights checked, or all one if they are to be ignored."""
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
    n = _checked_number(path, arrays["n"])
    Budget(path, options.max_memory).check(nodes=n)
    row, col = (_checked_positions(path, arrays[name], name, n) for name in ("row", "col"))
    if len(row) != len(col):
        raise FileError(f"{path}: row has {len(row)} entries, but col has {len(col)}")
    names = arrays["node_names"].ravel() if "node_names" in arrays.files else np.arange(n)
    if len(names) != n:
        raise FileError(f"{path}: there are {len(names)} node_names, but {n} nodes")
    weight = arrays["weight"].ravel() if "weight" in arrays.files and options.weight is not False else None
    directed = options.directed
    if directed is None:
        directed = "directed" in arrays.files and bool(arrays["directed"])
    nodes = distinct_ids(node_ids(names, "node_names"))
    return built(Edges(row, col, weight, nodes, Layout("npz")), directed=directed)


def _checked_number(path: str, n: NDArray[Any]) -> int:
    if n.dtype.kind not in "iu" or n.size != 1 or not 0 <= n.item() < 2**31:
        found = shorten(n.item()) if n.size == 1 else f"{n.size} values"
        raise FileError(f"{path}: n is {found}, but it must be the number of nodes, a whole number; save it again")
    return int(n.item())


def _checked_positions(path: str, positions: NDArray[Any], name: str, n: int) -> NDArray[np.integer]:
    if positions.dtype.kind not in "iu" or positions.ndim != 1:
        raise FileError(f"{path}: {name} must be a list of integers")
    if len(positions) and not (positions.min() >= 0 and positions.max() < n):
        raise FileError(f"{path}: {name} must hold positions from 0 to {n - 1}")
    return positions
