"""What held-out seeds tell of a fit: the rule to use, probabilities, and sets of classes; found on first use and kept.

All of it comes from the same one to three solves, each without a third of the seeds.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm.calibration import Array, Calibration, calibrate
from isotherm.graph import Graph
from isotherm.held_out import HeldOut, Solve, hold_out
from isotherm.seeds import Seeds
from isotherm.selection import RuleScore, compare_rules, select_rule
from isotherm.solvers.base import Floats

__all__ = ["Confidence", "count_neighbours", "effective_number"]


WORTH_KEEPING = ("rule_report", "best_rule", "calibration")


class Confidence:
    """How certain the labels of a fit are.

    Parameters
    ----------
    graph, seeds, temperatures
        What was fitted, and the temperatures (n, K) that came of it.
    rule
        The rule, or "auto" for the one that finds held-out seeds again.
    side
        On which copies of a node of a directed graph seeds are held.
    solve
        Gives the temperatures with other seeds.
    """

    def __init__(self, graph: Graph, seeds: Seeds, temperatures: Floats, *, rule: str, side: str, solve: Solve) -> None:
        self.graph, self.seeds, self.temperatures = graph, seeds, temperatures
        self._rule, self._side, self._solve = rule, side, solve

    @cached_property
    def held_out(self) -> HeldOut:
        """The seeds, each while it was hidden."""
        return hold_out(self.seeds, self.graph, self._solve)

    @cached_property
    def rule_report(self) -> dict[str, RuleScore]:
        """The macro-F1 of each rule on held-out seeds."""
        return compare_rules(self.held_out)

    @cached_property
    def best_rule(self) -> str:
        """The rule that held-out seeds speak for."""
        return select_rule(self.rule_report, self.held_out.n_hidden)

    @property
    def rule(self) -> str:
        """The rule to use."""
        return self.best_rule if self._rule == "auto" else self._rule

    @cached_property
    def calibration(self) -> Calibration:
        """How temperatures become probabilities."""
        return calibrate(self.held_out, self.rule, self.temperatures, self.seeds, self._neighbours)

    @property
    def found(self) -> dict[str, Any]:
        """What was found so far and is worth keeping; see `take`."""
        return {name: self.__dict__[name] for name in WORTH_KEEPING if name in self.__dict__}

    def take(self, found: dict[str, Any]) -> None:
        """Take over what was found before."""
        self.__dict__.update(found)

    @cached_property
    def probabilities(self) -> Array:
        """(n, K): 1 at seeds for their class, zeros where unreached."""
        result = self.calibration.probabilities(self.temperatures, self._neighbours)
        held = self.seeds.take(self.seeds.held)
        result[held.nodes] = held.values()
        return result

    def sets(self, coverage: float) -> NDArray[np.bool_]:
        """(n, K): which classes each node may have; a seed only its own, an unreached node all."""
        sets = self.probabilities >= self.calibration.least_probability(coverage)
        sets[np.isnan(self.temperatures[:, 0])] = True
        held = self.seeds.take(self.seeds.held)
        sets[held.nodes] = held.values() > 0
        return sets

    @cached_property
    def _neighbours(self) -> Array:
        return count_neighbours(self.graph, self._side)


def count_neighbours(graph: Graph, side: str) -> Array:
    """How many neighbours each node has; for a directed graph, along arcs out, or those in as well.

    Where weights differ it is the number of equal weights that would vary as much: their sum squared over the sum of
    their squares.
    """
    indptr, _, weights = graph.heat
    counts = effective_number(indptr, weights)
    if not graph.directed:
        return counts
    source, destination = np.split(counts, 2)
    return source + destination if side == "both" else source


def effective_number(indptr: NDArray[np.integer], weights: Floats | None) -> Array:
    """The effective number of entries in each row of a compressed matrix.

    >>> effective_number(np.array([0, 2, 3, 3]), np.array([1.0, 3.0, 5.0]))
    array([1.6, 1. , 0. ])
    """
    if weights is None:
        return np.diff(indptr).astype(np.float64)
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    sums, squares = (np.bincount(rows, weights**power, minlength=len(indptr) - 1) for power in (1, 2))
    return np.divide(sums**2, squares, out=np.zeros(len(sums)), where=squares > 0)
