"""What the reference kernels share: names of types, a graph as a SciPy matrix, and what reports are made of."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

__all__ = ["Floats", "Indices", "Indptr", "dots", "largest", "matrix_of", "with_closing"]

Floats: TypeAlias = NDArray[np.floating]
Indptr: TypeAlias = NDArray[np.int64]
Indices: TypeAlias = NDArray[np.int32]


def matrix_of(
    indptr: Indptr, indices: Indices, weights: Floats | None, dtype: np.dtype | type, columns: int | None = None
) -> csr_array:
    """The matrix of a graph, or of a slice of its rows."""
    data = np.ones(len(indices), dtype) if weights is None else weights
    rows, part = len(indptr) - 1, slice(indptr[0], indptr[-1])
    return csr_array((data[part], indices[part], indptr - indptr[0]), shape=(rows, columns or rows))


def with_closing(values: Floats, closing: Floats) -> Floats:
    """The columns and the closing one."""
    return np.column_stack([values, -(values @ closing)])  # (n, W + 1)


def dots(a: Floats, b: Floats) -> NDArray[np.float64]:
    """The dot product of each column."""
    return np.einsum("ij,ij->j", a, b, dtype=np.float64)


def largest(values: Floats) -> NDArray[np.float64]:
    """The largest magnitude of each column."""
    return np.abs(values).max(axis=0, initial=0).astype(np.float64)
