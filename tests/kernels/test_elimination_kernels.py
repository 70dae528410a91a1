"""Approximate elimination and the solve with its factor, native and reference, compared with dense matrices."""

from itertools import pairwise
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import BACKENDS, DTYPES, each_backend, random_block, random_graph, tolerance
from numpy.typing import NDArray
from problems import adjacencies
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array, eye_array, kron

from isotherm import kernels
from isotherm.kernels import reference


def dense_preconditioner(factor: Any, n: int) -> NDArray[np.float64]:
    """The matrix M of which an elimination is the factor."""
    _, pivots, indptr, targets, shares, *_ = factor
    upper = np.eye(n) - np.asarray(csr_array((shares, targets, indptr), shape=(n, n)).todense())
    return upper.T @ np.diag(1 / pivots) @ upper


def check_domains(indptr: NDArray[Any], targets: NDArray[Any], domains: NDArray[Any]) -> None:
    """Targets are in the same domain, or beyond all of them."""
    for begin, end in pairwise(domains.tolist()):
        reached = targets[indptr[begin] : indptr[end]]
        assert ((reached < end) | (reached >= domains[-1])).all()


@given(adjacencies(), st.integers(1, 20), st.data())
@settings(max_examples=60)
def test_eliminate(matrix: csr_array, domain_size: int, data: st.DataObject) -> None:
    """All of the interior goes, each node before its targets, M is like the matrix, and equal to it on paths."""
    n = matrix.shape[0]
    dense = np.asarray(matrix.todense())
    reached = np.zeros(n, dtype=np.uint8)
    reached[data.draw(st.integers(0, n - 1))] = 1
    boundary = np.flatnonzero(reached)
    reference.reach(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), reached)
    reached[boundary] = 0
    interior = np.flatnonzero(reached)
    exact = (np.diag(dense.sum(axis=1)) - dense)[np.ix_(interior, interior)]
    arrays = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data
    for backend in BACKENDS:
        factor = backend.eliminate(*arrays, reached, 1, domain_size, 2)
        order, _, indptr, targets, _, domains, *_ = factor
        assert sorted(order.tolist()) == interior.tolist()
        assert all((targets[a:b] > v).all() for v, (a, b) in enumerate(pairwise(indptr.tolist())))
        check_domains(indptr, targets, domains)
        found = dense_preconditioner(factor, len(interior))
        expected = exact[np.ix_(*[np.searchsorted(interior, order)] * 2)]
        if len(interior):
            likeness = eigh(expected, found, eigvals_only=True)
            assert 0.02 < likeness.min() <= likeness.max() < 50
        if (dense > 0).sum(axis=1).max(initial=0) <= 2:
            np.testing.assert_allclose(
                found, expected, rtol=1e-5, atol=1e-5 * max(1.0, np.abs(expected).max(initial=0))
            )


@each_backend
def test_elimination_is_right_on_average(backend: ModuleType) -> None:
    graph, matrix = random_graph(12, True, np.float64, seed=3)
    interior = np.ones(12, dtype=np.uint8)
    interior[:2] = 0
    exact = (np.diag(matrix.sum(axis=1)) - matrix)[2:, 2:]
    draws = 3000
    mean = np.zeros((10, 10))
    for seed in range(1, draws + 1):
        factor = backend.eliminate(*graph, interior, seed, 3, 1)
        place = np.argsort(factor[0])
        mean += dense_preconditioner(factor, 10)[np.ix_(place, place)] / draws
    np.testing.assert_allclose(mean, exact, atol=0.06 * np.abs(exact).max())


class Descending(NamedTuple):
    """A random graph with a factor, in order of elimination, and blocks for a few iterations of cg on it."""

    factor: list[NDArray[Any]]  # pivots and what follows
    preconditioner: NDArray[np.float64]  # M
    laplacian: NDArray[np.float64]
    graph: tuple[Any, ...]
    degree: NDArray[Any]
    blocks: list[NDArray[Any]]  # y, g, p, x

    @classmethod
    def of(cls, backend: ModuleType, weighted: bool, dtype: Any, width: int, domain_size: int) -> "Descending":
        n = 60
        graph, matrix = random_graph(n, weighted, np.float64, seed=1)
        interior = np.ones(n, dtype=np.uint8)
        interior[:5] = 0
        interior[matrix.sum(axis=1) == 0] = 0
        order, pivots, *factor = backend.eliminate(*graph, interior, 1, domain_size, 2)
        numbering = np.concatenate([order, np.arange(5, dtype=np.int32)])
        indptr, indices, weights = backend.renumber(*graph, numbering)
        degree = np.where(np.arange(len(numbering)) < len(order), matrix.sum(axis=1)[numbering], 0)
        laplacian = (np.diag(matrix.sum(axis=1)) - matrix)[np.ix_(order, order)]
        blocks = [kernels.block(len(order), width, dtype) for _ in range(4)]
        blocks[2] = kernels.block(len(numbering), width, dtype)
        graph = indptr, indices, None if weights is None else weights.astype(dtype)
        preconditioner = dense_preconditioner((order, pivots, *factor), len(order))
        return cls([pivots.astype(dtype), *factor], preconditioner, laplacian, graph, degree.astype(dtype), blocks)

    def forward(self, backend: ModuleType, q: NDArray[np.float64], threads: int = 2) -> kernels.Stride:
        scale = 1 / self.degree[: len(q)].astype(np.float64)
        return kernels.Stride(*backend.forward(*self.factor, scale, q, self.blocks[0], threads))

    def descend(self, backend: ModuleType, *step: Any, threads: int = 2) -> kernels.Stride:
        dtype, width = self.blocks[0].dtype, self.blocks[0].shape[1]
        rows = [np.full(width, value, dtype) for value in (1, *step)]
        arrays = *self.factor, *self.graph, self.degree, *rows, *self.blocks
        return kernels.Stride(*backend.descend(*arrays, threads))


