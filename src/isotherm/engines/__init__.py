"""Engines: where problems are solved. Packages above solve every problem through ``engine_of(options)``.

In come a `Problem` and `SolveOptions`, whose ``engine`` names the place; out come solutions, the same from every engine
up to the tolerance. `LocalEngine` solves in this process. ``cluster.py`` has the engine of a Dask cluster, which can
also leave a solution on its workers; read it first, then ``session.py`` (the client's side: placing rows, watching
workers, starting again when one is lost), ``worker.py`` and ``part.py`` (a worker's side: its rows, and cg over all
workers), ``mailbox.py`` (messages between workers) and ``checkpoints.py``. ``dirichlet.py`` is the public function for
a single problem. To add an engine, write a class with the methods of `Engine` and add a line to `ENGINES`.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Floats
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem, solve, solve_in_blocks
from isotherm.equilibrium.solvers import Solution

if TYPE_CHECKING:
    from isotherm.equilibrium.certificate import Certificate

__all__ = ["ENGINES", "Engine", "LocalEngine", "engine_of"]


class Engine(Protocol):
    """Solves problems somewhere."""

    def solve(self, problem: Problem, options: SolveOptions, *, start: Floats | None = None) -> Solution:
        """Temperatures of all nodes; see :func:`isotherm.equilibrium.problem.solve`."""
        ...

    def solve_in_blocks(
        self, problem: Problem, options: SolveOptions, *, start: Floats | None = None
    ) -> Iterator[tuple[slice, Solution]]:
        """The same, one block of columns after another, for when all columns are too many to be kept."""
        ...

    def correct(
        self, before: Problem, solution: Solution, after: Problem, temperatures: Floats, options: SolveOptions
    ) -> Solution | None:
        """The solution after a change of few seeds, or None; see :mod:`isotherm.equilibrium.correction`."""
        ...

    def certify(self, problem: Problem, temperatures: Floats, options: SolveOptions) -> "Certificate":
        """A bound on the error of temperatures (n, K); see :mod:`isotherm.equilibrium.certificate`."""
        ...

    def harmonic_measure(self, problem: Problem, options: SolveOptions) -> Callable[[csr_array], Doubles]:
        """Where random walks end, as a function of their starts; see :mod:`isotherm.equilibrium.harmonic_measure`."""
        ...


class LocalEngine:
    """Solves in this process, with threads; functions that few fits need are imported on first use."""

    solve = staticmethod(solve)
    solve_in_blocks = staticmethod(solve_in_blocks)

    def certify(self, problem: Problem, temperatures: Floats, options: SolveOptions) -> "Certificate":
        """A bound on the error of temperatures."""
        from isotherm.equilibrium.certificate import certify

        return certify(problem, temperatures, options)

    def correct(
        self, before: Problem, solution: Solution, after: Problem, temperatures: Floats, options: SolveOptions
    ) -> Solution | None:
        """The solution after a change of few seeds."""
        from isotherm.equilibrium.correction import correct

        return correct(before, solution, after, temperatures, options)

    def harmonic_measure(self, problem: Problem, options: SolveOptions) -> Callable[[csr_array], Doubles]:
        """Where random walks end."""
        from isotherm.equilibrium.harmonic_measure import harmonic_measure

        return harmonic_measure(problem, options)


def _dask_engine() -> Engine:
    from isotherm.engines.cluster import DaskEngine  # few fits need it

    return DaskEngine()


ENGINES: dict[str, Callable[[], Engine]] = {"local": LocalEngine, "dask": _dask_engine}


def engine_of(options: SolveOptions) -> Engine:
    """The engine that the options name."""
    return ENGINES[options.engine]()
