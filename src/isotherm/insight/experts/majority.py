"""Majority: labels by those of the nodes around, for graphs whose classes are clusters.

With few seeds, temperatures are high close to these and nearly flat elsewhere, so a class may leak far into another.
But each node of a cluster has many neighbours in it. So begin with the labels by heat, and repeat: average the labels
over neighbours a few times, seeds held, and label each node by the class with the largest average, relative to its mean
over all nodes. This is threshold dynamics (Merriman, Bence and Osher 1992), with classes of about equal importance.
"""

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.arrays import Floats, Ints
from isotherm.equilibrium.averages import average_neighbours
from isotherm.equilibrium.options import SolveOptions
from isotherm.graphs import Graph
from isotherm.insight.experts.links import links

__all__ = ["Majority"]

ROUNDS, STEPS = 10, 5  # at most so many relabellings, and steps of averaging in each
STEADY = 0.001  # share of labels that change in a round, below which it is the last one
PSEUDO_NEIGHBOUR = 0.02  # share of a neighbour that has every class, so that no probability is 0


class Majority:
    """The majority around each node.

    Parameters
    ----------
    graph
        The graph.
    options
        How its kernels run.
    n_classes
        Number of classes.
    """

    def __init__(self, graph: Graph, options: SolveOptions, n_classes: int) -> None:
        self.heat, self.options, self.n_classes = links(graph), options, n_classes
        degrees = self.heat.sums.astype(np.float32)
        self.scale = np.divide(1, degrees, out=np.zeros_like(degrees), where=degrees > 0)

    def log_probabilities(self, labels: NDArray[np.integer], nodes: Ints, codes: Ints) -> Floats:
        """(n, K) of all nodes, given class numbers to begin with, -1 where unreached, and the seeds with theirs.

        The probability of a class is its average in the end; NaN for nodes that no seed reaches.
        """
        present: Ints = labels.astype(np.int64)
        reached = present >= 0
        for _ in range(ROUNDS):
            present[nodes] = codes
            average = self._averaged(present, nodes)
            mean = average.mean(axis=0, where=reached[:, None], dtype=np.float64)
            found = (average / np.where(mean > 0, mean, 1)).argmax(axis=1)
            changed = np.count_nonzero((found != present) & reached)
            present = np.where(reached, found, -1)
            if changed <= STEADY * len(present):
                break
        shares = average + np.float32(PSEUDO_NEIGHBOUR)
        shares /= shares.sum(axis=1, keepdims=True)
        shares[~reached] = np.nan
        return np.asarray(np.log(shares, out=shares))

    def _averaged(self, labels: Ints, nodes: Ints) -> Floats:
        """(n, K) the average of labels over walks of some steps, which end where they meet a seed."""
        average = np.zeros((len(labels), self.n_classes), np.float32)
        scale = self.scale.copy()
        scale[nodes] = 0  # stay as they are
        for first in range(0, self.n_classes, kernels.WIDTHS[-1]):
            block = _ones(labels - first, min(self.n_classes - first, kernels.WIDTHS[-1]))
            other = block.copy()
            for _ in range(STEPS):
                average_neighbours(self.heat, scale, block, other, self.options.threads)
                block, other = other, block
            average[:, first : first + kernels.WIDTHS[-1]] = block[:, : self.n_classes - first]
        return average


def _ones(labels: Ints, columns: int) -> Floats:
    """(n, w) a 1 in the column of each label, if there is one; as wide as kernels are."""
    block = kernels.block(len(labels), kernels.width(columns), np.float32)
    inside = np.flatnonzero((labels >= 0) & (labels < columns))
    block[inside, labels[inside]] = 1
    return block
