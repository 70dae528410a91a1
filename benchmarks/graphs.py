"""Graphs to race on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_matrix
from scipy.sparse.csgraph import connected_components

__all__ = [
    "CLASSES",
    "balanced_seeds",
    "block_world",
    "communities",
    "dense_world",
    "keep",
    "kept_power_law",
    "power_law",
    "small_world",
]

CLASSES = 10
NODES, EDGES = 1_000_000, 11_500_000
DENSE_NODES, DENSE_EDGES = 400_000, 4_880_000  # of which 4.6 million are left without duplicates
FOLDER = Path("out/graphs")


def small_world(scale: float = 1.0) -> tuple[csr_matrix, NDArray[np.int64]]:
    """The power-law graph of most races, of a million nodes at full size, and 1% seeds of ten classes."""
    n = int(NODES * scale)
    return _with_seeds("power-law graph", kept_power_law(n, int(EDGES * scale)))


def dense_world(scale: float = 1.0) -> tuple[csr_matrix, NDArray[np.int64]]:
    """A graph of 400,000 nodes and 9.2 million entries at full size, with heavier hubs, and 1% seeds of ten classes."""
    n, edges = int(DENSE_NODES * scale), int(DENSE_EDGES * scale)
    return _with_seeds("denser graph", kept(f"communities_{n}_{edges}", lambda: communities(n, edges)))


def block_world(n: int, edges: int) -> tuple[csr_matrix, NDArray[np.int64], NDArray[np.int64]]:
    """The largest connected part of a block model, the class of each node, and labels: -1, but for 1% random seeds."""
    classes = np.random.default_rng(2).integers(CLASSES, size=n)
    matrix = kept(f"blocks_{n}_{edges}", lambda: _blocks(n, edges, classes))
    _, part = connected_components(matrix, directed=False)
    rows = np.flatnonzero(part == np.bincount(part).argmax())
    known = np.full(len(rows), -1)
    seeds = np.random.default_rng(1).choice(len(rows), max(n // 100, 2 * CLASSES), replace=False)
    known[seeds] = classes[rows][seeds]
    matrix = matrix[rows][:, rows]
    print(f"block model: {len(rows)} nodes, {matrix.nnz} entries, {CLASSES} classes, {len(seeds)} seeds", flush=True)
    return matrix, classes[rows], known


def _with_seeds(name: str, matrix: csr_matrix) -> tuple[csr_matrix, NDArray[np.int64]]:
    n = matrix.shape[0]
    print(f"{name}: {n} nodes, {matrix.nnz} entries, {CLASSES} classes, {n // 100} seeds", flush=True)
    return matrix, balanced_seeds(n, n // 100, CLASSES)


def kept_power_law(n: int, edges: int) -> csr_matrix:
    """A power-law graph that is made once and kept in a file."""
    return kept(f"power_law_{n}_{edges}", lambda: power_law(n, edges))


def kept(name: str, make: Callable[[], csr_matrix]) -> csr_matrix:
    """An unweighted graph that is made once and kept in a file."""
    path = FOLDER / f"{name}.npz"
    if not path.exists():
        matrix = make()
        keep(path, indptr=matrix.indptr, indices=matrix.indices)
    stored = np.load(path, allow_pickle=False)
    n = len(stored["indptr"]) - 1
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
    place = rng.permutation(n).astype(np.int32)
    source, target = (place[_draw((np.arange(n) + 10.0) ** (-1 / (exponent - 1)), edges, rng)] for _ in range(2))
    return _simple(source, target, n)


def communities(n: int, edges: int, *, parts: int = 10, seed: int = 0) -> csr_matrix:
    """A symmetric 0/1 matrix of communities that no edge leaves, nodes in random order.

    Both ends of an edge are drawn in proportion to ``rank ** -0.75`` inside a community; loops and duplicates are
    dropped.
    """
    rng = np.random.default_rng(seed)
    place = rng.permutation(n).astype(np.int32)
    first = rng.integers(parts, size=edges) * (n // parts)
    weights = np.arange(1.0, n // parts + 1) ** -0.75
    source, target = (place[first + _draw(weights, edges, rng)] for _ in range(2))
    return _simple(source, target, n)


def _blocks(n: int, edges: int, classes: NDArray[np.int64], *, inside: float = 0.6) -> csr_matrix:
    """A symmetric 0/1 matrix of classes, whose degrees follow a power law.

    The ends of an edge are drawn in proportion to weights. A share of the edges, ``inside``, has both in the same
    class, the rest anywhere; loops and duplicates are dropped.
    """
    rng = np.random.default_rng(0)
    weights = np.minimum((1 - rng.random(n)) ** (-1 / 1.5), 3 * np.sqrt(n))
    source, target = (_draw(weights, edges, rng).astype(np.int32) for _ in range(2))
    stays = rng.random(edges) < inside
    for own in range(CLASSES):
        members, chosen = np.flatnonzero(classes == own), np.flatnonzero(stays & (classes[source] == own))
        target[chosen] = members[_draw(weights[members], len(chosen), rng)]
    return _simple(source, target, n)


def _draw(weights: NDArray[np.floating], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    share = np.cumsum(weights)
    return np.minimum(np.searchsorted(share, rng.random(count) * share[-1]), len(weights) - 1)


def _simple(source: NDArray[np.int32], target: NDArray[np.int32], n: int) -> csr_matrix:
    """The symmetric matrix of these edges, each once, without loops."""
    used = source != target
    ends = np.concatenate([source[used], target[used]]), np.concatenate([target[used], source[used]])
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
