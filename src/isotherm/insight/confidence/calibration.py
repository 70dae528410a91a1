"""Calibration: how temperatures become probabilities, fitted to held-out seeds.

*Evidence.* At a node with d neighbours, let T be the temperature of a class, m its mean temperature and p its share
among the seeds. Of the total edge weight of the node, let a share R lead to seeds of the class and a share r to any
seed. The non-seed neighbours then have the mean temperature N = (T - R) / (1 - r). The evidence for the class is five
numbers:

    log((d T + m) / ((d + 1) m))    log of temperature over mean, smoothed by one pseudo-neighbour at the mean
    T - m                           the difference from the mean
    (T - m) sqrt(d)                 the same, weighted up if there are more neighbours
    log((d' N + m) / ((d' + 1) m))  as the first, but from the d' = d (1 - r) non-seed neighbours only
    log((d R + p) / ((d r + 1) p))  as the first, but from seed neighbours only, smoothed by one pseudo-seed

*Model.* The logit of a class is the log of its share among the seeds, plus a weighted sum of the evidence with the same
slopes for all classes, plus a bias of the class. A fraction of the nodes, the lapse rate, ignores the evidence: their
class follows the shares. Slopes, biases and lapse rate are fitted to the held-out seeds by penalised likelihood. With
few seeds, the penalty keeps probabilities close to the shares. Uncertain logits are also shrunk, by MacKay's
approximation to the average over the posterior of the slopes.

*Units.* Held-out seeds are solved for with a third of the seeds missing, so their temperatures are closer to the mean
than those of other nodes. If this weakened signal and noise alike, evidence should be divided by its spread; if the
noise stayed the same, it should not be divided. The power of the spread that is used lies between the two.

The prior slopes are small, for evidence in certain units. For differences the unit is their spread. For logarithms,
which have a natural unit, it is only the square root of the spread: so on a graph where all nodes are about equally
warm, more seeds are needed before probabilities move away from the shares.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from isotherm import kernels
from isotherm.arrays import Doubles, Ints, Mask
from isotherm.errors import warn
from isotherm.insight.confidence.held_out import Fold, HeldOut
from isotherm.insight.confidence.model import (
    LAPSES,
    LAPSES_PER_LONE_SEED,
    UNIT_POWER,
    Fitting,
    HiddenSeeds,
    prior,
)
from isotherm.insight.confidence.neighbourhood import Features, Field, Warmth
from isotherm.insight.confidence.trial import Trial
from isotherm.kernels.tables import LEAST_MEAN
from isotherm.kernels.tables import evidence as five_kinds
from isotherm.seeds import Seeds

__all__ = [
    "TOO_FEW",
    "Calibrated",
    "Calibration",
    "CalibrationWarning",
    "calibrate",
    "evidence",
    "warn_about_few",
]

TOO_FEW = 20  # with fewer held-out seeds, probabilities are hardly more than shares
RESCALING_POWER = 2 / 3  # power of the ratio of spreads, to carry slopes over from held-out seeds to all nodes


class CalibrationWarning(UserWarning):
    """There are too few seeds to know how often labels are right."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """How temperatures become probabilities, and how well that is known.

    Attributes
    ----------
    slopes : ndarray of shape (5,)
        Weight of each kind of evidence.
    bias : ndarray of shape (K,)
        Added to the logit of each class.
    lapse : float
        Fraction of the nodes that ignore the evidence.
    shares : ndarray of shape (K,)
        Share of each class among the seeds, smoothed by one pseudo-seed per class.
    mean : ndarray of shape (K,)
        Mean temperature of each class.
    n_held_out : int
        Number of seeds that were held out and reached.
    error : float
        Expected calibration error on the held-out seeds, by cross-validation over the folds; NaN if there are none.
    misfits : ndarray of shape (h,)
        In ascending order: one minus the cross-validated score of each seed's own class; 1 for a seed that is never
        held out, because it is the only one of its class. The score is the probability, or by a rule on probabilities
        what it makes of it.
    covariance : ndarray of shape (5, 5)
        Posterior covariance of the slopes.
    """

    slopes: Doubles
    bias: Doubles
    lapse: float
    shares: Doubles
    mean: Doubles
    n_held_out: int
    error: float
    misfits: Doubles
    covariance: Doubles = field(default_factory=lambda: np.zeros((3, 3)))  # old files have three kinds of evidence

    def probabilities(self, nodes: Field) -> Doubles:
        """Probabilities (n, K) of the classes at these nodes; zeros where unreached."""
        temperatures, direct = np.ascontiguousarray(nodes.temperatures), csr_array(nodes.direct, dtype=np.float64)
        found = np.empty(temperatures.shape)
        model = self.slopes, self.covariance[: len(self.slopes), : len(self.slopes)], self.bias
        kernels.active.chances(
            temperatures,
            direct.indptr.astype(np.int64),
            direct.indices.astype(np.int32, copy=False),
            direct.data,
            np.ascontiguousarray(nodes.neighbours, dtype=np.float64),
            np.maximum(self.mean, LEAST_MEAN),
            self.shares,
            *(np.ascontiguousarray(part, dtype=np.float64) for part in model),
            self.lapse,
            found,
            kernels.thread_count(),
        )
        return found

    def least_score(self, coverage: float) -> float:
        """The score that a class needs to be in a prediction set; 0 if there are too few seeds to tell.

        By split-conformal prediction: a share ``coverage`` of the held-out seeds give their own class at least this
        score.
        """
        if not 0 < coverage < 1:
            raise ValueError(f"coverage={coverage!r}, but it must be above 0 and below 1")
        rank = int(np.ceil(coverage * (len(self.misfits) + 1)))
        least = float(1 - self.misfits[rank - 1]) if rank <= len(self.misfits) else 0.0
        if least == 0:
            warn_about_few(
                f"{self.n_held_out} held-out seeds are too few for sets of coverage {coverage:g}: each has all classes"
            )
        return least


def evidence(nodes: Warmth, mean: Doubles, shares: Doubles) -> Doubles:
    """The five kinds of evidence, shape (5, n, K); NaN where unreached.

    >>> node = Warmth(np.array([[0.7, 0.3]]), direct=np.array([[0.5, 0]]), neighbours=np.array([4.0]))
    >>> evidence(node, mean=np.array([0.1, 0.9]), shares=np.array([0.2, 0.8])).round(2)[:, 0]
    array([[ 1.76, -0.76],
           [ 0.6 , -0.6 ],
           [ 1.2 , -1.2 ],
           [ 1.1 , -0.25],
           [ 1.3 , -1.1 ]])
    """
    return five_kinds(nodes.temperatures, nodes.direct, nodes.neighbours, np.maximum(mean, LEAST_MEAN), shares)


class Calibrated(NamedTuple):
    """A calibration, not yet judged, and the trial of its probabilities."""

    calibration: Calibration
    trial: Trial

    def judged(self, labels: Ints, scores: Doubles | None = None) -> Calibration:
        """The calibration with its error for labels (h,) of the hidden seeds; see `Trial.judged`."""
        error, misfits = self.trial.judged(labels, scores)
        return replace(self.calibration, error=error, misfits=misfits)


def calibrate(held_out: HeldOut, nodes: Features, seeds: Seeds) -> Calibrated:
    """Fit probabilities to the held-out seeds.

    Parameters
    ----------
    held_out
        The held-out seeds.
    nodes
        Features of all nodes, from the fit with all seeds.
    seeds
        All seeds.
    """
    shares, mean = seeds.smoothed_shares, nodes.mean
    spread = _spread(evidence(nodes.at(held_out.sample), mean, shares))
    reached = [~np.isnan(fold.warmth.temperatures[:, 0]) for fold in held_out.folds]
    if not any(each.any() for each in reached):
        model, found = prior(seeds.n_classes).scaled(spread**-UNIT_POWER), []
    else:
        fold_spread = np.mean([_spread(evidence(fold.sample, fold.mean, shares)) for fold in held_out.folds], axis=0)
        hidden = np.where(seeds.counts > 1, shares, 0)  # classes with a single seed are never held out
        lapses = LAPSES + LAPSES_PER_LONE_SEED * held_out.n_lone
        fitting = Fitting(fold_spread**UNIT_POWER, hidden / hidden.sum(), lapses)
        folds = [_hidden_seeds(*pair, shares) for pair in zip(held_out.folds, reached, strict=True)]
        found = _cross_fitted(folds, shares, fitting)
        model = fitting.fit(folds).scaled((fold_spread / spread) ** RESCALING_POWER)
    trial = _trial(held_out, reached, found, shares)
    slopes, covariance, bias, lapse = model
    unjudged = Calibration(slopes, bias, lapse, shares, mean, trial.n_known, np.nan, np.empty(0), covariance)
    return Calibrated(unjudged, trial)


def warn_about_few(fact: str) -> None:
    """Warn that there are too few seeds for something."""
    warn(f"{fact}; label more nodes, several of each class", CalibrationWarning)


def _hidden_seeds(fold: Fold, reached: Mask, shares: Doubles) -> HiddenSeeds:
    return HiddenSeeds(evidence(fold.warmth, fold.mean, shares)[:, reached], fold.codes[reached])


def _spread(kinds: Doubles) -> Doubles:
    """Root mean square difference between the classes of a node, for each kind of evidence; 1 instead of 0."""
    known = kinds[:, ~np.isnan(kinds[0, :, 0])]
    if not known.size:
        return np.ones(len(kinds))
    mean = np.einsum("shk->sh", known) / known.shape[2]  # faster than known.mean(axis=2)
    off = known - mean[:, :, None]
    spread = np.sqrt(np.einsum("shk,shk->s", off, off) / known[0].size)
    return np.where(spread > 0, spread, 1)


def _cross_fitted(folds: list[HiddenSeeds], shares: Doubles, fitting: Fitting) -> list[Doubles]:
    """Probabilities of the hidden seeds of each fold, by a model that is fitted to the other folds."""
    return [
        fitting.fit([other for other in folds if other is not fold]).probabilities(fold.kinds, shares) for fold in folds
    ]


def _trial(held_out: HeldOut, reached: list[Mask], found: list[Doubles], shares: Doubles) -> Trial:
    if not held_out.folds:
        none = np.empty(0, dtype=np.int64)
        return Trial(none, none, none, none > 0, np.empty((0, len(shares))), held_out.n_lone)
    known = np.concatenate(reached)
    probabilities = np.tile(shares, (len(known), 1))
    if found:
        probabilities[known] = np.concatenate(found)
    fold = np.repeat(np.arange(len(reached)), [len(each) for each in reached])
    return Trial(held_out.joined("hidden"), held_out.joined("codes"), fold, known, probabilities, held_out.n_lone)
