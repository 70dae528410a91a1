"""The solver that users get: direct where small, cg while it goes well, elimination where it does not."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.kernels import reference
from isotherm.solvers.base import Progress, Solution, Solver, System
from isotherm.solvers.cg import CLOSE, ConjugateGradient
from isotherm.solvers.convergence import Convergence
from isotherm.solvers.direct import Direct
from isotherm.solvers.elimination import Elimination
from isotherm.solvers.iterative import SINGLE_TOL, Iteration

__all__ = ["Auto"]

SMALL = 1000  # interior nodes up to which a direct solve is as fast as any
THIN = 2.7  # mean degree below which elimination always is: roads, trees, chains
SPARSE = 8  # mean degree below which a look ahead with one column is cheap beside the solve with all
MANY = 2**17  # entries; with fewer, one column takes as long as all
LOOK = 16  # iterations of cg after which it can be told how it will go on


class Auto:
    """Chooses by the graph, and by how the first iterations go; ``Solution.solver`` tells what it came to."""

    def __init__(self, system: System, n_threads: int | None = None) -> None:
        self.system = system
        self.n_threads = n_threads
        self._settled: Solver | None = None  # what it came to in an earlier solve

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
        first = self._first(values, tol)
        solution = first.solve(values, start=start, tol=tol, max_iter=max_iter, closed=closed, progress=progress)
        if not isinstance(first, ImpatientCG):
            self._settled = first
        if not isinstance(first, ImpatientCG) or not first.gave_up:
            return solution
        self._settled = Elimination(self.system, self.n_threads)
        second = self._settled.solve(
            values,
            start=solution.temperatures,
            tol=tol,
            max_iter=None if max_iter is None else max_iter - solution.iterations,
            closed=closed,
            progress=progress,
        )
        return replace(second, iterations=solution.iterations + second.iterations)

    def horizon(self) -> NDArray[np.float64]:
        """About the expected time to absorption; see :class:`isotherm.solvers.base.Solver`."""
        if self._settled is None:
            self._settled = self._first(np.zeros((len(self.system.boundary), 1)), CLOSE)
        return self._settled.horizon()

    def _first(self, values: NDArray[np.float64], tol: float | None) -> Solver:
        if self._settled is not None and tol is not None:
            return self._settled
        if np.count_nonzero(self.system.interior) <= SMALL and tol is not None:
            return Direct(self.system)
        if kernels.active is not reference and self._stalls(values, tol):
            return Elimination(self.system, self.n_threads)
        return ImpatientCG(self.system, self.n_threads)

    def _stalls(self, values: NDArray[np.float64], tol: float | None) -> bool:
        """Whether it is clear from the beginning that elimination is the faster way."""
        if tol is None or self.system.mean_degree >= SPARSE:
            return False
        if self.system.mean_degree < THIN:
            return True
        if self.system.heat.entries < MANY:
            return False
        probe = ImpatientCG(self.system, self.n_threads, columns=values.shape[1])
        probe.solve(values[:, :1], tol=max(tol, SINGLE_TOL), max_iter=LOOK)
        return probe.gave_up


class ImpatientCG(ConjugateGradient):
    """Gives up when elimination would be the faster way from here.

    Costs are counted in iterations of cg. On twenty graphs elimination took the equivalent of 24 to 420, about 45 and
    ``10 / sqrt(W)`` for each neighbour of the lesser end of an edge, W being the width of the block: a hub with many
    leaves costs nothing, hubs among themselves do. How many iterations cg has to go is told from the rate at which the
    error shrinks or, before it is known, what is missing of the horizon.

    Parameters
    ----------
    columns : int, optional
        For how many columns elimination would have to be set up, if not those of the solve.
    """

    def __init__(self, system: System, n_threads: int | None = None, columns: int | None = None) -> None:
        super().__init__(system, n_threads)
        self.gave_up = False
        self._columns = columns
        self._followed: Convergence | None = None
        self._logs: list[tuple[float, float]] = []  # of the error, and of what is missing of the horizon

    def stop_early(self, iteration: Iteration, convergence: Convergence) -> bool:
        """Look at the rate of convergence from time to time."""
        if kernels.active is reference or convergence.tol == 0:
            return False
        if convergence is not self._followed:  # the next block, or the same in float64
            self._followed, self._logs = convergence, []
        self._logs.append((_log(convergence.error), _log(iteration.horizon.missing)))
        if len(self._logs) % LOOK == 0:
            width = kernels.width(self._columns) if self._columns else len(iteration.report.dot) - 1
            cost = 45 + 10 * self.system.lesser_degree / width**0.5
            self.gave_up |= self._remaining(convergence.tol) > cost
        return self.gave_up

    def _remaining(self, tol: float) -> float:
        """Iterations still to come, at the rate of the last half."""
        error, missing = np.array(self._logs[len(self._logs) // 2 :]).T
        if np.isfinite(error).all():
            way, gone = error[-1] - np.log(tol), error[0] - error[-1]
        else:
            way, gone = max(missing[-1], 0) - np.log(tol), missing[0] - missing[-1]
        return float(way * (len(error) - 1) / gone) if gone > 0 else np.inf


def _log(value: float) -> float:
    return float(np.log(value)) if value > 0 else -np.inf
