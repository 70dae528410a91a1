"""The kernels that work on blocks of columns, native and reference, compared with dense products."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from kernel_cases import DTYPES, each_backend, random_block, random_graph, tolerance
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm import kernels


def check_moments(report: kernels.Report, x: NDArray[Any], closing: NDArray[Any], rtol: float) -> None:
    closed = np.column_stack([x, -(x @ closing)]).astype(np.float64)
    np.testing.assert_allclose(report.sum, closed.sum(axis=0), rtol=rtol, atol=rtol * len(x))
    np.testing.assert_allclose(report.square, (closed**2).sum(axis=0), rtol=rtol)
    np.testing.assert_allclose(report.size, np.abs(closed).max(axis=0), rtol=rtol)


@each_backend
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", kernels.WIDTHS)
@pytest.mark.parametrize("dtype", DTYPES)
class TestBlocks:
    n = 200

    def test_sweep(self, backend: ModuleType, dtype: Any, width: int, weighted: bool, threads: int) -> None:
        graph, matrix = random_graph(self.n, weighted, dtype)
        x, out = random_block(self.n, width, dtype, 1), kernels.block(self.n, width, dtype)
        degree = matrix.sum(axis=1)
        free = (degree > 0) & (np.arange(self.n) % 7 > 0)
        scale = np.divide(1, degree, out=np.zeros(self.n), where=free).astype(dtype)
        closing = (np.arange(width) % 2 == 0).astype(dtype)
        report = kernels.Report(*backend.sweep(*graph, scale, closing, x, out, threads))
        expected = np.where(free[:, None], scale[:, None] * (matrix @ x), x)
        np.testing.assert_allclose(out, expected, rtol=0, atol=tolerance(dtype))
        change = np.column_stack([out - x, (out - x) @ closing])
        np.testing.assert_allclose(report.step, np.abs(change).max(axis=0), rtol=tolerance(dtype))
        np.testing.assert_array_equal(report.residual, report.step)
        check_moments(report, out, closing, tolerance(dtype))

    def test_laplacian(self, backend: ModuleType, dtype: Any, width: int, weighted: bool, threads: int) -> None:
        graph, matrix = random_graph(self.n, weighted, dtype)
        p, q = random_block(self.n, width, dtype, 2), random_block(self.n, width, dtype, 3)
        diagonal = np.where(np.arange(self.n) % 5 > 0, matrix.sum(axis=1), 0).astype(dtype)
        report = kernels.Report(*backend.laplacian(*graph, diagonal, p, q, threads))
        expected = np.where(diagonal[:, None] > 0, diagonal[:, None] * p - matrix @ p, 0)
        np.testing.assert_allclose(q, expected, rtol=0, atol=10 * tolerance(dtype))
        dot = (p.astype(float) * q).sum(axis=0)
        np.testing.assert_allclose(report.dot[:-1], dot, rtol=tolerance(dtype), atol=tolerance(dtype))


@each_backend
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", kernels.WIDTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_with_blocks_beyond_a_cache(backend: ModuleType, dtype: Any, width: int, weighted: bool) -> None:
    n = 150_000
    ends = np.random.default_rng(0).integers(n, size=(2, 4 * n))
    weights = np.random.default_rng(1).random(4 * n) + 0.5
    matrix = csr_array((np.append(weights, weights), np.hstack([ends, ends[::-1]])), shape=(n, n)).astype(dtype)
    if not weighted:
        matrix.data[:] = 1
    graph = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data if weighted else None
    p, q = random_block(n, width, dtype, 2), kernels.block(n, width, dtype)
    diagonal = matrix.sum(axis=1).astype(dtype)
    backend.laplacian(*graph, diagonal, p, q, 2)
    np.testing.assert_allclose(q, diagonal[:, None] * p - matrix @ p, rtol=0, atol=10 * tolerance(dtype))


@each_backend
@pytest.mark.parametrize("width", kernels.WIDTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_cg_step_and_turn(backend: ModuleType, dtype: Any, width: int) -> None:
    n = 300
    p, q, x, r = (random_block(n, width, dtype, seed) for seed in range(4))
    old_x, old_r = x.astype(float), r.astype(float)
    scale = np.random.default_rng(5).random(n).astype(dtype)
    alpha, closing = np.linspace(0.1, 1, width).astype(dtype), np.ones(width, dtype)
    report = kernels.Report(*backend.cg_step(scale, closing, alpha, p, q, x, r, 2))
    np.testing.assert_allclose(x, old_x + alpha * p, rtol=0, atol=tolerance(dtype))
    np.testing.assert_allclose(r, old_r - alpha * q, rtol=0, atol=tolerance(dtype))
    scaled = scale[:, None] * r.astype(float)
    np.testing.assert_allclose(report.dot[:-1], (r * scaled).sum(axis=0), rtol=tolerance(dtype))
    for found, values in ((report.step, alpha * p), (report.residual, scaled)):
        closed = np.column_stack([values, values @ closing])
        np.testing.assert_allclose(found, np.abs(closed).max(axis=0), rtol=tolerance(dtype))
    check_moments(report, x, closing, tolerance(dtype))
    before = p.astype(float)
    outflow = np.where(np.arange(n) % 3, 0, scale)
    leaving = backend.cg_turn(scale, outflow, alpha, r, p, 2)[0, :-1]
    np.testing.assert_allclose(p, scaled + alpha * before, rtol=0, atol=tolerance(dtype))
    np.testing.assert_allclose(leaving, outflow.astype(float) @ p, rtol=0, atol=100 * tolerance(dtype))
    assert not backend.cg_turn(scale, None, alpha, r, p, 2).any()
    before = r.astype(float)
    backend.cool(outflow, alpha, r, 2)
    np.testing.assert_allclose(r, before - outflow[:, None] * alpha, rtol=0, atol=tolerance(dtype))


@each_backend
@pytest.mark.parametrize("weighted", [False, True])
def test_signs(backend: ModuleType, weighted: bool) -> None:
    """The product with random signs, of which the first byte of a node has the first eight."""
    n, rng = 700, np.random.default_rng(4)
    graph, matrix = random_graph(n, weighted, np.float32)
    size, scale = rng.random((2, n)).astype(np.float32)
    scale[::7] = 0
    bits, out = rng.integers(256, size=(n, 2), dtype=np.uint8), random_block(n, 16, np.float32, 2)
    signs = np.array([[1 if byte & 2**power else -1 for byte in row for power in range(7, -1, -1)] for row in bits])
    expected = np.where(scale[:, None] > 0, scale[:, None] * (matrix @ (size[:, None] * signs)), out)
    backend.sign_average(*graph, scale, size, bits, out, 2)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


@each_backend
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", kernels.WIDTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_chebyshev_step(backend: ModuleType, dtype: Any, width: int, weighted: bool) -> None:
    """A step of the recurrence is computed in the place of the block before the last."""
    n = 70
    graph, matrix = random_graph(n, weighted, dtype)
    x, before = random_block(n, width, dtype, 1), random_block(n, width, dtype, 2)
    scale = np.random.default_rng(3).random(n).astype(dtype)
    scale[::7] = 0
    expected = scale[:, None] * (matrix @ x) - 0.3 * x - before
    backend.chebyshev(*graph, scale, 0.3, x, before, 2)
    np.testing.assert_allclose(before, expected, rtol=10 * tolerance(dtype), atol=10 * tolerance(dtype))


@each_backend
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", kernels.WIDTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_some_rows(backend: ModuleType, dtype: Any, width: int, weighted: bool) -> None:
    """The product on the last rows of a graph, and the Laplacian on the first."""
    n, first = 70, 30
    graph, matrix = random_graph(n, weighted, dtype)
    x, out = random_block(n, width, dtype, 1), random_block(n - first, width, dtype, 2)
    scale = np.random.default_rng(3).random(n - first).astype(dtype)
    scale[::7] = 0
    expected = np.where(scale[:, None] > 0, scale[:, None] * (matrix[first:] @ x), out)
    backend.average(graph[0][first:], *graph[1:], scale, x, out, 2)
    np.testing.assert_allclose(out, expected, rtol=10 * tolerance(dtype), atol=10 * tolerance(dtype))
    diagonal, q = matrix.sum(axis=1)[:first].astype(dtype), kernels.block(first, width, dtype)
    report = kernels.Report(*backend.laplacian(graph[0][: first + 1], *graph[1:], diagonal, x, q, 2))
    product = np.where(diagonal[:, None] > 0, diagonal[:, None] * x[:first] - matrix[:first] @ x, 0)
    np.testing.assert_allclose(q, product, rtol=10 * tolerance(dtype), atol=100 * tolerance(dtype))
    np.testing.assert_allclose(report.dot[:-1], (x[:first] * product).sum(axis=0), rtol=1000 * tolerance(dtype))


@each_backend
@pytest.mark.parametrize("width", kernels.WIDTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_moments(backend: ModuleType, dtype: Any, width: int) -> None:
    x = random_block(5000, width, dtype, 1)
    closing = np.ones(width, dtype)
    report = kernels.Report(*backend.moments(closing, x, 2))
    closed = np.column_stack([x, -(x @ closing)]).astype(np.float64)
    np.testing.assert_allclose(report.sum, closed.sum(axis=0), rtol=tolerance(dtype), atol=5000 * tolerance(dtype))
    np.testing.assert_allclose(report.spread(5000), closed.std(axis=0), rtol=100 * tolerance(dtype))
    np.testing.assert_allclose(report.size, np.abs(closed).max(axis=0), rtol=10 * tolerance(dtype))


@pytest.mark.skipif(kernels.native is None, reason="the native kernels were not built")
def test_results_do_not_depend_on_the_number_of_threads() -> None:
    n, width = 30_000, 8
    rng = np.random.default_rng(0)
    matrix = csr_array((np.ones(400_000), rng.integers(n, size=(2, 400_000))), shape=(n, n))
    graph = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), None
    x = random_block(n, width, np.float32, 1)
    scale, closing = np.full(n, 0.1, np.float32), np.ones(width, np.float32)
    results = []
    for threads in (1, 2, 7):
        out = kernels.block(n, width, np.float32)
        assert kernels.native is not None
        report = kernels.native.sweep(*graph, scale, closing, x, out, threads)
        results.append((out, report))
    for out, report in results[1:]:
        np.testing.assert_array_equal(out, results[0][0])
        np.testing.assert_array_equal(report, results[0][1])
