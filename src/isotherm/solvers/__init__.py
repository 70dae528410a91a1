"""Solvers of the interior system, behind one contract: ``prepare(system).solve(start) -> Solution``."""

from collections.abc import Callable

import numpy as np

from isotherm.solvers.base import Progress, Solution, Solver, System
from isotherm.solvers.cg import ConjugateGradient
from isotherm.solvers.direct import Direct
from isotherm.solvers.sweeps import Sweeps

__all__ = ["SOLVERS", "Progress", "Solution", "Solver", "System", "prepare"]

SOLVERS: dict[str, Callable[[System, int | None], Solver]] = {
    "cg": ConjugateGradient,
    "direct": Direct,
    "sweeps": Sweeps,
}

SMALL = 2000  # interior nodes up to which a direct solve is as fast as any


def prepare(system: System, solver: str = "auto", *, n_threads: int | None = None) -> Solver:
    """Make a solver ready for a system; ``auto`` is ``direct`` for small ones and ``cg`` for the others."""
    if solver == "auto":
        solver = "direct" if np.count_nonzero(system.interior) <= SMALL else "cg"
    return SOLVERS[solver](system, n_threads)
