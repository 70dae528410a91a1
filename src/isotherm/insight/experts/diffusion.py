"""Logistic regression on features that have diffused far over the graph.

Two graph convolutions tell a node about nodes two links away. With few seeds, more distant ones help too. So the
features are averaged over random walks that end with probability 1/10 at each step: the sum over k of 0.9^k S^k X, with
the matrix S of graph convolutions. As in `regression`, it is formed for the seeds only, or for a few columns at a time.
"""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import issparse

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints
from isotherm.equilibrium.averages import average_neighbours
from isotherm.equilibrium.options import SolveOptions
from isotherm.graphs import Graph
from isotherm.insight.experts.evidence import Rows
from isotherm.insight.experts.links import links, mean_weight
from isotherm.insight.experts.regression import PROJECTED, Regression, random_directions

__all__ = ["Diffusion", "diffusion_is_cheap"]

STEPS, GOING_ON = 12, 0.9  # of the walks at most, and the probability of one more
COLUMNS = kernels.WIDTHS[-1]  # that diffuse at once
MOST = 2_000_000_000  # entries of the graph times columns times steps: about a second


def diffusion_is_cheap(graph: Graph, rows: Rows, n_seeds: int) -> bool:
    """Whether the features of so many seeds can be found in about a second."""
    return min(n_seeds, rows.shape[1]) * graph.edges_only.csr.entries * STEPS <= MOST


class Diffusion(Regression):
    """Learns classes from features that have diffused over the graph.

    Parameters
    ----------
    rows
        (n, d) features.
    graph
        The graph; arcs count in both directions.
    options
        How its kernels run.
    """

    def __init__(self, rows: Rows, graph: Graph, options: SolveOptions) -> None:
        super().__init__(rows)
        csr, self.options = links(graph), options
        self.csr = csr._replace(weights=None if csr.weights is None else csr.weights.astype(np.float32))
        loop = mean_weight(csr.weights)
        self.root = (1 / np.sqrt(csr.sums + loop)).astype(np.float32)
        self.own_share = np.float32(loop) * self.root[:, None] ** 2
        squares = sum((part**2).sum(axis=1) for part in self._spread(rows @ random_directions(rows)))
        lengths = np.sqrt(squares / PROJECTED)
        self.scale = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    def at(self, nodes: Ints) -> Doubles:
        """(s, d) the features that reach some nodes, by walks from these or to them, whichever are fewer."""
        if len(nodes) < self.rows.shape[1]:
            starts = np.zeros((self.rows.shape[0], len(nodes)), np.float32)
            starts[nodes, np.arange(len(nodes))] = 1
            found = np.vstack([part.T @ self.rows for part in self._spread(starts)])
        else:
            found = np.hstack([part[nodes] for part in self._spread(self.rows)])
        return np.asarray(found * self.scale[nodes, None])

    def logits(self, weights: Doubles) -> Doubles:
        """(n, K) the logits of all nodes, from the weights of the columns."""
        parts = list(self._spread(self.rows @ weights.astype(self.rows.dtype, copy=False)))
        return np.asarray(np.hstack(parts) * self.scale[:, None], dtype=np.float64)

    def _spread(self, x: Rows) -> Iterator[Floats]:
        """The columns (n, k) after diffusion, some at a time."""
        for first in range(0, x.shape[1], COLUMNS):
            some = x[:, first : first + COLUMNS]
            start = kernels.block(x.shape[0], kernels.width(some.shape[1]), np.float32)
            start[:, : some.shape[1]] = some.toarray() if issparse(some) else some
            yield self._diffused(start)[:, : some.shape[1]]

    def _diffused(self, start: Floats) -> Floats:
        now = start
        for _ in range(STEPS):
            mean = np.zeros_like(start)
            average_neighbours(self.csr, self.root, now * self.root[:, None], mean, self.options.threads)
            mean += self.own_share * now
            mean *= np.float32(GOING_ON)
            mean += start
            now = mean
        return now
