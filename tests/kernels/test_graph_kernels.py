"""The kernels that build, check and number graphs, native and reference, compared with plain Python and SciPy."""

from copy import copy
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import BACKENDS, DTYPES, each_backend, random_graph
from problems import adjacencies
from scipy.sparse import block_array, csr_array, random_array
from scipy.sparse.csgraph import shortest_path

from isotherm.kernels import reference


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


@each_backend
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


@each_backend
@pytest.mark.parametrize(("n", "density"), [(1, 0), (1, 1), (40, 0.1), (40, 1), (2000, 0.1)])
@pytest.mark.parametrize("dtype", [None, *DTYPES])
def test_add_transpose(backend: ModuleType, dtype: Any, n: int, density: float) -> None:
    """Also where there is enough to do for several threads; the diagonal counts twice."""
    arcs = random_array((n, n), density=density, rng=np.random.default_rng(1), format="csr", dtype=dtype or np.float64)
    arcs.sort_indices()
    arrays = arcs.indptr.astype(np.int64), arcs.indices.astype(np.int32), None if dtype is None else arcs.data
    indptr, indices, weights = backend.add_transpose(*arrays, 3)
    known = (arcs if dtype else arcs > 0).toarray().astype(dtype or np.float32)
    found = csr_array((np.ones(len(indices)) if weights is None else weights, indices, indptr), shape=(n, n))
    np.testing.assert_array_equal(found.toarray(), known + known.T)
    assert (weights is None) == (dtype is None and not arcs.nnz)
    assert weights is None or weights.dtype == known.dtype
    assert backend.scan(indptr, indices, weights, 1)[:2] == (True, True)


@each_backend
def test_the_transpose_keeps_denormal_weights(backend: ModuleType) -> None:
    """One arc in one direction, and one in both."""
    arcs = csr_array(np.array([[0, 3e-310, 1e-310], [0, 0, 0], [2e-310, 0, 0]]))
    arrays = arcs.indptr.astype(np.int64), arcs.indices.astype(np.int32), arcs.data
    _, _, weights = backend.add_transpose(*arrays, 1)
    np.testing.assert_allclose(1e300 * weights, [3e-10, 3e-10, 3e-10, 3e-10], rtol=1e-9)


@each_backend
def test_the_transpose_adds_no_weights_to_edges_that_are_listed_once(backend: ModuleType) -> None:
    indptr, indices, weights = backend.add_transpose(np.array([0, 2, 2, 2]), np.array([1, 2], np.int32), None, 1)
    assert (indptr.tolist(), indices.tolist(), weights) == ([0, 2, 3, 4], [1, 2, 0, 0], None)


@each_backend
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


@given(adjacencies(), st.data())
@settings(max_examples=60)
def test_depth(matrix: csr_array, data: st.DataObject) -> None:
    n = matrix.shape[0]
    seeds = list(data.draw(st.sets(st.integers(0, n - 1), min_size=1)))
    limit = data.draw(st.integers(0, n))
    steps = shortest_path(matrix, unweighted=True, indices=seeds).min(axis=0)
    expected = min(limit, int(steps[np.isfinite(steps)].max()))
    for backend in BACKENDS:
        marked = np.zeros(n, dtype=np.uint8)
        marked[seeds] = 1
        assert backend.depth(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), marked, limit) == expected


@each_backend
@pytest.mark.parametrize("weighted", [False, True])
def test_renumber(backend: ModuleType, weighted: bool) -> None:
    graph, matrix = random_graph(50, weighted, np.float64)
    order = np.random.default_rng(0).permutation(50)[:30].astype(np.int32)
    indptr, indices, weights = backend.renumber(*graph, order)
    data = np.ones(len(indices)) if weights is None else weights
    found = csr_array((data, indices, indptr), shape=(30, 30)).todense()
    np.testing.assert_array_equal(found, matrix[np.ix_(order, order)])
    assert (weights is None) != weighted


@given(adjacencies())
@settings(max_examples=60)
def test_components(matrix: csr_array) -> None:
    n = matrix.shape[0]
    hops = np.linalg.matrix_power((np.asarray(matrix.todense()) > 0) + np.eye(n), n) > 0
    first = hops.argmax(axis=1)  # the first node of the component of each
    for backend in BACKENDS:
        found = backend.components(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32))
        np.testing.assert_array_equal(found, np.searchsorted(np.unique(first), first))


