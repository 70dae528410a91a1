"""Logistic regression of classes on features of nodes and of their neighbours.

The features of a node are its own row of X, or the mean rows PX and P^2 X of its neighbours and of theirs, or several
of these, each scaled to length 1. They are needed for the seeds only. Logits of all nodes are P (P (X W)), with weights
W of the columns: P^2 X is never formed for all nodes, and the lengths of its rows are estimated by random projections.
With more columns than seeds, the inner products of the seeds are computed once, and serve whichever seeds are hidden.

The loss is scikit-learn's: the log-loss of the seeds, plus the squared weights over 2 C; biases are not penalised. Rows
are centered and rotated to their principal axes. With more columns than rows, the axes are found through the Gram
matrix, the inner products of the rows, and the weights are sums over rows. On the principal axes the curvature of the
loss is nearly diagonal. Scaled by it, Newton's method with conjugate gradient needs a few dozen products.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array, diags_array, hstack, issparse

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.equilibrium.averages import Averaging
from isotherm.probability.experts.expert import Expert, Knowledge, Question, Rows, links, mean_weight
from isotherm.probability.optimise import Local, minimum
from isotherm.seeds import Seeds

C = 100.0  # inverse penalty, which gives well-calibrated probabilities on unit rows
MOST_TAUGHT = 2000  # seeds that a regression is fitted to
MOST_PRODUCTS = 4000  # seeds whose inner products are all kept
COLUMNS = 4096  # sparse columns that are made dense at once
LEAST_AXIS = 1e-6  # shorter axes are dropped: squared length relative to the longest
CURVATURE = 0.1  # typical p (1 - p), for the preconditioner
PROJECTED, AT_ONCE = 64, 16  # random directions that estimate row lengths, and how many are applied at once


def features(known: Knowledge) -> Expert | None:
    """Regression on the features of the node itself."""
    if known.evidence.features is None:
        return None
    return Regression(MeanFeatures(known.rows), known.seeds)


def neighbours(known: Knowledge) -> Expert | None:
    """Regression on the features of the node, of its neighbours and of theirs."""
    if known.evidence.features is None:
        return None
    return Regression(MeanFeatures(known.rows, known.mean_matrix, (0, 1, 2)), known.seeds)


def convolution(known: Knowledge) -> Expert | None:
    """Regression on features after two graph convolutions."""
    if known.evidence.features is None or known.evidence.clustered:
        return None
    csr = links(known.graph)
    matrix = Averaging.convolution(csr, mean_weight(csr), dtype=known.rows.dtype).to_scipy()
    return Regression(MeanFeatures(known.rows, matrix, (2,)), known.seeds)


class FeatureMap(Protocol):
    """Features of all nodes that are formed only where they are needed."""

    rows: Rows

    def at(self, nodes: Ints) -> Any:
        """(s, d) the features of some nodes."""
        ...

    def logits(self, weights: Doubles) -> Floats:
        """(n, K) the products of all features with weights (d, K)."""
        ...


class MeanFeatures:
    """Features averaged over neighbours some number of times."""

    def __init__(self, rows: Rows, average: csr_array | None = None, hops: Sequence[int] = (0,)) -> None:
        self.rows, self.average = rows, average
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
        near = np.unique(walk.indices)  # only these rows are needed
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
    """The lengths (hops, n) of the rows of PX, P^2 X and so on, by random projection.

    With k directions, the relative error is about 1 / sqrt(2 k).
    """
    squares = np.zeros((hops, rows.shape[0]))
    for some in np.split(random_directions(rows), PROJECTED // AT_ONCE, axis=1) if hops else ():
        mean = rows @ some
        for square in squares:
            mean = average @ mean
            square += np.einsum("nd,nd->n", mean, mean)
    return np.sqrt(squares / PROJECTED)


def random_directions(rows: Rows) -> Floats:
    """(d, k) Gaussian directions; projections on them estimate the lengths of rows."""
    return np.random.default_rng(0).normal(size=(rows.shape[1], PROJECTED)).astype(rows.dtype)


class Regression(Expert):
    """Logistic regression on the features of the visible seeds."""

    def __init__(self, feature_map: FeatureMap, seeds: Seeds, c: float = C) -> None:
        self.map, self.c, self.own = feature_map, c, feature_map.at(seeds.nodes)
        self.wide = self.own.shape[1] > len(seeds.nodes)
        if not self.wide:
            self.own = np.asarray(self.own.toarray() if issparse(self.own) else self.own, dtype=np.float64)
        self.products = _products(self.own, self.own) if self.wide and len(seeds.nodes) <= MOST_PRODUCTS else None

    def log_probabilities(self, question: Question) -> Floats:
        """(m, K) log-probabilities; minus infinity for a class that no visible seed has."""
        present, codes = np.unique(question.codes, return_inverse=True)
        count = self.map.rows.shape[0] if question.hidden is None else len(question.hidden)
        if len(present) > 1:
            some = _some(codes)
            logits = self._logits(question.visible[some], codes[some], len(present), question.hidden)
            logits -= logits.max(axis=1, keepdims=True)
            logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        else:
            logits = np.zeros((count, 1))
        if len(present) == question.seeds.n_classes:
            return logits
        found = np.full((count, question.seeds.n_classes), -np.inf)
        found[:, present] = logits
        return found

    def _logits(self, taught: Ints, codes: Ints, n_classes: int, asked: Ints | None) -> Floats:
        if not self.wide:
            weights, bias = fit_columns(self.own[taught], codes, n_classes, c=self.c)
        else:
            weights, bias = fit_gram(self._gram(taught, taught), codes, n_classes, c=self.c)
            if asked is not None and self.products is not None:
                return self._gram(asked, taught) @ weights + bias
            weights = self.own[taught].T @ weights
        if asked is not None:
            return self.own[asked] @ weights + bias
        logits = self.map.logits(weights)
        logits += bias
        return logits

    def _gram(self, left: Ints, right: Ints) -> Doubles:
        if self.products is None:
            return _products(self.own[left], self.own[right])
        return self.products[np.ix_(left, right)]


def _some(codes: Ints) -> Ints:
    """Places of at most `MOST_TAUGHT` seeds, of all classes in proportion."""
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


class Weights(NamedTuple):
    """A fitted regression."""

    weights: Doubles  # (d, K) of the columns, or (s, K) of the rows whose weighted sums are the weights of the columns
    bias: Doubles  # (K,)


def fit_columns(rows: Doubles, codes: Ints, n_classes: int, *, c: float) -> Weights:
    """Fit to rows (s, d) with classes ``codes`` (s,): logits are ``rows @ weights + bias``. Each class needs a row.

    >>> rows, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> found = fit_columns(rows, codes, 2, c=1.0)
    >>> np.diff(rows @ found.weights + found.bias, axis=1).ravel().round(1)
    array([-2. , -0.7,  0.7,  2. ])
    """
    mean = rows.mean(axis=0)
    centered = rows - mean
    squares, axes = _longest(centered.T @ centered)
    weights, bias = _fit_on_axes(centered @ axes, squares, codes, n_classes, c)
    whole = axes @ weights
    return Weights(whole, bias - mean @ whole)


def fit_gram(gram: Doubles, codes: Ints, n_classes: int, *, c: float) -> Weights:
    """The same from the Gram matrix (s, s); the logits of a node are its inner products with the rows, times weights.

    >>> rows, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> found = fit_gram(rows @ rows.T, codes, 2, c=1.0)
    >>> np.diff(rows @ rows.T @ found.weights + found.bias, axis=1).ravel().round(1)
    array([-2. , -0.7,  0.7,  2. ])
    """
    mean = gram.mean(axis=0)
    squares, axes = _longest(gram - mean - mean[:, None] + mean.mean())
    lengths = np.sqrt(squares)
    weights, bias = _fit_on_axes(axes * lengths, squares, codes, n_classes, c)
    whole = (axes / lengths) @ weights
    return Weights(whole, bias - mean @ whole)


def _longest(products: Doubles) -> tuple[Doubles, Doubles]:
    """The squared lengths of the principal axes, and the axes as columns; the shortest are dropped."""
    squares, axes = np.linalg.eigh(products)
    long = squares > max(LEAST_AXIS * squares.max(initial=0), np.finfo(np.float32).tiny)
    return squares[long], axes[:, long]


def _fit_on_axes(rows: Doubles, squares: Doubles, codes: Ints, n_classes: int, c: float) -> tuple[Doubles, Doubles]:
    """Weights and biases for rows (s, r) in the coordinates of their principal axes."""
    penalty = np.append(np.full(len(squares), 1 / c), 0)  # biases, in the last row, are free
    scale = 1 / np.sqrt(CURVATURE * np.append(squares, len(rows)) + penalty)
    columns, penalty = np.column_stack([rows, np.ones(len(rows))]) * scale, (penalty * scale**2)[:, None]
    own = np.zeros((len(codes), n_classes))
    own[np.arange(len(codes)), codes] = 1

    def loss(x: Doubles) -> Local:
        logits = columns @ x
        logits -= logits.max(axis=1, keepdims=True)
        powers = np.exp(logits)
        sums = powers.sum(axis=1, keepdims=True)
        found, pull = powers / sums, penalty * x
        value = float(np.log(sums).sum() - np.vdot(logits, own) + np.vdot(pull, x) / 2)

        def curve(step: Doubles) -> Doubles:
            change = found * (columns @ step)
            change -= found * change.sum(axis=1, keepdims=True)
            return np.asarray(columns.T @ change + penalty * step)

        return Local(value, columns.T @ (found - own) + pull, curve)

    start = np.zeros((len(scale), n_classes))
    start[-1] = np.log(own.mean(axis=0)) / scale[-1]
    found = scale[:, None] * minimum(loss, start)
    return found[:-1], found[-1]
