"""Solvers that improve a block step by step: when they stop, their common loop, and the paper's sweeps.

A solver stops once the error of the temperatures, not the residual, is below the tolerance. A small residual does not
imply a small error, because residuals add up along the walk from a node to the seeds. On a 400 x 400 grid with 40
seeds, cg had a residual of 0.005 when its error was 0.69. Two measures of the error are combined instead:

*The bound.* Let ``h`` be the expected time to absorption, ``(I - Q) h = 1``. Then ``|X - X*| <= max(h) max|residual|``.
This always holds, but it assumes that all residuals have the same sign, and so is about a hundred times too large.

*The estimate.* The remaining change is extrapolated from the sizes of the steps so far, ``max|X_{j+1} - X_j|``. Let S
and S' be their sums over the last quarter of the iterations and the quarter before, and t = S / S'. The estimate is
S t / (1 - t). It is good on most graphs, but can be far too small until the slow modes of a graph have moved.

The error is taken as twice the estimate, limited to between a tenth of the bound and the bound. This was tested with cg
on 139 problems: paths, grids, barbells, weakly joined blocks and power-law graphs of up to a million nodes, with one
seed for every ten to ten thousand nodes. The error was below the tolerance in all but three, where it was 1.2 times the
tolerance, and it took a quarter more iterations than stopping by the true error. The estimate alone would have stopped
with errors of up to a hundred times the tolerance; a hundredth of the bound, with up to nine times.

On small graphs the steps of cg are irregular, because a maximum over few nodes varies more than one over many. One in
200 random graphs of up to a thousand nodes ended with an error of up to 2.7 times the tolerance. There iterations cost
little, so the error is taken as the bound itself; from there to ten thousand nodes, the lower limit falls to a tenth.

With a good preconditioner M this is not needed: ``M^-1 r`` is the error up to a factor, which was between 0.5 and 4 on
the same graphs. It is multiplied by three.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.arrays import Doubles, Floats
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers.interior import Block, Interior
from isotherm.equilibrium.solvers.system import Request, Solution, Source, Spreads, System, largest_ratio
from isotherm.kernels import Report

SINGLE_TOL = 1e-4  # smaller tolerances need float64
SINGLE_EPS = float(np.finfo(np.float32).eps) / 2
SAFETY = 2.0  # factor on the estimate
PRECONDITIONED = 3.0  # factor on the error that a preconditioner gives
SLACK = 10.0  # the error is taken to be at least the bound divided by this
SMALL = 1000  # below SLACK times so many interior nodes, the divisor shrinks in proportion to them, down to 1
ROUNDINGS = 4  # rounding errors of a mean: weights, products, their sum, and the division
TINY = np.finfo(np.float64).tiny


class _Measured(NamedTuple):
    residual: Doubles  # (watched columns,), as all fields but the horizon
    error: Doubles
    bound: Doubles
    size: Doubles
    spread: Doubles
    horizon: float


class Convergence:
    """Follows the iterations of one block and decides when its error is below ``tol``."""

    def __init__(
        self,
        tol: float,
        watched: NDArray[np.intp],  # the columns of reports that are temperatures
        n_reached: int,
        eps: float,  # relative rounding error of one operation
        rounding: Doubles,  # (watched columns,) rounding error of the final temperatures
        *,
        wide: bool = False,  # rounding counts in the error too
        n_interior: int,
    ) -> None:
        self.tol, self.watched, self.n_reached, self.eps, self.rounding = tol, watched, n_reached, eps, rounding
        self.wide, self._n_interior, self._slack = wide, n_interior, min(max(n_interior / SMALL, 1.0), SLACK)
        self.residual = self.error = np.inf
        self._narrowing: Doubles | float = 1.0  # the spread that errors are relative to, over the one in reports,
        self._read: Spreads | None = None  # and the spread over the output rows, if known for the last iteration
        self._last: _Measured | None = None
        self.exhausted = False  # rounding prevents further progress
        self._path = [np.zeros(len(watched))]  # cumulative sums of the step sizes

    @property
    def done(self) -> bool:
        """Whether the error is below the tolerance."""
        return self.error <= self.tol

    @property
    def path(self) -> Doubles:
        """Cumulative sums of the step sizes, shape (iterations + 1, watched columns)."""
        return np.array(self._path)

    def go_on(self, path: Doubles) -> None:
        """Continue from the state of an earlier solve of the same columns."""
        self._path = list(path)

    def update(self, report: Report, horizon: float) -> None:
        """Record one iteration; ``horizon`` is an upper bound on the longest expected time to absorption."""
        watched = Report(*np.array(report)[:, self.watched])
        residual, spread = watched.residual, watched.spread(self.n_reached)
        spread, self._read = spread * self._narrowing, None
        self._path.append(self._path[-1] + watched.step)
        self.exhausted = not watched.step.any() and np.isfinite(horizon)
        bound = np.where(residual > 0, horizon * np.maximum(residual, TINY), 0)
        if self.wide:  # float64 itself may be too coarse for such weights, and a small residual may mean nothing
            bound = bound + self._sums(horizon, watched.size)
        error = np.minimum(np.maximum(SAFETY * self._remaining(), bound / self._slack), bound)
        self._compare(_Measured(residual, error, bound, watched.size, spread, horizon))

    @property
    def in_doubt(self) -> bool:
        """Whether the spread of the rows that are read is still to be measured after the last iteration."""
        return self._read is None

    def narrow(self, spread: Spreads) -> None:
        """From now on, measure errors relative to this spread instead of the one in the reports."""
        assert self._last is not None
        before, self._read = self._last.spread / self._narrowing, spread
        self._narrowing = np.divide(spread.finest, before, out=np.ones(len(before)), where=before > 0)
        self._compare(self._last._replace(spread=spread.finest))

    def settle(self) -> None:
        """If rounding prevents further progress, rows that are alike up to rounding count as constant."""
        if self._last is not None and self._read is not None and self.exhausted:
            self._compare(self._last._replace(spread=self._read.usable))

    @property
    def rounded(self) -> bool:
        """Whether rounding errors may exceed the tolerance; in large systems most of them cancel out."""
        if self._last is None:
            return False
        usual = self._sums(self._last.horizon, self._last.size) / (2 * ROUNDINGS * max(self._n_interior / SMALL, 1.0))
        return float(largest_ratio(usual, self._last.spread)) > self.tol

    def _sums(self, horizon: float, size: Doubles) -> Doubles:
        """Bounds on the rounding errors of means, added up along walks to the boundary."""
        return np.where(size > 0, horizon * ROUNDINGS * self.eps * np.maximum(size, TINY), 0)

    def _compare(self, measured: "_Measured") -> None:
        self._last, sizes = measured, np.array([measured.residual, measured.error])
        self.residual, self.error = largest_ratio(sizes, measured.spread).tolist()

    @property
    def error_bound(self) -> float:
        """An upper bound on the error, with an allowance for rounding."""
        if self._last is None:
            return np.inf
        last, spread = self._last, self._last.spread if self._read is None else self._read.read
        rounding = self._sums(last.horizon, last.size) + np.where(last.size > 0, self.rounding, 0)
        return float(largest_ratio(last.bound + rounding, spread))

    def _remaining(self) -> Doubles:
        """The estimate; infinite if there are too few iterations or the steps do not shrink."""
        iterations = len(self._path) - 1
        window = max(2, iterations // 4)
        if iterations < 2 * window:
            return np.full(len(self.watched), np.inf)
        last = self._path[-1] - self._path[-1 - window]
        before = self._path[-1 - window] - self._path[-1 - 2 * window]
        shrinks = last < before
        rest = np.where(shrinks, before - last, 1)
        return np.where(shrinks, last * last / rest, np.where(last > 0, np.inf, 0))


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
        measures = convergence.residual, convergence.error, convergence.error_bound, convergence.done
        times = self.times(block) if convergence.done else None
        return Solution(temperatures, self.name, iterations, *measures, times=times)

    def _run(self, block: Block, convergence: Convergence, options: SolveOptions, iterations: int) -> tuple[int, bool]:
        """Iterate in one precision; returns the total number of iterations, and whether the solve is finished."""
        tol, early = options.tol, False
        most = self.default_max_iter if options.max_iter is None else options.max_iter
        for iteration in self.iterate(block):
            iterations += 1
            convergence.update(iteration.report, iteration.horizon.bound)
            if convergence.done:
                self._narrow(block, iteration, convergence)
            if options.progress is not None:
                options.progress(iterations, convergence.error)
            early = self.stop_early(iteration, convergence)
            coarse = block.dtype == np.float32 and tol is not None and SINGLE_EPS * iteration.horizon.so_far > tol
            if early or coarse or convergence.done or convergence.exhausted or iterations >= most:
                break
        self._narrow(block, iteration, convergence)
        convergence.settle()
        done = convergence.done and not (block.dtype == np.float32 and convergence.rounded)
        return iterations, early or done or iterations >= most or tol is None

    def _narrow(self, block: Block, iteration: Iteration, convergence: Convergence) -> None:
        """Measure the spread of the rows that are read, if only some are."""
        if self.system.output is None or not convergence.in_doubt:
            return
        closed, every = bool(block.closing.any()), iteration.report.spread(convergence.n_reached)
        watched = every[block.watch(closed)]
        convergence.narrow(self.system.output_spread(block.at, watched, block.dtype, closed=closed))

    def _convergence(self, block: Block, tol: float | None, closed: bool) -> Convergence:
        interior, wide, eps = block.interior, self.system.wide, float(np.finfo(block.dtype).eps)
        n_reached, n_interior = interior.counted(self.system.reached), interior.counted(self.system.interior)
        rounding = eps * interior.largest(np.abs(block.values).max(axis=0, initial=0))  # from adding the offset
        if closed:
            rounding = np.append(rounding, rounding.sum() + eps)
        watched = block.watch(closed)
        return Convergence(tol or 0.0, watched, n_reached, eps, rounding, wide=wide, n_interior=n_interior)

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
