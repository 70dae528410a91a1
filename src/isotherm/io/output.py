"""Bytes out: written beside the target and renamed, so that a reader sees the old file or the new one, whole."""

import errno
import gzip
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from typing import IO, Any

from isotherm.io.errors import STANDARD, FileError, need
from isotherm.io.formats import format_of

__all__ = ["WRITABLE", "check_output", "writing"]

WRITABLE = ("csv", "tsv", "parquet", "arrow", "jsonl")
LEVEL = 3  # of Zstandard; gzip is as fast at 1 only


def check_output(path: str | os.PathLike[str], *, force: bool = False, format: str | None = None) -> None:  # noqa: A002 - as in write_labels
    """Refuse a target to which nothing could be written, before any work is done for it.

    Raises
    ------
    FileError
        If the format is unknown, the directory is missing or closed to this user, the path is a directory, or there is
        a file already and not ``force``.
    """
    path = os.fspath(path)
    known = format_of(path, format)
    if known.name not in WRITABLE:
        raise FileError(f"{path}: labels are written as {', '.join(WRITABLE)}, not as {known.name}")
    if known.compression == ".zst":
        need("zstandard", "writing .zst files")
    if path == STANDARD or _is_device(path):
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise FileError(f"{path} is a directory, not a file; add the name of a file")
    if not os.path.isdir(folder):
        raise FileError(f"{path} cannot be written: the directory {folder} does not exist; create it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FileError(f"{path} cannot be written: the directory {folder} is not open to you; choose another")
    if os.path.lexists(path) and not force:
        raise FileError(f"{path} exists already, and is kept; choose another name, or overwrite it with force")


@contextmanager
def writing(path: str, *, compression: str | None = None) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its place when all is written and vanishes if anything goes wrong.

    Its name is unique, so that of two processes that write to the same target the last one to finish wins.
    """
    direct = path == STANDARD or _is_device(path)
    try:
        with _direct(path) if direct else _beside(path) as file, _compressed(file, compression) as packed:
            yield packed
    except BrokenPipeError:  # whoever reads our output has had enough
        raise
    except Exception as error:
        _refuse(path, error)
        raise


@contextmanager
def _beside(path: str) -> Iterator[IO[bytes]]:
    target = os.path.realpath(path)  # a link stays, and what it points to is replaced
    folder, name = os.path.split(target)
    draft = os.path.join(folder, f".{name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with open(draft, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
        _sync(folder)
    finally:
        with suppress(OSError):
            os.unlink(draft)


@contextmanager
def _direct(path: str) -> Iterator[IO[bytes]]:
    if path == STANDARD and not hasattr(sys.stdout, "buffer"):  # in a notebook
        memory = BytesIO()
        yield memory
        sys.stdout.write(memory.getvalue().decode())
    elif path == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with open(path, "wb") as file:
            yield file


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


def _is_device(path: str) -> bool:
    """Whether this is a pipe, /dev/null or the like, which can be written to but not replaced."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _sync(folder: str) -> None:
    """Make the new name durable, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _refuse(path: str, error: Exception) -> None:
    """Say in one sentence what the system refused, if it did; polars has the number in its text only."""
    number = getattr(error, "errno", None)
    if number is None and (told := re.search(r"os error (\d+)", str(error))):
        number = int(told[1])
    if number in (errno.ENOSPC, errno.EDQUOT):
        raise FileError(f"{path} cannot be written: the disk is full; free some space, or take another") from None
    if number is not None or isinstance(error, OSError):
        said = str(error) if number is None else os.strerror(number)
        raise FileError(f"{path} cannot be written: {said}") from None
