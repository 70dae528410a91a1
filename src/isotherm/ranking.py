"""The best scores of each node, from blocks of classes as they come, where all scores are too many to be kept."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm.dirichlet import joined, warn_about_unreached
from isotherm.engines import Engine
from isotherm.graph import Graph
from isotherm.rules import apply_rule
from isotherm.seeds import Seeds
from isotherm.solvers import Solution
from isotherm.solvers.base import Floats

__all__ = ["Ranking", "rank"]


class Ranking:
    """The best few scores of each node, and the softmax of the best: the same as from all scores at once.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    keep : int
        How many scores to keep for each node.

    Attributes
    ----------
    classes : ndarray of shape (n, keep)
        Class numbers by falling score, the smaller number first where scores are equal; -1 where there is none.
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

    def add(self, first: int, scores: Floats) -> None:
        """Take in the scores (n, k) of the classes ``first``, ``first + 1``, ...; NaN where unreached."""
        scores = scores.astype(np.float64)
        best = np.maximum(self.scores[:, 0], scores.max(axis=1))
        with np.errstate(invalid="ignore"):
            self._mass *= np.exp(self.scores[:, 0] - best)
            self._mass += np.exp(scores - best[:, None]).sum(axis=1)
        keep = self.scores.shape[1]
        better = np.flatnonzero((scores > self.scores[:, -1:]).any(axis=1))
        numbers = np.broadcast_to(
            np.arange(first, first + scores.shape[1], dtype=np.int32), (len(better), scores.shape[1])
        )
        candidates = np.concatenate([self.scores[better], scores[better]], axis=1)
        names = np.concatenate([self.classes[better], numbers], axis=1)
        order = np.argsort(-candidates, axis=1, kind="stable")[:, :keep]
        self.scores[better] = np.take_along_axis(candidates, order, axis=1)
        self.classes[better] = np.take_along_axis(names, order, axis=1)

    @property
    def confidence(self) -> NDArray[np.float64]:
        """The softmax of the best score among all; 0 where unreached."""
        return np.nan_to_num(np.divide(1, self._mass, out=np.zeros(len(self._mass)), where=self._mass > 0))


def rank(
    engine: Engine, graph: Graph, seeds: Seeds, rule: str, *, tol: float | None, **options: Any
) -> tuple[Ranking, Solution]:
    """The best classes of each node by a rule, and what their solves came to; no temperature is kept."""
    ranking = Ranking(graph.n_nodes)
    nothing = np.empty((graph.n_nodes, 0))
    parts: list[Solution] = []
    options = {"weights": seeds.weights, "tol": tol, **options}
    for columns, part in engine.solve_in_blocks(graph, seeds.nodes, seeds.values, seeds.n_classes, **options):
        if not parts:
            warn_about_unreached(part.temperatures)
        ranking.add(columns.start, apply_rule(rule, part.temperatures, seeds, columns))
        parts.append(replace(part, temperatures=nothing))
    return ranking, joined(parts, tol)
