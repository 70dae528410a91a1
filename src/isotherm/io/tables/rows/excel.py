"""Excel files: the first sheet is a table, its first row names the columns."""

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isotherm.files import FileError
from isotherm.io.errors import blaming, need
from isotherm.io.layout import Values
from isotherm.io.memory import Budget
from isotherm.io.streams import Input, opened
from isotherm.io.tables.rows.batches import Batch, Table

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ExcelTable", "open_excel"]

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
        with opened(file.source()) as handle, zipfile.ZipFile(handle) as archive:
            Budget(file.name).check_bytes(sum(entry.file_size for entry in archive.infolist()))
        frame = pl.read_excel(file.source(), engine="calamine", infer_schema_length=None)
    if not frame.height:
        raise FileError(f"{file.name} has no rows in its first sheet; fill it in, or put it first")
    names = tuple("" if name.startswith(UNNAMED) else name for name in frame.columns)
    values = tuple(Values(dtype.is_numeric()) for dtype in frame.dtypes)
    return ExcelTable(names, frame, frame.height, values)
