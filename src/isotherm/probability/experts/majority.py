"""Majority: labels by the nodes around, for graphs whose classes are clusters.

With few seeds, temperatures are high near the seeds and nearly flat elsewhere, so a class may leak far into another.
But each node of a cluster has many neighbours in it. So start from the labels by heat, and repeat: average the labels
over neighbours a few times, seeds held, and label each node by the class with the largest average, relative to its mean
over all nodes. This is threshold dynamics (Merriman, Bence and Osher 1992), with classes of about equal importance.
"""

import numpy as np

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints
from isotherm.equilibrium.averages import Averaging
from isotherm.probability.experts.expert import Expert, Knowledge, Question, links

ROUNDS, STEPS = 10, 5  # maximum number of relabellings, and averaging steps in each
STEADY = 0.001  # stop when a smaller share of the labels changes in a round
SMOOTHING = 0.02  # uniform smoothing added to each class share


def majority(known: Knowledge) -> Expert | None:
    """The majority around each node, if the graph joins the rows of a table."""
    if not known.evidence.clustered:
        return None
    return Majority(Averaging(links(known.graph), n_threads=known.options.threads))


class Majority(Expert):
    """Labels by the majority around each node; ``average`` is the mean over neighbours."""

    def __init__(self, average: Averaging) -> None:
        self.average = average

    def logits(self, question: Question, blend: Doubles | None = None) -> Floats:
        """(m, K) logarithms of the final class averages; NaN where unreached."""
        labels: Ints = question.warmest.astype(np.int64)
        reached, nodes = labels >= 0, question.seeds.nodes[question.visible]
        average = self.average.holding(nodes)
        for _ in range(ROUNDS):
            labels[nodes] = question.codes
            shares = _averaged(average, labels, question.seeds.n_classes)
            mean = shares.mean(axis=0, where=reached[:, None], dtype=np.float64)
            found = (shares / np.where(mean > 0, mean, 1)).argmax(axis=1)
            changed = np.count_nonzero((found != labels) & reached)
            labels = np.where(reached, found, -1)
            if changed <= STEADY * len(labels):
                break
        shares += np.float32(SMOOTHING)
        shares[~reached] = np.nan
        return np.asarray(np.log(shares, out=shares))[question.nodes]


def _averaged(average: Averaging, labels: Ints, n_classes: int) -> Floats:
    """(n, K) the class shares after some averaging steps."""
    shares = np.zeros((len(labels), n_classes), np.float32)
    for first in range(0, n_classes, kernels.WIDTHS[-1]):
        block = _indicator(labels - first, min(n_classes - first, kernels.WIDTHS[-1]))
        other = block.copy()
        for _ in range(STEPS):
            average.step(block, other)
            block, other = other, block
        shares[:, first : first + kernels.WIDTHS[-1]] = block[:, : n_classes - first]
    return shares


def _indicator(labels: Ints, columns: int) -> Floats:
    """(n, w) a 1 in the column of each label that has one, padded to a kernel width."""
    block = kernels.block(len(labels), kernels.width(columns), np.float32)
    inside = np.flatnonzero((labels >= 0) & (labels < columns))
    block[inside, labels[inside]] = 1
    return block
