"""Damped heat: temperatures if each edge passes on only a share of the heat, and some nodes are held at 0.

They solve ``(D - a A) x = b``. As in the solver `cg`, conjugate gradient is deflated by the constant: each direction is
shifted so that as much heat leaves as enters. Where walks mix fast, three or four iterations are then enough.
"""

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.arrays import Doubles, Mask
from isotherm.equilibrium.solvers.cg import GroupDescent
from isotherm.equilibrium.solvers.interior import Groups
from isotherm.graphs import Csr
from isotherm.insight.likeness import in_type

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
    leaving, group = _leaving(heat, diagonal, degree, free), np.where(free, 0, -1).astype(np.int32)
    x, r = (kernels.block(len(free), 2, np.float32) for _ in range(2))
    np.multiply(sources, np.where(free, 1 / share, 0)[:, None], out=r, casting="same_kind")
    descent = GroupDescent(graph, diagonal, Groups(leaving, group, diagonal, threads), x, r, threads)
    descent.least = TOL**2 * descent.report.dot[:-1]
    descent.balance()
    for _ in range(MOST_STEPS):
        if not (descent.report.dot[:-1] > descent.least).any():
            break
        descent.step()
    return x


def _leaving(heat: Csr, diagonal: NDArray[np.float32], degree: Doubles, free: Mask) -> NDArray[np.float32]:
    """The heat that leaves each node if all free nodes are at temperature 1."""
    _, ends, weights = heat.entries_at(np.flatnonzero(~free))
    to_held = np.bincount(ends, weights, minlength=len(free))
    return np.where(free, diagonal - degree + to_held, 0).astype(np.float32)
