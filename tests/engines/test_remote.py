"""Solutions that stay on the workers of a real cluster, against the local engine."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isotherm as iso
from isotherm.engines import LocalEngine
from isotherm.engines.cluster import DaskEngine, RemoteSolution, current_session
from isotherm.engines.session import ClusterError, LostWorker, restarting
from isotherm.engines.worker import SolvedPart
from isotherm.equilibrium.averages import reached_moments
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem
from isotherm.graphs.packed import open_packed

OPTIONS = SolveOptions(tol=1e-6, solver="cg", engine="dask")


def problem_of(graph: iso.Graph, columns: int) -> Problem:
    rng = np.random.default_rng(5)
    nodes = np.sort(rng.choice(graph.n_nodes - 6, 60, replace=False))
    return Problem.of(graph, nodes, np.eye(columns)[np.arange(60) % columns])


def random_graph(weighted: bool = False) -> iso.Graph:
    """A random graph in which the last six nodes are not connected."""
    rng, n = np.random.default_rng(3), 400
    source, target = rng.integers(n - 6, size=(2, 3 * n))
    weight = rng.lognormal(size=3 * n) if weighted else None
    return iso.Graph.from_edges(source, target, weight, nodes=range(n))


def degrees_and_heat_from_seeds(part: SolvedPart) -> Any:
    """For each own node: its degree, and the sum of its weights times the temperatures of adjacent seeds."""
    values = np.zeros((part.conductance.n, part.values.shape[1]))
    values[part.boundary] = part.values
    return part.conductance.sums[: part.own], (part.conductance.to_scipy() @ values)[: part.own]


def double(part: SolvedPart) -> None:
    part.temperatures *= 2


def remember(part: SolvedPart, what: str, own: int) -> None:
    part.results[what] = own + part.rank


def recall(part: SolvedPart, what: str) -> Any:
    return part.results[what]


@pytest.mark.parametrize(("columns", "weighted"), [(1, False), (2, True), (16, False), (20, True)])
def test_it_is_the_local_solution(cluster: Any, columns: int, weighted: bool) -> None:
    problem = problem_of(random_graph(weighted), columns)
    expected = LocalEngine.solve(problem, OPTIONS)
    with DaskEngine().solve_remote(problem, OPTIONS) as remote:
        assert remote.solution.converged
        assert remote.solution.temperatures.size == 0
        np.testing.assert_allclose(remote.gather(), expected.temperatures, atol=1e-5)
        some = np.array([7, 399, 3, 200, 3])
        np.testing.assert_allclose(remote.gather(some), expected.temperatures[some], atol=1e-5)
        moments = reached_moments(expected.temperatures)
        np.testing.assert_allclose(remote.mean(), moments.mean, atol=1e-6)
        np.testing.assert_allclose(remote.moments().spread, moments.spread, atol=1e-5)
        assert remote.n_unreached == problem.graph.n_nodes - moments.n_reached >= 6


@pytest.mark.filterwarnings("ignore::isotherm.ConvergenceWarning")
@pytest.mark.parametrize("columns", [3, 16, 20])
def test_no_temperature_is_beyond_those_of_the_boundary(cluster: Any, columns: int) -> None:
    rng, n = np.random.default_rng(columns), 120
    source, target = rng.integers(n, size=(2, 3 * n))
    graph = iso.Graph.from_edges(source, target, 10.0 ** rng.uniform(-12, 12, 3 * n), nodes=range(n))
    for values in (np.eye(columns)[np.arange(40) % columns], rng.random((40, columns)).round(1)):
        problem = Problem.of(graph, np.arange(0, n, 3), values)
        with DaskEngine().solve_remote(problem, SolveOptions(tol=1e-3, max_iter=30, engine="dask")) as remote:
            found = remote.gather()
        np.testing.assert_array_equal(np.nanmin(found, axis=0), values.min(axis=0).astype(found.dtype))
        np.testing.assert_array_equal(np.nanmax(found, axis=0), values.max(axis=0).astype(found.dtype))


def test_parts_have_all_that_labels_need(cluster: Any) -> None:
    """The same function on a part that has all nodes, and on the parts of the workers."""
    problem = problem_of(random_graph(weighted=True), 3)
    local = LocalEngine.solve(problem, OPTIONS)
    graph, values = problem.graph, problem.values(slice(None))
    whole = SolvedPart(graph.csr, 0, graph.n_nodes, 0, problem.nodes, values, local.temperatures)
    with DaskEngine().solve_remote(problem, OPTIONS) as remote:
        parts = remote.map(degrees_and_heat_from_seeds)
        assert len(parts) == len(cluster.scheduler_info()["workers"])
        assert remote.bounds[-1] == graph.n_nodes
    for found, expected in zip(zip(*parts, strict=True), degrees_and_heat_from_seeds(whole), strict=True):
        np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-5)


def test_functions_change_temperatures_and_leave_results(cluster: Any) -> None:
    problem = problem_of(random_graph(), 2)
    with DaskEngine().solve_remote(problem, OPTIONS) as remote:
        before = remote.gather()
        assert remote.map(double) == [None] * (len(remote.bounds) - 1)
        np.testing.assert_array_equal(remote.gather(), 2 * before)
        starts = [10 * rank for rank in range(len(remote.bounds) - 1)]
        remote.map(remember, "number", each=starts)
        assert remote.map(recall, "number") == [start + rank for rank, start in enumerate(starts)]


def test_solutions_do_not_disturb_each_other(cluster: Any) -> None:
    graph = random_graph()
    one, two = problem_of(graph, 2), problem_of(graph, 3)
    with DaskEngine().solve_remote(one, OPTIONS) as first:
        expected = first.gather()
        with DaskEngine().solve_remote(two, SolveOptions(tol=None, max_iter=4, engine="dask")) as rough:
            assert rough.solution.iterations == 4
            assert rough.gather().shape == (400, 3)
        with pytest.raises(LostWorker):
            rough.gather()  # closed
        with DaskEngine().solve_remote(one, OPTIONS) as again:
            np.testing.assert_array_equal(again.gather(), expected)


def test_a_packed_graph_is_read_by_the_workers(cluster: Any, tmp_path: Path) -> None:
    graph = random_graph(weighted=True)
    graph.pack(tmp_path / "graph.iso")
    problem = problem_of(open_packed(tmp_path / "graph.iso", unread=True), 3)
    expected = LocalEngine.solve(problem_of(graph, 3), OPTIONS).temperatures
    with DaskEngine().solve_remote(problem, OPTIONS) as remote:
        assert remote.sees_folder
        np.testing.assert_allclose(remote.gather(), expected, atol=1e-5)


def test_unreached_nodes_are_reported_as_by_a_fit(cluster: Any) -> None:
    problem = problem_of(random_graph(), 2)
    with (
        DaskEngine().solve_remote(problem, OPTIONS) as remote,
        pytest.warns(iso.UnreachedWarning, match=f"{remote.n_unreached} of 400 nodes are not connected to any seed"),
    ):
        remote.warn_about_unreached()


def test_what_cannot_stay_remote_is_refused(cluster: Any) -> None:
    arcs = iso.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=True)
    nodes, values = np.array([0, 3]), np.eye(2)
    with pytest.raises(ValueError, match="a directed graph cannot stay on the workers"):
        DaskEngine().solve_remote(Problem.of(arcs, nodes, values), OPTIONS)
    soft = Problem.of(arcs, nodes, values, side="edges", weights=np.array([2.0, np.inf]))
    with pytest.raises(ValueError, match="seeds that are not certain cannot stay"):
        DaskEngine().solve_remote(soft, OPTIONS)
    with DaskEngine().solve_remote(Problem.of(arcs, nodes, values, side="edges"), OPTIONS) as remote:
        np.testing.assert_allclose(remote.gather()[:, 0], [1, 2 / 3, 1 / 3, 0], atol=1e-5)


def test_lost_workers_start_everything_again(cluster: Any) -> None:
    problem, attempts = problem_of(random_graph(), 2), []

    def solve_and_read() -> Any:
        remote: RemoteSolution = DaskEngine().solve_remote(problem, OPTIONS)
        attempts.append(current_session().addresses)
        if len(attempts) == 1:
            victim = attempts[0][1]
            os.kill(cluster.run(os.getpid, workers=[victim])[victim], signal.SIGKILL)
            cluster.wait_for_workers(2)
        return remote.gather()

    np.testing.assert_allclose(restarting(solve_and_read), LocalEngine.solve(problem, OPTIONS).temperatures, atol=1e-5)
    assert len(attempts) == 2
    cluster.wait_for_workers(3)


def test_restarts_come_to_an_end() -> None:
    def lose() -> None:
        raise LostWorker("tcp://somewhere")

    with pytest.raises(ClusterError, match=r"lost again and again .*somewhere"):
        restarting(lose)
