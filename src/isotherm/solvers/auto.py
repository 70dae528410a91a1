"""The solver that users get: direct where small, cg while it goes well, elimination where it does not."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.kernels import reference
from isotherm.solvers.base import Progress, Solution, Solver, System
from isotherm.solvers.cg import ConjugateGradient
from isotherm.solvers.convergence import Convergence
from isotherm.solvers.direct import Direct
from isotherm.solvers.elimination import Elimination
from isotherm.solvers.iterative import Iteration

__all__ = ["Auto"]

SMALL = 1000  # interior nodes up to which a direct solve is as fast as any
THIN = 2.7  # mean degree below which elimination always is: roads, trees, chains


class Auto:
    """Chooses by the graph, and by how the first iterations go; ``Solution.solver`` tells what it came to."""

    def __init__(self, system: System, n_threads: int | None = None) -> None:
        self.system = system
        self.n_threads = n_threads

    def solve(
        self,
        values: NDArray[np.float64],
        *,
        start: NDArray[np.floating] | None = None,
        tol: float | None,
        max_iter: int | None = None,
        closed: bool = False,
        progress: Progress | None = None,
    ) -> Solution:
        """Find the equilibrium; see :class:`isotherm.solvers.base.Solver`."""
        first = self._first(tol)
        solution = first.solve(values, start=start, tol=tol, max_iter=max_iter, closed=closed, progress=progress)
        if not isinstance(first, ImpatientCG) or not first.gave_up:
            return solution
        second = Elimination(self.system, self.n_threads).solve(
            values,
            start=solution.temperatures,
            tol=tol,
            max_iter=None if max_iter is None else max_iter - solution.iterations,
            closed=closed,
            progress=progress,
        )
        return replace(second, iterations=solution.iterations + second.iterations)

    def _first(self, tol: float | None) -> Solver:
        if np.count_nonzero(self.system.interior) <= SMALL and tol is not None:
            return Direct(self.system)
        if self.system.mean_degree < THIN and kernels.active is not reference:
            return Elimination(self.system, self.n_threads)
        return ImpatientCG(self.system, self.n_threads)


class ImpatientCG(ConjugateGradient):
    """Gives up when elimination would be the faster way from here.

    Costs are counted in iterations of cg. On a dozen graphs elimination took about ``30 / sqrt(W)`` for each unit of
    mean degree to set up, W being the width of the block, and the equivalent of 60 to solve.
    """

    def __init__(self, system: System, n_threads: int | None = None) -> None:
        super().__init__(system, n_threads)
        self.gave_up = False
        self._followed: Convergence | None = None
        self._errors: list[float] = []

    def stop_early(self, iteration: Iteration, convergence: Convergence) -> bool:
        """Look at the rate of convergence once a third of the cost of elimination has been spent."""
        if kernels.active is reference or convergence.tol == 0:
            return False
        if convergence is not self._followed:  # the next block, or the same in float64
            self._followed, self._errors = convergence, []
        self._errors.append(convergence.error)
        width = len(iteration.report.dot) - 1
        cost = 60 + 30 * self.system.mean_degree / width**0.5
        if len(self._errors) >= cost / 3:
            self.gave_up |= self._remaining(convergence.tol) > 2 / 3 * cost
        return self.gave_up

    def _remaining(self, tol: float) -> float:
        """Iterations still to come at the rate of the last half; infinite while the error is not even known."""
        known = [error for error in self._errors if np.isfinite(error)]
        half = len(known) // 2
        if len(known) < 4 or known[-1] >= known[half]:
            return np.inf
        rate = np.log(known[half] / known[-1]) / (len(known) - 1 - half)
        return float(np.log(known[-1] / tol) / rate)
