"""Conjugate gradient with approximate elimination as preconditioner, for graphs on which the diagonal is not enough.

On grids, roads, k-nearest-neighbour graphs and long chains, plain cg needs hundreds or thousands of iterations, since
heat moves one edge per iteration. Here all nodes are eliminated once, in order of degree, and only a sample of the
fill-in edges is kept (Kyng and Sachdeva 2016; Gao, Kyng and Spielman 2023). The result is a triangular factor about as
sparse as the graph. Its solve M^-1 r carries heat over any distance, and also estimates the current error.

Temperatures are stored in float64. Corrections are computed in float32, which halves the memory traffic. Each round
recomputes the residual in float64, continues in the last search direction, and reduces the error by a large factor.
If float32 stops making progress, float64 takes over.
Which edges are sampled depends on how nodes are numbered.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.arrays import Doubles, Floats
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers.cg import ratio
from isotherm.equilibrium.solvers.interior import deviations
from isotherm.equilibrium.solvers.iterative import PRECONDITIONED
from isotherm.equilibrium.solvers.system import (
    Request,
    Solution,
    Source,
    Spreads,
    System,
    largest_ratio,
    stopping,
    with_closing,
)
from isotherm.graphs import Csr
from isotherm.kernels import Report, Stride

SEED = 20200827  # random seed of the sampling, so that results are reproducible
DOMAIN = 1 << 13  # nodes in a domain, whose part of the factor and of a block fits in the cache of a core
TYPES: tuple[type[np.floating], ...] = (np.float32, np.float64)  # float64 is for edges too weak for float32
CLOSE = 1e-3  # tolerance of times to absorption
SLACK = 100.0  # the error is taken to be at least the bound divided by this
MAX_ITER = 1000
ROUND = 1e-4  # factor by which a round reduces the error
ENOUGH = 0.9  # a round aims at this part of the tolerance, so that rounding does not cause another round
STALLED = 12  # a round ends if the error has not halved in this many iterations
DRIFT = 0.1  # a direction is dropped if the energy of its residual is off by this share, by rounding


class Elimination:
    """The solver "elimination". It renumbers the system: the interior in order of elimination, then the boundary."""

    name = "elimination"

    def __init__(self, system: System, n_threads: int | None = None) -> None:
        self.whole = system
        self.threads = kernels.thread_count(n_threads)
        interior = system.interior.view(np.uint8)
        order, pivots, *factor = kernels.active.eliminate(*system.conductance, interior, SEED, DOMAIN, self.threads)
        self.factor = factor
        self.types = TYPES[1:] if system.wide else TYPES
        self.pivots = {dtype: pivots.astype(dtype) for dtype in self.types}
        self.numbering = np.concatenate([order, system.boundary.astype(np.int32)])
        self.inside = slice(len(order))
        self.conductance = Csr(*kernels.active.renumber(*system.conductance, self.numbering))
        self.degree = system.degree[self.numbering]
        self.degree[len(order) :] = 0
        self.scale = 1 / self.degree[self.inside]
        self._horizon: float | None = None

    def solve(self, request: Request) -> Solution:
        """Find the equilibrium; see :class:`isotherm.equilibrium.solvers.system.Solver`."""
        run, tol = _Run(self, request), request.options.tol
        run.finish()
        bound = self._bound(run) if self.whole.wide else np.inf
        error = min(max(run.error, bound / SLACK), bound) if self.whole.wide else run.error
        temperatures = run.temperatures()
        temperatures[self.whole.boundary] = request.values
        converged = tol is not None and error <= tol
        return Solution(temperatures, self.name, run.iterations, run.residual, error, bound, converged)

    def _bound(self, run: "_Run") -> float:
        """A bound on the error by the absorption time, for weights that differ too much to trust the factor."""
        if self._horizon is None:
            inside, cold = np.flatnonzero(self.whole.interior), np.zeros((len(self.whole.boundary), 1))
            source = Source(inside, self.whole.degree[inside, None])
            absorption = _Run(self, Request(cold, SolveOptions(tol=CLOSE), source))
            absorption.finish()
            times = np.nan_to_num(absorption.temperatures()[:, 0])
            times[self.whole.boundary] = 0
            self._horizon = self.whole.verified_horizon(times)
        if not np.isfinite(self._horizon):
            return np.inf
        rounding = self.whole.mean_rounding * np.abs(run.x[:, : run.columns]).max(axis=0, initial=0)
        spread = run.spread().read
        bounds = with_closing((run.residuals + rounding)[None], len(spread) > run.columns)
        return self._horizon * float(largest_ratio(bounds[0], spread))


class _Run:
    """The solve of a block of columns."""

    def __init__(self, solver: Elimination, request: Request) -> None:
        values, source, options = request.values, request.source, request.options
        self.solver, self.progress = solver, options.progress
        self.tol = stopping(options.tol or 0.0, len(solver.degree))
        self.max_iter = options.max_iter or MAX_ITER
        self.columns = values.shape[1]
        self.width = kernels.width(self.columns)
        self.offset = solver.whole.balance(values, source)
        self.source = None if source is None else source.everywhere(len(solver.whole.degree))[solver.numbering]
        self.x, self.excess = (kernels.block(len(solver.degree), self.width, np.float64) for _ in range(2))
        self.x[solver.inside.stop :, : self.columns] = deviations(values, self.offset)
        self.closing = np.zeros(self.width, np.float32)
        self.closing[: self.columns] = request.closed
        self.watched = np.append(np.arange(self.columns), [self.width] if request.closed else []).astype(np.intp)
        self.iterations = 0
        self.error = self.residual = np.inf
        self.residuals = np.full(self.columns, np.inf)  # the largest of each column, absolute
        if request.start is not None:
            start = request.start[solver.numbering[solver.inside]]
            self.x[solver.inside, : self.columns] = np.nan_to_num(start - self.offset)

    def temperatures(self) -> Doubles:
        """The columns as temperatures of all nodes, NaN where unreached."""
        numbering, whole = self.solver.numbering, self.solver.whole
        found = np.empty((len(whole.degree), self.columns))
        if len(numbering) < len(found):
            found.fill(np.nan)
        columns, places = self.x[:, : self.columns], numbering.astype(np.int64)
        kernels.active.place_rows(columns, self.offset, places, found, self.solver.threads)
        return found

    def finish(self) -> None:
        """Correct the temperatures until the error is below the tolerance, or rounding prevents further progress."""
        descent = self._correct()
        if self.error > self.tol and self.iterations < self.max_iter:  # rows alike up to rounding count as constant
            self._measure(descent, self.spread().usable)

    def _correct(self) -> "_Descent":
        """Correct the temperatures in rounds of cg; returns the last descent."""
        for dtype in self.solver.types:
            before = np.inf
            descent = _Descent(self.solver, self.closing.astype(dtype))
            while True:
                spread = self.spread().finest
                self._find_excess()
                self.residuals = descent.aim(self.excess)[: self.columns]
                self._measure(descent, spread)
                if self.error <= self.tol or self.iterations >= self.max_iter:
                    return descent
                if not self.error < before / 2:
                    break
                before = self.error
                if self._improve(descent, spread):
                    self.x += descent.x
        return descent

    def _measure(self, descent: "_Descent", spread: Doubles) -> None:
        """Set residual and error, relative to a spread."""
        self.residual = float(largest_ratio(self.residuals, spread[: self.columns]))
        self.error = self._error(descent, spread)

    def _error(self, descent: "_Descent", spread: Doubles) -> float:
        return float(largest_ratio(PRECONDITIONED * descent.stride.size[self.watched], spread))

    def _find_excess(self) -> None:
        """Set ``excess`` to the heat that leaves each node beyond what enters it: 0 at equilibrium."""
        graph, degree = self.solver.conductance.of_type(np.float64), self.solver.degree
        kernels.active.laplacian(*graph, degree, self.x, self.excess, self.solver.threads)
        if self.source is not None:
            self.excess[:, : self.columns] -= self.source

    def spread(self) -> Spreads:
        """The spread of each watched column over the output rows."""
        report = Report(*kernels.active.moments(self.closing.astype(np.float64), self.x, self.solver.threads))
        every = report.spread(len(self.x))[self.watched]
        whole = self.solver.whole
        if whole.output is None:
            return Spreads(every, every, np.float64)
        x = np.empty((len(whole.degree), self.columns))
        x[self.solver.numbering] = self.x[:, : self.columns]
        return whole.output_spread(lambda rows: x[rows], every, x.dtype, closed=len(every) > self.columns)

    def _improve(self, descent: "_Descent", spread: Doubles) -> bool:
        """One round of cg; returns whether its correction reduces the error."""
        errors = [self._error(descent, spread)]
        goal = max(ENOUGH * self.tol, ROUND * errors[0])
        while errors[-1] > goal and self.iterations < self.max_iter:
            descent.step()
            self.iterations += 1
            errors.append(self._error(descent, spread))
            if self.progress is not None:
                self.progress(self.iterations, errors[-1])
            if len(errors) > STALLED and errors[-1] > errors[-1 - STALLED] / 2:
                break
        return errors[-1] < errors[0]


class _Descent:
    """Conjugate gradient with the factor as preconditioner, in one precision: a correction, and the next direction."""

    def __init__(self, solver: Elimination, closing: Floats) -> None:
        dtype, inside = closing.dtype.type, solver.inside
        self._threads, self._scale = solver.threads, solver.scale
        self._factor = solver.pivots[dtype], *solver.factor
        self._graph = solver.conductance.of_type(dtype)
        self._fixed = solver.degree.astype(dtype), closing
        self.x, self._p = (kernels.block(len(solver.degree), len(closing), dtype) for _ in range(2))
        self._y, self._g = (kernels.block(inside.stop, len(closing), dtype) for _ in range(2))
        self.stride = Stride(*np.zeros((5, len(closing) + 1)))  # its size estimates the remaining error

    def aim(self, excess: Floats) -> Doubles:
        """Begin a correction, given the heat (n, width) that leaves each node; returns the residual of each column."""
        self.x.fill(0)
        given = self._scale, excess[: len(self._y)], self._y
        aimed = Stride(*kernels.active.forward(*self._factor, *given, self._threads))
        near = np.abs(aimed.energy - self.stride.energy) <= DRIFT * self.stride.energy
        self._move(np.zeros(len(near) - 1), ~near[:-1], near[:-1])
        return aimed.size

    def step(self) -> None:
        energy, curvature, cross, square, _ = (row[:-1] for row in self.stride)
        alpha = ratio(energy, curvature)
        expected = np.maximum(energy - 2 * alpha * cross + alpha**2 * square, 0)  # the energy after this step
        self._move(alpha, np.ones_like(alpha), ratio(expected, energy))

    def _move(self, *coefficients: NDArray[Any]) -> None:
        rows = (row.astype(self.x.dtype) for row in coefficients)
        blocks = self._y, self._g, self._p, self.x
        arrays = *self._factor, *self._graph, *self._fixed, *rows, *blocks
        self.stride = Stride(*kernels.active.descend(*arrays, self._threads))
