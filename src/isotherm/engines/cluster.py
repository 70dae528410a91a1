"""The engine of a Dask cluster: each worker holds some rows of the matrix, and all solve together by cg.

`DaskEngine.solve` gives the same solution as the local engine. `DaskEngine.solve_remote` leaves the temperatures on the
workers and returns a `RemoteSolution`, through which functions run on each worker's rows. The cluster is the one that
this process is connected to; without one, processes are started on this machine. Dask is imported when the engine is
used.
"""

import atexit
import os
import time
import uuid
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.engines.session import ClusterError, Matrix, Session
from isotherm.engines.worker import Keep, Question, SolvedPart
from isotherm.equilibrium.averages import Moments, reached_moments
from isotherm.equilibrium.certificate import Certificate, certify
from isotherm.equilibrium.harmonic_measure import harmonic_measure
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import (
    Prepare,
    Problem,
    closing_column,
    column_blocks,
    joined,
    solve,
    solve_in_blocks,
    unreached_warning,
)
from isotherm.equilibrium.solvers import Request, Solution, System
from isotherm.equilibrium.solvers.system import Spreads, largest_ratio
from isotherm.errors import Option, ParameterError, warn
from isotherm.graphs import Graph
from isotherm.graphs.packed import MANIFEST, PackedGraph

SOLVERS = ("auto", "cg")
FINER = 3  # finer tolerances that are tried

_keys: "weakref.WeakKeyDictionary[Graph, str]" = weakref.WeakKeyDictionary()
_opened: list[Any] = []  # what `disconnect` closes: each client before its cluster
_sessions: dict[str, Session] = {}  # by the id of the client


class DaskEngine:
    """Solves on the workers of a Dask cluster; see :class:`isotherm.engines.Engine`."""

    harmonic_measure = staticmethod(harmonic_measure)  # most walks end near their start: a cluster would not help

    def solve(self, problem: Problem, options: SolveOptions, *, start: Floats | None = None) -> Solution:
        """Temperatures of all nodes."""
        return solve(problem, options, start=start, prepare=_solver_of(problem))

    def solve_in_blocks(
        self, problem: Problem, options: SolveOptions, *, start: Floats | None = None
    ) -> Iterator[tuple[slice, Solution]]:
        """The same, one block of columns after another."""
        return solve_in_blocks(problem, options, start=start, prepare=_solver_of(problem))

    def certify(self, problem: Problem, temperatures: Floats, options: SolveOptions) -> Certificate:
        """A bound on the error of temperatures."""
        return certify(problem, temperatures, options, prepare=_solver_of(problem))

    def correct(
        self, before: Problem, solution: Solution, after: Problem, temperatures: Floats, options: SolveOptions
    ) -> Solution | None:
        """None: a correction needs the times to absorption, which stay on the workers."""
        return None

    def solve_remote(self, problem: Problem, options: SolveOptions) -> "RemoteSolution":
        """Solve an undirected problem with held seeds, and leave the temperatures on the workers."""
        _check_solver(options)
        session, matrix = current_session(), _plain_matrix(problem)
        name, parts = uuid.uuid4().hex, []
        quiet = replace(options, progress=None)
        for block in column_blocks(problem.columns, problem.values):
            values = problem.values(block)
            follows = closing_column(values, degrees=problem.graph.csr.counts(problem.nodes).astype(np.float64))
            solved = np.flatnonzero(np.arange(values.shape[1]) != follows)
            closing = None if follows is None else block.start + follows
            keep = Keep(name, block, problem.columns, closing, values.min(axis=0), values.max(axis=0))
            request = Request(values[:, solved], quiet, closed=follows is not None)
            began = time.perf_counter()
            question = Question(problem.nodes, request, keep=keep)
            found = session.solve(matrix, question, options.progress)[0].solution
            parts.append(replace(found, seconds=time.perf_counter() - began))
        return RemoteSolution(session, name, joined(parts, options.tol).statistics, problem)


def _check_solver(options: SolveOptions) -> None:
    if options.solver not in SOLVERS:
        raise ParameterError(
            "{engine} solves by conjugate gradient, not by {solver}: use {instead}",
            engine=Option("engine", "dask"),
            solver=options.solver,
            instead=Option("solver", "auto"),
        )


