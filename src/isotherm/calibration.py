"""How temperatures become probabilities, by what held-out seeds show.

At a node of d neighbours, let T be the temperature of a class, m its mean temperature and p its share among the seeds;
let R be the share of the weight of the node that goes to seeds of the class, r that to any seed, and N the temperature
by the other neighbours, (T - R) / (1 - r). What they say about the class is put into five numbers, the evidence:

    log((d T + m) / ((d + 1) m))    how many times the mean it is, as if one more neighbour were at the mean
    T - m                           how far it is above the mean
    (T - m) sqrt(d)                 the same, where more neighbours make it more certain
    log((d' N + m) / ((d' + 1) m))  the first by the d' = d (1 - r) neighbours that are no seeds
    log((d R + p) / ((d r + 1) p))  and by those that are, as if one more were a seed of each class in its share

The logit of a class is the logarithm of its share among the seeds, plus a multiple of each number, the same for all
classes, plus a bias of the class. A share of the nodes, the lapse, follows no evidence: there the classes have their
shares. All this is fitted to the held-out seeds by penalised likelihood; with few of them the penalty holds
probabilities close to the shares. So does what is left open by the fit: the less certain a logit is, the less it counts
(MacKay's approximation to the mean over all multiples that the held-out seeds allow).

A fold shows the held-out seeds with a third of the seeds missing, so that temperatures are closer to the mean. If that
weakened what is to be seen as much as the noise around it, evidence should be divided by its spread; if the noise
stayed the same, by nothing. It is divided by a power of its spread between the two.

Before any seed is seen, slopes are small for evidence in its own units: of differences, their spread; of logarithms,
which have a meaning of their own, the square root of it, so that a graph on which all nodes are about as warm needs
more seeds to be believed.
"""

import warnings
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, softmax

from isotherm.held_out import Fold, HeldOut
from isotherm.labels import Ints
from isotherm.neighbourhood import Array, Field, Warmth
from isotherm.reliability import reliability
from isotherm.seeds import Seeds

__all__ = ["FEW", "Calibration", "CalibrationWarning", "calibrate", "evidence"]

FEW = 20  # held-out seeds below which probabilities are little more than shares
UNIT = np.array([0.5, 1, 1, 0.5, 0.5])  # power of its spread in which each kind of evidence is measured
FADING = 2 / 3  # power of the spread by which evidence is divided, where all seeds are known
GUESS = 0.1  # slope of each kind of evidence, before any seed is seen
RIDGE, BIAS_RIDGE = 1.0, 3.0  # penalties on the squares of what a slope is off, and of a bias
LAPSES, FOLLOWED = 1.0, 9.0  # as if so many seeds had been seen before
LONELY = 0.5  # lapses for each class with a single seed: there may be classes without any
MOST_ENTRIES = 5_000_000  # held-out seeds times classes in a fit
NOTHING = 1e-12  # mean temperature of a class that no visible seed has
ENTRIES = 1 << 18  # nodes times classes at once


class CalibrationWarning(UserWarning):
    """There are too few seeds to know how often labels are right."""


class Model(NamedTuple):
    """What is fitted: slopes (s,) of the evidence, their covariance, bias (K,) of the classes, the share of lapses."""

    slopes: Array
    covariance: Array
    bias: Array
    lapse: float

    def probabilities(self, kinds: Array, shares: Array) -> Array:
        """Probabilities (n, K) by the evidence (s, n, K)."""
        logits = np.einsum("s,shk->hk", self.slopes, kinds) + self.bias
        followed = softmax(np.log(shares) + logits * self.trust(kinds)[:, None], axis=1)
        return (1 - self.lapse) * followed + self.lapse * shares

    def trust(self, kinds: Array) -> Array:
        """How far logits count (n,): 1 where they are certain, less the more two of them may differ by chance."""
        apart = kinds - kinds.mean(axis=2, keepdims=True)
        variance = np.einsum("shk,shk->h", np.tensordot(self.covariance, apart, 1), apart)
        return 1 / np.sqrt(1 + np.pi / 8 * variance * 2 / max(1, kinds.shape[2] - 1))

    def scaled(self, factor: Array) -> "Model":
        """The same for evidence that is to be multiplied by a factor (s,)."""
        return self._replace(slopes=self.slopes * factor, covariance=self.covariance * np.outer(factor, factor))


class Seen(NamedTuple):
    """Hidden seeds that are reached: their evidence (5, h, K), their classes, and the labels that a rule gives them."""

    kinds: Array
    codes: Ints
    labels: Ints


