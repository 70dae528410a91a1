"""MatrixMarket files."""

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.io.errors import shorten
from isotherm.io.graph_formats.npz import graph_of
from isotherm.io.layout import Layout, Options
from isotherm.io.memory import Budget
from isotherm.io.streams import Input
from isotherm.io.tables.guessing.sniff import Dialect
from isotherm.io.tables.rows.batches import Batch, checked_weights
from isotherm.io.tables.rows.blocks import LONGEST
from isotherm.io.tables.rows.text import TextTable

__all__ = ["read_mtx"]

BANNER = "%%matrixmarket"
KNOWN = (
    (BANNER,),
    ("matrix",),
    ("coordinate", "array"),
    ("real", "double", "integer", "pattern"),
    ("general", "symmetric"),
)


class _Head(NamedTuple):
    """The banner and the line with the size."""

    layout: str
    field: str
    symmetry: str
    size: tuple[int, ...]  # rows, columns, and for a sparse matrix the entries
    lines: int

    @property
    def nodes(self) -> int:
        """The number of nodes; in a rectangular matrix rows and columns are both nodes."""
        rows, columns, *_ = self.size
        return rows if rows == columns else rows + columns

    @property
    def edges(self) -> int:
        """The number of entries."""
        rows, columns, *entries = self.size
        return entries[0] if entries else rows * columns

    @property
    def roles(self) -> tuple[str, ...]:
        """The numbers on each line."""
        if self.layout == "array":
            return ("weight",)
        return ("row", "column") if self.field == "pattern" else ("row", "column", "weight")


def read_mtx(file: Input, options: Options) -> tuple[Graph, Layout]:
    """A graph from a MatrixMarket file; ids count from 1, and in a rectangular matrix columns come after rows."""
    pieces = file.text()
    start, head = _opened(file.name, pieces)
    Budget(file.name, options.max_memory).check(nodes=head.nodes, edges=head.edges, weighted="weight" in head.roles)
    rest = chain(start.split(b"\n", head.lines)[head.lines :], pieces)
    dialect = Dialect(" ", quoted=False, commented=True, names=(None,) * len(head.roles), skip=head.lines)
    wanted = {role: place for place, role in enumerate(head.roles)}
    if options.weight is False and head.layout == "coordinate":
        wanted.pop("weight", None)
    batches = TextTable(file.name, dialect, rest).batches(wanted, frozenset(wanted))
    parts = [{role: _numbers(file.name, batch, role, head) for role in wanted} for batch in batches]
    columns = {role: np.concatenate([part[role] for part in parts] or [np.empty(0)]) for role in wanted}
    _check_count(file.name, head, len(columns[head.roles[0]]))
    matrix = _dense(head, columns) if head.layout == "array" else _sparse(head, columns)
    if options.directed and head.symmetry == "symmetric":
        off = matrix.row != matrix.col
        matrix = matrix + coo_array((matrix.data[off], (matrix.col[off], matrix.row[off])), shape=matrix.shape)
    return graph_of(file.name, matrix, options, first=1), Layout("mtx", first_id=1)


def _opened(path: str, pieces: Iterator[bytes]) -> tuple[bytes, _Head]:
    """The bytes read up to the line with the size or further, and the head."""
    start = b""
    for piece in pieces:
        start += piece
        if start[: len(BANNER)].decode("latin-1").lower() != BANNER:
            break
        lines = start.split(b"\n")
        for number, line in enumerate(lines[:-1], start=1):
            if number > 1 and line.strip() and not line.startswith(b"%"):
                return start, _head(path, lines[0], line, number)
        if len(start) > LONGEST:
            break
    else:
        raise FileError(f"{path} is truncated: there are no entries; copy it again")
    message = "{path} does not begin with %%MatrixMarket and a size; write it again, or set {format}"
    raise FileError(message, path=path, format=Option("format"))


def _head(path: str, banner: bytes, size: bytes, lines: int) -> _Head:
    words = banner.decode("latin-1").lower().split()
    if len(words) != 5 or any(word not in known for word, known in zip(words, KNOWN, strict=True)):
        known = "real, integer or pattern, and general or symmetric"
        raise FileError(f"{path}, line 1: {shorten(' '.join(words))} is not supported; the matrix must be {known}")
    numbers = tuple(int(word) if word.isdigit() and len(word) < 16 else -1 for word in size.split())
    if len(numbers) != (3 if words[2] == "coordinate" else 2) or min(numbers) < 0:
        found = shorten(size.decode("latin-1").strip())
        raise FileError(f"{path}, line {lines}: the size is {found}; it must be rows, columns and entries")
    return _Head(words[2], words[3], words[4], numbers, lines)


def _numbers(path: str, batch: Batch, role: str, head: _Head) -> NDArray[Any]:
    """A column of the file: weights, or indices from 0."""
    import polars as pl

    if role == "weight":
        return checked_weights(path, batch)
    most = head.size[0] if role == "row" else head.size[1]
    given = batch.frame[role]
    indices = given.cast(pl.Float64, strict=False).fill_null(0).to_numpy()
    wrong = ~((indices >= 1) & (indices <= most) & (indices == np.floor(indices)))
    if wrong.any():
        row = int(wrong.argmax())
        found = f"the {role} is {shorten(str(given[row]))}"
        raise FileError(f"{path}, {batch.place(row)}: {found}; it must be a whole number from 1 to {most}")
    return indices.astype(np.int64) - 1


def _check_count(path: str, head: _Head, found: int) -> None:
    rows, columns, *entries = head.size
    half = head.symmetry == "symmetric"
    if half and rows != columns:
        raise FileError(f"{path}, line {head.lines}: a symmetric matrix is square, not {rows} x {columns}")
    wanted = entries[0] if entries else rows * (rows + 1) // 2 if half else rows * columns
    if found != wanted:
        raise FileError(f"{path} is truncated or damaged: it has {found} entries, not {wanted}; copy it again")


def _sparse(head: _Head, columns: dict[str, NDArray[Any]]) -> coo_array:
    row, column = columns["row"], columns["column"]
    weight = columns.get("weight", np.ones(len(row)))
    return coo_array((weight, (row, column)), shape=head.size[:2])


def _dense(head: _Head, columns: dict[str, NDArray[Any]]) -> coo_array:
    """The matrix of values listed column by column; if it is symmetric, from the diagonal down."""
    rows, width = head.size
    if head.symmetry == "general":
        return coo_array(columns["weight"].reshape(width, rows).T)
    column, row = np.triu_indices(rows)
    return coo_array((columns["weight"], (row, column)), shape=head.size)
