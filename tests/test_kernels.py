"""One contract, both kernels: native C++ and the plain SciPy oracle."""

from copy import copy
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from problems import adjacencies
from scipy.linalg import eigh
from scipy.sparse import block_array, csr_array, diags_array, eye_array, kron, random_array

from isotherm import kernels
from isotherm.kernels import reference

BACKENDS = [reference] if kernels.native is None else [reference, kernels.native]
DTYPES = [np.float32, np.float64]


def test_native_kernels_were_built() -> None:
    assert kernels.native is not None, "this machine has a compiler, so the native kernels must have been built"


@pytest.fixture(params=BACKENDS, ids=lambda module: module.__name__.rsplit(".")[-1])
def backend(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = request.param
    return module


def random_graph(n: int, weighted: bool, dtype: Any, seed: int = 0) -> tuple[Any, NDArray[Any]]:
    """A symmetric matrix as the kernels take it, and as a dense array."""
    rng = np.random.default_rng(seed)
    matrix = np.triu(rng.random((n, n)) < 6 / n, 1) * (rng.random((n, n)) + 0.5 if weighted else 1.0)
    matrix = (matrix + matrix.T).astype(dtype).astype(np.float64)
    csr = csr_array(matrix)
    weights = csr.data.astype(dtype) if weighted else None
    return (csr.indptr.astype(np.int64), csr.indices.astype(np.int32), weights), matrix


def random_block(n: int, width: int, dtype: Any, seed: int) -> NDArray[Any]:
    block = kernels.block(n, width, dtype)
    block[:] = np.random.default_rng(seed).standard_normal((n, width))
    return block


def tolerance(dtype: Any) -> float:
    return 3e-5 if dtype is np.float32 else 1e-12


def check_moments(report: kernels.Report, x: NDArray[Any], closing: NDArray[Any], rtol: float) -> None:
    closed = np.column_stack([x, -(x @ closing)]).astype(np.float64)
    np.testing.assert_allclose(report.sum, closed.sum(axis=0), rtol=rtol, atol=rtol * len(x))
    np.testing.assert_allclose(report.square, (closed**2).sum(axis=0), rtol=rtol)
    np.testing.assert_allclose(report.size, np.abs(closed).max(axis=0), rtol=rtol)


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


@given(adjacencies(), st.data())
@settings(max_examples=60)
def test_scan(matrix: csr_array, data: st.DataObject) -> None:
    change = data.draw(st.sampled_from(["none", "loop", "drop an entry", "swap two indices", "weight"]))
    matrix = matrix.copy()
    if matrix.nnz and change == "loop":
        matrix = csr_array(matrix + csr_array(([1.0], ([1], [1])), shape=matrix.shape))
    elif matrix.nnz and change == "drop an entry":
        matrix.data[data.draw(st.integers(0, matrix.nnz - 1))] = 0
        matrix.eliminate_zeros()
    elif matrix.nnz and change == "weight":
        matrix.data[data.draw(st.integers(0, matrix.nnz - 1))] *= 1 + 1e-15
    indices = matrix.indices.copy()
    long_rows = np.flatnonzero(np.diff(matrix.indptr) > 1)
    if change == "swap two indices" and len(long_rows):
        first = matrix.indptr[long_rows[0]]
        indices[first : first + 2] = indices[first : first + 2][::-1]
        matrix.data[first : first + 2] = matrix.data[first : first + 2][::-1]
    unsorted = csr_array((matrix.data, indices, matrix.indptr), shape=matrix.shape)
    expected = (
        not (change == "swap two indices" and len(long_rows)),
        bool((unsorted.todense() == unsorted.todense().T).all()),
        int((matrix.diagonal() > 0).sum()),
    )
    for backend in BACKENDS:
        arrays = matrix.indptr.astype(np.int64), indices.astype(np.int32), matrix.data.astype(np.float64)
        assert tuple(backend.scan(*arrays, 2)) == expected


@pytest.mark.parametrize(("n", "density"), [(1, 0), (1, 1), (40, 0.1), (2000, 0.4)])
@pytest.mark.parametrize("weighted", [False, True])
def test_bipartite(backend: ModuleType, weighted: bool, n: int, density: float) -> None:
    """Also where there is enough to do for several threads."""
    arcs = random_array((n, n), density=density, rng=np.random.default_rng(0), format="csr")
    weights = arcs.data if weighted else None
    indptr, indices = np.empty(2 * n + 1, np.int64), np.empty(2 * arcs.nnz, np.int32)
    found = np.empty(2 * arcs.nnz) if weighted else None
    given = arcs.indptr.astype(np.int64), arcs.indices.astype(np.int32), weights
    backend.bipartite(*given, indptr, indices, found, 3)
    matrix = csr_array((np.ones(len(indices)) if found is None else found, indices, indptr), shape=(2 * n, 2 * n))
    known = arcs if weighted else (arcs > 0).astype(float)
    assert (matrix != block_array([[None, known], [known.T, None]], format="csr")).nnz == 0
    assert tuple(backend.scan(indptr, indices, found, 1)) == (True, True, 0)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", [None, *DTYPES])
@pytest.mark.parametrize(("n", "entries"), [(1, 0), (1, 9), (30, 1000), (500, 3000), (1000, 200_000)])
def test_assemble(backend: ModuleType, n: int, entries: int, dtype: Any, threads: int) -> None:
    """Short rows and long ones, grouped and not, with equal entries, whose weights stay in the order of the list."""
    rng = np.random.default_rng(entries)
    rows, columns = (n * rng.random((2, entries)) ** [[2], [1.3]]).astype(np.int32)
    rows[: entries // 2].sort()
    weights = None if dtype is None else rng.random(entries).astype(dtype)
    indptr, indices, found = np.empty(n + 1, np.int64), np.empty(entries, np.int32), copy(weights)
    backend.assemble(rows, columns, weights, indptr, indices, found, threads)
    order = sorted(range(entries), key=lambda e: (rows[e], columns[e]))
    np.testing.assert_array_equal(indptr, [0, *np.cumsum(np.bincount(rows, minlength=n))])
    np.testing.assert_array_equal(indices, columns[order])
    if weights is not None:
        np.testing.assert_array_equal(found, weights[order])


def numbered(pairs: list[tuple[int, int]], known: dict[int, int]) -> tuple[list[list[int]], list[int]]:
    """What `number` should give: the positions of each pair, and where keys are new."""
    codes, first = [], []
    for row, pair in enumerate(pairs):
        for end, key in enumerate(pair):
            if key not in known:
                known[key] = len(known)
                first.append(2 * row + end)
        codes.append([known[key] for key in pair])
    return codes, first


@given(st.lists(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 400)), max_size=60), max_size=4), st.data())
@settings(max_examples=60)
def test_number_and_rehash(batches: list[list[tuple[int, int]]], data: st.DataObject) -> None:
    """Keys whose words or checks agree, in tables that are nearly full and grow in between."""
    distinct = data.draw(st.integers(1, 2**64 - 1))
    for backend in BACKENDS:
        table, known = np.zeros((64, 2), dtype=np.uint64), dict[int, int]()
        for pairs in batches:
            if len(known) + 2 * len(pairs) >= len(table):
                grown = np.zeros((8 * len(table), 2), dtype=np.uint64)
                backend.rehash(table, grown)
                table = grown
            ends = np.array(pairs, dtype=np.uint64).reshape(-1, 2).T.copy()
            words, checks = ends % 7 * np.uint64(distinct), ends // 7 << np.uint64(32)
            codes, size = np.empty(ends.shape, dtype=np.int32), len(known)
            first = backend.number(table, size, words[0], checks[0], words[1], checks[1], *codes)
            assert (codes.T.tolist(), first.tolist()) == numbered(pairs, known)