def _solver_of(problem: Problem) -> Prepare:
    def prepare(system: System, options: SolveOptions, columns: int) -> ClusterSolver:
        _check_solver(options)
        return ClusterSolver(current_session(), _matrix_of(problem), system)

    return prepare


def _matrix_of(problem: Problem) -> Matrix:
    """The matrix of a problem, with its folder if the graph is packed."""
    graph, conductance = problem.graph, problem.lifting.conductance
    key = _keys.setdefault(graph, uuid.uuid4().hex) if problem.weights is None else uuid.uuid4().hex
    if isinstance(graph, PackedGraph) and conductance is graph.csr:
        return packed_matrix(graph, key)
    return Matrix(key, conductance)


def _plain_matrix(problem: Problem) -> Matrix:
    """The matrix of a problem that needs no lifting, untouched if the graph is packed."""
    graph = problem.graph.edges_only if problem.side == "edges" else problem.graph
    if graph.directed:
        obstacle = "a directed graph"
    elif problem.weights is not None:
        obstacle = "seeds that are not certain"
    elif problem.source is not None:
        obstacle = "a problem with sources"
    elif isinstance(graph, PackedGraph):
        return packed_matrix(graph, f"{graph.folder.absolute()} {hash(graph.manifest.json())}")
    else:
        return Matrix(_keys.setdefault(graph, uuid.uuid4().hex), graph.csr)
    raise ParameterError(f"the temperatures of {obstacle} cannot stay on the workers; solve without leaving them there")


def packed_matrix(graph: PackedGraph, key: str | None = None) -> Matrix:
    """The matrix of a packed graph, which workers read from its folder if they see it."""
    token = (graph.folder / MANIFEST).read_text(encoding="utf-8")
    return Matrix(key or uuid.uuid4().hex, graph.csr, graph.folder, token)


class ClusterSolver:
    """A solver that is prepared for one system; see :class:`isotherm.equilibrium.solvers.system.Solver`."""

    def __init__(self, session: Session, matrix: Matrix, system: System) -> None:
        self.session, self.matrix, self.system = session, matrix, system

    def solve(self, request: Request) -> Solution:
        """Find the equilibrium."""
        # Workers compare the error with the spread over all rows. While output rows spread less, the solve goes on from
        # its result with a finer tolerance.
        solution, tol = self._solve(request), request.options.tol
        if self.system.output is None:
            return solution
        for _ in range(FINER):
            if tol is None:
                break
            spreads = self.system.spread(solution.temperatures, closed=request.closed)
            wanted = tol / _narrowing(spreads, spreads.finest)
            if solution.error <= wanted:
                break
            finer = replace(request.options, tol=wanted)
            solution = self._solve(replace(request, options=finer, start=solution.temperatures))
        spreads = self.system.spread(solution.temperatures, closed=request.closed)
        usual, strict = (_narrowing(spreads, each) for each in (spreads.usable, spreads.read))
        error, bound = usual * solution.error, strict * solution.error_bound if solution.error_bound > 0 else 0.0
        converged = tol is not None and error <= tol
        return replace(
            solution, error=error, residual=usual * solution.residual, error_bound=bound, converged=converged
        )

    def _solve(self, request: Request) -> Solution:
        order = np.argsort(self.system.boundary, kind="stable")
        quiet = replace(request.options, progress=None)
        ordered = replace(request, values=request.values[order], options=quiet)
        question = Question(self.system.boundary[order], ordered)
        found = [part.solution for part in self.session.solve(self.matrix, question, request.options.progress)]
        return replace(found[0], temperatures=np.concatenate([part.temperatures for part in found]))


def _narrowing(spreads: Spreads, narrow: Doubles) -> float:
    """The largest ratio of the spread of a column over all rows to a narrower one, at least 1."""
    return max(float(largest_ratio(spreads.every, narrow)), 1.0)


