"""Real graphs on which plain cg stalls, at a measured error of 1e-5: against PyAMG with cg, and SciPy's cg.

The peers stop by a residual, so it is measured first, on one column and outside the clock, which residual goes with the
error. They solve one column after the other; SciPy is timed on one column, times their number.
"""

import gzip
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyamg
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags_array
from scipy.sparse.linalg import LinearOperator, cg

import isotherm as iso
from benchmarks.harness import Contestant, Race
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem as Dirichlet
from isotherm.equilibrium.problem import interior_system, solve

__all__ = ["Problem", "best_multigrid", "both_races", "com_graph", "race_on", "races", "scipy_cg", "stored_graph"]

ERROR = 1e-5
Look = Callable[[NDArray[np.float64]], None]  # is shown the solution after each iteration
Column = Callable[[NDArray[np.float64], float, Look | None], NDArray[np.float64]]


class PeerError(Exception):
    """A peer gives no answer that is good enough."""


class GoodEnough(Exception):  # noqa: N818 - no error
    """A peer has reached the error."""

    def __init__(self, residual: float) -> None:
        super().__init__()
        self.residual = residual


class Problem:
    """A graph with random seeds, as the peers take it: a matrix and right-hand sides."""

    def __init__(
        self,
        name: str,
        graph: iso.Graph,
        seeds: int,
        classes: int,
        *,
        solver: str = "elimination",
        error: float = ERROR,
    ) -> None:
        self.name, self.graph, self.wanted = name, graph, error
        rng = np.random.default_rng(0)
        boundary = np.sort(rng.choice(graph.n_nodes, seeds, replace=False))
        codes = rng.permutation(np.arange(seeds) % classes)
        self.values = np.eye(classes)[codes]
        self.stated = Dirichlet.of(graph, boundary, self.values)
        self.system = self.stated.system
        interior = np.flatnonzero(self.system.interior)
        adjacency = graph.adjacency
        self.matrix = csr_matrix(diags_array(self.system.degree[interior]) - adjacency[interior][:, interior])
        self.sources = adjacency[interior][:, boundary] @ self.values[:, 1:]  # the first class follows from the others
        exact = solve(self.stated, SolveOptions(solver=solver, tol=1e-10)).temperatures
        self.spread = np.nanstd(exact, axis=0)[1:]
        self.exact = exact[interior][:, 1:]

    def error(self, column: int, found: NDArray[np.float64]) -> float:
        return float(np.abs(found - self.exact[:, column]).max() / self.spread[column])

    def residual_for(self, solver: Column) -> float:
        """The relative residual at which a column first has the error asked for."""
        source = self.sources[:, 0]

        def look(found: NDArray[np.float64]) -> None:
            if self.error(0, found) <= self.wanted:
                raise GoodEnough(float(np.linalg.norm(source - self.matrix @ found) / np.linalg.norm(source)))

        try:
            solver(source, 1e-13, look)
        except GoodEnough as reached:
            return reached.residual
        raise PeerError(f"it does not reach an error of {self.wanted:g}")


def multigrid(problem: Problem, build: Callable[[csr_matrix], Any], residual: float) -> NDArray[np.float64]:
    hierarchy = build(problem.matrix)
    return np.column_stack([multigrid_cg(hierarchy, source, residual) for source in problem.sources.T])


def multigrid_cg(
    hierarchy: Any, source: NDArray[np.float64], residual: float, look: Look | None = None
) -> NDArray[np.float64]:
    return hierarchy.solve(source, tol=residual, accel="cg", maxiter=500, callback=look)


def diagonal_cg(
    problem: Problem, source: NDArray[np.float64], residual: float, look: Look | None = None
) -> NDArray[np.float64]:
    diagonal = problem.matrix.diagonal()
    scaling = LinearOperator(problem.matrix.shape, matvec=lambda x: x / diagonal)
    return cg(problem.matrix, source, rtol=residual, atol=0, M=scaling, maxiter=100_000, callback=look)[0]