def test_text_keys(backend: ModuleType) -> None:
    """Equal texts have equal keys wherever they are stored; others differ in both hashes."""
    lengths = (0, 1, 3, 4, 7, 8, 11, 12, 13, 15, 16, 17, 24, 31, 32, 33, 100)
    starts = [""] + [letter * length for length in lengths for letter in ("a", "b", "\0", "é")]
    texts = sorted({start + end for start in starts for end in ("", "\0", "x", "ax", "\0\0\0", "12345678")})
    scattered = pl.Series([text for text in texts for _ in range(3)]).gather(np.arange(0, 3 * len(texts), 3))
    chunks = pl.concat([pl.Series(["filler of some length", *texts[:50]])[1:], pl.Series(texts[50:])], rechunk=False)
    found = []
    for series in (pl.Series(texts), scattered, chunks):
        keys = np.empty((2, len(texts)), dtype=np.uint64)
        backend.text_keys(series, *keys)
        assert all(len(np.unique(hashes >> np.uint64(32))) == len(texts) for hashes in keys)
        found.append(keys)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_text_keys_are_spread(backend: ModuleType) -> None:
    """Of 100,000 texts none share 64 bits, and about as many as chance would have it share the lowest or highest 32."""
    texts = pl.Series([f"Article_{number}" for number in range(100_000)])
    keys = np.empty((2, len(texts)), dtype=np.uint64)
    backend.text_keys(texts, *keys)
    for hashes in keys:
        assert len(np.unique(hashes)) == len(texts)
        for half in (hashes & np.uint64(0xFFFFFFFF), hashes >> np.uint64(32)):
            assert len(texts) - len(np.unique(half)) < 10  # 1.2 are expected
    bits = np.unpackbits(keys.T.copy().view(np.uint8), axis=1)  # (texts, 128)
    correlations = np.corrcoef(bits.T) - np.eye(128)
    assert np.abs(correlations).max() < 0.02  # six times the standard deviation


