"""Tables to files: batches of columns are written as CSV, TSV, JSON lines, Parquet, Arrow or Excel.

Read `write_rows` first. It knows nothing about classifiers: whoever has results gives them as columns, some rows at a
time. A file appears when it is complete; see `isotherm.files`.
"""

import gzip
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from isotherm import files
from isotherm.errors import Option
from isotherm.files import STANDARD, FileError, FolderKind, check_target
from isotherm.io.errors import need
from isotherm.io.formats import Format, format_of
from isotherm.io.streams import Progress

if TYPE_CHECKING:
    import polars as pl

WRITABLE = ("csv", "tsv", "jsonl", "parquet", "arrow", "xlsx")
SUFFIXES = ".csv, .tsv, .jsonl (these also with .gz or .zst), .parquet, .arrow or .xlsx"
ZSTANDARD_LEVEL = 3  # gzip is as fast only at level 1
FORMULA = r"^[=+\-@\t\r]"
NUMBER = r"^[+-]?[0-9]+(\.[0-9]+)?$"
SHEET = (1 << 20) - 1  # rows of a sheet of Excel below its header
ROWS = 1 << 16  # rows that are formatted as text at once


def write_rows(
    path: str | os.PathLike[str],
    batches: Iterable[Mapping[str, Any]],
    *,
    format: str | None = None,  # noqa: A002 - the name that the commands use
    force: bool = False,
    safe_cells: bool = False,
    total: int | None = None,
    progress: Progress | None = None,
) -> int:
    """Write a table, given as batches of columns, and return the number of rows.

    Parameters
    ----------
    path
        The file, or ``-`` for standard output. Its suffix decides the format: CSV, TSV, JSON lines (each also with
        ``.gz`` or ``.zst``), Parquet, Arrow or Excel. A path that ends in ``/`` is a folder, into which one Parquet
        file is written; see `PARTS` for several.
    batches
        At least one ``{name: values}``, all with the same names and types. Values are arrays, lists or polars Series of
        integers, real numbers or text; anything else is written as its text. None, NaN and masked entries are empty
        cells. Integers with gaps must be masked arrays, so that a batch of gaps only has the right type.
    format
        Overrides the suffix: csv, tsv, jsonl, parquet, arrow or xlsx.
    force
        Whether to replace a file that exists.
    safe_cells
        Whether to put an apostrophe before text that a spreadsheet would run as a formula, in CSV and TSV.
    total, progress
        ``progress`` is called with the number of rows written so far and this total.

    Examples
    --------
    >>> batches = [{"node": ["ann", "bob"], "share": [0.75, 0.25]}, {"node": ["eve"], "share": [float("nan")]}]
    >>> write_rows("-", batches)
    node,share
    ann,0.75
    bob,0.25
    eve,
    3
    """
    path = os.fspath(path)
    if path.endswith("/"):
        with PARTS.writing(Path(path), force=force) as draft:
            part = draft / "part-0.parquet"
            return write_rows(part, batches, format="parquet", total=total, progress=progress)
    check_output(path, force=force, format=format)
    need("polars", "writing tables")
    known = output_format(path, format)
    frames: Iterator[pl.DataFrame] = map(_frame, batches)
    if safe_cells and known.name in ("csv", "tsv"):
        frames = map(_harmless, frames)
    counted = _Counted(frames, lambda done: None if progress is None else progress(done, total))
    with files.writing(path, force=force) as file, _compressed(file, known.compression) as packed:
        _write(counted, packed, known.name)
    return counted.rows


def write_table(
    path: str | os.PathLike[str],
    columns: Mapping[str, Iterable[Any]],
    *,
    format: str | None = None,  # noqa: A002 - the name that the commands use
    force: bool = False,
    safe_cells: bool = False,
) -> int:
    """Write a table that is in memory, as `write_rows` does, and return the number of rows.

    >>> write_table("-", {"seed": ["ann", 7, None], "share": [0.75, 0.25, 0.0]})
    seed,share
    ann,0.75
    7,0.25
    ,0.0
    3
    """
    return write_rows(path, [columns], format=format, force=force, safe_cells=safe_cells)


def check_output(path: str | os.PathLike[str], *, force: bool = False, format: str | None = None) -> None:  # noqa: A002 - as in write_rows
    """Refuse a target that a table cannot be written to, before any work is done for it."""
    path = os.fspath(path)
    if os.path.isdir(path):  # rather than a file without a suffix
        check_target(path)
    known = output_format(path, format)
    if known.compression == ".zst":
        need("zstandard", "writing .zst files")
    if known.name == "xlsx":
        need("xlsxwriter", "writing Excel files", extra="excel")
    check_target(path, force=force)


def _has_parts(path: Path) -> bool:
    return path.is_dir() and all(each.suffix == ".parquet" for each in path.iterdir())


PARTS = FolderKind("a folder of Parquet files", _has_parts)  # each written by `write_rows`


def output_format(path: str, wanted: str | None = None) -> Format:
    """The format in which a table is written to a path, or the one that was asked for.

    >>> output_format("labels.tsv.gz")
    Format(name='tsv', compression='.gz')
    """
    with suppress(FileError):
        known = format_of(path, wanted)
        if known.name in WRITABLE and known.compression in (None, ".gz", ".zst"):
            return known
    if wanted is not None and wanted not in WRITABLE:
        raise FileError(f"labels are written as {', '.join(WRITABLE)}, not as {wanted!r}; choose one of them")
    message = "{path}: labels are written as {suffixes}; end the name in one of these, or set {format}"
    name = "standard output" if path == STANDARD else path
    raise FileError(message, path=name, suffixes=SUFFIXES, format=Option("format"))


