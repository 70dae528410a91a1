"""Averages: over the neighbours of each node, and over all reached nodes.

`Averaging` is the transition matrix ``P = D^-1 A`` of the paper, or another scaled adjacency matrix, as an operator
on blocks of columns. `reached_moments` is the one place where temperatures are averaged over nodes: unreached nodes
never enter a mean.
"""

from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array, diags_array, issparse

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints
from isotherm.graphs import Csr


def average_neighbours(conductance: Csr, scale: Floats, x: Floats, out: Floats, n_threads: int | None = None) -> None:
    """One pass over the edges: ``out = scale (A x)``, for a block as wide as kernels allow; see `Averaging`.

    Rows of ``out`` whose scale is 0 stay as they are.
    """
    indptr, indices, weights = conductance
    weights = None if weights is None else weights.astype(x.dtype, copy=False)
    kernels.active.average(indptr, indices, weights, scale, x, out, kernels.thread_count(n_threads))


class Averaging:
    """The matrix ``M = diag(scale) A diag(inner) + diag(own)``, which is never formed; ``M @ x`` applies it.

    By default it is ``P = D^-1 A``: each node gets the weighted mean of its neighbours, and an isolated node gets 0.

    Parameters
    ----------
    conductance : Csr
        The symmetric matrix A of weights.
    scale : ndarray of shape (n,), optional
        Factor of each row; the inverse degree by default.
    inner : ndarray of shape (n,), optional
        Factor of each column; 1 by default.
    own : ndarray of shape (n,), optional
        What a node counts in its own average; 0 by default.
    dtype
        Type of the arithmetic and of the results, float32 or float64.
    n_threads : int, optional
        Number of threads.

    Examples
    --------
    >>> path = Csr(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32), None)
    >>> Averaging(path) @ np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 0.0]])
    array([[0., 1.],
           [2., 0.],
           [0., 1.]], dtype=float32)
    """

    def __init__(
        self,
        conductance: Csr,
        scale: Floats | None = None,
        *,
        inner: Floats | None = None,
        own: Floats | None = None,
        dtype: DTypeLike = np.float32,
        n_threads: int | None = None,
    ) -> None:
        self.dtype, self.n_threads = np.dtype(dtype), n_threads
        weights = conductance.weights
        self.conductance = conductance._replace(weights=None if weights is None else weights.astype(dtype, copy=False))
        self.scale = (_inverse(conductance.sums) if scale is None else scale).astype(dtype, copy=False)
        self.inner = None if inner is None else inner.astype(dtype, copy=False)
        self.own = None if own is None else own.astype(dtype, copy=False)

    @classmethod
    def convolution(cls, conductance: Csr, loop: float, **how: Any) -> "Averaging":
        """The matrix ``D^-1/2 (A + loop I) D^-1/2`` of graph convolutions, with the loop counted in the degrees."""
        root = 1 / np.sqrt(conductance.sums + loop)
        return cls(conductance, root, inner=root, own=loop * root**2, **how)

    def holding(self, nodes: Ints) -> "Averaging":
        """The same for all other nodes; these nodes keep the values that they have (see `step`)."""
        scale, own = self.scale.copy(), None if self.own is None else self.own.copy()
        for factor in (scale, own):
            if factor is not None:
                factor[nodes] = 0
        return self._with(scale, own)

    def times(self, factor: "float | np.floating[Any]") -> "Averaging":
        """The operator times a positive number."""
        own = None if self.own is None else (self.own * factor).astype(self.dtype)
        return self._with((self.scale * factor).astype(self.dtype), own)

    def _with(self, scale: Floats, own: Floats | None) -> "Averaging":
        changed = copy(self)
        changed.scale, changed.own = scale, own
        return changed

    def step(self, x: Floats, out: Floats) -> None:
        """Write ``M x`` into ``out``; rows whose scale is 0 stay as they are.

        Both are blocks of this operator's type, as wide as kernels allow (`isotherm.kernels.block` and ``width``).
        """
        average_neighbours(
            self.conductance, self.scale, x if self.inner is None else x * self.inner[:, None], out, self.n_threads
        )
        if self.own is not None:
            out += self.own[:, None] * x

    def __matmul__(self, x: Any) -> Floats:
        """``M x`` for columns (n, k), dense or sparse, any number of them; 0 where the scale is 0."""
        found: Floats = np.zeros(x.shape, self.dtype)
        for first in range(0, x.shape[1], kernels.WIDTHS[-1]):
            block = self.block(x[:, first : first + kernels.WIDTHS[-1]])
            whole = block.shape == x.shape  # the result needs no padding either
            out = found if whole else kernels.block(len(block), block.shape[1], self.dtype)
            self.step(block, out)
            if not whole:
                columns = found[:, first : first + kernels.WIDTHS[-1]]
                columns[:] = out[:, : columns.shape[1]]
        return found

    def block(self, columns: Any) -> Floats:
        """Up to 16 columns (n, k) as a block: dense, of this operator's type, padded to a width of the kernels.

        Columns that are such a block already are returned as they are.
        """
        n, k = columns.shape
        fits = not issparse(columns) and columns.dtype == self.dtype and columns.flags.c_contiguous
        if fits and kernels.width(k) == k:
            return np.asarray(columns)
        block = kernels.block(n, kernels.width(k), self.dtype)
        block[:, :k] = columns.toarray() if issparse(columns) else columns
        return block

    def to_scipy(self) -> csr_array:
        """All of M as a sparse matrix (n, n)."""
        matrix = self.conductance.to_scipy()
        matrix = matrix if self.inner is None else matrix @ diags_array(self.inner)
        scaled = diags_array(self.scale) @ matrix
        return csr_array(scaled if self.own is None else scaled + diags_array(self.own)).astype(self.dtype, copy=False)


def _inverse(degrees: Doubles) -> Doubles:
    return np.divide(1, degrees, out=np.zeros_like(degrees), where=degrees > 0)


class Moments(NamedTuple):
    """The number of reached nodes, and the mean and mean square (K,) of each column over them; 0 if there are none."""

    n_reached: int
    mean: Doubles
    square: Doubles

    @property
    def spread(self) -> Doubles:
        """The standard deviation of each column, shape (K,)."""
        return np.sqrt(np.maximum(self.square - self.mean**2, 0))

    @property
    def total(self) -> Doubles:
        """The sum of each column, shape (K,)."""
        return self.n_reached * self.mean


def reached_moments(temperatures: Floats, n_threads: int | None = None) -> Moments:
    """Moments of temperatures (n, K) over reached nodes, in float64; the rows of unreached nodes are NaN.

    >>> reached_moments(np.array([[0.0, 1.0], [np.nan, np.nan], [1.0, 1.0]])).mean
    array([0.5, 1. ])
    """
    count, *sums = kernels.active.table_moments(np.ascontiguousarray(temperatures), kernels.thread_count(n_threads))
    mean, square = np.array(sums).reshape(2, -1) / max(count, 1)
    return Moments(int(count), mean, square)
