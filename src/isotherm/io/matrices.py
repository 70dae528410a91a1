"""Formats that hold a matrix: npz of SciPy, MatrixMarket, MATLAB, folders of NetSet; and packed graphs.

Read `graph_of` first, which makes a graph of any matrix.
"""

import dataclasses
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat, mminfo, mmread, whosmat
from scipy.sparse import coo_array, issparse

from isotherm.errors import Option, first_few
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.graphs.nodes import distinct_ids, node_ids
from isotherm.graphs.packed import open_packed
from isotherm.graphs.untrusted import checked_sparse, sparse_of_arrays
from isotherm.io.edges import Edges, built
from isotherm.io.errors import blaming, shorten
from isotherm.io.file_layout import Layout, Options, Pick
from isotherm.io.formats import NETSET
from isotherm.io.memory import Budget, joined
from isotherm.io.streams import Input, opened, peek

BANNER = (("matrix",), ("coordinate", "array"), ("real", "double", "integer", "pattern"), ("general", "symmetric"))
LONGEST_BANNER = 1 << 10  # bytes
SIZE_LINE = re.compile(rb"(?m)^(?!%).*\S.*$")
NUMERALS = b"0123456789+-.eE \t\r\n"
BLANK, NEWLINE = b" \n"
USUAL = ("A", "adj", "adjacency", "network", "W", "G")  # names of matrices in MATLAB
NPZ_LABELS = ("labels", "label", "y")
USUAL_LABELS = ("label", "labels", "y", "Y", "group", "class")
HDF = b"\x89HDF"
MAT_HEADER = 128  # bytes
MAT_TYPES = (1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18)  # integers, floats and texts in the elements of MATLAB files
MAT_FLAGS, MAT_MATRIX, MAT_COMPRESSED = 6, 14, 15
MAT_SPARSE, MAT_NUMERIC, MAT_COMPLEX = 5, range(6, 16), 1 << 11  # in the flags of a matrix
LABEL_NAMES = ("names_labels", "labels_names", "label_names")  # in folders of NetSet
MODEL = "isotherm"  # the array that only a saved classifier has
SAVE = "save a matrix with scipy.sparse.save_npz, or the arrays row, col and n"


def read_npz(file: Input, options: Options) -> tuple[Graph, Layout]:
    """A graph from an npz file: a sparse matrix that SciPy saved, or arrays ``row``, ``col`` and ``n``.

    The arrays ``directed``, ``weight`` and ``node_names`` are optional. Without names, ids count from 0.
    """
    with opened_npz(file, options.max_memory) as handle, np.load(handle, allow_pickle=False) as arrays:
        if {"row", "col", "n"} <= set(arrays.files):
            first_id = None if "node_names" in arrays.files else 0
            return _from_lists(file.name, arrays, options), Layout("npz", first_id=first_id)
        if "format" not in arrays.files:
            raise _no_graph(file.name, arrays.files)
        matrix = sparse_of_arrays(arrays)
    return graph_of(file.name, matrix, options, first=0), Layout("npz", first_id=0)


@contextmanager
def opened_npz(file: Input, max_memory: int | None = None, source: Path | BytesIO | None = None) -> Iterator[Any]:
    """An npz file whose arrays fit in memory; ``source`` is what `Input.source` gave, if that was asked already."""
    source = file.source() if source is None else source
    if peek(source, 4) not in (b"PK\x03\x04", b"PK\x05\x06"):
        raise FileError(f"{file.name} is not an npz file; {SAVE}")
    budget = Budget(file.name, max_memory)
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
    with opened_npz(file, options.max_memory) as handle, np.load(handle, allow_pickle=False) as arrays:
        name = _label_name(file.name, "array", NPZ_LABELS if label is None else (str(label),), arrays.files)
        labels, ids = arrays[name].ravel(), _node_ids(file.name, arrays)
        texts = arrays["label_names"].ravel() if "label_names" in arrays.files and label is None else None
    if len(labels) != len(ids):
        raise FileError(f"{file.name}: there are {len(labels)} {name}, but {len(ids)} nodes; save one for each node")
    return known_labels(file.name, name, labels, texts, ids), name


def _label_name(path: str, kind: str, wanted: Sequence[str], there: Sequence[str]) -> str:
    """The first wanted name that is there."""
    name = next((name for name in wanted if name in there), None)
    if name is None:
        shown, names = first_few(there, text=shorten) or "nothing", " or ".join(wanted)
        message = f"{{path}} has no {kind} of labels named {{names}}, only {{shown}}; choose one with {{label}}"
        raise FileError(message, path=path, names=names, shown=shown, label=Option("label"))
    return name


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


