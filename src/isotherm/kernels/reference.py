"""The kernels in plain NumPy and SciPy: the oracle for tests, and the fallback where no compiler exists.

Signatures and results are the same as in the native kernels; ``threads`` is accepted and ignored. A graph comes as
``indptr``, ``indices`` and ``weights``, which are None if all are one. A block is an array (n, W) of W columns.

A report is an array of six rows: dot, step, residual, sum, square, size. It has one value per column of the block and
a last one for the closing column. That column is minus the sum of the columns marked by ``closing``, and stands for
the class that is not solved for.
"""

# ruff: noqa: F401 - the kernels in the other files belong to this module

from heapq import heapify, heappop, heappush
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csr_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import spsolve_triangular

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.kernels.drawing import advance, contract, pair_up, pull_and_push, spread
from isotherm.kernels.numbering import Codebook, Codes, Words, count_breaks, mixed, split_rows
from isotherm.kernels.regression import regress
from isotherm.kernels.tables import (
    best_columns,
    chances,
    combine,
    decide,
    log_odds,
    mix,
    nearest_rows,
    odds_of,
    place_rows,
    rank,
    refine,
    table_moments,
)

Weights: TypeAlias = Floats | None  # None if all are one
Marks: TypeAlias = NDArray[np.uint8]


def matrix_of(
    indptr: Ints, indices: Codes, weights: Weights, dtype: np.dtype | type, columns: int | None = None
) -> csr_array:
    """The matrix of a graph, or of a slice of its rows."""
    data = np.ones(len(indices), dtype) if weights is None else weights
    rows, part = len(indptr) - 1, slice(indptr[0], indptr[-1])
    return csr_array((data[part], indices[part], indptr - indptr[0]), shape=(rows, columns or rows))


def with_closing(values: Floats, closing: Floats) -> Floats:
    """The columns, and the closing column after them."""
    return np.column_stack([values, -(values @ closing)])  # (n, W + 1)


def dots(a: Floats, b: Floats) -> Doubles:
    """The dot product of each column."""
    return np.einsum("ij,ij->j", a, b, dtype=np.float64)


def largest(values: Floats) -> Doubles:
    """The largest magnitude of each column."""
    return np.abs(values).max(axis=0, initial=0).astype(np.float64)


def sweep(
    indptr: Ints, indices: Codes, weights: Weights, scale: Floats, closing: Floats, x: Floats, out: Floats, threads: int
) -> Doubles:
    """One sweep, eq. 4 of the paper: ``out = D^-1 A x`` where ``scale = 1 / degree``, ``out = x`` where scale is 0."""
    averages = scale[:, None] * (matrix_of(indptr, indices, weights, x.dtype) @ x)
    out[:] = np.where(scale[:, None] > 0, averages, x)
    step = largest(with_closing(out - x, closing))
    return np.stack([np.zeros_like(step), step, step, *_moments(out, closing)])


def laplacian(
    indptr: Ints, indices: Codes, weights: Weights, diagonal: Floats, p: Floats, q: Floats, threads: int
) -> Doubles:
    """``q = (D - A) p`` where the diagonal is positive (the interior), else 0, or its first rows; reports ``p . q``."""
    own = p[: len(diagonal)]
    product = diagonal[:, None] * own - matrix_of(indptr, indices, weights, p.dtype, len(p)) @ p
    q[:] = np.where(diagonal[:, None] > 0, product, 0)
    report = np.zeros((6, p.shape[1] + 1))
    report[0, :-1] = dots(own, q)
    return report


def average(
    indptr: Ints, indices: Codes, weights: Weights, scale: Floats, x: Floats, out: Floats, threads: int
) -> None:
    """``out = scale (A x)`` on the rows of a slice of ``indptr``; out is left as it is where scale is 0."""
    product = scale[:, None] * (matrix_of(indptr, indices, weights, x.dtype, len(x)) @ x)
    out[:] = np.where(scale[:, None] > 0, product, out)


def chebyshev(
    indptr: Ints,
    indices: Codes,
    weights: Weights,
    scale: Floats,
    shift: float,
    x: Floats,
    before: Floats,
    threads: int,
) -> None:
    """A step of Chebyshev's recurrence: ``before = scale (A x) - shift x - before``."""
    product = scale[:, None] * (matrix_of(indptr, indices, weights, x.dtype, len(x)) @ x)
    before[:] = product - before.dtype.type(shift) * x - before


def sign_average(
    indptr: Ints, indices: Codes, weights: Weights, scale: Floats, size: Floats, bits: Marks, out: Floats, threads: int
) -> None:
    """`average`, where x (n, 16) is ``size`` times signs: 1 where a bit of ``bits`` (n, 2) is set, else -1."""
    signs = 2 * np.unpackbits(bits, axis=1).astype(np.float32) - 1
    average(indptr, indices, weights, scale, size[:, None] * signs, out, threads)


