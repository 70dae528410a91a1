"""Logistic regression on features that have diffused far over the graph.

Two graph convolutions carry the features of nodes up to two links away. With few seeds, more distant nodes help too.
So features are averaged over random walks that end with probability 1/10 at each step: the sum over k of 0.9^k S^k X,
with the matrix S of graph convolutions. As in `regression`, it is formed for the seeds only, or for a few columns at a
time.
"""

from collections.abc import Iterator

import numpy as np

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints
from isotherm.equilibrium.averages import Averaging
from isotherm.probability.experts.expert import Expert, Knowledge, Rows, links, mean_weight, precision
from isotherm.probability.experts.regression import PROJECTED, Regression, random_directions

STEPS, CONTINUE = 12, 0.9  # maximum walk length; continuation probability
COLUMNS = kernels.WIDTHS[-1]  # columns that diffuse at once
MOST = 2_000_000_000  # entries of the graph times columns times steps: about a second


def diffusion(known: Knowledge) -> Expert | None:
    """Regression on diffused features, where this takes about a second at most."""
    if known.rows is None or known.evidence.clustered:
        return None
    csr = links(known.graph)
    if min(len(known.seeds.nodes), known.rows.shape[1]) * csr.entries * STEPS > MOST:
        return None
    how = {"dtype": precision(known.graph), "n_threads": known.options.threads}
    walk = Averaging.convolution(csr, mean_weight(csr), **how).times(CONTINUE)
    return Regression(DiffusedFeatures(known.rows, walk), known.seeds, pool=known.taught)


class DiffusedFeatures:
    """Features (n, d) after diffusion by a damped walk, scaled to rows of length 1; see `FeatureMap`."""

    def __init__(self, rows: Rows, walk: Averaging) -> None:
        self.rows, self.walk = rows, walk
        squares = sum((part**2).sum(axis=1) for part in self._spread(rows @ random_directions(rows)))
        lengths = np.sqrt(squares / PROJECTED)
        self.scale = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    def at(self, nodes: Ints) -> Doubles:
        """(s, d) the diffused features of some nodes: by walks from these nodes, or of the columns if these are fewer.

        Both give the same, because the walk is symmetric.
        """
        if len(nodes) < self.rows.shape[1]:
            starts = np.zeros((self.rows.shape[0], len(nodes)), self.walk.dtype)
            starts[nodes, np.arange(len(nodes))] = 1
            found = np.vstack([part.T @ self.rows for part in self._spread(starts)])
        else:
            found = np.hstack([part[nodes] for part in self._spread(self.rows)])
        return np.asarray(found * self.scale[nodes, None])

    def logits(self, weights: Doubles) -> Doubles:
        """(n, K) the logits of all nodes, from the weights of the columns."""
        parts = list(self._spread(self.rows @ weights.astype(self.rows.dtype, copy=False)))
        return np.asarray(np.hstack(parts) * self.scale[:, None], dtype=np.float64)

    def adjoint(self, values: Doubles) -> Doubles:
        """(d, K) the sums of the diffused features of all nodes, weighted by values (n, K); the walk is symmetric."""
        spread = np.hstack(list(self._spread(values * self.scale[:, None])))
        return np.asarray(self.rows.T @ spread, dtype=np.float64)

    def only(self, nodes: Ints) -> None:
        """Diffused features need those of all nodes."""

    def _spread(self, x: Rows) -> Iterator[Floats]:
        """The columns (n, k) after diffusion, some at a time."""
        for first in range(0, x.shape[1], COLUMNS):
            some = x[:, first : first + COLUMNS]
            now = start = self.walk.block(some)
            for _ in range(STEPS):
                now = self.walk @ now
                now += start
            yield now[:, : some.shape[1]]
