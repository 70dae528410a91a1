"""Small graphs: distances on the map follow the number of links between nodes, and no two nodes overlap.

The forces of the map bring like nodes together. In a graph of a few dozen nodes, whose names are all shown, some would
lie on top of each other. So the map of a small graph is only the start of another one, of least stress: the differences
between distances on the map and numbers of links, squared and relative to the latter (Gansner, Koren and North 2004).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from isotherm.arrays import Doubles

__all__ = ["MOST", "unfold"]

MOST = 500  # nodes of a small graph
ROUNDS = 80
# Two nodes are pushed apart until their distance is the smaller of two bounds:
LINK = 0.7  # this share of the length of a link,
CLEAR = 0.6  # and this share of the distance between neighbours if all nodes were spread evenly


def unfold(
    positions: NDArray[np.float32], indptr: NDArray[np.int64], indices: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Better positions (n, 2) for the nodes of a small graph."""
    n = len(positions)
    links = csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n))
    hops = shortest_path(links, directed=False, unweighted=True)
    hops[np.isinf(hops)] = hops[np.isfinite(hops)].max(initial=1) + 1  # between components
    weights = np.divide(1, hops**2, out=np.zeros_like(hops), where=hops > 0)
    places = positions.astype(np.float64)
    places *= hops.mean() / max(_distances(places).mean(), 1e-9)
    places += 0.1 * np.stack([np.cos(np.arange(n)), np.sin(np.arange(n))], axis=1)  # no two in the same place
    for _ in range(ROUNDS):
        places = _less_stress(places, hops, weights)
    return _apart(places).astype(np.float32)


def _less_stress(places: Doubles, hops: Doubles, weights: Doubles) -> Doubles:
    """One round of majorization: each node moves to the mean of the places where the others want it."""
    away = _pushed(places, weights * hops / np.maximum(_distances(places), 1e-9))
    towards = np.einsum("ij,jk->ik", weights, places)
    return (towards + away) / np.maximum(weights.sum(axis=1), 1e-9)[:, None]


def _apart(places: Doubles) -> Doubles:
    """Push pairs of nodes apart that are too near to each other."""
    least = min(CLEAR * np.sqrt(np.ptp(places, axis=0).clip(1).prod() / len(places)), LINK)
    for _ in range(ROUNDS):
        distances = np.maximum(_distances(places), 1e-3 * least)
        places = places + _pushed(places, np.maximum(least - distances, 0) / distances / 4)
    return places


def _pushed(places: Doubles, strength: Doubles) -> Doubles:
    """``sum_j strength_ij (x_i - x_j)``; einsum, because a BLAS may round differently with more threads."""
    return strength.sum(axis=1)[:, None] * places - np.einsum("ij,jk->ik", strength, places)


def _distances(places: Doubles) -> Doubles:
    across, up = (part[:, None] - part for part in places.T)
    return np.sqrt(across * across + up * up)
