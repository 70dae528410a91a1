"""Conjugate gradient on the interior system, the diagonal as preconditioner, all columns at once.

On most graphs one mode is slow: the whole interior warms up or cools down, through the little that the boundary lets
in or out, while differences between nodes even out in a few steps. So each step also shifts the interior by a constant
such that as much heat leaves it as enters (cg, deflated by the constant). Instead of the interior the boundary is
shifted, the other way: it is smaller.
"""

from collections.abc import Iterator
from itertools import count

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.kernels import Report
from isotherm.solvers.base import Floats, System
from isotherm.solvers.iterative import Block, Horizon, Iteration, Iterative

__all__ = ["CLOSE", "REBALANCED", "ConjugateGradient", "Outflow", "balance", "ratio"]

CLOSE = 0.05  # residual of the horizon that is small enough
PATIENCE = 500  # iterations in which it must halve
REBALANCED = 8  # steps after which rounding is removed from the balance, which would grow


class Outflow:
    """What leaves the interior where all of it is one degree above the boundary.

    Parameters
    ----------
    each : ndarray of shape (n,)
        That of each node.
    """

    def __init__(self, each: Floats, threads: int) -> None:
        self.each = np.ascontiguousarray(each)
        self.total = float(each.sum(dtype=np.float64)) or 1.0
        self._threads = threads

    def balance(self, heat: Floats) -> NDArray[np.float64]:
        """Take the constant from some heat, shape (n, k), that leaves a sum of 0; how warm that was, shape (k,)."""
        nothing = np.zeros(heat.shape[1], heat.dtype)
        warmth = Report(*kernels.active.moments(nothing, heat, self._threads)).sum[:-1] / self.total
        kernels.active.cool(self.each, warmth.astype(heat.dtype), heat, self._threads)
        return warmth


class ConjugateGradient(Iterative):
    """Each column has its own step lengths; one pass over the graph serves them all.

    The clock is the expected time to absorption itself: boundary 0 and a source of one degree at each interior node.
    As soon as its residual is below 1, it yields an upper bound on the true one.

    On the bipartite graph of a directed one, the destinations are eliminated: each has the mean temperature of its
    neighbours, which are sources. Half the unknowns take half the iterations. There is no residual at a destination,
    so the clock counts the time at sources only.
    """

    name = "cg"
    default_max_iter = 20_000

    def offset(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The temperature at which as much heat enters the interior as leaves it."""
        return balance(self.system, values)

    @property
    def rows(self) -> slice:
        """The nodes that are iterated on."""
        return slice(self.system.sources)

    def iterate(self, block: Block) -> Iterator[Iteration]:
        """Iterate until rounding allows no further step; a column that is there before others is left alone."""
        rows, boundary, clock = self.rows, self.system.boundary, block.clock
        q, r, p = block.zeros(rows), block.zeros(rows), block.spare
        outflow = self._begin(block, q, r)
        p.fill(0)
        report = self._step(block, np.ones(block.width), p, q, r)
        energy = np.zeros(block.width)
        floor = 0.1 * np.finfo(block.dtype).eps
        for step in count(1):
            if step % REBALANCED == 0:
                block.offset += outflow.balance(r)
                block.hold(block.x)
            turn = ratio(report.dot[:-1], energy).astype(block.dtype)
            energy = np.where(report.residual > floor * report.size, report.dot, 0)[:-1]
            leaving = kernels.active.cg_turn(block.scale[rows], outflow.each, turn, r, p[rows], block.threads)
            p[boundary] = warmth = leaving[0, :-1] / outflow.total
            self._complete(block, p)
            length = ratio(energy, self._laplacian(block, p, q))
            report = self._step(block, length, p, q, r)
            block.offset -= length * warmth
            longest = report.size[clock] + abs(block.offset[clock])
            yield Iteration(report, Horizon(float(longest), float(report.residual[clock])))
            if not energy.any():
                return

    def _begin(self, block: Block, q: Floats, r: Floats) -> Outflow:
        """Balance the heat and start the clock; the first residual is ``r - q``."""
        clock, degree = block.clock, block.degree[self.rows]
        block.offset[clock] = -1  # before it starts, the clock tells what comes from the boundary at 1
        block.hold(block.x)
        self._laplacian(block, self.whole(block), q)
        outflow = Outflow(-q[:, clock], block.threads)
        q[:, clock] = block.offset[clock] = 0
        block.offset -= outflow.balance(q)
        block.hold(block.x)
        mean_time = degree.sum(dtype=np.float64) / outflow.total
        r[:, clock] = degree - mean_time * outflow.each
        block.x[:, clock] = np.where(degree > 0, mean_time, 0)
        return outflow

    def _laplacian(self, block: Block, x: Floats, out: Floats) -> NDArray[np.float64]:
        """``out = (D - A) x`` at the nodes that are iterated on; the product of both, shape (k,)."""
        indptr, indices, weights = block.graph
        rows = indptr[: len(out) + 1], indices, weights, block.degree[self.rows]
        return kernels.active.laplacian(*rows, x, out, block.threads)[0, :-1]

    def whole(self, block: Block) -> Floats:
        """The block with the destinations, if these were eliminated."""
        if self.system.sources is None:
            return block.x
        block.spare[self.rows] = block.x
        block.hold(block.spare)
        self._complete(block, block.spare)
        return block.spare

    def _complete(self, block: Block, x: Floats) -> None:
        """Give the destinations the means of their neighbours."""
        if self.system.sources is not None:
            indptr, indices, weights = block.graph
            rest = slice(self.system.sources, None)
            kernels.active.average(indptr[rest], indices, weights, block.scale[rest], x, x[rest], block.threads)

    def horizon(self) -> NDArray[np.float64]:
        """About the expected time to absorption; see :class:`isotherm.solvers.base.Solver`."""
        nothing = np.zeros((len(self.system.boundary), 1))
        block = Block(self.system, nothing, np.zeros(1), np.float64, self.threads, self.rows)
        least, since = np.inf, 0
        for _, horizon in self.iterate(block):
            least, since = (horizon.missing, 0) if horizon.missing < least / 2 else (least, since + 1)
            if horizon.missing <= CLOSE or since > PATIENCE:
                break
        times = self.whole(block)[:, block.clock] + block.offset[block.clock]
        times[~self.system.interior] = 0
        if self.system.sources is not None:  # what is enough where the time at destinations counts too
            times *= 2
            times[self.system.sources :] += self.system.interior[self.system.sources :]
        return times

    def _step(self, block: Block, length: NDArray[np.float64], p: Floats, q: Floats, r: Floats) -> Report:
        rows = self.rows
        arrays = block.scale[rows], block.closing, length.astype(block.dtype), p[rows], q, block.x, r
        return Report(*kernels.active.cg_step(*arrays, block.threads))


def balance(system: System, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The temperature of each column at which as much heat enters the interior as leaves it, shape (k,)."""
    flux = system.flux
    return flux @ values / flux.sum() if flux.sum() > 0 else values.mean(axis=0)


def ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """``a / b``, 0 where b is not positive."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
