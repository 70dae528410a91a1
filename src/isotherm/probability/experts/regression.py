"""Logistic regression of classes on features of nodes and of their neighbours.

The features of a node are its own row of X, or the mean rows PX and P^2 X of its neighbours and of theirs, or several
of these, each scaled to length 1. They are needed for the seeds only. Logits of all nodes are P (P (X W)), with weights
W of the columns: P^2 X is never formed for all nodes, and the lengths of its rows are estimated by random projections.
With more columns than seeds to fit, the inner products of the seeds are computed once, and serve whichever are hidden.

The loss is scikit-learn's: the log-loss of the seeds, plus the squared weights over 2 C; biases are not penalised. Rows
are centered and rotated to their principal axes. With more columns than rows, the axes are found through the Gram
matrix, the inner products of the rows, and the weights are sums over rows. On the principal axes the curvature of the
loss is nearly diagonal. Scaled by it, Newton's method with conjugate gradient needs a few dozen products.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array, diags_array, hstack, issparse
from scipy.special import log_softmax, softmax

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints
from isotherm.equilibrium.averages import Averaging
from isotherm.probability.experts.expert import LEAST, Expert, Knowledge, Question, Rows, links, mean_weight
from isotherm.probability.optimise import NEGLIGIBLE
from isotherm.seeds import Seeds

STRENGTHS = (100.0, 10.0, 1.0, 0.1)  # inverse penalties; the first is the best for most bags of words
PRIOR = np.exp(-1.5 * np.arange(len(STRENGTHS)))  # their weights before any seed is hidden, but for a factor
SLOPES = ((1.0, 1.0, 1.0), (1.0, 1.0, 1.0), (1.0, 2.0, 4.0), (1.0, 4.0, 16.0))  # factors of log-odds, by penalty
LEAST_BLEND = 1e-9  # smaller weights are 0
MOST_NUMBERS = 4_000_000  # numbers in the rows of all seeds, up to which the last regression is fitted to all of them
HOPELESS = np.log(PRIOR[0] / PRIOR[-1] / LEAST_BLEND)  # so much less log-likelihood means no weight, by any prior
MOST_PRODUCTS = 4000  # seeds whose inner products are kept
COLUMNS = 4096  # sparse columns that are made dense at once
LEAST_AXIS = 1e-6  # shorter axes are dropped: squared length relative to the longest
GRADIENT = 1e-7  # length of the gradient where a fit ends, relative to that at the start
CURVATURE = 0.1  # typical p (1 - p), for the preconditioner
PROJECTED, AT_ONCE = 64, 16  # random directions that estimate row lengths, and how many are applied at once


def features(known: Knowledge) -> Expert | None:
    """Regression on the features of the node itself."""
    if known.rows is None:
        return None
    return Regression(MeanFeatures(known.rows), known.seeds, pool=known.taught)


def neighbours(known: Knowledge) -> Expert | None:
    """Regression on the features of the node, of its neighbours and of theirs."""
    if known.rows is None:
        return None
    return Regression(MeanFeatures(known.rows, known.mean_matrix, (0, 1, 2)), known.seeds, pool=known.taught)


def convolution(known: Knowledge) -> Expert | None:
    """Regression on features after two graph convolutions."""
    if known.rows is None or known.evidence.clustered:
        return None
    csr = links(known.graph)
    matrix = Averaging.convolution(csr, mean_weight(csr), dtype=known.rows.dtype).to_scipy()
    return Regression(MeanFeatures(known.rows, matrix, (2,)), known.seeds, pool=known.taught)


def trees(known: Knowledge) -> Expert | None:
    """Boosted trees on the features of the node, of its neighbours and of theirs."""
    if known.evidence.features is None:
        return None
    from isotherm.probability.experts.boosting import boosted_trees  # few fits have features

    return boosted_trees(known)


class FeatureMap(Protocol):
    """Features of all nodes that are formed only where they are needed."""

    rows: Rows

    def at(self, nodes: Ints) -> Any:
        """(s, d) the features of some nodes."""
        ...

    def logits(self, weights: Doubles) -> Floats:
        """(n, K) the products of all features with weights (d, K)."""
        ...

    def adjoint(self, values: Doubles) -> Doubles:
        """(d, K) the products of the transposed features with values (n, K)."""
        ...

    def only(self, nodes: Ints) -> "FeatureMap | None":
        """The features of some nodes only; None if they need those of other nodes."""
        ...


class MeanFeatures:
    """Features averaged over neighbours some number of times."""

    def __init__(self, rows: Rows, average: csr_array | None = None, hops: Sequence[int] = (0,)) -> None:
        self.rows, self.average = rows, average
        lengths = _lengths(rows, average, max(hops))
        inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        self.scales = {hop: inverse[hop - 1] if hop else np.empty(0) for hop in hops}  # own rows stay as they are

    def at(self, nodes: Ints) -> Any:
        """(s, d parts) the features of some nodes and of their neighbours."""
        parts = [self._scaled(self._means(nodes, hop), hop, nodes) for hop in self.scales]
        return csr_array(hstack(parts)) if issparse(self.rows) else np.hstack(parts)

    def _means(self, nodes: Ints, hop: int) -> Any:
        """The mean rows of some nodes; those of their neighbours, which are needed for it, are formed once."""
        if not hop:
            return self.rows[nodes]
        assert self.average is not None
        walk = self.average[nodes]
        near, places = np.unique(walk.indices, return_inverse=True)
        return csr_array((walk.data, places, walk.indptr), (len(nodes), len(near))) @ self._means(near, hop - 1)

    def _scaled(self, means: Any, hop: int, nodes: Ints) -> Any:
        return diags_array(self.scales[hop][nodes]) @ means if hop else means

    def logits(self, weights: Doubles) -> Floats:
        """(n, K) the logits of all nodes, from the weights of the columns, in the precision of the features."""
        parts = np.split(weights.astype(self.rows.dtype, copy=False), len(self.scales))
        found = [self._walked(self.rows @ part, hop) for part, hop in zip(parts, self.scales, strict=True)]
        return found[0] if len(found) == 1 else np.sum(found, axis=0)

    def _walked(self, x: Floats, hop: int) -> Floats:
        """The columns (n, k), averaged over neighbours and scaled."""
        for _ in range(hop):
            x = self.average @ x  # type: ignore[operator]
        return x * self.scales[hop][:, None] if hop else x

    def adjoint(self, values: Doubles) -> Doubles:
        """(d parts, K) the sums of the features of all nodes, weighted by values (n, K)."""
        return np.vstack([self.rows.T @ self._back(values, hop) for hop in self.scales])

    def only(self, nodes: Ints) -> "MeanFeatures | None":
        """The features of some nodes, if these are their own."""
        return MeanFeatures(self.rows[nodes]) if self.average is None else None

    def _back(self, values: Doubles, hop: int) -> Doubles:
        values = values * self.scales[hop][:, None] if hop else values
        for _ in range(hop):
            values = self.average.T @ values  # type: ignore[union-attr]
        return values


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
    """Logistic regression on the features of the visible seeds, with several penalties.

    Its log-odds against the class shares are a weighted sum over the penalties. The weights, a *blend*, are found by
    hidden seeds; before that they are the `PRIOR` weights. A strong penalty often orders the classes best, but makes
    log-odds too small: so each penalty is tried with several slopes, and the blend may sum to more than 1.
    """

    map: FeatureMap

    def __init__(
        self,
        feature_map: FeatureMap,
        seeds: Seeds,
        strengths: Sequence[float] = STRENGTHS,
        pool: Ints | None = None,  # places of the seeds that it is fitted to; None for all
    ) -> None:
        self.map, self.strengths, self.own = feature_map, strengths, feature_map.at(seeds.nodes)
        self.prior = PRIOR[: len(strengths)] / PRIOR[: len(strengths)].sum()
        self.pool = np.arange(len(seeds.nodes)) if pool is None else pool
        self.wide = self.own.shape[1] > len(self.pool)
        if not self.wide:
            self.own = np.asarray(self.own.toarray() if issparse(self.own) else self.own, dtype=np.float64)
        few = self.wide and len(seeds.nodes) <= MOST_PRODUCTS
        self.products = _products(self.own, self.own[self.pool]) if few else None
        self._codes = seeds.codes[self.pool]
        self._fitted: dict[bytes, Path] = {}  # by the visible seeds

    @cached_property
    def _axes(self) -> "Axes":
        """The principal axes of the seeds that a regression is fitted to; they serve whichever seeds are hidden."""
        return axes_of_gram(self._gram(self.pool)) if self.wide else axes_of_rows(self.own)

    def logits(self, question: Question, blend: Doubles | None = None) -> Floats:
        """(m, K) logits; minus infinity for a class that no visible seed has."""
        taught = self._taught(question)
        present, codes = np.unique(question.seeds.codes[taught], return_inverse=True)
        count = self.map.rows.shape[0] if question.hidden is None else len(question.hidden)
        if len(present) > 1:
            blend = self.prior if blend is None else blend
            weights, bias = self._path(taught, codes, len(present)).mean(self.strengths, blend)
            # Shares of the visible seeds are in each of the logits; those of all seeds are to count, once.
            bias = bias - blend.sum() * np.log(np.bincount(codes) / len(codes))
            bias += np.log(question.seeds.smoothed_shares[present])
            logits = self._scores(weights, question.hidden)
            logits += bias.astype(logits.dtype)
        else:
            logits = np.zeros((count, 1))
        if len(present) == question.seeds.n_classes:
            return logits
        found = np.full((count, question.seeds.n_classes), -np.inf)
        found[:, present] = logits
        return found

    def _taught(self, question: Question) -> Ints:
        """Places of the seeds that a regression is fitted to: some of the visible ones, or all if none is hidden."""
        if not self.wide and self.own.size <= MOST_NUMBERS and len(question.visible) == len(question.seeds.nodes):
            return question.visible
        return self.pool[np.isin(self.pool, question.visible)]

    def blends(self, questions: Sequence[Question]) -> tuple[Doubles, list[Doubles]] | None:
        """How much each penalty counts, if there are several: by all hidden seeds, and without those of a question."""
        if len(self.strengths) == 1:
            return None
        found = self.likelihoods(questions)
        none = found[0][..., :0]
        rests = [np.dstack([none, *found[:place], *found[place + 1 :]]) for place in range(len(found))]
        return self.blend(np.dstack(found)), [self.blend(rest) for rest in rests]

    def likelihoods(self, questions: Sequence[Question]) -> list[Doubles]:
        """(penalties, slopes, h) log-likelihood of the class of each hidden seed by each penalty and slope alone.

        Strong penalties come first. As penalties weaken, the likelihood with slope 1 rises and then falls. Once it
        falls, and a penalty can get no weight with any slope, whichever fold is left out, weaker ones are not tried,
        and their likelihood counts as 0.
        """
        found = [np.full((*np.shape(SLOPES), each.seeds.codes[each.hidden].size), -np.inf) for each in questions]
        for penalty in reversed(range(len(SLOPES))):
            for place, question in enumerate(questions):
                found[place][penalty] = self._likelihood(question, penalty)
            tried = np.array([each[penalty:].sum(axis=2) for each in found])  # (questions, penalties, slopes)
            others = tried.sum(axis=0) - tried
            weak = others[:, 0].max(axis=1) < others[:, 1:].max(axis=(1, 2), initial=-np.inf) - HOPELESS
            falls = others[:, 0, 0] < others[:, 1:, 0].max(axis=1, initial=-np.inf)
            if (weak & falls).all():
                break
        return found

    def _likelihood(self, question: Question, penalty: int) -> Doubles:
        """(slopes, h) the same by one penalty."""
        assert question.hidden is not None
        codes, shares = question.seeds.codes[question.hidden], np.log(question.seeds.smoothed_shares)
        logits = self.logits(question, np.eye(len(self.strengths))[penalty])
        odds = np.maximum(log_softmax(logits, axis=1), np.log(LEAST)) - shares
        own = (np.arange(len(codes)), codes)
        return np.array([log_softmax(shares + slope * odds, axis=1)[own] for slope in SLOPES[penalty]])

    def blend(self, likelihoods: Doubles) -> Doubles:
        """The weights of the penalties, given the log-likelihoods (penalties, slopes, h) of hidden seeds."""
        found = softmax(np.log(self.prior)[:, None] + likelihoods.sum(axis=2))
        return np.where(found.sum(axis=1) > LEAST_BLEND, (found * SLOPES).sum(axis=1), 0)

    def _scores(self, weights: Doubles, asked: Ints | None) -> Floats:
        """(m, K) the products of features with weights, for the seeds that are asked about, or for all nodes."""
        if self.wide:
            if asked is not None and self.products is not None:
                return self._gram(asked) @ weights
            weights = self.own[self.pool].T @ weights
        return np.asarray(self.map.logits(weights) if asked is None else self.own[asked] @ weights)

    def _path(self, taught: Ints, codes: Ints, n_classes: int) -> "Path":
        """Regressions on some of the rows; they start from those on all rows, if these have as many classes."""
        key = taught.tobytes()
        if key not in self._fitted:
            whole, (present, every) = None, np.unique(self._codes, return_inverse=True)
            if len(taught) != len(every) and len(present) == n_classes:
                whole = self._path(self.pool, every, n_classes)
            places = np.searchsorted(self.pool, taught) if self.wide else taught
            self._fitted[key] = Path(self._axes, codes, n_classes, whole, places)
        return self._fitted[key]

    def _gram(self, seeds: Ints) -> Doubles:
        """The inner products of the rows of some seeds with those of the pool."""
        if self.products is None:
            return _products(self.own[seeds], self.own[self.pool])
        return self.products[seeds]


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


class Axes(NamedTuple):
    """Centered rows in the coordinates of their principal axes."""

    rows: Doubles  # (s, r)
    back: Doubles  # weights of the columns, or of the rows, are ``back @ (weights on the axes)``
    mean: Doubles  # the mean row, or the means of the Gram matrix


def axes_of_rows(rows: Doubles) -> Axes:
    """The axes of rows (s, d); logits are ``rows @ weights + bias``."""
    mean = rows.mean(axis=0)
    centered = rows - mean
    if len(rows) < len(mean):
        squares, axes = _longest(centered @ centered.T)
        lengths = np.sqrt(squares)
        return Axes(axes * lengths, centered.T @ (axes / lengths), mean)
    _, axes = _longest(centered.T @ centered)
    return Axes(centered @ axes, axes, mean)


def axes_of_gram(gram: Doubles) -> Axes:
    """The same from the Gram matrix (s, s); logits are the inner products of a node with the rows, times weights."""
    mean = gram.mean(axis=0)
    squares, axes = _longest(gram - mean - mean[:, None] + mean.mean())
    lengths = np.sqrt(squares)
    return Axes(axes * lengths, axes / lengths, mean)


class Path:
    """Regressions on the same rows with several penalties; each starts from one that is fitted already.

    That may also be one of ``near``, which has the same axes and more rows. The rows are all that the axes have, or
    those at the places ``taught``.

    >>> rows, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> found = Path(axes_of_rows(rows), codes, 2).fit(1.0)
    >>> np.diff(rows @ found.weights + found.bias, axis=1).ravel().round(1)
    array([-2. , -0.7,  0.7,  2. ])
    >>> found = Path(axes_of_gram(rows @ rows.T), codes, 2).fit(1.0)
    >>> np.diff(rows @ rows.T @ found.weights + found.bias, axis=1).ravel().round(1)
    array([-2. , -0.7,  0.7,  2. ])
    """

    def __init__(
        self, axes: Axes, codes: Ints, n_classes: int, near: "Path | None" = None, taught: Ints | slice = slice(None)
    ) -> None:
        self.axes, self.taught, self.near = axes, taught, near
        self.codes, self.n_classes = codes, n_classes
        self._on_axes: dict[float, Doubles] = {}  # (r + 1, K) weights on the axes, and biases, by penalty
        self._fitted: dict[float, Weights] = {}

    def fit(self, c: float) -> Weights:
        """The regression with this inverse penalty; each class needs a row."""
        if c not in self._fitted:
            found = _fit_on_axes(self.axes.rows[self.taught], self.codes, self.n_classes, c, self._start(c))
            whole = self.axes.back @ found[:-1]
            self._on_axes[c], self._fitted[c] = found, Weights(whole, found[-1] - self.axes.mean @ whole)
        return self._fitted[c]

    def _start(self, c: float) -> Doubles | None:
        if self.near is not None:
            self.near.fit(c)
            return self.near._on_axes[c]
        nearest = min(self._on_axes, key=lambda other: abs(np.log(other / c)), default=c)
        return self._on_axes.get(nearest)

    def mean(self, strengths: Sequence[float], blend: Doubles) -> Weights:
        """The weighted mean of the regressions with several penalties."""
        parts = [(weight, self.fit(c)) for c, weight in zip(strengths, blend, strict=True) if weight]
        return Weights(
            np.sum([weight * each.weights for weight, each in parts], axis=0),
            np.sum([weight * each.bias for weight, each in parts], axis=0),
        )


def _longest(products: Doubles) -> tuple[Doubles, Doubles]:
    """The squared lengths of the principal axes, and the axes as columns; the shortest are dropped."""
    squares, axes = np.linalg.eigh(products)
    long = squares > max(LEAST_AXIS * squares.max(initial=0), np.finfo(np.float32).tiny)
    return squares[long], axes[:, long]


def _fit_on_axes(rows: Doubles, codes: Ints, n_classes: int, c: float, start: Doubles | None) -> Doubles:
    """Weights on the axes, and biases in the last row."""
    squares = np.einsum("sr,sr->r", rows, rows)
    penalty = np.append(np.full(len(squares), 1 / c), 0)  # biases, in the last row, are free
    scale = 1 / np.sqrt(CURVATURE * np.append(squares, len(rows)) + penalty)
    columns = np.column_stack([rows, np.ones(len(rows))]) * scale
    if start is None:
        start = np.zeros((len(scale), n_classes))
        start[-1] = np.log(np.bincount(codes) / len(codes))
    found = start / scale[:, None]
    fit = columns, codes.astype(np.int64, copy=False), penalty * scale**2, found
    kernels.active.regress(*fit, GRADIENT, NEGLIGIBLE, kernels.thread_count())
    return scale[:, None] * found
