"""The kernels in plain NumPy and SciPy: the oracle of the tests, and the fallback where no compiler exists.

Signatures and results are those of ``native/kernels.hpp``; ``threads`` is accepted and ignored. A report is an
array of six rows (dot, step, residual, sum, square, size), with a value for each column of the block and a last one
for the closing column: minus the sum of the columns marked by ``closing``.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

Floats: TypeAlias = NDArray[np.floating]
Indptr: TypeAlias = NDArray[np.int64]
Indices: TypeAlias = NDArray[np.int32]


def sweep(
    indptr: Indptr,
    indices: Indices,
    weights: Floats | None,
    scale: Floats,
    closing: Floats,
    x: Floats,
    out: Floats,
    threads: int,
) -> NDArray[np.float64]:
    """One sweep of eq. 4: ``out = D^-1 A x`` where ``scale = 1 / degree``, ``out = x`` where it is 0."""
    averages = scale[:, None] * (_matrix(indptr, indices, weights, x.dtype) @ x)
    out[:] = np.where(scale[:, None] > 0, averages, x)
    step = _largest(_close(out - x, closing))
    return np.stack([np.zeros_like(step), step, step, *_moments(out, closing)])


def laplacian(
    indptr: Indptr,
    indices: Indices,
    weights: Floats | None,
    diagonal: Floats,
    p: Floats,
    q: Floats,
    threads: int,
) -> NDArray[np.float64]:
    """``q = (D - A) p`` where the diagonal is positive (the interior), 0 elsewhere; reports ``p . q``."""
    product = diagonal[:, None] * p - _matrix(indptr, indices, weights, p.dtype) @ p
    q[:] = np.where(diagonal[:, None] > 0, product, 0)
    report = np.zeros((6, p.shape[1] + 1))
    report[0, :-1] = _dot(p, q)
    return report


def cg_step(
    scale: Floats, closing: Floats, alpha: Floats, p: Floats, q: Floats, x: Floats, r: Floats, threads: int
) -> NDArray[np.float64]:
    """``x += alpha p``, ``r -= alpha q``; reports ``r . D^-1 r`` and what the stopping rule needs."""
    move = alpha * p
    x += move
    r -= alpha * q
    scaled = scale[:, None] * r
    dot = np.append(_dot(r, scaled), 0)
    step, residual = _largest(_close(move, closing)), _largest(_close(scaled, closing))
    return np.stack([dot, step, residual, *_moments(x, closing)])


def cg_turn(scale: Floats, beta: Floats, r: Floats, p: Floats, threads: int) -> None:
    """The next direction: ``p = D^-1 r + beta p``."""
    p *= beta
    p += scale[:, None] * r


def scan(indptr: Indptr, indices: Indices, weights: Floats | None, threads: int) -> tuple[bool, bool, int]:
    """Whether the indices rise strictly in each row, whether the matrix is symmetric, and its diagonal entries."""
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    same_row = rows[1:] == rows[:-1]
    ordered = bool(np.all(indices[1:][same_row] > indices[:-1][same_row]))
    values = np.ones(len(indices)) if weights is None else weights
    return ordered, _symmetric(rows, indices, values), int(np.count_nonzero(rows == indices))


def reach(indptr: Indptr, indices: Indices, reached: NDArray[np.uint8]) -> None:
    """Mark, in place, every node that a path joins to a marked one."""
    matrix = _matrix(indptr, indices, None, np.float32)
    _, component = connected_components(matrix, directed=False)
    reached[:] = np.isin(component, component[reached > 0])


def _matrix(indptr: Indptr, indices: Indices, weights: Floats | None, dtype: np.dtype | type) -> csr_array:
    data = np.ones(len(indices), dtype) if weights is None else weights
    n = len(indptr) - 1
    return csr_array((data, indices, indptr), shape=(n, n))


def _symmetric(rows: NDArray[np.int64], columns: NDArray[np.int32], values: Floats) -> bool:
    by_row, by_column = np.lexsort((values, columns, rows)), np.lexsort((values, rows, columns))
    return bool(
        np.array_equal(rows[by_row], columns[by_column])
        and np.array_equal(columns[by_row], rows[by_column])
        and np.array_equal(values[by_row], values[by_column])
    )


def _close(values: Floats, closing: Floats) -> Floats:
    return np.column_stack([values, -(values @ closing)])  # (n, W + 1)


def _dot(a: Floats, b: Floats) -> NDArray[np.float64]:
    return np.einsum("ij,ij->j", a, b, dtype=np.float64)


def _largest(values: Floats) -> NDArray[np.float64]:
    return np.abs(values).max(axis=0, initial=0).astype(np.float64)


def _moments(x: Floats, closing: Floats) -> NDArray[np.float64]:
    closed = _close(x.astype(np.float64), closing)
    return np.stack([closed.sum(axis=0), (closed**2).sum(axis=0), _largest(closed)])
