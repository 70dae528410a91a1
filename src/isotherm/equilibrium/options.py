"""How to solve: one frozen record, passed from the estimator down to the solver."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

DEFAULT_TOL = 1e-3

Progress: TypeAlias = Callable[[int, float], None]  # called with the iteration number and the current error


@dataclass(frozen=True)
class SolveOptions:
    """How, where and how accurately to solve a problem."""

    solver: str = "auto"  # a name in `isotherm.equilibrium.solvers.SOLVERS`
    tol: float | None = (
        DEFAULT_TOL  # largest error, relative to the spread of a column; None: exactly max_iter iterations
    )
    max_iter: int | None = None
    threads: int | None = None  # by default ISOTHERM_THREADS, or all cores
    engine: str = "local"  # a name in `isotherm.engines.ENGINES`
    progress: Progress | None = None
