"""How to solve: one frozen record, passed from the estimator down to the solver."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from isotherm.errors import Option, ParameterError

DEFAULT_TOL = 1e-3
ALONG = "along"  # how a directed graph is read if walks follow its arcs
ALONG_OR_EDGES = {"side": Option("side", ALONG), "edges": Option("side", "edges")}

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


def check_along(options: SolveOptions) -> None:
    """Refuse other engines and solvers, which only symmetric systems have."""
    for name, usual in (("engine", "local"), ("solver", "auto")):
        if getattr(options, name) != usual:
            message = "{side} is solved in this process by BiCGSTAB: leave out {other}, or use {edges}"
            raise ParameterError(message, other=Option(name), **ALONG_OR_EDGES)
