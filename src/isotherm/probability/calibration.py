"""Calibration: how temperatures become probabilities, fitted to hidden seeds.

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
class follows the shares. Slopes, biases and lapse rate are fitted to the hidden seeds by penalised likelihood. With
few seeds, the penalty keeps probabilities close to the shares. Uncertain logits are also shrunk, by MacKay's
approximation to the average over the posterior of the slopes.

*Units.* Hidden seeds are solved for with a third of the seeds missing, so their temperatures are closer to the mean
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
from scipy.special import expit

from isotherm import kernels
from isotherm.arrays import Doubles, Ints, Mask
from isotherm.errors import warn
from isotherm.kernels.tables import LEAST_MEAN, weigh
from isotherm.kernels.tables import evidence as five_kinds
from isotherm.probability.hidden_seeds import Fold, HiddenSeeds
from isotherm.probability.node_features import FeatureField, Features, NodeFeatures
from isotherm.probability.optimise import NEGLIGIBLE, Local, fitting_threads, minimum
from isotherm.probability.trial import Trial
from isotherm.seeds import Seeds

TOO_FEW = 20  # with fewer hidden seeds, probabilities are hardly more than shares
RESCALING_POWER = 2 / 3  # power of the ratio of spreads, to carry slopes over from hidden seeds to all nodes
UNIT_POWER = np.array([0.5, 1, 1, 0.5, 0.5])  # the unit of each kind of evidence is this power of its spread
PRIOR_SLOPE = 0.1  # for each kind of evidence
BLIND_SLOPES = np.array([0.5, 0, 0, 0.25, 0])  # where no seed can be hidden; the first is for neighbours of seeds
RIDGE, BIAS_RIDGE = 1.0, 3.0  # penalties on (slope - PRIOR_SLOPE)^2 and on bias^2
LAPSES, FOLLOWED = 1.0, 9.0  # prior pseudo-counts of seeds that ignore or follow the evidence
LAPSES_PER_LONE_SEED = 0.5  # pseudo-counts: many classes with a single seed suggest that some classes have none
MOST_ENTRIES = 5_000_000  # hidden seeds times classes in a fit
REMEDY = "label more nodes, several of each class"


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
        Number of seeds that were hidden and reached.
    error : float
        Expected calibration error on the hidden seeds, by cross-validation over the folds; NaN if there are none.
    misfits : ndarray of shape (h,)
        One minus the cross-validated score of each seed's own class, ascending; 1 for a seed that is never hidden,
        because it is the only one of its class. The score is the probability, or what a decision makes of it.
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

    def probabilities(self, nodes: FeatureField | NodeFeatures) -> Doubles:
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

    def judged(self, trial: Trial, labels: Ints, scores: Doubles | None = None) -> "Calibration":
        """The same with its error for labels (h,) of the hidden seeds; see `Trial.judged`. Warns if they are few."""
        if self.n_held_out < TOO_FEW:
            warn(f"with {self.n_held_out} hidden seeds, confidence is a guess; {REMEDY}", CalibrationWarning)
        error, misfits = trial.judged(labels, scores)
        return replace(self, error=error, misfits=misfits)

    def least_score(self, coverage: float) -> float:
        """The score that a class needs to be in a prediction set; 0 if there are too few seeds to tell.

        By split-conformal prediction: a share ``coverage`` of the hidden seeds gave their own class at least this
        score.
        """
        if not 0 < coverage < 1:
            raise ValueError(f"coverage={coverage!r}, but it must be above 0 and below 1")
        rank = int(np.ceil(coverage * (len(self.misfits) + 1)))
        least = float(1 - self.misfits[rank - 1]) if rank <= len(self.misfits) else 0.0
        if least == 0:
            few = f"{self.n_held_out} hidden seeds are too few for sets of coverage {coverage:g}"
            warn(f"{few}: each has all classes; {REMEDY}", CalibrationWarning)
        return least


def evidence(nodes: NodeFeatures, mean: Doubles, shares: Doubles) -> Doubles:
    """The five kinds of evidence, shape (5, n, K); NaN where unreached.

    >>> node = NodeFeatures(np.array([[0.7, 0.3]]), direct=np.array([[0.5, 0]]), neighbours=np.array([4.0]))
    >>> evidence(node, mean=np.array([0.1, 0.9]), shares=np.array([0.2, 0.8])).round(2)[:, 0]
    array([[ 1.76, -0.76],
           [ 0.6 , -0.6 ],
           [ 1.2 , -1.2 ],
           [ 1.1 , -0.25],
           [ 1.3 , -1.1 ]])
    """
    return five_kinds(nodes.temperatures, nodes.direct, nodes.neighbours, np.maximum(mean, LEAST_MEAN), shares)


class _Model(NamedTuple):
    """The fitted parameters: slopes (s,) of the evidence, their covariance, class biases (K,), and the lapse rate."""

    slopes: Doubles
    covariance: Doubles
    bias: Doubles
    lapse: float

    def probabilities(self, kinds: Doubles, shares: Doubles) -> Doubles:
        """Probabilities (n, K), given the evidence (s, n, K)."""
        return weigh(kinds, self.slopes, self.covariance, self.bias, self.lapse, shares)

    @property
    def parameters(self) -> Doubles:
        """Slopes, biases and the logit of the lapse rate."""
        return np.concatenate([self.slopes, self.bias, [np.log(self.lapse / (1 - self.lapse))]])

    def scaled(self, factor: Doubles) -> "_Model":
        """The same model with evidence in other units: slopes are multiplied by a factor (s,)."""
        return self._replace(slopes=self.slopes * factor, covariance=self.covariance * np.outer(factor, factor))

    def calibration(self, shares: Doubles, mean: Doubles, n_hidden: int = 0) -> Calibration:
        """The calibration for nodes with these mean temperatures (K,); it is not judged yet."""
        return Calibration(
            self.slopes, self.bias, self.lapse, shares, mean, n_hidden, np.nan, np.empty(0), self.covariance
        )


class _FoldEvidence(NamedTuple):
    """Reached seeds of a fold: their evidence (5, h, K), and their class numbers (h,)."""

    kinds: Doubles
    codes: Ints


def _prior(n_classes: int) -> _Model:
    """The model before any data."""
    kinds = len(UNIT_POWER)
    return _Model(np.full(kinds, PRIOR_SLOPE), np.eye(kinds) / RIDGE, np.zeros(n_classes), LAPSES / (LAPSES + FOLLOWED))


class _Fitting(NamedTuple):
    """How to fit: units (s,) of the evidence, class shares (K,) of the hidden seeds, pseudo-count of lapses."""

    units: Doubles
    shares: Doubles
    lapses: float

    def fit(self, folds: list[_FoldEvidence], near: _Model | None = None) -> _Model:
        """Maximise the penalised likelihood of the classes of the hidden seeds; start from a model that is close."""
        if not folds:
            return _prior(len(self.shares)).scaled(1 / self.units)
        kinds = np.concatenate([fold.kinds for fold in folds], axis=1)
        codes = np.concatenate([fold.codes for fold in folds])
        sample = slice(None, None, max(1, -(-kinds[0].size // MOST_ENTRIES)))
        loss = _Loss(kinds[:, sample] / self.units[:, None, None], codes[sample], self.shares, self.lapses)
        with fitting_threads():
            start = loss.start if near is None else near.scaled(self.units).parameters
            return loss.model(minimum(loss, start, enough=NEGLIGIBLE)).scaled(1 / self.units)


class _Loss:
    """Minus the penalised log-likelihood, as a function of slopes, biases and the logit of the lapse rate.

    Tables have a row for each class and a column for each seed, because NumPy sums over rows faster.
    """

    def __init__(self, kinds: Doubles, codes: Ints, shares: Doubles, lapses: float) -> None:
        self.codes, self.shares, self.lapses = codes, shares, lapses
        self.kinds = np.ascontiguousarray(kinds.transpose(0, 2, 1))  # (s, K, h)
        self.places, self.flat = np.arange(len(codes)), self.kinds.reshape(len(kinds), kinds[0].size)
        self.prior = np.log(shares, out=np.full(len(shares), -np.inf), where=shares > 0)
        slopes, no_bias = np.full(len(kinds), PRIOR_SLOPE), np.zeros(len(shares))
        self.ridge = np.append(np.full(len(kinds), RIDGE), np.full(len(shares), BIAS_RIDGE))
        self.pull = np.append(RIDGE * slopes, no_bias)
        self.start = np.concatenate([slopes, no_bias, [np.log(lapses / FOLLOWED)]])

    def model(self, x: Doubles) -> _Model:
        """The model with these parameters; the covariance is the inverse of the curvature by the slopes."""
        slopes, bias, lapse, found, follows, _ = self._read(x)
        mean = np.einsum("skh,kh->sh", self.kinds, found)
        deviations = (self.kinds - mean[:, None, :]) * np.sqrt(found * follows)  # (s, K, h)
        flat = deviations.reshape(len(slopes), -1)
        curvature = flat @ flat.T + RIDGE * np.eye(len(slopes))
        return _Model(slopes, np.linalg.inv(curvature), bias, lapse)

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

    def __call__(self, x: Doubles) -> Local:
        slopes, bias, lapse, found, follows, mixed = self._read(x)
        errors = found.copy()  # gradient of the loss of a seed that follows the evidence, by the logits (K, h)
        errors[self.codes, self.places] -= 1
        off = slopes - PRIOR_SLOPE
        value = -np.log(mixed).sum() + RIDGE / 2 * off @ off + BIAS_RIDGE / 2 * bias @ bias
        value -= self.lapses * np.log(lapse) + FOLLOWED * np.log1p(-lapse)
        lapses, count = len(follows) - follows.sum() + self.lapses, len(follows) + self.lapses + FOLLOWED
        by_errors = self._by_parameters(errors, 1)
        gradient = by_errors[:, :-1].T @ follows
        gradient = np.concatenate([gradient + self.ridge * x[:-1] - self.pull, [count * lapse - lapses]])

        # The curvature: the squares of the evidence, weighted by probability, less those of its mean and of the errors.
        weighted = self.kinds * (found * follows)
        squares = weighted.reshape(len(slopes), -1) @ self.flat.T
        crossed, single = weighted.sum(axis=2), found @ follows
        by_means, doubt = self._by_parameters(found, 0), follows * (1 - follows)
        ridge = np.append(self.ridge, count * lapse * (1 - lapse))

        def curve(step: Doubles) -> Doubles:
            by_slope, by_bias = step[: len(slopes)], step[len(slopes) : -1]
            change = ridge * step
            change[: len(slopes)] += squares @ by_slope + crossed @ by_bias
            change[len(slopes) : -1] += by_slope @ crossed + single * by_bias
            change -= by_means.T @ (follows * (by_means @ step))
            change -= by_errors.T @ (doubt * (by_errors @ step))
            return np.asarray(change)

        return Local(float(value), gradient, curve)

    def _by_parameters(self, by_logit: Doubles, last: float) -> Doubles:
        """(h, s + K + 1) the derivatives of each seed by the parameters, given those by the logits (K, h)."""
        found = np.empty((len(self.codes), len(self.start)))
        np.einsum("skh,kh->hs", self.kinds, by_logit, out=found[:, : len(self.kinds)])
        found[:, len(self.kinds) : -1], found[:, -1] = by_logit.T, last
        return found


class Calibrated(NamedTuple):
    """What hidden seeds taught about heat."""

    calibration: Calibration  # not judged yet
    trial: Trial  # its probabilities for the hidden seeds, by cross-validation
    by_fold: list[Calibration]  # fitted to the other folds, for the temperatures while this fold is hidden


def calibrate(hidden: HiddenSeeds, nodes: Features, seeds: Seeds) -> Calibrated:
    """Fit probabilities to the hidden seeds."""
    shares, mean = seeds.smoothed_shares, nodes.mean
    spread = _spread(evidence(nodes.at(hidden.sample), mean, shares))
    reached = [~np.isnan(fold.features.temperatures[:, 0]) for fold in hidden.folds]
    if not any(each.any() for each in reached):
        blind = _prior(seeds.n_classes)._replace(slopes=BLIND_SLOPES, covariance=np.zeros((5, 5)))
        model, models, found = blind, [blind] * len(hidden.folds), []
    else:
        fold_spread = np.mean([_spread(evidence(fold.sample, fold.mean, shares)) for fold in hidden.folds], axis=0)
        possible = np.where(seeds.counts > 1, shares, 0)  # classes with a single seed are never hidden
        lapses = LAPSES + LAPSES_PER_LONE_SEED * hidden.n_lone
        fitting = _Fitting(fold_spread**UNIT_POWER, possible / possible.sum(), lapses)
        folds = [_fold_evidence(*pair, shares) for pair in zip(hidden.folds, reached, strict=True)]
        whole = fitting.fit(folds)
        models = [fitting.fit([other for other in folds if other is not fold], whole) for fold in folds]
        found = [model.probabilities(fold.kinds, shares) for model, fold in zip(models, folds, strict=True)]
        model = whole.scaled((fold_spread / spread) ** RESCALING_POWER)
    trial = _trial(hidden, reached, found, shares)
    by_fold = [each.calibration(shares, fold.mean) for each, fold in zip(models, hidden.folds, strict=True)]
    return Calibrated(model.calibration(shares, mean, trial.n_known), trial, by_fold)


def _fold_evidence(fold: Fold, reached: Mask, shares: Doubles) -> _FoldEvidence:
    return _FoldEvidence(evidence(fold.features, fold.mean, shares)[:, reached], fold.codes[reached])


def _spread(kinds: Doubles) -> Doubles:
    """Root mean square difference between the classes of a node, for each kind of evidence; 1 instead of 0."""
    known = kinds[:, ~np.isnan(kinds[0, :, 0])]
    if not known.size:
        return np.ones(len(kinds))
    mean = np.einsum("shk->sh", known) / known.shape[2]  # faster than known.mean(axis=2)
    off = known - mean[:, :, None]
    spread = np.sqrt(np.einsum("shk,shk->s", off, off) / known[0].size)
    return np.where(spread > 0, spread, 1)


def _trial(hidden: HiddenSeeds, reached: list[Mask], found: list[Doubles], shares: Doubles) -> Trial:
    if not hidden.folds:
        return Trial.empty(len(shares), hidden.n_lone)
    known = np.concatenate(reached)
    probabilities = np.tile(shares, (len(known), 1))
    if found:
        probabilities[known] = np.concatenate(found)
    fold = np.repeat(np.arange(len(reached)), [len(each) for each in reached])
    labels = hidden.joined("labels")
    return Trial(
        hidden.joined("hidden"),
        hidden.joined("codes"),
        fold,
        known,
        probabilities,
        hidden.n_lone,
        labels if len(labels) else None,
    )
