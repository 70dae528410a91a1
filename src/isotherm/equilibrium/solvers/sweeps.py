"""The paper's iteration, ``X <- QX + RY`` (eq. 4): each node takes the mean temperature of its neighbours."""

from collections.abc import Iterator

import numpy as np

from isotherm import kernels
from isotherm.arrays import Doubles
from isotherm.equilibrium.solvers.base import Source
from isotherm.equilibrium.solvers.interior import Block
from isotherm.equilibrium.solvers.iterative import Horizon, Iteration, Iterative
from isotherm.kernels import Report

__all__ = ["Sweeps"]


class Sweeps(Iterative):
    """Sweeps from a given start, until the tolerance is met or ``max_iter`` is reached.

    The clock starts at 1 in the interior and 0 on the boundary. After k sweeps it holds ``Q^k 1``, the probability that
    a random walk has not been absorbed yet. Summed over k, it gives the expected time to absorption.
    """

    name = "sweeps"
    default_max_iter = 10_000

    def offset(self, values: Doubles, source: Source | None) -> Doubles:
        """The mean temperature of the seeds."""
        return values.mean(axis=0)

    def iterate(self, block: Block) -> Iterator[Iteration]:
        """Sweep forever, swapping two arrays."""
        interior, walked = block.interior, 1.0
        block.x[self.system.interior, block.clock] = 1
        while True:
            arrays = interior.scale, block.closing, block.x, block.spare
            report = Report(*kernels.active.sweep(*interior.graph, *arrays, interior.threads))
            if block.source is not None:
                report = _heated(block, block.source, report)
            block.x, block.spare = block.spare, block.x
            surviving = float(report.size[block.clock])
            yield Iteration(report, Horizon(walked, surviving))
            walked += surviving


def _heated(block: Block, source: Source, report: Report) -> Report:
    """Add the heat that enters during a sweep, and correct the measurements."""
    scale, columns = block.interior.scale[source.nodes, None], block.columns
    block.spare[source.nodes, :columns] += (scale * source.heat).astype(block.dtype)
    steps, after = (np.column_stack([each, each @ -block.closing]) for each in (block.spare - block.x, block.spare))
    largest = np.abs(steps).max(axis=0, initial=0)
    size = np.abs(after).max(axis=0, initial=0)
    sums, squares = (np.add.reduce(after**power, axis=0, dtype=np.float64) for power in (1, 2))
    return Report(report.dot, largest, largest, sums, squares, size)
