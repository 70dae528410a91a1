"""Likeness of nodes: two nodes are alike if heat that starts at them spreads in a similar way.

After t steps, a random walk from u is distributed as row u of ``P^t``. As in diffusion maps (Coifman and Lafon 2006),
with the stationary distribution ``pi`` subtracted, let

    F = (P^3 + P^4) (I - 1 pi) D^-1/2        likeness(u, v) = cosine of the rows u and v of F

Because ``pi`` is subtracted, a hub that is near everything is not like any node in particular. Both an odd and an even
number of steps are needed: otherwise the centre of a star would not be like its leaves. The rows of F are too long to
store, so they are projected on random signs (Johnson and Lindenstrauss 1984), the same in each call. On a small graph
the rows are stored, and likeness is exact. Only some rows are wanted, so the last step is taken only there.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.arrays import Doubles, Ints
from isotherm.equilibrium.averages import average_neighbours
from isotherm.equilibrium.lifting import Lifting
from isotherm.equilibrium.options import SolveOptions
from isotherm.graphs import Csr

STEPS = 4  # length of the walk
WIDTH = 16  # columns in a block
MOST_COLUMNS = 128  # columns of random signs
MOST_WORK = 500_000_000  # matrix entries times columns times steps; one block is always allowed
SMALL = 256  # up to this many nodes, likeness is exact
SAMPLE = 1000, 5000  # least and largest number of nodes in the sample of `Cover`
CHUNK_ENTRIES = 400_000  # likenesses computed at once, so that they fit in the cache


def profiles(lifting: Lifting, nodes: Ints, options: SolveOptions) -> NDArray[np.float32]:
    """Unit vectors (0 for a node without edges) whose dot products are likenesses, shape (len(nodes), columns).

    The vectors of the copies of a node are concatenated.
    """
    copies = np.add.outer(nodes, lifting.offsets)  # (rows, copies)
    walk = _Walk(lifting.conductance.of_type(np.float32), lifting.conductance.sums, options)
    blocks = [walk.last_two(first, copies) for first in walk.first_steps()]
    joined = np.concatenate(blocks, axis=2).reshape(len(nodes), -1)
    length = np.linalg.norm(joined, axis=1, keepdims=True)
    return np.divide(joined, length, out=np.zeros_like(joined), where=length > 0)


class Cover:
    """How many nodes the seeds cover: a node is covered as far as it is like the most similar seed.

    The number is estimated from a sample of the nodes; ``more`` seeds will be added from among the candidates.
    """

    def __init__(self, lifting: Lifting, candidates: Ints, seeds: Ints, more: int, options: SolveOptions) -> None:
        size = min(lifting.n, int(np.clip(2 * (len(seeds) + more), *SAMPLE)))
        sample = np.random.default_rng(0).choice(lifting.n, size, replace=False)
        self.nodes, place = np.unique(np.concatenate([sample, candidates, seeds]), return_inverse=True)
        self.rows, self.share = profiles(lifting, self.nodes, options), lifting.n / size
        self.sample = self.rows[place[:size]]
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
        """Likeness of the nodes to the sampled nodes, in chunks of nodes; negative likeness counts as 0."""
        step = max(CHUNK_ENTRIES // len(self.sample), 1)
        places = np.searchsorted(self.nodes, nodes)
        for start in range(0, len(nodes), step):
            yield self.rows[places[start : start + step]] @ self.sample.T


class _Walk:
    """Steps of a random walk, for blocks of columns."""

    def __init__(self, conductance: Csr, degree: Doubles, options: SolveOptions) -> None:
        self.conductance, self.degree, self.options = conductance, degree.astype(np.float32), options
        self.scale = np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0).astype(np.float32)
        self.threads = kernels.thread_count(options.threads)

    def first_steps(self) -> Iterator[NDArray[np.float32]]:
        """Blocks of ``P (I - 1 pi) D^-1/2 x``, where x is the identity for a small graph, else random signs."""
        n, entries = self.conductance.n, max(self.conductance.entries, 1)
        size = np.sqrt(self.scale)
        if n <= SMALL:
            for first in range(0, n, WIDTH):
                start = self._block()
                np.fill_diagonal(start[first:], size[first : first + WIDTH])
                yield self._centered(self._step(start, self._block()))
            return
        rng = np.random.default_rng(0)
        for _ in range(np.clip(MOST_WORK // (WIDTH * STEPS * entries), 1, MOST_COLUMNS // WIDTH)):
            bits, out = rng.integers(256, size=(n, WIDTH // 8), dtype=np.uint8), self._block()
            kernels.active.sign_average(*self.conductance, self.scale, size, bits, out, self.threads)
            yield self._centered(out)

    def last_two(self, x: NDArray[np.float32], rows: Ints) -> NDArray[np.float32]:
        """The sum of the last two steps at some rows, given the first step x, which is overwritten."""
        swept = self._block()
        for _ in range(STEPS - 2):
            x, swept = self._step(x, swept), x
        last = np.zeros_like(self.scale)
        last[rows] = self.scale[rows]
        average_neighbours(self.conductance, last, x, swept, self.options.threads)
        return x[rows] + swept[rows]

    def _block(self) -> NDArray[np.float32]:
        return kernels.block(self.conductance.n, WIDTH, np.float32)

    def _step(self, x: NDArray[np.float32], out: NDArray[np.float32]) -> NDArray[np.float32]:
        average_neighbours(self.conductance, self.scale, x, out, self.options.threads)
        return out

    def _centered(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        """Subtract the mean of each column, weighted by degree, at nodes with edges; steps do not change this mean."""
        group, sums = np.where(self.degree > 0, 0, -1).astype(np.int32), np.zeros((1, x.shape[1]))
        kernels.active.group_sums(group, self.degree, x, sums, self.threads)
        mean = (sums / max(float(self.degree.sum(dtype=np.float64)), 1e-300)).astype(np.float32)
        kernels.active.group_shift(group, None, -mean, x, self.threads)
        return x
