"""Finished maps, kept in the user's cache folder by the hash of their graph.

A file holds the positions and a checksum. One that is damaged, or was written for another graph, is ignored and
replaced. The folder never grows beyond a limit: maps that were not used for longest go first. Where nothing can be
written, nothing is kept.
"""

import os
import secrets
import sys
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["cache_folder", "fetch", "fingerprint", "keep"]

VERSION = b"isotherm layout 1"  # to be raised when the same graph gets another map
MOST_BYTES = 256 * 2**20
CHECK = 16  # bytes of the checksum at the end of a file


def cache_folder() -> Path:
    """Where downloads and maps are kept: ``isotherm`` in the user's cache directory."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "isotherm"


def fingerprint(arrays: Iterable[NDArray[Any] | None], seed: int) -> str:
    """The name of a map: a hash of the graph and of the seed."""
    found = blake2b(VERSION + seed.to_bytes(16, "little", signed=True), digest_size=16)
    for array in arrays:
        found.update(b"none" if array is None else f"{array.dtype.str} {array.shape}".encode())
        found.update(b"" if array is None else np.ascontiguousarray(array).data)
    return found.hexdigest()


def fetch(name: str, n: int) -> NDArray[np.float32] | None:
    """The positions that were kept under a name, or None."""
    path = _folder() / f"{name}.map"
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
    if len(body) > MOST_BYTES:
        return
    folder = _folder()
    draft = folder / f".{name}-{secrets.token_hex(4)}.tmp"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_bytes(body + _checksum(name, body))
            draft.replace(folder / f"{name}.map")
        finally:
            draft.unlink(missing_ok=True)
        _shrink(folder)


def _folder() -> Path:
    return cache_folder() / "maps"


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
