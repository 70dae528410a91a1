"""Rules and decisions: how temperatures or probabilities become scores. A node takes the class with its highest score.

A *rule* (section 3 of the paper) turns the temperatures of n nodes for K classes, with NaN rows where unreached, into
scores of the same shape. Means and sums are taken over reached nodes, in float64. It also bounds the effect of
temperature errors on its scores. When a node may have several labels, and each label is solved for separately, it gives
the temperature above which a node has the label.

A *decision* multiplies probabilities by a factor of each class. `Probable` takes the most probable class. `Balanced`
divides each probability by a power of its usual value, so that rare classes are found too.

To add a rule or a decision, write its class and add it to `RULES` or `DECISIONS`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.equilibrium.averages import reached_moments
from isotherm.graphs import Graph
from isotherm.graphs.colours import spaced
from isotherm.seeds import Seeds

FLOOR = 0.5  # least probability of a label, relative to the most probable class
ROUNDING = 1e-9  # scores of a decision that differ by less are equal
SAMPLE = 200_000  # probabilities that a decision looks at, enough to see a class of one node in a thousand


class Totals(NamedTuple):
    """What a rule has to know about all nodes, for each class."""

    mean: Floats  # (K,) mean temperature of the reached nodes
    mass: Doubles  # (K,) sum of the temperatures of the reached nodes that are not seeds


class Rule(ABC):
    """From temperatures to scores."""

    name: ClassVar[str]
    counts_seeds: ClassVar[bool] = True  # whether seeds enter the mean temperature of a class

    def __repr__(self) -> str:
        return f"<Rule: {self.name}>"

    def scores(self, temperatures: Floats, seeds: Seeds, columns: slice = slice(None)) -> Floats:
        """The scores of the classes in these columns, shape (n, K)."""
        return self.scores_of(temperatures, seeds.nodes, seeds.shares[columns])

    def scores_of(self, temperatures: Floats, seeds: Ints, shares: Doubles) -> Floats:
        """The same, from the positions of the seeds and the share of each class among them."""
        return self.scored(temperatures, self.totals(temperatures, seeds), shares)

    def totals(self, temperatures: Floats, seeds: Ints) -> Totals:
        """The totals over all nodes; no rule needs more than one of the two."""
        if self.counts_seeds:
            moments = reached_moments(temperatures)
            return Totals(moments.mean.astype(temperatures.dtype), moments.total)
        others = np.array(temperatures)
        others[seeds] = np.nan
        return Totals(mass := reached_moments(others).total, mass)

    @abstractmethod
    def scored(self, temperatures: Floats, totals: Totals, shares: Doubles) -> Floats:
        """The scores of some of the nodes, given what has to be known about all."""

    @abstractmethod
    def bounds(self, x: Doubles, errors: Doubles, is_seed: Mask, shares: Doubles) -> tuple[Doubles, Doubles]:
        """Scores of reached nodes with temperatures x (r, K), and bounds on the errors of these scores.

        ``errors`` (r, K) are bounds on the errors of the temperatures.
        """

    def thresholds(self, mean: Floats, shares: Doubles) -> Doubles:
        """The temperature above which a node has a label, for L labels that are binary problems of their own.

        Examples
        --------
        >>> mean, shares = np.array([0.1, 0.5]), np.array([0.2, 0.5])
        >>> Centered().thresholds(mean, shares), Weighted().thresholds(mean, shares)
        (array([0.1, 0.5]), array([0.30769231, 0.5       ]))
        """
        trivial = (shares <= 0) | (shares >= 1) | (mean <= 0) | (mean >= 1)  # no node has the label, or every node has
        return np.where(trivial, 0.5, self._threshold(mean, shares))

    def _threshold(self, mean: Floats, shares: Doubles) -> Floats:
        return mean


class Vanilla(Rule):
    """The temperatures as they are (Zhu, Ghahramani and Lafferty 2003); for two classes, the threshold is 0.5."""

    name = "vanilla"

    def scores_of(self, temperatures: Floats, seeds: Ints, shares: Doubles) -> Floats:
        """The temperatures."""
        return temperatures

    def scored(self, temperatures: Floats, totals: Totals, shares: Doubles) -> Floats:
        """The temperatures."""
        return temperatures

    def bounds(self, x: Doubles, errors: Doubles, is_seed: Mask, shares: Doubles) -> tuple[Doubles, Doubles]:
        """Scores and bounds on their errors."""
        return x, errors

    def _threshold(self, mean: Floats, shares: Doubles) -> Floats:
        return np.full(len(mean), 0.5)


class Centered(Rule):
    """Each temperature minus the mean of its class (Algorithm 1 of the paper)."""

    name = "centered"

    def scored(self, temperatures: Floats, totals: Totals, shares: Doubles) -> Floats:
        """Temperatures minus means.

        >>> temperatures = np.array([[1.0, 0.0], [0.2, 0.8], [0.0, 1.0]])
        >>> Centered().scores_of(temperatures, np.array([0, 2]), np.array([0.5, 0.5])).round(1)
        array([[ 0.6, -0.6],
               [-0.2,  0.2],
               [-0.4,  0.4]])
        """
        return temperatures - totals.mean.astype(temperatures.dtype)

    def bounds(self, x: Doubles, errors: Doubles, is_seed: Mask, shares: Doubles) -> tuple[Doubles, Doubles]:
        """Scores and bounds on their errors."""
        return x - x.mean(axis=0), errors + errors.mean(axis=0)


class _Scaled(Rule):
    """Temperatures scaled by class, so that the scores of each class sum to a given amount."""

    def bounds(self, x: Doubles, errors: Doubles, is_seed: Mask, shares: Doubles) -> tuple[Doubles, Doubles]:
        """Scores and bounds on their errors."""
        counted = np.ones(len(x), bool) if self.counts_seeds else ~is_seed
        mass, mass_error = x[counted].sum(axis=0), errors[counted].sum(axis=0)
        amount = self._amount(shares, int(counted.sum()))
        scale = np.divide(amount, mass, out=amount.copy(), where=mass > 0)
        least_mass = mass - mass_error  # lower bound on the mass at exact equilibrium
        inverse = np.divide(1, least_mass, out=np.where(mass_error > 0, np.inf, 1.0), where=least_mass > 0)
        with np.errstate(invalid="ignore"):  # 0 * inf, where a node has no error but the mass has no lower bound
            bounds = (amount * errors + np.abs(scale * x) * mass_error) * inverse
        return scale * x, np.where(np.isnan(bounds), np.inf, bounds)

    @abstractmethod
    def _amount(self, shares: Doubles, counted: int) -> Doubles:
        """What the scores of each class sum to, over the counted nodes."""


class Relative(_Scaled):
    """Each temperature divided by the mean of its class."""

    name = "relative"

    def scored(self, temperatures: Floats, totals: Totals, shares: Doubles) -> Floats:
        """Temperatures divided by means."""
        return temperatures / totals.mean.astype(temperatures.dtype)

    def _amount(self, shares: Doubles, counted: int) -> Doubles:
        return np.full(len(shares), float(counted))


class Weighted(_Scaled):
    """Class-mass normalisation (eq. 9 of Zhu, Ghahramani and Lafferty 2003).

    Each column is scaled so that its sum over non-seed nodes is the share of the class among the seeds.
    """

    name = "weighted"
    counts_seeds = False

    def scored(self, temperatures: Floats, totals: Totals, shares: Doubles) -> Floats:
        """Temperatures times share over mass of each class."""
        scale = np.divide(shares, totals.mass, out=shares.copy(), where=totals.mass > 0)
        return temperatures * scale.astype(temperatures.dtype)

    def _amount(self, shares: Doubles, counted: int) -> Doubles:
        return shares

    def _threshold(self, mean: Floats, shares: Doubles) -> Floats:
        """The temperature at which the scores of the label and of its complement are equal."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 / (1 + shares * (1 - mean) / (mean * (1 - shares)))


