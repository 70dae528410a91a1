"""How temperatures become probabilities, by what held-out seeds show.

What a temperature T says about a class of mean temperature m, at a node of d neighbours, is put into three numbers,
the evidence:

    log((d T + m) / ((d + 1) m))    how many times the mean it is, as if one more neighbour were at the mean
    T - m                           how far it is above the mean
    (T - m) sqrt(d)                 the same, where more neighbours make it more certain

The logit of a class is the logarithm of its share among the seeds, plus a multiple of each number, the same for all
classes, plus a bias of the class. A share of the nodes, the lapse, follows no evidence: there the classes have their
shares. All this is fitted to the held-out seeds by penalised likelihood; with few of them the penalty holds
probabilities close to the shares.

A fold shows the held-out seeds with a third of the seeds missing, so that temperatures are closer to the mean. If that
weakened what is to be seen as much as the noise around it, evidence should be divided by its spread; if the noise
stayed the same, by nothing. It is divided by the square root of its spread.
"""

import warnings
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, softmax

from isotherm.held_out import Fold, HeldOut
from isotherm.labels import Ints
from isotherm.reliability import reliability
from isotherm.seeds import Seeds
from isotherm.solvers.base import Floats

__all__ = ["FEW", "Array", "Calibration", "CalibrationWarning", "calibrate", "evidence"]

Array: TypeAlias = NDArray[np.float64]

FEW = 20  # held-out seeds below which probabilities are little more than shares
GUESS = 0.1  # slope of each kind of evidence of spread 1, before any seed is seen
RIDGE = 3.0  # penalty on the square of such a slope, and of a bias
LAPSES, FOLLOWED = 1.0, 9.0  # as if so many seeds had been seen before
LONELY = 0.5  # lapses for each class with a single seed: there may be classes without any
MOST_ENTRIES = 5_000_000  # held-out seeds times classes in a fit
NOTHING = 1e-12  # mean temperature of a class that no visible seed has
ROWS = 1 << 15  # nodes at once


class CalibrationWarning(UserWarning):
    """There are too few seeds to know how often labels are right."""


class Model(NamedTuple):
    """What is fitted: slopes (3,) of the evidence, bias (K,) of the classes, and the share of lapses."""

    slopes: Array
    bias: Array
    lapse: float

    def probabilities(self, kinds: Array, shares: Array) -> Array:
        """Probabilities (n, K) by the evidence (3, n, K)."""
        followed = softmax(np.einsum("s,shk->hk", self.slopes, kinds) + np.log(shares) + self.bias, axis=1)
        return (1 - self.lapse) * followed + self.lapse * shares


class Seen(NamedTuple):
    """Hidden seeds that are reached: their evidence (3, h, K), their classes, and the labels that a rule gives them."""

    kinds: Array
    codes: Ints
    labels: Ints


