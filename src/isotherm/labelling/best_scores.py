"""The best scores of each node, updated block by block, for when all scores would take too much memory."""

from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from isotherm import engines, kernels
from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.equilibrium.columns import joined, warn_about_unreached
from isotherm.equilibrium.dirichlet import Problem
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers import Solution
from isotherm.labelling.outcomes import OneLabel, raise_not_kept
from isotherm.labelling.rules import Rule
from isotherm.seeds import Seeds

__all__ = ["BestScores", "Ranking", "best_scores"]

ROWS = 1 << 16  # scored at once: few enough for a cache, enough for several threads


@dataclass(frozen=True, eq=False, kw_only=True)
class BestScores(OneLabel):
    """The best few scores of each node, without temperatures.

    Attributes
    ----------
    best_classes, best_scores : ndarrays of shape (n, 5)
        Class numbers (-1 where there is none) and scores, best score first.
    certainty : ndarray of shape (n,)
        The softmax of the best score among all scores of the node; for held seeds, their certainty.
    """

    best_classes: NDArray[np.int32]
    best_scores: Doubles
    certainty: Doubles
    kept: ClassVar[bool] = False

    @property
    def temperatures(self) -> NoReturn:
        """Not kept."""
        self.need_all("temperatures_")

    @property
    def scores(self) -> NoReturn:  # type: ignore[override]
        """Not kept."""
        self.need_all("scores_")

    @property
    def best(self) -> Ints:  # type: ignore[override]
        """(n,) class number of the highest score, -1 where unreached."""
        return self.best_classes[:, 0].astype(np.int64)

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

    def ranked(self, position: int, shares: Doubles) -> list[tuple[int, float, float]]:
        """The best classes of a node, with summed shares in place of temperatures."""
        known = self.best_classes[position] >= 0
        classes, scores = self.best_classes[position][known], self.best_scores[position][known]
        return list(zip(classes.tolist(), shares[classes].tolist(), scores.tolist(), strict=True))


class Ranking:
    """The best few scores of each node, and the softmax of the best: equal to those computed from all scores at once.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    keep : int
        How many scores to keep for each node.

    Attributes
    ----------
    classes : ndarray of shape (n, keep)
        Class numbers, best score first; ties go to the smaller number. -1 where there is none.
    scores : ndarray of shape (n, keep)
        Their scores; minus infinity where there is none.

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
    for columns, part in engines.solve_in_blocks(problem, options):
        if not parts:
            warn_about_unreached(part.temperatures)
        totals, shares = rule.totals(part.temperatures, seeds.nodes), seeds.shares[columns]
        for begin in range(0, len(part.temperatures), ROWS):
            rows = slice(begin, begin + ROWS)
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