RULES: dict[str, Rule] = {rule.name: rule for rule in (Centered(), Relative(), Vanilla(), Weighted())}
HEAT_RULE: Rule = RULES[Relative.name]  # reads temperatures where NodeClassifier has no probabilities


class Decision(ABC):
    """From probabilities to scores: each probability is multiplied by a factor of its class."""

    name: ClassVar[str]
    favours: ClassVar[str]  # classes that may win without being the most probable one

    def __repr__(self) -> str:
        return f"<Decision: {self.name}>"

    @abstractmethod
    def factors(self, mean: Doubles) -> Doubles:
        """(K,) the factor of each class, given its usual probability."""

    def tempered(self, mean: Doubles, sample: Doubles) -> Doubles:
        """(K,) the usual probabilities to use in place of ``mean``, given the probabilities (s, K) of some nodes."""
        return mean

    def scores(self, probabilities: Doubles, mean: Doubles, weights: Doubles | None = None) -> Doubles:
        """(n, K) scores that add up to 1, from probabilities, usual ones and the weights of classes; NaN for 0/0.

        A class gains at most the factor ``1 / FLOOR`` over the most probable one. So the best score has a class that is
        at least ``FLOOR`` times as probable, each times its weight.

        >>> probabilities = np.array([[0.6, 0.4], [0.9, 0.1]])
        >>> Balanced().scores(probabilities, mean=np.array([0.8, 0.2])).round(2)
        array([[0.43, 0.57],
               [0.82, 0.18]])
        >>> Probable().scores(probabilities, mean=np.array([0.8, 0.2]), weights=np.array([1, 6])).round(2)
        array([[0.2, 0.8],
               [0.6, 0.4]])
        """
        weighted = probabilities if weights is None else probabilities * weights
        factors = self.factors(mean)
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = weighted * np.minimum(factors / factors[weighted.argmax(axis=1), None], 1 / FLOOR)
            scores /= np.einsum("nk->n", scores)[:, None]  # faster than scores.sum(axis=1)
        return scores


