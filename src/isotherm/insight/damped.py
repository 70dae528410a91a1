"""Damped heat: temperatures if each edge passes on only a share of the heat, and some nodes are held at 0.

They solve ``(D - a A) x = b``. As in the solver `cg`, conjugate gradient is deflated by the constant: each direction is
shifted so that as much heat leaves as enters. Where walks mix fast, three or four iterations are then enough.
"""

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.arrays import Doubles, Mask
from isotherm.equilibrium.solvers.cg import ratio
from isotherm.graphs import Csr
from isotherm.insight.likeness import in_type
from isotherm.kernels import Report

__all__ = ["damped_heat"]

TOL = 0.003  # root mean square of the residual, relative to that of the source
MOST_STEPS = 15  # leave an error of at most one percent where the share is 0.95


def damped_heat(
    heat: Csr, degree: Doubles, free: Mask, sources: Doubles, share: float, threads: int
) -> NDArray[np.float32]:
    """The temperatures of free nodes, 0 elsewhere; shape (n, 2).

    Parameters
    ----------
    heat
        The conductivities.
    degree
        (n,) their sums.
    free
        (n,) which nodes are not held; each has an edge.
    sources
        (n, 2) the heat that enters at each node, for two columns.
    share
        The share of the heat that an edge passes on.
    threads
        Number of threads.
    """
    graph = in_type(heat, np.float32)
    diagonal = np.where(free, degree / share, 0).astype(np.float32)
    scale = np.divide(1, diagonal, out=np.zeros_like(diagonal), where=free)
    leaving, group = _leaving(heat, diagonal, degree, free), np.where(free, 0, -1).astype(np.int32)
    total = float(leaving.sum(dtype=np.float64)) or 1.0
    x, r, p, q = (kernels.block(len(free), 2, np.float32) for _ in range(4))
    np.multiply(sources, np.where(free, 1 / share, 0)[:, None], out=r, casting="same_kind")

    def advance(length: Doubles) -> Doubles:
        """``x += length p``, ``r -= length q``; returns the energy of the residual, shape (2,)."""
        arrays = scale, np.zeros(2, np.float32), length.astype(np.float32), p, q, x, r
        return Report(*kernels.active.cg_step(*arrays, threads)).dot[:-1]

    least, before = TOL**2 * advance(np.zeros(2)), np.zeros(2)
    entering = Report(*kernels.active.moments(np.zeros(2, np.float32), r, threads)).sum[:-1]
    p[:], q[:] = free[:, None], leaving[:, None]
    energy = advance(entering / total)  # the constant at which as much heat leaves as enters
    for _ in range(MOST_STEPS):
        energy = np.where(energy > least, energy, 0)  # a column that is finished stays as it is
        if not energy.any():
            break
        turn = ratio(energy, before).astype(np.float32)
        shift = kernels.active.cg_turn(scale, leaving, turn, r, p, threads)[:1, :-1] / total
        kernels.active.group_shift(group, None, -shift.astype(np.float32), p, threads)
        length = ratio(energy, kernels.active.laplacian(*graph, diagonal, p, q, threads)[0, :-1])
        before, energy = energy, advance(length)
    return x


def _leaving(heat: Csr, diagonal: NDArray[np.float32], degree: Doubles, free: Mask) -> NDArray[np.float32]:
    """The heat that leaves each node if all free nodes are at temperature 1."""
    _, ends, weights = heat.entries_at(np.flatnonzero(~free))
    to_held = np.bincount(ends, weights, minlength=len(free))
    return np.where(free, diagonal - degree + to_held, 0).astype(np.float32)
