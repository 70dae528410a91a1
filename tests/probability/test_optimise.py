"""The least value of a loss, and the threads of linear algebra while it is looked for."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_info, threadpool_limits

import isotherm as iso
from isotherm.arrays import Doubles
from isotherm.paper.block_model import stochastic_block_model
from isotherm.probability import calibration
from isotherm.probability.experts import regression
from isotherm.probability.optimise import Local, bounded_minimum, minimum


def blas_threads() -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def quartic(x: Doubles) -> Local:
    """A convex loss without a closed form for its minimum, and with a tilted valley."""
    matrix = np.array([[2.0, 1.9], [1.9, 2.0]])
    value = float((x**4).sum() / 4 + x @ matrix @ x / 2 - 3 * x[0])
    return Local(value, x**3 + matrix @ x - (3, 0), lambda step: 3 * x**2 * step + matrix @ step)


def test_the_minimum_is_that_of_scipy() -> None:
    def plain(x: Doubles) -> tuple[float, Doubles]:
        return quartic(x)[:2]

    for start in (np.zeros(2), np.array([5.0, -40.0])):
        expected = minimize(plain, start, jac=True, method="BFGS", options={"gtol": 1e-10}).x
        np.testing.assert_allclose(minimum(quartic, start), expected, atol=1e-6)
    bounds = [(0.0, 0.5)] * 2
    expected = minimize(plain, np.full(2, 0.2), jac=True, bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-10}).x
    np.testing.assert_allclose(bounded_minimum(quartic, np.full(2, 0.2), 0.0, 0.5), expected, atol=1e-7)


def test_a_bound_is_released_again() -> None:
    """From this start the first step leaves the box, but at the minimum only the second number is at a bound."""
    found = bounded_minimum(quartic, np.array([0.0, 2.0]), 0.0, 2.0)
    assert found[1] == 0
    assert 0 < found[0] < 2
    assert abs(quartic(found).gradient[0]) < 1e-5


def test_a_loss_with_negative_curvature_is_descended() -> None:
    def well(x: Doubles) -> Local:
        return Local(float((x**4 - 2 * x**2).sum()), 4 * x**3 - 4 * x, lambda step: (12 * x**2 - 4) * step)

    np.testing.assert_allclose(np.abs(minimum(well, np.array([0.1, -0.2]))), 1, atol=1e-6)


def test_calibration_takes_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def recorded(loss: Any, start: Doubles, **how: float) -> Doubles:
        seen.append(blas_threads())
        return minimum(loss, start, **how)

    monkeypatch.setattr(calibration, "minimum", recorded)
    graph = stochastic_block_model([40, 40], 0.2, 0.02, 0)
    with threadpool_limits(2, "blas"):
        iso.NodeClassifier().fit(graph, {node: node // 40 for node in range(0, 80, 4)})
        assert blas_threads() == {2}
    assert seen
    assert all(threads == {1} for threads in seen)


def test_experts_on_a_small_table_take_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, usual = [], regression._longest

    def longest(products: Doubles) -> tuple[Doubles, Doubles]:
        seen.append(blas_threads())
        return usual(products)

    monkeypatch.setattr(regression, "_longest", longest)
    X, y = load_digits(return_X_y=True)
    with threadpool_limits(2, "blas"):
        iso.VectorClassifier().fit(X[:500], np.where(np.arange(500) < 60, y[:500], -1))
    assert seen
    assert all(threads == {1} for threads in seen)
