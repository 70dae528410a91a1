"""Labels decided by calibrated probabilities: an outcome, see `isotherm.labelling.outcome.outcomes`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.equilibrium.solvers import Solution
from isotherm.errors import Option, ParameterError
from isotherm.labelling.outcome.outcomes import OneLabel, at_codes, best_codes
from isotherm.labelling.rules import ProbabilityRule
from isotherm.seeds import Seeds

__all__ = ["Decided", "Decision", "class_factors", "sampled_nodes"]

SAMPLE = 200_000  # probabilities that a rule may look at, about: enough to see a class of one node in a thousand


@dataclass(frozen=True, eq=False)
class Decision:
    """How probabilities become scores.

    Attributes
    ----------
    rule : ProbabilityRule
        The rule.
    mean : ndarray of shape (K,)
        Usual probability of each class: the geometric mean of its mean over the nodes and its share among the seeds.
        These are about the same if seeds were drawn at random, but not if they were drawn class by class. The rule may
        temper it.
    weights : ndarray of shape (K,), optional
        The ``class_weight`` of each class.
    """

    rule: ProbabilityRule
    mean: Doubles
    weights: Doubles | None = None

    @classmethod
    def of(cls, rule: ProbabilityRule, chances: Doubles, seeds: Seeds, weights: Doubles | None = None) -> "Decision":
        """The decision of a rule, given the probabilities (n, K) of all nodes."""
        known = np.einsum("nk->n", chances) > 0  # faster than chances.any(axis=1)
        mean = chances.sum(axis=0) / max(1, np.count_nonzero(known))
        return cls.by_mean(rule, mean, chances[sampled_nodes(seeds, len(chances))], seeds, weights)

    @classmethod
    def by_mean(
        cls, rule: ProbabilityRule, mean: Doubles, sample: Doubles, seeds: Seeds, weights: Doubles | None = None
    ) -> "Decision":
        """The decision of a rule, given the mean probability (K,) of each class over the nodes.

        ``sample`` has the probabilities of the `sampled_nodes`.
        """
        usual = np.sqrt(mean * seeds.smoothed_shares)
        return cls(rule, rule.tempered(usual, sample[sample.any(axis=1)]), weights)

    @property
    def reason(self) -> str:
        """Why a label is not the most probable class."""
        by_weight = "" if self.weights is None else ", and class_weight others"
        return f"the rule {self.rule.name} favours {self.rule.favours}{by_weight}"

    def scores(self, probabilities: Doubles) -> Doubles:
        """(n, K) scores that add up to 1; NaN where all probabilities are 0."""
        return self.rule.scores(probabilities, self.mean, self.weights)


@dataclass(frozen=True, eq=False)
class Decided(OneLabel):
    """Temperatures, calibrated probabilities, and the scores that a rule makes of these.

    Attributes
    ----------
    solution : Solution
        With temperatures of shape (n, K).
    seeds : Seeds
        The seeds.
    chances : ndarray of shape (n, K)
        Probabilities; zero rows where nothing is known about a node.
    decision : Decision
        How they become scores.
    """

    solution: Solution
    seeds: Seeds
    chances: Doubles
    decision: Decision
    kept: ClassVar[bool] = True

    @property
    def temperatures(self) -> Floats:
        """(n, K), NaN rows where unreached."""
        return self.solution.temperatures

    @cached_property
    def scores(self) -> Doubles:
        """(n, K) the scores of the rule; they add up to 1. NaN rows where nothing is known."""
        return self.decision.scores(self.chances)

    @property
    def softmax(self) -> Doubles:
        """(n,) the probability of each label."""
        return at_codes(self.chances, self.codes)

    def probabilities(self, weights: csr_array | None = None) -> Doubles:
        """(n, K) the probabilities; those of new nodes need held-out seeds, see `isotherm.insight`."""
        if weights is not None:
            raise ParameterError(
                "these labels were decided by calibrated probabilities: set {auto}", auto=Option("calibration", "auto")
            )
        return self.chances

    @property
    def _best(self) -> Ints:
        return self._best_codes

    @cached_property
    def _best_codes(self) -> Ints:
        return best_codes(self.scores)

    @property
    def _top_scores(self) -> Floats:
        return self.scores

    @property
    def reached(self) -> Mask:
        """(n,) nodes that are connected to a seed; others may have a label by other evidence."""
        return ~np.isnan(self.temperatures[:, 0])

    def need_all(self, name: str) -> None:
        """Everything was kept."""

    def of_new_nodes(self, weights: csr_array) -> NDArray[Any]:
        """Labels of new nodes, by their probabilities; `Insight.new_labels` has these."""
        return self.seeds.decode(best_codes(self.decision.scores(self.probabilities(weights))))

    def ranked(self, position: int, shares: Doubles) -> list[tuple[int, float, float]]:
        """Class numbers, temperatures and scores at a node, best score first."""
        order = np.argsort(-self.scores[position], kind="stable")
        columns = (order, self.temperatures[position][order], self.scores[position][order])
        return list(zip(*(column.tolist() for column in columns), strict=True))


def sampled_nodes(seeds: Seeds, n_nodes: int) -> Ints:
    """Evenly spaced nodes that are no seeds, whose probabilities a rule may look at."""
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
