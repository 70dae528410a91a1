"""What nodes hold besides links: the columns of tables, to be read, searched, filtered and shown as colours."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from isotherm.arrays import Ints
from isotherm.errors import Option, ParameterError
from isotherm.graphs import Graph
from isotherm.io.node_rows import matched_rows, node_texts

if TYPE_CHECKING:
    import polars as pl

    from isotherm.io.vectors import FeatureFile

SHOWN_NUMBERS = 12  # columns of numbers that are shown of a node
LONGEST_CELL = 20_000  # characters of a cell that are sent
SNIPPET = 200  # characters of a node's content beside its name
CATEGORIES = 60  # values of a column with a colour of their own
ENTRIES = 5_000_000  # a sparse matrix with more stored entries is not shown


class Values(NamedTuple):
    """One value for each node: numbers, or places in a list of categories."""

    values: NDArray[np.float32]  # (n,) NaN where there is none
    categories: list[str] | None  # None for numbers


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table, with the row of each node."""

    cells: "pl.Series"
    rows: Ints  # (n,) -1 for nodes without a row

    @cached_property
    def numbers(self) -> "pl.Series | None":
        """The cells as numbers, parsed if the table holds text; None if some cells are not numbers."""
        import polars as pl

        texts = self.cells if self.cells.dtype != pl.String else self.cells.replace("", None)
        numbers = texts.cast(pl.Float64, strict=False)
        return numbers if numbers.null_count() == texts.null_count() < len(texts) else None

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers."""
        return self.numbers is not None

    @cached_property
    def has_colours(self) -> bool:
        """Whether nodes can be coloured by this column: it holds numbers, or few categories."""
        return self.is_number or self.cells.n_unique() <= CATEGORIES

    @cached_property
    def texts(self) -> "pl.Series":
        """The cells as text, in lower case, for the search."""
        import polars as pl

        return self.cells.cast(pl.String, strict=False).fill_null("").str.to_lowercase()

    def at(self, place: int) -> str:
        """The cell of a node as text; empty if it has none."""
        row = int(self.rows[place])
        cell = None if row < 0 else self.cells[row]
        return "" if cell is None else str(cell)

    def find(self, text: str) -> NDArray[np.bool_]:
        """(n,) whether the cell of each node contains a text, which is in lower case."""
        found = self.texts.str.contains(text, literal=True).to_numpy()
        return np.append(found, False)[self.rows]

    def values(self) -> Values:
        """The numbers, or the most frequent texts as categories."""
        import polars as pl

        if self.numbers is not None:
            numbers = self.numbers.fill_null(float("nan")).to_numpy()
            return Values(np.append(numbers, np.nan)[self.rows].astype(np.float32), None)
        texts = self.cells.cast(pl.String, strict=False)
        counts = texts.drop_nulls().value_counts(sort=True, name="nodes")
        names = sorted(counts.to_series(0).head(CATEGORIES).to_list())
        places = {name: float(place) for place, name in enumerate(names)}
        codes = np.array([places.get(cell, np.nan) for cell in texts.to_list()], np.float32)
        return Values(np.append(codes, np.float32(np.nan))[self.rows], [name[:SNIPPET] for name in names])


@dataclass(frozen=True, eq=False)
class Contents:
    """The columns of all tables about the nodes of a graph; texts come first."""

    columns: Mapping[str, Column] = field(default_factory=dict)
    named_by: str | None = None  # the column with the names of nodes

    @classmethod
    def of(cls, tables: "Iterable[FeatureFile]", graph: Graph, named_by: str | None = None) -> "Contents":
        """The contents of some tables; ``named_by`` is the column with the names of nodes."""
        known: dict[str, int] | None = None
        found: dict[str, Column] = {}
        for table in tables:
            columns = _columns_of(table)
            if not columns:
                continue
            known = node_texts(graph) if known is None else known
            matched = matched_rows(table.ids, known)
            rows = np.full(graph.n_nodes, -1, np.int64)
            rows[matched.places] = matched.rows
            found |= {name: Column(cells, rows) for name, cells in columns.items() if name not in found}
        if named_by is not None and named_by not in found:
            listed = ", ".join(list(found)[:8]) or "there is no table of nodes"
            message = "{names}, but no table of nodes has this column: choose one of {listed}"
            raise ParameterError(message, names=Option("names", named_by), listed=listed)
        texts_first = sorted(found.items(), key=lambda pair: pair[1].is_number)
        return cls(dict(texts_first), named_by)

    def names(self, graph: Graph) -> list[str]:
        """The names of all nodes: from their column, or their ids where there is none."""
        ids = [str(node) for node in graph.nodes.tolist()]
        if self.named_by is None:
            return ids
        column = self.columns[self.named_by]
        return [column.at(place).strip() or name for place, name in enumerate(ids)]

    def at(self, place: int) -> list[tuple[str, str]]:
        """What a node holds: the names of the columns, and its cells."""
        shown = [name for name in self.columns if name != self.named_by]
        numbers = [name for name in shown if self.columns[name].is_number]
        hidden = set(numbers[SHOWN_NUMBERS:])
        cells = ((name, self.columns[name].at(place)[:LONGEST_CELL]) for name in shown if name not in hidden)
        return [(name, cell) for name, cell in cells if cell]

    def snippet(self, place: int) -> str:
        """The beginning of what a node holds."""
        texts = [name for name, column in self.columns.items() if name != self.named_by and not column.is_number]
        listed = texts or [name for name in self.columns if name != self.named_by][:3]
        cells = (self.columns[name].at(place) for name in listed[:3])
        return " · ".join(cell[:SNIPPET] for cell in cells if cell)[:SNIPPET]

    def find(self, text: str, most: int) -> list[int]:
        """Up to ``most`` nodes whose texts contain a text, in upper or lower case."""
        wanted, found = text.lower().strip(), np.zeros(0, bool)
        for column in self.columns.values():
            if wanted and not column.is_number:
                here = column.find(wanted)
                found = here if not len(found) else found | here
        return np.flatnonzero(found)[:most].tolist()


def _columns_of(table: "FeatureFile") -> "dict[str, pl.Series]":
    """The columns of a table by name: none for a dense array, and one, of column numbers, for a sparse matrix."""
    if isinstance(table.content, dict):
        return {str(name): cells for name, cells in table.content.items() if not cells.dtype.is_nested()}
    if issparse(table.content) and 0 < table.content.nnz <= ENTRIES:
        return {f"columns of {os.path.basename(table.name)}, rarest first": _entries(table.content)}
    return {}


def _entries(matrix: Any) -> "pl.Series":
    """The numbers of the columns in which each row of a sparse matrix is not 0, as text, rarest columns first."""
    import polars as pl

    rows, columns = matrix.nonzero()
    order = np.lexsort((columns, np.bincount(columns)[columns], rows))
    entries = pl.DataFrame({"row": rows[order], "column": columns[order]})
    listed = entries.group_by("row", maintain_order=True).agg(pl.col("column").cast(pl.String).str.join(" "))
    every = pl.DataFrame({"row": np.arange(matrix.shape[0], dtype=rows.dtype)})
    return every.join(listed, on="row", how="left", maintain_order="left")["column"]
