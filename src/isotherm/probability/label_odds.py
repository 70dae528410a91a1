"""Probabilities of labels if a node may have several, fitted to hidden seeds.

A temperature T is the probability that a random walk stops at a seed that has the label, not that the node has the
label. The relation between the two is much the same for all labels of a graph, so the probability p is modelled as

    log(p / (1 - p)) = scale log(T / (1 - T)) + bias

with one scale and one bias for all labels, fitted to hidden seeds by penalised likelihood. Without hidden seeds, the
probability is the temperature.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from isotherm.arrays import Doubles, Floats, Mask
from isotherm.probability.optimise import Local, fitting_threads, minimum

LEAST = 1e-3  # temperatures are clipped to [LEAST, 1 - LEAST]
RIDGE = 3.0  # penalty on (scale - 1)^2 and on bias^2


@dataclass(frozen=True)
class LabelOdds:
    """How temperatures become probabilities."""

    scale: float
    bias: float
    n_seen: int  # number of labels on hidden seeds

    def probabilities(self, temperatures: Floats) -> Doubles:
        """Probabilities in the shape of the temperatures; 0 where unreached.

        >>> LabelOdds(2.0, 0.0, 100).probabilities(np.array([0.25, 0.5, np.nan])).round(3)
        array([0.1, 0.5, 0. ])
        """
        return np.nan_to_num(expit(self.scale * _evidence(temperatures) + self.bias), copy=False)


def _evidence(temperatures: Floats) -> Doubles:
    return np.asarray(logit(np.clip(temperatures, LEAST, 1 - LEAST, dtype=np.float64)))


def fit_odds(temperatures: Floats, truth: Mask) -> LabelOdds:
    """Fit scale and bias to the temperatures of hidden seeds, shape (h, L), and the labels that they have."""
    known = ~np.isnan(temperatures)
    evidence, has = _evidence(temperatures[known]), truth[known]
    signs = np.where(has, 1.0, -1.0)

    def loss(x: Doubles) -> Local:
        logits, off = x[0] * evidence + x[1], x - (1, 0)
        errors = signs * expit(-signs * logits)  # label minus probability
        value = np.logaddexp(0, -signs * logits).sum() + RIDGE / 2 * off @ off
        spread = np.abs(errors) * (1 - np.abs(errors))

        def curve(step: Doubles) -> Doubles:
            change = spread * (step[0] * evidence + step[1])
            return RIDGE * step + np.array([change @ evidence, change.sum()])

        return Local(float(value), RIDGE * off - np.array([errors @ evidence, errors.sum()]), curve)

    with fitting_threads():
        scale, bias = minimum(loss, np.array([1.0, 0.0]))
    return LabelOdds(float(scale), float(bias), int(np.count_nonzero(has)))
