"""Tables by format: `open_table` picks the reader for delimited text, JSON lines, Parquet, Arrow or Excel."""

import json
import logging
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotherm.files import FileError
from isotherm.io.batches import Batch, Table
from isotherm.io.columns import is_index_name
from isotherm.io.errors import blaming, need, shorten
from isotherm.io.file_layout import Values
from isotherm.io.formats import TEXTUAL
from isotherm.io.memory import Budget
from isotherm.io.parquet_pages import check_pages
from isotherm.io.streams import Input, peek
from isotherm.io.text import blocks, open_text

if TYPE_CHECKING:
    import polars as pl


def open_table(
    file: Input,
    format: str,  # noqa: A002 - as in read_graph
    *,
    rows: str = "edges",
    delimiter: str | None = None,
    header: bool | None = None,
    wanted: tuple[object, ...] = (),
) -> Table:
    """Open a table of "edges", "seeds" or "vectors"; options are only for text, see `isotherm.io.sniffing.sniff`."""
    if format in TEXTUAL:
        return open_text(file, format, rows=rows, delimiter=delimiter, header=header, wanted=wanted)
    if format == "xlsx":
        return open_excel(file)
    return open_jsonl(file) if format == "jsonl" else open_columns(file, format)


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
    """What the values of a column are; only a column that may hold row numbers is looked at."""
    if not is_index_name(name) or not dtype.is_integer():
        return Values(dtype.is_numeric())
    column = rows.select(name).head(SAMPLE).collect().to_series()
    return Values(True, not column.is_duplicated().any())


def _row(before: int, row: int) -> str:
    """Where a row is, for messages."""
    return f"row {before + row + 1}"


UNNAMED = "__UNNAMED__"  # how the reader calls columns without a name


@dataclass(frozen=True)
class ExcelTable(Table):
    """A sheet that was read."""

    names: tuple[str, ...]
    frame: "pl.DataFrame"
    height: int
    values: tuple[Values, ...] = ()

    def batches(self, places: Mapping[str, int], numbers: frozenset[str] = frozenset()) -> Iterator[Batch]:
        """All rows in one batch; row 1 of the sheet has the names."""
        import polars as pl

        columns = [self.frame.to_series(place).alias(role) for role, place in places.items()]
        yield Batch(pl.DataFrame(columns), lambda row: f"row {row + 2}")


def open_excel(file: Input) -> ExcelTable:
    """Open the first sheet of an Excel file."""
    pl = need("polars", "reading Excel files", extra="excel")
    need("fastexcel", "reading Excel files", extra="excel")
    with blaming(file.name, "an Excel file"):
        source = file.source()
        with zipfile.ZipFile(source) as archive:
            Budget(file.name).check_bytes(sum(entry.file_size for entry in archive.infolist()))
        with _silent("fastexcel.types.dtype"):  # which tells of columns without any value
            frame = pl.read_excel(source, engine="calamine", infer_schema_length=None)
    if not frame.height:
        raise FileError(f"{file.name} has no rows in its first sheet; fill it in, or put it first")
    names = tuple("" if name.startswith(UNNAMED) else name for name in frame.columns)
    values = tuple(Values(dtype.is_numeric()) for dtype in frame.dtypes)
    return ExcelTable(names, frame, frame.height, values)


@contextmanager
def _silent(name: str) -> Iterator[None]:
    """Drop what a logger of this name is told."""
    logger = logging.getLogger(name)
    drop = logging.Filter("nothing has this name")
    logger.addFilter(drop)
    try:
        yield
    finally:
        logger.removeFilter(drop)


ROW = 500  # bytes of an object with its texts


class JsonTable(Table):
    """JSON lines that were opened; the columns are the names in the first object."""

    names: tuple[str, ...]

    def __init__(self, path: str, rows: list[tuple[int, dict[str, Any]]]) -> None:
        self.path, self.rows = path, rows  # line number and object
        self.names = tuple(rows[0][1])

    def batches(self, places: Mapping[str, int], numbers: frozenset[str] = frozenset()) -> Iterator[Batch]:
        """All rows in one batch."""
        pl = need("polars", "reading JSON lines")
        series = []
        for role, place in places.items():
            name = self.names[place]
            values = [row.get(name) for _, row in self.rows]
            kinds = {type(value) for value in values if value is not None}
            if kinds == {int, float}:
                values, kinds = [None if value is None else float(value) for value in values], {float}
            if len(kinds) > 1 or not kinds <= {str, int, bool, float, list}:
                found = " and ".join(sorted(kind.__name__ for kind in kinds))
                raise FileError(f"{self.path}: the values of {name!r} are {found}; they must be of one kind")
            if kinds == {list}:
                with blaming(self.path, f"a table in which the lists of {name!r} have numbers"):
                    values = [None if value is None else [_number(each) for each in value] for value in values]
            series.append(pl.Series(role, values, strict=True))
        yield Batch(pl.DataFrame(series), lambda row: f"line {self.rows[row][0]}")


def open_jsonl(file: Input) -> JsonTable:
    """Open JSON lines."""
    budget, rows = Budget(file.name), list[tuple[int, dict[str, Any]]]()
    for block in blocks(file.name, file.text(), 1, None):
        budget.check_bytes(ROW * (len(rows) + block.breaks), "the table of seeds")
        for number, line in enumerate(block.text.removesuffix(b"\n").split(b"\n"), start=block.first):
            if line.strip():
                rows.append((number, _object(file.name, number, line)))
    if not rows:
        raise FileError(f"{file.name} has no rows: it is empty; write it again, or give another file")
    return JsonTable(file.name, rows)


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _object(path: str, number: int, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        text = shorten(line.decode(errors="replace").strip())
        raise FileError(f"{path}, line {number}: {text} is not a JSON object; every line must be one")
    return value
