"""Finished maps, kept in the user's cache folder by the hash of their graph.

A file holds the positions and a checksum. One that is damaged, or was written for another graph, is ignored and
replaced. The folder never grows beyond a limit: maps that were not used for longest go first. Where nothing can be
written, nothing is kept.
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

__all__ = ["fetch", "fingerprint", "keep"]

VERSION = b"isotherm layout 1"  # to be raised when the same graph gets another map
MOST_BYTES = 256 * 2**20
CHECK = 16  # bytes of the checksum at the end of a file


def fingerprint(arrays: Iterable[NDArray[Any] | None], seed: int) -> str:
    """The name of a map: a hash of the graph and of the seed."""
    found = blake2b(VERSION + seed.to_bytes(16, "little", signed=True), digest_size=16)
    for array in arrays:
        found.update(b"none" if array is None else f"{array.dtype.str} {array.shape}".encode())
        found.update(b"" if array is None else np.ascontiguousarray(array).data)
    return found.hexdigest()


def fetch(name: str, n: int) -> NDArray[np.float32] | None:
    """The positions that were kept under a name, or None."""
    folder = _folder()
    if folder is None:
        return None
    path = folder / f"{name}.map"
    try:
        content = path.read_bytes()
        os.utime(path)  # used now
    except OSError:
        return None
    body, check = content[:-CHECK], content[-CHECK:]
    if len(body) != 8 * n or _checksum(name, body) != check:
        return None
    return np.frombuffer(body, np.float32).reshape(n, 2).copy()


def keep(name: str, positions: NDArray[np.float32]) -> None:
    """Keep positions under a name, if that is possible, and remove what was not used for longest."""
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
    """Remove maps, the one that was not used for longest first, until the rest is small enough."""
    found = sorted(((path.stat(), path) for path in folder.glob("*.map")), key=lambda each: -each[0].st_mtime)
    total = 0
    for status, path in found:
        total += status.st_size
        if total > MOST_BYTES:
            path.unlink(missing_ok=True)