def read_mtx(file: Input, options: Options) -> tuple[Graph, Layout]:
    """A graph from a MatrixMarket file; ids count from 1, and in a rectangular matrix columns come after rows."""
    path, content = file.name, joined(file.name, chain(file.text(), [b"\n"]))  # SciPy crashes on some unended lines
    _check_banner(path, content)
    with blaming(path, "a MatrixMarket file"):
        try:
            rows, columns, entries, layout, field, symmetry = mminfo(BytesIO(content))
            if symmetry == "symmetric" and rows != columns:
                raise FileError(f"{path}: a symmetric matrix is square, not {rows} x {columns}")
            nodes = rows if rows == columns else rows + columns
            Budget(path, options.max_memory).check(nodes=nodes, edges=entries, weighted=field != "pattern")
            lower_half = layout == "array" and symmetry == "symmetric"
            listed = rows * (rows + 1) // 2 if lower_half else entries
            _check_entries(path, content, listed, 1 if layout == "array" else 2 + (field != "pattern"))
            if symmetry == "symmetric" and layout == "coordinate" and not options.directed:
                # entries are edges: SciPy would count an edge twice if the file lists both of its directions
                banner, _, rest = content.partition(b"\n")
                content = re.sub(rb"(?i)symmetric", b"general", banner) + b"\n" + rest
            matrix = coo_array(mmread(BytesIO(content)))
        except FileError:
            raise
        except (ValueError, OverflowError) as error:
            raise _malformed(path, str(error)) from None
    return graph_of(path, matrix, options, first=1), Layout("mtx", first_id=1)


def _check_banner(path: str, content: bytes) -> None:
    words = content[:LONGEST_BANNER].partition(b"\n")[0].decode("latin-1").lower().split()
    if words[:1] != ["%%matrixmarket"]:
        message = "{path} does not begin with %%MatrixMarket and a size; write it again, or set {format}"
        raise FileError(message, path=path, format=Option("format"))
    if len(words) != 5 or any(word not in known for word, known in zip(words[1:], BANNER, strict=True)):
        known = "real, integer or pattern, and general or symmetric"
        raise FileError(f"{path}, line 1: {shorten(' '.join(words))} is not supported; the matrix must be {known}")


def _malformed(path: str, problem: str) -> FileError:
    """The error for what SciPy says about a file."""
    if "Premature EOF" in problem:
        return FileError(f"{path} is truncated: there are no entries; copy it again")
    line, _, rest = problem.rpartition(": ")
    where = f"{path}, {line.lower()}" if line else f"{path}, in the line with the size"
    return FileError(f"{where}: {rest[:1].lower()}{rest[1:].rstrip('.')}; correct it, or copy the file again")


def _check_entries(path: str, content: bytes, entries: int, width: int) -> None:
    """Refuse what SciPy would ignore, or crash on: text after a number, and rows that are too long."""
    size = SIZE_LINE.search(content)
    assert size is not None
    before, body = content.count(b"\n", 0, size.end() + 1), content[size.end() + 1 :]

    def row(line: int) -> str:
        """Where a row is, and what is in it."""
        text = shorten(body.split(b"\n", line + 1)[line].decode("latin-1").strip())
        return f"{path}, line {before + line + 1}: {text}"

    odd = body.translate(None, NUMERALS)
    if odd:
        found = row(body.count(b"\n", 0, body.index(odd[:1])))
        raise FileError(f"{found} is not a row of {width} finite numbers; correct it")
    codes = np.frombuffer(body, np.uint8)
    fields = np.diff((codes > BLANK).astype(np.int8), prepend=0) == 1
    ends = np.flatnonzero(codes == NEWLINE)
    widths = np.diff(np.cumsum(fields, dtype=np.int64)[ends], prepend=0)
    uneven = np.flatnonzero((widths != width) & (widths != 0))
    if len(uneven):
        found = row(int(uneven[0]))
        raise FileError(f"{found} has {widths[uneven[0]]} columns, not {width}; correct it")
    if (listed := np.count_nonzero(widths)) != entries:
        raise FileError(f"{path} is truncated or damaged: it has {listed} entries, not {entries}; copy it again")


