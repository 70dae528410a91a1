"""Conjugate gradient with approximate elimination as preconditioner, for graphs on which the diagonal is not enough.

Grids, roads, k-nearest-neighbour graphs and long chains need hundreds or thousands of iterations of plain cg, since
heat moves one edge an iteration. Here all nodes are eliminated once, by degree, with a sample of the new edges instead
of all (Kyng and Sachdeva 2016; Gao, Kyng and Spielman 2023). The result is a triangular factor about as sparse as the
graph, whose solve M^-1 r carries heat over any distance; it is also about the error of the present temperatures.

Temperatures are float64. Corrections to them are found in float32, which halves the memory to be moved: each round
takes the residual anew, goes on in the direction of the last, and removes all but a small part of the error. Where that
does not work, float64 takes over.
"""

import time

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.graph import Csr
from isotherm.kernels import Report
from isotherm.solvers.base import Floats, Progress, Solution, System
from isotherm.solvers.cg import CLOSE, balance, ratio
from isotherm.solvers.convergence import PRECONDITIONED, largest_ratio
from isotherm.solvers.iterative import deviations

__all__ = ["Elimination"]

SEED = 20200827  # of the sampling, so that results can be repeated
DOMAIN = 1 << 13  # nodes whose part of the factor and of a block fit a core's own cache
MAX_ITER = 1000
ROUND = 1e-4  # what a round leaves of the error
ENOUGH = 0.9  # of the tolerance, so that rounding does not take another round
PATIENCE = 12  # iterations in which the error must halve


class Elimination:
    """Works on a renumbered system: the interior in order of elimination, then the boundary."""

    def __init__(self, system: System, n_threads: int | None = None) -> None:
        self.whole = system
        self.threads = kernels.thread_count(n_threads)
        interior = system.interior.view(np.uint8)
        order, pivots, *factor = kernels.active.eliminate(*system.heat, interior, SEED, DOMAIN, self.threads)
        self.factor = factor
        self.pivots = {dtype: pivots.astype(dtype) for dtype in (np.float32, np.float64)}
        self.numbering = np.concatenate([order, system.boundary.astype(np.int32)])
        self.inside = slice(len(order))
        self.heat = Csr(*kernels.active.renumber(*system.heat, self.numbering))
        self.degree = system.degree[self.numbering]
        self.degree[len(order) :] = 0

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
        began = time.perf_counter()
        run = _Run(self, values, tol or 0.0, max_iter or MAX_ITER, closed, progress)
        if start is not None:
            run.begin(start[self.numbering[self.inside]])
        run.finish()
        temperatures = np.full((len(self.whole.degree), values.shape[1]), np.nan)
        temperatures[self.numbering] = run.temperatures()
        temperatures[self.whole.boundary] = values
        return Solution(
            temperatures=temperatures,
            solver="elimination",
            iterations=run.iterations,
            residual=run.residual,
            error=run.error,
            error_bound=np.inf,
            converged=tol is not None and run.error <= tol,
            seconds=time.perf_counter() - began,
        )

    def horizon(self) -> NDArray[np.float64]:
        """About the expected time to absorption; see :class:`isotherm.solvers.base.Solver`."""
        run = _Run(self, np.zeros((len(self.whole.boundary), 1)), 1.0, MAX_ITER, False, None)
        run.source = self.degree
        while run.missing > CLOSE and run.tol > np.finfo(np.float64).eps:
            run.tol /= 100
            run.finish()
        times = np.zeros(len(self.whole.degree))
        times[self.numbering] = run.x[:, 0]
        return times


