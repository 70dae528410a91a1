"""Edges from tables: the columns of source, target and weight, with ids as positions."""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isotherm.errors import Option, warn
from isotherm.files import FileError
from isotherm.graphs import Graph
from isotherm.graphs.csr import assembled, check_size, edge_weights
from isotherm.io.errors import FileWarning, shorten
from isotherm.io.formats import Format
from isotherm.io.layout import Layout, Options
from isotherm.io.memory import Budget
from isotherm.io.streams import Input
from isotherm.io.tables.codebook import Codebook, Words, keys_of
from isotherm.io.tables.guessing.roles import edge_roles, unused_numbers
from isotherm.io.tables.rows import open_table
from isotherm.io.tables.rows.batches import Batch, Floats, ahead, checked_ids, checked_weights, missing_id

if TYPE_CHECKING:
    import polars as pl

__all__ = ["EdgeBatch", "EdgeTable", "Edges", "built", "ids_at", "number_edges", "open_edges", "read_edges"]

SHORT_ROW = 8  # bytes; most rows of text are longer
MANY_ROWS = 1 << 27  # room is made for so many at most before they are read


class Edges(NamedTuple):
    """Edges as a table lists them.

    Attributes
    ----------
    source, target
        (m,) positions of the ends in ``nodes``.
    weight
        (m,) or None.
    nodes
        (n,) ids in order of first appearance, row by row, source before target.
    layout
        Which columns these are.
    """

    source: NDArray[np.integer]
    target: NDArray[np.integer]
    weight: Floats | None
    nodes: NDArray[Any]
    layout: Layout


class EdgeBatch(NamedTuple):
    """Some edges of a table, checked: ids are text or int64, without nulls; text may still be empty."""

    source: "pl.Series"
    target: "pl.Series"
    weight: Floats | None
    place: Callable[[int], str]


class EdgeTable(NamedTuple):
    """A table of edges that was opened.

    Attributes
    ----------
    layout
        Which columns are which.
    height
        The number of rows, if it is known.
    batches
        The edges, some rows at a time.
    """

    layout: Layout
    height: int | None
    batches: Iterator[EdgeBatch]


class _Part(NamedTuple):
    """A batch of edges, and the keys of its ids."""

    source: "pl.Series"
    target: "pl.Series"
    keys: Words
    weight: Floats | None
    place: Callable[[int], str]


def open_edges(file: Input, known: Format, options: Options) -> EdgeTable:
    """Open a table of edges; warns if columns that may hold weights are not used."""
    wanted = tuple(options.picks.values())
    table = open_table(file, known.name, delimiter=options.delimiter, header=options.header, wanted=wanted)
    layout = table.layout(known.name, edge_roles(file.name, table.names, options.picks, table.values))
    if options.weight is None and layout.roles["weight"] is None:
        _warn_about_numbers(file.name, unused_numbers(table.names, table.values, layout.roles))
    batches = table.batches(layout.places, frozenset({"weight"}))
    return EdgeTable(layout, table.height, _checked(file.name, ahead(batches), options, layout))


def read_edges(file: Input, known: Format, options: Options) -> Edges:
    """Read the edges of a table, and number their ends."""
    return number_edges(file, open_edges(file, known, options), options)


def number_edges(file: Input, table: EdgeTable, options: Options) -> Edges:
    """Number the ends of the edges of a table that was opened."""
    layout, height, batches = table
    budget = Budget(file.name, options.max_memory)
    weighted = layout.roles["weight"] is not None
    budget.check(edges=height or 0, weighted=weighted)
    ends = _Ends(_rows_at_most(file) if height is None else height)
    nodes = edges = 0
    ids, weights = [], list[Any]()
    for part, first in ahead(_numbered(ahead(_parts(batches)), ends)):
        nodes, edges = nodes + len(first), edges + len(part.source)
        budget.check(nodes=nodes, edges=edges, weighted=weighted)
        ids.append(_new_ids(file.name, part, first))
        weights.append(part.weight)
    if not ids:
        raise FileError(f"{file.name} has no rows, so no edges")
    weight = np.concatenate(weights) if weighted else None
    source, target = ends.all()
    return Edges(source, target, weight, np.concatenate(ids), layout)


