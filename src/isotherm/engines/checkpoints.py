"""Checkpoints: temperatures and directions on disk, from which a solve continues when a worker has died.

Each worker writes its rows to a folder of its own machine, which all workers on that machine see. If there are several
machines, the next worker on another machine gets a copy.
"""

import asyncio
import os
import shutil
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isotherm.arrays import Floats
from isotherm.engines.mailbox import Stopped
from isotherm.engines.part import Resumed
from isotherm.equilibrium.solvers.cg import Pace

KEPT = 2  # checkpoints that are kept; the last may not be complete
OLD = 86_400.0  # seconds after which the checkpoints of a client that was killed are removed
PREFIX = "isotherm-"


class Piece(NamedTuple):
    """A file with the rows of one worker: iteration, attempt, range of nodes, path, and a worker that sees the file."""

    iteration: int
    attempt: int
    first: int
    last: int
    path: str
    holder: str = ""


class CheckpointStore:
    """The checkpoints of one job on one worker; ``attempt`` counts how often the job was started."""

    def __init__(self, worker: Any, job: str, attempt: int) -> None:
        self.worker, self.attempt = worker, attempt
        self.folder = _base(worker) / f"{PREFIX}{job}"

    def save(self, resumed: Resumed, first: int, copy_to: str | None = None) -> int:
        """Write the rows of a worker from node ``first`` on; returns the number of bytes sent to another machine."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        last = first + len(resumed.temperatures)
        name = f"{resumed.iterations}-{self.attempt}-{first}-{last}.npz"
        arrays = {"path": resumed.path, **resumed.pace._asdict()}
        arrays |= {"temperatures": resumed.temperatures, "directions": resumed.directions}
        _write(self.folder / name, arrays)
        self._remove_older(first, last)
        if copy_to is None:
            return 0
        self._call(copy_to, "isotherm_keep", folder=self.folder.name, name=name, arrays=arrays)
        return resumed.temperatures.nbytes + resumed.directions.nbytes

    def _remove_older(self, first: int, last: int) -> None:
        mine = sorted(piece for piece in _pieces(self.folder) if (piece.first, piece.last) == (first, last))
        for piece in mine[:-KEPT]:
            os.unlink(piece.path)

    def load(self, pieces: list[Piece], first: int, last: int) -> Resumed:
        """The rows of a range, from the pieces that hold them."""
        parts: list[tuple[Floats, Floats]] = []
        for piece in pieces:
            start, stop = max(first, piece.first), min(last, piece.last)
            if start < stop or not parts:
                saved = _load(piece.path) if os.path.exists(piece.path) else self._fetch(piece)
                rows = slice(start - piece.first, max(start, stop) - piece.first)
                parts.append((saved["temperatures"][rows], saved["directions"][rows]))
        pace = Pace(int(saved["steps"]), saved["offset"], saved["energy"], saved["moving"])
        temperatures, directions = (np.concatenate(kind) for kind in zip(*parts, strict=True))
        return Resumed(pieces[0].iteration, pace, saved["path"], temperatures, directions)

    def _fetch(self, piece: Piece) -> dict[str, Any]:
        return self._call(piece.holder, "isotherm_read", path=piece.path)

    def _call(self, address: str, handler: str, **arguments: Any) -> Any:
        async def call() -> Any:
            from distributed.protocol import to_serialize

            sent = {key: to_serialize(value) for key, value in arguments.items()}
            return await getattr(self.worker.rpc(address), handler)(**sent)

        try:
            return asyncio.run_coroutine_threadsafe(call(), self.worker.loop.asyncio_loop).result()
        except OSError as error:
            raise Stopped(address) from error


def _base(worker: Any) -> Path:
    """The parent of the worker's folder, because that folder is removed when the worker is found dead."""
    return Path(worker.local_directory).parent


def _write(path: Path, arrays: dict[str, Any]) -> None:
    draft = path.with_suffix(".tmp")
    with open(draft, "wb") as file:
        np.savez(file, **arrays)
    os.replace(draft, path)


def _load(path: str) -> dict[str, Any]:
    with np.load(path) as saved:
        return dict(saved)


def serve_checkpoints(worker: Any) -> None:
    """Let other workers store copies here, and read files of this machine."""

    async def keep(folder: str, name: str, arrays: dict[str, Any], comm: Any = None) -> str:
        target = _base(worker) / folder
        target.mkdir(mode=0o700, exist_ok=True)
        await asyncio.to_thread(_write, target / name, arrays)
        return "OK"

    async def read(path: str, comm: Any = None) -> Any:
        from distributed.protocol import to_serialize

        return to_serialize(await asyncio.to_thread(_load, path))

    worker.handlers["isotherm_keep"], worker.handlers["isotherm_read"] = keep, read


def _pieces(folder: Path) -> list[Piece]:
    found = []
    for path in folder.glob("*.npz"):
        iteration, attempt, first, last = map(int, path.stem.split("-"))
        found.append(Piece(iteration, attempt, first, last, str(path)))
    return found


def known_pieces(job: str, dask_worker: Any = None) -> list[Piece]:
    """The pieces of a job that a worker sees; for `distributed.Client.run`."""
    folder = _base(dask_worker) / f"{PREFIX}{job}"
    return [piece._replace(holder=dask_worker.address) for piece in _pieces(folder)]


def complete_set(pieces: list[Piece], n: int) -> list[Piece]:
    """The pieces of the latest iteration whose ranges cover all n nodes, in order; none if there is no such iteration.

    >>> saved = [Piece(5, 0, 0, 2, "a"), Piece(5, 0, 2, 3, "b"), Piece(10, 0, 0, 2, "c")]
    >>> [piece.path for piece in complete_set(saved, 3)]
    ['a', 'b']
    """
    for together in sorted({piece[:2] for piece in pieces}, reverse=True):
        found: list[Piece] = []
        reach = 0
        for piece in sorted(piece for piece in pieces if piece[:2] == together):
            if piece.first == reach and piece.last > reach:
                found.append(piece)
                reach = piece.last
        if reach == n:
            return found
    return []


def forget(job: str | None, dask_worker: Any = None) -> None:
    """Remove the checkpoints of a job, and old ones of clients that were killed; for `distributed.Client.run`."""
    base = _base(dask_worker)
    for folder in base.glob(f"{PREFIX}*"):
        if folder.name == f"{PREFIX}{job}" or time.time() - folder.stat().st_mtime > OLD:
            shutil.rmtree(folder, ignore_errors=True)
