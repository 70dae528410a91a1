"""The least value of a loss, and the threads of linear algebra while it is looked for."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_info, threadpool_limits

import isotherm as iso
from isotherm.arrays import Doubles
from isotherm.probability.experts import logistic
from isotherm.probability.optimise import LARGE, minimum


def blas_threads() -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.mark.parametrize(("work", "inside"), [(0, {1}), (LARGE, {2})])
def test_small_losses_take_one_thread(work: int, inside: set[int]) -> None:
    seen = []

    def loss(x: Doubles) -> tuple[float, Doubles]:
        seen.append(blas_threads())
        return float((x - 3) @ (x - 3)), 2 * (x - 3)

    with threadpool_limits(2, "blas"):
        found = minimum(loss, np.zeros(2), bounds=[(0, 2), (0, 9)], work=work)
        after = blas_threads()
    np.testing.assert_allclose(found, [2, 3], atol=1e-6)
    assert all(threads == inside for threads in seen)
    assert after == {2}


def test_experts_on_a_small_table_take_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, usual = [], logistic._longest

    def longest(products: Doubles) -> tuple[Doubles, Doubles]:
        seen.append(blas_threads())
        return usual(products)

    monkeypatch.setattr(logistic, "_longest", longest)
    X, y = load_digits(return_X_y=True)
    with threadpool_limits(2, "blas"):
        iso.VectorClassifier().fit(X[:500], np.where(np.arange(500) < 60, y[:500], -1))
    assert seen
    assert all(threads == {1} for threads in seen)