@dataclass(frozen=True, eq=False)
class Calibration:
    """How temperatures become probabilities, and how much is known about that.

    Attributes
    ----------
    slopes : ndarray of shape (5,)
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
    covariance : ndarray of shape (5, 5)
        How uncertain the slopes are.
    """

    slopes: Array
    bias: Array
    lapse: float
    shares: Array
    mean: Array
    n_held_out: int
    error: float
    misfits: Array
    covariance: Array = field(default_factory=lambda: np.zeros((3, 3)))  # of three kinds once

    def probabilities(self, nodes: Field) -> Array:
        """Probabilities (n, K) of the classes at these nodes; zeros where unreached."""
        model = Model(self.slopes, self.covariance, self.bias, self.lapse)
        n_nodes, n_classes = nodes.temperatures.shape
        result = np.empty((n_nodes, n_classes))
        rows = max(1, ENTRIES // n_classes)
        for first in range(0, n_nodes, rows):
            part = slice(first, first + rows)
            kinds = evidence(nodes.at(part), self.mean, self.shares)[: len(self.slopes)]
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


def evidence(nodes: Warmth, mean: Array, shares: Array) -> Array:
    """The five numbers, shape (5, n, K); NaN where unreached.

    >>> node = Warmth(np.array([[0.7, 0.3]]), direct=np.array([[0.5, 0]]), neighbours=np.array([4.0]))
    >>> evidence(node, mean=np.array([0.1, 0.9]), shares=np.array([0.2, 0.8])).round(2)[:, 0]
    array([[ 1.76, -0.76],
           [ 0.6 , -0.6 ],
           [ 1.2 , -1.2 ],
           [ 1.1 , -0.25],
           [ 1.3 , -1.1 ]])
    """
    T, d = np.maximum(nodes.temperatures, 0, dtype=np.float64), nodes.neighbours[:, None]
    m = np.maximum(mean, NOTHING)
    R = nodes.direct
    r = np.minimum(R.sum(axis=1, keepdims=True), 1)
    others = d * np.maximum(T - R, 0)  # d' N
    return np.stack(
        [
            np.log((d * T + m) / ((d + 1) * m)),
            T - m,
            (T - m) * np.sqrt(d),
            np.log((others + m) / ((d * (1 - r) + 1) * m)),
            np.where(np.isnan(T), T, np.log((d * R + shares) / ((d * r + 1) * shares))),
        ]
    )


def calibrate(held_out: HeldOut, rule: str, nodes: Field, seeds: Seeds) -> Calibration:
    """Fit probabilities to the held-out seeds.

    Parameters
    ----------
    held_out
        What the folds show.
    rule
        The rule whose labels the estimate of the error is about.
    nodes
        What is known about all nodes, with all seeds.
    seeds
        All seeds.
    """
    shares = (seeds.counts + 1) / (len(seeds.codes) + seeds.n_classes)
    mean: Array = np.asarray(np.nanmean(nodes.temperatures, axis=0, dtype=np.float64))
    strong = _spread(evidence(nodes.at(held_out.sample), mean, shares))
    lone = np.ones(held_out.n_lone)  # if hidden, their classes would have been unknown
    folds = [_seen(fold, rule, shares) for fold in held_out.folds]
    reached = sum(len(fold.codes) for fold in folds)
    if reached < FEW:
        _warn(f"with {reached} held-out seeds, confidence is a guess, close to the shares of the classes")
    if not reached:
        model, own, error = _guess(seeds.n_classes).scaled(strong**-UNIT), np.empty(0), np.nan
    else:
        weak = np.mean([_spread(evidence(fold.sample, fold.mean, shares)) for fold in held_out.folds], axis=0)
        hidden = np.where(seeds.counts > 1, shares, 0)  # the others are never hidden, which tells nothing against them
        fitting = _Fitting(weak**UNIT, hidden / hidden.sum(), LAPSES + LONELY * len(lone))
        own, claimed, right = _cross_fitted(folds, shares, fitting)
        model, error = fitting.fit(folds).scaled((weak / strong) ** FADING), reliability(claimed, right).error
    slopes, covariance, bias, lapse = model
    return Calibration(
        slopes, bias, lapse, shares, mean, len(own), error, np.sort(np.append(1 - own, lone)), covariance
    )


def _guess(n_classes: int) -> Model:
    """What is thought before any seed is seen."""
    kinds = len(UNIT)
    return Model(np.full(kinds, GUESS), np.eye(kinds) / RIDGE, np.zeros(n_classes), LAPSES / (LAPSES + FOLLOWED))


def _warn(fact: str) -> None:
    warnings.warn(f"{fact}; label more nodes, several of each class", CalibrationWarning, stacklevel=4)


def _seen(fold: Fold, rule: str, shares: Array) -> Seen:
    reached = fold.predicted[rule] >= 0
    kinds = evidence(fold.warmth, fold.mean, shares)[:, reached]
    return Seen(kinds, fold.codes[reached], fold.predicted[rule][reached])


def _spread(kinds: Array) -> Array:
    """How far the classes of a node are apart by each kind of evidence; 1 where they are not."""
    known = kinds[:, ~np.isnan(kinds[0, :, 0])]
    if not known.size:
        return np.ones(len(kinds))
    spread = np.sqrt(np.mean((known - known.mean(axis=2, keepdims=True)) ** 2, axis=(1, 2)))
    return np.where(spread > 0, spread, 1)


def _cross_fitted(folds: list[Seen], shares: Array, fitting: "_Fitting") -> tuple[Array, Array, NDArray[np.bool_]]:
    """How probable the class and the label of each hidden seed are, by a fit to other folds; and if the two agree."""
    parts = []
    for fold in folds:
        found = fitting.fit([other for other in folds if other is not fold]).probabilities(fold.kinds, shares)
        rows = np.arange(len(fold.codes))
        parts.append((found[rows, fold.codes], found[rows, fold.labels], fold.codes == fold.labels))
    own, claimed, right = map(np.concatenate, zip(*parts, strict=True))
    return own, claimed, right


class _Fitting(NamedTuple):
    """How to fit: units (s,) of the evidence, shares (K,) of the classes among hidden seeds, lapses seen before."""

    units: Array
    shares: Array
    lapses: float

    def fit(self, folds: list[Seen]) -> Model:
        """Maximise the penalised likelihood of the classes of the hidden seeds."""
        if not folds:
            return _guess(len(self.shares)).scaled(1 / self.units)
        kinds = np.concatenate([fold.kinds for fold in folds], axis=1)
        codes = np.concatenate([fold.codes for fold in folds])
        some = slice(None, None, max(1, -(-kinds[0].size // MOST_ENTRIES)))
        loss = _Loss(kinds[:, some] / self.units[:, None, None], codes[some], self.shares, self.lapses)
        return loss.model(minimize(loss, loss.start, jac=True, method="L-BFGS-B").x).scaled(1 / self.units)


class _Loss:
    """Minus the penalised log-likelihood and its gradient, by slopes, biases and the logit of the lapse."""

    def __init__(self, kinds: Array, codes: Ints, shares: Array, lapses: float) -> None:
        self.kinds, self.codes, self.shares, self.lapses = kinds, codes, shares, lapses
        self.rows = np.arange(len(codes))
        self.prior = np.log(shares, out=np.full(len(shares), -np.inf), where=shares > 0)
        self.start = np.concatenate([np.full(len(kinds), GUESS), np.zeros(len(shares)), [np.log(lapses / FOLLOWED)]])

    def model(self, x: Array) -> Model:
        """What a vector of parameters says."""
        slopes, bias, lapse, found, follows, _ = self._read(x)
        mean = np.einsum("shk,hk->sh", self.kinds, found)
        around = (self.kinds - mean[:, :, None]) * np.sqrt(found * follows[:, None])  # (s, h, K)
        flat = around.reshape(len(slopes), -1)
        curvature = flat @ flat.T + RIDGE * np.eye(len(slopes))
        return Model(slopes, np.linalg.inv(curvature), bias, lapse)

    def _read(self, x: Array) -> tuple[Array, Array, float, Array, Array, Array]:
        """The parts of a vector, probabilities (h, K) without lapses, that of no lapse (h,), of the own class (h,)."""
        slopes, bias = np.split(x[:-1], [len(self.kinds)])
        lapse = float(expit(x[-1]))
        found = softmax(np.einsum("s,shk->hk", slopes, self.kinds) + self.prior + bias, axis=1)
        own = (1 - lapse) * found[self.rows, self.codes]
        mixed = own + lapse * self.shares[self.codes]
        return slopes, bias, lapse, found, own / mixed, mixed

    def __call__(self, x: Array) -> tuple[float, Array]:
        slopes, bias, lapse, found, follows, mixed = self._read(x)
        pull = found * follows[:, None]
        pull[self.rows, self.codes] -= follows
        off = slopes - GUESS
        value = -np.log(mixed).sum() + RIDGE / 2 * off @ off + BIAS_RIDGE / 2 * bias @ bias
        value -= self.lapses * np.log(lapse) + FOLLOWED * np.log1p(-lapse)
        lapses = np.sum(1 - follows) + self.lapses
        gradient = (
            np.einsum("shk,hk->s", self.kinds, pull) + RIDGE * off,
            pull.sum(axis=0) + BIAS_RIDGE * bias,
            [(lapses + np.sum(follows) + FOLLOWED) * lapse - lapses],
        )
        return float(value), np.concatenate(gradient)
