"""Solvers of the interior system, behind one contract: ``prepare(system).solve(values) -> Solution``."""

from collections.abc import Callable

from isotherm.solvers.auto import Auto
from isotherm.solvers.base import Progress, Solution, Solver, System
from isotherm.solvers.cg import ConjugateGradient
from isotherm.solvers.direct import Direct
from isotherm.solvers.elimination import Elimination
from isotherm.solvers.sweeps import Sweeps

__all__ = ["SOLVERS", "Progress", "Solution", "Solver", "System", "prepare"]

SOLVERS: dict[str, Callable[[System, int | None], Solver]] = {
    "auto": Auto,
    "cg": ConjugateGradient,
    "direct": Direct,
    "elimination": Elimination,
    "sweeps": Sweeps,
}


def prepare(system: System, solver: str = "auto", *, n_threads: int | None = None) -> Solver:
    """Make a solver ready for a system, to be asked for many solutions."""
    return SOLVERS[solver](system, n_threads)
