"""The reference kernels of the layout; see ``native/layout.hpp``. Positions are float32, (n, 2)."""

import numpy as np
from scipy.sparse import csr_array

from isotherm.arrays import Floats, Ints
from isotherm.kernels.numbering import Codes


def pair_up(indptr: Ints, indices: Codes, weights: Floats | None, order: Codes, group: Codes) -> int:
    """Group neighbours in pairs, and return the number of groups; a node without a free one joins its nearest group.

    Near means a large weight relative to the degrees. Nodes choose in the given order, which also breaks ties.
    """
    matrix = _matrix(indptr, indices, weights)
    degrees = np.asarray(matrix.sum(axis=1), np.float64)
    inverse = np.divide(1, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0).astype(np.float32)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    group[:] = -1

    def nearest(node: int, free: bool) -> int:
        ends = slice(indptr[node], indptr[node + 1])
        others, near = indices[ends], matrix.data[ends] * inverse[indices[ends]]
        allowed = ((group[others] < 0) == free) & (others != node)
        others, near = others[allowed], near[allowed]
        return int(others[np.lexsort((rank[others], -near))[0]]) if len(others) else -1

    groups, left = 0, []
    for node in order.tolist():
        if group[node] >= 0:
            continue
        mate = nearest(node, free=True)
        if mate < 0:
            left.append(node)
            continue
        group[[node, mate]] = groups
        groups += 1
    for node in left:
        host = nearest(node, free=False)
        group[node] = group[host] if host >= 0 else groups
        groups += host < 0
    return groups


def contract(
    indptr: Ints, indices: Codes, weights: Floats | None, group: Codes, groups: int
) -> tuple[Ints, Codes, Floats]:
    """The graph between groups: parallel edges are added, edges within a group dropped; rows are in no order."""
    member = csr_array((np.ones(len(group), np.float32), (group, np.arange(len(group)))), shape=(groups, len(group)))
    matrix = csr_array(member @ _matrix(indptr, indices, weights) @ member.T)
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float32)


def spread(positions: Floats, mass: Floats, left: float, bottom: float, scale: float, cells: Floats) -> None:
    """Add the mass of each node to the four cells of the grid around it."""
    first, shares = _corners(positions, left, bottom, scale, len(cells))
    for offset, share in zip(_offsets(len(cells)), shares, strict=True):
        cells += np.bincount(first + offset, share * mass, minlength=cells.size).reshape(cells.shape)


def pull_and_push(
    indptr: Ints,
    indices: Codes,
    weights: Floats,
    positions: Floats,
    mass: Floats,
    pull: float,
    left: float,
    bottom: float,
    scale: float,
    field: Floats,
    forces: Floats,
    threads: int,
) -> None:
    """The force on each node per mass: the pull of its neighbours, and the push of all nodes, read from a field.

    The pull is ``sum_j p_ij (x_i - x_j) / (1 + |x_i - x_j|^2)``. The field (side, side, 2) is on the grid of `spread`.
    """
    row = np.repeat(np.arange(len(mass)), np.diff(indptr))
    away = positions[row] - positions[indices]
    away *= (weights / (1 + (away * away).sum(axis=1)))[:, None]
    pulled = np.stack([np.bincount(row, part, minlength=len(mass)) for part in away.T], axis=1)
    first, shares = _corners(positions, left, bottom, scale, len(field))
    flat = field.reshape(-1, 2)
    offsets = zip(_offsets(len(field)), shares, strict=True)
    pushed = np.sum([share[:, None] * flat[first + offset] for offset, share in offsets], axis=0)
    forces[:] = pull * pulled / mass[:, None] - pushed


def advance(
    forces: Floats,
    rate: float,
    momentum: float,
    longest: float,
    velocity: Floats,
    gain: Floats,
    positions: Floats,
    threads: int,
) -> None:
    """Move nodes against their forces, with momentum, by at most ``longest``.

    Each coordinate has a gain that grows while it keeps its direction and shrinks when it turns (Jacobs 1988).
    """
    turns = (forces > 0) == (velocity > 0)
    gain[:] = np.where(turns, np.maximum(gain * np.float32(0.8), np.float32(0.01)), gain + np.float32(0.2))
    step = momentum * velocity - rate * gain * forces
    length = np.sqrt((step * step).sum(axis=1, keepdims=True))
    velocity[:] = step * np.minimum(1, longest / np.maximum(length, 1e-30))
    positions += velocity


def _matrix(indptr: Ints, indices: Codes, weights: Floats | None) -> csr_array:
    data = np.ones(len(indices), np.float32) if weights is None else weights.astype(np.float32)
    return csr_array((data, indices, indptr), shape=(len(indptr) - 1, len(indptr) - 1))


def _corners(positions: Floats, left: float, bottom: float, scale: float, side: int) -> tuple[Ints, list[Floats]]:
    """The first of the four cells around each position, and the shares of all four."""
    place = (positions - np.array([left, bottom], np.float32)) * np.float32(scale)
    cell = place.astype(np.int64)
    a, b = (place - cell).astype(np.float32).T
    return cell[:, 0] * side + cell[:, 1], [(1 - a) * (1 - b), (1 - a) * b, a * (1 - b), a * b]


def _offsets(side: int) -> tuple[int, int, int, int]:
    return 0, 1, side, side + 1
