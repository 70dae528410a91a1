"""Workers that are killed in the middle of a solve, on a real cluster: a few iterations are lost, and no answer."""

import os
import signal
from typing import Any

import networkx as nx
import numpy as np
import pytest

from isotherm.engines import engine_of
from isotherm.engines.cluster import current_session
from isotherm.engines.worker import EVERY
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem
from isotherm.equilibrium.solvers import Solution
from isotherm.graphs import Graph


def solved(problem: Problem, options: SolveOptions) -> Solution:
    return engine_of(options).solve(problem, options)


def slow_problem() -> Problem:
    """A grid with seeds in two corners, on which cg takes hundreds of iterations."""
    side = 100
    graph = Graph.from_networkx(nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side)))
    nodes = np.array([0, 1, graph.n_nodes - 1])
    return Problem.of(graph, nodes, np.array([[1.0, 0], [1, 0], [0, 1]]))


class Killer:
    """Kills a worker that has rows when the solve reaches each of some iterations."""

    def __init__(self, client: Any, at: list[int]) -> None:
        self.client, self.at = client, at
        self.reached: list[int] = []
        self.teams: list[set[str]] = []

    def __call__(self, iteration: int, error: float) -> None:
        if self.at and iteration >= self.at[0]:
            del self.at[0]
            self.reached.append(iteration)
            team = current_session().addresses
            self.teams.append(set(team))
            victim = team[len(self.teams) % len(team)]
            os.kill(self.client.run(os.getpid, workers=[victim])[victim], signal.SIGKILL)


@pytest.mark.parametrize("at", [[40], [40, 80]])
def test_a_killed_worker_costs_a_few_iterations(cluster: Any, at: list[int]) -> None:
    kills, problem = len(at), slow_problem()
    usual = solved(problem, SolveOptions(tol=1e-6, solver="cg"))
    assert usual.iterations > 120
    cluster.wait_for_workers(3, timeout=120)
    killer = Killer(cluster, list(at))
    found = solved(problem, SolveOptions(tol=1e-6, engine="dask", progress=killer))
    assert current_session().restarts == kills
    spread = np.nanstd(usual.temperatures, axis=0)
    assert np.all(np.abs(found.temperatures - usual.temperatures) <= 2e-6 * spread)
    assert abs(found.iterations - usual.iterations) <= 2
    for reached, resumed in zip(killer.reached, current_session().resumed, strict=True):
        assert resumed >= reached - 2 * EVERY  # the last checkpoint may not have been complete
    assert set(current_session().addresses) != killer.teams[-1]


def test_a_worker_that_joined_is_used(cluster: Any) -> None:
    cluster.wait_for_workers(3, timeout=120)
    path = Graph.from_networkx(nx.path_graph(20))
    solved(Problem.of(path, np.array([0, 19]), np.eye(2)), SolveOptions(engine="dask"))
    assert set(current_session().addresses) == set(cluster.scheduler_info()["workers"])