def problems() -> Iterator[Problem]:
    folder = os.environ.get("ISOTHERM_DATA")
    if folder is None:
        print("real graphs left out: set ISOTHERM_DATA to their folder")
        return
    for name in ("road_usroads", "road_luxembourg_osm", "knn_mnist10k", "knn_usps"):
        graph = stored_graph(Path(folder), name)
        yield Problem(f"{name}, 8 classes, 1% seeds", graph, graph.n_nodes // 100, 8)


def stored_graph(folder: Path, name: str) -> iso.Graph:
    """A graph of the data folder, its largest part."""
    stored = np.load(folder / f"{name}.npz", allow_pickle=False)
    return largest_part(stored["row"], stored["col"])


def com_graph(folder: Path, name: str) -> iso.Graph:
    """One that comes as a list of edges."""
    with gzip.open(folder / f"{name}.ungraph.txt.gz") as lines:
        return largest_part(*np.loadtxt(lines, dtype=np.int64).T)


def largest_part(source: NDArray[Any], target: NDArray[Any]) -> iso.Graph:
    """The part of a graph that is connected to its node of highest degree."""
    graph = iso.Graph.from_edges(source, target)
    hub = np.array([graph.degrees.argmax()])
    inside = interior_system(graph.heat, hub).reached
    return iso.Graph.from_scipy(graph.adjacency[inside][:, inside])


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Race]:
    """For each graph of the data folder, ours against PyAMG at its best, and against SciPy; they have one size only."""
    for problem in problems():
        yield from both_races(problem, rounds)


def both_races(problem: Problem, rounds: int) -> Iterator[Race]:
    """Against PyAMG at its best, and against SciPy."""
    yield from race_on(problem, best_multigrid(problem), goal=4, rounds=rounds)
    yield from race_on(problem, scipy_cg(problem), goal=4, rounds=rounds)


def race_on(problem: Problem, peer: Contestant | None, *, goal: float, rounds: int) -> Iterator[Race]:
    """A race, if there is a peer; ours is refused if its error is too large."""
    if peer is None:
        return
    ours = Contestant("auto", partial(solve, problem.stated, SolveOptions(tol=problem.wanted)))
    race = Race(problem.name, peer, ours, goal)
    race.run(rounds)
    found = np.asarray(ours.result.temperatures)[problem.system.interior][:, 1:]
    worst = max(problem.error(c, x) for c, x in enumerate(found.T))
    if worst > problem.wanted:
        raise SystemExit(f"{problem.name}: the error is {worst:.1e}, above {problem.wanted:g}")
    yield race


def best_multigrid(problem: Problem) -> Contestant | None:
    """PyAMG by the way that is faster here, told from one column; None if both fail."""
    expected: dict[float, Contestant] = {}
    for name, build in (("PyAMG SA", pyamg.smoothed_aggregation_solver), ("PyAMG RS", pyamg.ruge_stuben_solver)):
        try:
            began = time.perf_counter()
            hierarchy = build(problem.matrix)
            setup = time.perf_counter() - began
            residual = problem.residual_for(partial(multigrid_cg, hierarchy))
        except (ValueError, PeerError) as reason:
            print(f"{problem.name}: {name} fails: {reason}", flush=True)
            continue
        column = Contestant(name, partial(multigrid_cg, hierarchy, problem.sources[:, 0], residual))
        column.turn()
        total = setup + problem.sources.shape[1] * column.seconds[0]
        expected[total] = Contestant(name, partial(multigrid, problem, build, residual))
    return expected[min(expected)] if expected else None


def scipy_cg(problem: Problem) -> Contestant:
    """SciPy with the diagonal as preconditioner, on one column."""
    column = partial(diagonal_cg, problem)
    residual = problem.residual_for(column)
    return Contestant("SciPy cg", partial(column, problem.sources[:, 0], residual), factor=problem.sources.shape[1])
