"""An independent answer for small graphs: harmonic measures by dense elimination, and all that follows from them.

A node is removed and its neighbours are joined to each other (Grassmann, Taksar and Heyman). Nothing is subtracted, so
each number is right to a few units of rounding whatever the weights are. No code of Isotherm is used.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Given", "shares"]

Doubles = NDArray[np.float64]


class Given(NamedTuple):
    """A small graph with seeds."""

    weights: Doubles  # (n, n) of arcs from row to column, or of edges if it is symmetric
    directed: bool
    side: str
    seeds: list[int]
    trust: Doubles  # (s,) weight of each seed, infinite where it is held


def shares(given: Given) -> Doubles:
    """For each node, where random walks from it end: the share (n, s) of each seed; NaN where no seed is reached."""
    matrix, held, copies = _lifted(given)
    reached = _absorbed(matrix, held)  # (lifted nodes, held nodes)
    n, s = len(given.weights), len(given.seeds)
    by_seed = reached.reshape(len(matrix), -1, s).sum(axis=1)
    found = np.stack([by_seed[copy * _size(given) :][:n] for copy in range(copies)])
    known = ~np.isnan(found[:, :, 0])
    total = np.where(known[:, :, None], found, 0).sum(axis=0)
    count = known.sum(axis=0)[:, None]
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


def _size(given: Given) -> int:
    return len(given.weights) + int(np.isfinite(given.trust).sum())


def _lifted(given: Given) -> tuple[Doubles, list[int], int]:
    """A symmetric matrix, the nodes that are held, one copy of the graph after the other, and how many copies count."""
    n, size = len(given.weights), _size(given)
    grounds = iter(range(n, size))
    held = [node if np.isinf(trust) else next(grounds) for node, trust in zip(given.seeds, given.trust, strict=True)]
    arcs = given.weights
    if not given.directed or given.side == "edges":
        plain = arcs * (1 - np.eye(n))
        plain = plain + plain.T if given.directed else plain
        whole = np.zeros((size, size))
        whole[:n, :n] = plain
        for node, ground, trust in zip(given.seeds, held, given.trust, strict=True):
            if ground >= n:
                whole[node, ground] = whole[ground, node] = trust * (plain[node].sum() or 1)
        return whole, held, 1
    whole = np.zeros((2 * size, 2 * size))
    whole[:n, size : size + n] = arcs
    leaving, arriving = arcs.sum(axis=1), arcs.sum(axis=0)
    copies = 2 if given.side == "both" else 1
    for node, ground, trust in zip(given.seeds, held, given.trust, strict=True):
        if ground < n:
            continue
        degrees = [leaving[node], arriving[node]]
        if (copies == 1 and leaving[node] == 0) or leaving[node] + arriving[node] == 0:
            degrees = [1, 1]
        for copy in range(copies):  # a walk goes on from either copy of a seed to the ground of that copy
            whole[copy * size + node, copy * size + ground] = trust * degrees[copy]
    whole = whole + whole.T
    return whole, [copy * size + node for copy in range(copies) for node in held], copies


def _absorbed(matrix: Doubles, held: list[int]) -> Doubles:
    """For each node, the probability that a random walk ends at each of the held nodes; NaN where it never ends."""
    weights, removed = matrix.copy(), []
    np.fill_diagonal(weights, 0)
    for node in _reached(matrix, held):
        near = np.flatnonzero(weights[node])
        wires = weights[node, near]
        steps = wires / wires.sum()
        weights[node] = weights[:, node] = 0
        weights[np.ix_(near, near)] += np.outer(wires, steps)
        weights[near, near] = 0
        removed.append((node, near, steps))
    found = np.full((len(matrix), len(held)), np.nan)
    found[held] = np.eye(len(held))
    for node, near, steps in reversed(removed):
        found[node] = steps @ found[near]
    return found


def _reached(matrix: Doubles, held: list[int]) -> list[int]:
    """The nodes that a path joins to a held node, without the held ones."""
    seen, queue = set(held), list(held)
    while queue:
        for other in np.flatnonzero(matrix[queue.pop()]).tolist():
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return sorted(seen - set(held))
