"""The forces of the map: neighbours pull with the weight of their link, and all nodes push each other apart.

They are those of t-SNE (van der Maaten and Hinton 2008) with the links in place of its similarities. The push is a
convolution with 1 / (1 + d^2), which is found on a grid by Fourier transforms (Linderman et al. 2019).
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft2, next_fast_len, rfft2

from isotherm import kernels
from isotherm.arrays import Floats
from isotherm.layout.levels import Level

__all__ = ["Field", "Push", "refine"]

CELL = 0.4  # width of a cell; the push changes over distances of about 1
MOST_CELLS = 512  # along one side of the map
RATE, LONGEST = 1 / 3, 5.0  # of a step: what the force is multiplied by, and the largest length
EARLY, LATE = 0.5, 0.8  # momentum in the first quarter of the steps, and later


def refine(level: Level, positions: NDArray[np.float32], *, steps: int, pull: float = 1.0, threads: int = 1) -> None:
    """Move the nodes of one version of a graph so many steps, in place.

    Parameters
    ----------
    level
        The version.
    positions
        (n, 2) where its nodes are.
    steps
        How many.
    pull
        How much stronger links pull than at equilibrium: more brings far neighbours together.
    threads
        How many threads to use; the result does not depend on it.
    """
    weights, mass = _pulls(level), level.mass / level.mass.sum(dtype=np.float64).astype(np.float32)
    velocity, gain, forces = np.zeros_like(positions), np.ones_like(positions), np.empty_like(positions)
    push = Push(MOST_CELLS, threads)
    for step in range(steps):
        field = push.field(positions, mass)
        kernels.active.pull_and_push(
            level.indptr, level.indices, weights, positions, mass, pull, *field.place, field.values, forces, threads
        )
        momentum = EARLY if step < steps / 4 else LATE
        kernels.active.advance(forces, RATE, momentum, LONGEST, velocity, gain, positions, threads)
        positions -= positions.mean(axis=0, dtype=np.float64).astype(np.float32)


def _pulls(level: Level) -> NDArray[np.float32]:
    """How strongly each link pulls: its weight relative to the degrees of both ends; all add up to 1."""
    row = level.row
    weights = np.ones(len(row), np.float32) if level.weights is None else level.weights.astype(np.float32)
    degrees = np.bincount(row, weights, minlength=level.n).astype(np.float64)  # int if there are no entries
    inverse = np.divide(1, degrees, out=np.zeros_like(degrees), where=degrees > 0).astype(np.float32)
    weights *= inverse[row] + inverse[level.indices]
    weights /= np.float32(weights.sum(dtype=np.float64) or 1)
    return weights


class Field:
    """The push at each cell of a grid, and where the grid lies."""

    def __init__(self, values: Floats, left: float, bottom: float, cell: float) -> None:
        self.values = values  # (side, side, 2)
        self.place = left, bottom, 1 / cell


class Push:
    """Finds the push of all nodes on a grid.

    Parameters
    ----------
    most_cells
        Cells along one side of the map at most; a wider map has larger cells.
    threads
        For the Fourier transforms.
    """

    def __init__(self, most_cells: int, threads: int) -> None:
        self.most_cells, self.threads = most_cells, threads

    def field(self, positions: NDArray[np.float32], mass: NDArray[np.float32]) -> Field:
        """The push on a unit of mass: ``sum_j m_j (x - x_j) / (1 + d^2)^2 / Z``.

        Z is the sum of ``m_i m_j / (1 + d^2)`` over all pairs.
        """
        low = positions.min(axis=0) - 1.0
        span = float((positions.max(axis=0) + 1.0 - low).max())
        # Cells grow in steps of 10%, so that a cached result of `_nearness` mostly fits.
        cell = CELL * 1.1 ** max(0, np.ceil(np.log(span / CELL / self.most_cells) / np.log(1.1)))
        cells = next_fast_len(int(span / cell) + 4, real=True)
        size = 2 * cells  # zero padding, so that the convolution does not wrap around
        left, bottom = float(low[0]) - cell, float(low[1]) - cell
        masses = np.zeros((size, size), np.float32)
        kernels.active.spread(positions, mass, left, bottom, 1 / cell, masses)
        waves = rfft2(masses, workers=self.threads)
        waves *= _nearness(size, cell)
        nearness = irfft2(waves, s=(size, size), workers=self.threads)[:cells, :cells]
        total = float(np.sum(masses[:cells, :cells] * nearness, dtype=np.float64))  # Z
        values = np.zeros((cells, cells, 2), np.float32)
        scale = np.float32(-1 / (4 * cell * total))
        np.multiply(nearness[2:] - nearness[:-2], scale, out=values[1:-1, :, 0])
        np.multiply(nearness[:, 2:] - nearness[:, :-2], scale, out=values[:, 1:-1, 1])
        return Field(values, left, bottom, cell)


@lru_cache(maxsize=4)
def _nearness(size: int, cell: float) -> NDArray[np.complex64]:
    """The Fourier transform of 1 / (1 + d^2) on a periodic grid."""
    steps = np.minimum(np.arange(size), size - np.arange(size)) * cell
    squares = (steps * steps).astype(np.float32)
    return rfft2(1 / (1 + squares[:, None] + squares))
