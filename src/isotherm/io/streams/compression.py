"""Compressed bytes to plain ones, piece by piece, so that a small file that expands to a large one does no harm."""

import bz2
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from isotherm.files import FileError
from isotherm.io.errors import need
from isotherm.io.streams.frames import few_blocks

__all__ = ["COMPRESSIONS", "decompressed", "only_member", "unzipped"]

COMPRESSIONS = {".gz": "gzip", ".zst": "Zstandard", ".bz2": "bzip2", ".xz": "xz", ".zip": "zip"}
EXPANDED = 1 << 22  # bytes that one call may decompress
PIECE = 1 << 18
XZ_MEMORY = 1 << 29  # bytes: xz -9 needs 65 MB


def decompressed(name: str, raw: Iterator[bytes], suffix: str, *, named: bool) -> Iterator[bytes]:
    """The content of a compressed file; ``named`` says that its name ends in the suffix.

    All formats are sequences of frames with an end marker each; if one is missing, the file is truncated.
    """
    kind = COMPRESSIONS[suffix]
    start, failure = _decompressor(suffix)
    frame, started = start(), False
    for piece in few_blocks(raw) if suffix == ".zst" else raw:
        rest = piece
        while rest:
            if frame.eof:
                frame = start()
            try:
                yield from frame.feed(rest)
            except failure:
                wrong = not started and named
                problem = f"is not {kind}, though its name ends in {suffix}" if wrong else "is damaged"
                raise FileError(f"{name} {problem}: write it again, or rename it") from None
            started = True
            rest = frame.unused.lstrip(b"\0")  # padding
    if started and not frame.eof:
        raise FileError(f"{name} is truncated: its {kind} data stop too early; copy it again")


class _Zlib:
    """A frame of gzip."""

    def __init__(self) -> None:
        self.frame = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self.frame.eof

    @property
    def unused(self) -> bytes:
        return self.frame.unused_data

    def feed(self, piece: bytes) -> Iterator[bytes]:
        while piece:
            yield self.frame.decompress(piece, EXPANDED)
            piece = self.frame.unconsumed_tail


class _Standard:
    """A frame of bzip2 or xz."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    @property
    def eof(self) -> bool:
        return bool(self.frame.eof)

    @property
    def unused(self) -> bytes:
        return bytes(self.frame.unused_data)

    def feed(self, piece: bytes) -> Iterator[bytes]:
        yield self.frame.decompress(piece, EXPANDED)
        while not self.frame.eof and not self.frame.needs_input:
            yield self.frame.decompress(b"", EXPANDED)


class _Zstandard(_Standard):
    """A frame of Zstandard, which `few_blocks` has cut into pieces that do not expand too far."""

    def feed(self, piece: bytes) -> Iterator[bytes]:
        yield self.frame.decompress(piece)


def _decompressor(suffix: str) -> tuple[Callable[[], Any], Any]:
    if suffix == ".gz":
        return _Zlib, zlib.error
    if suffix == ".bz2":
        return lambda: _Standard(bz2.BZ2Decompressor()), (OSError, ValueError)
    if suffix == ".xz":
        return lambda: _Standard(lzma.LZMADecompressor(memlimit=XZ_MEMORY)), lzma.LZMAError
    zstandard = need("zstandard", "reading .zst files")
    decompressor = zstandard.ZstdDecompressor(max_window_size=2**31)  # what zstd --long=31 needs
    return lambda: _Zstandard(decompressor.decompressobj()), zstandard.ZstdError


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
        shown = ", ".join(os.path.basename(each.filename) for each in members[:3]) + ", ..." * (len(members) > 3)
        held = f"{len(members)} files ({shown})" if members else "no file"
        raise FileError(f"{name} holds {held}, and must hold one; unpack it, and give the files that are inside")
    return members[0]


def _is_hidden(path: str) -> bool:
    return path.startswith("__MACOSX/") or os.path.basename(path).startswith(".")
