"""Logistic regression by Newton's method, compared with scikit-learn."""

from types import ModuleType

import numpy as np
import pytest
from kernel_cases import each_backend
from sklearn.linear_model import LogisticRegression

from isotherm.arrays import Doubles, Ints

GRADIENT = 1e-8  # relative length at the end


def case(count: int, columns: int, classes: int) -> tuple[Doubles, Ints]:
    rng = np.random.default_rng(count)
    return rng.normal(size=(count, columns)), rng.permutation(np.arange(count) % classes)


def fitted(backend: ModuleType, rows: Doubles, codes: Ints, c: float, threads: int = 2) -> Doubles:
    """Weights of the columns and, in the last row, biases without a penalty."""
    found = np.zeros((rows.shape[1] + 1, int(codes.max()) + 1))
    penalty = np.append(np.full(rows.shape[1], 1 / c), 0)
    backend.regress(np.column_stack([rows, np.ones(len(rows))]), codes, penalty, found, GRADIENT, 0.0, threads)
    return found


@each_backend
@pytest.mark.parametrize("shape", [(7, 3, 3), (300, 20, 10), (600, 200, 17)])  # products of the last are in float32
@pytest.mark.parametrize("c", [0.1, 10.0])
def test_the_regression_is_that_of_scikit_learn(backend: ModuleType, shape: tuple[int, int, int], c: float) -> None:
    rows, codes = case(*shape)
    found = fitted(backend, rows, codes, c)
    expected = LogisticRegression(C=c, tol=1e-8, max_iter=10_000).fit(rows, codes)
    np.testing.assert_allclose(found[:-1].T, expected.coef_, atol=1e-4)
    bias = expected.intercept_ - expected.intercept_.mean()
    np.testing.assert_allclose(found[-1] - found[-1].mean(), bias, atol=1e-4)


@each_backend
def test_any_number_of_threads_gives_the_same_bits(backend: ModuleType) -> None:
    rows, codes = case(1500, 800, 3)
    np.testing.assert_array_equal(fitted(backend, rows, codes, 1.0, 1), fitted(backend, rows, codes, 1.0, 3))


@each_backend
def test_a_start_at_the_minimum_stays(backend: ModuleType) -> None:
    """Columns of zeros tell nothing, and the classes are equally large."""
    found = fitted(backend, np.zeros((6, 2)), np.arange(6) % 3, 1.0)
    np.testing.assert_allclose(found, 0, atol=1e-12)