def read_mat(file: Input, options: Options) -> tuple[Graph, Layout]:
    """A graph from a MATLAB file: its only square matrix, one named A or the like, or ``Problem.A`` of SuiteSparse."""
    variables = _variables(file, options)
    square = {name: value for name, value in variables.items() if value.shape[0] == value.shape[1] > 1}
    name = next((name for name in USUAL if name in square), next(iter(square)) if len(square) == 1 else None)
    if name is None:
        found = ", ".join(map(shorten, square or variables)) or "nothing"
        what = "several square matrices" if square else "no square matrix"
        raise FileError(f"{file.name} has {what}: {found}; name that of the edges A and save it again")
    return graph_of(file.name, coo_array(square[name]), options, first=1), Layout("mat", first_id=1)


def mat_labels(file: Input, options: Options, label: Pick) -> tuple[dict[Any, Any], str]:
    """The labels of nodes in a MATLAB file, and the name of their variable; 0, -1 and NaN mean unknown."""
    variables = _variables(file, options)
    name = _label_name(file.name, "variable", USUAL_LABELS if label is None else (str(label),), list(variables))
    Budget(file.name, options.max_memory).check_bytes(8 * int(np.prod(variables[name].shape, dtype=np.float64)))
    return _mat_labels(file.name, name, variables[name]), name


def _mat_labels(path: str, name: str, values: Any) -> dict[Any, Any]:
    """Labels by node; in a matrix with a column for each class, the column of the only entry of a row."""
    rows, columns = values.shape
    dense = values.toarray() if issparse(values) else np.asarray(values)
    if min(rows, columns) > 1:
        marked = dense != 0
        if (marked.sum(axis=1) > 1).any():
            raise FileError(
                f"{path}: in {name} some nodes have several labels; write a table with a row for each label"
            )
        codes = np.where(marked.any(axis=1), marked.argmax(axis=1) + 1, 0)
    else:
        flat = dense.ravel()
        if flat.dtype.kind not in "biuf" or (np.nan_to_num(flat) % 1).any():
            raise FileError(f"{path}: {name} holds {flat.dtype}, but labels are whole numbers; give another variable")
        codes = np.nan_to_num(flat).astype(np.int64)
    known = np.flatnonzero((codes != 0) & (codes != -1))
    if not len(known):
        raise FileError(f"{path} has no seeds: every label is 0, which means unknown; fill some in")
    return dict(zip((known + 1).tolist(), codes[known].tolist(), strict=True))


def _variables(file: Input, options: Options) -> dict[str, Any]:
    """The numeric variables of a file, by name."""
    source = file.source()
    if peek(source, 4) == HDF:
        raise FileError(f"{file.name} is of MATLAB 7.3; save it with save(..., '-v7')")
    budget = Budget(file.name, options.max_memory)
    with blaming(file.name, "a MATLAB file"), opened(source) as handle:
        _check_elements(handle, budget)
        handle.seek(0)
        for _, shape, kind in whosmat(handle):
            if kind not in ("sparse", "struct", "cell"):
                budget.check_bytes(8 * int(np.prod(shape, dtype=np.float64)))
        handle.seek(0)
        found = loadmat(handle)
        variables = {name: value for name, value in found.items() if not name.startswith("__")}
        problem = variables.get("Problem")
        if isinstance(problem, np.ndarray) and problem.dtype.names and "A" in problem.dtype.names:
            variables["A"] = problem["A"].item()
        matrices = {name: value for name, value in variables.items() if _is_matrix(value)}
        return {name: checked_sparse(value) if issparse(value) else value for name, value in matrices.items()}


def _check_elements(handle: BinaryIO, budget: Budget) -> None:
    """Refuse elements of a MATLAB file of version 5 whose type is unknown, on which SciPy crashes."""
    header = handle.read(MAT_HEADER)
    if len(header) < MAT_HEADER or 0 in header[:4]:  # version 4, which SciPy reads in Python
        return
    order: Literal["little", "big"] = "little" if header[-2:] == b"IM" else "big"
    end = handle.seek(0, os.SEEK_END)
    place = handle.seek(MAT_HEADER)
    while place + 8 <= end:
        kind, size = (int.from_bytes(handle.read(4), order) for _ in range(2))
        if size > end - place - 8:
            raise ValueError("an element is longer than the file")
        if kind == MAT_COMPRESSED:
            most = budget.limit if budget.limit is not None else 2**62
            content = zlib.decompressobj().decompress(handle.read(size), most)
            budget.check_bytes(len(content))
            _check_element(BytesIO(content), len(content), order)
        else:
            handle.seek(place)
            _check_element(handle, place + 8 + size, order)
        place = handle.seek(place + 8 + size)


