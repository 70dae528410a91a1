"""The search for nearest rows: native against its twin in NumPy, and both against all distances."""

from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.kernels import reference

KERNELS = [pytest.param(reference, id="reference")]
if kernels.native is not None:
    KERNELS.append(pytest.param(kernels.native, id="native"))


def table(n: int, columns: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((n, columns)).astype(np.float32)


def squares(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return (rows.astype(np.float64) ** 2).sum(axis=1).astype(np.float32)


def apart(queries: NDArray[np.float32], rows: NDArray[np.float32]) -> NDArray[np.float64]:
    gaps = queries[:, None].astype(np.float64) - rows[None].astype(np.float64)
    return np.asarray(np.sqrt((gaps**2).sum(axis=2)))


@pytest.mark.parametrize("active", KERNELS)
@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (33, 7), (300, 64), (700, 13)], ids=str)
def test_all_lists_give_the_true_neighbours(active: ModuleType, shape: tuple[int, int]) -> None:
    rows, queries = table(*shape), table(41, shape[1], seed=1)
    lists = np.append(np.arange(0, len(rows), 50), len(rows))
    nearest = np.empty((len(queries), min(9, len(rows))), np.int32)
    active.nearest_rows(rows, squares(rows), lists, queries, None, nearest, 1)
    distances = apart(queries, rows)
    true = np.sort(distances, axis=1)[:, : nearest.shape[1]]
    np.testing.assert_allclose(np.take_along_axis(distances, nearest, axis=1), true, rtol=1e-5)


@pytest.mark.parametrize("active", KERNELS)
def test_only_probed_lists_are_looked_through(active: ModuleType) -> None:
    rows, queries = table(120, 5), table(600, 5, seed=1)
    lists = np.array([0, 10, 10, 70, 120])
    probes = np.random.default_rng(2).permuted(np.tile(np.arange(4, dtype=np.int32), (600, 1)), axis=1)[:, :2].copy()
    nearest = np.empty((600, 4), np.int32)
    active.nearest_rows(rows, squares(rows), lists, queries, probes, nearest, 1)
    distances = apart(queries, rows)
    for query, probed in enumerate(probes):
        seen = np.concatenate([np.arange(lists[p], lists[p + 1]) for p in probed])
        best = seen[np.argsort(distances[query, seen])][:4]
        found = nearest[query][nearest[query] >= 0]
        np.testing.assert_allclose(distances[query, found], distances[query, best], rtol=1e-5)


@pytest.mark.parametrize("active", KERNELS)
def test_fewer_rows_than_wanted_leave_gaps(active: ModuleType) -> None:
    rows = table(3, 2)
    nearest = np.empty((3, 5), np.int32)
    active.nearest_rows(rows, squares(rows), np.array([0, 3]), rows, None, nearest, 1)
    assert (np.sort(nearest[:, :3], axis=1) == [0, 1, 2]).all()
    assert (nearest[:, 3:] == -1).all()


@pytest.mark.skipif(kernels.native is None, reason="needs the native kernels")
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_do_not_change_a_bit(threads: int) -> None:
    rows = table(3000, 32)
    lists = np.append(np.arange(0, 3000, 100), 3000)
    found = []
    for count in (1, threads):
        nearest = np.empty((3000, 12), np.int32)
        kernels.native.nearest_rows(rows, squares(rows), lists, rows, None, nearest, count)  # type: ignore[union-attr]
        found.append(nearest)
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("active", KERNELS)
def test_refining_leaves_out_the_row_itself_and_gaps(active: ModuleType) -> None:
    rows = np.array([[0], [3], [1], [7]], np.float32)
    candidates = np.array([[0, 1, 2, -1], [3, 0, 2, 1]], np.int32)
    nearest, distances = np.empty((2, 3), np.int32), np.empty((2, 3))
    active.refine(rows, rows[:2], candidates, np.array([0, -1], np.int32), nearest, distances, 1)
    assert nearest.tolist() == [[2, 1, -1], [1, 2, 0]]
    assert distances.tolist() == [[1, 3, np.inf], [0, 2, 3]]


@pytest.mark.parametrize("active", KERNELS)
def test_refining_sees_differences_that_squares_would_lose(active: ModuleType) -> None:
    rows = np.array([[4096.0], [4096.001], [4096.0005]], np.float32)
    nearest, distances = np.empty((1, 2), np.int32), np.empty((1, 2))
    active.refine(rows, rows[:1], np.array([[1, 2]], np.int32), np.array([-1], np.int32), nearest, distances, 1)
    assert nearest.tolist() == [[2, 1]]
    assert distances[0, 0] == float(rows[2, 0]) - float(rows[0, 0])
