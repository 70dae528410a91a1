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
from isotherm.io.formats import Format, format_of

__all__ = ["WRITABLE", "check_output", "check_target", "output_format", "writing"]

WRITABLE = ("csv", "tsv", "jsonl", "parquet", "arrow")
SUFFIXES = ".csv, .tsv, .jsonl (these also with .gz or .zst), .parquet or .arrow"
OVERWRITE = "choose another name, or overwrite it with force=True"
LEVEL = 3  # of Zstandard; gzip is as fast at 1 only


def check_output(path: str | os.PathLike[str], *, force: bool = False, format: str | None = None) -> None:  # noqa: A002 - as in write_labels
    """Refuse a target to which no labels could be written, before any work is done for it.

    Raises
    ------
    FileError
        If labels are not written in this format, or as in `check_target`.
    """
    path = os.fspath(path)
    if os.path.isdir(path):  # rather than a file without a suffix
        check_target(path)
    if output_format(path, format).compression == ".zst":
        need("zstandard", "writing .zst files")
    check_target(path, force=force)


def check_target(path: str, *, force: bool = False) -> None:
    """Refuse a file that could not be written.

    Raises
    ------
    FileError
        If the directory is missing or closed to this user, the path is a directory, or there is a file already and
        not ``force``.
    """
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
        raise FileError(f"{path} exists already, and is kept; {OVERWRITE}")


def output_format(path: str, wanted: str | None = None) -> Format:
    """The format in which labels are written to a path, or the one that was asked for.

    >>> output_format("labels.tsv.gz")
    Format(name='tsv', compression='.gz')
    """
    with suppress(FileError):
        known = format_of(path, wanted)
        if known.name in WRITABLE:
            return known
    if wanted is not None and wanted not in WRITABLE:
        raise FileError(f"labels are written as {', '.join(WRITABLE)}, not as {wanted!r}; choose one of them")
    raise FileError(f"{_name(path)}: labels are written as {SUFFIXES}; end the name in one of these, or give format=")


@contextmanager
def writing(path: str, *, compression: str | None = None, force: bool = False) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its place when all is written and vanishes if anything goes wrong.

    Its name is unique, so that two processes that write to the same target do not mix: the first one to finish wins,
    or the last one with ``force``.
    """
    direct = path == STANDARD or _is_device(path)
    try:
        with _direct(path) if direct else _beside(path, force) as file, _compressed(file, compression) as packed:
            yield packed
    except BrokenPipeError:  # whoever reads our output has had enough
        raise
    except Exception as error:
        _refuse(path, error)
        raise


@contextmanager
def _beside(path: str, force: bool) -> Iterator[IO[bytes]]:
    target = os.path.realpath(path)  # a link stays, and what it points to is replaced
    folder, name = os.path.split(target)
    draft = os.path.join(folder, f".{name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with open(draft, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if force or not _linked(path, draft, target):
            os.replace(draft, target)
        _sync(folder)
    finally:
        with suppress(OSError):
            os.unlink(draft)


def _linked(path: str, draft: str, target: str) -> bool:
    """Give the draft the name of the target too, unless that is taken by now; False where files have one name only."""
    try:
        os.link(draft, target)
    except FileExistsError:
        raise FileError(f"{path} was written by another process meanwhile, and is kept; {OVERWRITE}") from None
    except OSError:
        return False
    return True


@contextmanager
def _direct(path: str) -> Iterator[IO[bytes]]:
    if path == STANDARD and sys.stdout is None:  # closed before Python began
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
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
        raise FileError(
            f"{_name(path)} cannot be written: the disk is full; free some space, or take another"
        ) from None
    if number is not None or isinstance(error, OSError):
        said = str(error) if number is None else os.strerror(number)
        raise FileError(f"{_name(path)} cannot be written: {said}; choose another place") from None


def _name(path: str) -> str:
    """The name for messages."""
    return "standard output" if path == STANDARD else path
