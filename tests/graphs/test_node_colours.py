"""Colours of nodes: equal under any numbering, and different wherever surroundings differ."""

import networkx as nx
import numpy as np
import pytest

import isotherm as iso
from isotherm.graphs import colours
from isotherm.graphs.colours import colours_at, distinct_colours, id_ranks, spaced


def renumbered(graph: nx.Graph, seed: int = 0) -> tuple[iso.Graph, iso.Graph, np.ndarray]:
    """A graph, the same with nodes in another order, and the new position of each node."""
    ends = np.array(graph.edges())
    rng, n = np.random.default_rng(seed), graph.number_of_nodes()
    places, lines = rng.permutation(n), rng.permutation(len(ends))
    weight = None if not nx.is_weighted(graph) else np.array([w for *_, w in graph.edges(data="weight")])
    moved = places[ends[lines]]
    first = iso.Graph.from_edges(ends[:, 0], ends[:, 1], weight, nodes=range(n), directed=graph.is_directed())
    weight = None if weight is None else weight[lines]
    second = iso.Graph.from_edges(moved[:, 0], moved[:, 1], weight, nodes=range(n), directed=graph.is_directed())
    return first, second, places


def weighted(graph: nx.Graph) -> nx.Graph:
    rng = np.random.default_rng(5)
    nx.set_edge_attributes(graph, {edge: float(rng.random()) for edge in graph.edges()}, "weight")
    return graph


@pytest.mark.parametrize(
    "graph",
    [
        nx.barabasi_albert_graph(300, 2, seed=1),
        nx.gnp_random_graph(200, 0.02, seed=2),
        nx.gn_graph(150, seed=3),
        weighted(nx.gnp_random_graph(80, 0.1, seed=4)),
        nx.powerlaw_cluster_graph(30_000, 3, 0.3, seed=5),  # colours are counted in a sample
    ],
)
def test_colours_do_not_depend_on_the_numbering(graph: nx.Graph) -> None:
    first, second, places = renumbered(graph)
    np.testing.assert_array_equal(second.colours[places], first.colours)
    assert len(np.unique(first.colours)) > first.n_nodes / 20


def test_colours_are_as_fine_as_the_test_of_weisfeiler_and_leman() -> None:
    graph = nx.barabasi_albert_graph(200, 1, seed=0)
    expected = dict.fromkeys(graph, 0)
    for _ in range(20):
        pairs = {node: (expected[node], tuple(sorted(expected[near] for near in graph[node]))) for node in graph}
        numbers = {pair: number for number, pair in enumerate(sorted(set(pairs.values())))}
        expected = {node: numbers[pair] for node, pair in pairs.items()}
    found, _, _ = renumbered(graph)
    both = set(zip(found.colours.tolist(), expected.values(), strict=True))
    assert len(both) == len(set(expected.values())) == len(np.unique(found.colours))


def test_ids_tell_the_nodes_of_a_grid_apart() -> None:
    ends = np.array([(f"{a}", f"{b}") for a, b in nx.grid_2d_graph(9, 9, periodic=True).edges()])
    graph = iso.Graph.from_edges(*ends.T)
    assert len(np.unique(graph.colours)) == 1
    assert len(np.unique(distinct_colours(graph))) == 81
    shuffled = iso.Graph.from_edges(*np.random.default_rng(0).permutation(ends).T)
    by_id = dict(zip(graph.nodes.tolist(), distinct_colours(graph).tolist(), strict=True))
    assert by_id == dict(zip(shuffled.nodes.tolist(), distinct_colours(shuffled).tolist(), strict=True))
    hubs, _, _ = renumbered(nx.barabasi_albert_graph(200, 2, seed=0))
    assert distinct_colours(hubs) is hubs.colours


def test_ranks_of_ids() -> None:
    graph = iso.Graph.from_edges(["b", "a", "d"], ["a", "c", "c"])
    assert id_ranks(graph, np.array([0, 1, 2])).tolist() == [1, 0, 3 - 1]  # b, a, d


def test_large_graphs_are_coloured_where_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, places = renumbered(nx.barabasi_albert_graph(300, 2, seed=1))
    asked = np.arange(0, 300, 7)
    monkeypatch.setattr(colours, "MANY_ENTRIES", 10)
    ranks, moved = colours_at(first, asked), colours_at(second, places[asked])
    assert sorted(ranks.tolist()) == list(range(len(asked)))
    assert np.count_nonzero(ranks == moved) > 0.8 * len(asked)  # others have equal degrees around them
    assert "colours" not in vars(first)
    np.testing.assert_array_equal(spaced(first, np.arange(300), 4), [0, 99, 199, 299])


def test_spaced_nodes_represent_all_colours_alike() -> None:
    graph = iso.Graph.from_edges(np.zeros(999, int), np.arange(1, 1000))
    path = iso.Graph.from_edges(np.arange(999), np.arange(1, 1000))
    for each in (graph, path):
        found = spaced(each, np.arange(1000), 100)
        assert len(found) == len(set(found.tolist())) == 100
    np.testing.assert_array_equal(spaced(graph, np.arange(50), 100), np.arange(50))
