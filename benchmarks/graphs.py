"""Graphs to race on."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_matrix

__all__ = ["balanced_seeds", "power_law"]


def power_law(n: int, edges: int, *, exponent: float = 2.5, seed: int = 0) -> csr_matrix:
    """A symmetric 0/1 matrix whose degrees follow a power law, nodes in random order.

    Both ends of an edge are drawn in proportion to weights ``(rank + 10) ** (-1 / (exponent - 1))``; loops and
    duplicates are dropped.
    """
    rng = np.random.default_rng(seed)
    share = np.cumsum((np.arange(n) + 10.0) ** (-1 / (exponent - 1)))
    place = rng.permutation(n).astype(np.int32)
    source, target = (place[np.minimum(np.searchsorted(share, rng.random(edges) * share[-1]), n - 1)] for _ in range(2))
    kept = source != target
    ends = np.concatenate([source[kept], target[kept]]), np.concatenate([target[kept], source[kept]])
    matrix = csr_matrix(coo_array((np.ones(len(ends[0])), ends), shape=(n, n)))
    matrix.sort_indices()
    matrix.data[:] = 1
    return matrix


def balanced_seeds(n: int, seeds: int, classes: int, *, seed: int = 1) -> NDArray[np.int64]:
    """Labels with -1 for unknown: ``seeds`` random nodes, as many of each class."""
    labels = np.full(n, -1)
    chosen = np.random.default_rng(seed).choice(n, seeds, replace=False)
    labels[chosen] = np.arange(seeds) % classes
    return labels
