"""The kernels on tables of nodes by classes, and on groups of rows, compared with plain NumPy."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from kernel_cases import DTYPES, each_backend
from numpy.typing import NDArray
from scipy.sparse import csr_array, random_array
from scipy.special import log_softmax, softmax

from isotherm import kernels

ROWS = [1, 300, 40_000]  # the last is shared out among threads


def table(rows: int, columns: int, dtype: Any) -> NDArray[Any]:
    """Random temperatures; about a tenth of the rows is unreached, but not the first."""
    rng = np.random.default_rng(rows)
    x = rng.random((rows, columns)).astype(dtype)
    x[1:][rng.random(rows - 1) < 0.1] = np.nan
    return x


@each_backend
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", ROWS)
def test_table_moments(backend: ModuleType, rows: int, dtype: Any) -> None:
    x = table(rows, 7, dtype)
    count, *sums = backend.table_moments(x, 2)
    known = x[~np.isnan(x[:, 0])].astype(np.float64)
    assert count == len(known)
    np.testing.assert_allclose(sums, np.concatenate([known.sum(axis=0), (known**2).sum(axis=0)]))


@each_backend
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", ROWS)
def test_best_columns(backend: ModuleType, rows: int, dtype: Any) -> None:
    x = (10 * table(rows, 5, dtype)).round()  # with ties
    x[0, 2] = np.nan  # a class without temperatures
    best = np.empty(rows, np.int64)
    backend.best_columns(x, 0.0, best, 2)
    np.testing.assert_array_equal(best, np.where(np.isnan(x[:, 0]), -1, x.argmax(axis=1)))
    noisy = x + dtype(1e-3) * np.random.default_rng(0).random(x.shape, dtype=np.float32)
    again = np.empty(rows, np.int64)
    backend.best_columns(noisy.astype(dtype), 1e-2, again, 2)  # ties that noise hides
    np.testing.assert_array_equal(again, best)


@each_backend
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("columns", [1, 7, 40])
def test_combine(backend: ModuleType, columns: int, rows: int, dtype: Any) -> None:
    rng, base = np.random.default_rng(0), table(rows, columns, dtype)
    block, near = rng.random((rows, 8)).astype(dtype), rng.random((5, columns)).astype(dtype)
    times, everywhere = rng.random(rows).astype(dtype), rng.random((2, columns)).astype(dtype)
    group, out = rng.integers(-1, 2, rows).astype(np.int32), np.empty_like(base)
    backend.combine(base, block, near, times, group, everywhere, out, 2)
    shares = (group[:, None] == [0, 1]) * times[:, None]
    expected = base + block[:, :5] @ near + shares @ everywhere
    np.testing.assert_allclose(out, expected, rtol=1e-5)


@each_backend
@pytest.mark.parametrize("kinds", [3, 5])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", ROWS)
def test_chances(backend: ModuleType, rows: int, dtype: Any, kinds: int) -> None:
    rng, T = np.random.default_rng(1), table(rows, 4, dtype)
    direct = csr_array(random_array((rows, 4), density=0.05, rng=rng) / 4)
    d, mean, shares = rng.integers(0, 9, rows).astype(float), rng.random(4), np.array([0.1, 0.2, 0.3, 0.4])
    slopes, bias, root = rng.random(kinds), rng.random(4), rng.random((kinds, kinds))
    covariance, out = root @ root.T, np.empty((rows, 4))
    near = direct.indptr.astype(np.int64), direct.indices.astype(np.int32), direct.data, d
    backend.chances(T, *near, mean, shares, slopes, covariance, bias, 0.1, out, 2)
    R, d = direct.toarray(), d[:, None]
    r = R.sum(axis=1, keepdims=True)
    evidence = [
        np.log((d * T + mean) / ((d + 1) * mean)),
        T - mean,
        (T - mean) * np.sqrt(d),
        np.log((d * np.maximum(T - R, 0) + mean) / ((d * (1 - r) + 1) * mean)),
        np.log((d * R + shares) / ((d * r + 1) * shares)),
    ][:kinds]
    centred = np.stack([each - each.mean(axis=1, keepdims=True) for each in evidence], axis=2)  # (n, K, kinds)
    variance = np.einsum("nks,st,nkt->n", centred, covariance, centred)
    trust = 1 / np.sqrt(1 + np.pi / 8 * variance * 2 / 3)
    logits = (np.stack(evidence, axis=2) @ slopes + bias) * trust[:, None]
    expected = 0.9 * softmax(np.log(shares) + logits, axis=1) + 0.1 * shares
    np.testing.assert_allclose(out, np.nan_to_num(expected), rtol=1e-5 if dtype == np.float32 else 1e-10)


@pytest.mark.skipif(kernels.native is None, reason="the kernels of SciPy check themselves")
@pytest.mark.parametrize("place", range(12))
def test_chances_of_arrays_that_do_not_fit(place: int) -> None:
    """The kernel has space for five slopes, and no more."""
    sizes = [(6, 4), (7,), (0,), (0,), (6,), (4,), (4,), (5,), (5, 5), (4,), None, (6, 4)]
    arrays: list[Any] = [0.1 if size is None else np.zeros(size) for size in sizes]
    arrays[1], arrays[2] = np.zeros(7, np.int64), np.zeros(0, np.int32)
    if sizes[place] is None:
        arrays[7], arrays[8] = np.zeros(6), np.zeros((6, 6))
    else:
        arrays[place] = np.zeros([size + 1 for size in sizes[place] or ()], arrays[place].dtype)
    assert kernels.native is not None
    with pytest.raises(ValueError, match="do not fit together"):
        kernels.native.chances(*arrays, 1)


@each_backend
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("columns", [1, 3, 10, 33])
def test_odds_and_their_mixture(backend: ModuleType, columns: int, rows: int, dtype: Any) -> None:
    rng, logits = np.random.default_rng(3), 9 * table(rows, columns, dtype)
    logits[0, -1] = -np.inf if columns > 1 else 0  # an impossible class
    shares = rng.random(columns)
    odds = np.empty((2, rows, columns), dtype)
    backend.log_odds(logits, np.log(shares), 4.0, odds[0], 2)
    exact = np.clip(log_softmax(logits.astype(np.float64), axis=1) - np.log(shares), -4, 4)
    np.testing.assert_allclose(odds[0], np.nan_to_num(exact), atol=1e-5 if dtype == np.float32 else 1e-12)
    odds[1] = rng.random((rows, columns))
    weights, out = np.array([0.5, 3.0]), np.empty((rows, columns))
    backend.mix(odds, weights, np.log(shares), out, 2)
    sums = np.log(shares) + np.tensordot(weights, odds.astype(np.float64), 1)
    np.testing.assert_allclose(out, softmax(sums, axis=1), rtol=1e-12)


@each_backend
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("columns", [1, 3, 10, 33])
def test_odds_of_probabilities(backend: ModuleType, columns: int, rows: int, dtype: Any) -> None:
    rng = np.random.default_rng(4)
    chances = rng.random((rows, columns)).astype(dtype) ** 6  # many are close to 0
    chances[rng.random(rows) < 0.1] = 0
    shares, odds = rng.random(columns), np.empty((rows, columns), np.float32)
    backend.odds_of(chances, np.log(shares), 1e-9, 8.0, odds, 2)
    exact = np.clip(np.log(np.maximum(chances.astype(np.float64), 1e-9) / shares), -8, 8)
    np.testing.assert_allclose(odds, np.where(chances.any(axis=1, keepdims=True), exact, 0), atol=1e-6)


@each_backend
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("columns", [1, 2, 7])
def test_decide(backend: ModuleType, columns: int, rows: int) -> None:
    rng = np.random.default_rng(5)
    chances = (8 * rng.random((rows, columns))).round() / 8  # with ties
    weights, factors = rng.integers(1, 3, columns).astype(float), 2.0 ** rng.integers(0, 3, columns)
    best = np.empty(rows, np.int64)
    backend.decide(chances + 1e-13 * rng.random(chances.shape), weights, factors, 2.0, 1e-9, best, 2)
    backend.decide(np.zeros((3, columns)), weights, factors, 2.0, 1e-9, nothing := np.empty(3, np.int64), 2)
    assert (nothing == -1).all()
    for row, found in zip(chances[:300], best[:300], strict=True):
        if row.any():
            costs = (row + 1e-13) * weights
            near = np.flatnonzero(costs > costs.max() - 1e-9)  # noise decides which of these is the usual one
            scores = [(row * weights * np.minimum(factors / factors[usual], 2)) for usual in near]
            assert found in [int(np.flatnonzero(each > each.max() - 1e-9)[0]) for each in scores]


@each_backend
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", ROWS)
def test_groups(backend: ModuleType, rows: int, dtype: Any, weighted: bool) -> None:
    rng = np.random.default_rng(2)
    x, group = rng.random((rows, 8)).astype(dtype), rng.integers(-1, 3, rows).astype(np.int32)
    weight = rng.random(rows).astype(dtype) if weighted else None
    factor = (np.ones(rows) if weight is None else weight)[:, None]
    sums, amounts = np.zeros((3, 8)), rng.random((3, 8)).astype(dtype)
    backend.group_sums(group, weight, x, sums, 2)
    expected = np.stack([(factor * x)[group == each].sum(axis=0, dtype=np.float64) for each in range(3)])
    np.testing.assert_allclose(sums, expected, rtol=1e-5)
    shifted = x.copy()
    backend.group_shift(group, weight, amounts, shifted, 2)
    np.testing.assert_allclose(shifted, np.where(group[:, None] >= 0, x + factor * amounts[group], x), rtol=1e-5)


@each_backend
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", ROWS)
def test_rank(backend: ModuleType, rows: int, dtype: Any) -> None:
    x = (20 * table(rows, 11, dtype)).round() / 4  # with ties
    scores, classes = np.full((rows, 3), -np.inf), np.full((rows, 3), -1, np.int32)
    mass = np.zeros(rows)
    for first in (0, 4, 8):
        backend.rank(np.ascontiguousarray(x[:, first : first + 4]), first, scores, classes, mass, 2)
    known = ~np.isnan(x[:, 0])
    order = np.argsort(-x[known], axis=1, kind="stable")[:, :3]
    np.testing.assert_array_equal(classes[known], order)
    np.testing.assert_array_equal(scores[known], np.take_along_axis(x[known], order, axis=1))
    np.testing.assert_allclose(1 / mass[known], softmax(x[known].astype(float), axis=1).max(axis=1))
    assert (classes[~known] == -1).all()
    assert not mass[~known].any()


@each_backend
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 15, 16])
def test_mass_of_scores_of_any_size(backend: ModuleType, columns: int, dtype: Any) -> None:
    """Most scores are so far below the best that their powers vanish."""
    rng = np.random.default_rng(columns)
    x = (rng.standard_normal((500, 2 * columns)) * 10.0 ** rng.integers(-3, 4, (500, 1))).astype(dtype)
    scores, classes, mass = np.full((500, 2), -np.inf), np.full((500, 2), -1, np.int32), np.zeros(500)
    for first in (0, columns):
        backend.rank(np.ascontiguousarray(x[:, first : first + columns]), first, scores, classes, mass, 2)
    exact = x.astype(np.float64)
    expected = np.exp(exact - exact.max(axis=1, keepdims=True)).sum(axis=1)
    np.testing.assert_allclose(mass, expected, rtol=1e-12)


@each_backend
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("types", [(np.float32, np.float32), (np.float64, np.float64), (np.float32, np.float64)])
def test_place_rows(backend: ModuleType, types: tuple[Any, Any], rows: int) -> None:
    """Part of a block into some rows of a table, and a table into the first columns of a block."""
    rng, (source, target) = np.random.default_rng(0), types
    x, offset = rng.random((rows, 8)).astype(source), rng.random(5).astype(target)
    places, out = rng.permutation(2 * rows)[:rows], np.full((2 * rows, 5), 7, target)
    backend.place_rows(x[:, :5], offset, places, out, 2)
    expected = np.full((2 * rows, 5), 7, target)
    expected[places] = x[:, :5] + offset
    np.testing.assert_array_equal(out, expected)
    wide = np.full((rows + 3, 8), 7, target)
    backend.place_rows(x[:, :5], offset, None, wide, 2)
    np.testing.assert_array_equal(wide[:rows, :5], x[:, :5] + offset)
    assert not wide[:rows, 5:].any()
    assert (wide[rows:] == 7).all()