@each_backend
@pytest.mark.parametrize("domain_size", [7, 1000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", kernels.WIDTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_descend(backend: ModuleType, dtype: Any, width: int, weighted: bool, domain_size: int) -> None:
    """Two iterations, against cg written down with dense matrices."""
    case = Descending.of(backend, weighted, dtype, width, domain_size)
    _, _, p, x = case.blocks
    inside = len(x)
    r = random_block(inside, width, np.float64, 1).copy()
    z = np.linalg.solve(case.preconditioner, r)
    close = 20 * tolerance(dtype)
    energy = (r * z).sum(axis=0)
    begun = case.forward(backend, -r)
    np.testing.assert_allclose(begun.energy[:-1], energy, rtol=10 * close)
    np.testing.assert_allclose(begun.size[:-1], np.abs(r / case.degree[:inside, None]).max(axis=0), rtol=close)
    first = case.descend(backend, 0, 1, 0)
    direction, found = z, np.zeros_like(z)
    for gain, beta, alpha in ((1, 0.5, 0.25), (0, 1, 0.5)):
        q = case.laplacian @ direction
        back = np.linalg.solve(case.preconditioner, q)
        np.testing.assert_allclose(first.energy[:-1], (r * z).sum(axis=0), rtol=10 * close)
        np.testing.assert_allclose(first.curvature[:-1], (direction * q).sum(axis=0), rtol=10 * close)
        np.testing.assert_allclose(first.square[:-1], (q * back).sum(axis=0), rtol=10 * close)
        lengths = np.sqrt((r * z).sum(axis=0) * (q * back).sum(axis=0))
        np.testing.assert_allclose(first.cross[:-1] / lengths, (r * back).sum(axis=0) / lengths, atol=10 * close)
        closed = np.column_stack([z, z.sum(axis=1)])
        np.testing.assert_allclose(first.size, np.abs(closed).max(axis=0), rtol=10 * close)
        first = case.descend(backend, alpha, gain, beta)
        found, r = found + alpha * direction, r - alpha * q
        z = np.linalg.solve(case.preconditioner, r)
        direction = gain * z + beta * direction
        scale = np.abs(direction).max()
        np.testing.assert_allclose(p[:inside] / scale, direction / scale, atol=close)
        np.testing.assert_allclose(x / np.abs(found).max(), found / np.abs(found).max(), atol=close)
        assert not p[inside:].any()


@pytest.mark.skipif(kernels.native is None, reason="the native kernels were not built")
def test_elimination_does_not_depend_on_the_number_of_threads() -> None:
    assert kernels.native is not None
    side = 300
    rod = diags_array([np.ones(side - 1)] * 2, offsets=[-1, 1], shape=(side, side))
    grid = csr_array(kron(rod, eye_array(side)) + kron(eye_array(side), rod))
    interior = np.ones(side**2, dtype=np.uint8)
    interior[::1000] = 0
    graph = grid.indptr.astype(np.int64), grid.indices.astype(np.int32), None
    results = []
    for threads in (1, 2, 7):
        order, pivots, *factor = kernels.native.eliminate(*graph, interior, 1, 5000, threads)
        assert len(factor[3]) > 10  # bounds of domains
        blocks = [random_block(len(order), 8, np.float64, seed) for seed in range(4)]
        scale, q = np.ones(len(order)), random_block(len(order), 8, np.float64, 5)
        begun = kernels.native.forward(pivots, *factor, scale, q, blocks[0], threads)
        renumbered = kernels.native.renumber(*graph[:2], np.ones(len(graph[1])), order)
        rows = np.full(len(order), 4.0), *(np.full(8, value) for value in (1.0, 0.5, 1.0, 0.25))
        stride = kernels.native.descend(pivots, *factor, *renumbered, *rows, *blocks, threads)
        results.append((order, *factor, *blocks, begun, stride))
    for result in results[1:]:
        for found, expected in zip(result, results[0], strict=True):
            np.testing.assert_array_equal(found, expected)
