"""Finished maps, kept in the user's cache folder under a hash of their graph.

A file holds the positions and a checksum. A file that is damaged, or belongs to another graph, is ignored and replaced.
The folder stays below a limit: the least recently used maps are removed first. If the folder cannot be written, nothing
is kept.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm.files import cache_folder, replacing

VERSION = b"isotherm layout 1"  # raise it when the same graph gets a different map
MOST_BYTES = 256 * 2**20  # size limit of the folder
CHECK = 16  # bytes of the checksum at the end of a file


def fingerprint(arrays: Iterable[NDArray[Any] | None], seed: int) -> str:
    """The name of a map: a hash of the graph and the random seed."""
    found = blake2b(VERSION + seed.to_bytes(16, "little", signed=True), digest_size=16)
    for array in arrays:
        found.update(b"none" if array is None else f"{array.dtype.str} {array.shape}".encode())
        found.update(b"" if array is None else np.ascontiguousarray(array).data)
    return found.hexdigest()


def fetch(name: str, n: int) -> NDArray[np.float32] | None:
    """The positions kept under a name, or None."""
    folder = _folder()
    if folder is None:
        return None
    path = folder / f"{name}.map"
    try:
        content = path.read_bytes()
        os.utime(path)  # marks it as used
    except OSError:
        return None
    body, check = content[:-CHECK], content[-CHECK:]
    if len(body) != 8 * n or _checksum(name, body) != check:
        return None
    return np.frombuffer(body, np.float32).reshape(n, 2).copy()


def keep(name: str, positions: NDArray[np.float32]) -> None:
    """Keep positions under a name if possible, and remove the least recently used maps beyond the limit."""
    body = np.ascontiguousarray(positions, np.float32).tobytes()
    folder = _folder()
    if folder is None or len(body) > MOST_BYTES:
        return
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / f"{name}.map", durable=False) as file:
            file.write(body + _checksum(name, body))
        _shrink(folder)


def _folder() -> Path | None:
    cache = cache_folder()
    return None if cache is None else cache / "maps"


def _checksum(name: str, body: bytes) -> bytes:
    return blake2b(name.encode() + body, digest_size=CHECK).digest()


def _shrink(folder: Path) -> None:
    """Remove the least recently used maps, until the rest is within the limit."""
    found = sorted(((path.stat(), path) for path in folder.glob("*.map")), key=lambda each: -each[0].st_mtime)
    total = 0
    for status, path in found:
        total += status.st_size
        if total > MOST_BYTES:
            path.unlink(missing_ok=True)