def _check_element(stream: BinaryIO, end: int, order: Literal["little", "big"]) -> None:
    """Check the tags up to a place, one after the other, as SciPy reads them; those of a matrix follow its own."""
    place = stream.tell()
    due = 0  # elements of the present matrix that have to come before another matrix
    while place + 8 <= end:
        kind, size = (int.from_bytes(stream.read(4), order) for _ in range(2))
        if kind == MAT_MATRIX and not due:
            if size and stream.read(8) != b"".join(each.to_bytes(4, order) for each in (MAT_FLAGS, 8)):
                raise ValueError("a matrix does not begin with its kind")
            due = _parts(int.from_bytes(stream.read(4), order)) if size else 0
            place = stream.seek(place + (24 if size else 8))
            continue
        small = kind >> 16  # up to 4 bytes are stored in the tag itself
        if kind & 0xFFFF not in MAT_TYPES or small > 4 or (not small and size > end - place - 8):
            raise ValueError(f"an element has the type {kind & 0xFFFF} and {small or size} bytes")
        place = stream.seek(place + 8 + (0 if small else size + -size % 8))
        due = max(due - 1, 0)
    if due:
        raise ValueError(f"a matrix lacks {due} of its elements")


def _parts(flags: int) -> int:
    """How many elements follow the flags of a matrix: its shape, its name, and its numbers."""
    kind, has_imaginary = flags & 0xFF, bool(flags & MAT_COMPLEX)
    if kind == MAT_SPARSE:
        return 5 + has_imaginary
    return 3 + has_imaginary if kind in MAT_NUMERIC else 0


def _is_matrix(value: Any) -> bool:
    return issparse(value) or (isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "biuf")


def read_netset(file: Input, options: Options) -> tuple[Graph, Layout]:
    """The graph of a folder; its names are the ids if all differ, and otherwise nodes are counted from 0."""
    path = next(path for name in NETSET if os.path.isfile(path := os.path.join(file.path, name)))
    graph, _ = read_npz(Input(path, None, file.progress), options)
    names = _names(file.path, graph)
    if names is None:
        return graph, Layout("netset", first_id=0)
    return dataclasses.replace(graph, nodes=names), Layout("netset")


def netset_labels(file: Input, options: Options, label: Pick) -> tuple[dict[Any, Any], str]:
    """The labels of a folder, from ``labels.npy``; if the matrix is rectangular, they are labels of its rows."""
    name = "labels" if label is None else str(label)
    labels = _array(file.path, name)
    if labels is None:
        raise FileError(f"{file.path} has no {name}.npy, so no labels; give a file of labels")
    graph, _ = read_netset(file, options)
    if labels.ndim != 1 or len(labels) not in (graph.n_nodes, graph.n_rows):
        raise FileError(f"{file.path}: {name}.npy has the shape {labels.shape}, but there are {graph.n_nodes} nodes")
    texts = next((found for each in LABEL_NAMES if (found := _array(file.path, each)) is not None), None)
    return known_labels(file.path, f"{name}.npy", labels, texts, graph.nodes[: len(labels)]), name


def _names(folder: str, graph: Graph) -> NDArray[Any] | None:
    """The names of the nodes, if there is one for each and all differ."""
    parts = [_array(folder, name) for name in (("names",) if graph.n_rows is None else ("names_row", "names_col"))]
    if any(part is None for part in parts):
        return None
    names = np.concatenate([part.astype(str) for part in parts if part is not None]).astype(object)
    return names if len(names) == graph.n_nodes == len(set(names.tolist())) else None


def _array(folder: str, name: str) -> NDArray[Any] | None:
    path = os.path.join(folder, f"{name}.npy")
    if not os.path.isfile(path):
        return None
    with blaming(path, "an npy file"):
        return np.load(path, allow_pickle=False)


def read_packed(file: Input, options: Options) -> tuple[Graph, Layout]:
    """Open a packed graph; whether it is directed was decided when it was packed."""
    graph = open_packed(file.path)
    if options.directed not in (None, graph.directed):
        kind = "a directed" if graph.directed else "an undirected"
        message = "{path} was packed as {kind} graph; leave out {directed}, or pack the edges again"
        raise FileError(message, path=file.name, kind=kind, directed=Option("directed", options.directed))
    if options.weight not in (None, True, False):
        message = "{path}: a packed graph has no columns; leave out {weight}, or pack the edges again"
        raise FileError(message, path=file.name, weight=Option("weight", options.weight))
    found = graph.unweighted() if options.weight is False else graph
    return found, Layout("iso", first_id=0 if graph.manifest.ids == "none" else None)
