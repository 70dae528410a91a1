"""How nodes move: smaller versions of a graph, the forces between nodes, and the unfolding of small graphs.

*Levels.* Pairs of neighbours are merged until a few hundred groups are left. Each level is a graph of groups.

*Forces.* Neighbours pull with the weight of their link, and all nodes push each other apart. These are the forces of
t-SNE (van der Maaten and Hinton 2008) with links in place of similarities. The push is a convolution with
1 / (1 + d^2), computed on a grid by Fourier transforms (Linderman et al. 2019).

*Unfolding.* The forces bring similar nodes together. In a graph of a few dozen nodes, whose names are all shown, some
would lie on top of each other. So the map of a small graph is only the start of a map of least stress: the squared
differences between distances on the map and numbers of links, relative to the latter (Gansner, Koren and North 2004).
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft2, next_fast_len, rfft2
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from isotherm import kernels
from isotherm.arrays import Doubles, Floats

COARSEST = 600  # nodes of the smallest level
LEAST_GAIN = 0.93  # stop if merging leaves more than this share of the nodes
CELL = 0.4  # width of a cell; the push changes over distances of about 1
MOST_CELLS = 512  # along one side of the map
RATE, LONGEST = 1 / 3, 5.0  # step size relative to the force, and the longest step
EARLY, LATE = 0.5, 0.8  # momentum in the first quarter of the steps, and later
UNFOLDED_UP_TO = 500  # most nodes of a graph that is unfolded
ROUNDS = 80  # iterations of the majorization, and then of pushing apart
# Nodes are pushed apart to the smaller of two distances:
LINK = 0.7  # this share of the length of a link
CLEAR = 0.6  # this share of the distance between neighbours if all nodes were spread evenly


class Level(NamedTuple):
    """A version of the graph whose nodes are groups of original nodes."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: Floats | None  # None: all one
    mass: NDArray[np.float32]  # (n,) number of original nodes in each group
    group: NDArray[np.int32] | None  # (n,) group of each node on the next smaller level; None on the smallest

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self.mass)


def levels(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: Floats | None, rng: np.random.Generator
) -> list[Level]:
    """All levels of a graph, from the graph itself to the smallest."""
    found = [Level(indptr, indices, weights, np.ones(len(indptr) - 1, np.float32), None)]
    while (last := found[-1]).n > COARSEST:
        group = np.empty(last.n, np.int32)
        groups = kernels.active.pair_up(*last[:3], _order(last, rng), group)
        if groups > LEAST_GAIN * last.n:
            break
        mass = np.bincount(group, last.mass, minlength=groups).astype(np.float32)
        found[-1] = last._replace(group=group)
        indptr, indices, weights = kernels.active.contract(*last[:3], group, groups)
        found.append(Level(indptr, indices, weights, mass, None))
    return found


def _order(level: Level, rng: np.random.Generator) -> NDArray[np.int32]:
    """The order in which nodes choose a partner: nodes with few neighbours first, ties at random."""
    shuffled = rng.permutation(level.n).astype(np.int32)
    return shuffled[np.argsort(np.diff(level.indptr)[shuffled], kind="stable")]


def refine(level: Level, positions: NDArray[np.float32], *, steps: int, pull: float = 1.0, threads: int = 1) -> None:
    """Move the nodes of one level from their positions (n, 2), in place; a larger pull gathers distant neighbours."""
    weights, mass = _pulls(level), level.mass / level.mass.sum(dtype=np.float64).astype(np.float32)
    velocity, gain, forces = np.zeros_like(positions), np.ones_like(positions), np.empty_like(positions)
    for step in range(steps):
        values, *place = push(positions, mass, threads)
        kernels.active.pull_and_push(
            level.indptr, level.indices, weights, positions, mass, pull, *place, values, forces, threads
        )
        momentum = EARLY if step < steps / 4 else LATE
        kernels.active.advance(forces, RATE, momentum, LONGEST, velocity, gain, positions, threads)
        positions -= positions.mean(axis=0, dtype=np.float64).astype(np.float32)


