"""Rules: how temperatures or probabilities become scores. A node takes the class with its highest score.

A `TemperatureRule` turns the temperatures of n nodes for K classes, with NaN rows where unreached, into scores of the
same shape. Means and sums are taken over reached nodes, in float64. It also bounds the effect of temperature errors on
its scores. When a node may have several labels, and each label is solved for separately, it gives the temperature above
which a node has the label.

A `ProbabilityRule` multiplies calibrated probabilities by a factor for each class, so it needs held-out seeds. Where
there are too few of them, `FALLBACK` decides. To add a rule, write its class and add it to `RULES`.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.labelling.metrics import expected_scores
from isotherm.seeds import Seeds

__all__ = [
    "DEFAULT_RULE",
    "FALLBACK",
    "RULES",
    "TEMPERATURE_RULES",
    "Balanced",
    "Centered",
    "ProbabilityRule",
    "Probable",
    "Relative",
    "Rule",
    "TemperatureRule",
    "Totals",
    "Vanilla",
    "Weighted",
]


class Rule(ABC):
    """How a node gets its label: a `TemperatureRule` or a `ProbabilityRule`."""

    name: ClassVar[str]

    def __repr__(self) -> str:
        return f"<Rule: {self.name}>"


class Totals(NamedTuple):
    """What a rule has to know about all nodes, for each class.

    Attributes
    ----------
    mean
        (K,) mean temperature of the reached nodes.
    mass
        (K,) sum of the temperatures of the reached nodes that are not seeds.
    """

    mean: Floats
    mass: Floats


class TemperatureRule(Rule):
    """From temperatures to scores."""

    counts_seeds: ClassVar[bool] = True  # whether seeds enter the mean temperature of a class

    def scores(self, temperatures: Floats, seeds: Seeds, columns: slice = slice(None)) -> Floats:
        """The scores of the classes in these columns, shape (n, K)."""
        return self.scores_of(temperatures, seeds.nodes, seeds.shares[columns])

    def scores_of(self, temperatures: Floats, seeds: Ints, shares: Doubles) -> Floats:
        """The same, from the positions of the seeds and the share of each class among them."""
        return self.scored(temperatures, self.totals(temperatures, seeds), shares)

    def totals(self, temperatures: Floats, seeds: Ints) -> "Totals":
        """What the rule has to know about all nodes, given their temperatures and the positions of the seeds."""
        mean = _mean(temperatures)
        return Totals(mean, mean)

    @abstractmethod
    def scored(self, temperatures: Floats, totals: "Totals", shares: Doubles) -> Floats:
        """The scores of some of the nodes, given what has to be known about all."""

    @abstractmethod
    def bounds(self, x: Doubles, errors: Doubles, is_seed: Mask, shares: Doubles) -> tuple[Doubles, Doubles]:
        """Scores of reached nodes with temperatures x (r, K), and bounds on the errors of these scores.

        ``errors`` (r, K) are bounds on the errors of the temperatures.
        """

    def thresholds(self, mean: Floats, shares: Doubles) -> Doubles:
        """The temperature above which a node has a label, for L labels that are binary problems of their own.

        Parameters
        ----------
        mean
            (L,) the mean temperature of each label: over all nodes if ``counts_seeds``, else over non-seed nodes.
        shares
            (L,) the share of the seeds that have each label.

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


class Vanilla(TemperatureRule):
    """The temperatures as they are (Zhu, Ghahramani and Lafferty 2003); for two classes, the threshold is 0.5."""

    name = "vanilla"

    def totals(self, temperatures: Floats, seeds: Ints) -> Totals:
        """Nothing."""
        return Totals(np.empty(0), np.empty(0))

    def scored(self, temperatures: Floats, totals: Totals, shares: Doubles) -> Floats:
        """The temperatures."""
        return temperatures

    def bounds(self, x: Doubles, errors: Doubles, is_seed: Mask, shares: Doubles) -> tuple[Doubles, Doubles]:
        """Scores and bounds on their errors."""
        return x, errors

    def _threshold(self, mean: Floats, shares: Doubles) -> Floats:
        return np.full(len(mean), 0.5)


class Centered(TemperatureRule):
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


class _Scaled(TemperatureRule):
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

    def totals(self, temperatures: Floats, seeds: Ints) -> Totals:
        """The mass of each class."""
        mass: Doubles = np.asarray(np.nansum(np.delete(temperatures, seeds, axis=0), axis=0, dtype=np.float64))  # (K,)
        return Totals(mass, mass)

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


class ProbabilityRule(Rule):
    """From calibrated probabilities to scores: each is multiplied by a factor of its class."""

    favours: ClassVar[str]  # the classes that a label may have without being the most probable one

    @abstractmethod
    def factors(self, mean: Doubles) -> Doubles:
        """(K,) the factor of each class, given its usual probability."""

    def tempered(self, mean: Doubles, sample: Doubles) -> Doubles:
        """(K,) usual probabilities to go by instead of the mean, given the probabilities (s, K) of some nodes."""
        return mean

    def scores(self, probabilities: Doubles, mean: Doubles, weights: Doubles | None = None) -> Doubles:
        """(n, K) scores that add up to 1, from probabilities, usual ones and the weights of classes; NaN for 0/0.

        >>> probabilities = np.array([[0.6, 0.4], [0.9, 0.1]])
        >>> Balanced().scores(probabilities, mean=np.array([0.8, 0.2])).round(2)
        array([[0.35, 0.65],
               [0.76, 0.24]])
        >>> Probable().scores(probabilities, mean=np.array([0.8, 0.2]), weights=np.array([1, 6])).round(2)
        array([[0.2, 0.8],
               [0.6, 0.4]])
        """
        factors = self.factors(mean) if weights is None else self.factors(mean) * weights
        scores = probabilities * factors
        with np.errstate(invalid="ignore"):
            scores /= scores.sum(axis=1, keepdims=True)
        return scores


class Probable(ProbabilityRule):
    """The most probable class: the most labels right."""

    name = "probable"
    favours = "no class"

    def factors(self, mean: Doubles) -> Doubles:
        """All equal."""
        return np.ones(len(mean))


class Balanced(ProbabilityRule):
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
        >>> vague = np.array([[0.95, 0.05]] * 8 + [[0.7, 0.3]] * 2)
        >>> [Balanced().tempered(np.array([0.9, 0.1]), sample).round(2).tolist() for sample in (clear, vague)]
        [[1.0, 1.0], [0.93, 0.22]]
        """
        if len(mean) != 2 or not len(sample):
            return mean

        def expected(power: float) -> float:
            return sum(expected_scores(sample, self.scores(sample, mean ** (power / self.POWER)).argmax(axis=1)))

        return np.asarray(mean ** (max(self.POWERS, key=expected) / self.POWER))


TEMPERATURE_RULES: dict[str, TemperatureRule] = {
    rule.name: rule for rule in (Centered(), Relative(), Vanilla(), Weighted())
}
RULES: dict[str, Rule] = {**{rule.name: rule for rule in (Balanced(), Probable())}, **TEMPERATURE_RULES}
DEFAULT_RULE = Balanced.name
FALLBACK: TemperatureRule = TEMPERATURE_RULES[Relative.name]  # the best of them on most graphs


def _mean(temperatures: Floats) -> Floats:
    """(K,) the mean of each class over reached nodes."""
    count, *sums = kernels.active.table_moments(np.ascontiguousarray(temperatures), kernels.thread_count())
    return (np.array(sums[: temperatures.shape[1]]) / max(count, 1)).astype(temperatures.dtype)