@given(adjacencies(), st.data())
@settings(max_examples=60)
def test_reach(matrix: csr_array, data: st.DataObject) -> None:
    n = matrix.shape[0]
    seeds = data.draw(st.sets(st.integers(0, n - 1), min_size=1))
    hops = np.linalg.matrix_power((np.asarray(matrix.todense()) > 0) + np.eye(n), n)
    for backend in BACKENDS:
        reached = np.zeros(n, dtype=np.uint8)
        reached[list(seeds)] = 1
        backend.reach(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), reached)
        np.testing.assert_array_equal(reached > 0, hops[:, list(seeds)].any(axis=1))


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


@pytest.mark.parametrize("backend", BACKENDS)
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


@pytest.mark.parametrize("weighted", [False, True])
def test_renumber(backend: ModuleType, weighted: bool) -> None:
    graph, matrix = random_graph(50, weighted, np.float64)
    order = np.random.default_rng(0).permutation(50)[:30].astype(np.int32)
    indptr, indices, weights = backend.renumber(*graph, order)
    data = np.ones(len(indices)) if weights is None else weights
    found = csr_array((data, indices, indptr), shape=(30, 30)).todense()
    np.testing.assert_array_equal(found, matrix[np.ix_(order, order)])
    assert (weights is None) != weighted


@pytest.mark.skipif(kernels.native is None, reason="the native kernels were not built")
class TestNative:
    def test_results_do_not_depend_on_the_number_of_threads(self) -> None:
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

    def test_elimination_does_not_depend_on_the_number_of_threads(self) -> None:
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

    def test_a_wrong_dtype_is_refused_and_not_copied(self) -> None:
        graph, _ = random_graph(20, False, np.float32)
        assert kernels.native is not None
        x = kernels.block(20, 4, np.float64)
        out = kernels.block(20, 4, np.float32)
        with pytest.raises(TypeError):
            kernels.native.sweep(*graph, np.ones(20, np.float32), np.ones(4, np.float32), x, out, 1)

    def test_a_width_that_no_kernel_has_is_refused(self) -> None:
        graph, _ = random_graph(20, False, np.float64)
        assert kernels.native is not None
        x, out = np.zeros((20, 3)), np.zeros((20, 3))
        with pytest.raises(ValueError, match="2, 4, 8 or 16 columns"):
            kernels.native.sweep(*graph, np.ones(20), np.ones(3), x, out, 1)


def test_blocks_are_aligned_to_cache_lines() -> None:
    for width in kernels.WIDTHS:
        assert kernels.block(1000, width, np.float32).ctypes.data % 64 == 0


def test_thread_count_comes_from_argument_then_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTHERM_THREADS", "3")
    assert kernels.thread_count() == 3
    assert kernels.thread_count(2) == 2
    monkeypatch.delenv("ISOTHERM_THREADS")
    assert kernels.thread_count() >= 1
