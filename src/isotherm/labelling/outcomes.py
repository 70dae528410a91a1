"""Outcomes: the labels and scores that a fit found.

`OneLabel` has one label for each node, with the temperatures and scores of all classes. `BestScores` has only the best
few scores of each node, because all would take too much memory. `LabelSets` in ``label_sets.py`` has a set of labels
for each node. Reading something that was not kept raises `NotKeptError`, which
says which parameter to raise.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.engines import engine_of
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem, joined, warn_about_unreached
from isotherm.equilibrium.solvers import Solution
from isotherm.errors import Option, Worded
from isotherm.labelling.rules import FittedDecision, Rule
from isotherm.probability.node_features import over_neighbours
from isotherm.seeds import Seeds

ROUNDING = {4: 1e-6, 8: 1e-9}  # of scores, relative to the largest, by the bytes of a number
RANKED_AT_ONCE = 1 << 16  # rows scored at once: few enough for a cache, enough for several threads


class NotKeptError(Worded, AttributeError):
    """An attribute was not kept because it would have taken too much memory."""


def raise_not_kept(name: str, seeds: Seeds, n_nodes: int, instead: str) -> NoReturn:
    """Raise `NotKeptError` for an attribute, naming the alternatives."""
    from isotherm.tables import size  # few fits end here

    raise NotKeptError(
        "{name} was not kept, since all scores would take {size}: use {instead}, or raise {max_memory}",
        name=name,
        size=size(needed_memory(n_nodes, seeds.n_classes)),
        instead=instead,
        max_memory=Option("max_memory"),
    )


def needed_memory(n_nodes: int, n_classes: int) -> int:
    """Bytes needed for temperatures, scores and probabilities."""
    return 3 * 8 * n_nodes * n_classes


@dataclass(frozen=True, eq=False)
class OneLabel:
    """One label for each node, by temperatures or by probabilities."""

    solution: Solution  # with temperatures of shape (n, K)
    seeds: Seeds
    rule: Rule | None = None  # the rule on temperatures, if it decides
    chances: Doubles | None = None  # probabilities, if these decide; zero rows where nothing is known about a node
    decision: FittedDecision | None = None  # how they become scores
    factors: Doubles | None = None  # (K,) what known class sizes made of the odds of the classes
    several: ClassVar[bool] = False
    kept: ClassVar[bool] = True

    @property
    def temperatures(self) -> Floats:
        """(n, K), NaN rows where unreached."""
        return self.solution.temperatures

    @cached_property
    def scores(self) -> Floats:
        """(n, K) what the rule or the decision made; NaN rows where nothing is known."""
        if self.rule is not None:
            return self.rule.scores(self.temperatures, self.seeds)
        assert self.decision is not None
        assert self.chances is not None
        return self.decision.scores(self.chances)

    @cached_property
    def best(self) -> Ints:
        """(n,) class number of the highest score, -1 where nothing is known."""
        if self.decision is None or self.chances is None:
            return best_codes(self.scores)
        return self.decision.codes(self.chances)

    @cached_property
    def codes(self) -> Ints:
        """(n,) class number of each node, -1 where nothing is known; held seeds keep their (most probable) class."""
        codes = self.best.copy()
        held = self.seeds.held
        codes[held.nodes] = held.codes
        return codes

    @cached_property
    def labels(self) -> NDArray[Any]:
        """(n,) label of each node."""
        return self.seeds.decode(self.codes)

    @property
    def reached(self) -> Mask:
        """(n,) nodes that are connected to a seed; others may have a label by other evidence."""
        return ~np.isnan(self.temperatures[:, 0])

    @property
    def groups(self) -> Ints:
        """(n,) predicted class number of each node, K for unreached nodes."""
        groups = np.where(self.reached, self.best, self.seeds.n_classes)
        groups[self.seeds.nodes] = self.seeds.codes
        return groups

    def need_all(self, name: str) -> None:
        """Everything was kept."""

    def softmax(self, weights: csr_array | None = None) -> Doubles:
        """(n, K) the softmax of the scores, of the nodes or of new nodes with weights (m, n) of edges to them."""
        if weights is not None:
            return softmax(over_neighbours(weights, self.scores))
        found, held = softmax(self.scores), self.seeds.held
        found[held.nodes] = held.values()
        return found

    def margins(self) -> Doubles:
        """(n,) how far the best score is above the second; 0 where unreached, and with a single class."""
        if self.seeds.n_classes == 1:
            return np.zeros(len(self.reached))
        best = -np.partition(-np.nan_to_num(self.top_scores), 1, axis=1)[:, :2]
        return np.where(self.reached, best[:, 0] - best[:, 1], 0).astype(np.float64)

    @property
    def top_scores(self) -> Floats:
        """(n, at least 2) scores, the best among them."""
        return self.scores

    def ranked(self, position: int, heat: Doubles) -> list[tuple[int, float]]:
        """Class numbers and scores at a node, best score first; ``heat`` (K,) are its temperatures."""
        order = np.argsort(-self.scores[position], kind="stable")
        return list(zip(order.tolist(), self.scores[position][order].tolist(), strict=True))


def best_codes(scores: Floats, n_threads: int | None = None) -> Ints:
    """(n,) class number of the highest score, -1 where unreached.

    Scores that differ by no more than rounding errors are equal, and the first class has the label: so ties do not
    depend on the order in which nodes are summed over.
    """
    codes = np.empty(len(scores), np.int64)
    threads = kernels.thread_count(n_threads)
    kernels.active.best_columns(np.ascontiguousarray(scores), rounding_of(scores), codes, threads)
    return codes


def rounding_of(scores: Floats) -> float:
    """The difference up to which scores count as equal."""
    return ROUNDING[scores.dtype.itemsize] * float(np.abs(scores).max(where=np.isfinite(scores), initial=0))


def softmax(scores: Floats) -> Doubles:
    """(n, K) the softmax of each row; zeros where unreached."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True), dtype=np.float64)
    return np.nan_to_num(powers / powers.sum(axis=1, keepdims=True))


