"""Graphs to race on."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_matrix

__all__ = ["CLASSES", "balanced_seeds", "keep", "kept_power_law", "power_law", "small_world"]

CLASSES = 10
NODES, EDGES = 1_000_000, 11_500_000
FOLDER = Path("out/graphs")


def small_world(scale: float = 1.0) -> tuple[csr_matrix, NDArray[np.int64]]:
    """The power-law graph of most races, of a million nodes at full size, and 1% seeds of ten classes."""
    n = int(NODES * scale)
    matrix, labels = kept_power_law(n, int(EDGES * scale)), balanced_seeds(n, n // 100, CLASSES)
    print(f"power-law graph: {n} nodes, {matrix.nnz} entries, {CLASSES} classes, {n // 100} seeds", flush=True)
    return matrix, labels


def kept_power_law(n: int, edges: int) -> csr_matrix:
    """A power-law graph that is made once and kept in a file."""
    path = FOLDER / f"power_law_{n}_{edges}.npz"
    if not path.exists():
        matrix = power_law(n, edges)
        keep(path, indptr=matrix.indptr, indices=matrix.indices)
    stored = np.load(path, allow_pickle=False)
    return csr_matrix((np.ones(len(stored["indices"])), stored["indices"], stored["indptr"]), shape=(n, n))


def keep(path: Path, **arrays: NDArray[Any]) -> None:
    """Write arrays to a file that is whole or does not exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part.npz")
    np.savez(unfinished, allow_pickle=False, **arrays)
    unfinished.replace(path)


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
