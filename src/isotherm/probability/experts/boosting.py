"""Gradient boosted trees on a few columns: thresholds and interactions, which no regression sees.

The columns of a node are its features, their means over its neighbours and over the neighbours of these, its degree,
and the shares of each class among the visible seeds that are one link and two links away. The node itself never counts
among these, so that seeds have columns like those of other nodes. The trees are those of scikit-learn.

Rounding errors must not decide at which threshold a tree splits. So columns are found in double precision and rounded
to single precision, and trees see seeds and classes in an order that depends on the columns only.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.probability.experts.expert import Expert, Knowledge, Question, links, mean_weight
from isotherm.probability.optimise import one_thread

MOST_COLUMNS = 50  # features; trees are for tables of attributes, not for words or pixels
LEAST_SEEDS = 100
ROUNDS, RATE, LEAVES = 100, 0.05, 15  # trees of each class, how much each counts, and their leaves
EACH = 100_000  # numbers that take as long as a tree without any
MOST = 500_000  # seeds times columns, and `EACH`, times classes: about a second
MOST_NUMBERS = 20_000_000  # nodes times columns


def boosted_trees(known: Knowledge) -> Expert | None:
    """Boosted trees on features, where these are few and seeds are many, and this takes about a second at most."""
    features, seeds = known.evidence.features, known.seeds
    if features is None or features.shape[1] > MOST_COLUMNS or len(seeds.nodes) < LEAST_SEEDS:
        return None
    columns, series = 3 * features.shape[1] + 1 + 2 * seeds.n_classes, max(1, seeds.n_classes - (seeds.n_classes == 2))
    if (len(seeds.nodes) * columns + EACH) * series > MOST or known.graph.n_nodes * columns > MOST_NUMBERS:
        return None
    return Trees(known)


class Trees(Expert):
    """Boosted trees, fitted to the visible seeds."""

    def __init__(self, known: Knowledge) -> None:
        csr = links(known.graph)
        self.matrix, self.degrees = csr_array(csr.to_scipy() / mean_weight(csr)), csr.sums / mean_weight(csr)
        self.returns = self.matrix.multiply(self.matrix).sum(axis=1)  # walks of two steps that end where they began
        features: Any = known.evidence.features
        own = np.asarray(features.toarray() if issparse(features) else features, np.float64)
        mean = diags_array(np.divide(1, self.degrees, out=np.zeros(csr.n), where=self.degrees > 0)) @ self.matrix
        near = mean @ own
        self.columns = _rounded(np.hstack([own, near, mean @ near, self.degrees[:, None]]))
        self._found: dict[bytes, Doubles] = {}  # (n, K) logits of all nodes, by the visible seeds

    def logits(self, question: Question, blend: Doubles | None = None) -> Floats:
        """(m, K) logits; minus infinity for a class that no visible seed has."""
        key = question.visible.tobytes()
        if key not in self._found:
            self._found[key] = self._fitted(question)
        return self._found[key][question.nodes]

    def _fitted(self, question: Question) -> Doubles:
        nodes, classes = question.seeds.nodes[question.visible], question.seeds.n_classes
        ranks = _ranks(self.columns[nodes])
        order = _class_order(ranks, question.codes, classes)
        codes = np.argsort(order)[question.codes]  # numbers of the classes in this order
        columns = np.hstack([self.columns, self.class_shares(nodes, codes, classes)])
        found = np.full((len(columns), classes), -np.inf)
        present, counts = np.unique(codes, return_counts=True)
        if len(present) == 1:
            found[:, present] = 0
        else:
            rows = np.lexsort([*columns[nodes].T, codes])
            found[:, present] = _boosted(columns[nodes[rows]], codes[rows], columns) - np.log(counts / len(codes))
        found += np.log(question.seeds.smoothed_shares)[order]  # of all seeds instead of the visible ones
        return found[:, np.argsort(order)]

    def class_shares(self, nodes: Ints, codes: Ints, classes: int) -> Doubles:
        """(n, 2 K) the share of each class among the seeds one link away, and two, smoothed by one pseudo-seed."""
        seeds = np.zeros((len(self.columns), classes))
        seeds[nodes, codes] = 1
        shares, once = seeds[nodes].mean(axis=0), self.matrix @ seeds
        twice = self.matrix @ once - self.returns[:, None] * seeds
        return _rounded(np.hstack([(part + shares) / (part.sum(axis=1) + 1)[:, None] for part in (once, twice)]))


def _boosted(rows: Doubles, codes: Ints, asked: Doubles) -> Doubles:
    """(n, K) logits of the classes, those of two classes against the first."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # few fits need it

    model = HistGradientBoostingClassifier(
        learning_rate=RATE, max_iter=ROUNDS, max_leaf_nodes=LEAVES, early_stopping=False, random_state=0
    )
    with one_thread():  # sums over seeds would depend on the number of threads
        found = np.asarray(model.fit(rows, codes).decision_function(asked))
    return found if found.ndim == 2 else np.column_stack([np.zeros(len(found)), found])


def _rounded(columns: Doubles) -> Doubles:
    return np.asarray(columns, np.float32).astype(np.float64)


def _ranks(rows: Doubles) -> Ints:
    """(s,) the place of each row among the different rows in ascending order."""
    return np.unique(rows, axis=0, return_inverse=True)[1].ravel()


def _class_order(ranks: Ints, codes: Ints, classes: int) -> Ints:
    """The classes in an order that depends neither on their names nor on the order of the seeds."""
    counts, sums = np.bincount(codes, minlength=classes), np.bincount(codes, ranks, minlength=classes)
    first = np.full(classes, len(codes))
    np.minimum.at(first, codes, ranks)
    return np.lexsort([sums, counts, first])