def at_codes(probabilities: Doubles, codes: Ints) -> Doubles:
    """(n,) the probability of one class per node, out of (n, K); class number -1 is read as the first class."""
    return np.take_along_axis(probabilities, np.maximum(codes, 0)[:, None], axis=1)[:, 0]


@dataclass(frozen=True, eq=False, kw_only=True)
class BestScores(OneLabel):
    """The best few scores of each node, without temperatures."""

    best_classes: NDArray[np.int32]
    best_scores: Doubles
    certainty: Doubles  # the softmax of the best score among all scores of the node; for held seeds, their certainty
    kept: ClassVar[bool] = False

    @property
    def temperatures(self) -> NoReturn:
        """Not kept."""
        self.need_all("temperatures_")

    @property
    def scores(self) -> NoReturn:
        """Not kept."""
        self.need_all("scores_")

    @cached_property
    def best(self) -> Ints:
        """(n,) class number of the highest score, the first of several if these are equal; -1 where unreached."""
        equal = self.best_scores >= self.best_scores[:, :1] - rounding_of(self.best_scores)
        return np.where(equal, self.best_classes, np.iinfo(np.int32).max).min(axis=1).astype(np.int64)

    @property
    def reached(self) -> Mask:
        """(n,) nodes that are connected to a seed."""
        return self.best >= 0

    @property
    def top_scores(self) -> Floats:
        """(n, 5) the best scores."""
        return self.best_scores

    def need_all(self, name: str) -> NoReturn:
        """Raise `NotKeptError`."""
        raise_not_kept(name, self.seeds, len(self.certainty), "best_classes_ and best_scores_")

    def ranked(self, position: int, heat: Doubles) -> list[tuple[int, float]]:
        """The best classes of a node and their scores."""
        known = self.best_classes[position] >= 0
        return list(
            zip(self.best_classes[position][known].tolist(), self.best_scores[position][known].tolist(), strict=True)
        )


class Ranking:
    """The best few scores of each node, and the softmax of the best: equal to those computed from all scores at once.

    Examples
    --------
    >>> ranking = Ranking(n_nodes=1, keep=2)
    >>> ranking.add(0, np.array([[0.1, 0.5]]))
    >>> ranking.add(2, np.array([[0.5, 0.2, 0.3]]))
    >>> ranking.classes, ranking.scores
    (array([[1, 2]], dtype=int32), array([[0.5, 0.5]]))
    """

    def __init__(self, n_nodes: int, keep: int = 5) -> None:
        self.classes = np.full((n_nodes, keep), -1, dtype=np.int32)
        self.scores = np.full((n_nodes, keep), -np.inf)
        self._mass = np.zeros(n_nodes)  # sum of exp(score - best) over the classes so far

    def add(self, first: int, scores: Floats, rows: slice = slice(None)) -> None:
        """Add the scores (m, k) of the classes ``first``, ``first + 1``, ... at some rows; NaN where unreached."""
        best = self.scores[rows], self.classes[rows], self._mass[rows]
        kernels.active.rank(np.ascontiguousarray(scores), first, *best, kernels.thread_count())

    @property
    def softmax(self) -> Doubles:
        """The softmax of the best score among all; 0 where unreached."""
        return np.nan_to_num(np.divide(1, self._mass, out=np.zeros(len(self._mass)), where=self._mass > 0))


def best_scores(problem: Problem, options: SolveOptions, seeds: Seeds, rule: Rule) -> BestScores:
    """Solve for all classes, block by block, keeping only the best scores."""
    ranking, parts = Ranking(problem.graph.n_nodes), list[Solution]()
    for columns, part in engine_of(options).solve_in_blocks(problem, options):
        if not parts:
            warn_about_unreached(part.temperatures)
        totals, shares = rule.totals(part.temperatures, seeds.nodes), seeds.shares[columns]
        for begin in range(0, len(part.temperatures), RANKED_AT_ONCE):
            rows = slice(begin, begin + RANKED_AT_ONCE)
            ranking.add(columns.start, rule.scored(part.temperatures[rows], totals, shares), rows)
        parts.append(part.statistics)
    certainty, held = ranking.softmax, seeds.held
    certainty[held.nodes] = held.certainty
    return BestScores(
        joined(parts, options.tol),
        seeds,
        rule,
        best_classes=ranking.classes,
        best_scores=ranking.scores,
        certainty=certainty,
    )