def cg_step(
    scale: Floats, closing: Floats, alpha: Floats, p: Floats, q: Floats, x: Floats, r: Floats, threads: int
) -> Doubles:
    """``x += alpha p``, ``r -= alpha q``; reports ``r . D^-1 r`` and what the stopping rule needs."""
    move = alpha * p
    x += move
    r -= alpha * q
    scaled = scale[:, None] * r
    dot = np.append(dots(r, scaled), 0)
    step, residual = largest(with_closing(move, closing)), largest(with_closing(scaled, closing))
    return np.stack([dot, step, residual, *_moments(x, closing)])


def moments(closing: Floats, x: Floats, threads: int) -> Doubles:
    """Sum, sum of squares and largest magnitude of each column and of the closing column."""
    return np.stack([*np.zeros((3, x.shape[1] + 1)), *_moments(x, closing)])


def group_sums(group: Codes, weight: Floats | None, x: Floats, out: Doubles, threads: int) -> None:
    """Add the (weighted) sums of the rows of each group to ``out``; a row with a negative group is in none."""
    member = group >= 0
    rows = x if weight is None else x * weight[:, None]
    np.add.at(out, group[member], rows[member].astype(np.float64))


def group_shift(group: Codes, weight: Floats | None, amounts: Floats, x: Floats, threads: int) -> None:
    """Add the amounts of its group, times the weight, to each row that is in one."""
    member = group >= 0
    shift = amounts[group[member]]
    x[member] += shift if weight is None else weight[member, None] * shift


def cg_turn(scale: Floats, outflow: Floats | None, beta: Floats, r: Floats, p: Floats, threads: int) -> Doubles:
    """The next cg direction: ``p = D^-1 r + beta p``; reports ``outflow . p`` unless outflow is None."""
    p *= beta
    p += scale[:, None] * r
    report = np.zeros((6, p.shape[1] + 1))
    if outflow is not None:
        report[0, :-1] = outflow.astype(np.float64) @ p
    return report


def cool(outflow: Floats, warmth: Floats, excess: Floats, threads: int) -> None:
    """``excess -= outflow * warmth``: the right-hand side after the whole interior is raised by ``warmth``."""
    excess -= outflow[:, None] * warmth


def assemble(
    rows: Codes, columns: Codes, weights: Weights, indptr: Ints, indices: Codes, out_weights: Weights, threads: int
) -> None:
    """Sort a list of entries into compressed rows, stably, by row and then by column."""
    order = np.lexsort((columns, rows))
    indptr[:] = np.append(0, np.cumsum(np.bincount(rows, minlength=len(indptr) - 1)))
    indices[:] = columns[order]
    if weights is not None and out_weights is not None:
        out_weights[:] = weights[order]


def bipartite(
    indptr: Ints,
    indices: Codes,
    weights: Weights,
    out_indptr: Ints,
    out_indices: Codes,
    out_weights: Weights,
    threads: int,
) -> None:
    """The bipartite graph ``[[0, A], [A.T, 0]]`` of the arcs A."""
    arcs = matrix_of(indptr, indices, weights, np.float64)
    both = block_array([[None, arcs], [arcs.T, None]], format="csr")
    both.sort_indices()
    out_indptr[:], out_indices[:] = both.indptr, both.indices
    if out_weights is not None:
        out_weights[:] = both.data


def add_transpose(indptr: Ints, indices: Codes, weights: Weights, threads: int) -> tuple[Ints, Codes, Floats | None]:
    """``A + A.T`` for a matrix A with ascending rows; without weights if A has none and no entry in both places."""
    matrix = matrix_of(indptr, indices, weights, np.float32 if weights is None else weights.dtype)
    both = csr_array(matrix + matrix.T)
    both.sort_indices()
    bare = weights is None and both.nnz == 2 * len(indices)
    return both.indptr.astype(np.int64), both.indices.astype(np.int32), None if bare else both.data


def row_sums(indptr: Ints, weights: Floats, power: int, sums: Doubles, threads: int) -> None:
    """Fill in the sum of a power of the weights in each row."""
    rows = np.flatnonzero(np.diff(indptr))
    sums.fill(0)
    if len(rows):
        sums[rows] = np.add.reduceat(weights.astype(np.float64) ** power, indptr[rows])


def mix_colours(
    indptr: Ints, indices: Codes, weights: Weights, unit: float, before: Words, after: Words, threads: int
) -> None:
    """Fill in new colours: each node hashes its colour with the colours and weights around it, in any order.

    Weights count in units of ``unit``, with ten bits of their mantissas, so that rounding errors do not matter.
    """
    shares = np.array(1 / unit if weights is None else weights.astype(np.float64) / unit)
    bits = (shares.view(np.uint64) + np.uint64(1 << 41)) >> np.uint64(42)
    sums, rows = np.zeros_like(before), np.flatnonzero(np.diff(indptr))
    if len(rows):
        sums[rows] = np.add.reduceat(mixed(before[indices] ^ bits), indptr[rows])
    after[:] = mixed(before + np.uint64(3) * sums)


