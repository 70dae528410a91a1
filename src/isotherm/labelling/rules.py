"""Rules: how temperatures become scores (section 3 of the paper). A node takes the class with its highest score.

A rule turns the temperatures of n nodes for K classes, with NaN rows where unreached, into scores of the same shape.
Means and sums are taken over reached nodes, in float64. It also bounds the effect of temperature errors on its scores.
When a node may have several labels, and each label is solved for separately, it gives the temperature above which a
node has the label. To add a rule, write its class and add it to `RULES`.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.equilibrium.averages import reached_moments
from isotherm.seeds import Seeds


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
