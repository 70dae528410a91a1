"""Conjugate gradient on the interior system, the diagonal as preconditioner, all columns at once."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.kernels import Report
from isotherm.solvers.base import Floats, System
from isotherm.solvers.iterative import Block, Horizon, Iteration, Iterative

__all__ = ["CLOSE", "ConjugateGradient", "balance", "ratio"]

CLOSE = 0.05  # residual of the horizon that is small enough
PATIENCE = 500  # iterations in which it must halve


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
        rows, p = self.rows, block.zeros()
        r, q = block.zeros(rows), block.zeros(rows)
        indptr, indices, weights = block.graph
        head = indptr[: len(r) + 1], indices, weights, block.degree[rows]
        r[:, block.clock] = block.degree[rows]
        self.complete(block, block.x)
        kernels.active.laplacian(*head, block.x, q, block.threads)
        report = self._step(block, np.ones(block.width), p, q, r)
        energy = np.zeros(block.width)
        floor = 0.1 * np.finfo(block.dtype).eps
        while True:
            turn = ratio(report.dot[:-1], energy)
            energy = np.where(report.residual > floor * report.size, report.dot, 0)[:-1]
            kernels.active.cg_turn(block.scale[rows], turn.astype(block.dtype), r, p[rows], block.threads)
            self.complete(block, p)
            curvature = kernels.active.laplacian(*head, p, q, block.threads)[0, :-1]
            report = self._step(block, ratio(energy, curvature), p, q, r)
            yield Iteration(report, Horizon(float(report.size[block.clock]), float(report.residual[block.clock])))
            if not energy.any():
                return

    def complete(self, block: Block, x: Floats) -> None:
        """Give the destinations the means of their neighbours."""
        if self.system.sources is not None:
            indptr, indices, weights = block.graph
            rest = slice(self.system.sources, None)
            kernels.active.average(indptr[rest], indices, weights, block.scale[rest], x, x[rest], block.threads)

    def horizon(self) -> NDArray[np.float64]:
        """About the expected time to absorption; see :class:`isotherm.solvers.base.Solver`."""
        nothing = np.zeros((len(self.system.boundary), 1))
        block = Block(self.system, nothing, np.zeros(1), np.float64, self.threads)
        least, since = np.inf, 0
        for _, horizon in self.iterate(block):
            least, since = (horizon.missing, 0) if horizon.missing < least / 2 else (least, since + 1)
            if horizon.missing <= CLOSE or since > PATIENCE:
                break
        times = block.x[:, block.clock]
        if self.system.sources is not None:  # what is enough where the time at destinations counts too
            times *= 2
            self.complete(block, block.x)
            times[self.system.sources :] += self.system.interior[self.system.sources :]
        return np.array(times)

    def _step(self, block: Block, length: NDArray[np.float64], p: Floats, q: Floats, r: Floats) -> Report:
        rows = self.rows
        arrays = block.scale[rows], block.closing, length.astype(block.dtype), p[rows], q, block.x[rows], r
        return Report(*kernels.active.cg_step(*arrays, block.threads))


def balance(system: System, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The temperature of each column at which as much heat enters the interior as leaves it, shape (k,)."""
    flux = system.flux
    return flux @ values / flux.sum() if flux.sum() > 0 else values.mean(axis=0)


def ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """``a / b``, 0 where b is not positive."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
