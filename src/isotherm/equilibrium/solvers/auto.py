"""The default solver: direct for small systems, cg while it converges fast, elimination otherwise."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from isotherm import kernels
from isotherm.arrays import Doubles
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers.cg import ConjugateGradient
from isotherm.equilibrium.solvers.direct import Direct
from isotherm.equilibrium.solvers.elimination import Elimination
from isotherm.equilibrium.solvers.iterative import SINGLE_TOL, Convergence, Iteration
from isotherm.equilibrium.solvers.system import Request, Solution, Solver, System

DIRECT_NODES = 1000  # up to this many interior nodes, a direct solve is as fast as any other
ELIMINATION_DEGREE = 2.7  # below this mean degree elimination is fastest: roads, trees, chains
PROBE_DEGREE = 8  # below this mean degree cg may stall, so it is first tried on one column,
PROBE_ENTRIES = 2**17  # unless the matrix has fewer entries: then one column takes as long as all,
SMALL_DEGREE = 5  # and elimination, whose setup is fast, is chosen below this mean degree
CHECK_EVERY = 16  # iterations of cg between two checks of its rate of convergence
EXCESS = 1.5  # factor by which the absorption column overestimates iterations on graphs of higher mean degree


class Auto:
    """The solver "auto": chooses by the graph and the first iterations; ``Solution.solver`` names the chosen one.

    The choice is kept for further solves, but cg is still replaced by elimination whenever it turns out to be slow.
    """

    def __init__(self, system: System, n_threads: int | None = None) -> None:
        self.system, self.n_threads = system, n_threads
        self._chosen: Solver | None = None

    def solve(self, request: Request) -> Solution:
        """Find the equilibrium; see :class:`isotherm.equilibrium.solvers.system.Solver`."""
        options = request.options
        if self._chosen is None or options.tol is None:
            self._chosen = self.choose(request)
        solution = self._chosen.solve(request)
        if not isinstance(self._chosen, ImpatientCG) or not self._chosen.gave_up:
            return solution
        self._chosen = Elimination(self.system, self.n_threads)
        left = None if options.max_iter is None else options.max_iter - solution.iterations
        options = replace(options, max_iter=left)
        second = self._chosen.solve(replace(request, options=options, start=solution.temperatures))
        return replace(second, iterations=solution.iterations + second.iterations)

    def choose(self, request: Request) -> Solver:
        """The solver that is probably fastest for a request."""
        tol = request.options.tol
        if np.count_nonzero(self.system.interior) <= DIRECT_NODES and tol is not None:
            return Direct(self.system)
        if kernels.active is kernels.native and tol is not None and self._stalls(request, tol):
            return Elimination(self.system, self.n_threads)
        return ImpatientCG(self.system, self.n_threads)

    def _stalls(self, request: Request, tol: float) -> bool:
        """Whether elimination is clearly faster than cg, judged by the graph or by a trial run on one column."""
        if self.system.mean_degree >= PROBE_DEGREE:
            return False
        if self.system.mean_degree < ELIMINATION_DEGREE:
            return True
        if self.system.conductance.entries < PROBE_ENTRIES:
            return self.system.mean_degree < SMALL_DEGREE
        columns, source = request.values.shape[1], request.source
        cost = _cost_of_elimination(self.system, kernels.width(columns))
        # heat moves one edge per iteration of cg: the distance to the farthest node is the least number of iterations
        if self.system.depth(int(cost) + 1) > cost:
            return True
        probe = ImpatientCG(self.system, self.n_threads, columns=columns)
        first = None if source is None else source._replace(inflow=source.inflow[:, :1])
        few = SolveOptions(tol=max(tol, SINGLE_TOL), max_iter=CHECK_EVERY)
        probe.solve(Request(request.values[:, :1], few, first))
        return probe.gave_up


class Patience:
    """Decides when cg should give up, because switching to elimination would be faster.

    The number of iterations that cg still needs is extrapolated from the rate at which the error falls or, before an
    error is known, from the residual of the absorption column. It is compared with the cost of elimination. With the
    absorption column it was 1.1 to 4 times too much on nine graphs of mean degree 8 and more, and anything from 2 times
    too little to 5 times too much on seven sparse ones. The former rarely gain by elimination, so two checks in a row
    have to agree.
    """

    def __init__(self, tol: float, cost: Callable[[], float], *, dense: bool) -> None:
        self.tol, self.cost = tol, cost  # the error at which cg is done; the cost of elimination in iterations of cg
        self.dense = dense  # whether the mean degree of the graph is at least PROBE_DEGREE
        self._slow = False  # at the last check
        self._logs: list[tuple[float, float]] = []

    def gives_up(self, error: float, missing: float) -> bool:
        """Record the error after an iteration and the missing share of the horizon; check every few iterations."""
        self._logs.append((_log(error), _log(missing)))
        if len(self._logs) % CHECK_EVERY:
            return False
        before, self._slow = self._slow, self.remaining() > self.cost()
        return self._slow and (before or not self.dense)

    def remaining(self) -> float:
        """Number of further iterations, extrapolated from the second half of those so far."""
        error, missing = np.array(self._logs[len(self._logs) // 2 :]).T
        if np.isfinite(error).all():
            return _extrapolated(error[-1] - np.log(self.tol), error)
        remaining = _extrapolated(max(missing[-1], 0) - np.log(self.tol), missing)
        return remaining / EXCESS if self.dense else remaining


class ImpatientCG(ConjugateGradient):
    """Conjugate gradient that stops when `Patience` expects elimination to be faster."""

    def __init__(self, system: System, n_threads: int | None = None, columns: int | None = None) -> None:
        super().__init__(system, n_threads)
        self.gave_up = False
        self._columns = columns  # for which elimination would be used; by default the width of this solve
        self._followed: Convergence | None = None
        self._patience: Patience

    def stop_early(self, iteration: Iteration, convergence: Convergence) -> bool:
        """Whether to give up."""
        if kernels.active is not kernels.native or convergence.tol == 0:
            return False
        if convergence is not self._followed:  # the next block, or the same in float64
            width = kernels.width(self._columns) if self._columns else len(iteration.report.dot) - 1
            cost, dense = partial(_cost_of_elimination, self.system, width), self.system.mean_degree >= PROBE_DEGREE
            self._followed, self._patience = convergence, Patience(convergence.tol, cost, dense=dense)
        self.gave_up |= self._patience.gives_up(convergence.error, iteration.horizon.missing)
        return self.gave_up


def _extrapolated(to_go: float, logs: Doubles) -> float:
    done = logs[0] - logs[-1]
    return float(to_go * (len(logs) - 1) / done) if done > 0 else np.inf


def _cost_of_elimination(system: System, width: int) -> float:
    """What elimination costs, in iterations of cg on a block of the same width: 24 to 420 on twenty graphs."""
    return 45 + 10 * system.lesser_degree / width**0.5  # a hub with many leaves is cheap, hubs joined to hubs are not


def _log(value: float) -> float:
    return float(np.log(value)) if value > 0 else -np.inf
