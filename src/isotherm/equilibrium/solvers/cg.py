"""Conjugate gradient with the diagonal as preconditioner, for all columns at once.

On most graphs only one mode is slow: the interior as a whole warms up or cools down through the few edges to the
boundary, while differences between nodes even out in a few steps. So each step also shifts the interior by a constant,
chosen so that as much heat leaves it as enters (cg, deflated by the constant vector).

The recurrence itself is `Recurrence`, and it is written once. `Descent` applies it to a block of a `System`, as the
solver `ConjugateGradient` and harmonic measures need it. `GroupDescent` applies it to bare arrays, in which each group
of nodes is shifted by a constant of its own, as corrections and suggestions need it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Mask
from isotherm.equilibrium.solvers.interior import Block, Groups
from isotherm.equilibrium.solvers.iterative import Horizon, Iteration, Iterative
from isotherm.equilibrium.solvers.system import Source, System
from isotherm.kernels import Report

MOST_MISSING = 0.01  # largest residual of the absorption column for which it is kept
FLOOR = 0.1  # a column is frozen if its residual is this many rounding errors of its largest deviation,
NOISE = 2.0  # or this many, and growing
TIMES_ROUNDING = 4  # the absorption column is frozen at this many rounding errors of the longest time
REBALANCE_EVERY = 8  # steps, so that rounding errors in the heat balance cannot grow


class Recurrence(ABC):
    """The recurrence of conjugate gradient on ``M x = b``, with a step length for each column."""

    x: Floats  # (rows, width) the present solution
    r: Floats  # its residual b - M x
    p: Floats  # the present direction
    q: Floats  # M p
    report: Report  # measurements of the last step; dot is the energy r . D^-1 r

    def __init__(self, width: int) -> None:
        self._energy = np.zeros(width)  # at the last step, 0 in columns that did not move

    @abstractmethod
    def turn(self, beta: Doubles) -> None:
        """The next direction: ``p = D^-1 r + beta p``, deflated."""

    @abstractmethod
    def product(self) -> Doubles:
        """``q = M p``; returns the dot products of p and q, shape (width,)."""

    @abstractmethod
    def advance(self, length: Doubles) -> None:
        """``x += length p``, ``r -= length q``; sets `report`."""

    def moves(self, energy: Doubles) -> Mask:
        """The columns that can still be improved."""
        return energy > 0

    def step(self) -> None:
        """One iteration; the first one needs a `report`."""
        energy = self.report.dot[:-1]
        beta = ratio(energy, self._energy)
        self._energy = np.where(self.moves(energy), energy, 0)
        self.turn(beta)
        self.advance(ratio(self._energy, self.product()))


class GroupDescent(Recurrence):
    """Conjugate gradient on ``(diagonal - A) x = b``, in place; each group of nodes is deflated by a constant."""

    def __init__(
        self, graph: tuple[Any, ...], diagonal: Floats, groups: Groups, x: Floats, r: Floats, threads: int
    ) -> None:
        super().__init__(x.shape[1])
        self.x, self.r, self._groups, self._threads = x, r, groups, threads
        self._graph, self._diagonal = graph, diagonal  # (n,) positive in the interior and 0 elsewhere
        self._scale = np.divide(1, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
        self._closing = np.zeros(x.shape[1], x.dtype)
        self.least: Doubles | float = 0.0  # a column whose energy is at most this does not move
        self.p, self.q = (kernels.block(len(x), x.shape[1], x.dtype) for _ in range(2))
        self.advance(np.zeros(x.shape[1]))  # measures

    def balance(self) -> None:
        """Shift x by the constants at which as much heat leaves each group as enters it."""
        self._groups.balance(self.r, self.x, -1)
        self.advance(np.zeros(self.x.shape[1]))

    def moves(self, energy: Doubles) -> Mask:
        """Columns whose energy is above `least`."""
        return energy > self.least

    def turn(self, beta: Doubles) -> None:
        """The next direction, deflated in each group."""
        self._groups.turn(self._scale, beta.astype(self.x.dtype), self.r, self.p)

    def product(self) -> Doubles:
        """``q = (diagonal - A) p``."""
        report = kernels.active.laplacian(*self._graph, self._diagonal, self.p, self.q, self._threads)
        return np.asarray(report[0, :-1])

    def advance(self, length: Doubles) -> None:
        """Move along p, and measure."""
        arrays = self._scale, self._closing, length.astype(self.x.dtype), self.p, self.q, self.x, self.r
        self.report = Report(*kernels.active.cg_step(*arrays, self._threads))


class Pace(NamedTuple):
    """How far a descent is: steps so far, the constant and the energy of each column, and the columns that move."""

    steps: int
    offset: Doubles
    energy: Doubles
    moving: Mask


class Descent(Recurrence):
    """Conjugate gradient on a block of a system.

    The absorption column is the expected time to absorption: the boundary has temperature 0, and the heat that enters
    at each node is its degree. Instead of shifting the interior up, the code shifts the boundary down, which has fewer
    nodes. If the graph has several large components, the interior is shifted, by a constant for each of them. A column
    is frozen once its residual has fallen to the fraction ``settled`` of the first one: further steps would only
    amplify rounding errors.
    """

    def __init__(self, block: Block, settled: float = 0.0) -> None:
        super().__init__(block.width)
        interior = block.interior
        self.block, self.interior, self._settled = block, interior, settled
        self.x, self.p = block.x, block.spare
        self.q, self.r = block.zeros("q", interior.rows), block.zeros("r", interior.rows)

    def begin(self, times: Floats | None = None) -> None:
        """Balance the heat, and start the absorption column, if any, from ``times`` (rows,) if they are known."""
        block, interior, source = self.block, self.interior, self.block.source
        degree, column = interior.degree[interior.rows], block.absorption_column
        if times is not None:
            block.x[:, column] = times
        cold = not (block.values.any() or block.offset.any() or block.x.any())  # so that (D - A) x = 0
        if interior.added(np.array([float(not cold)]))[0]:
            block.hold(block.x)
            whole = block.whole
            interior.laplacian(whole, self.q)
            if whole is self.p:
                self.p.fill(0)
        if source is not None:
            early = source.nodes < len(self.q)
            self.q[source.nodes[early], : block.columns] -= source.inflow[early]
        if times is not None:
            self.q[:, column] -= degree
        self._balance(self.q, -1)
        if block.timed and times is None:
            mean_time = self._mean_time()
            self.q[:, column] = mean_time * interior.outflow.each - degree
            block.x[:, column] = np.where(degree > 0, mean_time, 0)
        # first touches of memory are slow, so p and r, which are 0, are left to the threads of the kernels
        self._steps, self._energy, self._warmth = 0, np.zeros(block.width), np.zeros(block.width)
        self.advance(np.ones(block.width))  # r -= q
        self._least = self._settled**2 * self.report.dot[:-1]
        self._moving = np.ones(block.width, bool)

    def step(self) -> None:
        """One iteration; columns that have converged up to rounding do not move."""
        self._steps += 1
        if self._steps % REBALANCE_EVERY == 0:
            self._balance(self.r, 1)
        super().step()

    def moves(self, energy: Doubles) -> Mask:
        """Columns that are not frozen, and whose residual is above rounding."""
        eps, size = float(np.finfo(self.block.dtype).eps), self.report.size[:-1]
        # near the rounding level, a growing residual only follows rounding errors, and would never settle
        astray = (self.report.residual[:-1] <= NOISE * eps * size) & (energy > self._energy) & (self._energy > 0)
        self._moving &= (energy >= self._least) & ~astray
        least, column = FLOOR * eps * size, self.block.absorption_column
        if self.block.timed:  # a step along rounding errors would spoil the horizon, which can be rougher
            least[column] = TIMES_ROUNDING * eps * self.horizon.so_far
        return self._moving & (self.report.residual[:-1] > least)

    def turn(self, beta: Doubles) -> None:
        """The next direction; the shift is at the boundary, or in each group."""
        interior, groups = self.interior, self.interior.groups
        leaving = interior.turn(beta.astype(self.block.dtype), self.r, self.p)
        self._warmth = leaving / interior.outflow.total if groups is None else np.zeros(self.block.width)
        if groups is not None:
            groups.deflate(self.p[interior.rows])
        self.p[interior.system.boundary] = self._warmth
        interior.complete(self.p)

    def product(self) -> Doubles:
        """``q = (D - A) p``."""
        return self.interior.laplacian(self.p, self.q)

    def advance(self, length: Doubles) -> None:
        """Move along p, and measure."""
        block = self.block
        arrays = self.p, self.q, block.x, self.r
        self.report = self.interior.advance(block.closing, length.astype(block.dtype), *arrays)
        block.offset -= length * self._warmth

    def _balance(self, excess: Floats, sign: int) -> None:
        """Shift the temperatures so that the excess, plus or minus the outflow of the shift, sums to 0."""
        block, groups = self.block, self.interior.groups
        if groups is not None:
            groups.balance(excess, block.x, -sign)
            return
        block.offset += sign * self.interior.outflow.balance(excess)
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
        """Continue another descent, given its temperatures in ``block.x`` and its directions ``p``."""
        block, interior, source = self.block, self.interior, self.block.source
        block.offset[:] = pace.offset
        block.hold(block.x)
        interior.laplacian(block.whole, self.q)
        self.r[:] = -self.q
        if block.timed:
            self.r[:, block.absorption_column] += interior.degree[interior.rows]
        if source is not None:
            early = source.nodes < len(self.r)
            self.r[source.nodes[early], : block.columns] += source.inflow[early]
        self.p.fill(0)
        self._warmth = np.zeros(block.width)
        self.advance(np.zeros(block.width))  # measures
        self.p[interior.rows] = directions
        self._steps, self._energy, self._moving = pace.steps, pace.energy, pace.moving
        self._least = np.zeros(block.width)

    @property
    def exhausted(self) -> bool:
        """Whether no column can improve any more, because of rounding."""
        return not self._energy.any()

    @property
    def horizon(self) -> Horizon:
        """The longest expected time to absorption, by the current state of the absorption column."""
        column = self.block.absorption_column
        longest = self.report.size[column] + abs(self.block.offset[column])
        return Horizon(float(longest), float(self.report.residual[column]))

    def clear(self) -> None:
        """Reset all arrays, so that the memory can be reused."""
        for array in (self.block.x, self.p, self.q, self.r):
            array.fill(0)
        self.block.offset.fill(0)


class ConjugateGradient(Iterative):
    """The solver "cg".

    Once the residual of the absorption column is below 1, that column gives an upper bound on the time to absorption.
    On the bipartite graph of a directed graph, half of the nodes are eliminated, which halves the number of
    iterations. The residual is 0 at eliminated nodes, so only the time spent at the others counts. If approximate
    ``times`` (n,) to absorption are given, the absorption column starts from them.
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
        return self.system.balance(values, source)

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
        """The absorption column, if its residual is small."""
        if block.interior.halved or self._missing > MOST_MISSING:
            return None
        times = block.x[:, block.absorption_column] + block.offset[block.absorption_column]
        return np.where(self.system.interior, times, 0).astype(block.dtype)


def ratio(a: Doubles, b: Doubles) -> Doubles:
    """``a / b``, 0 where b is not positive."""
    return np.divide(a, b, out=np.zeros(a.shape), where=b > 0)
