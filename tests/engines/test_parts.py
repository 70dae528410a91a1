"""The cluster's conjugate gradient, with threads in place of workers, against dense linear algebra."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import Problem, harmonic, problems
from teams import run_together, solve_together

from isotherm.engines.mailbox import Team
from isotherm.engines.part import balanced_bounds, open_rows, part_system
from isotherm.engines.session import cut_rows
from isotherm.engines.worker import Question
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem as Stated
from isotherm.equilibrium.problem import interior_system, solve
from isotherm.equilibrium.solvers import Request, Source
from isotherm.graphs import Graph

TIGHT = SolveOptions(tol=1e-9, solver="cg")


@given(problems(kinds=("undirected", "bipartite")), st.integers(1, 4))
@settings(max_examples=60)
def test_parts_find_the_equilibrium(problem: Problem, size: int) -> None:
    heat = problem.graph.heat
    _, found = solve_together(heat, Question(problem.nodes, Request(problem.values, TIGHT)), size)
    np.testing.assert_allclose(found, harmonic(heat.to_scipy(), problem.nodes, problem.values), atol=1e-7)


@pytest.mark.usefixtures("each_kernel")
@given(problem=problems(kinds=("undirected",)), size=st.integers(2, 4))
@settings(max_examples=20)
def test_parts_know_what_is_reached(problem: Problem, size: int) -> None:
    heat = problem.graph.heat
    bounds = balanced_bounds(heat.indptr, size)

    def task(team: Team) -> Any:
        first, last = bounds[team.rank : team.rank + 2]
        rows = open_rows(lambda: cut_rows(heat, first, last), bounds, team)
        inside = (problem.nodes >= first) & (problem.nodes < last)
        system, _ = part_system(rows, problem.nodes[inside] - first, problem.values[inside], team)
        return rows, system

    whole = interior_system(heat, problem.nodes)
    for rows, system in run_together(size, task):
        nodes = np.concatenate([np.arange(rows.first, rows.first + rows.own), rows.halo])
        np.testing.assert_array_equal(system.reached, whole.reached[nodes])
        np.testing.assert_array_equal(system.interior, whole.interior[nodes])
        np.testing.assert_allclose(system.degree[: rows.own], whole.degree[nodes[: rows.own]])


@given(problem=problems(kinds=("undirected",)), seed=st.integers(0, 1000))
@settings(max_examples=20)
def test_heat_that_enters_is_dealt_to_the_parts(problem: Problem, seed: int) -> None:
    heat = problem.graph.heat
    system = interior_system(heat, problem.nodes)
    nodes = np.flatnonzero(system.interior)
    source = Source(nodes, np.random.default_rng(seed).normal(size=(len(nodes), problem.values.shape[1])))
    entering = source.everywhere(heat.n)
    expected = solve(
        Stated.of(problem.graph, problem.nodes, problem.values, source=entering),
        SolveOptions(tol=1e-9, solver="direct"),
    ).temperatures
    _, found = solve_together(heat, Question(problem.nodes, Request(problem.values, TIGHT, source=source)), 3)
    np.testing.assert_allclose(found, expected, atol=1e-6 * max(1.0, float(np.nanmax(np.abs(expected)))))


def random_problem(n: int = 3000, seeds: int = 40) -> tuple[Graph, Any, Any]:
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(n, size=5 * n), rng.integers(n, size=5 * n), nodes=range(n))
    return graph, np.sort(rng.choice(n, seeds, replace=False)), np.eye(4)[rng.integers(4, size=seeds)]


@pytest.mark.parametrize("tol", [1e-3, 1e-8, None])
@pytest.mark.parametrize("closed", [False, True])
def test_parts_do_the_same_steps_as_one(tol: float | None, closed: bool) -> None:
    graph, nodes, values = random_problem()
    options = SolveOptions(tol=tol, solver="cg", max_iter=6 if tol is None else None)
    given_values = values[:, 1:] if closed else values
    alone, one = solve_together(graph.csr, Question(nodes, Request(given_values, options, closed=closed)), 1)
    parts, found = solve_together(graph.csr, Question(nodes, Request(given_values, options, closed=closed)), 3)
    assert parts.iterations == alone.iterations
    assert parts.error_bound == pytest.approx(alone.error_bound, rel=1e-3)
    np.testing.assert_allclose(found, one, atol=1e-6)


def test_a_start_saves_iterations() -> None:
    graph, nodes, values = random_problem()
    cold, found = solve_together(graph.csr, Question(nodes, Request(values, TIGHT)), 3)
    warm, again = solve_together(graph.csr, Question(nodes, Request(values, TIGHT, start=found)), 3)
    assert warm.iterations < cold.iterations / 2
    np.testing.assert_allclose(again, found, atol=1e-8)


@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_a_solve_goes_on_from_a_checkpoint_as_if_nothing_had_happened(tol: float) -> None:
    graph, nodes, values = random_problem()
    question = Question(nodes, Request(values, SolveOptions(tol=tol)))
    saved: list[Any] = []
    whole, found = solve_together(graph.csr, question, 1, save=lambda state: saved.append(deepcopy(state)), every=3)
    assert len(saved) >= 2
    resumed, again = solve_together(graph.csr, question, 1, resumed=saved[1])
    assert resumed.iterations == whole.iterations
    assert resumed.error_bound == pytest.approx(whole.error_bound, rel=1e-2)
    np.testing.assert_allclose(again, found, atol=1e-6 if tol > 1e-4 else 1e-12)


def test_blocks_are_balanced_by_entries() -> None:
    graph, _, _ = random_problem()
    bounds = balanced_bounds(graph.csr.indptr, 5)
    counts = np.diff(graph.csr.indptr[bounds])
    assert counts.sum() == graph.csr.entries
    assert counts.max() - counts.min() <= 2 * np.diff(graph.csr.indptr).max()