@each_backend
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("most", [0, 40, 10**9])
def test_push_moves_residuals_and_keeps_the_balance(backend: ModuleType, weighted: bool, dtype: Any, most: int) -> None:
    graph, matrix = random_graph(60, weighted, dtype)
    degree = np.asarray(matrix.sum(axis=1), dtype=dtype)
    degree[::7] = 0  # held
    nodes = np.flatnonzero(degree)[:3]
    x, r = np.zeros((60, 4), dtype), np.zeros((60, 4), dtype)
    r[nodes, 0], r[nodes, 1], r[nodes, 2] = [1.0, 2.0, 0.5], [-1.0, 2.0, 0.0], [3.0, 3.0, 3.0]
    before, least, inside = r.copy(), np.array([1e-4, 1e-3]), degree > 0
    left = backend.push(*graph, degree, least, most, x, r, 2)
    np.testing.assert_allclose((degree[:, None] * x - matrix @ x + r)[inside], before[inside], atol=1e-5)
    assert not x[~inside].any()
    assert not r[~inside].any()
    np.testing.assert_allclose(left, (np.abs(r[inside, :2]) / degree[inside, None]).max(axis=0), rtol=1e-6)
    np.testing.assert_array_equal(r[:, 2:], before[:, 2:])  # columns without a limit stay as they are
    assert x.any() == (most > 0)
    assert (left <= least).all() == (most == 10**9)


@each_backend
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_mix_colours(backend: ModuleType, weighted: bool, dtype: Any) -> None:
    """The reference defines the hash; here is that it tells apart exactly what differs around a node."""
    graph, matrix = random_graph(300, weighted, dtype)
    before = np.random.default_rng(0).integers(0, 3, 300).astype(np.uint64)
    after, expected = np.empty(300, np.uint64), np.empty(300, np.uint64)
    backend.mix_colours(*graph, 0.7, before, after, 2)
    indptr, indices, weights = graph
    reference.mix_colours(indptr, indices, weights, 0.7, before, expected, 1)
    np.testing.assert_array_equal(after, expected)
    around = [tuple(sorted(zip(before[row > 0].tolist(), row[row > 0].tolist(), strict=True))) for row in matrix]
    kinds = {(own, near): colour for own, near, colour in zip(before.tolist(), around, after.tolist(), strict=True)}
    assert all(
        kinds[own, near] == colour for own, near, colour in zip(before.tolist(), around, after.tolist(), strict=True)
    )
    assert len(set(kinds.values())) == len(kinds)


@each_backend
def test_mix_colours_ignores_rounding_errors_of_weights(backend: ModuleType) -> None:
    indptr, indices, before = np.array([0, 1, 2]), np.array([1, 0], np.int32), np.zeros(2, np.uint64)
    found = []
    for weight in (0.1 + 0.2 + 0.7, 0.7 + 0.2 + 0.1, 1.01):
        after = np.empty(2, np.uint64)
        backend.mix_colours(indptr, indices, np.full(2, weight), 1.0, before, after, 1)
        found.append(after.tolist())
    assert found[0] == found[1] != found[2]


@each_backend
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("rows", [0, 1, 300, 60_000])  # the last is shared out among threads
def test_row_sums(backend: ModuleType, rows: int, power: int, dtype: Any) -> None:
    rng = np.random.default_rng(rows)
    counts = rng.integers(0, 9, rows) * (rng.random(rows) < 0.6)
    indptr = np.append(0, np.cumsum(counts)).astype(np.int64)
    weights = rng.random(counts.sum()).astype(dtype)
    sums = np.full(rows, np.nan)
    backend.row_sums(indptr, weights, power, sums, 2)
    owners = np.repeat(np.arange(rows), counts)
    expected = np.bincount(owners, weights.astype(np.float64) ** power, minlength=rows)
    np.testing.assert_allclose(sums, expected, rtol=1e-12)


@each_backend
def test_row_sums_keep_denormal_weights(backend: ModuleType) -> None:
    sums = np.empty(1)
    backend.row_sums(np.array([0, 2]), np.array([1e-310, 2e-310]), 1, sums, 1)
    np.testing.assert_allclose(sums / 1e-310, 3)
