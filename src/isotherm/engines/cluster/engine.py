"""The engine of a Dask cluster: problems as on this machine, solved by the workers."""

import time
import uuid
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Floats
from isotherm.engines.cluster.clients import current_session
from isotherm.engines.cluster.session import Matrix, Session
from isotherm.engines.cluster.work import Question
from isotherm.engines.local import LocalEngine
from isotherm.equilibrium.certificate import Certificate, certify
from isotherm.equilibrium.dirichlet import Prepare, Problem, solve, solve_in_blocks
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers import Solution, Source, System
from isotherm.errors import Option, ParameterError
from isotherm.graphs import Csr, Graph
from isotherm.graphs.packed import MANIFEST, PackedGraph

__all__ = ["DaskEngine", "packed_matrix"]

SOLVERS = ("auto", "cg")
_keys: "weakref.WeakKeyDictionary[Graph, str]" = weakref.WeakKeyDictionary()


class DaskEngine:
    """Solves on the workers of a Dask cluster; see :class:`isotherm.engines.Engine`."""

    def solve(self, problem: Problem, options: SolveOptions, *, start: Floats | None = None) -> Solution:
        """Temperatures of all nodes."""
        return solve(problem, options, start=start, prepare=_solver_of(problem))

    def solve_in_blocks(
        self, problem: Problem, options: SolveOptions, *, start: Floats | None = None
    ) -> Iterator[tuple[slice, Solution]]:
        """The same block after block of columns."""
        return solve_in_blocks(problem, options, start=start, prepare=_solver_of(problem))

    def certify(self, problem: Problem, temperatures: Floats, options: SolveOptions) -> Certificate:
        """A bound on the error of temperatures."""
        return certify(problem, temperatures, options, prepare=_solver_of(problem))

    def correct(
        self, before: Problem, solution: Solution, after: Problem, temperatures: Floats, options: SolveOptions
    ) -> Solution | None:
        """Not possible: a correction needs the times to absorption, which stay on the workers."""
        return None

    def harmonic_measure(self, problem: Problem, options: SolveOptions) -> Callable[[csr_array], Doubles]:
        """Where random walks end: most end near where they start, so that a cluster would not help."""
        return LocalEngine().harmonic_measure(problem, options)

    def average(self, heat: Csr, scale: Floats, x: Floats, out: Floats, options: SolveOptions) -> None:
        """One sweep, here: to send x to the workers takes as long."""
        LocalEngine().average(heat, scale, x, out, options)


def _solver_of(problem: Problem) -> Prepare:
    def prepare(system: System, options: SolveOptions, columns: int = 1) -> ClusterSolver:
        if options.solver not in SOLVERS:
            raise ParameterError(
                "{engine} solves by conjugate gradient, not by {solver}: use {instead}",
                engine=Option("engine", "dask"),
                solver=options.solver,
                instead=Option("solver", "auto"),
            )
        return ClusterSolver(current_session(), matrix_of(problem), system)

    return prepare


def matrix_of(problem: Problem) -> Matrix:
    """The matrix of a problem, with its folder if it is that of a packed graph."""
    graph, heat = problem.graph, problem.lifting.heat
    usual = problem.weights is None
    key = _keys.setdefault(graph, uuid.uuid4().hex) if usual else uuid.uuid4().hex
    if isinstance(graph, PackedGraph) and heat is graph.csr:
        return packed_matrix(graph, key)
    return Matrix(key, heat)


def packed_matrix(graph: PackedGraph, key: str | None = None) -> Matrix:
    """The matrix of a packed graph, which workers read from its folder if they see it."""
    token = (graph.folder / MANIFEST).read_text(encoding="utf-8")
    return Matrix(key or uuid.uuid4().hex, graph.csr, graph.folder, token)


class ClusterSolver:
    """A solver that is prepared for one system; see :class:`isotherm.equilibrium.solvers.base.Solver`."""

    def __init__(self, session: Session, matrix: Matrix, system: System) -> None:
        self.session, self.matrix, self.system = session, matrix, system

    def solve(
        self,
        values: Doubles,
        options: SolveOptions,
        *,
        source: Source | None = None,
        start: Floats | None = None,
        closed: bool = False,
    ) -> Solution:
        """Find the equilibrium.

        Workers compare the error with the spread over all rows. If only some are read, which are the graph's own, and
        these spread less, the solve goes on from its result with a finer tolerance.
        """
        solution = self._solve(values, options, source, start, closed)
        if self.system.reading is None or options.tol is None:
            return solution
        ratio = self._narrowing(solution.temperatures, closed)
        if solution.error * ratio > options.tol:
            finer = replace(options, tol=options.tol / ratio)
            solution = self._solve(values, finer, source, solution.temperatures, closed)
        measures = {name: getattr(solution, name) * ratio for name in ("residual", "error", "error_bound")}
        return replace(solution, **measures, converged=measures["error"] <= options.tol)

    def _narrowing(self, temperatures: Floats, closed: bool) -> float:
        """The spread over all rows divided by that over the rows that are read: the largest of a column."""
        every = replace(self.system, reading=None).spread(temperatures, closed=closed)
        read = self.system.spread(temperatures, closed=closed)
        return float(np.max(np.divide(every, read, out=np.ones(len(read)), where=read > 0), initial=1))

    def _solve(
        self, values: Doubles, options: SolveOptions, source: Source | None, start: Floats | None, closed: bool
    ) -> Solution:
        began = time.perf_counter()
        order = np.argsort(self.system.boundary, kind="stable")
        quiet = replace(options, progress=None)
        question = Question(self.system.boundary[order], values[order], quiet, closed, source, start)
        found = [part.solution for part in self.session.solve(self.matrix, question, options.progress)]
        temperatures = np.concatenate([part.temperatures for part in found])
        return replace(found[0], temperatures=temperatures, seconds=time.perf_counter() - began)
