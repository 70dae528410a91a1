"""What sweeps and cg share: the block of columns, the precision, the loop until the error is small enough.

In a block the temperatures are deviations from a constant of each column, which are small, so that float32 does not
spoil them. One more column, the clock, goes along to measure how far heat travels: it gives the horizon, an upper
bound on the longest expected time to absorption.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from isotherm import kernels
from isotherm.kernels import Report
from isotherm.solvers.base import Floats, Progress, Solution, System
from isotherm.solvers.convergence import Convergence

__all__ = ["Block", "Horizon", "Iteration", "Iterative", "deviations"]

SINGLE_TOL = 1e-4  # below this, float64
SINGLE_EPS = float(np.finfo(np.float32).eps) / 2


def deviations(values: NDArray[np.float64], offset: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the values are from the offset; what may be rounding is nothing."""
    rounding = 4 * np.finfo(np.float64).eps * np.abs(values).max(axis=0, initial=0)
    return np.where(np.abs(values - offset) > rounding, values - offset, 0)


class Horizon(NamedTuple):
    """How long heat travels: the longest expected time to absorption as known so far, and the share still missing."""

    so_far: float
    missing: float

    @property
    def bound(self) -> float:
        """An upper bound, once at most half is missing."""
        return self.so_far / (1 - self.missing) if self.missing <= 0.5 else np.inf


class Iteration(NamedTuple):
    """What one iteration tells: its measurements, and the horizon."""

    report: Report
    horizon: Horizon


class Block:
    """Up to 15 columns of temperatures, as deviations from ``offset``, and the clock, as the kernels take them.

    Attributes
    ----------
    x : ndarray of shape (n, width) or less
        The first rows of the block: those of the nodes that are iterated on.
    spare : ndarray of shape (n, width)
        Room for as many rows as there are nodes.
    """

    def __init__(
        self,
        system: System,
        values: NDArray[np.float64],
        offset: NDArray[np.float64],
        dtype: DTypeLike,
        threads: int,
        rows: slice = slice(None),
    ) -> None:
        n, self.columns = len(system.degree), values.shape[1]
        self.system = system
        self.values = values
        self.clock = self.columns
        self.width = kernels.width(self.columns + 1)
        self.offset = np.zeros(self.width)
        self.offset[: self.columns] = offset
        self.dtype = np.dtype(dtype)
        self.threads = threads
        interior = system.interior
        self.degree = np.where(interior, system.degree, 0).astype(dtype)
        self.scale = np.divide(1, system.degree, out=np.zeros(n), where=interior).astype(dtype)
        self.closing = np.zeros(self.width, dtype)
        self.x, self.spare = self.zeros(rows), self.zeros()
        self.hold(self.x)
        indptr, indices, weights = system.heat
        self.graph = indptr, indices, None if weights is None else weights.astype(dtype, copy=False)

    def zeros(self, rows: slice = slice(None)) -> Floats:
        """A new array of the shape of the block, or of some of its rows."""
        return kernels.block(len(self.scale[rows]), self.width, self.dtype)

    @property
    def deviations(self) -> Floats:
        """The columns of temperatures, without the clock."""
        return self.x[:, : self.columns]

    def hold(self, x: Floats) -> None:
        """Set the temperatures of the boundary in the first rows of a block, or in all."""
        inside = self.system.boundary < len(x)
        boundary = self.system.boundary[inside]
        x[boundary] = -self.offset
        x[boundary, : self.columns] = deviations(self.values[inside], self.offset[: self.columns])

    def watch(self, closed: bool) -> NDArray[np.intp]:
        """Which columns of a report are temperatures: those of the block, and the closing one if they are closed."""
        self.closing[: self.columns] = closed
        return np.append(np.arange(self.columns), [self.width] if closed else []).astype(np.intp)

    def begin(self, start: NDArray[np.floating]) -> None:
        """Set the temperatures of the interior; NaN is unknown."""
        rows = slice(len(self.x))
        np.subtract(start[rows], self.offset[: self.columns], out=self.deviations, casting="same_kind")
        self.deviations[np.isnan(self.deviations)] = 0
        self.x[~self.system.interior[rows]] = 0
        self.hold(self.x)

    def temperatures(self, x: Floats) -> Floats:
        """All rows of a block as temperatures, NaN where unreached."""
        temperatures = x[:, : self.columns] + self.offset[: self.columns].astype(self.dtype)
        temperatures[~self.system.reached] = np.nan
        return temperatures


class Iterative(ABC):
    """A solver that improves a block of columns step by step."""

    name: ClassVar[str]
    default_max_iter: ClassVar[int]

    def __init__(self, system: System, n_threads: int | None = None) -> None:
        self.system = system
        self.threads = kernels.thread_count(n_threads)

    @abstractmethod
    def offset(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The constant that each column is measured from and begins at, shape (k,)."""

    @abstractmethod
    def iterate(self, block: Block) -> Iterator[Iteration]:
        """Improve ``block.x`` as far as it goes."""

    @property
    def rows(self) -> slice:
        """The nodes that are iterated on, over which reports are taken."""
        return slice(None)

    def whole(self, block: Block) -> Floats:
        """The block with the nodes that were not iterated on."""
        return block.x

    def stop_early(self, iteration: Iteration, convergence: Convergence) -> bool:
        """Whether to end before the tolerance is met."""
        return False

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
        max_iter = self.default_max_iter if max_iter is None else max_iter
        temperatures, iterations, followed = self._solve_block(values, start, tol, max_iter, closed, progress)
        temperatures[self.system.boundary] = values
        return Solution(
            temperatures=temperatures,
            solver=self.name,
            iterations=iterations,
            residual=followed.residual,
            error=followed.error,
            error_bound=followed.error_bound,
            converged=followed.done,
            seconds=time.perf_counter() - began,
        )

    def _solve_block(
        self,
        values: NDArray[np.float64],
        start: NDArray[np.floating] | None,
        tol: float | None,
        max_iter: int,
        closed: bool,
        progress: Progress | None,
    ) -> tuple[Floats, int, Convergence]:
        """Iterate in float32 while its rounding is below the tolerance, then go on in float64."""
        iterations = 0
        for dtype in self._precisions(tol):
            block = Block(self.system, values, self.offset(values), dtype, self.threads, self.rows)
            if start is not None:
                block.begin(start)
            n_reached, eps = int(np.count_nonzero(self.system.reached[self.rows])), float(np.finfo(dtype).eps)
            rounding = eps * np.abs(values).max(axis=0, initial=0)  # when the offset is added
            if closed:
                rounding = np.append(rounding, rounding.sum() + eps)
            convergence = Convergence(tol or 0.0, block.watch(closed), n_reached, eps, rounding)
            early = False
            for iteration in self.iterate(block):
                iterations += 1
                convergence.update(iteration.report, iteration.horizon.bound)
                if progress is not None:
                    progress(iterations, convergence.error)
                early = self.stop_early(iteration, convergence)
                spoilt = dtype is np.float32 and tol is not None and SINGLE_EPS * iteration.horizon.so_far > tol
                if early or spoilt or convergence.done or convergence.exhausted or iterations >= max_iter:
                    break
            block.hold(block.x)
            temperatures = block.temperatures(self.whole(block))
            if early or convergence.done or iterations >= max_iter or tol is None:
                break
            start = temperatures
        return temperatures, iterations, convergence

    def _precisions(self, tol: float | None) -> list[type[np.floating]]:
        if tol is None or (tol >= SINGLE_TOL and self.system.least_horizon * SINGLE_EPS <= tol):
            return [np.float32, np.float64]
        return [np.float64]
