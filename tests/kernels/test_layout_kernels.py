"""The loops of the layout, native and reference, compared with plain Python and with each other."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from kernel_cases import BACKENDS, each_backend, random_graph
from numpy.typing import NDArray
from scipy.sparse import csr_array

LEFT, BOTTOM, SCALE, SIDE = -3.0, -4.0, 2.5, 24


def some_positions(n: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).uniform(-2, 3, (n, 2)).astype(np.float32)


@each_backend
@pytest.mark.parametrize("weighted", [False, True])
def test_groups_are_pairs_of_neighbours_and_those_who_join_them(backend: ModuleType, weighted: bool) -> None:
    graph, matrix = random_graph(300, weighted, np.float32)
    order = np.random.default_rng(1).permutation(300).astype(np.int32)
    group = np.empty(300, np.int32)
    groups = backend.pair_up(*graph, order, group)
    assert sorted(set(group.tolist())) == list(range(groups))
    lonely = matrix.sum(axis=1) == 0
    for each in range(groups):
        members = np.flatnonzero(group == each)
        inside = matrix[np.ix_(members, members)] > 0
        assert (len(members) == 1 and lonely[members[0]]) or inside.any(axis=1).all()
    assert groups < 0.6 * 300


def test_both_backends_pair_up_alike() -> None:
    for seed in range(5):
        graph, _ = random_graph(200, bool(seed % 2), np.float32, seed=seed)
        order = np.random.default_rng(seed).permutation(200).astype(np.int32)
        found = [np.empty(200, np.int32) for _ in BACKENDS]
        counts = {backend.pair_up(*graph, order, group) for backend, group in zip(BACKENDS, found, strict=True)}
        assert len(counts) == 1
        assert all((group == found[0]).all() for group in found)


@each_backend
@pytest.mark.parametrize("weighted", [False, True])
def test_contract(backend: ModuleType, weighted: bool) -> None:
    graph, matrix = random_graph(60, weighted, np.float32)
    group = np.random.default_rng(2).integers(0, 20, 60).astype(np.int32)
    indptr, indices, weights = backend.contract(*graph, group, 20)
    expected = np.zeros((20, 20))
    for i, j in zip(*np.nonzero(matrix), strict=True):
        expected[group[i], group[j]] += matrix[i, j]
    np.fill_diagonal(expected, 0)
    found = csr_array((weights, indices, indptr), shape=(20, 20)).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert len(indices) == np.count_nonzero(expected)


@each_backend
def test_spread_keeps_mass_and_its_centre(backend: ModuleType) -> None:
    positions, mass = some_positions(500), np.random.default_rng(3).random(500).astype(np.float32)
    cells = np.zeros((SIDE, SIDE), np.float32)
    backend.spread(positions, mass, LEFT, BOTTOM, SCALE, cells)
    assert cells.sum() == pytest.approx(mass.sum(), rel=1e-5)
    across, up = LEFT + np.arange(SIDE) / SCALE, BOTTOM + np.arange(SIDE) / SCALE
    centre = np.array([cells.sum(axis=1) @ across, cells.sum(axis=0) @ up]) / mass.sum()
    np.testing.assert_allclose(centre, mass @ positions / mass.sum(), rtol=1e-4)


@each_backend
def test_pull_and_push(backend: ModuleType) -> None:
    """A field that is linear in the position is read without error, and the pull is its sum over the neighbours."""
    (indptr, indices, weights), matrix = random_graph(80, True, np.float32)
    positions, mass = some_positions(80), np.random.default_rng(4).random(80).astype(np.float32) + 0.5
    across, up = LEFT + np.arange(SIDE) / SCALE, BOTTOM + np.arange(SIDE) / SCALE
    field = np.stack(np.meshgrid(2 * across, up, indexing="ij"), axis=2).astype(np.float32)
    forces = np.empty((80, 2), np.float32)
    backend.pull_and_push(
        indptr, indices, weights, positions, mass, 1.5, LEFT, BOTTOM, SCALE, np.ascontiguousarray(field), forces, 2
    )
    away = positions[:, None].astype(float) - positions
    pulls = (matrix / (1 + (away**2).sum(axis=2)))[:, :, None] * away
    expected = 1.5 * pulls.sum(axis=1) / mass[:, None] - positions * [2, 1]
    np.testing.assert_allclose(forces, expected, atol=2e-4)


@each_backend
def test_advance(backend: ModuleType) -> None:
    """By hand: the first node goes on, the second turns, and the third would go too far."""
    forces = np.array([[-1, 0], [1, 0], [0, -100]], np.float32)
    velocity = np.array([[2, 0], [2, 0], [0, 0]], np.float32)
    gain, positions = np.ones((3, 2), np.float32), np.zeros((3, 2), np.float32)
    backend.advance(forces, 0.5, 0.5, 5.0, velocity, gain, positions, 1)
    assert gain[:2, 0].tolist() == pytest.approx([1.2, 0.8])
    assert positions.ravel().tolist() == pytest.approx([1.6, 0, 0.6, 0, 0, 5], rel=1e-6)
    assert (positions == velocity).all()


def test_threads_do_not_change_a_bit() -> None:
    """On a graph with enough entries for several threads."""
    n = 60_000
    rng = np.random.default_rng(0)
    ends = rng.integers(0, n, (2, 1_200_000))
    matrix = csr_array((np.ones(ends.shape[1], np.float32), (ends[0], ends[1])), shape=(n, n))
    graph: Any = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data
    positions, mass = some_positions(n), np.ones(n, np.float32)
    field = rng.standard_normal((SIDE, SIDE, 2)).astype(np.float32)
    for backend in BACKENDS:
        found = [np.empty((n, 2), np.float32) for _ in range(2)]
        for threads, forces in zip((1, 4), found, strict=True):
            backend.pull_and_push(*graph, positions, mass, 1.0, LEFT, BOTTOM, SCALE, field, forces, threads)
        assert (found[0] == found[1]).all()