class _Run:
    """The solve of a block of columns."""

    def __init__(
        self,
        solver: Elimination,
        values: NDArray[np.float64],
        tol: float,
        max_iter: int,
        closed: bool,
        progress: Progress | None,
    ) -> None:
        self.solver, self.tol, self.max_iter, self.progress = solver, tol, max_iter, progress
        self.columns = values.shape[1]
        self.width = kernels.width(self.columns)
        self.offset = balance(solver.whole, values)
        self.x = kernels.block(len(solver.degree), self.width, np.float64)
        self.x[solver.inside.stop :, : self.columns] = deviations(values, self.offset)
        self.closing = np.zeros(self.width, np.float32)
        self.closing[: self.columns] = closed
        self.watched = np.append(np.arange(self.columns), [self.width] if closed else []).astype(np.intp)
        self.iterations = 0
        self.error = self.residual = self.missing = np.inf
        self.source: NDArray[np.float64] | None = None  # heat that enters at the nodes, in the first column

    def begin(self, start: NDArray[np.floating]) -> None:
        """Set the temperatures of the interior; NaN is unknown."""
        self.x[self.solver.inside, : self.columns] = np.nan_to_num(start - self.offset)

    def temperatures(self) -> NDArray[np.float64]:
        """The columns as temperatures, in the solver's numbering."""
        return self.x[:, : self.columns] + self.offset

    def finish(self) -> None:
        """Correct the temperatures until their error is below the tolerance, or rounding allows no better."""
        for dtype in (np.float32, np.float64):  # the second is for bridges too weak for the first
            before = np.inf
            self.p, self.energy = kernels.block(len(self.x), self.width, dtype), np.zeros(self.width)
            while True:
                r, z = self._residual(dtype), kernels.block(len(self.x), self.width, dtype)
                spread = self._spread()
                solved = self._precondition(r, z)
                self.error = self._error(solved, spread)
                if self.error <= self.tol or self.iterations >= self.max_iter:
                    self.residual = self._relative_residual(r, spread)
                    return
                if not self.error < before / 2:
                    break
                before = self.error
                self.x += self._correction(r, z, solved, spread)
            self.residual = self._relative_residual(r, spread)

    def _error(self, solved: Report, spread: NDArray[np.float64]) -> float:
        return float(largest_ratio(PRECONDITIONED * solved.size[self.watched], spread))

    def _relative_residual(self, r: Floats, spread: NDArray[np.float64]) -> float:
        inside = self.solver.inside
        scaled = np.abs(r[inside, : self.columns]) / self.solver.degree[inside, None]
        largest = scaled.max(axis=0, initial=0)
        self.missing = float(largest.max(initial=0))
        return float(largest_ratio(largest, spread[: self.columns]))

    def _residual(self, dtype: type[np.floating]) -> Floats:
        """The residual of the present temperatures, computed in float64."""
        q = kernels.block(len(self.x), self.width, np.float64)
        heat = self.solver.heat
        weights = None if heat.weights is None else heat.weights.astype(np.float64, copy=False)
        kernels.active.laplacian(heat.indptr, heat.indices, weights, self.solver.degree, self.x, q, self.solver.threads)
        if self.source is not None:
            q[:, 0] -= self.source
        r = kernels.block(len(self.x), self.width, dtype)
        np.negative(q, out=r, casting="same_kind")
        return r

    def _spread(self) -> NDArray[np.float64]:
        report = Report(*kernels.active.moments(self.closing.astype(np.float64), self.x, self.solver.threads))
        return report.spread(len(self.x))[self.watched]

    def _correction(self, r: Floats, z: Floats, solved: Report, spread: NDArray[np.float64]) -> Floats:
        """What must be added to the temperatures for their residual r to vanish, as far as a round goes."""
        indptr, indices, weights = self.solver.heat
        graph = indptr, indices, None if weights is None else weights.astype(r.dtype, copy=False)
        degree, closing = self.solver.degree.astype(r.dtype), self.closing.astype(r.dtype)
        as_it_is, threads = np.ones_like(degree), self.solver.threads
        x, q = (kernels.block(len(r), self.width, r.dtype) for _ in range(2))
        errors = [self._error(solved, spread)]
        goal = max(ENOUGH * self.tol, ROUND * errors[0])
        while errors[-1] > goal and self.iterations < self.max_iter:
            turn = ratio(solved.dot[:-1], self.energy)
            if len(errors) == 1:  # rounding has left more than the last round knew of: its direction is of no use
                turn[turn > 1] = 0
            self.energy = solved.dot[:-1]
            kernels.active.cg_turn(as_it_is, None, turn.astype(r.dtype), z, self.p, threads)
            curvature = kernels.active.laplacian(*graph, degree, self.p, q, threads)[0, :-1]
            length = ratio(self.energy, curvature).astype(r.dtype)
            kernels.active.cg_step(as_it_is, closing, length, self.p, q, x, r, threads)
            solved = self._precondition(r, z)
            self.iterations += 1
            errors.append(self._error(solved, spread))
            if self.progress is not None:
                self.progress(self.iterations, errors[-1])
            if len(errors) > PATIENCE and errors[-1] > errors[-1 - PATIENCE] / 2:
                break
        return x if errors[-1] < errors[0] else np.zeros_like(x)

    def _precondition(self, r: Floats, z: Floats) -> Report:
        inside, closing = self.solver.inside, self.closing.astype(r.dtype)
        pivots = self.solver.pivots[r.dtype.type]
        arrays = closing, r[inside], z[inside]
        return Report(*kernels.active.precondition(pivots, *self.solver.factor, *arrays, self.solver.threads))