@dataclass(frozen=True, eq=False)
class Calibration:
    """How temperatures become probabilities, and how much is known about that.

    Attributes
    ----------
    slopes : ndarray of shape (3,)
        What each kind of evidence counts.
    bias : ndarray of shape (K,)
        What is added for each class.
    lapse : float
        Share of the nodes that follow no evidence.
    shares : ndarray of shape (K,)
        Share of each class among the seeds, with one more seed in each.
    mean : ndarray of shape (K,)
        Mean temperature of each class.
    n_held_out : int
        How many seeds were hidden and reached from the others.
    error : float
        Expected calibration error on these seeds, those of each fold by what is fitted to the other folds; NaN if
        there are none.
    misfits : ndarray of shape (h,)
        Rising: for each seed the probability that it has another class than its own, by what is fitted to the other
        folds; 1 for a seed that is never hidden, because its class has no other.
    """

    slopes: Array
    bias: Array
    lapse: float
    shares: Array
    mean: Array
    n_held_out: int
    error: float
    misfits: Array

    def probabilities(self, temperatures: Floats, neighbours: Array) -> Array:
        """Probabilities (n, K) of the classes at nodes with these temperatures; zeros where unreached."""
        model = Model(self.slopes, self.bias, self.lapse)
        result = np.empty(temperatures.shape)
        for first in range(0, len(result), ROWS):
            part = slice(first, first + ROWS)
            kinds = evidence(temperatures[part], self.mean, neighbours[part])
            result[part] = model.probabilities(kinds, self.shares)
        return np.nan_to_num(result, copy=False)

    def least_probability(self, coverage: float) -> float:
        """How probable a class must be to belong to the set of a node; 0 if there are too few seeds to tell.

        By split-conformal prediction: as improbable as the own class is for all but a share of the held-out seeds.
        """
        if not 0 < coverage < 1:
            raise ValueError(f"coverage={coverage!r}, but it must be above 0 and below 1")
        rank = int(np.ceil(coverage * (len(self.misfits) + 1)))
        least = float(1 - self.misfits[rank - 1]) if rank <= len(self.misfits) else 0.0
        if least == 0:
            _warn(
                f"{self.n_held_out} held-out seeds are too few for sets of coverage {coverage:g}: all have all classes"
            )
        return least


def evidence(temperatures: Floats, mean: Array, neighbours: Array) -> Array:
    """The three numbers, shape (3, n, K); NaN where unreached.

    >>> evidence(np.array([[0.7, 0.3]]), mean=np.array([0.1, 0.9]), neighbours=np.array([4.0])).round(2)[:, 0]
    array([[ 1.76, -0.76],
           [ 0.6 , -0.6 ],
           [ 1.2 , -1.2 ]])
    """
    T, d = np.maximum(temperatures, 0, dtype=np.float64), neighbours[:, None]
    m = np.maximum(mean, NOTHING)
    return np.stack([np.log((d * T + m) / ((d + 1) * m)), T - m, (T - m) * np.sqrt(d)])


def calibrate(held_out: HeldOut, rule: str, temperatures: Floats, seeds: Seeds, neighbours: Array) -> Calibration:
    """Fit probabilities to the held-out seeds.

    Parameters
    ----------
    held_out
        What the folds show.
    rule
        The rule whose labels the estimate of the error is about.
    temperatures
        (n, K) temperatures with all seeds.
    seeds
        All seeds.
    neighbours
        (n,) how many neighbours each node has.
    """
    shares = (seeds.counts + 1) / (len(seeds.codes) + seeds.n_classes)
    mean: Array = np.asarray(np.nanmean(temperatures, axis=0, dtype=np.float64))
    sample = held_out.sample
    strong = _spread(evidence(temperatures[sample], mean, neighbours[sample]))
    lone = np.ones(held_out.n_lone)  # if hidden, their classes would have been unknown
    folds = [_seen(fold, rule, neighbours) for fold in held_out.folds]
    reached = sum(len(fold.codes) for fold in folds)
    if reached < FEW:
        _warn(f"with {reached} held-out seeds, confidence is a guess, close to the shares of the classes")
    if not reached:
        guess = Model(GUESS / strong, np.zeros(len(shares)), LAPSES / (LAPSES + FOLLOWED))
        return Calibration(*guess, shares, mean, 0, np.nan, lone)
    weak = np.mean([_spread(evidence(fold.sample, fold.mean, neighbours[sample])) for fold in held_out.folds], axis=0)
    own, claimed, right = _cross_fitted(folds, shares, weak, len(lone))
    model = _fit(folds, shares, weak, len(lone))
    model = model._replace(slopes=model.slopes * np.sqrt(weak / strong))
    misfits = np.sort(np.append(1 - own, lone))
    return Calibration(*model, shares, mean, len(own), reliability(claimed, right).error, misfits)


def _warn(fact: str) -> None:
    warnings.warn(f"{fact}; label more nodes, several of each class", CalibrationWarning, stacklevel=4)