class Probable(Decision):
    """The most probable class: the most labels right."""

    name = "probable"
    favours = "no class"

    def factors(self, mean: Doubles) -> Doubles:
        """All equal."""
        return np.ones(len(mean))


class Balanced(Decision):
    """Probability over a power of its usual value: nearly as many labels right, and rare classes are found too.

    With two classes, the power depends on how well they can be told apart: it is that with the largest sum of expected
    accuracy and expected macro-F1, by the probabilities themselves. With more classes the power is fixed, since the
    probabilities of rare classes are too low if there are few seeds.
    """

    name = "balanced"
    favours = "rare classes"
    POWER: ClassVar[float] = 0.75  # chosen on the development half of the graphs, see docs/accuracy.md
    POWERS: ClassVar[tuple[float, ...]] = (0.0, 0.25, 0.5, 0.75, 1.0)  # for two classes

    def factors(self, mean: Doubles) -> Doubles:
        """One over the usual probability to a power; 0 for a class that no node may have."""
        return np.power(mean, -self.POWER, out=np.zeros(len(mean)), where=mean > 0)

    def tempered(self, mean: Doubles, sample: Doubles) -> Doubles:
        """With two classes, the mean to a power that replaces the fixed one.

        >>> clear = np.array([[0.99, 0.01]] * 8 + [[0.1, 0.9]] * 2)
        >>> vague = np.array([[0.95, 0.05]] * 8 + [[0.6, 0.4]] * 2)
        >>> [Balanced().tempered(np.array([0.9, 0.1]), sample).round(2).tolist() for sample in (clear, vague)]
        [[1.0, 1.0], [0.97, 0.46]]
        """
        if len(mean) != 2 or not len(sample):
            return mean

        def expected(power: float) -> float:
            return sum(expected_scores(sample, self.scores(sample, mean ** (power / self.POWER)).argmax(axis=1)))

        return np.asarray(mean ** (max(self.POWERS, key=expected) / self.POWER))


DECISIONS: dict[str, Decision] = {decision.name: decision for decision in (Balanced(), Probable())}


