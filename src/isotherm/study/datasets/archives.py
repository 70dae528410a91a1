"""Readers of archives from the network, which are not trusted.

Nothing is extracted to disk and nothing in them is executed. An archive is refused if it has paths outside its folder
or links, or if it is larger than its source can need.
"""

import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Container
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from isotherm.study.datasets.pickles import UnsafePickleError, load_pickle

MOST_MEMBERS = 1000
DAMAGED = (EOFError, OSError, gzip.BadGzipFile, tarfile.TarError, zipfile.BadZipFile, zipfile.LargeZipFile)


class UnsafeArchiveError(ValueError):
    """An archive holds something that no dataset needs, and is not read."""


class _Bounded(io.RawIOBase):
    """A stream that raises an error once it has given too many bytes."""

    def __init__(self, stream: BinaryIO, most_bytes: int, path: Path) -> None:
        self.stream = stream
        self.left = most_bytes
        self.message = f"{path} holds more than {most_bytes} bytes once unpacked, which its source does not need"

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self.stream.read(self.left + 1 if size < 0 else min(size, self.left + 1))
        self.left -= len(data)
        if self.left < 0:
            raise UnsafeArchiveError(self.message)
        return data


def read_gzip(path: Path, *, most_bytes: int) -> bytes:
    """The content of a gzip file, or of a plain one."""
    with path.open("rb") as file:
        try:
            return _unpacked(file, most_bytes, path).read()
        except (EOFError, OSError) as error:
            raise ValueError(f"{path} is damaged: {error}; delete it and fetch it again") from None


def _unpacked(file: io.BufferedReader, most_bytes: int, path: Path) -> _Bounded:
    packed = file.peek(2)[:2] == b"\x1f\x8b"
    return _Bounded(gzip.GzipFile(fileobj=file) if packed else file, most_bytes, path)  # type: ignore[arg-type]


def read_tar(path: Path, *, most_bytes: int, wanted: Container[str] | None = None) -> dict[str, bytes]:
    """The files of a tar archive, by name without folders; kept if the name up to the first dot is `wanted`."""
    files: dict[str, bytes] = {}
    with path.open("rb") as file:
        try:
            with tarfile.open(fileobj=_unpacked(file, most_bytes, path), mode="r|") as archive:
                for count, member in enumerate(archive):
                    _check_tar_member(path, member, count)
                    stem = PurePosixPath(member.name).name.partition(".")[0]
                    if member.isfile() and (wanted is None or stem in wanted):
                        short = PurePosixPath(member.name).name
                        if short in files:
                            raise UnsafeArchiveError(f"{path} holds more than one file named {short!r}")
                        content = archive.extractfile(member)
                        files[short] = content.read() if content else b""
        except DAMAGED as error:
            raise ValueError(f"{path} is damaged: {error}; delete it and fetch it again") from None
    return files


def read_npz(source: Path | bytes, *, most_bytes: int, name: str = "") -> dict[str, NDArray[Any]]:
    """The arrays of an npz file; `name` stands for it in messages if it is given as bytes."""
    path = source if isinstance(source, Path) else Path(name)
    arrays = {}
    try:
        with zipfile.ZipFile(source if isinstance(source, Path) else io.BytesIO(source)) as archive:
            members = archive.infolist()
            for count, member in enumerate(members):
                _check_zip_member(path, member, count)
            if sum(member.file_size for member in members) > most_bytes:
                raise UnsafeArchiveError(_Bounded(io.BytesIO(), most_bytes, path).message)
            for member in members:
                content = archive.read(member)
                arrays[member.filename.removesuffix(".npy")] = read_npy(content, f"{path}, {member.filename}")
    except (*DAMAGED, RuntimeError, NotImplementedError) as error:  # the last two: encryption, unknown compression
        raise ValueError(f"{path} is damaged: {error}; delete it and fetch it again") from None
    return arrays


def read_npy(content: bytes, name: str) -> NDArray[Any]:
    """The array of an npy file. Objects in it are read without executing anything, and must be text or numbers."""
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = header(stream)
    except (ValueError, KeyError) as error:
        raise ValueError(f"{name} is no array: {error}") from None
    body = content[stream.tell() :]
    if dtype.hasobject:
        array = load_pickle(body, name)
        if not isinstance(array, np.ndarray) or array.shape != shape:
            raise UnsafePickleError(f"{name} does not hold the array that its header announces")
        return array
    if min(shape, default=0) < 0 or int(np.prod(shape, dtype=object)) * dtype.itemsize != len(body):
        raise ValueError(f"{name} is damaged: its header announces the shape {shape}, which does not fit its size")
    return np.frombuffer(body, dtype).reshape(shape, order="F" if fortran else "C")


def _check_tar_member(path: Path, member: tarfile.TarInfo, count: int) -> None:
    if not (member.isfile() or member.isdir()) or member.issparse():  # a sparse file can claim any size
        raise UnsafeArchiveError(f"{path} holds {member.name!r}, which is neither a plain file nor a folder")
    _check_member(path, member.name, count)


def _check_zip_member(path: Path, member: zipfile.ZipInfo, count: int) -> None:
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise UnsafeArchiveError(f"{path} holds {member.filename!r}, which is not a file")
    _check_member(path, member.filename, count)


def _check_member(path: Path, name: str, count: int) -> None:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if ".." in parts or name.startswith(("/", "\\")) or ":" in name:
        raise UnsafeArchiveError(f"{path} holds {name!r}, which leads out of its folder")
    if count >= MOST_MEMBERS:
        raise UnsafeArchiveError(f"{path} holds more than {MOST_MEMBERS} files, which its source does not need")
