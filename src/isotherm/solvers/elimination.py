"""Conjugate gradient with approximate elimination as preconditioner, for graphs on which the diagonal is not enough.

Grids, roads, k-nearest-neighbour graphs and long chains need hundreds or thousands of iterations of plain cg, since
heat moves one edge an iteration. Here all nodes are eliminated once, by degree, with a sample of the new edges instead
of all (Kyng and Sachdeva 2016; Gao, Kyng and Spielman 2023). The result is a triangular factor about as sparse as the
graph, whose solve M^-1 r carries heat over any distance; it is also about the error of the present temperatures.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.graph import Csr
from isotherm.kernels import Report
from isotherm.solvers.base import Floats, Progress, Solution, System
from isotherm.solvers.cg import ConjugateGradient, ratio
from isotherm.solvers.iterative import Block, Iteration

__all__ = ["Elimination"]

SEED = 20200827  # of the sampling, so that results can be repeated


class Elimination(ConjugateGradient):
    """Works on a renumbered system: the interior in order of elimination, then the boundary."""

    name = "elimination"
    default_max_iter = 1000

    def __init__(self, system: System, n_threads: int | None = None) -> None:
        self.whole = system
        interior = system.interior.view(np.uint8)
        order, indptr, targets, shares, pivots = kernels.active.eliminate(*system.heat, interior, SEED)
        self.factor = indptr, targets, shares
        self.pivots = pivots
        self.numbering = np.concatenate([order, system.boundary.astype(np.int32)])
        heat = Csr(*kernels.active.renumber(*system.heat, self.numbering))
        boundary = np.arange(len(order), len(self.numbering))
        reached = np.ones(len(self.numbering), dtype=bool)
        super().__init__(System(heat, boundary, system.degree[self.numbering], reached), n_threads)

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
        start = None if start is None else start[self.numbering]
        solution = super().solve(values, start=start, tol=tol, max_iter=max_iter, closed=closed, progress=progress)
        found = solution.temperatures
        temperatures = np.full((len(self.whole.degree), found.shape[1]), np.nan, dtype=found.dtype)
        temperatures[self.numbering] = found
        return replace(solution, temperatures=temperatures)

    def iterate(self, block: Block) -> Iterator[Iteration]:
        """Iterate until rounding allows no further step."""
        pivots, as_it_is = self.pivots.astype(block.dtype), np.ones(len(block.x), block.dtype)
        r, p, q, z = (block.zeros() for _ in range(4))
        report = self.begin(block, p, q, r)
        solved = self._precondition(block, pivots, r, z)
        energy = np.zeros(block.width)
        while True:
            turn = ratio(solved.dot[:-1], energy)
            energy = self.energy(block, report, solved.dot[:-1])
            kernels.active.cg_turn(as_it_is, turn.astype(block.dtype), z, p, block.threads)
            report = self.advance(block, energy, p, q, r)
            solved = self._precondition(block, pivots, r, z)
            yield Iteration(report, self.horizon(block, report), solved.size)
            if not energy.any():
                return

    def _precondition(self, block: Block, pivots: Floats, r: Floats, z: Floats) -> Report:
        inside = slice(len(pivots))
        return Report(
            *kernels.active.precondition(*self.factor, pivots, block.closing, r[inside], z[inside], block.threads)
        )
