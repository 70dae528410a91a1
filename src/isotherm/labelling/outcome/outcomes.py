"""Outcomes: the labels and scores that a fit found.

`AllScores` has the temperatures and scores of all nodes for all classes. `BestScores` has only the best few scores of
each node, because all scores would take too much memory. `Decided` in ``decided.py`` has probabilities too, and
`LabelSets` in ``several.py`` a set of labels for each node. All four share one protocol. Reading something that was not
kept raises `NotKeptError`, which says which parameter to raise.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.equilibrium.solvers import Solution
from isotherm.errors import Option, Worded
from isotherm.labelling.rules import TemperatureRule
from isotherm.seeds import Seeds

__all__ = [
    "AllScores",
    "BestScores",
    "NotKeptError",
    "OneLabel",
    "Outcome",
    "at_codes",
    "best_codes",
    "needed_memory",
    "over_neighbours",
]


class NotKeptError(Worded, AttributeError):
    """An attribute was not kept because it would have taken too much memory."""


def raise_not_kept(name: str, seeds: Seeds, n_nodes: int, instead: str) -> NoReturn:
    """Raise `NotKeptError` for an attribute, naming the alternatives."""
    raise NotKeptError(
        "{name} was not kept, since all scores would take {size:.1f} GB: use {instead}, or raise {max_memory}",
        name=name,
        size=needed_memory(n_nodes, seeds.n_classes) / 2**30,
        instead=instead,
        max_memory=Option("max_memory"),
    )


def needed_memory(n_nodes: int, n_classes: int) -> int:
    """Bytes needed for temperatures, scores and probabilities."""
    return 3 * 8 * n_nodes * n_classes


class Outcome(Protocol):
    """The protocol that all outcomes share.

    Attributes
    ----------
    several : bool
        Whether a node may have several labels.
    kept : bool
        Whether temperatures and scores of all classes were kept.
    labels : ndarray of shape (n,), or csr_array of bool of shape (n, L)
        One label for each node, or a set of labels.
    groups : ndarray of shape (n,), optional
        The predicted class number of each node, K for unreached nodes. None if a node may have several labels.
    """

    several: ClassVar[bool]

    @property
    def seeds(self) -> Seeds: ...  # noqa: D102 - documented above
    @property
    def solution(self) -> Solution: ...  # noqa: D102
    @property
    def kept(self) -> bool: ...  # noqa: D102
    @property
    def labels(self) -> Any: ...  # noqa: D102
    @property
    def reached(self) -> Mask: ...  # noqa: D102
    @property
    def temperatures(self) -> Floats: ...  # noqa: D102
    @property
    def scores(self) -> Floats: ...  # noqa: D102
    @property
    def groups(self) -> Ints | None: ...  # noqa: D102

    def need_all(self, name: str) -> None:
        """Raise `NotKeptError` if an attribute of this name needs temperatures that were not kept."""
        ...

    def of_new_nodes(self, weights: csr_array) -> Any:
        """Labels of m new nodes, given the weights (m, n) of their edges to the nodes of the graph."""
        ...

    def margins(self) -> Doubles:
        """(n,) how far the best score is above the second; 0 where unreached."""
        ...

    def ranked(self, position: int, shares: Doubles) -> list[tuple[int, float, float]]:
        """Class numbers, temperatures and scores at a node, best score first.

        If temperatures were not kept, ``shares`` replaces them: (K,) the summed shares of the seeds of each class.
        """
        ...


class OneLabel(ABC):
    """Base of the outcomes with one label per node."""

    several: ClassVar[bool] = False
    kept: ClassVar[bool]
    seeds: Seeds
    solution: Solution

    @abstractmethod
    def need_all(self, name: str) -> None:
        """Raise `NotKeptError` if an attribute of this name needs temperatures that were not kept."""

    @property
    @abstractmethod
    def temperatures(self) -> Floats:
        """(n, K), NaN rows where unreached."""

    @property
    @abstractmethod
    def softmax(self) -> Doubles:
        """(n,) the softmax of the score of each label; of held seeds, how certain they are."""

    @abstractmethod
    def probabilities(self, weights: csr_array | None = None) -> Doubles:
        """(n, K) the softmax of the scores, of the nodes or of new nodes with weights (m, n) of edges to them."""

    @property
    @abstractmethod
    def _best(self) -> Ints:
        """(n,) class number of the highest score, -1 where unreached."""

    @property
    @abstractmethod
    def _top_scores(self) -> Floats:
        """(n, at least 2) scores, the best among them."""

    @cached_property
    def codes(self) -> Ints:
        """(n,) class number of each node, -1 where unreached; held seeds keep their own (most probable) class."""
        codes = self._best.copy()
        held = self.seeds.held
        codes[held.nodes] = held.codes
        return codes

    @cached_property
    def labels(self) -> NDArray[Any]:
        """(n,) label of each node."""
        return self.seeds.decode(self.codes)

    @property
    def reached(self) -> Mask:
        """(n,) nodes that are connected to a seed."""
        return self._best >= 0

    @property
    def groups(self) -> Ints:
        """(n,) predicted class number of each node, K for unreached nodes."""
        groups = np.where(self.reached, self._best, self.seeds.n_classes)
        groups[self.seeds.nodes] = self.seeds.codes
        return groups

    def margins(self) -> Doubles:
        """(n,) how far the best score is above the second; 0 where unreached, and with a single class."""
        if self.seeds.n_classes == 1:
            return np.zeros(len(self.reached))
        best = -np.partition(-np.nan_to_num(self._top_scores), 1, axis=1)[:, :2]
        return np.where(self.reached, best[:, 0] - best[:, 1], 0).astype(np.float64)


@dataclass(frozen=True, eq=False)
class AllScores(OneLabel):
    """Temperatures and scores of all nodes for all classes.

    Attributes
    ----------
    solution : Solution
        With temperatures of shape (n, K).
    rule : Rule
        The rule that turns them into scores.
    seeds : Seeds
        The seeds.
    """

    solution: Solution
    rule: TemperatureRule
    seeds: Seeds
    kept: ClassVar[bool] = True

    @property
    def temperatures(self) -> Floats:
        """(n, K), NaN rows where unreached."""
        return self.solution.temperatures

    @cached_property
    def scores(self) -> Floats:
        """(n, K) the scores of the rule."""
        return self.rule.scores(self.temperatures, self.seeds)

    @property
    def softmax(self) -> Doubles:
        """(n,) the softmax of the score of each label; of held seeds, how certain they are."""
        return at_codes(self.probabilities(), self.codes)

    def probabilities(self, weights: csr_array | None = None) -> Doubles:
        """(n, K) the softmax of the scores, of the nodes or of new nodes with weights (m, n) of edges to them."""
        if weights is not None:
            return _softmax(over_neighbours(weights, self.scores))
        found, held = _softmax(self.scores), self.seeds.held
        found[held.nodes] = held.values()
        return found

    @property
    def _best(self) -> Ints:
        return self._best_codes

    @cached_property
    def _best_codes(self) -> Ints:
        return best_codes(self.scores)

    @property
    def _top_scores(self) -> Floats:
        return self.scores

    def need_all(self, name: str) -> None:
        """Everything was kept."""

    def of_new_nodes(self, weights: csr_array) -> NDArray[Any]:
        """Labels of new nodes, from the mean scores of their neighbours: temperature rules commute with means."""
        return self.seeds.decode(best_codes(over_neighbours(weights, self.scores)))

    def ranked(self, position: int, shares: Doubles) -> list[tuple[int, float, float]]:
        """Class numbers, temperatures and scores at a node, best score first."""
        order = np.argsort(-self.scores[position], kind="stable")
        columns = (order, self.temperatures[position][order], self.scores[position][order])
        return list(zip(*(column.tolist() for column in columns), strict=True))


@dataclass(frozen=True, eq=False)
class BestScores(OneLabel):
    """The best few scores of each node.

    Attributes
    ----------
    solution : Solution
        Without temperatures.
    seeds : Seeds
        The seeds.
    best_classes, best_scores : ndarrays of shape (n, 5)
        Class numbers (-1 where there is none) and scores, best score first.
    certainty : ndarray of shape (n,)
        The softmax of the best score among all scores of the node; for held seeds, their certainty.
    """

    solution: Solution
    seeds: Seeds
    best_classes: NDArray[np.int32]
    best_scores: Doubles
    certainty: Doubles
    kept: ClassVar[bool] = False

    @property
    def temperatures(self) -> Floats:
        """Not kept."""
        self.need_all("temperatures_")

    @property
    def scores(self) -> Floats:
        """Not kept."""
        self.need_all("scores_")

    @property
    def softmax(self) -> Doubles:
        """(n,) the softmax of the score of each label."""
        return self.certainty

    def probabilities(self, weights: csr_array | None = None) -> Doubles:
        """Not possible without all scores."""
        self.need_all("scores_")

    @property
    def _best(self) -> Ints:
        return self.best_classes[:, 0].astype(np.int64)

    @property
    def _top_scores(self) -> Floats:
        return self.best_scores

    def need_all(self, name: str) -> NoReturn:
        """Raise `NotKeptError`."""
        raise_not_kept(name, self.seeds, len(self.certainty), "best_classes_ and best_scores_")

    def of_new_nodes(self, weights: csr_array) -> NDArray[Any]:
        """Not possible without all scores."""
        self.need_all("scores_")

    def ranked(self, position: int, shares: Doubles) -> list[tuple[int, float, float]]:
        """The best classes of a node, with summed shares in place of temperatures."""
        known = self.best_classes[position] >= 0
        classes, scores = self.best_classes[position][known], self.best_scores[position][known]
        return list(zip(classes.tolist(), shares[classes].tolist(), scores.tolist(), strict=True))


def best_codes(scores: Floats) -> Ints:
    """(n,) class number of the highest score, -1 where unreached."""
    codes = np.empty(len(scores), np.int64)
    kernels.active.best_columns(np.ascontiguousarray(scores), codes, kernels.thread_count())
    return codes


def _softmax(scores: Floats) -> Doubles:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True), dtype=np.float64)
    return np.nan_to_num(powers / powers.sum(axis=1, keepdims=True))


def at_codes(probabilities: Doubles, codes: Ints) -> Doubles:
    """(n,) the probability of one class per node, out of (n, K); class number -1 is read as the first class."""
    return np.take_along_axis(probabilities, np.maximum(codes, 0)[:, None], axis=1)[:, 0]


def over_neighbours(weights: csr_array, values: Floats) -> Doubles:
    """Weighted means of values (n, k) over the neighbours of m new nodes; NaN for a node without neighbours."""
    with np.errstate(invalid="ignore"):
        return (weights @ np.nan_to_num(values)) / weights.sum(axis=1)[:, None]
