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
    """``out = scale (A x)`` for a block as wide as kernels allow; rows of ``out`` whose scale is 0 stay as they are."""
    kernels.active.average(*conductance.of_type(x.dtype), scale, x, out, kernels.thread_count(n_threads))


class Averaging:
    """The matrix ``M = diag(scale) A diag(inner) + diag(own)``, which is never formed; by default ``P = D^-1 A``."""

    def __init__(
        self,
        conductance: Csr,
        scale: Floats | None = None,  # (n,) factor of each row; by default the inverse degree, 0 at isolated nodes
        *,
        inner: Floats | None = None,  # (n,) factor of each column; 1 by default
        own: Floats | None = None,  # (n,) what a node counts in its own average; 0 by default
        dtype: DTypeLike = np.float32,
        n_threads: int | None = None,
    ) -> None:
        self.dtype, self.n_threads = np.dtype(dtype), n_threads
        self.conductance = conductance.of_type(dtype)
        if scale is None:
            degrees = conductance.sums
            scale = np.divide(1, degrees, out=np.zeros_like(degrees), where=degrees > 0)
        self.scale = scale.astype(dtype, copy=False)
        self.inner = None if inner is None else inner.astype(dtype, copy=False)
        self.own = None if own is None else own.astype(dtype, copy=False)

    @classmethod
    def convolution(cls, conductance: Csr, loop: float, **how: Any) -> "Averaging":
        """The matrix ``D^-1/2 (A + loop I) D^-1/2`` of graph convolutions, with the loop counted in the degrees."""
        root = 1 / np.sqrt(conductance.sums + loop)
        return cls(conductance, root, inner=root, own=loop * root**2, **how)

    def holding(self, nodes: Ints) -> "Averaging":
        """The same operator, except that these nodes keep their values (see `step`)."""
        kept = np.ones(len(self.scale), self.dtype)
        kept[nodes] = 0
        return self.times(kept)

    def times(self, factor: "float | np.floating[Any] | Floats") -> "Averaging":
        """The operator times a number, or with each row times its own factor (n,)."""
        changed = copy(self)
        changed.scale = (self.scale * factor).astype(self.dtype)
        changed.own = None if self.own is None else (self.own * factor).astype(self.dtype)
        return changed

    def step(self, x: Floats, out: Floats) -> None:
        """Write ``M x`` into ``out``, both blocks as kernels take them; rows whose scale is 0 stay as they are."""
        scaled = x if self.inner is None else x * self.inner[:, None]
        average_neighbours(self.conductance, self.scale, scaled, out, self.n_threads)
        if self.own is not None:
            out += self.own[:, None] * x

    def chebyshev(self, x: Floats, before: Floats, shift: float) -> None:
        """A step of Chebyshev's recurrence, ``before = M x - shift x - before``, where M is a scaled adjacency."""
        assert self.inner is None
        assert self.own is None
        threads = kernels.thread_count(self.n_threads)
        kernels.active.chebyshev(*self.conductance, self.scale, shift, x, before, threads)

    def __matmul__(self, x: Any) -> Floats:
        """``M x`` for columns (n, k), dense or sparse, any number of them; 0 where the scale is 0."""
        found = kernels.block(x.shape[0], x.shape[1], self.dtype)
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
        """Up to 16 columns (n, k) as a dense block, padded to a width of the kernels; the same array if it is one."""
        n, k = columns.shape
        if not issparse(columns) and columns.dtype == self.dtype and kernels.is_block(columns):
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
