"""Heat that enters at interior nodes, by all solvers, against dense linear algebra."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from problems import Problem as Drawn
from problems import dense, problems

from isotherm.equilibrium.certificate import absorption_times
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem, interior_system, solve
from isotherm.equilibrium.solvers import SOLVERS, Request, Source, System, prepare
from isotherm.graphs import Graph

EXACT = ("cg", "direct", "elimination", "auto")


def exact(system: System, values: NDArray[Any], heat: NDArray[Any]) -> NDArray[Any]:
    """Temperatures with heat (n, k) that enters, by a dense solve; NaN where unreached."""
    matrix = np.diag(system.degree) - dense(system.conductance)
    inside, outside = np.flatnonzero(system.interior), system.boundary
    found = np.full((len(matrix), values.shape[1]), np.nan)
    found[outside] = values
    found[inside] = np.linalg.solve(
        matrix[np.ix_(inside, inside)], heat[inside] - matrix[np.ix_(inside, outside)] @ values
    )
    return found


def random_source(system: System, columns: int, seed: int) -> Source:
    rng = np.random.default_rng(seed)
    nodes = np.flatnonzero(system.interior)
    return Source(nodes, rng.normal(size=(len(nodes), columns)) * (rng.random((len(nodes), columns)) < 0.5))


@pytest.mark.parametrize("solver", EXACT)
@given(problem=problems(), seed=st.integers(0, 1000))
@settings(max_examples=50)
def test_all_solvers_take_a_source(solver: str, problem: Drawn, seed: int) -> None:
    half = problem.graph.n_nodes if problem.graph.directed else None
    system = interior_system(problem.graph.heat, problem.nodes, half=half)
    source = random_source(system, problem.values.shape[1], seed)
    options = SolveOptions(tol=1e-9)
    found = prepare(system, solver).solve(Request(problem.values, options, source=source)).temperatures
    expected = exact(system, problem.values, source.everywhere(system.conductance.n))
    np.testing.assert_allclose(found, expected, atol=1e-6 * max(1.0, float(np.nanmax(np.abs(expected)))))


@given(problem=problems(), seed=st.integers(0, 1000))
@settings(max_examples=30)
def test_sweeps_with_a_source_are_the_iteration(problem: Drawn, seed: int) -> None:
    system = interior_system(problem.graph.heat, problem.nodes)
    source = random_source(system, problem.values.shape[1], seed)
    heat = source.everywhere(system.conductance.n)
    scale = np.divide(1, system.degree, out=np.zeros(system.conductance.n), where=system.interior)[:, None]
    expected = np.tile(problem.values.mean(axis=0), (system.conductance.n, 1))
    expected[problem.nodes] = problem.values
    for _ in range(5):
        swept = scale * (dense(system.conductance) @ expected + heat)
        expected = np.where(system.interior[:, None], swept, expected)
    found = prepare(system, "sweeps").solve(Request(problem.values, SolveOptions(tol=None, max_iter=5), source=source))
    close = 1e-5 * max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(found.temperatures[system.reached], expected[system.reached], atol=close)


@pytest.mark.parametrize("solver", sorted(SOLVERS))
@given(problem=problems())
@settings(max_examples=30)
def test_times_to_absorption(solver: str, problem: Drawn) -> None:
    """Every solver finds them well enough for a certificate: ``(I - Q) h`` is close to 1."""
    half = problem.graph.n_nodes if problem.graph.directed else None
    system = interior_system(problem.graph.heat, problem.nodes, half=half)
    times = absorption_times(system, prepare(system, solver), SolveOptions())
    inside = np.flatnonzero(system.interior)
    assert not times[~system.interior].any()
    if len(inside):
        steps = (dense(system.conductance) / np.maximum(system.degree, 1e-300)[:, None])[inside] @ times
        np.testing.assert_allclose(times[inside] - steps, 1, atol=0.2)


@given(problem=problems(), side=st.sampled_from(["both", "source"]), seed=st.integers(0, 1000))
@settings(max_examples=50)
def test_the_heat_of_a_node_enters_at_its_reached_copies(problem: Drawn, side: str, seed: int) -> None:
    graph, n = problem.graph, problem.graph.n_nodes
    heat = np.random.default_rng(seed).normal(size=(n, problem.values.shape[1]))
    stated = Problem.of(graph, problem.nodes, problem.values, side=side, source=heat)
    system, lifting = stated.system, stated.lifting
    reached = np.stack([system.reached[offset : offset + n] for offset in lifting.offsets])
    lifted = np.zeros((system.conductance.n, heat.shape[1]))
    for offset, known in zip(lifting.offsets, reached, strict=True):
        lifted[offset : offset + n] = heat * (known / np.maximum(reached.sum(axis=0), 1))[:, None]
    expected = lifting.lowered(exact(system, lifting.values(problem.values), lifted))
    found = solve(stated, SolveOptions(tol=1e-9)).temperatures
    np.testing.assert_allclose(found, expected, atol=1e-6 * max(1.0, float(np.nanmax(np.abs(expected)))))


def test_poisson_learning_is_a_problem_with_sources() -> None:
    """Heat enters at the labelled nodes, and leaves nowhere (Calder et al. 2020): one node is held at 0 instead."""
    graph = Graph.from_networkx(nx.karate_club_graph())
    labelled, codes = np.array([5, 20, 30]), np.array([0, 1, 1])
    heat = np.zeros((34, 2))
    heat[labelled] = np.eye(2)[codes] - np.eye(2)[codes].mean(axis=0)
    held = Problem.of(graph, np.array([0]), np.zeros((1, 2)), source=heat)
    found = solve(held, SolveOptions(tol=1e-9)).temperatures
    found = found - graph.degrees @ found / graph.degrees.sum()
    laplacian = np.diag(graph.degrees) - dense(graph.heat)
    expected = np.linalg.pinv(laplacian) @ heat
    np.testing.assert_allclose(found, expected - graph.degrees @ expected / graph.degrees.sum(), atol=1e-8)
