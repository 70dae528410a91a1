"""Engines: where problems are solved. This is the one door to every solver in the house.

In come a `Problem` and `SolveOptions`, whose ``engine`` names the place; out come solutions, the same from every engine
up to the tolerance. Rooms above call the functions of this module and never a solver. Read ``local.py`` for the engine
of this machine, and ``cluster/`` for that of a Dask cluster. To add an engine, write a class with the methods of
`Engine` in a file of its own and add a line to `ENGINES`.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Floats
from isotherm.engines.local import LocalEngine
from isotherm.equilibrium.certificate import Certificate
from isotherm.equilibrium.dirichlet import Problem
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers import Solution
from isotherm.graphs import Csr

__all__ = ["ENGINES", "Engine", "average", "certify", "correct", "harmonic_measure", "solve", "solve_in_blocks"]


class Engine(Protocol):
    """Solves problems somewhere."""

    def solve(self, problem: Problem, options: SolveOptions, *, start: Floats | None = None) -> Solution:
        """Temperatures of all nodes; see :func:`isotherm.equilibrium.dirichlet.solve`."""
        ...

    def solve_in_blocks(
        self, problem: Problem, options: SolveOptions, *, start: Floats | None = None
    ) -> Iterator[tuple[slice, Solution]]:
        """The same block after block of columns."""
        ...

    def correct(
        self, before: Problem, solution: Solution, after: Problem, temperatures: Floats, options: SolveOptions
    ) -> Solution | None:
        """The solution after a change of few seeds; see :mod:`isotherm.equilibrium.correction`."""
        ...

    def certify(self, problem: Problem, temperatures: Floats, options: SolveOptions) -> Certificate:
        """A bound on the error of temperatures; see :mod:`isotherm.equilibrium.certificate`."""
        ...

    def harmonic_measure(self, problem: Problem, options: SolveOptions) -> Callable[[csr_array], Doubles]:
        """Where random walks end; see :mod:`isotherm.equilibrium.harmonic_measure`."""
        ...

    def average(self, heat: Csr, scale: Floats, x: Floats, out: Floats, options: SolveOptions) -> None:
        """One sweep: ``out = scale (A x)``; where the scale is 0, ``out`` stays as it is."""
        ...


def _dask_engine() -> Engine:
    from isotherm.engines.cluster.engine import DaskEngine  # few fits need it

    return DaskEngine()


ENGINES: dict[str, Callable[[], Engine]] = {"local": LocalEngine, "dask": _dask_engine}


def solve(problem: Problem, options: SolveOptions, *, start: Floats | None = None) -> Solution:
    """Temperatures of all nodes, shape (n, columns)."""
    return ENGINES[options.engine]().solve(problem, options, start=start)


def solve_in_blocks(
    problem: Problem, options: SolveOptions, *, start: Floats | None = None
) -> Iterator[tuple[slice, Solution]]:
    """The same block after block, where all columns are too many to be kept."""
    return ENGINES[options.engine]().solve_in_blocks(problem, options, start=start)


def correct(
    before: Problem, solution: Solution, after: Problem, temperatures: Floats, options: SolveOptions
) -> Solution | None:
    """The solution after a change of few seeds, or None if it has to be solved for."""
    return ENGINES[options.engine]().correct(before, solution, after, temperatures, options)


def certify(problem: Problem, temperatures: Floats, options: SolveOptions) -> Certificate:
    """A bound on the error of temperatures (n, K), node by node."""
    return ENGINES[options.engine]().certify(problem, temperatures, options)


def harmonic_measure(problem: Problem, options: SolveOptions) -> Callable[[csr_array], Doubles]:
    """Where random walks end: a function of their starts that can be called many times."""
    return ENGINES[options.engine]().harmonic_measure(problem, options)


def average(heat: Csr, scale: Floats, x: Floats, out: Floats, options: SolveOptions) -> None:
    """One sweep over the rows whose scale is positive."""
    ENGINES[options.engine]().average(heat, scale, x, out, options)
