"""Solvers of the interior system, behind one contract: ``prepare(system).solve(request) -> Solution``.

A solver is prepared once for a `System`. It can then be called many times with a `Request`: temperatures of the
boundary, and perhaps heat that enters the interior. Out come the temperatures of all nodes, with an estimate of their
error. Read ``system.py`` first, then ``cg.py``. ``iterative.py`` says when a solver may stop, and has the loop that cg
and sweeps share; ``interior.py`` has the form in which the kernels take a system. To add a solver, write its file and
add a line to `SOLVERS`.
"""

from collections.abc import Callable

from isotherm.equilibrium.solvers.auto import Auto
from isotherm.equilibrium.solvers.cg import ConjugateGradient
from isotherm.equilibrium.solvers.direct import Direct
from isotherm.equilibrium.solvers.elimination import Elimination
from isotherm.equilibrium.solvers.iterative import Sweeps
from isotherm.equilibrium.solvers.system import MOST_COLUMNS, Request, Solution, Solver, Source, System

__all__ = ["MOST_COLUMNS", "SOLVERS", "Request", "Solution", "Solver", "Source", "System", "prepare"]

SOLVERS: dict[str, Callable[[System, int | None], Solver]] = {
    "auto": Auto,
    "cg": ConjugateGradient,
    "direct": Direct,
    "elimination": Elimination,
    "sweeps": Sweeps,
}


def prepare(system: System, solver: str = "auto", *, n_threads: int | None = None) -> Solver:
    """Prepare a solver for a system; it can then be called many times."""
    return SOLVERS[solver](system, n_threads)
