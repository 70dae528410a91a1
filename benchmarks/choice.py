"""What solver="auto" comes to, against the better of cg and elimination, which nobody knows beforehand.

On graphs of all kinds, with 1% seeds, at the default tolerance and at a hundredth of it.
"""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from scipy.sparse import csr_array

import isotherm as iso
from benchmarks.graphs import kept_power_law
from benchmarks.grid import grid
from benchmarks.hard_graphs import com_graph, stored_graph
from benchmarks.harness import Contestant
from benchmarks.results import Result
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem, solve

__all__ = ["races"]

STORED = [
    "road_usroads",
    "road_luxembourg_osm",
    "knn_mnist10k",
    "knn_usps",
    "knn_reut",
    "pubmed",
    "dblp_citation",
    "nell",
    "wordnet_words",
    "gowalla",
    "douban",
    "github_social",
    "coauthor_physics",
    "fb100_ucla26",
    "debian_bookworm",
]
SOLVERS = ("cg", "elimination", "auto")
CLASSES = 8
GOAL = 1.5  # times as long as the better one, at most
HOPELESS = 3  # times as slow as the other: not asked again


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Result]:
    """For each graph and tolerance, auto against the better of the two."""
    for name, graph in _graphs(scale):
        rng = np.random.default_rng(0)
        boundary = np.sort(rng.choice(graph.n_nodes, max(CLASSES, graph.n_nodes // 100), replace=False))
        values = np.eye(CLASSES)[rng.permutation(np.arange(len(boundary)) % CLASSES)]
        problem = Problem.of(graph, boundary, values)
        for tol in (1e-3, 1e-5):
            cg, elimination, auto = (_contestant(problem, solver, tol) for solver in SOLVERS)
            _take_turns(cg, elimination, auto, rounds)
            better = min(cg, elimination, key=lambda contestant: median(contestant.seconds))
            yield Result(f"{name}, tol={tol:g}", better.name, better.seconds, "auto", auto.seconds, 1 / GOAL)


def _contestant(problem: Problem, solver: str, tol: float) -> Contestant:
    return Contestant(solver, partial(solve, problem, SolveOptions(solver=solver, tol=tol)))


def _take_turns(cg: Contestant, elimination: Contestant, auto: Contestant, rounds: int) -> None:
    for _ in range(rounds):
        for one, other in ((cg, elimination), (elimination, cg)):
            if not one.seconds or median(one.seconds) < HOPELESS * median(other.seconds):
                one.turn()
        auto.turn()


def _graphs(scale: float) -> Iterator[tuple[str, iso.Graph]]:
    side = int(400 * scale**0.5)
    yield f"grid {side} x {side}", grid(side)
    n = int(200_000 * scale)
    yield f"power law, {n} nodes", iso.Graph.from_scipy(csr_array(kept_power_law(n, 10 * n)))
    folder = os.environ.get("ISOTHERM_DATA")
    if folder is None:
        print("real graphs left out: set ISOTHERM_DATA to their folder")
        return
    for name in STORED:
        yield name, stored_graph(Path(folder), name)
    for name in ("com-amazon", "com-dblp"):
        yield name, com_graph(Path(folder), name)
