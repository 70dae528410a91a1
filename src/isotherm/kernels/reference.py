"""The kernels in plain NumPy and SciPy: the oracle for tests, and the fallback where no compiler exists.

Signatures and results are those of the native kernels; ``threads`` is accepted and ignored. A graph comes as
``indptr``, ``indices`` and ``weights``, which are None if all are one. A block is an array (n, W) of W columns.

A report is an array of six rows: dot, step, residual, sum, square, size. It has one value per column of the block and
a last one for the closing column. That column is minus the sum of the columns marked by ``closing``, and stands for
the class that is not solved for.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csr_array
from scipy.sparse.csgraph import connected_components

from isotherm.kernels.drawing import advance as advance
from isotherm.kernels.drawing import contract as contract
from isotherm.kernels.drawing import pair_up as pair_up
from isotherm.kernels.drawing import pull_and_push as pull_and_push
from isotherm.kernels.drawing import spread as spread
from isotherm.kernels.elimination import descend as descend
from isotherm.kernels.elimination import eliminate as eliminate
from isotherm.kernels.elimination import forward as forward
from isotherm.kernels.neighbours import nearest_rows as nearest_rows
from isotherm.kernels.neighbours import refine as refine
from isotherm.kernels.numbering import count_breaks as count_breaks
from isotherm.kernels.numbering import number as number
from isotherm.kernels.numbering import rehash as rehash
from isotherm.kernels.numbering import split_rows as split_rows
from isotherm.kernels.numbering import text_keys as text_keys
from isotherm.kernels.shared import Floats, Indices, Indptr, dots, largest, matrix_of, with_closing
from isotherm.kernels.tables import best_columns as best_columns
from isotherm.kernels.tables import chances as chances
from isotherm.kernels.tables import combine as combine
from isotherm.kernels.tables import place_rows as place_rows
from isotherm.kernels.tables import rank as rank
from isotherm.kernels.tables import table_moments as table_moments


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
    """One sweep, eq. 4 of the paper: ``out = D^-1 A x`` where ``scale = 1 / degree``, ``out = x`` where it is 0."""
    averages = scale[:, None] * (matrix_of(indptr, indices, weights, x.dtype) @ x)
    out[:] = np.where(scale[:, None] > 0, averages, x)
    step = largest(with_closing(out - x, closing))
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
    """``q = (D - A) p`` where the diagonal is positive (the interior), 0 elsewhere; reports ``p . q``.

    Pass the first part of ``indptr`` to compute the first rows only.
    """
    own = p[: len(diagonal)]
    product = diagonal[:, None] * own - matrix_of(indptr, indices, weights, p.dtype, len(p)) @ p
    q[:] = np.where(diagonal[:, None] > 0, product, 0)
    report = np.zeros((6, p.shape[1] + 1))
    report[0, :-1] = dots(own, q)
    return report


def average(
    indptr: Indptr, indices: Indices, weights: Floats | None, scale: Floats, x: Floats, out: Floats, threads: int
) -> None:
    """``out = scale (A x)`` on the rows of a slice of ``indptr``; out is left as it is where scale is 0."""
    product = scale[:, None] * (matrix_of(indptr, indices, weights, x.dtype, len(x)) @ x)
    out[:] = np.where(scale[:, None] > 0, product, out)


def sign_average(
    indptr: Indptr,
    indices: Indices,
    weights: Floats | None,
    scale: Floats,
    size: Floats,
    bits: NDArray[np.uint8],
    out: Floats,
    threads: int,
) -> None:
    """`average`, where x (n, 16) is ``size`` times signs: 1 where a bit of ``bits`` (n, 2) is set, else -1."""
    signs = 2 * np.unpackbits(bits, axis=1).astype(np.float32) - 1
    average(indptr, indices, weights, scale, size[:, None] * signs, out, threads)


def cg_step(
    scale: Floats, closing: Floats, alpha: Floats, p: Floats, q: Floats, x: Floats, r: Floats, threads: int
) -> NDArray[np.float64]:
    """``x += alpha p``, ``r -= alpha q``; reports ``r . D^-1 r`` and what the stopping rule needs."""
    move = alpha * p
    x += move
    r -= alpha * q
    scaled = scale[:, None] * r
    dot = np.append(dots(r, scaled), 0)
    step, residual = largest(with_closing(move, closing)), largest(with_closing(scaled, closing))
    return np.stack([dot, step, residual, *_moments(x, closing)])


def moments(closing: Floats, x: Floats, threads: int) -> NDArray[np.float64]:
    """Sum, sum of squares and largest magnitude of each column and of the closing column."""
    return np.stack([*np.zeros((3, x.shape[1] + 1)), *_moments(x, closing)])


def group_sums(group: Indices, weight: Floats | None, x: Floats, out: NDArray[np.float64], threads: int) -> None:
    """Add the (weighted) sums of the rows of each group to ``out``; a row with a negative group is in none."""
    member = group >= 0
    rows = x if weight is None else x * weight[:, None]
    np.add.at(out, group[member], rows[member].astype(np.float64))


def group_shift(group: Indices, weight: Floats | None, amounts: Floats, x: Floats, threads: int) -> None:
    """Add the amounts of its group, times the weight, to each row that is in one."""
    member = group >= 0
    shift = amounts[group[member]]
    x[member] += shift if weight is None else weight[member, None] * shift


def cg_turn(
    scale: Floats, outflow: Floats | None, beta: Floats, r: Floats, p: Floats, threads: int
) -> NDArray[np.float64]:
    """The next cg direction: ``p = D^-1 r + beta p``; reports ``outflow . p`` unless outflow is None."""
    p *= beta
    p += scale[:, None] * r
    report = np.zeros((6, p.shape[1] + 1))
    if outflow is not None:
        report[0, :-1] = outflow.astype(np.float64) @ p
    return report


def cool(outflow: Floats, warmth: Floats, heat: Floats, threads: int) -> None:
    """``heat -= outflow * warmth``: the right-hand side after the whole interior is raised by ``warmth``."""
    heat -= outflow[:, None] * warmth


def assemble(
    rows: Indices,
    columns: Indices,
    weights: Floats | None,
    indptr: Indptr,
    indices: Indices,
    sorted_weights: Floats | None,
    threads: int,
) -> None:
    """Sort a list of entries into compressed rows, stably, by row and then by column."""
    order = np.lexsort((columns, rows))
    indptr[:] = np.append(0, np.cumsum(np.bincount(rows, minlength=len(indptr) - 1)))
    indices[:] = columns[order]
    if weights is not None and sorted_weights is not None:
        sorted_weights[:] = weights[order]


def bipartite(
    indptr: Indptr,
    indices: Indices,
    weights: Floats | None,
    out_indptr: Indptr,
    out_indices: Indices,
    out_weights: Floats | None,
    threads: int,
) -> None:
    """The bipartite graph ``[[0, A], [A.T, 0]]`` of the arcs A."""
    arcs = matrix_of(indptr, indices, weights, np.float64)
    both = block_array([[None, arcs], [arcs.T, None]], format="csr")
    both.sort_indices()
    out_indptr[:], out_indices[:] = both.indptr, both.indices
    if out_weights is not None:
        out_weights[:] = both.data


def add_transpose(
    indptr: Indptr, indices: Indices, weights: Floats | None, threads: int
) -> tuple[Indptr, Indices, Floats | None]:
    """``A + A.T`` for a matrix A with ascending rows; without weights if A has none and no entry in both places."""
    matrix = matrix_of(indptr, indices, weights, np.float32 if weights is None else weights.dtype)
    both = csr_array(matrix + matrix.T)
    both.sort_indices()
    bare = weights is None and both.nnz == 2 * len(indices)
    return both.indptr.astype(np.int64), both.indices.astype(np.int32), None if bare else both.data


def row_sums(indptr: Indptr, weights: Floats, power: int, sums: NDArray[np.float64], threads: int) -> None:
    """Fill in the sum of a power of the weights in each row."""
    rows = np.flatnonzero(np.diff(indptr))
    sums.fill(0)
    if len(rows):
        sums[rows] = np.add.reduceat(weights.astype(np.float64) ** power, indptr[rows])


def push(
    indptr: Indptr,
    indices: Indices,
    weights: Floats | None,
    degree: Floats,
    least: NDArray[np.float64],
    most: int,
    x: Floats,
    r: Floats,
    threads: int,
) -> NDArray[np.float64]:
    """Move residual heat on until ``|r| <= least * degree`` everywhere, or until ``most`` entries would be read.

    To move the residual of a node means to warm the node, ``x += r / degree``, which passes the heat on to its
    neighbours. ``(D - A) x + r`` stays the same in the interior, where the degree is positive. Each of the first
    columns of the block has its own limit. Returns the largest ``|r| / degree`` that is left in each.
    """
    rows, inside = matrix_of(indptr, indices, weights, x.dtype), degree > 0
    for column, limit in enumerate(least):
        left = most
        while True:
            moving = np.flatnonzero(inside & (np.abs(r[:, column]) > limit * degree))
            left -= int(np.diff(indptr)[moving].sum())
            if not len(moving) or left < 0:
                break
            warmth = r[moving, column] / degree[moving]
            x[moving, column] += warmth
            r[moving, column] = 0
            r[:, column] += np.where(inside, warmth @ rows[moving], 0)
    scaled = np.abs(r[inside, : len(least)]) / degree[inside, None]
    return np.max(scaled, axis=0, initial=0).astype(np.float64)


def renumber(
    indptr: Indptr, indices: Indices, weights: Floats | None, order: Indices
) -> tuple[Indptr, Indices, Floats | None]:
    """The submatrix of the nodes in ``order``, renumbered: node ``order[v]`` becomes ``v``."""
    part = matrix_of(indptr, indices, weights, np.float64)[order][:, order]
    part.sort_indices()
    return part.indptr.astype(np.int64), part.indices.astype(np.int32), None if weights is None else part.data


def scan(indptr: Indptr, indices: Indices, weights: Floats | None, threads: int) -> tuple[bool, bool, int]:
    """Whether indices rise strictly in each row, whether the matrix is symmetric, the number of diagonal entries."""
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    same_row = rows[1:] == rows[:-1]
    ordered = bool(np.all(indices[1:][same_row] > indices[:-1][same_row]))
    values = np.ones(len(indices)) if weights is None else weights
    return ordered, _symmetric(rows, indices, values), int(np.count_nonzero(rows == indices))


def reach(indptr: Indptr, indices: Indices, reached: NDArray[np.uint8]) -> None:
    """Mark, in place, every node that a path joins to a marked one."""
    matrix = matrix_of(indptr, indices, None, np.float32)
    _, component = connected_components(matrix, directed=False)
    reached[:] = np.isin(component, component[reached > 0])


def depth(indptr: Indptr, indices: Indices, marked: NDArray[np.uint8], limit: int) -> int:
    """The number of edges between the marked nodes and the node that is farthest from them, at most ``limit``."""
    matrix, steps = matrix_of(indptr, indices, None, np.float32), 0
    while steps < limit:
        found = (matrix @ (marked > 0).astype(np.float32) > 0) & (marked == 0)
        if not found.any():
            break
        marked[found] = 1
        steps += 1
    return steps


def components(indptr: Indptr, indices: Indices) -> NDArray[np.int32]:
    """The number of the connected component of each node, from 0 on, in the order of their first nodes."""
    _, number = connected_components(matrix_of(indptr, indices, None, np.float32), directed=False)
    _, first, place = np.unique(number, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[place].astype(np.int32)


def _symmetric(rows: NDArray[np.int64], columns: NDArray[np.int32], values: Floats) -> bool:
    by_row, by_column = np.lexsort((values, columns, rows)), np.lexsort((values, rows, columns))
    return bool(
        np.array_equal(rows[by_row], columns[by_column])
        and np.array_equal(columns[by_row], rows[by_column])
        and np.array_equal(values[by_row], values[by_column])
    )


def _moments(x: Floats, closing: Floats) -> NDArray[np.float64]:
    closed = with_closing(x.astype(np.float64), closing)
    return np.stack([closed.sum(axis=0), (closed**2).sum(axis=0), largest(closed)])
