"""Decisions: how probabilities become labels. A node takes the class with its highest score.

`Probable` takes the most probable class. `Balanced` divides each probability by a power of its usual value, so that
rare classes are found too. To add a decision, write its class and add it to `DECISIONS`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from isotherm.arrays import Doubles, Ints
from isotherm.errors import Option, ParameterError
from isotherm.seeds import Seeds

SAMPLE = 200_000  # probabilities that a decision looks at, enough to see a class of one node in a thousand


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
        >>> vague = np.array([[0.95, 0.05]] * 8 + [[0.7, 0.3]] * 2)
        >>> [Balanced().tempered(np.array([0.9, 0.1]), sample).round(2).tolist() for sample in (clear, vague)]
        [[1.0, 1.0], [0.93, 0.22]]
        """
        if len(mean) != 2 or not len(sample):
            return mean
        from isotherm.labelling.metrics import expected_scores

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
    def of(cls, rule: Decision, chances: Doubles, seeds: Seeds, weights: Doubles | None = None) -> "FittedDecision":
        """Fit a decision to the probabilities (n, K) of all nodes."""
        known = np.einsum("nk->n", chances) > 0  # faster than chances.any(axis=1)
        mean = chances.sum(axis=0) / max(1, np.count_nonzero(known))
        return cls.by_mean(rule, mean, chances[sampled_nodes(seeds, len(chances))], seeds, weights)

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


def sampled_nodes(seeds: Seeds, n_nodes: int) -> Ints:
    """Evenly spaced non-seed nodes, whose probabilities a decision may look at."""
    return np.setdiff1d(np.arange(0, n_nodes, max(1, n_nodes * seeds.n_classes // SAMPLE)), seeds.nodes)


def class_factors(class_weight: Mapping[Any, float] | None, seeds: Seeds) -> Doubles | None:
    """(K,) the weight of each class, 1 by default; None if no weights are given.

    Raises `ParameterError` for a label that no seed has.
    """
    if class_weight is None:
        return None
    places = {label: place for place, label in enumerate(seeds.classes.tolist())}
    factors = np.ones(seeds.n_classes)
    for label, weight in class_weight.items():
        if label not in places:
            raise ParameterError(
                "{given} has the label {label!r}, which no seed has: use labels of seeds",
                given=Option("class_weight"),
                label=label,
            )
        factors[places[label]] = weight
    return factors
