"""Ever smaller versions of a graph: pairs of neighbours are merged until a few hundred groups are left."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.arrays import Floats

__all__ = ["Level", "levels"]

COARSEST = 600  # nodes of the smallest version
LEAST_GAIN = 0.93  # stop if merging leaves more than this share of the nodes


class Level(NamedTuple):
    """A version of the graph, whose nodes are groups of nodes of the original graph.

    ``mass`` has the number of original nodes in each group, ``group`` the group of each in the next smaller version.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: Floats | None  # None: all one
    mass: NDArray[np.float32]
    group: NDArray[np.int32] | None  # None in the smallest version

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self.mass)

    @property
    def row(self) -> NDArray[np.int32]:
        """The row of each entry."""
        return np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.indptr))


def levels(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: Floats | None, rng: np.random.Generator
) -> list[Level]:
    """All versions of a graph, from the graph itself to the smallest."""
    found = [Level(indptr, indices, weights, np.ones(len(indptr) - 1, np.float32), None)]
    while (last := found[-1]).n > COARSEST:
        group = np.empty(last.n, np.int32)
        groups = kernels.active.pair_up(*last[:3], _order(last, rng), group)
        if groups > LEAST_GAIN * last.n:
            break
        mass = np.bincount(group, last.mass, minlength=groups).astype(np.float32)
        found[-1] = last._replace(group=group)
        indptr, indices, weights = kernels.active.contract(*last[:3], group, groups)
        found.append(Level(indptr, indices, weights, mass, None))
    return found


def _order(level: Level, rng: np.random.Generator) -> NDArray[np.int32]:
    """The order in which nodes choose a partner: those with few neighbours first, at random among equals."""
    shuffled = rng.permutation(level.n).astype(np.int32)
    return shuffled[np.argsort(np.diff(level.indptr)[shuffled], kind="stable")]
