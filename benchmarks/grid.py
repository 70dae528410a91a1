"""A grid, on which plain cg needs thousands of iterations, at a measured error of 1e-5; see hard_graphs.py."""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array, kron

import isotherm as iso
from benchmarks.hard_graphs import Problem, best_multigrid, race_on, scipy_cg
from benchmarks.harness import Race

__all__ = ["grid", "races"]


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Race]:
    """Ours against PyAMG at its best, and against SciPy, which has one turn only."""
    side = int(1000 * scale**0.5)
    problem = Problem(f"grid {side} x {side}, 9 classes, 40 seeds", grid(side), 40, 9)
    yield from race_on(problem, best_multigrid(problem), goal=6, rounds=rounds)
    yield from race_on(problem, scipy_cg(problem), goal=60, rounds=1)


def grid(side: int) -> iso.Graph:
    """A square of nodes, each with four neighbours."""
    rod = csr_array(diags_array([np.ones(side - 1)] * 2, offsets=[-1, 1], shape=(side, side)))
    return iso.Graph.from_scipy(csr_array(kron(rod, eye_array(side)) + kron(eye_array(side), rod)))