def built(edges: Edges, *, directed: bool) -> Graph:
    """The graph of these edges."""
    check_size(len(edges.nodes), directed)
    weights = edge_weights(edges.weight, len(edges.source))
    entries = assembled(edges.source, edges.target, weights, edges.nodes)
    return Graph._from_entries(entries, edges.nodes, directed=directed)


def _warn_about_numbers(path: str, names: list[str]) -> None:
    """Warn if columns that may hold weights are not used."""
    if names:
        found = f"the numbers in {', '.join(map(shorten, names[:3]))} are not read, so all edges weigh the same"
        message = "{path}: {found}; take weights from a column with {weight}, or silence this with {unweighted}"
        choice = {"weight": Option("weight", names[0]), "unweighted": Option("weight", False)}
        warn(FileWarning(message, path=path, found=found, **choice))


class _Ends:
    """Positions of sources and targets in one growing array; rows never written to take no memory."""

    def __init__(self, rows: int) -> None:
        self._room = np.empty((2, rows), dtype=np.int32)
        self._rows = 0

    def more(self, rows: int) -> NDArray[np.int32]:
        """The next (2, rows) entries, to be filled."""
        before, self._rows = self._rows, self._rows + rows
        if self._rows > self._room.shape[1]:
            held, self._room = self._room[:, :before], np.empty((2, 2 * self._rows), dtype=np.int32)
            self._room[:, :before] = held
        return self._room[:, before : self._rows]

    def all(self) -> NDArray[np.int32]:
        """All sources, and all targets."""
        return self._room[:, : self._rows]


def _rows_at_most(file: Input) -> int:
    """A number of rows that text of this size rarely exceeds."""
    return min(os.path.getsize(file.path) // SHORT_ROW, MANY_ROWS) if file.seekable else 0


def _parts(batches: Iterator[EdgeBatch]) -> Iterator[_Part]:
    """The batches, with the keys of their ids."""
    for source, target, weight, place in batches:
        yield _Part(source, target, keys_of(source, target), weight, place)


def _checked(path: str, batches: Iterator[Batch], options: Options, layout: Layout) -> Iterator[EdgeBatch]:
    """The batches, checked."""
    import polars as pl

    column = layout.roles.get("weight")
    name = column and (column.name or str(column.number))

    for batch in batches:
        source, target = (checked_ids(path, batch, role) for role in ("source", "target"))
        if source.dtype != target.dtype and pl.String in (source.dtype, target.dtype):
            held = f"the source column holds {source.dtype} and the target column {target.dtype}"
            raise FileError(f"{path}: {held}; both must be text, or both integers")
        weight = checked_weights(path, batch, options, name) if "weight" in batch.frame.columns else None
        yield EdgeBatch(source, target, weight, batch.place)


def _numbered(parts: Iterator[_Part], ends: _Ends) -> Iterator[tuple[_Part, NDArray[np.int64]]]:
    """The parts with their ends numbered, each with the places of ids that occur for the first time."""
    book = Codebook()
    for part in parts:
        yield part, book.add(part.keys, ends.more(len(part.source)))


def _new_ids(path: str, part: _Part, first: NDArray[np.int64]) -> NDArray[Any]:
    """The ids at the places that `Codebook.add` gave."""
    return ids_at(path, part, first).to_numpy()  # a Series would keep the texts of its whole batch alive


def ids_at(path: str, part: _Part | EdgeBatch, places: NDArray[np.int64]) -> "pl.Series":
    """The ids at the places that `Codebook.add` gave, none of them empty."""
    import polars as pl

    ids = pl.concat([part.source, part.target], rechunk=False).gather(places // 2 + places % 2 * len(part.source))
    if ids.dtype == pl.String and (empty := ids == "").any():
        row, end = divmod(int(places[empty.arg_max() or 0]), 2)
        raise missing_id(path, part.place(row), ("source", "target")[end])
    return ids