class RemoteSolution:
    """A solution whose temperatures stay on the workers; close it, or use it in a ``with`` statement, to free them.

    If a worker is gone, calls raise `LostWorker`, and everything has to be solved again; `restarting` does that. The
    functions that `map` runs must be importable on the workers. They may change temperatures in place, and leave
    results for later calls in ``part.results``.
    """

    def __init__(self, session: Session, name: str, solution: Solution, problem: Problem) -> None:
        self.session, self.name, self.solution, self.n_nodes = session, name, solution, problem.graph.n_nodes
        self.bounds, self.sees_folder = session.bounds, session.sees_folder
        self._moments: Moments | None = None

    def map(self, function: Callable[..., Any], *arguments: Any, each: Sequence[Any] | None = None) -> list[Any]:
        """The results of ``function(part, *arguments)`` on all workers; ``each`` has one last argument per worker."""
        own = [()] * (len(self.bounds) - 1) if each is None else [(argument,) for argument in each]
        return self.session.on_parts(self.name, function, [(*arguments, *some) for some in own])

    def gather(self, nodes: Ints | None = None) -> Floats:
        """The temperatures (m, K) of some nodes in the given order, or of all nodes."""
        if nodes is None:
            return np.concatenate(self.map(attrgetter("temperatures")))
        found = self.map(_some_temperatures, nodes)
        order = np.argsort(np.concatenate([places for places, _ in found]), kind="stable")
        return np.concatenate([temperatures for _, temperatures in found])[order]

    def moments(self) -> Moments:
        """Number of reached nodes, and mean and mean square of each column over them; computed once."""
        if self._moments is None:
            parts: list[Moments] = self.map(_part_moments)
            shares = np.array([part.n_reached for part in parts], np.float64)
            shares /= max(shares.sum(), 1)
            mean, square = shares @ [part.mean for part in parts], shares @ [part.square for part in parts]
            self._moments = Moments(sum(part.n_reached for part in parts), mean, square)
        return self._moments

    def mean(self) -> Doubles:
        """The mean of each column over reached nodes, shape (K,)."""
        return self.moments().mean

    @property
    def n_unreached(self) -> int:
        """The number of nodes without a temperature."""
        return self.n_nodes - self.moments().n_reached

    def warn_about_unreached(self) -> None:
        """Warn if some nodes have no temperature, as a fit does."""
        if self.n_unreached:
            warn(unreached_warning(self.n_unreached, self.n_nodes))

    def close(self) -> None:
        """Free the memory on the workers."""
        self.session.forget(self.name)

    def __enter__(self) -> "RemoteSolution":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _some_temperatures(part: SolvedPart, nodes: Ints) -> tuple[Ints, Floats]:
    """The temperatures of those nodes that this part owns, and their places among all nodes."""
    places = np.flatnonzero((nodes >= part.first) & (nodes < part.first + part.own))
    return places, part.temperatures[nodes[places] - part.first]


def _part_moments(part: SolvedPart) -> Moments:
    return reached_moments(part.temperatures)


class LocalClusterWarning(UserWarning):
    """No cluster was given, so one was started on this machine."""


def current_session() -> Session:
    """The session of the client that is connected; without one, a cluster is started on this machine."""
    distributed = _distributed()
    try:
        client = distributed.default_client()
    except ValueError:
        client = None
    if client is None or client.status != "running":
        client, message = connect()
        warn(message, LocalClusterWarning)
    if client.id not in _sessions:
        _sessions.clear()
        _sessions[client.id] = Session(client)
    return _sessions[client.id]


def connect(address: str | None = None) -> tuple[Any, str]:
    """The client of the scheduler at an address, or of a new cluster of processes, and a message that says which."""
    distributed = _distributed()
    if address is not None:
        try:
            client = distributed.Client(address, timeout="10s")
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ClusterError(f"there is no Dask scheduler at {address} ({reason}); check the address") from None
        _opened.append(client)
        return client, f"connected to the Dask cluster at {address}"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = max(2, min(cores, 8))
    cluster = distributed.LocalCluster(
        n_workers=workers, threads_per_worker=max(1, cores // workers), processes=True, dashboard_address=":0"
    )
    client = distributed.Client(cluster)
    _opened.extend([client, cluster])
    return client, f"started a Dask cluster of {workers} processes on this machine, for want of another"


@atexit.register
def disconnect() -> None:
    """Close the connections that were opened here, and the cluster that was started."""
    while _opened:
        _opened.pop(0).close()


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ImportError(
            "the engine dask needs distributed: pip install 'isotherm[dask]'", name="distributed"
        ) from None
    return distributed
