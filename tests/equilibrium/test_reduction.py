"""Exact elimination of nodes with few neighbours, against dense linear algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from problems import Problem, dense, problems, star_mesh
from scipy.sparse import csr_array, diags_array

import isotherm as iso
from isotherm.equilibrium import problem as problem_module
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import MANY, interior_system, local_solver, solve
from isotherm.equilibrium.solvers import Request, Solver, Source, System, prepare
from isotherm.equilibrium.solvers.reduction import Reduced


def reduced(system: System, solver: str = "cg") -> Reduced:
    return Reduced(system, lambda core: prepare(core, solver))


def relative_error(found: np.ndarray, exact: np.ndarray) -> float:
    """Largest error of a column over the spread of that column."""
    spread, error = np.nanstd(exact, axis=0), np.nanmax(np.abs(found - exact), axis=0)
    return float(np.max(np.divide(error, spread, out=np.where(error > 1e-14, np.inf, 0), where=spread > 0)))


@pytest.mark.parametrize("solver", ["cg", "auto", "elimination"])
@pytest.mark.parametrize("tol", [1e-3, 1e-10])
@given(problem=problems(kinds=("undirected", "bipartite")))
@settings(max_examples=50)
def test_temperatures_are_those_of_the_whole_system(solver: str, tol: float, problem: Problem) -> None:
    system = interior_system(problem.graph.heat, problem.nodes)
    solution = reduced(system, solver).solve(Request(problem.values, SolveOptions(tol=tol)))
    exact = star_mesh(dense(problem.graph.heat), problem.nodes, problem.values)
    np.testing.assert_array_equal(np.isnan(solution.temperatures), np.isnan(exact))
    assert solution.converged
    error = relative_error(solution.temperatures, exact)
    assert error <= max(tol, 1e-9)
    assert error <= solution.error_bound + 1e-14


def test_chains_and_trees_vanish() -> None:
    chain = csr_array(diags_array([np.ones(999)] * 2, offsets=[-1, 1], shape=(1000, 1000)))
    system = interior_system(iso.Graph.from_scipy(chain).heat, np.array([0, 600]))
    solver = reduced(system)
    assert len(solver.core.nodes) < 50
    found = solver.solve(Request(np.array([[0.0], [1.0]]), SolveOptions(tol=1e-10))).temperatures[:, 0]
    np.testing.assert_allclose(found, np.minimum(np.arange(1000) / 600, 1), atol=1e-9)


def power_law(n: int = 3000) -> iso.Graph:
    """Each node is joined to three earlier ones, most often to the first nodes."""
    rng = np.random.default_rng(0)
    node = np.repeat(np.arange(1, n), 3)
    return iso.Graph.from_edges(node, (node * rng.random(len(node)) ** 2).astype(int), nodes=range(n))


def test_the_last_nodes_of_the_core_are_no_neighbours() -> None:
    core = reduced(interior_system(power_law().heat, np.arange(10))).core
    matrix, half = core.system.conductance.to_scipy(), core.half
    last = matrix[half:, half:]
    assert last.shape[0] > 0
    assert last.nnz == 0
    assert (core.system.boundary < half).all()
    alone = np.flatnonzero(np.diff(matrix[:half, half:].indptr) == 0)
    assert np.isin(alone, core.system.boundary).all()  # no other node could be added to the set


def test_blocks_that_share_memory_do_not_disturb_each_other() -> None:
    system, rng = interior_system(power_law().heat, np.arange(30)), np.random.default_rng(0)
    solver, options = reduced(system), SolveOptions(tol=1e-3)
    values = [rng.random((30, columns)) for columns in (7, 7, 3, 7)]
    solutions = [solver.solve(Request(each, options)).temperatures for each in values]
    for each, found in zip(values, solutions, strict=True):
        np.testing.assert_array_equal(found, reduced(system).solve(Request(each, options)).temperatures)


@pytest.mark.parametrize("weights", [None, 2.0])
def test_many_columns_are_solved_on_the_core(weights: float | None) -> None:
    graph, rng = power_law(), np.random.default_rng(1)
    nodes, values = np.sort(rng.choice(graph.n_nodes, MANY, replace=False)), np.eye(MANY)
    trust = None if weights is None else np.where(np.arange(MANY) % 3 == 0, weights, np.inf)
    problem = problem_module.Problem.of(graph, nodes, values, weights=trust)
    assert isinstance(local_solver(problem.system, SolveOptions(), MANY), Reduced)
    found = solve(problem, SolveOptions(tol=1e-3))
    exact = solve(problem, SolveOptions(solver="direct", tol=1e-10)).temperatures
    assert found.converged
    assert relative_error(found.temperatures, exact) <= 1e-3
    np.testing.assert_allclose(found.temperatures.sum(axis=1), 1, atol=1e-3)


@pytest.mark.parametrize("options", [SolveOptions(solver="elimination"), SolveOptions(tol=None, max_iter=3)])
def test_what_a_user_asked_for_is_not_replaced(options: SolveOptions) -> None:
    system = interior_system(power_law().heat, np.arange(10))
    assert not isinstance(local_solver(system, options, MANY), Reduced)
    assert not isinstance(local_solver(system, SolveOptions(), MANY - 1), Reduced)


def test_start_and_source_are_respected() -> None:
    system = interior_system(power_law().heat, np.arange(10))
    solver: Solver = reduced(system)
    options = SolveOptions(tol=1e-6)
    fresh = solver.solve(Request(np.eye(10), options))
    assert solver.solve(Request(np.eye(10), options, start=fresh.temperatures)).iterations < fresh.iterations
    source = Source(np.array([2000]), np.ones((1, 10)))
    exact = prepare(system, "direct").solve(Request(np.eye(10), SolveOptions(tol=1e-10), source=source)).temperatures
    assert relative_error(solver.solve(Request(np.eye(10), options, source=source)).temperatures, exact) <= 1e-6