def _pulls(level: Level) -> NDArray[np.float32]:
    """How strongly each link pulls: its weight relative to the degrees of both ends; the sum over all links is 1."""
    row = np.repeat(np.arange(level.n, dtype=np.int32), np.diff(level.indptr))  # of each entry
    weights = np.ones(len(row), np.float32) if level.weights is None else level.weights.astype(np.float32)
    degrees = np.bincount(row, weights, minlength=level.n).astype(np.float64)  # int without entries
    inverse = np.divide(1, degrees, out=np.zeros_like(degrees), where=degrees > 0).astype(np.float32)
    weights *= inverse[row] + inverse[level.indices]
    weights /= np.float32(weights.sum(dtype=np.float64) or 1)
    return weights


def push(
    positions: NDArray[np.float32], mass: NDArray[np.float32], threads: int
) -> tuple[NDArray[np.float32], float, float, float]:
    """The push on a unit of mass at each cell of a grid, ``sum_j m_j (x - x_j) / (1 + d^2)^2 / Z``.

    Z is the sum of ``m_i m_j / (1 + d^2)`` over all pairs. Returns the push (side, side, 2), and the left end, the
    lower end and the cells per unit of the grid.
    """
    low = positions.min(axis=0) - 1.0
    span = float((positions.max(axis=0) + 1.0 - low).max())
    # Cells grow in steps of 10 %, so that a cached result of `_nearness` can mostly be used.
    cell = CELL * 1.1 ** max(0, np.ceil(np.log(span / CELL / MOST_CELLS) / np.log(1.1)))
    cells = next_fast_len(int(span / cell) + 4, real=True)
    size = 2 * cells  # zero padding: the convolution does not wrap around
    place = float(low[0]) - cell, float(low[1]) - cell, 1 / cell
    masses = np.zeros((size, size), np.float32)
    kernels.active.spread(positions, mass, *place, masses)
    waves = rfft2(masses, workers=threads)
    waves *= _nearness(size, cell)
    nearness = irfft2(waves, s=(size, size), workers=threads)[:cells, :cells]
    total = float(np.sum(masses[:cells, :cells] * nearness, dtype=np.float64))  # Z
    values = np.zeros((cells, cells, 2), np.float32)
    scale = np.float32(-1 / (4 * cell * total))
    np.multiply(nearness[2:] - nearness[:-2], scale, out=values[1:-1, :, 0])
    np.multiply(nearness[:, 2:] - nearness[:, :-2], scale, out=values[:, 1:-1, 1])
    return values, *place


@lru_cache(maxsize=4)
def _nearness(size: int, cell: float) -> NDArray[np.complex64]:
    """The Fourier transform of 1 / (1 + d^2) on a periodic grid."""
    steps = np.minimum(np.arange(size), size - np.arange(size)) * cell
    squares = (steps * steps).astype(np.float32)
    return rfft2(1 / (1 + squares[:, None] + squares))


def unfold(
    positions: NDArray[np.float32], indptr: NDArray[np.int64], indices: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Positions (n, 2) of less stress for the nodes of a small graph."""
    n = len(positions)
    links = csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n))
    hops = shortest_path(links, directed=False, unweighted=True)
    hops[np.isinf(hops)] = hops[np.isfinite(hops)].max(initial=1) + 1  # between different components
    weights = np.divide(1, hops**2, out=np.zeros_like(hops), where=hops > 0)
    places = positions.astype(np.float64)
    places *= hops.mean() / max(_distances(places).mean(), 1e-9)
    angles = np.arange(n)  # radians
    places += 0.1 * np.stack([np.cos(angles), np.sin(angles)], axis=1)  # no two nodes are in the same place
    for _ in range(ROUNDS):
        places = _less_stress(places, hops, weights)
    return _apart(places).astype(np.float32)


def _less_stress(places: Doubles, hops: Doubles, weights: Doubles) -> Doubles:
    """One round of stress majorization: each node moves to the mean of the places that its distances suggest."""
    away = _pushed(places, weights * hops / np.maximum(_distances(places), 1e-9))
    towards = np.einsum("ij,jk->ik", weights, places)
    return (towards + away) / np.maximum(weights.sum(axis=1), 1e-9)[:, None]


def _apart(places: Doubles) -> Doubles:
    """Push apart pairs of nodes that are too close."""
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