def push(
    indptr: Ints,
    indices: Codes,
    weights: Weights,
    degree: Floats,
    least: Doubles,
    most: int,
    x: Floats,
    r: Floats,
    threads: int,
) -> Doubles:
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


def renumber(indptr: Ints, indices: Codes, weights: Weights, order: Codes) -> tuple[Ints, Codes, Floats | None]:
    """The submatrix of the nodes in ``order``, renumbered: node ``order[v]`` becomes ``v``."""
    part = matrix_of(indptr, indices, weights, np.float64)[order][:, order]
    part.sort_indices()
    return part.indptr.astype(np.int64), part.indices.astype(np.int32), None if weights is None else part.data


def scan(indptr: Ints, indices: Codes, weights: Weights, threads: int) -> tuple[bool, bool, int]:
    """Whether indices rise strictly in each row, whether the matrix is symmetric, the number of diagonal entries."""
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    same_row = rows[1:] == rows[:-1]
    ordered = bool(np.all(indices[1:][same_row] > indices[:-1][same_row]))
    values = np.ones(len(indices)) if weights is None else weights
    return ordered, _symmetric(rows, indices, values), int(np.count_nonzero(rows == indices))


def reach(indptr: Ints, indices: Codes, reached: Marks) -> None:
    """Mark, in place, every node that a path joins to a marked one."""
    matrix = matrix_of(indptr, indices, None, np.float32)
    _, component = connected_components(matrix, directed=False)
    reached[:] = np.isin(component, component[reached > 0])


def depth(indptr: Ints, indices: Codes, marked: Marks, limit: int) -> int:
    """The largest distance of a node from the marked nodes, in edges; at most ``limit``."""
    matrix, steps = matrix_of(indptr, indices, None, np.float32), 0
    while steps < limit:
        found = (matrix @ (marked > 0).astype(np.float32) > 0) & (marked == 0)
        if not found.any():
            break
        marked[found] = 1
        steps += 1
    return steps


def components(indptr: Ints, indices: Codes) -> Codes:
    """The number of the connected component of each node, from 0 on, in the order of their first nodes."""
    _, found = connected_components(matrix_of(indptr, indices, None, np.float32), directed=False)
    _, first, place = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[place].astype(np.int32)


def _symmetric(rows: Ints, columns: Codes, values: Floats) -> bool:
    by_row, by_column = np.lexsort((values, columns, rows)), np.lexsort((values, rows, columns))
    return bool(
        np.array_equal(rows[by_row], columns[by_column])
        and np.array_equal(columns[by_row], rows[by_column])
        and np.array_equal(values[by_row], values[by_column])
    )


def _moments(x: Floats, closing: Floats) -> Doubles:
    closed = with_closing(x.astype(np.float64), closing)
    return np.stack([closed.sum(axis=0), (closed**2).sum(axis=0), largest(closed)])


def eliminate(
    indptr: Ints, indices: Codes, weights: Weights, interior: Marks, seed: int, domain_size: int, threads: int
) -> tuple[NDArray[Any], ...]:
    """Approximate elimination of the interior: the order of removal, the pivots, then arguments of ``forward``.

    The node with the fewest neighbours is removed next. Exact elimination would join its neighbours into a clique. Here
    each neighbour, lightest first, keeps one edge of it, to a heavier neighbour drawn in proportion to weight. The
    boundary is merged into one node, -1, which is never removed. There are no domains here.
    """
    rng = np.random.default_rng(seed)
    around = _neighbours(matrix_of(indptr, indices, weights, np.float64), interior)
    queue = [(len(edges), node) for node, edges in around.items()]
    heapify(queue)
    order: list[int] = []
    pivots: list[float] = []
    factor: list[list[tuple[int, float]]] = []
    while around:
        degree, node = heappop(queue)
        if degree != len(around.get(node, ())):
            continue
        rays = sorted((weight, other) for other, weight in around.pop(node).items())
        total = sum(weight for weight, _ in rays)
        order.append(node)
        pivots.append(1 / total)
        factor.append([(other, weight / total) for weight, other in rays if other >= 0])
        _replace_star(around, node, rays, rng)
        for other, _ in factor[-1]:
            heappush(queue, (len(around[other]), other))
    position = np.zeros(len(indptr), dtype=np.int32)
    position[order] = np.arange(len(order))
    entries = [entry for row in factor for entry in row]
    return (
        np.array(order, dtype=np.int32),
        np.array(pivots),
        np.cumsum([0, *map(len, factor)], dtype=np.int64),
        position[np.array([target for target, _ in entries], dtype=np.int64)],
        np.array([share for _, share in entries], dtype=np.float32),
        np.zeros(1, dtype=np.int64),
        np.zeros(len(order) + 1, dtype=np.int64),
        np.zeros(0, dtype=np.int32),
        np.zeros(0, dtype=np.float32),
    )


