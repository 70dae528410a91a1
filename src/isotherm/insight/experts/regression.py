"""Logistic regression of classes on features of nodes and of their neighbours.

The features of a node are its own row of X, or the mean rows PX and P^2 X of its neighbours and of theirs, or several
of these, each scaled to length 1. They are needed for the seeds only. Logits of all nodes are P (P (X W)), with weights
W of the columns: P^2 X is never formed for all nodes, and the lengths of its rows are estimated by random projections.
With more columns than seeds, the inner products of the seeds are found once, and serve whichever seeds are hidden.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array, diags_array, eye_array, hstack, issparse

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.graphs import Graph
from isotherm.insight.experts.evidence import Rows
from isotherm.insight.experts.links import links, mean_weight
from isotherm.insight.experts.logistic import fit_columns, fit_gram

__all__ = [
    "AT_ONCE",
    "PROJECTED",
    "Lesson",
    "Regression",
    "averaging",
    "convolving",
    "random_directions",
    "unit_rows",
]

C = 100.0  # inverse penalty: on unit rows, probabilities are about right
MOST_TAUGHT = 2000  # seeds that a regression is fitted to
MOST_PRODUCTS = 4000  # seeds whose inner products are all kept
COLUMNS = 4096  # of sparse features that are made dense at once
PROJECTED, AT_ONCE = 64, 16  # columns of the random projection that estimates lengths, and how many are kept


def averaging(graph: Graph, dtype: DTypeLike = np.float64) -> csr_array:
    """The matrix P (n, n) that averages over neighbours; arcs count in both directions."""
    csr = links(graph)
    sums = csr.sums
    scale = np.divide(1, sums, out=np.zeros(csr.n), where=sums > 0).astype(dtype)
    shares = np.repeat(scale, np.diff(csr.indptr))
    if csr.weights is not None:
        shares *= csr.weights
    return csr_array((shares, csr.indices, csr.indptr), shape=(csr.n, csr.n))


def convolving(graph: Graph, dtype: DTypeLike = np.float64) -> csr_array:
    """The matrix S (n, n) of graph convolutions: symmetrically normalised weights, with a loop at each node.

    A loop weighs as much as the mean edge. Unlike P, it counts neighbours with many links of their own less.
    """
    matrix = links(graph).to_scipy()
    looped = matrix + mean_weight(matrix.data) * eye_array(matrix.shape[0])
    root = diags_array(1 / np.sqrt(looped.sum(axis=1)))
    return csr_array(root @ looped @ root).astype(dtype, copy=False)


def unit_rows(features: Rows) -> Rows:
    """Rows of length 1; the columns of dense features are standardised first."""
    if issparse(features):
        lengths = np.sqrt(np.asarray(features.multiply(features).sum(axis=1)).ravel())
        return csr_array(diags_array(np.divide(1, lengths, out=np.zeros(len(lengths)), where=lengths > 0)) @ features)
    known = features.any(axis=1)
    scaled = features - (features.mean(axis=0, where=known[:, None]) if known.any() else 0.0)
    scaled[~known] = 0
    spread = np.sqrt(np.einsum("nd,nd->d", scaled, scaled) / max(known.sum(), 1))
    scaled /= np.where(spread > 0, spread, 1)
    lengths = np.sqrt(np.einsum("nd,nd->n", scaled, scaled))
    scaled /= np.where(lengths > 0, lengths, 1)[:, None]
    return scaled


class Regression:
    """Learns classes from features.

    Parameters
    ----------
    rows
        (n, d) features.
    average
        The matrix P (n, n), if features are to be averaged.
    hops
        How often features are averaged over neighbours, for each part of the features of a node: 0 for its own.
    c
        Inverse penalty.
    """

    def __init__(self, rows: Rows, average: csr_array | None = None, hops: Sequence[int] = (0,), c: float = C) -> None:
        self.rows, self.average, self.c = rows, average, c
        lengths = _lengths(rows, average, max(hops))
        inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        self.scales = {hop: inverse[hop - 1] if hop else np.ones(rows.shape[0]) for hop in hops}

    def at(self, nodes: Ints) -> Any:
        """(s, d parts) the features of some nodes and of their neighbours."""
        parts = [self._mean_rows(nodes, hop, scale) for hop, scale in self.scales.items()]
        return csr_array(hstack(parts)) if issparse(self.rows) else np.hstack(parts)

    def _mean_rows(self, nodes: Ints, hop: int, scale: Doubles) -> Any:
        if self.average is None or not hop:
            return self.rows[nodes]
        walk = self.average[nodes]
        for _ in range(hop - 1):
            walk = walk @ self.average
        near = np.unique(walk.indices)  # the others need not be converted
        return diags_array(scale[nodes]) @ walk[:, near] @ self.rows[near]

    def logits(self, weights: Doubles) -> Floats:
        """(n, K) the logits of all nodes, from the weights of the columns, in the precision of the features."""
        found = np.zeros((self.rows.shape[0], weights.shape[1]), self.rows.dtype)
        parts = np.split(weights.astype(self.rows.dtype, copy=False), len(self.scales))
        for part, (hop, scale) in zip(parts, self.scales.items(), strict=True):
            mean = self.rows @ part
            for _ in range(hop):
                mean = self.average @ mean
            mean *= scale[:, None]
            found += mean
        return found


def _lengths(rows: Rows, average: csr_array | None, hops: int) -> Doubles:
    """The lengths (hops, n) of the rows of PX, P^2 X and so on.

    A random projection keeps lengths, up to a relative error of one over the root of twice its columns.
    """
    squares = np.zeros((hops, rows.shape[0]))
    for some in np.split(random_directions(rows), PROJECTED // AT_ONCE, axis=1) if hops else ():
        mean = rows @ some
        for square in squares:
            mean = average @ mean
            square += np.einsum("nd,nd->n", mean, mean)
    return np.sqrt(squares / PROJECTED)


def random_directions(rows: Rows) -> Floats:
    """(d, k) columns on which rows of features are projected to estimate their lengths."""
    return np.random.default_rng(0).normal(size=(rows.shape[1], PROJECTED)).astype(rows.dtype)


class Lesson:
    """What a regression is taught by seeds, some of which may be hidden.

    Parameters
    ----------
    regression
        The regression.
    nodes
        (s,) all seeds.
    """

    def __init__(self, regression: Regression, nodes: Ints) -> None:
        self.regression, self.own = regression, regression.at(nodes)
        self.wide = self.own.shape[1] > len(nodes)
        if not self.wide:
            self.own = np.asarray(self.own.toarray() if issparse(self.own) else self.own, dtype=np.float64)
        self.products = _products(self.own, self.own) if self.wide and len(nodes) <= MOST_PRODUCTS else None

    def log_probabilities(self, taught: Ints, codes: Ints, n_classes: int, asked: Ints | None = None) -> Floats:
        """(m, K) of the seeds in some places, or of all nodes, given the classes of those in other places.

        Minus infinity for a class without a seed.
        """
        present, renumbered = np.unique(codes, return_inverse=True)
        count = self.regression.rows.shape[0] if asked is None else len(asked)
        if len(present) > 1:
            some = _some(renumbered)
            logits = self._logits(taught[some], renumbered[some], len(present), asked)
            logits -= logits.max(axis=1, keepdims=True)
            logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        else:
            logits = np.zeros((count, 1))
        if len(present) == n_classes:
            return logits
        found = np.full((count, n_classes), -np.inf)
        found[:, present] = logits
        return found

    def _logits(self, taught: Ints, codes: Ints, n_classes: int, asked: Ints | None) -> Floats:
        if not self.wide:
            weights, bias = fit_columns(self.own[taught], codes, n_classes, c=self.regression.c)
        else:
            weights, bias = fit_gram(self._gram(taught, taught), codes, n_classes, c=self.regression.c)
            if asked is not None and self.products is not None:
                return self._gram(asked, taught) @ weights + bias
            weights = self.own[taught].T @ weights
        if asked is not None:
            return self.own[asked] @ weights + bias
        logits = self.regression.logits(weights)
        logits += bias
        return logits

    def _gram(self, left: Ints, right: Ints) -> Doubles:
        if self.products is None:
            return _products(self.own[left], self.own[right])
        return self.products[np.ix_(left, right)]


def _some(codes: Ints) -> Ints:
    """Places of at most so many seeds, of all classes in proportion."""
    if len(codes) <= MOST_TAUGHT:
        return np.arange(len(codes))
    order = np.argsort(codes, kind="stable")
    chosen = order[np.linspace(0, len(order) - 1, MOST_TAUGHT).astype(np.int64)]
    _, first = np.unique(codes, return_index=True)
    return np.union1d(chosen, first)


def _products(left: Any, right: Any) -> Doubles:
    """The inner products of rows; sparse ones are made dense a few columns at a time, since few products are 0."""
    if not issparse(left):
        return np.asarray(left @ right.T, dtype=np.float64)
    found = np.zeros((left.shape[0], right.shape[0]))
    columns = (left.tocsc(), right.tocsc())
    for first in range(0, left.shape[1], COLUMNS):
        one, other = (each[:, first : first + COLUMNS].astype(np.float32).toarray() for each in columns)
        found += one @ other.T
    return found
