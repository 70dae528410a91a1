"""Columnar files: Parquet and Arrow."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotherm.io.errors import blaming, need
from isotherm.io.layout import Values
from isotherm.io.streams import Input, peek
from isotherm.io.tables.guessing.names import is_index_name
from isotherm.io.tables.rows.batches import Batch, Table
from isotherm.io.tables.rows.parquet_pages import check_pages

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ColumnTable", "open_columns"]

SAMPLE = 1000
ROWS = 1 << 18  # rows of a batch: their hashes fit in the cache
KINDS = {"parquet": "a Parquet file", "arrow": "an Arrow file"}


@dataclass(frozen=True)
class ColumnTable(Table):
    """A columnar file that was opened."""

    file: Input
    kind: str
    names: tuple[str, ...]
    rows: "pl.LazyFrame"
    height: int
    values: tuple[Values, ...] = ()

    def batches(self, places: Mapping[str, int], numbers: frozenset[str] = frozenset()) -> Iterator[Batch]:
        """Columns keep the types that they have in the file."""
        import polars as pl

        wanted = self.rows.select(pl.col(self.names[place]).alias(role) for role, place in places.items())
        done = 0
        with blaming(self.file.name, KINDS[self.kind]):
            for frame in wanted.collect_batches(chunk_size=ROWS, maintain_order=True):
                yield Batch(frame, partial(_row, done))
                done += frame.height
                if self.file.progress:
                    self.file.progress(done, self.height)


def open_columns(file: Input, kind: str) -> ColumnTable:
    """Open a file of the kind "parquet" or "arrow"."""
    pl = need("polars", f"reading {kind.capitalize()} files")
    with blaming(file.name, KINDS[kind]):
        rows = _scan(pl, file.source(), kind)
        height = rows.select(pl.len()).collect().item()
        schema = rows.collect_schema()
        values = tuple(_values(rows, name, dtype) for name, dtype in schema.items())
        return ColumnTable(file, kind, tuple(schema.names()), rows, height, values)


def _scan(pl: Any, source: Path | BytesIO, kind: str) -> "pl.LazyFrame":
    if kind == "parquet":
        check_pages(source)
        return pl.scan_parquet(source, glob=False)
    if peek(source, 6) == b"ARROW1":
        return pl.scan_ipc(source)
    return pl.read_ipc_stream(source).lazy()  # Arrow's stream format has no magic number


def _values(rows: "pl.LazyFrame", name: str, dtype: "pl.DataType") -> Values:
    """What the values of a column are; those of a column that may hold row numbers are looked at."""
    if not is_index_name(name) or not dtype.is_integer():
        return Values(dtype.is_numeric())
    column = rows.select(name).head(SAMPLE).collect().to_series()
    return Values(True, not column.is_duplicated().any())


def _row(before: int, row: int) -> str:
    """Where a row is, for messages."""
    return f"row {before + row + 1}"
