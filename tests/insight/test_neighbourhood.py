"""What is around a node, against dense products and temperatures by hand."""

import numpy as np
import pytest

import isotherm as iso
from isotherm.graphs import Graph
from isotherm.probability.node_features import direct_heat, held_values
from isotherm.seeds import Seeds


def random_graph(directed: bool) -> tuple[Graph, Seeds, np.ndarray]:
    """A graph with weights, seeds of three classes, and the matrix of the graph."""
    rng = np.random.default_rng(0)
    (source, target), weights = rng.integers(40, size=(2, 150)), rng.integers(1, 5, size=150)
    graph = iso.Graph.from_edges(source, target, weights, directed=directed, nodes=range(40))
    seeds = Seeds.from_labels(np.where(np.arange(40) < 12, np.arange(40) % 3, -1), graph)
    return graph, seeds, graph.adjacency.toarray()


def test_the_share_of_the_weight_that_goes_to_seeds_of_a_class() -> None:
    graph, seeds, matrix = random_graph(directed=False)
    values = held_values(seeds, 40).toarray()
    np.testing.assert_array_equal(values[seeds.nodes], np.eye(3)[seeds.codes])
    assert not values[12:].any()
    expected = matrix @ values / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(direct_heat(graph, seeds, "both").toarray(), expected)


def test_for_a_directed_graph_it_is_the_mean_over_copies_with_neighbours() -> None:
    graph, seeds, matrix = random_graph(directed=True)
    values = held_values(seeds, 40).toarray()
    copies = [part @ values / np.maximum(part.sum(axis=1, keepdims=True), 1) for part in (matrix, matrix.T)]
    known = (matrix.sum(axis=1) > 0) * 1 + (matrix.sum(axis=0) > 0)
    expected = sum(copies) / np.maximum(known, 1)[:, None]
    np.testing.assert_allclose(direct_heat(graph, seeds, "both").toarray(), expected)
    assert direct_heat(graph, seeds, "source").nnz == 0


@pytest.mark.parametrize("directed", [False, True])
def test_never_more_than_the_temperature(directed: bool) -> None:
    graph, seeds, _ = random_graph(directed)
    values = np.full((40, 3), np.nan)
    values[seeds.nodes] = seeds.values()
    temperatures = iso.solve_dirichlet(graph, values, tol=1e-9)
    direct = direct_heat(graph, seeds, "both").toarray()
    others = np.arange(12, 40)[~np.isnan(temperatures[12:, 0])]
    assert (direct[others] <= temperatures[others] + 1e-6).all()
    alone = others[np.isclose(direct[others].sum(axis=1), 1)]
    np.testing.assert_allclose(direct[alone], temperatures[alone], atol=1e-6)


def test_a_seed_that_is_not_held_gives_no_heat_of_its_own() -> None:
    graph = iso.Graph.from_edges([0, 1], [1, 2])
    clf = iso.DirichletClassifier().fit(graph, {0: "a", 2: "b"}, seed_weight={0: 2.0})
    expected = np.array([[0, 0], [0, 0.5], [0, 0]])
    np.testing.assert_allclose(direct_heat(graph, clf.seeds_, "both").toarray(), expected)
