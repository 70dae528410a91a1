"""The paper's iteration, ``X <- QX + RY`` (eq. 4): each node takes the mean temperature of its neighbours."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.kernels import Report
from isotherm.solvers.cg import ConjugateGradient
from isotherm.solvers.iterative import Block, Horizon, Iteration, Iterative

__all__ = ["Sweeps"]


class Sweeps(Iterative):
    """Sweeps from a given start, ``max_iter`` of them or until the tolerance is met.

    The clock starts at 1 in the interior and 0 on the boundary, so that after k sweeps it holds ``Q^k 1``, the chance
    that a random walk is still on its way. Those chances sum to the expected time to absorption.
    """

    name = "sweeps"
    default_max_iter = 10_000

    def offset(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean temperature of the seeds."""
        return values.mean(axis=0)

    def iterate(self, block: Block) -> Iterator[Iteration]:
        """Sweep without end, from one array to the other and back."""
        block.x[self.system.interior, block.clock] = 1
        walked = 1.0
        while True:
            report = Report(
                *kernels.active.sweep(*block.graph, block.scale, block.closing, block.x, block.spare, block.threads)
            )
            block.x, block.spare = block.spare, block.x
            surviving = float(report.size[block.clock])
            yield Iteration(report, Horizon(walked, surviving))
            walked += surviving

    def horizon(self) -> NDArray[np.float64]:
        """About the expected time to absorption, which is not found by sweeps."""
        return ConjugateGradient(self.system, self.threads).horizon()
