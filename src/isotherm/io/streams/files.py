"""Bytes in: files and standard input, plain or compressed, read piece by piece."""

import io
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from isotherm.errors import Option
from isotherm.files import STANDARD, FileError
from isotherm.io.errors import refuse
from isotherm.io.memory import joined
from isotherm.io.streams.compression import COMPRESSIONS, decompressed, unzipped
from isotherm.io.streams.encoding import in_utf8

__all__ = ["Input", "Progress", "foreign", "opened", "peek"]

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the bytes or rows done so far and the total, which is None if unknown."""

PIECE = 1 << 18
MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"PK\x03\x04": "zip or npz",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}
LONGEST_MAGIC = max(map(len, MAGIC))
REMEDIES = {
    "Parquet": "end its name in .parquet, or set {format}",
    "Arrow": "end its name in .arrow, or set {format}",
    "zip or npz": "end its name in .zip, or that of a matrix in .npz, or that of a table in .xlsx",
    "UTF-16 text": "set {encoding}",
}
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Input:
    """Something to read: a path, or ``-`` for standard input.

    Attributes
    ----------
    path
        As the user wrote it, for messages.
    compression
        The suffix of its compression, such as ``.gz``, or None.
    progress
        Called with the number of bytes read.
    encoding
        How text is written, if not in UTF-8.
    """

    path: str
    compression: str | None = None
    progress: Progress | None = None
    encoding: str | None = None

    @property
    def name(self) -> str:
        """The name for messages."""
        return "standard input" if self.path == STANDARD else self.path

    @property
    def seekable(self) -> bool:
        """Whether this is a regular, uncompressed file, in which a reader may seek."""
        return self.path != STANDARD and not self.compression and os.path.isfile(self.path)

    def check(self) -> None:
        """Refuse a file that is missing, empty, a directory, or not readable."""
        if self.path == STANDARD or _is_pipe(self.path):  # can be opened only once
            return
        with self._open():
            if os.path.isfile(self.path) and not os.path.getsize(self.path):
                raise FileError(f"{self.name} is empty; write it again, or give another file")

    def pieces(self) -> Iterator[bytes]:
        """The content, decompressed, a piece at a time."""
        with self._open() as file:
            raw, suffix = self._raw(file), self.compression
            if suffix is None:
                raw, suffix = _detect_compression(raw)
            if suffix == ".zip":
                yield from unzipped(
                    self.name, io.BytesIO(joined(self.name, raw)) if self.path == STANDARD else self.path
                )
            elif suffix is None:
                yield from raw
            else:
                yield from decompressed(self.name, raw, suffix, named=self.compression is not None)

    def text(self) -> Iterator[bytes]:
        """The content of a text file, decompressed, in UTF-8, without a byte-order mark."""
        pieces, start = self.pieces(), b""
        if self.encoding is not None:
            pieces = in_utf8(self.name, pieces, self.encoding)
        for piece in pieces:
            start += piece
            if len(start) >= LONGEST_MAGIC:
                break
        kind = foreign(start)
        if kind is not None:
            remedy = REMEDIES.get(kind, "decompress it")
            facts = {"format": Option("format"), "encoding": Option("encoding", "utf-16")}
            raise FileError(f"{{path}} is {kind}; {remedy}", path=self.name, **facts)
        yield start.removeprefix(BOM)
        yield from pieces

    def content(self) -> bytes:
        """All of the content."""
        return joined(self.name, self.pieces())

    def source(self) -> Path | io.BytesIO:
        """For a reader that must seek: the path where that is possible, else the content in memory."""
        return Path(self.path) if self.seekable else io.BytesIO(self.content())

    def _open(self) -> Any:
        _let_ctrl_c_end_a_wait()
        if self.path == STANDARD:
            return _standard_input()
        try:
            return open(self.path, "rb", buffering=0)
        except OSError as error:
            refuse(self.name, error)
        except ValueError as error:  # a NUL in the name
            raise FileError(f"{self.path!r} cannot be the name of a file: {error}") from None

    def _raw(self, file: BinaryIO) -> Iterator[bytes]:
        total, done = _size(file), 0
        while True:
            try:
                piece = file.read(PIECE)
            except OSError as error:
                refuse(self.name, error)
            if not piece:
                return
            done += len(piece)
            if self.progress:
                self.progress(done, total)
            yield piece


def _detect_compression(raw: Iterator[bytes]) -> tuple[Iterator[bytes], str | None]:
    """The same pieces, and the suffix that goes with their compression, if they are compressed."""
    first = next(raw, b"")
    kind = foreign(first)
    suffix = next((suffix for suffix, name in COMPRESSIONS.items() if name == kind and suffix != ".zip"), None)
    return chain([first], raw), suffix


def _standard_input() -> Any:
    """Standard input without its buffer, whose lock a waiting thread would still hold when Python exits."""
    if sys.stdin is None:
        raise FileError("standard input is closed; give a file instead")
    try:
        return open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)
    except (AttributeError, OSError, ValueError):  # replaced by another object
        return nullcontext(sys.stdin.buffer)


def opened(source: Path | io.BytesIO) -> BinaryIO:
    """Open what `Input.source` gave."""
    return source.open("rb") if isinstance(source, Path) else source


def peek(source: Path | io.BytesIO, size: int) -> bytes:
    """The first bytes of what `Input.source` gave."""
    if isinstance(source, io.BytesIO):
        return bytes(source.getbuffer()[:size])
    with source.open("rb") as file:
        return file.read(size)


def foreign(start: bytes) -> str | None:
    """Recognise a file that is not plain UTF-8 text by its first bytes.

    >>> foreign(b"PAR1...")
    'Parquet'
    """
    return next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), None)


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _let_ctrl_c_end_a_wait() -> None:
    """Let Ctrl-C interrupt a wait for a pipe, as Python does by default until polars is imported."""
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)


def _size(file: BinaryIO) -> int | None:
    try:
        status = os.fstat(file.fileno())
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
