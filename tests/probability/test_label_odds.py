"""Odds of labels, against those that labels were drawn by, and another way to the greatest likelihood."""

import numpy as np
import pytest
from scipy.optimize import minimize

from isotherm.probability.label_odds import RIDGE, LabelOdds, fit_odds


def drawn(scale: float, bias: float, nodes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Temperatures of five labels, the probability of each, and who has it."""
    rng = np.random.default_rng(0)
    temperatures = rng.beta(0.5, 2, size=(nodes, 5)).clip(0.002, 0.998)
    odds = (temperatures / (1 - temperatures)) ** scale * np.exp(bias)
    chances = odds / (1 + odds)
    return temperatures, chances, rng.random(chances.shape) < chances


@pytest.mark.parametrize(("scale", "bias"), [(1.0, 0.0), (2.0, -1.0), (0.5, 1.0)])
def test_the_odds_that_labels_were_drawn_by_are_found(scale: float, bias: float) -> None:
    temperatures, chances, has = drawn(scale, bias, 4000)
    odds = fit_odds(temperatures, has)
    assert (odds.scale, odds.bias) == pytest.approx((scale, bias), abs=0.05)
    assert np.abs(odds.probabilities(temperatures) - chances).max() < 0.02
    assert odds.n_seen == has.sum()


def test_the_greatest_penalised_likelihood() -> None:
    temperatures, _, has = drawn(2.0, -1.0, 20)

    def loss(x: np.ndarray) -> float:
        chances = LabelOdds(x[0], x[1], 0).probabilities(temperatures)
        likelihood = np.log(np.where(has, chances, 1 - chances)).sum()
        return float(RIDGE / 2 * ((x[0] - 1) ** 2 + x[1] ** 2) - likelihood)

    odds = fit_odds(temperatures, has)
    expected = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9}).x
    assert (odds.scale, odds.bias) == pytest.approx(tuple(expected), abs=1e-3)


def test_without_seeds_it_is_the_temperature_and_unreached_seeds_tell_nothing() -> None:
    assert fit_odds(np.empty((0, 3)), np.empty((0, 3), bool)) == LabelOdds(1.0, 0.0, 0)
    temperatures, _, has = drawn(2.0, 0.0, 50)
    more = np.concatenate([temperatures, np.full((9, 5), np.nan)])
    assert fit_odds(more, np.concatenate([has, np.ones((9, 5), bool)])) == fit_odds(temperatures, has)
