"""The combination of experts, against SciPy's optimiser and by hand."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from isotherm.arrays import Doubles
from isotherm.probability.combination import LARGEST, MOST_WEIGHT, RIDGE, Combination, combine, log_odds, odds_of
from isotherm.probability.experts.expert import LEAST

SHARES = np.array([0.5, 0.3, 0.2])


@pytest.mark.parametrize("seeds", [0, 8, 60])
def test_weights_minimise_the_penalised_likelihood(seeds: int) -> None:
    rng = np.random.default_rng(seeds)
    odds, codes = rng.normal(size=(3, seeds, 3)), rng.integers(0, 3, seeds)
    odds[0, np.arange(seeds), codes] += 2  # an expert that knows, and two that do not
    prior = np.array([0.5, 0.25, 1.0])

    def loss(weights: Doubles) -> float:
        logs = log_softmax(np.log(SHARES) + np.einsum("e,ehk->hk", weights, odds), axis=1)
        return float(-logs[np.arange(seeds), codes].sum() + RIDGE / 2 * ((weights - prior) ** 2).sum())

    best = minimize(loss, prior, bounds=[(0, MOST_WEIGHT)] * 3, options={"ftol": 1e-14, "gtol": 1e-9})
    found = combine(("heat", "b", "c"), list(odds), codes, SHARES, prior)
    assert loss(found.weights) <= best.fun + 1e-6
    np.testing.assert_allclose(found.weights, best.x, atol=1e-3)
    assert found.by_name == dict(zip(("heat", "b", "c"), found.weights.tolist(), strict=True))


def test_weights_stay_between_zero_and_the_largest() -> None:
    codes = np.arange(900) % 3
    right = np.eye(3)[codes]
    found = combine(("a", "b"), [right, -right], codes, SHARES, np.array([0.5, 0.5]))
    assert found.weights.tolist() == [MOST_WEIGHT, 0]


def test_probabilities_are_a_softmax() -> None:
    odds = np.random.default_rng(0).normal(size=(2, 5, 3))
    found = Combination(("a", "b"), np.array([0.7, 2.0]), SHARES).probabilities(odds)
    np.testing.assert_allclose(found, softmax(np.log(SHARES) + 0.7 * odds[0] + 2 * odds[1], axis=1))


def test_odds_are_against_the_shares_and_bounded() -> None:
    chances = np.array([[0.5, 0.4, 0.1], [1, 0, 0], [0, 0, 0], [LEAST / 10, 0.5, 0.5]], np.float32)
    found = odds_of(chances, SHARES)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[0], np.log(chances[0] / SHARES), atol=1e-6)
    np.testing.assert_allclose(found[1], [np.log(2), -LARGEST, -LARGEST], atol=1e-6)
    np.testing.assert_allclose(found[2], 0, atol=1e-6)  # nothing is known
    np.testing.assert_allclose(found[3, 0], -LARGEST)
    np.testing.assert_allclose(log_odds(np.array([[9.0, 0.0]]), np.array([1e-6, 1 - 1e-6])), [[LARGEST, -LARGEST]])
    np.testing.assert_allclose(log_odds(np.log(SHARES)[None] + 5, SHARES), 0, atol=1e-12)


def test_no_expert_is_certain_however_small_a_share_is() -> None:
    shares = np.array([1 - 1e-7, 1e-7])
    assert odds_of(np.array([[0.0, 1.0]]), shares)[0].tolist() == [-LARGEST, LARGEST]
