"""Bytes out: written to a temporary file beside the target and renamed, so that a reader never sees half a file."""

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

from isotherm.errors import Option
from isotherm.io.errors import STANDARD, FileError, need
from isotherm.io.formats import Format, format_of

__all__ = ["WRITABLE", "check_output", "check_target", "output_format", "writing"]

WRITABLE = ("csv", "tsv", "jsonl", "parquet", "arrow", "xlsx")
SUFFIXES = ".csv, .tsv, .jsonl (these also with .gz or .zst), .parquet, .arrow or .xlsx"
KEPT = "{path} {what}, and is kept; choose another name, or overwrite it with {force}"
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


def check_target(path: str, *, force: bool = False) -> None:
    """Refuse a file that cannot be written.

    Raises
    ------
    FileError
        If the directory is missing or not writable, the path is a directory, or the file exists and ``force`` is not
        set.
    """
    if path == STANDARD or _is_device(path):
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise FileError(f"{path} is a directory, not a file; add the name of a file")
    if not os.path.isdir(folder):
        raise FileError(f"{path} cannot be written: the directory {folder} does not exist; create it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FileError(f"{path} cannot be written: the directory {folder} is not writable; choose another")
    if os.path.lexists(path) and not force:
        raise FileError(KEPT, path=path, what="exists already", force=Option("force", True))


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
    raise FileError(message, path=_name(path), suffixes=SUFFIXES, format=Option("format"))


@contextmanager
def writing(path: str, *, compression: str | None = None, force: bool = False) -> Iterator[IO[bytes]]:
    """Open a temporary file that becomes the target when all is written, and is removed if anything goes wrong.

    Its name is unique, so two processes that write to the same target do not mix: the first to finish wins, or the
    last with ``force``.
    """
    direct = path == STANDARD or _is_device(path)
    try:
        with _direct(path) if direct else _beside(path, force) as file, _compressed(file, compression) as packed:
            yield packed
    except BrokenPipeError:  # the reader of our output has closed it
        raise
    except Exception as error:
        _refuse(path, error)
        raise


@contextmanager
def _beside(path: str, force: bool) -> Iterator[IO[bytes]]:
    target = os.path.realpath(path)  # a symbolic link stays; its target is replaced
    folder, name = os.path.split(target)
    draft = os.path.join(folder, f".{name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        old = _status(target)
        with open(draft, "xb", opener=_private if old else None) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if old is not None:
            _keep_mode(_status(target) or old, draft)
        if force or not _linked(path, draft, target):
            os.replace(draft, target)
        _sync(folder)
    finally:
        with suppress(OSError):
            os.unlink(draft)


def _private(path: str, flags: int) -> int:
    """Open a file for its owner only, until it has the mode of the file that it replaces."""
    return os.open(path, flags, 0o600)


def _keep_mode(old: os.stat_result, draft: str) -> None:
    """Give the draft the owner and the mode of the file that it is to replace, as far as the system lets us."""
    new = os.stat(draft)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with suppress(OSError):
            os.chown(draft, old.st_uid, old.st_gid)
    with suppress(OSError):
        os.chmod(draft, stat.S_IMODE(old.st_mode))


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _linked(path: str, draft: str, target: str) -> bool:
    """Hard-link the draft to the target, unless that exists by now; False where there are no hard links."""
    try:
        os.link(draft, target)
    except FileExistsError:
        what = "was written by another process meanwhile"
        raise FileError(KEPT, path=path, what=what, force=Option("force", True)) from None
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
    """Whether this is a pipe, /dev/null or the like, which is written to directly."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _sync(folder: str) -> None:
    """Make the new name durable, where the system supports that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _refuse(path: str, error: Exception) -> None:
    """Turn an error of the system into one sentence; polars gives the error number only in its text."""
    number = getattr(error, "errno", None)
    if number is None and (found := re.search(r"os error (\d+)", str(error))):
        number = int(found[1])
    if number in (errno.ENOSPC, errno.EDQUOT):
        raise FileError(f"{_name(path)} cannot be written: the disk is full; free some space") from None
    if number is not None or isinstance(error, OSError):
        reason = str(error) if number is None else os.strerror(number)
        raise FileError(f"{_name(path)} cannot be written: {reason}; choose another place") from None


def _name(path: str) -> str:
    """The name for messages."""
    return "standard output" if path == STANDARD else path
