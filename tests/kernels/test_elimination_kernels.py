"""Approximate elimination and the solve with its factor, native and reference, compared with dense matrices."""

from itertools import pairwise
from types import ModuleType
from typing import Any

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


@each_backend
@pytest.mark.parametrize("domain_size", [7, 1000])
@pytest.mark.parametrize("width", kernels.WIDTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_precondition(backend: ModuleType, dtype: Any, width: int, domain_size: int) -> None:
    n = 60
    graph, matrix = random_graph(n, True, np.float64, seed=1)
    interior = np.ones(n, dtype=np.uint8)
    interior[:5] = 0
    interior[matrix.sum(axis=1) == 0] = 0
    factor = backend.eliminate(*graph, interior, 1, domain_size, 2)
    inside = len(factor[0])
    r, z = random_block(inside, width, dtype, 1), kernels.block(inside, width, dtype)
    closing = np.ones(width, dtype)
    report = kernels.Report(*backend.precondition(factor[1].astype(dtype), *factor[2:], closing, r, z, 2))
    expected = np.linalg.solve(dense_preconditioner(factor, inside), r.astype(float))
    scale = np.abs(expected).max()
    np.testing.assert_allclose(z / scale, expected / scale, atol=10 * tolerance(dtype))
    np.testing.assert_allclose(report.dot[:-1], (r * expected).sum(axis=0), rtol=100 * tolerance(dtype))
    closed = np.column_stack([z, z @ closing])
    np.testing.assert_allclose(report.size, np.abs(closed).max(axis=0), rtol=10 * tolerance(dtype))


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
        r, z = random_block(len(order), 8, np.float64, 1), kernels.block(len(order), 8, np.float64)
        report = kernels.native.precondition(pivots, *factor, np.ones(8), r, z, threads)
        results.append((order, *factor, z, report))
    for result in results[1:]:
        for found, expected in zip(result, results[0], strict=True):
            np.testing.assert_array_equal(found, expected)
