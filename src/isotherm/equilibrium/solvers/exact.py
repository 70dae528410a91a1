"""Elimination without subtraction, for small systems whose weights differ by many orders of magnitude.

Ordinary elimination subtracts the weights of a node from its degree. If a node is tied to the boundary only by a weight
that is tiny beside the others, the difference is lost to rounding and the matrix becomes singular. Here a node is
removed from the graph instead, and its neighbours are joined to each other (the star-mesh transform): only sums,
products and quotients of positive numbers occur. So each entry of the answer has a small relative error, whatever the
weights are (Grassmann, Taksar and Heyman 1985; O'Cinneide 1993).
"""

import time

import numpy as np

from isotherm.arrays import Doubles, Floats
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers.accuracy.convergence import largest_ratio, with_closing
from isotherm.equilibrium.solvers.base import Solution, Source, System

__all__ = ["MOST_NODES", "Exact"]

MOST_NODES = 1500  # interior nodes: time grows with their third power, to a few seconds


class Exact:
    """Removes interior nodes one after another from a dense matrix; each solve is a substitution back."""

    name = "exact"

    def __init__(self, system: System, n_threads: int | None = None) -> None:
        self.system = system
        inside, outside = np.flatnonzero(system.interior), system.boundary
        rows = system.heat.to_scipy().astype(np.float64)[inside]
        fewest_first = np.argsort(np.diff(rows.indptr), kind="stable")
        self.order, rows = inside[fewest_first], rows[fewest_first]
        self.shares = np.concatenate([rows[:, self.order].toarray(), rows[:, outside].toarray()], axis=1)
        self.pivots = np.empty(len(self.order))
        for node, row in enumerate(self.shares):
            row[: node + 1] = 0  # nodes that are gone, and itself
            self.pivots[node] = row.sum()
            row /= self.pivots[node]
            near = node + 1 + np.flatnonzero(self.shares[node + 1 :, node])  # symmetric: its neighbours below
            links = self.shares[near, node].copy()
            self.shares[near] += links[:, None] * row
            self.shares[near, near] = 0

    def solve(
        self,
        values: Doubles,
        options: SolveOptions,
        *,
        source: Source | None = None,
        start: Floats | None = None,
        closed: bool = False,
    ) -> Solution:
        """Find the equilibrium; see :class:`isotherm.equilibrium.solvers.base.Solver`."""
        began = time.perf_counter()
        n, count = len(self.system.degree), len(self.order)
        offset = values.mean(axis=0)  # a constant boundary then gives a constant, exactly
        heat = np.zeros((count, values.shape[1]))
        if source is not None:
            heat = source.everywhere(n)[self.order]
            for node, row in enumerate(self.shares):  # heat moves on to the neighbours
                heat[node + 1 :] += np.outer(row[node + 1 : count], heat[node])
        x = np.concatenate([np.zeros((count, values.shape[1])), values - offset])
        for node in range(count - 1, -1, -1):
            x[node] = self.shares[node, node + 1 :] @ x[node + 1 :] + heat[node] / self.pivots[node]
        temperatures = np.full((n, values.shape[1]), np.nan)
        temperatures[self.order] = x[:count] + offset
        temperatures[self.system.boundary] = values
        spread = self.system.spread(temperatures, closed=closed)
        away = with_closing(np.abs(x), closed).max(axis=0, initial=0)
        size = np.where(away > 0, away + np.abs(with_closing(offset[None], closed))[0], 0)
        eps = float(np.finfo(np.float64).eps)
        error = float(largest_ratio((count + 1) * eps * size, spread))
        bound = float(largest_ratio(2.0 * (count + 1) ** 3 * eps * size, spread))  # O'Cinneide's, on relative errors
        return Solution(
            temperatures=temperatures,
            solver=self.name,
            iterations=0,
            residual=error,
            error=error,
            error_bound=bound,
            converged=options.tol is not None and error <= options.tol,
            seconds=time.perf_counter() - began,
        )
