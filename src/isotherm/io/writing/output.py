"""The format in which tables are written, and their compression."""

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from isotherm import files
from isotherm.errors import Option
from isotherm.files import STANDARD, FileError, check_target
from isotherm.io.errors import need
from isotherm.io.formats import Format, format_of

__all__ = ["WRITABLE", "check_output", "output_format", "writing"]

WRITABLE = ("csv", "tsv", "jsonl", "parquet", "arrow", "xlsx")
SUFFIXES = ".csv, .tsv, .jsonl (these also with .gz or .zst), .parquet, .arrow or .xlsx"
LEVEL = 3  # of Zstandard; gzip is as fast only at level 1


def check_output(path: str | os.PathLike[str], *, force: bool = False, format: str | None = None) -> None:  # noqa: A002 - as in write_labels
    """Refuse a target that labels cannot be written to, before any work is done for it.

    Raises
    ------
    FileError
        If labels cannot be written in this format, or as in `check_target`.
    """
    path = os.fspath(path)
    if os.path.isdir(path):  # rather than a file without a suffix
        check_target(path)
    known = output_format(path, format)
    if known.compression == ".zst":
        need("zstandard", "writing .zst files")
    if known.name == "xlsx":
        need("xlsxwriter", "writing Excel files", extra="excel")
    check_target(path, force=force)


def output_format(path: str, wanted: str | None = None) -> Format:
    """The format in which labels are written to a path, or the one that was asked for.

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
    raise FileError(
        message, path="standard output" if path == STANDARD else path, suffixes=SUFFIXES, format=Option("format")
    )


@contextmanager
def writing(path: str, *, compression: str | None = None, force: bool = False) -> Iterator[IO[bytes]]:
    """Open a file that appears when it is complete, as `isotherm.files.writing` does, and compress what is written."""
    with files.writing(path, force=force) as file, _compressed(file, compression) as packed:
        yield packed


@contextmanager
def _compressed(file: IO[bytes], compression: str | None) -> Iterator[IO[bytes]]:
    if compression is None:
        yield file
    elif compression == ".gz":
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as packed:
            yield packed  # type: ignore[misc]
    else:
        compressor: Any = need("zstandard", "writing .zst files").ZstdCompressor(level=LEVEL)
        with compressor.stream_writer(file, closefd=False) as packed:
            yield packed
