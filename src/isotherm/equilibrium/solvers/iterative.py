"""Solvers that improve a block step by step: the common loop, and the simplest of them, the paper's sweeps."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from isotherm import kernels
from isotherm.arrays import Doubles, Floats
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers.convergence import Convergence
from isotherm.equilibrium.solvers.interior import Block, Interior
from isotherm.equilibrium.solvers.system import Request, Solution, Source, System
from isotherm.kernels import Report

__all__ = ["SINGLE_TOL", "Horizon", "Iteration", "Iterative", "Sweeps"]

SINGLE_TOL = 1e-4  # smaller tolerances need float64
SINGLE_EPS = float(np.finfo(np.float32).eps) / 2


class Horizon(NamedTuple):
    """The longest expected time to absorption: the estimate so far, and the share that is still missing."""

    so_far: float
    missing: float

    @property
    def bound(self) -> float:
        """An upper bound, once at most half is missing."""
        return self.so_far / (1 - self.missing) if self.missing <= 0.5 else np.inf


class Iteration(NamedTuple):
    """Measurements of one iteration, and the horizon."""

    report: Report
    horizon: Horizon


class Iterative(ABC):
    """A solver that improves a block of columns step by step."""

    name: ClassVar[str]
    default_max_iter: ClassVar[int]

    def __init__(self, system: System, n_threads: int | None = None) -> None:
        self.system = system
        self.threads = kernels.thread_count(n_threads)
        self._interiors: dict[type[np.floating], Interior] = {}

    @property
    def halved(self) -> bool:
        """Whether to iterate on half of a bipartite graph."""
        return False

    @abstractmethod
    def offset(self, values: Doubles, source: Source | None) -> Doubles:
        """The constant of each column: its start, and the reference for deviations; shape (k,)."""

    @abstractmethod
    def iterate(self, block: Block) -> Iterator[Iteration]:
        """Improve ``block.x`` step by step, as long as that is possible."""

    def times(self, block: Block) -> Floats | None:
        """The expected times to absorption (n,), if they are known by the end."""
        return None

    def stop_early(self, iteration: Iteration, convergence: Convergence) -> bool:
        """Whether to stop before the tolerance is met."""
        return False

    def solve(self, request: Request) -> Solution:
        """Find the equilibrium: in float32 while its rounding error is below the tolerance, then in float64."""
        values, options, start, iterations = request.values, request.options, request.start, 0
        exact_start = start is not None and options.tol is None  # float32 would round what the sweeps begin from
        for dtype in [np.float64] if exact_start else self._precisions(options.tol):
            offset = self.offset(values, request.source)
            block = Block(self._interior(dtype), values, offset, request.source)
            if start is not None:
                block.begin(start)
            convergence = self._convergence(block, options.tol, request.closed)
            iterations, finished = self._run(block, convergence, options, iterations)
            start = temperatures = block.temperatures(np.float64 if options.tol is None else block.dtype)
            if finished:
                break
        return Solution(
            temperatures=temperatures,
            solver=self.name,
            iterations=iterations,
            residual=convergence.residual,
            error=convergence.error,
            error_bound=convergence.error_bound,
            converged=convergence.done,
            times=self.times(block) if convergence.done else None,
        )

    def _run(self, block: Block, convergence: Convergence, options: SolveOptions, iterations: int) -> tuple[int, bool]:
        """Iterate in one precision; returns the total number of iterations, and whether the solve is finished."""
        tol, early = options.tol, False
        most = self.default_max_iter if options.max_iter is None else options.max_iter
        for iteration in self.iterate(block):
            iterations += 1
            convergence.update(iteration.report, iteration.horizon.bound)
            if convergence.in_doubt and self.system.output is not None:
                convergence.narrow(self._output_spread(block, iteration.report.spread(convergence.n_reached)))
            if options.progress is not None:
                options.progress(iterations, convergence.error)
            early = self.stop_early(iteration, convergence)
            coarse = block.dtype == np.float32 and tol is not None and SINGLE_EPS * iteration.horizon.so_far > tol
            if early or coarse or convergence.done or convergence.exhausted or iterations >= most:
                break
        return iterations, early or convergence.done or iterations >= most or tol is None

    def _convergence(self, block: Block, tol: float | None, closed: bool) -> Convergence:
        n_reached = block.interior.n_reached
        eps = float(np.finfo(block.dtype).eps)
        rounding = eps * block.interior.largest(np.abs(block.values).max(axis=0, initial=0))  # from adding the offset
        if closed:
            rounding = np.append(rounding, rounding.sum() + eps)
        n_interior = block.interior.n_interior
        watched, wide = block.watch(closed), self.system.wide
        return Convergence(tol or 0.0, watched, n_reached, eps, rounding, wide=wide, n_interior=n_interior)

    def _output_spread(self, block: Block, every: Doubles) -> Doubles:
        """The spread of the watched columns over the output rows."""
        closed = bool(block.closing.any())
        return self.system.output_spread(block.at, every[block.watch(closed)], block.dtype, closed=closed)

    def _interior(self, dtype: type[np.floating]) -> Interior:
        if dtype not in self._interiors:
            self._interiors[dtype] = Interior(self.system, dtype, self.threads, halved=self.halved)
        return self._interiors[dtype]

    def _precisions(self, tol: float | None) -> list[type[np.floating]]:
        single = tol is None or (tol >= SINGLE_TOL and self.system.least_horizon * SINGLE_EPS <= tol)
        return [np.float32, np.float64] if single and not self.system.wide else [np.float64]


class Sweeps(Iterative):
    """The paper's iteration ``X <- Q X + R Y`` (eq. 4): each node takes the mean temperature of its neighbours.

    The absorption column starts at 1 in the interior and 0 on the boundary. After k sweeps it holds ``Q^k 1``, the
    probability that a random walk has not been absorbed yet. Summed over k, it gives the expected time to absorption.
    """

    name = "sweeps"
    default_max_iter = 10_000

    def offset(self, values: Doubles, source: Source | None) -> Doubles:
        """The mean temperature of the seeds."""
        return values.mean(axis=0)

    def iterate(self, block: Block) -> Iterator[Iteration]:
        """Sweep forever, swapping two arrays."""
        interior, walked = block.interior, 1.0
        block.x[self.system.interior, block.absorption_column] = 1
        while True:
            arrays = interior.scale, block.closing, block.x, block.spare
            report = Report(*kernels.active.sweep(*interior.graph, *arrays, interior.threads))
            if block.source is not None:
                report = _add_inflow(block, block.source, report)
            block.x, block.spare = block.spare, block.x
            surviving = float(report.size[block.absorption_column])
            yield Iteration(report, Horizon(walked, surviving))
            walked += surviving


def _add_inflow(block: Block, source: Source, report: Report) -> Report:
    """Add the heat that enters during a sweep, and correct the measurements."""
    scale, columns = block.interior.scale[source.nodes, None], block.columns
    block.spare[source.nodes, :columns] += (scale * source.inflow).astype(block.dtype)
    steps, after = (np.column_stack([each, each @ -block.closing]) for each in (block.spare - block.x, block.spare))
    largest = np.abs(steps).max(axis=0, initial=0)
    size = np.abs(after).max(axis=0, initial=0)
    sums, squares = (np.add.reduce(after**power, axis=0, dtype=np.float64) for power in (1, 2))
    return Report(report.dot, largest, largest, sums, squares, size)
