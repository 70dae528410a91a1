"""The engine of this machine: solves in this process, with threads."""

from collections.abc import Iterator

from isotherm import kernels
from isotherm.arrays import Floats
from isotherm.equilibrium.certificate import Certificate, certify
from isotherm.equilibrium.correction import correct
from isotherm.equilibrium.dirichlet import Problem, solve, solve_in_blocks
from isotherm.equilibrium.harmonic_measure import HarmonicMeasure
from isotherm.equilibrium.options import DEFAULT_TOL, SolveOptions
from isotherm.equilibrium.solvers import Solution
from isotherm.graphs import Csr

__all__ = ["LocalEngine"]


class LocalEngine:
    """Solves in this process; see :class:`isotherm.engines.Engine`."""

    def solve(self, problem: Problem, options: SolveOptions, *, start: Floats | None = None) -> Solution:
        """Temperatures of all nodes."""
        return solve(problem, options, start=start)

    def solve_in_blocks(
        self, problem: Problem, options: SolveOptions, *, start: Floats | None = None
    ) -> Iterator[tuple[slice, Solution]]:
        """The same block after block of columns."""
        return solve_in_blocks(problem, options, start=start)

    def correct(
        self, before: Problem, solution: Solution, after: Problem, temperatures: Floats, options: SolveOptions
    ) -> Solution | None:
        """The solution after a change of few seeds."""
        return correct(before, solution, after, temperatures, options)

    def certify(self, problem: Problem, temperatures: Floats, options: SolveOptions) -> Certificate:
        """A bound on the error of temperatures."""
        return certify(problem, temperatures, options)

    def harmonic_measure(self, problem: Problem, options: SolveOptions) -> HarmonicMeasure:
        """Where random walks end."""
        tol = DEFAULT_TOL if options.tol is None else options.tol
        return HarmonicMeasure(problem.system, tol=tol, n_threads=options.threads)

    def average(self, heat: Csr, scale: Floats, x: Floats, out: Floats, options: SolveOptions) -> None:
        """One sweep."""
        indptr, indices, weights = heat
        weights = None if weights is None else weights.astype(x.dtype, copy=False)
        kernels.active.average(indptr, indices, weights, scale, x, out, kernels.thread_count(options.threads))
