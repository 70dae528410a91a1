"""Bytes in: files and standard input, plain or compressed, in pieces."""

import io
import os
import signal
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from isotherm.io.errors import STANDARD, FileError, need, refuse

__all__ = ["Input", "Progress"]

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with what is done and what there is to do, in bytes or rows; None where that is unknown."""

PIECE = 1 << 18  # small enough that even well compressed pieces fit in memory
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
    "Parquet": "end its name in .parquet, or name its format",
    "Arrow": "end its name in .arrow, or name its format",
    "zip or npz": "unpack it, or end the name of a matrix in .npz",
    "UTF-16 text": "convert it to UTF-8, as iconv -f UTF-16 -t UTF-8 does",
}
COMPRESSIONS = {".gz": "gzip", ".zst": "Zstandard"}
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Input:
    """Something to read: a path, or ``-`` for standard input.

    Attributes
    ----------
    path
        As the user wrote it, for messages.
    compression
        The suffix that says so, ``.gz`` or ``.zst``, or None.
    progress
        Told of the bytes that were read.
    """

    path: str
    compression: str | None = None
    progress: Progress | None = None

    @property
    def name(self) -> str:
        """The name for messages."""
        return "standard input" if self.path == STANDARD else self.path

    @property
    def seekable(self) -> bool:
        """Whether this is a regular file that is not compressed, so that a reader may jump in it."""
        return self.path != STANDARD and not self.compression and os.path.isfile(self.path)

    def check(self) -> None:
        """Refuse a file that is missing, empty, a directory, or not open to this user."""
        if self.path == STANDARD or _is_pipe(self.path):  # which can be opened once only
            return
        with self._open():
            if os.path.isfile(self.path) and not os.path.getsize(self.path):
                raise FileError(f"{self.name} is empty; write it again, or give another file")

    def pieces(self) -> Iterator[bytes]:
        """The content, decompressed, a piece at a time."""
        with self._open() as file:
            raw, suffix = self._raw(file), self.compression
            if suffix is None:
                raw, suffix = _told_by_content(raw)
            yield from raw if suffix is None else self._decompressed(raw, suffix)

    def text(self) -> Iterator[bytes]:
        """The same of a file that is text, without the mark that some programs begin it with."""
        pieces, start = self.pieces(), b""
        for piece in pieces:
            start += piece
            if len(start) >= LONGEST_MAGIC:
                break
        kind = foreign(start)
        if kind is not None:
            raise FileError(f"{self.name} is {kind}; {REMEDIES.get(kind, 'decompress it')}")
        yield start.removeprefix(BOM)
        yield from pieces

    def content(self) -> bytes:
        """All of the content."""
        return b"".join(self.pieces())

    def source(self) -> Path | io.BytesIO:
        """What a reader that must jump takes: the path where that works, else the content."""
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

    def _decompressed(self, raw: Iterator[bytes], suffix: str) -> Iterator[bytes]:
        """Both formats are sequences of frames, each with its own end; a missing end means a truncated file."""
        kind = COMPRESSIONS[suffix]
        start, failure = _decompressor(suffix)
        frame, known = start(), False
        for piece in raw:
            while piece:
                if frame.eof:
                    frame = start()
                try:
                    yield frame.decompress(piece)
                except failure:
                    wrong = not known and self.compression
                    what = f"is not {kind}, though its name ends in {suffix}" if wrong else "is damaged"
                    raise FileError(f"{self.name} {what}: make it again, or rename it") from None
                known = True
                piece = frame.unused_data.lstrip(b"\0")  # padding
        if known and not frame.eof:
            raise FileError(f"{self.name} is truncated: its {kind} data stop before their end; copy it again")


def _told_by_content(raw: Iterator[bytes]) -> tuple[Iterator[bytes], str | None]:
    """The same pieces, and the suffix that they would have in a file if they are compressed."""
    first = next(raw, b"")
    kind = foreign(first)
    suffix = next((suffix for suffix, name in COMPRESSIONS.items() if name == kind), None)
    return chain([first], raw), suffix


def _standard_input() -> Any:
    """Standard input, not to be closed; past its buffer, whose lock a waiting thread would keep at the exit."""
    if sys.stdin is None:
        raise FileError("standard input is closed; give a file instead")
    try:
        return open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)
    except (AttributeError, OSError, ValueError):  # something else in its place
        return nullcontext(sys.stdin.buffer)


def opened(source: Path | io.BytesIO) -> BinaryIO:
    """What `Input.source` gave, open for reading."""
    return source.open("rb") if isinstance(source, Path) else source


def peek(source: Path | io.BytesIO, size: int) -> bytes:
    """The first bytes of what `Input.source` gave."""
    if isinstance(source, io.BytesIO):
        return bytes(source.getbuffer()[:size])
    with source.open("rb") as file:
        return file.read(size)


def foreign(start: bytes) -> str | None:
    """What a file that begins like this is, if not text.

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
    """Have a wait for a pipe end when the user has had enough, as Python has it until polars is imported."""
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)


def _size(file: BinaryIO) -> int | None:
    try:
        status = os.fstat(file.fileno())
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _decompressor(suffix: str) -> tuple[Callable[[], Any], Any]:
    if suffix == ".gz":
        return lambda: zlib.decompressobj(wbits=31), zlib.error
    zstandard = need("zstandard", "reading .zst files")
    decompressor = zstandard.ZstdDecompressor(max_window_size=2**31)  # what zstd --long=31 needs
    return decompressor.decompressobj, zstandard.ZstdError
