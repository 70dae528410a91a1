"""Conjugate gradient on the interior system, with the diagonal as preconditioner, for all columns at once.

On most graphs only one mode is slow: the interior as a whole warms up or cools down through the few edges to the
boundary, while differences between nodes even out in a few steps. So each step also shifts the interior by a constant,
chosen so that as much heat leaves it as enters (cg, deflated by the constant vector). Instead of shifting the interior
up, the code shifts the boundary down, which has fewer nodes. If the graph has several large components, each warms up
by itself, and is shifted by a constant of its own; then it is the interior that is shifted.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from isotherm.arrays import Doubles, Floats, Mask
from isotherm.equilibrium.solvers.base import Source, System
from isotherm.equilibrium.solvers.interior import Block
from isotherm.equilibrium.solvers.iterative import Horizon, Iteration, Iterative
from isotherm.kernels import Report

__all__ = ["ConjugateGradient", "Descent", "Pace", "balance", "ratio"]

MOST_MISSING = 0.01  # residual of the clock, for it to be kept
REBALANCE_EVERY = 8  # steps, so that rounding errors in the heat balance cannot grow


class Pace(NamedTuple):
    """How far a descent is: steps so far, the constant and the energy of each column, and the columns that move."""

    steps: int
    offset: Doubles
    energy: Doubles
    moving: Mask


class Descent:
    """The state of conjugate gradient on a block: one pass over the graph per step, and a step length per column.

    The clock column is the expected time to absorption: the boundary has temperature 0, and the heat that enters at
    each node is its degree.

    Parameters
    ----------
    block : Block
        The columns.
    settled : float
        A column is frozen once its residual has fallen to this fraction of the first residual. Further steps would
        only amplify rounding errors.

    Attributes
    ----------
    r : ndarray of shape (rows, width)
        The residual: heat that is not balanced yet.
    report : Report
        Measurements of the last step.
    """

    def __init__(self, block: Block, settled: float = 0.0) -> None:
        interior = block.interior
        self.block, self.interior, self._settled = block, interior, settled
        self.p, self.q, self.r = block.spare, block.zeros("q", interior.rows), block.zeros("r", interior.rows)
        self._floor = 0.1 * float(np.finfo(block.dtype).eps)
        self.report: Report

    def begin(self, times: Floats | None = None) -> None:
        """Balance the heat and start the clock, if any, from times (rows,) that are nearly right if such are known.

        Memory is slow when it is touched for the first time. So p and r, which are 0, are left to the kernels, which
        have several threads.
        """
        block, interior, source = self.block, self.interior, self.block.source
        degree, clock = interior.degree[interior.rows], block.clock
        if times is not None:
            block.x[:, clock] = times
        cold = not (block.values.any() or block.offset.any() or block.x.any())  # so that (D - A) x = 0
        if interior.added(np.array([float(not cold)]))[0]:
            block.hold(block.x)
            whole = block.whole
            interior.laplacian(whole, self.q)
            if whole is self.p:
                self.p.fill(0)
        if source is not None:
            early = source.nodes < len(self.q)
            self.q[source.nodes[early], : block.columns] -= source.heat[early]
        if times is not None:
            self.q[:, clock] -= degree
        self._balance(self.q, -1)
        if block.timed and times is None:
            mean_time = self._mean_time()
            self.q[:, clock] = mean_time * interior.outflow.each - degree
            block.x[:, clock] = np.where(degree > 0, mean_time, 0)
        self._steps, self._energy = 0, np.zeros(block.width)
        self._advance(np.ones(block.width))  # r -= q
        self._least = self._settled**2 * self.report.dot[:-1]
        self._moving = np.ones(block.width, bool)

    def step(self) -> None:
        """One iteration; columns that have converged up to rounding do not move."""
        block, interior = self.block, self.interior
        self._steps += 1
        if self._steps % REBALANCE_EVERY == 0:
            self._balance(self.r, 1)
        report, energy = self.report, self.report.dot[:-1]
        turn = ratio(energy, self._energy).astype(block.dtype)
        self._moving &= energy >= self._least
        moves = self._moving & (report.residual > self._floor * report.size)[:-1]
        self._energy = np.where(moves, energy, 0)
        leaving = interior.turn(turn, self.r, self.p)
        warmth = leaving / interior.outflow.total if interior.groups is None else np.zeros(block.width)
        if interior.groups is not None:
            interior.groups.deflate(self.p[interior.rows])
        self.p[interior.system.boundary] = warmth
        interior.complete(self.p)
        length = ratio(self._energy, interior.laplacian(self.p, self.q))
        self._advance(length)
        block.offset -= length * warmth

    def _balance(self, heat: Floats, sign: int) -> None:
        """Shift the temperatures so that the heat, plus or minus what leaves, sums to 0."""
        block, groups = self.block, self.interior.groups
        if groups is not None:
            groups.balance(heat, block.x, -sign)
            return
        block.offset += sign * self.interior.outflow.balance(heat)
        block.hold(block.x)

    def _mean_time(self) -> Any:
        """The time to absorption, if it were the same at all nodes or at all nodes of a group."""
        interior = self.interior
        if interior.groups is not None:
            return interior.groups.mean_time
        degree = interior.degree[interior.rows]
        return interior.added(degree.sum(dtype=np.float64, keepdims=True))[0] / interior.outflow.total

    @property
    def pace(self) -> Pace:
        """What `resume` needs besides temperatures and directions."""
        return Pace(self._steps, self.block.offset.copy(), self._energy, self._moving.copy())

    def resume(self, pace: Pace, directions: Floats) -> None:
        """Go on where another descent was, given its temperatures in ``block.x`` and its directions ``p``."""
        block, interior, source = self.block, self.interior, self.block.source
        block.offset[:] = pace.offset
        block.hold(block.x)
        interior.laplacian(block.whole, self.q)
        self.r[:] = -self.q
        if block.timed:
            self.r[:, block.clock] += interior.degree[interior.rows]
        if source is not None:
            early = source.nodes < len(self.r)
            self.r[source.nodes[early], : block.columns] += source.heat[early]
        self.p.fill(0)
        self._advance(np.zeros(block.width))  # measures
        self.p[interior.rows] = directions
        self._steps, self._energy, self._moving = pace.steps, pace.energy, pace.moving
        self._least = np.zeros(block.width)

    @property
    def exhausted(self) -> bool:
        """Whether no column can improve any more, because of rounding."""
        return not self._energy.any()

    @property
    def horizon(self) -> Horizon:
        """The longest expected time to absorption, by the current state of the clock."""
        clock = self.block.clock
        longest = self.report.size[clock] + abs(self.block.offset[clock])
        return Horizon(float(longest), float(self.report.residual[clock]))

    def clear(self) -> None:
        """Reset all arrays, so that the memory can be reused."""
        for array in (self.block.x, self.p, self.q, self.r):
            array.fill(0)
        self.block.offset.fill(0)

    def _advance(self, length: Doubles) -> None:
        block = self.block
        arrays = self.p, self.q, block.x, self.r
        self.report = self.interior.advance(block.closing, length.astype(block.dtype), *arrays)


class ConjugateGradient(Iterative):
    """Conjugate gradient with the diagonal as preconditioner.

    Once the residual of the clock is below 1, the clock gives an upper bound on the time to absorption. On the
    bipartite graph of a directed graph, half of the nodes are eliminated, which halves the number of iterations. The
    residual is 0 at eliminated nodes, so the clock counts only the time spent at the others.

    Parameters
    ----------
    times : ndarray of shape (n,), optional
        Times to absorption that are nearly right, for the clock to start from.
    """

    name = "cg"
    default_max_iter = 20_000

    def __init__(self, system: System, n_threads: int | None = None, *, times: Floats | None = None) -> None:
        super().__init__(system, n_threads)
        self._known_times = times

    @property
    def halved(self) -> bool:
        """Whether to iterate on half of a bipartite graph."""
        return self.system.half is not None

    def offset(self, values: Doubles, source: Source | None) -> Doubles:
        """The temperature at which as much heat enters the interior as leaves it."""
        return balance(self.system, values, source)

    def iterate(self, block: Block) -> Iterator[Iteration]:
        """Iterate until rounding prevents further progress."""
        descent = Descent(block)
        descent.begin(self._known_times)
        while True:
            descent.step()
            horizon = descent.horizon
            self._missing = horizon.missing
            yield Iteration(descent.report, horizon)
            if descent.exhausted:
                return

    def times(self, block: Block) -> Floats | None:
        """The clock, if its residual is small."""
        if block.interior.halved or self._missing > MOST_MISSING:
            return None
        times = block.x[:, block.clock] + block.offset[block.clock]
        return np.where(self.system.interior, times, 0).astype(block.dtype)


def balance(system: System, values: Doubles, source: Source | None = None) -> Doubles:
    """The temperature of each column at which as much heat enters the interior as leaves it, shape (k,)."""
    total = system.flux.sum()
    if not total > 0:
        return values.mean(axis=0)
    entering = system.flux @ values
    return (entering if source is None else entering + source.heat.sum(axis=0, dtype=np.float64)) / total


def ratio(a: Doubles, b: Doubles) -> Doubles:
    """``a / b``, 0 where b is not positive."""
    return np.divide(a, b, out=np.zeros(a.shape), where=b > 0)
