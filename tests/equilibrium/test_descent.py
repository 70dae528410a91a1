"""Conjugate gradient from sources, as harmonic measures use it, against dense linear algebra."""

import networkx as nx
import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from problems import Problem, dense, problems

import isotherm as iso
from isotherm.equilibrium.harmonic_measure import around, part
from isotherm.equilibrium.problem import interior_system
from isotherm.equilibrium.solvers import Source, System
from isotherm.equilibrium.solvers.cg import Descent
from isotherm.equilibrium.solvers.interior import Block, Interior


def descent(system: System, source: Source, dtype: type[np.floating] = np.float64) -> Descent:
    """Heat from a source, ready for the first step; the boundary is held at 0."""
    columns = source.inflow.shape[1]
    held = np.zeros((len(system.boundary), columns))
    found = Descent(Block(Interior(system, dtype, 1), held, np.zeros(columns), source), settled=1e-14)
    found.begin()
    return found


def unit(node: int) -> Source:
    return Source(np.array([node]), np.ones((1, 1)))


@given(problem=problems(), columns=st.integers(1, 15), data=st.data())
def test_a_descent_ends_at_the_solution(problem: Problem, columns: int, data: st.DataObject) -> None:
    system = interior_system(problem.graph.heat, problem.nodes)
    inside = np.flatnonzero(system.interior)
    assume(len(inside))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    heat = rng.normal(size=(len(inside), columns)) * (rng.random((len(inside), columns)) < 0.5)
    found = descent(system, Source(inside, heat))
    for _ in range(3 * len(inside)):
        found.step()
    matrix = (np.diag(system.degree) - dense(problem.graph.heat))[np.ix_(inside, inside)]
    temperatures = found.block.temperatures()[inside]
    rounding = 1e-9 * max(1.0, (system.degree[inside, None] * np.abs(temperatures)).max())
    np.testing.assert_allclose(matrix @ temperatures, heat, atol=rounding)


def test_balance_saves_iterations() -> None:
    """Heat leaves a well mixed graph slowly; the constant is found at once, and the rest in a few steps."""
    graph = iso.Graph.from_networkx(nx.random_regular_graph(20, 2000, seed=1))
    found = descent(interior_system(graph.heat, np.arange(20)), unit(500))
    for _ in range(4):
        found.step()
    assert np.abs(found.r[:, 0]).sum() < 0.1


def test_a_cleared_descent_is_as_new() -> None:
    graph = iso.Graph.from_networkx(nx.karate_club_graph())
    found = descent(interior_system(graph.heat, np.array([0, 33])), unit(5), np.float32)
    runs: list[NDArray[np.floating]] = []
    for _ in range(2):
        found.clear()
        found.begin()
        for _ in range(10):
            found.step()
        runs.append(found.block.temperatures())
    np.testing.assert_array_equal(runs[0], runs[1])


def test_rings_around_nodes_are_whole_and_in_order() -> None:
    graph = iso.Graph.from_networkx(nx.path_graph(20))
    system = interior_system(graph.heat, np.array([0, 15]))
    assert around(system, np.array([5]), 0).tolist() == [5]
    assert around(system, np.array([5]), 11).tolist() == [5, 4, 6, 3, 7]  # two entries for each node of a ring
    assert sorted(around(system, np.array([5]), 1e9).tolist()) == list(range(1, 15))


@given(problem=problems())
def test_a_part_is_cut_out_with_its_degrees(problem: Problem) -> None:
    system = interior_system(problem.graph.heat, problem.nodes)
    nodes = np.flatnonzero(system.interior)[::-2].copy()
    assume(len(nodes))
    piece = part(system, nodes)
    matrix = dense(problem.graph.heat)
    np.testing.assert_array_equal(dense(piece.conductance), matrix[np.ix_(nodes, nodes)])
    np.testing.assert_array_equal(piece.degree, system.degree[nodes])
    owner, end, weight = problem.graph.heat.entries_at(nodes)
    rows = np.zeros((len(nodes), len(matrix)))
    rows[owner, end] = weight
    np.testing.assert_array_equal(rows, matrix[nodes])