@dataclass(frozen=True, eq=False)
class FittedDecision:
    """A decision for one graph.

    The usual probability of a class is the geometric mean of its mean over the nodes and its share among the seeds.
    These are about the same if seeds were drawn at random, but not if they were drawn class by class. The decision may
    temper it.
    """

    rule: Decision
    mean: Doubles  # (K,) usual probability of each class
    weights: Doubles | None = None  # the ``class_weight`` of each class

    @classmethod
    def of(
        cls, rule: Decision, chances: Doubles, seeds: Seeds, graph: Graph, weights: Doubles | None = None
    ) -> "FittedDecision":
        """Fit a decision to the probabilities (n, K) of all nodes."""
        known = np.einsum("nk->n", chances) > 0  # faster than chances.any(axis=1)
        mean = chances.sum(axis=0) / max(1, np.count_nonzero(known))
        return cls.by_mean(rule, mean, chances[sampled_nodes(seeds, graph)], seeds, weights)

    @classmethod
    def by_mean(
        cls, rule: Decision, mean: Doubles, sample: Doubles, seeds: Seeds, weights: Doubles | None = None
    ) -> "FittedDecision":
        """The same, given the mean probability (K,) of each class, and the probabilities of the `sampled_nodes`."""
        usual = np.sqrt(mean * seeds.smoothed_shares)
        return cls(rule, rule.tempered(usual, sample[sample.any(axis=1)]), weights)

    @property
    def reason(self) -> str:
        """Why a label is not the most probable class."""
        by_weight = "" if self.weights is None else ", and class_weight others"
        return f"the decision {self.rule.name} favours {self.rule.favours}{by_weight}"

    def scores(self, probabilities: Doubles) -> Doubles:
        """(n, K) scores that add up to 1; NaN where all probabilities are 0."""
        return self.rule.scores(probabilities, self.mean, self.weights)

    def codes(self, probabilities: Doubles, n_threads: int | None = None) -> Ints:
        """(n,) class number of the highest score, the first of equal ones; -1 where all probabilities are 0."""
        weights = np.ones(len(self.mean)) if self.weights is None else self.weights
        best, factors = np.empty(len(probabilities), np.int64), self.rule.factors(self.mean)
        threads = kernels.thread_count(n_threads)
        kernels.active.decide(np.ascontiguousarray(probabilities), weights, factors, 1 / FLOOR, ROUNDING, best, threads)
        return best


def sampled_nodes(seeds: Seeds, graph: Graph) -> Ints:
    """Some non-seed nodes, whose probabilities a decision between two classes may look at."""
    if seeds.n_classes != 2:
        return np.empty(0, np.int64)
    return spaced(graph, seeds.others(graph.n_nodes), max(1, SAMPLE // seeds.n_classes))


def class_factors(class_weight: Mapping[Any, float] | None, seeds: Seeds) -> Doubles | None:
    """(K,) the weight of each class, 1 by default; None if no weights are given.

    Raises `ParameterError` for a label that no seed has.
    """
    return None if class_weight is None else seeds.numbers("class_weight", class_weight, missing=1)


def expected_scores(probabilities: Doubles, predicted: Ints) -> tuple[float, float]:
    """The accuracy and the macro-F1 to expect of class numbers (n,), if the probabilities (n, K) are right.

    >>> accuracy, f1 = expected_scores(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 1]))
    >>> round(accuracy, 2), round(f1, 3)  # 2 * 0.9 / (1 + 1.3) and 2 * 0.6 / (1 + 0.7)
    (0.75, 0.744)
    """
    own, classes = probabilities[np.arange(len(predicted)), predicted], probabilities.shape[1]
    hits, guessed = np.bincount(predicted, own, classes), np.bincount(predicted, minlength=classes)
    return float(own.mean()), f1_of_totals(hits, guessed + probabilities.sum(axis=0))[0]


def f1_of_totals(hits: NDArray[Any], total: NDArray[Any]) -> tuple[float, float]:
    """Macro-F1 and micro-F1, from the hits of each class and the sum of its true and predicted members."""
    occurs = total > 0
    return float(np.mean(2 * hits[occurs] / total[occurs])), float(2 * hits.sum() / total.sum())
