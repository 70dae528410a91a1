"""The model of calibration, and how it is fitted; `isotherm.insight.confidence.calibration` says what it means."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from isotherm.arrays import Doubles, Ints
from isotherm.insight.minimum import minimum
from isotherm.kernels.tables import weigh

__all__ = ["LAPSES", "LAPSES_PER_LONE_SEED", "UNIT_POWER", "Fitting", "HiddenSeeds", "Model", "prior"]

UNIT_POWER = np.array([0.5, 1, 1, 0.5, 0.5])  # the unit of each kind of evidence is this power of its spread
PRIOR_SLOPE = 0.1  # of each kind of evidence
RIDGE, BIAS_RIDGE = 1.0, 3.0  # penalties on (slope - PRIOR_SLOPE)^2 and on bias^2
LAPSES, FOLLOWED = 1.0, 9.0  # prior pseudo-counts of seeds that ignore or follow the evidence
LAPSES_PER_LONE_SEED = 0.5  # pseudo-counts: many classes with a single seed suggest that some classes have none
MOST_ENTRIES = 5_000_000  # held-out seeds times classes in a fit


class Model(NamedTuple):
    """The fitted parameters: slopes (s,) of the evidence, their covariance, class biases (K,), and the lapse rate."""

    slopes: Doubles
    covariance: Doubles
    bias: Doubles
    lapse: float

    def probabilities(self, kinds: Doubles, shares: Doubles) -> Doubles:
        """Probabilities (n, K), given the evidence (s, n, K)."""
        return weigh(kinds, self.slopes, self.covariance, self.bias, self.lapse, shares)

    def scaled(self, factor: Doubles) -> "Model":
        """The same model with evidence in other units: slopes are multiplied by a factor (s,)."""
        return self._replace(slopes=self.slopes * factor, covariance=self.covariance * np.outer(factor, factor))


class HiddenSeeds(NamedTuple):
    """Reached seeds of a fold: their evidence (5, h, K), and their class numbers (h,)."""

    kinds: Doubles
    codes: Ints


def prior(n_classes: int) -> Model:
    """The model before any data."""
    kinds = len(UNIT_POWER)
    return Model(np.full(kinds, PRIOR_SLOPE), np.eye(kinds) / RIDGE, np.zeros(n_classes), LAPSES / (LAPSES + FOLLOWED))


class Fitting(NamedTuple):
    """How to fit: units (s,) of the evidence, class shares (K,) of the held-out seeds, pseudo-count of lapses."""

    units: Doubles
    shares: Doubles
    lapses: float

    def fit(self, folds: list[HiddenSeeds]) -> Model:
        """Maximise the penalised likelihood of the classes of the held-out seeds."""
        if not folds:
            return prior(len(self.shares)).scaled(1 / self.units)
        kinds = np.concatenate([fold.kinds for fold in folds], axis=1)
        codes = np.concatenate([fold.codes for fold in folds])
        sample = slice(None, None, max(1, -(-kinds[0].size // MOST_ENTRIES)))
        loss = _Loss(kinds[:, sample] / self.units[:, None, None], codes[sample], self.shares, self.lapses)
        return loss.model(minimum(loss, loss.start)).scaled(1 / self.units)


class _Loss:
    """Minus the penalised log-likelihood, and its gradient by slopes, biases and the logit of the lapse rate.

    Tables have a row for each class and a column for each seed, because NumPy sums over rows faster.
    """

    def __init__(self, kinds: Doubles, codes: Ints, shares: Doubles, lapses: float) -> None:
        self.codes, self.shares, self.lapses = codes, shares, lapses
        self.kinds = np.ascontiguousarray(kinds.transpose(0, 2, 1))  # (s, K, h)
        self.places, self.flat = np.arange(len(codes)), self.kinds.reshape(len(kinds), kinds[0].size)
        self.prior = np.log(shares, out=np.full(len(shares), -np.inf), where=shares > 0)
        slopes = np.full(len(kinds), PRIOR_SLOPE)
        self.start = np.concatenate([slopes, np.zeros(len(shares)), [np.log(lapses / FOLLOWED)]])

    def model(self, x: Doubles) -> Model:
        """The model with these parameters; the covariance is the inverse of the curvature by the slopes."""
        slopes, bias, lapse, found, follows, _ = self._read(x)
        mean = np.einsum("skh,kh->sh", self.kinds, found)
        deviations = (self.kinds - mean[:, None, :]) * np.sqrt(found * follows)  # (s, K, h)
        flat = deviations.reshape(len(slopes), -1)
        curvature = flat @ flat.T + RIDGE * np.eye(len(slopes))
        return Model(slopes, np.linalg.inv(curvature), bias, lapse)

    def _read(self, x: Doubles) -> tuple[Doubles, Doubles, float, Doubles, Doubles, Doubles]:
        """Slopes, biases and lapse rate; then, for each seed, three kinds of probabilities.

        These are the class probabilities without lapses (K, h), the posterior probability of no lapse (h,), and the
        probability of the true class (h,).
        """
        slopes, bias = x[: len(self.kinds)], x[len(self.kinds) : -1]
        lapse = float(expit(x[-1]))
        logits = (slopes @ self.flat).reshape(len(self.shares), len(self.codes)) + (self.prior + bias)[:, None]
        found = np.exp(logits - logits.max(axis=0))
        found /= found.sum(axis=0)
        own = (1 - lapse) * found[self.codes, self.places]
        mixed = own + lapse * self.shares[self.codes]
        return slopes, bias, lapse, found, own / mixed, mixed

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        slopes, bias, lapse, found, follows, mixed = self._read(x)
        by_logit = found * follows  # gradient of the unpenalised loss by the logits (K, h)
        by_logit[self.codes, self.places] -= follows
        off = slopes - PRIOR_SLOPE
        value = -np.log(mixed).sum() + RIDGE / 2 * off @ off + BIAS_RIDGE / 2 * bias @ bias
        value -= self.lapses * np.log(lapse) + FOLLOWED * np.log1p(-lapse)
        followed = follows.sum()
        lapses = len(follows) - followed + self.lapses
        gradient = (
            self.flat @ by_logit.ravel() + RIDGE * off,
            by_logit.sum(axis=1) + BIAS_RIDGE * bias,
            [(lapses + followed + FOLLOWED) * lapse - lapses],
        )
        return float(value), np.concatenate(gradient)
