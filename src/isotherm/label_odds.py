"""Probabilities of labels, where a node may have several, by what hidden seeds show.

A temperature T is the probability that a random walk stops at a seed that has the label, not that the node has it. How
the two go together is much the same for all labels of a graph, so that

    log(p / (1 - p)) = scale log(T / (1 - T)) + bias

with one scale and one bias for all of them, fitted to hidden seeds by penalised likelihood. With no seeds to hide, the
temperature stands for the probability.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from isotherm.solvers.base import Floats

__all__ = ["LEAST", "LabelOdds", "fit_odds"]

LEAST = 1e-3  # temperatures below it, or as close to 1, count as this one
RIDGE = 3.0  # penalty on the square of scale - 1 and of the bias


@dataclass(frozen=True)
class LabelOdds:
    """How temperatures become probabilities.

    Attributes
    ----------
    scale, bias
        What is fitted.
    n_seen
        How many labels the hidden seeds had.
    """

    scale: float
    bias: float
    n_seen: int

    def probabilities(self, temperatures: Floats) -> NDArray[np.float64]:
        """Probabilities in the shape of the temperatures; 0 where unreached.

        >>> LabelOdds(2.0, 0.0, 100).probabilities(np.array([0.25, 0.5, np.nan])).round(3)
        array([0.1, 0.5, 0. ])
        """
        return np.nan_to_num(expit(self.scale * _evidence(temperatures) + self.bias), copy=False)


def _evidence(temperatures: Floats) -> NDArray[np.float64]:
    return np.asarray(logit(np.clip(temperatures, LEAST, 1 - LEAST, dtype=np.float64)))


def fit_odds(temperatures: Floats, truth: NDArray[np.bool_]) -> LabelOdds:
    """Fit scale and bias to the temperatures of hidden seeds, shape (h, L), and the labels that they have."""
    known = ~np.isnan(temperatures)
    evidence, has = _evidence(temperatures[known]), truth[known]
    signs = np.where(has, 1.0, -1.0)

    def loss(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits, off = x[0] * evidence + x[1], x - (1, 0)
        missing = signs * expit(-signs * logits)
        value = np.logaddexp(0, -signs * logits).sum() + RIDGE / 2 * off @ off
        return float(value), RIDGE * off - np.array([missing @ evidence, missing.sum()])

    scale, bias = minimize(loss, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B").x
    return LabelOdds(float(scale), float(bias), int(np.count_nonzero(has)))
