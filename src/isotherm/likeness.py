"""Likeness of nodes: whether heat that starts at them spreads alike.

A random walk that starts at u is after t steps at a place that is distributed as the row u of ``P^t``. Measured as
diffusion maps do (Coifman and Lafon 2006), with the stationary distribution ``pi`` taken off,

    F = (P^3 + P^4) (I - 1 pi) D^-1/2        likeness(u, v) = cosine of the rows u and v of F

so that a hub that is near everything is like nothing in particular. Both an odd and an even number of steps count:
otherwise the middle of a star would not be like its ends. Whole rows are too long to keep: they are multiplied by
columns of random signs (Johnson and Lindenstrauss 1984), the same in each call. A small graph needs no random signs,
and its likenesses are exact.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.csr import Csr

__all__ = ["Cover", "profiles"]

STEPS = 4  # of the walk
WIDTH = 16  # columns that are swept together
COLUMNS = 128  # at most of random signs,
WORK = 500_000_000  # and no more entries of the matrix than these times columns, but for one block
EXACT = 256  # nodes, up to which signs are not needed
SAMPLE = 1000, 5000  # nodes that are to be covered: at least and at most
HELD = 1_000_000  # likenesses at once


def profiles(heat: Csr, degree: NDArray[np.float64], *, n: int, copies: int, threads: int) -> NDArray[np.float32]:
    """Rows of length 1, or 0 for a node without edges, whose products are likenesses; shape (n, some).

    The first ``copies`` times ``n`` nodes of ``heat`` are the copies of n nodes, whose rows are joined.
    """
    rows = np.concatenate(
        [_spread(heat, degree, start, threads)[: n * copies].reshape(copies, n, -1) for start in _starts(heat)], axis=2
    )
    joined = np.moveaxis(rows, 0, 1).reshape(n, -1)
    length = np.linalg.norm(joined, axis=1, keepdims=True)
    return np.divide(joined, length, out=np.zeros_like(joined), where=length > 0)


class Cover:
    """How many nodes are like a seed, by a sample of them.

    Parameters
    ----------
    rows : ndarray
        The profiles of all nodes.
    seeds : ndarray of int
        The nodes that cover the others so far.
    more : int
        How many are to come.
    """

    def __init__(self, rows: NDArray[np.float32], seeds: NDArray[np.int64], more: int) -> None:
        size = min(len(rows), int(np.clip(2 * (len(seeds) + more), *SAMPLE)))
        self.rows, self.share = rows, len(rows) / size
        self.sample = rows[np.random.default_rng(0).permutation(len(rows))[:size]]
        self.covered = np.zeros(size, np.float32)
        self.add(seeds)

    def gains(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many nodes more each would cover, and one, so that none is worth nothing."""
        gains = [np.maximum(each - self.covered, 0).sum(axis=1, dtype=np.float64) for each in self._likeness(nodes)]
        return 1 + self.share * np.concatenate([np.zeros(0), *gains])

    def add(self, nodes: NDArray[np.int64]) -> None:
        """Let nodes be seeds."""
        for each in self._likeness(nodes):
            np.maximum(self.covered, each.max(axis=0), out=self.covered)

    def _likeness(self, nodes: NDArray[np.int64]) -> Iterator[NDArray[np.float32]]:
        """Of some nodes at a time with the sample, or 0 if it is less."""
        step = max(HELD // len(self.sample), 1)
        for start in range(0, len(nodes), step):
            yield np.maximum(self.rows[nodes[start : start + step]] @ self.sample.T, 0)


def _starts(heat: Csr) -> list[NDArray[np.float32]]:
    """Blocks of columns: the unit matrix of a small graph, or random signs."""
    if heat.n <= EXACT:
        unit = np.eye(heat.n, -(-heat.n // WIDTH) * WIDTH, dtype=np.float32)
        return np.split(unit, unit.shape[1] // WIDTH, axis=1)
    rng = np.random.default_rng(0)
    blocks = np.clip(WORK // (WIDTH * STEPS * max(len(heat.indices), 1)), 1, COLUMNS // WIDTH)
    return [2 * rng.integers(2, size=(heat.n, WIDTH)).astype(np.float32) - 1 for _ in range(blocks)]


def _spread(heat: Csr, degree: NDArray[np.float64], start: NDArray[np.float32], threads: int) -> NDArray[np.float32]:
    """F start; the sum over the last two steps."""
    indptr, indices, weights = heat
    inverse = np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0).astype(np.float32)
    weights = None if weights is None else weights.astype(np.float32, copy=False)
    x, swept = (kernels.block(heat.n, WIDTH, np.float32) for _ in range(2))
    x[:] = start * np.sqrt(inverse)[:, None]
    x -= (degree @ x / max(degree.sum(), 1e-300)).astype(np.float32)
    x[degree == 0] = 0
    for _ in range(STEPS):
        kernels.active.average(indptr, indices, weights, inverse, x, swept, threads)
        x, swept = swept, x
    return np.asarray(x + swept)
