"""Graphs on which plain cg stalls, at a measured error of 1e-5: against PyAMG with cg, and SciPy's cg.

The peers stop by a residual, so the loosest residual that reaches the error is looked for first, on one column and
outside the clock. They solve one column after the other; SciPy is timed on one column, times their number.
"""

import gzip
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyamg
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix, diags_array, eye_array, kron
from scipy.sparse.linalg import LinearOperator, cg

import isotherm as iso
from benchmarks.harness import Contestant, Race
from isotherm.dirichlet import interior_system, solve

__all__ = ["races"]

ERROR = 1e-5
Column = Callable[[NDArray[np.float64], float], NDArray[np.float64]]


class PeerError(Exception):
    """A peer gives no answer that is good enough."""


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
        self.system = interior_system(graph.heat, boundary)
        interior = np.flatnonzero(self.system.interior)
        adjacency = graph.adjacency
        self.matrix = csr_matrix(diags_array(self.system.degree[interior]) - adjacency[interior][:, interior])
        self.sources = adjacency[interior][:, boundary] @ self.values[:, 1:]  # the first class follows from the others
        exact = solve(self.system, self.values, solver=solver, tol=1e-10).temperatures
        self.spread = np.nanstd(exact, axis=0)[1:]
        self.exact = exact[interior][:, 1:]

    def error(self, column: int, found: NDArray[np.float64]) -> float:
        return float(np.abs(found - self.exact[:, column]).max() / self.spread[column])

    def residual_for(self, solver: Column) -> float:
        """The loosest relative residual at which a column has the error asked for."""
        for exponent in range(2, 14):
            if self.error(0, solver(self.sources[:, 0], 10.0**-exponent)) <= self.wanted:
                return 10.0**-exponent
        raise PeerError(f"it does not reach an error of {self.wanted:g}")


def multigrid(problem: Problem, build: Callable[[csr_matrix], Any], residual: float) -> NDArray[np.float64]:
    hierarchy = build(problem.matrix)
    columns = [hierarchy.solve(source, tol=residual, accel="cg", maxiter=500) for source in problem.sources.T]
    return np.column_stack(columns)


def diagonal_cg(problem: Problem, source: NDArray[np.float64], residual: float) -> NDArray[np.float64]:
    diagonal = problem.matrix.diagonal()
    scaling = LinearOperator(problem.matrix.shape, matvec=lambda x: x / diagonal)
    return cg(problem.matrix, source, rtol=residual, atol=0, M=scaling, maxiter=100_000)[0]


def problems(scale: float) -> Iterator[Problem]:
    side = int(1000 * scale**0.5)
    rod = csr_array(diags_array([np.ones(side - 1)] * 2, offsets=[-1, 1], shape=(side, side)))
    grid = iso.Graph.from_scipy(csr_array(kron(rod, eye_array(side)) + kron(eye_array(side), rod)))
    yield Problem(f"grid {side} x {side}, 9 classes, 40 seeds", grid, 40, 9)
    folder = os.environ.get("ISOTHERM_DATA")
    if folder is None:
        print("real graphs left out: set ISOTHERM_DATA to their folder")
        return
    for name in ("road_usroads", "road_luxembourg_osm", "knn_mnist10k", "knn_usps"):
        stored = np.load(Path(folder) / f"{name}.npz", allow_pickle=False)
        graph = largest_part(stored["row"], stored["col"])
        yield Problem(f"{name}, 8 classes, 1% seeds", graph, graph.n_nodes // 100, 8)
    for name in ("com-amazon", "com-dblp"):
        with gzip.open(Path(folder) / f"{name}.ungraph.txt.gz") as lines:
            edges = np.loadtxt(lines, dtype=np.int64)
        yield Problem(f"{name}, 10 classes, 1% seeds", largest_part(*edges.T), len(edges) // 300, 10)


def largest_part(source: NDArray[Any], target: NDArray[Any]) -> iso.Graph:
    """The part of a graph that is connected to its node of highest degree."""
    graph = iso.Graph.from_edges(source, target)
    hub = np.array([graph.degrees.argmax()])
    inside = interior_system(graph.heat, hub).reached
    return iso.Graph.from_scipy(graph.adjacency[inside][:, inside])


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Race]:
    """For each graph, ours against PyAMG at its best, and against SciPy."""
    for problem in problems(scale):
        columns = problem.sources.shape[1]
        names = {"PyAMG SA": pyamg.smoothed_aggregation_solver, "PyAMG RS": pyamg.ruge_stuben_solver}
        peers = []
        for name, build in names.items():
            try:
                hierarchy = build(problem.matrix)
                solver = partial(lambda h, b, tol: h.solve(b, tol=tol, accel="cg", maxiter=500), hierarchy)
                residual = problem.residual_for(solver)
            except (ValueError, PeerError) as reason:
                print(f"{problem.name}: {name} fails: {reason}", flush=True)
                continue
            peers.append(Contestant(name, partial(multigrid, problem, build, residual)))
        for contestant in peers:
            contestant.turn()
        best = min(peers, key=lambda contestant: contestant.seconds[0])
        best.seconds.clear()
        plain = partial(diagonal_cg, problem)
        residual = problem.residual_for(plain)
        scipy = Contestant("SciPy cg", partial(plain, problem.sources[:, 0], residual), factor=columns)
        grid = problem.name.startswith("grid")
        for peer, goal, turns in ((best, 6 if grid else 4, rounds), (scipy, 60 if grid else 4, 1 if grid else rounds)):
            ours = Contestant("auto", partial(solve, problem.system, problem.values, tol=ERROR))
            race = Race(problem.name, peer, ours, goal)
            race.run(turns)
            worst = max(problem.error(c, x) for c, x in enumerate(inside(problem, ours.result).T))
            if worst > ERROR:
                raise SystemExit(f"{problem.name}: the error is {worst:.1e}, above {ERROR:g}")
            yield race


def inside(problem: Problem, solution: Any) -> NDArray[np.float64]:
    return np.asarray(solution.temperatures)[problem.system.interior][:, 1:]
