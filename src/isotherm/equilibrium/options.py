"""How to solve: one frozen record, passed from the estimator down to the solver."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

DEFAULT_TOL = 1e-3

Progress: TypeAlias = Callable[[int, float], None]  # called with the iteration number and the current error


@dataclass(frozen=True)
class SolveOptions:
    """How, where and how accurately to solve a problem.

    Attributes
    ----------
    solver : str
        A name in `isotherm.equilibrium.solvers.SOLVERS`.
    tol : float or None
        Largest error allowed, relative to the spread of the temperatures of a column. None for exactly ``max_iter``
        iterations.
    max_iter : int, optional
        Largest number of iterations.
    threads : int, optional
        Number of threads; by default ``ISOTHERM_THREADS``, or all cores.
    engine : str
        A name in `isotherm.engines.ENGINES`.
    progress : callable, optional
        Called after each iteration with its number and the current error.
    """

    solver: str = "auto"
    tol: float | None = DEFAULT_TOL
    max_iter: int | None = None
    threads: int | None = None
    engine: str = "local"
    progress: Progress | None = None
