"""Likeness against dense matrices, and coverage against sums over all nodes."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray
from problems import Problem, dense, problems

import isotherm as iso
from isotherm.equilibrium.lifting import lift
from isotherm.equilibrium.options import SolveOptions
from isotherm.insight.likeness import Cover, profiles


def rows_of(graph: iso.Graph, copies: int = 1) -> NDArray[np.float32]:
    lifting = lift(graph, np.empty(0, np.int64), side="both" if copies == 2 else "source")
    return profiles(lifting, np.arange(graph.n_nodes), SolveOptions())


def cover_of(graph: iso.Graph, seeds: list[int], more: int) -> Cover:
    lifting = lift(graph, np.empty(0, np.int64))
    return Cover(lifting, np.arange(graph.n_nodes), np.array(seeds), more, SolveOptions())


def exact(graph: iso.Graph, copies: int = 1) -> NDArray[np.float64]:
    """Cosines of the rows of (P^3 + P^4) (I - 1 pi) D^-1/2."""
    weights = dense(graph.heat)
    degree = weights.sum(axis=1)
    safe = np.where(degree > 0, degree, 1)
    walk = weights / safe[:, None]
    spread = np.linalg.matrix_power(walk, 3) + np.linalg.matrix_power(walk, 4)
    spread = (spread - 2 * (degree > 0)[:, None] * degree / max(degree.sum(), 1)) / np.sqrt(safe)
    joined = np.hstack(np.split(spread[: copies * graph.n_nodes], copies))
    length = np.linalg.norm(joined, axis=1)
    length[length < 1e-6] = np.inf
    return joined / length[:, None] @ (joined / length[:, None]).T


def blocks(sizes: list[int]) -> iso.Graph:
    chances = np.full((len(sizes), len(sizes)), 0.01) + 0.19 * np.eye(len(sizes))
    return iso.Graph.from_networkx(nx.stochastic_block_model(sizes, chances, seed=1))


@given(problem=problems(kinds=("undirected",)))
def test_likeness_in_a_small_graph_is_that_of_dense_rows(problem: Problem) -> None:
    rows, expected = rows_of(problem.graph), exact(problem.graph)
    alike = (np.diag(expected) > 0.5) & (np.linalg.norm(rows, axis=1) > 0.5)  # else there is nothing but rounding
    np.testing.assert_allclose((rows @ rows.T)[np.ix_(alike, alike)], expected[np.ix_(alike, alike)], atol=2e-2)


@pytest.mark.parametrize("directed", [False, True])
def test_likeness_in_a_larger_graph_is_estimated(directed: bool) -> None:
    graph = blocks([200, 150, 100])
    if directed:
        ends = np.random.default_rng(0).integers(450, size=(2, 4000))
        graph = iso.Graph.from_edges(*ends, directed=True, nodes=np.arange(450))
    rows, expected = rows_of(graph, 1 + directed), exact(graph, 1 + directed)
    error = (rows @ rows.T - expected)[~np.eye(450, dtype=bool)]
    assert np.abs(error.mean()) < 0.03
    assert error.std() < 1.1 / np.sqrt(128)  # random signs in so many columns


@pytest.mark.parametrize("directed", [False, True])
def test_some_rows_are_those_of_all(directed: bool) -> None:
    ends = np.random.default_rng(0).integers(450, size=(2, 1000))
    graph = iso.Graph.from_edges(*ends, directed=directed, nodes=np.arange(450))
    lifting, some = lift(graph, np.empty(0, np.int64), side="both"), np.array([7, 400, 31])
    every = profiles(lifting, np.arange(450), SolveOptions())
    np.testing.assert_allclose(profiles(lifting, some, SolveOptions()), every[some], rtol=1e-5, atol=1e-6)


def test_nodes_of_a_block_are_alike_and_a_hub_of_all_blocks_is_like_none() -> None:
    graph = nx.stochastic_block_model([80, 80, 80], 0.01 + 0.19 * np.eye(3), seed=1)
    graph.add_edges_from((240, node) for node in range(0, 240, 2))
    graph.add_node("alone")
    rows = rows_of(iso.Graph.from_networkx(graph))
    alike, block = rows @ rows.T, np.arange(240) // 80
    same = block[:, None] == block
    assert alike[:240, :240][same].mean() > 0.8
    assert alike[:240, :240][~same].mean() < 0
    assert np.abs(alike[240, :240]).mean() < 0.5
    assert not rows[241].any()


def test_gains_are_sums_over_all_nodes_of_a_small_graph() -> None:
    graph = blocks([60, 40])
    likeness = np.maximum(exact(graph), 0)
    cover = cover_of(graph, [3, 70], 2)
    for seeds in ([3, 70], [3, 70, 10]):
        expected = 1 + np.maximum(likeness - likeness[seeds].max(axis=0), 0).sum(axis=1)
        np.testing.assert_allclose(cover.gains(np.arange(100)), expected, rtol=1e-2)
        cover.add(np.array([10]))


def test_gains_are_estimated_from_a_sample_of_a_larger_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = blocks([400, 800, 1200])
    sampled = cover_of(graph, [0], 1)
    monkeypatch.setattr("isotherm.insight.likeness.SAMPLE", (2400, 2400))
    every = cover_of(graph, [0], 1)
    nodes = np.arange(0, 2400, 100)
    assert (len(sampled.sample), len(every.sample)) == (1000, 2400)
    np.testing.assert_allclose(sampled.gains(nodes), every.gains(nodes), rtol=0.15)
