"""The reference kernels of approximate elimination, and of cg with its factor as preconditioner."""

from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import spsolve_triangular

from isotherm.kernels.shared import Floats, Indices, Indptr, dots, largest, matrix_of, with_closing

__all__ = ["descend", "eliminate", "forward"]


def eliminate(
    indptr: Indptr,
    indices: Indices,
    weights: Floats | None,
    interior: NDArray[np.uint8],
    seed: int,
    domain_size: int,
    threads: int,
) -> tuple[NDArray[Any], ...]:
    """Approximate elimination of the interior.

    The node with the fewest neighbours is removed next. Exact elimination would join its neighbours into a clique. Here
    each neighbour, lightest first, keeps one edge of it, to a heavier neighbour drawn in proportion to weight. The
    boundary is merged into one node, -1, which is never removed.

    Returns
    -------
    tuple
        The order of removal and the pivots, then the arguments of ``forward`` from ``indptr`` on: targets and
        shares of each node in order, the bounds of the domains, and the entries out of the domains, by target. There
        are no domains here.
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


def _neighbours(matrix: csr_array, interior: NDArray[np.uint8]) -> dict[int, dict[int, float]]:
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
    indptr: Indptr,
    targets: Indices,
    shares: NDArray[np.float32],
    domains: Indptr,
    back_indptr: Indptr,
    back_sources: Indices,
    back_shares: NDArray[np.float32],
    scale: NDArray[np.float64],
    q: NDArray[np.float64],
    y: Floats,
    threads: int,
) -> NDArray[np.float64]:
    """``y = L^-1 r`` for the residual ``r = -q``, with the factor M from ``eliminate``; see ``descend``.

    Reports ``r . M^-1 r`` as energy, and the largest ``scale r`` as size.
    """
    y[:] = _passed_on(indptr, targets, shares, -q[: len(y)])
    report = np.zeros((5, y.shape[1] + 1))
    report[0, :-1] = dots(y, pivots[:, None] * y)
    report[4, :-1] = largest(scale[:, None] * q[: len(y)])
    return report


def descend(
    pivots: Floats,
    indptr: Indptr,
    targets: Indices,
    shares: NDArray[np.float32],
    domains: Indptr,
    back_indptr: Indptr,
    back_sources: Indices,
    back_shares: NDArray[np.float32],
    graph_indptr: Indptr,
    indices: Indices,
    weights: Floats | None,
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
) -> NDArray[np.float64]:
    """One iteration of cg with the factor M from ``eliminate`` as preconditioner, on all columns.

    First the step ``x += alpha p``. Instead of the residual r, ``y = L^-1 r`` is kept, and becomes ``y - alpha g``. The
    next direction is ``p = gain z + beta p``, where ``z = M^-1 r``, and ``g = L^-1 (D - A) p`` that of its product.

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


def _passed_on(indptr: Indptr, targets: Indices, shares: NDArray[np.float32], r: Floats) -> NDArray[np.float64]:
    """Each node, in order, passes on what it has to its targets, by their shares."""
    factor = eye_array(len(r), format="csr") - matrix_of(indptr, targets, shares.astype(np.float64), np.float64)
    passed: NDArray[np.float64] = spsolve_triangular(factor.T.tocsr(), r.astype(np.float64), unit_diagonal=True)
    return passed
