"""Edges from tables: the columns of source, target and weight, with ids as positions."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isotherm.csr import assembled, check_size, edge_weights
from isotherm.graph import Graph
from isotherm.io.codebook import Codebook, Words, keys_of
from isotherm.io.errors import FileError
from isotherm.io.formats import TEXTUAL, Format
from isotherm.io.layout import Layout, Pick, edge_roles
from isotherm.io.streams import Input
from isotherm.io.tables import Batch, Floats, ahead, checked_ids, checked_weights, missing_id, open_columns
from isotherm.io.text import open_text

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Edges", "Options", "built", "read_edges"]

SHORT_ROW = 8  # bytes
MANY_ROWS = 1 << 27


@dataclass(frozen=True)
class Options:
    """What the caller of `read_graph` knows about a file; None for what is to be found out."""

    directed: bool | None = None
    source: Pick = None
    target: Pick = None
    weight: Pick | bool = None
    delimiter: str | None = None
    header: bool | None = None

    @property
    def picks(self) -> dict[str, Any]:
        """The columns that were asked for, by role."""
        return {"source": self.source, "target": self.target, "weight": self.weight}


class Edges(NamedTuple):
    """Edges as a table lists them.

    Attributes
    ----------
    source, target
        (m,) positions of the ends in ``nodes``.
    weight
        (m,) or None.
    nodes
        (n,) ids in order of first appearance, row after row, source before target.
    layout
        Which columns these are.
    """

    source: NDArray[np.integer]
    target: NDArray[np.integer]
    weight: Floats | None
    nodes: NDArray[Any]
    layout: Layout


class _Part(NamedTuple):
    """A batch of edges, checked, and what stands for its ids."""

    source: "pl.Series"
    target: "pl.Series"
    keys: Words
    weight: Floats | None
    place: Callable[[int], str]


def read_edges(file: Input, known: Format, options: Options) -> Edges:
    """Read the edges of a table, and number their ends."""
    layout, batches, rows = _opened(file, known, options)
    ends, ids, weights = _Ends(rows), [], list[Any]()
    for part, first in ahead(_numbered(ahead(_parts(file.name, ahead(batches))), ends)):
        ids.append(_first_seen(file.name, part, first))
        weights.append(part.weight)
    if not ids:
        raise FileError(f"{file.name} has no rows, so no edges")
    weight = None if layout.roles["weight"] is None else np.concatenate(weights)
    source, target = ends.all()
    return Edges(source, target, weight, np.concatenate(ids), layout)


def built(edges: Edges, *, directed: bool) -> Graph:
    """The graph of these edges."""
    check_size(len(edges.nodes), directed)
    weights = edge_weights(edges.weight, len(edges.source))
    entries = assembled(edges.source, edges.target, weights, edges.nodes)
    return Graph._from_entries(entries, edges.nodes, directed=directed)


class _Ends:
    """Positions of sources and targets, collected; room that is never used takes no memory."""

    def __init__(self, rows: int) -> None:
        self._room = np.empty((2, rows), dtype=np.int32)
        self._rows = 0

    def more(self, rows: int) -> NDArray[np.int32]:
        """An array to be filled with the next ones."""
        before, self._rows = self._rows, self._rows + rows
        if self._rows > self._room.shape[1]:
            held, self._room = self._room[:, :before], np.empty((2, 2 * self._rows), dtype=np.int32)
            self._room[:, :before] = held
        return self._room[:, before : self._rows]

    def all(self) -> NDArray[np.int32]:
        """All sources, and all targets."""
        return self._room[:, : self._rows]


def _opened(file: Input, known: Format, options: Options) -> tuple[Layout, Iterator[Batch], int]:
    """How the table is laid out, its batches, and the number of its rows, guessed from its size if need be."""
    if known.name in TEXTUAL:
        told = {"delimiter": options.delimiter, "header": options.header, "wanted": tuple(options.picks.values())}
        text = open_text(file, known.name, **told)
        roles = edge_roles(file.name, text.names, options.picks, numeric=text.dialect.numeric)
        layout = Layout(known.name, roles, text.dialect.header, text.dialect.delimiter)
        table: Any = text
    else:
        table = open_columns(file, known.name)
        layout = Layout(known.name, edge_roles(file.name, table.names, options.picks))
    places = {role: column.number - 1 for role, column in layout.roles.items() if column}
    return layout, table.batches(places, frozenset({"weight"})), getattr(table, "height", _rows_at_most(file))


def _rows_at_most(file: Input) -> int:
    """A number of rows that text of this size rarely exceeds."""
    return min(os.path.getsize(file.path) // SHORT_ROW, MANY_ROWS) if file.seekable else 0


def _parts(path: str, batches: Iterator[Batch]) -> Iterator[_Part]:
    """The batches, checked."""
    import polars as pl

    for batch in batches:
        source, target = (checked_ids(path, batch, role) for role in ("source", "target"))
        if source.dtype != target.dtype and pl.String in (source.dtype, target.dtype):
            held = f"the source column holds {source.dtype} and the target column {target.dtype}"
            raise FileError(f"{path}: {held}; both must be text, or both integers")
        weight = checked_weights(path, batch) if "weight" in batch.frame.columns else None
        yield _Part(source, target, keys_of(source, target), weight, batch.place)


def _numbered(parts: Iterator[_Part], ends: _Ends) -> Iterator[tuple[_Part, NDArray[np.int64]]]:
    """The parts, their ends numbered, and where ids are new."""
    book = Codebook()
    for part in parts:
        yield part, book.add(part.keys, ends.more(len(part.source)))


def _first_seen(path: str, part: _Part, first: NDArray[np.int64]) -> NDArray[Any]:
    """The ids at some places: row times two, plus one for a target."""
    import polars as pl

    ids = pl.concat([part.source, part.target], rechunk=False).gather(first // 2 + first % 2 * len(part.source))
    if ids.dtype == pl.String and (empty := ids == "").any():
        row, end = divmod(int(first[empty.arg_max() or 0]), 2)
        raise missing_id(path, part.place(row), ("source", "target")[end])
    return ids.to_numpy()  # a Series would keep the texts of all its batch