def _neighbours(matrix: csr_array, interior: Marks) -> dict[int, dict[int, float]]:
    around: dict[int, dict[int, float]] = {}
    for node in np.flatnonzero(interior).tolist():
        row = slice(matrix.indptr[node], matrix.indptr[node + 1])
        edges = around.setdefault(node, {})
        for end, weight in zip(matrix.indices[row].tolist(), matrix.data[row].tolist(), strict=True):
            other = end if interior[end] else -1
            edges[other] = edges.get(other, 0.0) + weight
    return around


def _replace_star(
    around: dict[int, dict[int, float]], node: int, rays: list[tuple[float, int]], rng: np.random.Generator
) -> None:
    weights = np.array([weight for weight, _ in rays])
    for place, (weight, one) in enumerate(rays):
        if one >= 0:
            del around[one][node]
        heavier = weights[place + 1 :]
        if len(heavier):
            two = rays[place + 1 + int(rng.choice(len(heavier), p=heavier / heavier.sum()))][1]
            for a, b in ((one, two), (two, one)):
                if a >= 0:
                    around[a][b] = around[a].get(b, 0.0) + weight * float(heavier.sum() / weights.sum())


def forward(
    pivots: Floats,
    indptr: Ints,
    targets: Codes,
    shares: NDArray[np.float32],
    domains: Ints,
    back_indptr: Ints,
    back_sources: Codes,
    back_shares: NDArray[np.float32],
    scale: Doubles,
    q: Doubles,
    y: Floats,
    threads: int,
) -> Doubles:
    """``y = L^-1 r`` for ``r = -q``; see ``descend``. Reports ``r . M^-1 r`` and, as size, the largest ``scale r``."""
    y[:] = _passed_on(indptr, targets, shares, -q[: len(y)])
    report = np.zeros((5, y.shape[1] + 1))
    report[0, :-1] = dots(y, pivots[:, None] * y)
    report[4, :-1] = largest(scale[:, None] * q[: len(y)])
    return report


def descend(
    pivots: Floats,
    indptr: Ints,
    targets: Codes,
    shares: NDArray[np.float32],
    domains: Ints,
    back_indptr: Ints,
    back_sources: Codes,
    back_shares: NDArray[np.float32],
    graph_indptr: Ints,
    indices: Codes,
    weights: Weights,
    degree: Floats,
    closing: Floats,
    alpha: Floats,
    gain: Floats,
    beta: Floats,
    y: Floats,
    g: Floats,
    p: Floats,
    x: Floats,
    threads: int,
) -> Doubles:
    """One iteration of cg with the factor M from ``eliminate`` as preconditioner, on all columns.

    First the step ``x += alpha p``. Instead of the residual r, ``y = L^-1 r`` is kept, and becomes ``y - alpha g``. The
    next direction is ``p = gain z + beta p``, where ``z = M^-1 r``; then ``g = L^-1 (D - A) p``.

    Reports five rows: the energy ``r . z``, the curvature ``p . (D - A) p``, the products of y and g and of g with
    itself, both scaled by the pivots, and the size of z.
    """
    inside, column = len(pivots), pivots[:, None]
    y[:] -= alpha * g
    factor = eye_array(inside, format="csr") - matrix_of(indptr, targets, shares.astype(np.float64), np.float64)
    z = spsolve_triangular(factor.tocsr(), (column * y).astype(np.float64), lower=False, unit_diagonal=True)
    x[:inside] += alpha * p[:inside]
    p[:inside] = gain * z + beta * p[:inside]
    q = (degree[:, None] * p - matrix_of(graph_indptr, indices, weights, p.dtype) @ p)[:inside]
    g[:] = _passed_on(indptr, targets, shares, q)
    report = np.zeros((5, y.shape[1] + 1))
    products = (y, column * y), (p[:inside], q), (y, column * g), (g, column * g)
    report[:4, :-1] = [dots(*pair) for pair in products]
    report[4] = largest(with_closing(z, closing))
    return report


def _passed_on(indptr: Ints, targets: Codes, shares: NDArray[np.float32], r: Floats) -> Doubles:
    """Each node, in order, passes on what it has to its targets, by their shares."""
    factor = eye_array(len(r), format="csr") - matrix_of(indptr, targets, shares.astype(np.float64), np.float64)
    passed: Doubles = spsolve_triangular(factor.T.tocsr(), r.astype(np.float64), unit_diagonal=True)
    return passed
