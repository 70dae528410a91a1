"""Multinomial logistic regression, fast for few rows.

The loss is scikit-learn's: the log-loss of the rows, plus the squared weights over 2 C; biases are not penalised. Rows
are centered and rotated to their principal axes. With more columns than rows, the axes are found through the Gram
matrix, the inner products of the rows, and the weights are sums over rows. On the principal axes the curvature of the
loss is nearly diagonal; preconditioned by it, L-BFGS needs a few dozen steps.
"""

from typing import NamedTuple

import numpy as np

from isotherm.arrays import Doubles, Ints
from isotherm.probability.optimise import minimum

MOST_ITERATIONS = 50
GRADIENT = 1e-2  # gradient tolerance of L-BFGS, in seeds
PROGRESS = 1e-5  # relative decrease of the loss at which L-BFGS stops
LEAST_AXIS = 1e-6  # shorter axes are dropped: squared length relative to the longest
CURVATURE = 0.1  # typical p (1 - p), for the preconditioner


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
    long = squares > max(LEAST_AXIS * squares[-1], np.finfo(np.float32).tiny)
    return squares[long], axes[:, long]


def _fit_on_axes(rows: Doubles, squares: Doubles, codes: Ints, n_classes: int, c: float) -> tuple[Doubles, Doubles]:
    """Weights and biases for rows (s, r) in the coordinates of their principal axes."""
    scale = 1 / np.sqrt(CURVATURE * squares + 1 / c)
    loss = _Loss(rows * scale, codes, n_classes, scale**2 / c)
    options = {"maxiter": MOST_ITERATIONS, "gtol": GRADIENT, "ftol": PROGRESS}
    weights, bias = loss.split(minimum(loss, loss.start, options=options, work=rows.size * n_classes))
    return scale[:, None] * weights, bias


class _Loss:
    """The loss and its gradient by weights (r, K) and biases (K,)."""

    def __init__(self, rows: Doubles, codes: Ints, n_classes: int, penalty: Doubles) -> None:
        self.rows, self.codes, self.penalty = rows, codes, penalty[:, None]
        self.shape, self.places = (rows.shape[1], n_classes), np.arange(len(codes))
        shares = np.bincount(codes, minlength=n_classes) / len(codes)
        self.start = np.concatenate([np.zeros(rows.shape[1] * n_classes), np.log(shares)])

    def split(self, x: Doubles) -> tuple[Doubles, Doubles]:
        """Weights and biases."""
        weights, bias = np.split(x, [self.shape[0] * self.shape[1]])
        return weights.reshape(self.shape), bias

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        weights, bias = self.split(x)
        logits = self.rows @ weights + bias
        logits -= logits.max(axis=1, keepdims=True)
        own = logits[self.places, self.codes].sum()
        found = np.exp(logits, out=logits)
        sums = found.sum(axis=1, keepdims=True)
        pull = self.penalty * weights
        value = float(np.log(sums).sum() - own + np.sum(pull * weights) / 2)
        found /= sums
        found[self.places, self.codes] -= 1
        return value, np.concatenate([(self.rows.T @ found + pull).ravel(), found.sum(axis=0)])
