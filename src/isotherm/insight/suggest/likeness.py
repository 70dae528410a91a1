"""Likeness of nodes: two nodes are alike if heat that starts at them spreads in a similar way.

After t steps, a random walk from u is distributed as row u of ``P^t``. As in diffusion maps (Coifman and Lafon 2006),
with the stationary distribution ``pi`` subtracted, let

    F = (P^3 + P^4) (I - 1 pi) D^-1/2        likeness(u, v) = cosine of the rows u and v of F

Because ``pi`` is subtracted, a hub that is near everything is not like any node in particular. Both an odd and an even
number of steps are needed: otherwise the centre of a star would not be like its leaves. The rows of F are too long to
store, so they are projected on random signs (Johnson and Lindenstrauss 1984), the same in each call. On a small graph
the rows are stored, and likeness is exact.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from isotherm import engines, kernels
from isotherm.arrays import Doubles, Ints
from isotherm.equilibrium.lifting import Lifting
from isotherm.equilibrium.options import SolveOptions
from isotherm.graphs import Csr

__all__ = ["Cover", "in_type", "profiles"]

STEPS = 4  # of the walk
WIDTH = 16  # columns in a block
MOST_COLUMNS = 128  # of random signs
MOST_WORK = 500_000_000  # matrix entries times columns times steps; one block is always allowed
SMALL = 256  # up to this many nodes, likeness is exact
SAMPLE = 1000, 5000  # least and largest number of nodes in the sample of `Cover`
CHUNK_ENTRIES = 100_000  # likenesses computed at once, so that they fit in the cache


def profiles(lifting: Lifting, options: SolveOptions) -> NDArray[np.float32]:
    """Unit vectors (0 for a node without edges) whose dot products are likenesses, shape (n, columns).

    The vectors of the copies of a node are concatenated.
    """
    heat = in_type(lifting.heat, np.float32)
    spread = (_spread(heat, lifting.heat.sums, start, options) for start in _starts(heat))
    rows = np.concatenate([lifting.copies(each) for each in spread], axis=2)  # (copies, n, some)
    joined = np.moveaxis(rows, 0, 1).reshape(lifting.n, -1)
    length = np.linalg.norm(joined, axis=1, keepdims=True)
    return np.divide(joined, length, out=np.zeros_like(joined), where=length > 0)


def in_type(heat: Csr, dtype: type[np.floating]) -> Csr:
    """The matrix with weights of another floating-point type."""
    return heat if heat.weights is None else heat._replace(weights=heat.weights.astype(dtype, copy=False))


class Cover:
    """How many nodes the seeds cover, estimated from a sample of the nodes.

    A node is covered to the degree that it is like the most similar seed.

    Parameters
    ----------
    rows : ndarray
        The profiles of all nodes.
    seeds : ndarray of int
        The present seeds.
    more : int
        The number of seeds that will be added.
    """

    def __init__(self, rows: NDArray[np.float32], seeds: Ints, more: int) -> None:
        size = min(len(rows), int(np.clip(2 * (len(seeds) + more), *SAMPLE)))
        self.rows, self.share = rows, len(rows) / size
        self.sample = rows[np.random.default_rng(0).permutation(len(rows))[:size]]
        self.covered = np.zeros(size, np.float32)
        self.add(seeds)

    def gains(self, nodes: Ints) -> Doubles:
        """One plus the number of additional nodes that each node would cover as a seed; the one avoids zero values."""
        gains = [np.maximum(each - self.covered, 0).sum(axis=1, dtype=np.float64) for each in self._likeness(nodes)]
        return 1 + self.share * np.concatenate([np.zeros(0), *gains])

    def add(self, nodes: Ints) -> None:
        """Add nodes to the seeds."""
        for each in self._likeness(nodes):
            np.maximum(self.covered, each.max(axis=0), out=self.covered)

    def _likeness(self, nodes: Ints) -> Iterator[NDArray[np.float32]]:
        """Likeness of the nodes to those of the sample, in chunks of nodes; what is covered is never negative."""
        step = max(CHUNK_ENTRIES // len(self.sample), 1)
        for start in range(0, len(nodes), step):
            yield self.rows[nodes[start : start + step]] @ self.sample.T


def _starts(heat: Csr) -> list[NDArray[np.float32]]:
    """Blocks of columns: the identity matrix for a small graph, else random signs."""
    if heat.n <= SMALL:
        unit = np.eye(heat.n, -(-heat.n // WIDTH) * WIDTH, dtype=np.float32)
        return np.split(unit, unit.shape[1] // WIDTH, axis=1)
    rng = np.random.default_rng(0)
    blocks = np.clip(MOST_WORK // (WIDTH * STEPS * max(len(heat.indices), 1)), 1, MOST_COLUMNS // WIDTH)
    return [2 * rng.integers(2, size=(heat.n, WIDTH)).astype(np.float32) - 1 for _ in range(blocks)]


def _spread(heat: Csr, degree: Doubles, start: NDArray[np.float32], options: SolveOptions) -> NDArray[np.float32]:
    """The product F start: the sum of the last two of four steps."""
    inverse = np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0).astype(np.float32)
    x, swept = (kernels.block(heat.n, WIDTH, np.float32) for _ in range(2))
    np.multiply(start, np.sqrt(inverse)[:, None], out=x)
    _subtract_mean(x, degree.astype(np.float32), kernels.thread_count(options.threads))
    for _ in range(STEPS):
        engines.average(heat, inverse, x, swept, options)
        x, swept = swept, x
    x += swept
    return x


def _subtract_mean(x: NDArray[np.float32], degree: NDArray[np.float32], threads: int) -> None:
    """Subtract the mean of each column, weighted by degree, at the nodes that have edges."""
    group, sums = np.where(degree > 0, 0, -1).astype(np.int32), np.zeros((1, x.shape[1]))
    kernels.active.group_sums(group, degree, x, sums, threads)
    mean = (sums / max(float(degree.sum(dtype=np.float64)), 1e-300)).astype(np.float32)
    kernels.active.group_shift(group, None, -mean, x, threads)
