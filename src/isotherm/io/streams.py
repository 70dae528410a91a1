"""Bytes in: files and standard input, plain or compressed, in any encoding, read piece by piece.

Read `Input` first, which all readers take. Decompression is bounded: no piece expands to more than a few megabytes,
so a small file that expands to a large one does no harm.
"""

import bz2
import codecs
import io
import lzma
import os
import re
import signal
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from isotherm.errors import Option, first_few, warn
from isotherm.files import STANDARD, FileError, is_stream
from isotherm.io.errors import FileWarning, need, refuse, shorten
from isotherm.io.memory import joined

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the bytes or rows done so far and the total, which is None if unknown."""

COMPRESSIONS = {".gz": "gzip", ".zst": "Zstandard", ".bz2": "bzip2", ".xz": "xz", ".zip": "zip"}
PIECE = 1 << 18  # bytes that are read or decompressed at once
EXPANDED = 1 << 22  # bytes that one call may decompress
SLICE = 256  # bytes of Zstandard that are decompressed at once
XZ_MEMORY = 1 << 29  # bytes: xz -9 needs 65 MB
MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"PK\x03\x04": "zip, npz or Excel",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}
LONGEST_MAGIC = max(map(len, MAGIC))
REMEDIES = {
    "Parquet": "end its name in .parquet, or set {format}",
    "Arrow": "end its name in .arrow, or set {format}",
    "zip, npz or Excel": "end its name in .zip, that of a matrix in .npz, that of a table in .xlsx, or set {format}",
    "UTF-16 text": "set {encoding}",
}
BOM = b"\xef\xbb\xbf"
INNER_MARKS = re.compile(b"\n(?:" + BOM + b")+")


@dataclass(frozen=True)
class Input:
    """Something to read: a path, or ``-`` for standard input."""

    path: str  # as the user wrote it, for messages
    compression: str | None = None  # the suffix of its compression, such as ``.gz``, or None
    progress: Progress | None = None  # called with the number of bytes read
    encoding: str | None = None  # how text is written, if not in UTF-8

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
        if is_stream(self.path):
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
            if is_stream(self.path):  # whose name cannot change
                remedy = remedy.rpartition(", or ")[-1]
            facts = {"format": Option("format"), "encoding": Option("encoding", "utf-16")}
            raise FileError(f"{{path}} is {kind}; {remedy}", path=self.name, **facts)
        yield from without_marks(self.name, chain([start.removeprefix(BOM)], pieces))

    def whole_text(self, usual: str) -> str:
        """All of a text file; ``usual`` is an encoding to advise if it is not in UTF-8."""
        try:
            return joined(self.name, self.text()).decode()
        except UnicodeDecodeError:
            message = "{path} is not UTF-8 text; say how it is written, as in {encoding}"
            raise FileError(message, path=self.name, encoding=Option("encoding", usual)) from None

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


def in_utf8(name: str, pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    r"""The same text in UTF-8.

    >>> b"".join(in_utf8("names.csv", iter([b"caf\xe9"]), "cp1252"))
    b'caf\xc3\xa9'
    """
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError:
        message = "{encoding} is not known: give one such as utf-8, cp1252, latin-1 or utf-16"
        raise FileError(message, encoding=Option("encoding", encoding)) from None
    try:
        for piece in pieces:
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        message = "{path} is not written in {given}: {reason}; give another {encoding}"
        facts = {"given": encoding, "reason": str(error).split(": ")[-1], "encoding": Option("encoding")}
        raise FileError(message, path=name, **facts) from None


def without_marks(name: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
    r"""The same text without byte-order marks at the beginnings of lines, of which a warning says where one is.

    Files that begin with a mark leave one inside when they are joined. There it would be an invisible part of an id.

    >>> b"".join(without_marks("edges.csv", iter([b"ann,bob\n", b"bob,eve\n"])))
    b'ann,bob\nbob,eve\n'
    """
    mark, rest, warned = b"\n" + BOM, b"", False
    for piece in pieces:
        text = rest + piece if rest else piece
        if b"\xef" in text and mark in text:  # one byte is searched for first, as that is faster
            if not warned:
                line = text[text.index(mark) + len(mark) :].partition(b"\n")[0].decode(errors="replace").strip()
                warned = True
                found = f"a byte-order mark (U+FEFF) before {shorten(line)} is left out"
                remedy = "if that line names the columns, delete it"
                warn(FileWarning(f"{name}: {found}, as the file seems to be joined from several; {remedy}"))
            text = INNER_MARKS.sub(b"\n", text)
        kept = next((size for size in (3, 2, 1) if text.endswith(mark[:size])), 0)  # the rest of a mark may follow
        rest = text[len(text) - kept :]
        yield text[: len(text) - kept] if kept else text
    yield rest


def decompressed(name: str, raw: Iterator[bytes], suffix: str, *, named: bool) -> Iterator[bytes]:
    """The content of a compressed file; ``named`` says that its name ends in the suffix.

    All formats are sequences of frames with an end marker each; if one is missing, the file is truncated.
    """
    kind, started = COMPRESSIONS[suffix], False
    pieces, failure = _decompressor(suffix, raw)
    try:
        for piece in pieces:
            started = True
            yield piece
    except EOFError:
        raise FileError(f"{name} is truncated: its {kind} data stop too early; copy it again") from None
    except failure:
        wrong = not started and named
        problem = f"is not {kind}, though its name ends in {suffix}" if wrong else "is damaged"
        raise FileError(f"{name} {problem}: write it again, or rename it") from None


def _decompressor(suffix: str, raw: Iterator[bytes]) -> tuple[Iterator[bytes], Any]:
    """The decompressed pieces, and the errors that damage raises."""
    if suffix == ".gz":
        return _frames(raw, _Gzip), zlib.error
    if suffix == ".bz2":
        return _frames(raw, bz2.BZ2Decompressor), (OSError, ValueError)
    if suffix == ".xz":
        return _frames(raw, partial(lzma.LZMADecompressor, memlimit=XZ_MEMORY)), lzma.LZMAError
    zstandard = need("zstandard", "reading .zst files")
    decompressor = zstandard.ZstdDecompressor(max_window_size=2**31)  # what zstd --long=31 needs
    return _frames(raw, lambda: _Zstandard(decompressor.decompressobj())), zstandard.ZstdError


def _frames(raw: Iterator[bytes], start: Callable[[], Any]) -> Iterator[bytes]:
    """Decompress frames, a bounded amount at a time; raises EOFError if the last has no end."""
    frame, started = start(), False
    for piece in raw:
        rest = piece.lstrip(b"\0") if frame.eof else piece  # zeros between frames are padding
        while rest:
            if frame.eof:
                frame = start()
            yield frame.decompress(rest, EXPANDED)
            while not frame.eof and not frame.needs_input:
                yield frame.decompress(b"", EXPANDED)
            started, rest = True, frame.unused_data.lstrip(b"\0")
    if started and not frame.eof:
        raise EOFError


class _Gzip:
    """A frame of gzip, with the methods of the other decompressors."""

    def __init__(self) -> None:
        self._frame = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._frame.eof

    @property
    def needs_input(self) -> bool:
        return not self._frame.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._frame.unused_data

    def decompress(self, data: bytes, most: int) -> bytes:
        return self._frame.decompress(self._frame.unconsumed_tail + data, most)


class _Zstandard:
    """A frame of Zstandard, with the methods of the other decompressors.

    zstandard gives out all that its input expands to. So the input is fed in slices: 4 bytes expand to 128 KB at most.
    """

    def __init__(self, frame: Any) -> None:
        self._frame, self._rest = frame, b""

    @property
    def eof(self) -> bool:
        return bool(self._frame.eof)

    @property
    def needs_input(self) -> bool:
        return not self._rest

    @property
    def unused_data(self) -> bytes:
        return bytes(self._frame.unused_data) + self._rest

    def decompress(self, data: bytes, most: int) -> bytes:
        found, size, data, place = [], 0, self._rest + data, 0
        while place < len(data) and size < most // 4 and not self._frame.eof:
            found.append(self._frame.decompress(data[place : place + SLICE]))
            size, place = size + len(found[-1]), place + SLICE
        self._rest = data[place:]
        return b"".join(found)


def unzipped(name: str, source: str | BinaryIO) -> Iterator[bytes]:
    """The content of the only file in a zip file."""
    try:
        with zipfile.ZipFile(source) as archive:
            member = only_member(name, archive)
            with archive.open(member) as file:
                while piece := file.read(PIECE):
                    yield piece
    except RuntimeError:  # a password is needed
        raise FileError(f"{name} is encrypted; unpack it, and give the file that is inside") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{name} is not a zip file, or is damaged: write it again, or rename it") from None


def only_member(name: str, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """The only file in a zip file, apart from what macOS adds."""
    members = [each for each in archive.infolist() if not each.is_dir() and not _is_hidden(each.filename)]
    if len(members) != 1:
        shown = first_few([os.path.basename(each.filename) for each in members], 3, text=str)
        held = f"{len(members)} files ({shown})" if members else "no file"
        raise FileError(f"{name} holds {held}, and must hold one; unpack it, and give the files that are inside")
    return members[0]


def _is_hidden(path: str) -> bool:
    return path.startswith("__MACOSX/") or os.path.basename(path).startswith(".")
