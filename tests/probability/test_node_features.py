"""Features of a node, against dense products and temperatures by hand."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import isotherm as iso
from isotherm.graphs import Graph
from isotherm.probability.node_features import FeatureField, effective_number
from isotherm.seeds import Seeds, as_seeds


def random_graph(directed: bool) -> tuple[Graph, Seeds, np.ndarray]:
    """A graph with weights, seeds of three classes, and the matrix of the graph."""
    rng = np.random.default_rng(0)
    (source, target), weights = rng.integers(40, size=(2, 150)), rng.integers(1, 5, size=150)
    graph = iso.Graph.from_edges(source, target, weights, directed=directed, nodes=range(40))
    seeds = Seeds.from_labels(np.where(np.arange(40) < 12, np.arange(40) % 3, -1), graph)
    return graph, seeds, graph.adjacency.toarray()


def held(seeds: Seeds) -> np.ndarray:
    """(n, K) the temperatures at which the seeds are held."""
    values = np.zeros((40, 3))
    values[seeds.nodes] = np.eye(3)[seeds.codes]
    return values


def direct(graph: Graph, seeds: Seeds, side: str) -> np.ndarray:
    """(n, K) the heat that comes directly from seeds."""
    return FeatureField.of(graph, seeds, np.zeros((graph.n_nodes, seeds.n_classes)), side).direct.toarray()


def neighbours(graph: Graph, side: str) -> np.ndarray:
    """(n,) the number of neighbours of each node."""
    seeds = Seeds.from_labels({0: "a", 1: "b"}, graph)
    return FeatureField.of(graph, seeds, np.zeros((graph.n_nodes, 2)), side).neighbours


def test_the_share_of_the_weight_that_goes_to_seeds_of_a_class() -> None:
    graph, seeds, matrix = random_graph(directed=False)
    values = held(seeds)
    expected = matrix @ values / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(direct(graph, seeds, "both"), expected)


def test_for_a_directed_graph_it_is_the_mean_over_copies_with_neighbours() -> None:
    graph, seeds, matrix = random_graph(directed=True)
    values = held(seeds)
    copies = [part @ values / np.maximum(part.sum(axis=1, keepdims=True), 1) for part in (matrix, matrix.T)]
    known = (matrix.sum(axis=1) > 0) * 1 + (matrix.sum(axis=0) > 0)
    expected = sum(copies) / np.maximum(known, 1)[:, None]
    np.testing.assert_allclose(direct(graph, seeds, "both"), expected)
    assert not direct(graph, seeds, "source").any()


@pytest.mark.parametrize("directed", [False, True])
def test_never_more_than_the_temperature(directed: bool) -> None:
    graph, seeds, _ = random_graph(directed)
    values = np.full((40, 3), np.nan)
    values[seeds.nodes] = seeds.values()
    temperatures = iso.solve_dirichlet(graph, values, tol=1e-9)
    heat = direct(graph, seeds, "both")
    others = np.arange(12, 40)[~np.isnan(temperatures[12:, 0])]
    assert (heat[others] <= temperatures[others] + 1e-6).all()
    alone = others[np.isclose(heat[others].sum(axis=1), 1)]
    np.testing.assert_allclose(heat[alone], temperatures[alone], atol=1e-6)


def test_a_seed_that_is_not_held_gives_no_heat_of_its_own() -> None:
    graph = iso.Graph.from_edges([0, 1], [1, 2])
    seeds = as_seeds({0: "a", 2: "b"}, graph, {0: 2.0})
    expected = np.array([[0, 0], [0, 0.5], [0, 0]])
    np.testing.assert_allclose(direct(graph, seeds, "both"), expected)


def test_neighbours_are_counted_by_their_weights() -> None:
    np.testing.assert_allclose(effective_number(np.array([0, 3, 3, 4]), np.array([2.0, 2.0, 2.0, 7.0])), [3, 0, 1])
    arcs = iso.Graph.from_edges([0, 0, 1], [1, 2, 2], directed=True)
    np.testing.assert_array_equal(neighbours(arcs, "source"), [2, 1, 0])
    np.testing.assert_array_equal(neighbours(arcs, "both"), [2, 2, 2])
    weighted = iso.Graph.from_edges([0, 0], [1, 2], weight=[1, 3])
    np.testing.assert_allclose(neighbours(weighted, "both"), [16 / 10, 1, 1])


def test_the_warmest_class_is_relative_to_its_mean_over_reached_nodes() -> None:
    """A class that no visible seed has is nowhere the warmest."""
    temperatures = np.array([[0.9, 0.1, 0], [0.6, 0.4, 0], [np.nan] * 3, [0.0, 1.0, 0]])
    field = FeatureField(temperatures, csr_array((4, 3)), np.ones(4))
    np.testing.assert_allclose(field.mean, [0.5, 0.5, 0])
    assert field.reached.tolist() == [True, True, False, True]
    assert field.warmest().tolist() == [0, 0, -1, 1]


def test_a_new_node_has_the_features_of_a_node_with_the_same_edges() -> None:
    graph, seeds, matrix = random_graph(directed=False)
    values = np.full((40, 3), np.nan)
    values[seeds.nodes] = seeds.values()
    temperatures = iso.solve_dirichlet(graph, values, tol=1e-10)
    others = np.flatnonzero(~np.isnan(temperatures[:, 0]) & (np.arange(40) >= 12))
    own = FeatureField.of(graph, seeds, temperatures, "edges").at(others)
    new = FeatureField.of_new_nodes(csr_array(matrix[others]), seeds, temperatures).at(slice(None))
    for one, other in zip(own, new, strict=True):
        np.testing.assert_allclose(other, one, atol=1e-8)