def as_series(name: str, values: Any) -> "pl.Series":
    """A column of integers, of real numbers, or of the texts of anything else; see `write_rows` for empty cells."""
    import polars as pl

    if isinstance(values, pl.Series):
        return values.alias(name)
    if isinstance(values, np.ma.MaskedArray):
        filled = as_series(name, values.data)
        known = ~np.ma.getmaskarray(values)
        return filled if known.all() else filled.zip_with(pl.Series(known), pl.Series([None], dtype=filled.dtype))
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf":
        values = _alike(list(values))
    return pl.Series(name, values)


def _alike(values: list[Any]) -> "pl.Series":
    """Values of one type."""
    import polars as pl

    kinds = set(map(type, values)) - {type(None)}
    if kinds == {float} or (kinds == {int} and _fit_in_64_bits(values)):
        return pl.Series(values, dtype=pl.Float64 if kinds == {float} else pl.Int64)
    if kinds == {str}:
        return pl.Series(values, dtype=pl.String)
    return pl.Series([None if value is None else str(value) for value in values], dtype=pl.String)


def _fit_in_64_bits(values: list[int | None]) -> bool:
    given = [value for value in values if value is not None]
    return -(2**63) <= min(given) <= max(given) < 2**63


def _frame(columns: Mapping[str, Any]) -> "pl.DataFrame":
    import polars as pl

    frame = pl.DataFrame([as_series(name, values) for name, values in columns.items()])
    return frame.with_columns(pl.selectors.float().fill_nan(None))


class _Counted:
    """Frames, and the number of rows of those that were used."""

    def __init__(self, frames: Iterator["pl.DataFrame"], progress: Callable[[int], None]) -> None:
        self._frames, self._progress, self.rows = frames, progress, 0

    def __iter__(self) -> Iterator["pl.DataFrame"]:
        for frame in self._frames:
            self.rows += frame.height
            yield frame
            self._progress(self.rows)


def _harmless(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The same, with an apostrophe before text that begins like a formula and is no number."""
    import polars as pl

    text = pl.selectors.string()
    formula = text.str.contains(FORMULA) & ~text.str.contains(NUMBER)
    names = {name: f"'{name}" for name in frame.columns if re.search(FORMULA, name)}
    return frame.with_columns(pl.when(formula).then("'" + text).otherwise(text).name.keep()).rename(names)


@contextmanager
def _compressed(file: IO[bytes], compression: str | None) -> Iterator[IO[bytes]]:
    if compression is None:
        yield file
    elif compression == ".gz":
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as packed:
            yield packed  # type: ignore[misc]
    else:
        compressor: Any = need("zstandard", "writing .zst files").ZstdCompressor(level=ZSTANDARD_LEVEL)
        with compressor.stream_writer(file, closefd=False) as packed:
            yield packed


def _write(frames: Iterable["pl.DataFrame"], file: IO[bytes], name: str) -> None:
    if name == "xlsx":
        _write_sheet(list(frames), file)
        return
    if name in ("parquet", "arrow"):
        _write_columns(frames, file, name)
        return
    for number, frame in enumerate(frames):
        for text in _texts(frame, name, header=number == 0):
            file.write(text)


def _write_sheet(frames: list["pl.DataFrame"], file: IO[bytes]) -> None:
    """Write an Excel file, made in memory and not in temporary files; texts are never formulas in it."""
    import polars as pl
    from xlsxwriter import Workbook

    whole = pl.concat(frames)
    if whole.height > SHEET:
        raise FileError(
            f"a sheet of Excel has at most {SHEET:,} rows, and there are {whole.height:,}; write CSV instead"
        )
    memory = BytesIO()
    with Workbook(memory, {"in_memory": True, "nan_inf_to_errors": True, "strings_to_formulas": False}) as workbook:
        whole.write_excel(workbook, autofit=True)
    file.write(memory.getbuffer())


def _write_columns(frames: Iterable["pl.DataFrame"], file: IO[bytes], name: str) -> None:
    """Write a columnar file, batch by batch if there are several."""
    from polars.io.plugins import register_io_source

    remaining = iter(frames)
    first, second = next(remaining), next(remaining, None)
    if second is None:
        first.write_parquet(file) if name == "parquet" else first.write_ipc(file, compression="zstd")
        return

    def source(*_: Any) -> Iterator["pl.DataFrame"]:
        return chain([first, second], remaining)

    rows = register_io_source(source, schema=first.schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # polars may change how batches are passed
        if name == "parquet":
            rows.sink_parquet(file, maintain_order=True)
        else:
            rows.sink_ipc(file, compression="zstd", maintain_order=True)


def _texts(frame: "pl.DataFrame", name: str, *, header: bool) -> Iterator[bytes]:
    """The rows as text, many at a time."""
    for start in range(0, max(frame.height, 1), ROWS):
        part = frame.slice(start, ROWS)
        if name == "jsonl":
            yield part.write_ndjson().encode()
        else:
            separator = "\t" if name == "tsv" else ","
            yield part.write_csv(separator=separator, include_header=header and start == 0).encode()
