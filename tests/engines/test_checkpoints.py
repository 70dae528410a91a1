"""Checkpoints between workers: copies that are sent, and pieces that are fetched, on a real cluster."""

import os
from typing import Any

import numpy as np

from isotherm.engines.checkpoints import CheckpointStore, Piece, complete_set, forget, known_pieces
from isotherm.engines.part import Resumed
from isotherm.engines.worker import inspect
from isotherm.equilibrium.solvers.cg import Pace


def resumed(first: int, last: int) -> Resumed:
    rows = np.arange(first, last, dtype=np.float32)[:, None] * np.ones((1, 3), np.float32)
    pace = Pace(5, np.ones(4), np.full(4, 2.0), np.array([True, False, True, True]))
    return Resumed(5, pace, np.zeros((6, 2)), rows, -rows)


def save_and_send(other: str, dask_worker: Any = None) -> list[str]:
    """Write two pieces, send copies to another worker, and remove the own ones."""
    store = CheckpointStore(dask_worker, "test", 0)
    for first, last in ((0, 4), (4, 9)):
        store._call(other, "isotherm_keep", folder=store.folder.name, name=f"5-0-{first}-{last}.npz", arrays={})
        os.unlink(store.folder / f"5-0-{first}-{last}.npz")
        assert store.save(resumed(first, last), first, other) == 2 * (last - first) * 3 * 4
    return [piece.path for piece in known_pieces("test", dask_worker)]


def load_from(holder: str, paths: list[str], dask_worker: Any = None) -> Resumed:
    """Fetch the rows 2 to 7 from a worker, as if the files were on its machine only."""
    pieces = [
        Piece(5, 0, first, last, path, holder) for (first, last), path in zip(((0, 4), (4, 9)), paths, strict=True)
    ]
    exists = os.path.exists
    os.path.exists = lambda path: False
    try:
        return CheckpointStore(dask_worker, "test", 1).load(pieces, 2, 7)
    finally:
        os.path.exists = exists


def test_pieces_travel_between_workers(cluster: Any) -> None:
    one, two = sorted(cluster.scheduler_info()["workers"])[:2]
    cluster.run(inspect, None, "")
    try:
        paths = cluster.submit(save_and_send_task, one, two, workers=[one], pure=False).result()
        ordered = sorted(paths, key=lambda path: int(path.rsplit("-", 2)[1]))
        found = cluster.submit(load_task, two, ordered, workers=[one], pure=False).result()
    finally:
        cluster.run(forget, "test")
    np.testing.assert_array_equal(found.temperatures[:, 0], np.arange(2, 7))
    np.testing.assert_array_equal(found.directions, -found.temperatures)
    assert found.pace.steps == 5
    assert found.pace.moving.tolist() == [True, False, True, True]
    assert all(not pieces for pieces in cluster.run(known_pieces, "test").values())


def save_and_send_task(_: str, other: str) -> list[str]:
    from distributed import get_worker

    return save_and_send(other, get_worker())


def load_task(holder: str, paths: list[str]) -> Resumed:
    from distributed import get_worker

    return load_from(holder, paths, get_worker())


def test_an_incomplete_checkpoint_is_not_used() -> None:
    saved = [Piece(5, 0, 0, 4, "a"), Piece(5, 0, 4, 9, "b"), Piece(10, 0, 0, 4, "c"), Piece(10, 1, 4, 9, "d")]
    assert [piece.path for piece in complete_set(saved, 9)] == ["a", "b"]
    assert complete_set(saved[2:], 9) == []