def _seen(fold: Fold, rule: str, neighbours: Array) -> Seen:
    reached = fold.predicted[rule] >= 0
    kinds = evidence(fold.temperatures[reached], fold.mean, neighbours[fold.hidden[reached]])
    return Seen(kinds, fold.codes[reached], fold.predicted[rule][reached])


def _spread(kinds: Array) -> Array:
    """How far the classes of a node are apart by each kind of evidence; 1 where they are not."""
    known = kinds[:, ~np.isnan(kinds[0, :, 0])]
    if not known.size:
        return np.ones(len(kinds))
    spread = np.sqrt(np.mean((known - known.mean(axis=2, keepdims=True)) ** 2, axis=(1, 2)))
    return np.where(spread > 0, spread, 1)


def _cross_fitted(
    folds: list[Seen], shares: Array, spread: Array, n_lone: int
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """How probable the class and the label of each hidden seed are, by a fit to other folds; and if the two agree."""
    parts = []
    for fold in folds:
        others = [other for other in folds if other is not fold]
        found = _fit(others, shares, spread, n_lone).probabilities(fold.kinds, shares)
        rows = np.arange(len(fold.codes))
        parts.append((found[rows, fold.codes], found[rows, fold.labels], fold.codes == fold.labels))
    own, claimed, right = map(np.concatenate, zip(*parts, strict=True))
    return own, claimed, right


def _fit(folds: list[Seen], shares: Array, spread: Array, n_lone: int) -> Model:
    """Maximise the penalised likelihood of the classes of the hidden seeds."""
    kinds = np.concatenate([fold.kinds for fold in folds], axis=1)
    codes = np.concatenate([fold.codes for fold in folds])
    some = slice(None, None, max(1, -(-kinds[0].size // MOST_ENTRIES)))
    loss = _Loss(kinds[:, some] / spread[:, None, None], codes[some], shares, LAPSES + LONELY * n_lone)
    slopes, bias, lapse = loss.split(minimize(loss, loss.start, jac=True, method="L-BFGS-B").x)
    return Model(slopes / spread, bias, lapse)


class _Loss:
    """Minus the penalised log-likelihood and its gradient, by slopes, biases and the logit of the lapse."""

    def __init__(self, kinds: Array, codes: Ints, shares: Array, lapses: float) -> None:
        self.kinds, self.codes, self.shares, self.lapses = kinds, codes, shares, lapses
        self.rows = np.arange(len(codes))
        lapse = np.log(lapses / FOLLOWED)
        self.start = np.concatenate([np.full(len(kinds), GUESS), np.zeros(len(shares)), [lapse]])

    def split(self, x: Array) -> Model:
        """The parts of a vector of parameters."""
        slopes, bias = np.split(x[:-1], [len(self.kinds)])
        return Model(slopes, bias, float(expit(x[-1])))

    def __call__(self, x: Array) -> tuple[float, Array]:
        slopes, bias, lapse = self.split(x)
        place = self.rows, self.codes
        found = Model(slopes, bias, 0.0).probabilities(self.kinds, self.shares)  # (h, K)
        chance, own = self.shares[self.codes], found[place]
        mixed = (1 - lapse) * own + lapse * chance
        follows = (1 - lapse) * own / mixed  # probability that a seed is no lapse
        pull = found * follows[:, None]
        pull[place] -= follows
        off = slopes - GUESS
        value = -np.log(mixed).sum() + RIDGE / 2 * (off @ off + bias @ bias)
        value -= self.lapses * np.log(lapse) + FOLLOWED * np.log1p(-lapse)
        lapses = np.sum(1 - follows) + self.lapses
        gradient = (
            np.einsum("shk,hk->s", self.kinds, pull) + RIDGE * off,
            pull.sum(axis=0) + RIDGE * bias,
            [(lapses + np.sum(follows) + FOLLOWED) * lapse - lapses],
        )
        return float(value), np.concatenate(gradient)
