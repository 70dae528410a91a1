"""Saved classifiers: one npz file with arrays and a description in JSON, without pickles.

The last array is the SHA-256 of all others, names included, so damage of any kind is noticed. It does not protect
against a file that was made to do harm, since anybody can compute it: `isotherm.labelling.saving` does. Reading
never takes more memory than the size of the file.
"""

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from isotherm.files import FileError, check_target, writing
from isotherm.io.matrices import MODEL
from isotherm.io.streams import Input

VERSION = 4  # version of the file format
READABLE = (3, VERSION)  # 3: release 0.2.0
CHECKSUM = "sha256"  # the name of the last array
SUFFIX = ".npz"
CHUNK = 1 << 20  # bytes
DAMAGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
SOURCE = "give one that DirichletClassifier.save or isotherm classify --save wrote"


def check_model(path: str, *, force: bool = False) -> None:
    """Refuse a target that a classifier cannot be saved to, before any work is done for it."""
    if os.path.splitext(path)[1].lower() != SUFFIX and not os.path.isdir(path):
        raise FileError(f"{path}: a classifier is saved as {SUFFIX}; end the name in that")
    check_target(path, force=force)


def write_model(
    path: str, content: Any, arrays: Mapping[str, NDArray[Any]], *, version: int = VERSION, force: bool = False
) -> None:
    """Write arrays and a description that JSON can hold; the file appears when it is complete."""
    from importlib import metadata

    check_model(path, force=force)
    text = json.dumps({"version": version, "release": metadata.version("isotherm"), "content": content})
    entries = {MODEL: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    checksum = hashlib.sha256()
    with writing(path, force=force) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in entries.items():
            _write_array(archive, name, array, checksum)
        _write_array(archive, CHECKSUM, np.frombuffer(checksum.digest(), dtype=np.uint8), hashlib.sha256())


def read_model(path: str) -> tuple[int, Any, dict[str, NDArray[Any]]]:
    """Read what `write_model` wrote: the version of the format, the description, and the arrays by name."""
    Input(path).check()
    with open(path, "rb") as file:
        if file.read(2) != b"PK":
            raise FileError(f"{path} is no saved classifier; {SOURCE}")
        try:
            with zipfile.ZipFile(file) as archive:
                return _read_archive(path, archive)
        except FileError:
            raise
        except (*DAMAGE, zipfile.BadZipFile, EOFError, OSError, RuntimeError):  # RuntimeError: it is encrypted
            raise damaged(path) from None


def is_model(path: str) -> bool:
    """Whether this is a file that holds a classifier, of any version."""
    if not os.path.isfile(path):  # a pipe can be opened only once
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{MODEL}.npy" in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def damaged(path: str, reason: str = "") -> FileError:
    """The error for a damaged classifier."""
    what = f"{path} is damaged: {reason};" if reason else f"{path} is damaged or truncated:"
    return FileError(f"{what} copy it again, or save the classifier again")


class _Hashed:
    """A file of which every byte that is written or read goes into a checksum."""

    def __init__(self, file: IO[bytes], checksum: Any) -> None:
        self._file, self._checksum = file, checksum

    def write(self, data: bytes) -> int:
        self._checksum.update(data)
        return self._file.write(data)

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._checksum.update(data)
        return data

    def fill(self, memory: bytearray) -> None:
        """Read as many bytes as the memory holds."""
        rest = memoryview(memory)
        while rest:
            count = self._file.readinto(rest[:CHUNK])  # type: ignore[attr-defined]
            if not count:
                raise EOFError
            self._checksum.update(rest[:count])
            rest = rest[count:]


def _write_array(archive: zipfile.ZipFile, name: str, array: NDArray[Any], checksum: Any) -> None:
    checksum.update(f"{name}\0".encode())
    with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as entry:
        np.lib.format.write_array(_Hashed(entry, checksum), np.asanyarray(array), allow_pickle=False)


def _read_archive(path: str, archive: zipfile.ZipFile) -> tuple[int, Any, dict[str, NDArray[Any]]]:
    names = archive.namelist()
    if f"{MODEL}.npy" not in names:
        raise FileError(f"{path} holds arrays, but no saved classifier; {SOURCE}")
    version, content = _content(path, _read_array(archive, archive.getinfo(f"{MODEL}.npy"), hashlib.sha256()))
    checksum, arrays = hashlib.sha256(), dict[str, NDArray[Any]]()
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        arrays[name] = _read_array(archive, info, hashlib.sha256() if name == CHECKSUM else checksum)
    del arrays[MODEL]
    if len(arrays) != len(names) - 1 or arrays.pop(CHECKSUM).tobytes() != checksum.digest():
        raise damaged(path, "its SHA-256 is not that of its content")
    return version, content, arrays


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, checksum: Any) -> NDArray[Any]:
    """Read one array; an entry that is compressed, or that claims more bytes than the file has, could fill memory."""
    assert archive.fp is not None
    if info.compress_type != zipfile.ZIP_STORED or info.file_size > os.fstat(archive.fp.fileno()).st_size:
        raise ValueError("an entry that Isotherm does not write")
    checksum.update(f"{info.filename.removesuffix('.npy')}\0".encode())
    with archive.open(info) as entry:
        file = _Hashed(entry, checksum)
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read_header(file)
        size = math.prod(shape) * dtype.itemsize
        if dtype.kind not in "biuf" or not dtype.isnative or entry.tell() + size != info.file_size:
            raise ValueError("an array that Isotherm does not write")
        memory = bytearray(size)
        file.fill(memory)
        entry.read(1)  # at the end, zipfile compares its own checksum
    return np.frombuffer(memory, dtype).reshape(shape, order="F" if fortran else "C")


def _content(path: str, text: NDArray[np.uint8]) -> tuple[int, Any]:
    description = json.loads(text.tobytes())
    version = description["version"]
    if not isinstance(version, int):
        raise damaged(path)
    if version > VERSION:
        newer = f"by Isotherm {description['release']}, whose files this release cannot read"
        raise FileError(f"{path} was saved {newer}: pip install --upgrade isotherm")
    if version not in READABLE:
        older = f"by Isotherm {description['release']}, in an older form"
        raise FileError(f"{path} was saved {older}: take the classifier's graph and seeds, fit it again and save it")
    return version, description["content"]
