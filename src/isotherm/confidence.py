"""What held-out seeds tell of a fit: the rule to use, probabilities, and sets of classes; found on first use and kept.

All of it comes from the same one to three solves, each without a third of the seeds.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from isotherm.calibration import Calibration, calibrate
from isotherm.graph import Graph
from isotherm.held_out import HeldOut, hold_out
from isotherm.neighbourhood import Array, Field, count_neighbours, direct_heat, effective_number, held_values
from isotherm.seeds import Seeds
from isotherm.selection import RuleScore, compare_rules, select_rule
from isotherm.solvers.base import Floats

__all__ = ["Confidence", "Solve"]

Solve: TypeAlias = Callable[[Seeds], Floats]  # temperatures (n, K) with these seeds only

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
        return hold_out(self.seeds, self.graph, lambda seeds: self._field(self._solve(seeds), seeds))

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
        return calibrate(self.held_out, self.rule, self._own, self.seeds)

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
        result = self.calibration.probabilities(self._own)
        held = self.seeds.take(self.seeds.held)
        result[held.nodes] = held.values()
        return result

    def of_new_nodes(self, temperatures: Floats, weights: csr_array) -> Array:
        """(m, K): those of nodes with these temperatures and weights (m, n) of edges to the nodes of the graph."""
        totals = weights.sum(axis=1)
        scales = diags_array(1 / np.where(totals > 0, totals, 1))
        direct = csr_array(scales @ weights @ held_values(self.seeds, self.graph.n_nodes))
        neighbours = effective_number(weights.indptr, weights.data)
        return self.calibration.probabilities(Field(temperatures, direct, neighbours))

    def sets(self, coverage: float) -> NDArray[np.bool_]:
        """(n, K): which classes each node may have; a seed only its own, an unreached node all."""
        sets = self.probabilities >= self.calibration.least_probability(coverage)
        sets[np.isnan(self.temperatures[:, 0])] = True
        held = self.seeds.take(self.seeds.held)
        sets[held.nodes] = held.values() > 0
        return sets

    @cached_property
    def _own(self) -> Field:
        return self._field(self.temperatures, self.seeds)

    def _field(self, temperatures: Floats, seeds: Seeds) -> Field:
        return Field(temperatures, direct_heat(self.graph, seeds, self._side), self._neighbours)

    @cached_property
    def _neighbours(self) -> Array:
        return count_neighbours(self.graph, self._side)
