"""The map of a graph: coarsen the graph, place its smallest level, and refine it level by level.

The smallest level starts from the two slowest modes of a random walk on it. Each larger level starts where the
smaller one ended: a node begins at its group, moved a little at random, and the forces of ``forces.py`` do the rest.
All random numbers come from the seed, and no sum depends on the number of threads.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from isotherm import kernels
from isotherm.arrays import Floats
from isotherm.map_layout.cache import fetch, fingerprint, keep
from isotherm.map_layout.forces import UNFOLDED_UP_TO, Level, levels, refine, unfold

WORTH_KEEPING = 2000  # nodes from which on a map is cached: smaller ones are computed as fast as read
FIRST, MIDDLE, LAST = 120, 50, 40  # steps on the smallest level, on the levels between, and on the graph itself
GATHER = 4.0  # factor of the pull at first, so that distant parts of a cluster come together
SPREAD = 0.3  # standard deviation of the random offset of a node from its group
LEAST_WEIGHT = 1e-15  # smallest weight relative to the largest
WALK = 300  # power iterations for the slowest modes of the random walk
SMALL = 0.002  # share of the nodes below which a component goes into the strip
FEWEST = 3  # least number of nodes of a component on the map
GAP, LOWEST, HIGHEST = 0.06, 0.02, 0.35  # distance of the strip from the map, and its height, relative to the map


def place(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: Floats | None, *, seed: int = 0, threads: int = 1
) -> NDArray[np.float32]:
    """Positions (n, 2) of the nodes of a symmetric graph: a map within -1 and 1, small components in a strip below."""
    n = len(indptr) - 1
    if weights is not None:  # only ratios matter, and they and their sums must fit float32
        weights = np.maximum(weights / weights.max(initial=0), LEAST_WEIGHT).astype(np.float32)
    links = csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=(n, n))
    _, component = connected_components(links, directed=False)
    mapped = on_the_map(component)
    positions = np.zeros((n, 2), np.float32)
    if mapped.any():
        positions[mapped] = _map(_part(indptr, indices, weights, mapped), seed, threads)
        add_strip(positions, component, mapped)
    return positions


def kept_or_placed(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: Floats | None, *, seed: int = 0, threads: int = 1
) -> NDArray[np.float32]:
    """The result of `place`: read from the user's cache folder, or computed and stored there."""
    n = len(indptr) - 1
    if n < WORTH_KEEPING:
        return place(indptr, indices, weights, seed=seed, threads=threads)
    name = fingerprint((indptr, indices, weights), seed)
    positions = fetch(name, n)
    if positions is None:
        positions = place(indptr, indices, weights, seed=seed, threads=threads)
        keep(name, positions)
    return positions


def _part(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: Floats | None, kept: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats | None]:
    """The rows and columns of the kept nodes."""
    if kept.all():
        return indptr, indices, weights
    return tuple(kernels.active.renumber(indptr, indices, weights, np.flatnonzero(kept).astype(np.int32)))


def _map(
    graph: tuple[NDArray[np.int64], NDArray[np.int32], Floats | None], seed: int, threads: int
) -> NDArray[np.float32]:
    """Positions of the nodes on the map, centred, with its larger span from -1 to 1."""
    rng = np.random.default_rng(seed)
    finer = levels(*graph, rng)
    smallest = finer.pop()
    positions = _first_places(smallest, rng)
    refine(smallest, positions, steps=FIRST, pull=GATHER, threads=threads)
    refine(smallest, positions, steps=FIRST, threads=threads)
    while finer:
        level = finer.pop()
        positions *= np.sqrt(np.float32(min(level.n / len(positions), 1.5)))
        positions = positions[level.group] + np.float32(SPREAD) * rng.standard_normal((level.n, 2), np.float32)
        refine(level, positions, steps=MIDDLE if finer else LAST, threads=threads)
    if len(positions) <= UNFOLDED_UP_TO:
        positions = unfold(positions, *graph[:2])
    low, high = positions.min(axis=0), positions.max(axis=0)
    return (positions - (low + high) / 2) * np.float32(2 / max(float((high - low).max()), 1e-9))


def _first_places(level: Level, rng: np.random.Generator) -> NDArray[np.float32]:
    """The two slowest modes of a lazy random walk, which separate the large parts of a graph, plus a little noise.

    They are found by power iteration with sums in NumPy: a dense solver may round differently with more threads.
    """
    data = np.ones(len(level.indices)) if level.weights is None else level.weights.astype(np.float64)
    matrix = csr_array((data, level.indices, level.indptr), shape=(level.n, level.n))
    degrees = np.maximum(matrix.sum(axis=1), 1e-30)
    scale, flat = 1 / np.sqrt(degrees), np.sqrt(degrees / degrees.sum())
    first, second = rng.standard_normal((2, level.n))
    for _ in range(WALK):
        first, second = (mode + scale * (matrix @ (scale * mode)) for mode in (first, second))
        first = _without(first, flat)
        second = _without(_without(second, flat), first)
    modes = np.stack([first, second], axis=1) * scale[:, None]
    modes -= modes.mean(axis=0)
    modes /= np.maximum(modes.std(axis=0), 1e-9)  # a graph of two nodes has only one mode
    return (0.1 * modes + 1e-3 * rng.standard_normal(modes.shape)).astype(np.float32)


def _without(mode: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """A mode without its component along another mode; both have length 1."""
    rest = mode - (mode * other).sum() * other
    return rest / max(float(np.sqrt((rest * rest).sum())), 1e-30)


def on_the_map(component: NDArray[np.int32]) -> NDArray[np.bool_]:
    """(n,) whether a node is in a component large enough for the map; the largest component always is."""
    sizes = np.bincount(component)
    least = min(max(FEWEST, SMALL * len(component)), sizes.max(initial=0))
    return sizes[component] >= least


def add_strip(positions: NDArray[np.float32], component: NDArray[np.int32], mapped: NDArray[np.bool_]) -> None:
    """Put all other nodes into cells of a strip below the map, largest components first; changes ``positions``."""
    rest = np.flatnonzero(~mapped)
    if not len(rest):
        return
    sizes = np.bincount(component)[component[rest]]
    order = rest[np.lexsort((rest, component[rest], -sizes))]
    low, high = positions[mapped].min(axis=0), positions[mapped].max(axis=0)
    width = max(high[0] - low[0], 0.5)
    height = np.clip(0.5 * len(rest) / len(mapped), LOWEST, HIGHEST) * 2
    cell = np.sqrt(width * height / len(rest))
    columns = max(int(width / cell), 1)
    number = np.arange(len(order))
    middle = (low[0] + high[0]) / 2 - cell * min(columns - 1, len(rest) - 1) / 2
    positions[order, 0] = middle + cell * (number % columns)
    positions[order, 1] = low[1] - 2 * GAP - cell * (number // columns)
