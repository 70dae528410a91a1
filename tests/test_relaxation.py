"""Relaxation against dense linear algebra."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import Problem, dense, problems

import isotherm as iso
from isotherm.dirichlet import interior_system
from isotherm.relaxation import Interior, Relaxation, around, part


@given(problem=problems(), columns=st.integers(1, 16), data=st.data())
def test_a_relaxation_ends_at_the_solution(problem: Problem, columns: int, data: st.DataObject) -> None:
    system = interior_system(problem.graph.heat, problem.nodes)
    inside = np.flatnonzero(system.interior)
    if not len(inside):
        return
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    source = rng.normal(size=(len(inside), columns)) * (rng.random((len(inside), columns)) < 0.5)
    relaxation = Relaxation(Interior(system, np.float64, 1), columns)
    relaxation.r[inside] = source
    relaxation.begin()
    for _ in range(3 * len(inside)):
        relaxation.step()
    matrix = np.diag(system.degree) - dense(problem.graph.heat)
    found = relaxation.temperatures[inside]
    rounding = 1e-9 * max(1.0, (system.degree[inside, None] * np.abs(found)).max())
    np.testing.assert_allclose(matrix[np.ix_(inside, inside)] @ found, source, atol=rounding)
    np.testing.assert_allclose(relaxation.flow, -matrix[np.ix_(system.boundary, inside)] @ found, atol=rounding)
    np.testing.assert_allclose(relaxation.flow.sum(axis=0), source.sum(axis=0), atol=rounding)


def test_balance_saves_iterations() -> None:
    """Heat leaves a well mixed graph slowly; the constant is found at once, and the rest in a few steps."""
    graph = iso.Graph.from_networkx(nx.random_regular_graph(20, 2000, seed=1))
    system = interior_system(graph.heat, np.arange(20))
    interior = Interior(system, np.float64, 1)
    relaxation = Relaxation(interior, 1)
    relaxation.r[500] = 1
    relaxation.begin()
    for _ in range(4):
        relaxation.step()
    assert np.abs(relaxation.r).sum() < 0.1
    assert interior.absorption == pytest.approx(system.flux.sum() / (20 * 1980))


def test_a_cleared_relaxation_is_as_new() -> None:
    graph = iso.Graph.from_networkx(nx.karate_club_graph())
    interior = Interior(interior_system(graph.heat, np.array([0, 33])), np.float32, 1)
    flows = []
    relaxation = Relaxation(interior, 1)
    for _ in range(2):
        relaxation.clear()
        relaxation.r[5] = 1
        relaxation.begin()
        for _ in range(10):
            relaxation.step()
        flows.append(relaxation.flow.copy())
    np.testing.assert_array_equal(flows[0], flows[1])


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
    if not len(nodes):
        return
    piece = part(system, nodes)
    matrix = dense(problem.graph.heat)
    np.testing.assert_array_equal(dense(piece.heat), matrix[np.ix_(nodes, nodes)])
    np.testing.assert_array_equal(piece.degree, system.degree[nodes])
    owner, end, weight = problem.graph.heat.entries_at(nodes)
    rows = np.zeros((len(nodes), len(matrix)))
    rows[owner, end] = weight
    np.testing.assert_array_equal(rows, matrix[nodes])
