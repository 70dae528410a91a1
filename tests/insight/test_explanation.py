"""Explanations: shares against dense solves, simulated walks and the temperatures; paths against networkx."""

import pickle
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray
from problems import Problem, dense, harmonic, problems

import isotherm as iso
from isotherm.choices import SideName
from isotherm.insight import paths
from isotherm.paper.block_model import stochastic_block_model

quiet = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning")


def shares_of(explanation: iso.Explanation, seeds: list[Any]) -> NDArray[np.float64]:
    """The shares in the order of these seeds."""
    found = dict(zip(explanation.seed.tolist(), explanation.share.tolist(), strict=True))
    return np.array([found.get(seed, 0.0) for seed in seeds])


@given(problem=problems())
@quiet
@pytest.mark.parametrize("side", ["both", "source"])
def test_shares_equal_those_of_dense_elimination(problem: Problem, side: SideName) -> None:
    graph, n = problem.graph, problem.graph.n_nodes
    clf = iso.DirichletClassifier(side=side, tol=1e-6).fit(graph, problem.labels)
    held, one_hot = problem.nodes, np.eye(len(problem.nodes))
    if graph.directed and side == "both":
        held, one_hot = np.concatenate([held, held + n]), np.concatenate([one_hot, one_hot])
    exact = harmonic(dense(graph.heat), held, one_hot)
    copies = exact.reshape(-1, n, len(problem.nodes))[: 2 if side == "both" else 1]  # of each node
    known = ~np.isnan(copies)
    expected = np.where(known, copies, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    seeds = graph.nodes[problem.nodes].tolist()
    found = np.array([shares_of(each, seeds) for each in clf.explain_many(graph.nodes)])
    np.testing.assert_allclose(found, expected, atol=2e-6)
    np.testing.assert_array_equal(found.sum(axis=1) > 0, clf.reached_)


@quiet
def test_shares_of_a_class_add_up_to_its_temperature() -> None:
    graph = iso.Graph.from_networkx(nx.barabasi_albert_graph(3000, 4, seed=1))
    rng = np.random.default_rng(2)
    seeds = {int(node): f"class {node % 3}" for node in rng.choice(3000, 60, replace=False)}
    clf = iso.DirichletClassifier(tol=1e-6).fit(graph, seeds)
    for explanation in clf.explain_many(range(100, 140)):
        assert explanation.share.sum() == pytest.approx(1)
        assert list(explanation.classes) == clf.classes_.tolist()
        np.testing.assert_allclose(list(explanation.classes.values()), clf.temperatures_[explanation.node], atol=2e-6)


def test_shares_are_where_simulated_walks_stop() -> None:
    graph = nx.karate_club_graph()
    seeds = {0: "a", 33: "b", 5: "a", 24: "b"}
    walks, rng = 20_000, np.random.default_rng(3)
    chance = nx.to_numpy_array(graph)
    reach = np.cumsum(chance / chance.sum(axis=1, keepdims=True), axis=1)
    place = np.full(walks, 16)
    while True:
        walking = ~np.isin(place, list(seeds))
        if not walking.any():
            break
        place[walking] = (reach[place[walking]] < rng.random((walking.sum(), 1))).sum(axis=1)
    stopped = np.array([np.mean(place == seed) for seed in seeds])
    found = shares_of(iso.DirichletClassifier().fit(graph, seeds).explain(16), list(seeds))
    np.testing.assert_allclose(found, stopped, atol=4 * 0.5 / walks**0.5)


def test_a_seed_is_heated_by_itself_alone() -> None:
    clf = iso.DirichletClassifier().fit(nx.karate_club_graph(), {0: "a", 33: "b"})
    own = clf.explain(33)
    assert (own.seed.tolist(), own.label.tolist(), own.share.tolist()) == ([33], ["b"], [1.0])
    assert own.path(33) == [33]


def test_an_unreached_node_has_an_empty_table() -> None:
    graph = iso.Graph.from_edges(["a", "b", "x"], ["b", "c", "y"])
    with pytest.warns(iso.UnreachedWarning):
        clf = iso.DirichletClassifier().fit(graph, {"a": 0, "c": 1})
    reached, unreached = clf.explain_many(["b", "x"])
    assert reached.share.tolist() == pytest.approx([0.5, 0.5])
    assert len(unreached.seed) == 0
    assert str(unreached) == "no seed reaches 'x'"


def test_top_cuts_the_table_and_not_the_classes() -> None:
    clf = iso.DirichletClassifier().fit(nx.star_graph(5), {1: "a", 2: "a", 3: "b", 4: "b", 5: "b"})
    explanation = clf.explain(0, top=2)
    assert explanation.share.tolist() == pytest.approx([0.2, 0.2])
    assert explanation.classes == pytest.approx({"a": 0.4, "b": 0.6})
    assert list(dict(explanation)) == ["seed", "label", "share"]
    with pytest.raises(KeyError):
        explanation["colour"]


@pytest.mark.parametrize("patience", [0, 2, 1000])
@given(problem=problems(kinds=("undirected", "bipartite")))
@quiet
def test_paths_are_the_most_probable_ones(problem: Problem, patience: int) -> None:
    graph = problem.graph
    adjacency = graph.adjacency
    degree = adjacency.sum(axis=1)
    walk = nx.DiGraph()
    walk.add_nodes_from(range(graph.n_nodes))
    for i, j, weight in zip(*adjacency.nonzero(), adjacency.data, strict=True):
        if i not in problem.nodes:
            walk.add_edge(int(i), int(j), length=-np.log(weight / degree[i]))
    clf = iso.DirichletClassifier().fit(graph, problem.labels)
    start = next((i for i in range(graph.n_nodes) if i not in problem.nodes and clf.reached_[i]), None)
    if start is None:
        return
    explanation = clf.explain(graph.nodes[start], top=3)
    for seed in explanation.seed:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(paths, "NEARBY", patience)
            path = graph.index(explanation.path(seed)).tolist()
        expected = nx.dijkstra_path_length(walk, start, int(graph.index([seed])[0]), weight="length")
        assert nx.path_weight(walk, path, "length") == pytest.approx(expected, abs=1e-9)


@quiet
@pytest.mark.parametrize("patience", [0, 1000])
def test_a_path_of_a_directed_graph_goes_along_arcs_either_way(monkeypatch: pytest.MonkeyPatch, patience: int) -> None:
    monkeypatch.setattr(paths, "NEARBY", patience)
    graph = iso.Graph.from_edges(["a", "c", "c", "e"], ["b", "b", "d", "d"], directed=True)
    clf = iso.DirichletClassifier().fit(graph, {"a": 0, "e": 1})
    assert clf.explain("c").path("a") == ["c", "b", "a"]
    sources = iso.DirichletClassifier(side="source").fit(graph, {"a": 0, "e": 1})
    assert sources.explain("b").path("a") == []  # b is nobody's source


def test_what_was_prepared_does_not_travel() -> None:
    clf = iso.DirichletClassifier().fit(nx.karate_club_graph(), {0: "a", 33: "b"})
    size = len(pickle.dumps(clf))
    first = clf.explain(5)
    assert len(pickle.dumps(clf)) < size + 1000
    again = pickle.loads(pickle.dumps(clf)).explain(5)
    np.testing.assert_array_equal(again.share, first.share)
    clf.fit(nx.karate_club_graph(), {0: "a", 1: "b"})
    assert set(clf.explain(5).seed.tolist()) <= {0, 1}


def test_an_unknown_node_is_named() -> None:
    clf = iso.DirichletClassifier().fit(nx.karate_club_graph(), {0: "a", 33: "b"})
    with pytest.raises(ValueError, match="1 node is not in the graph: 99"):
        clf.explain(99)


def test_known_class_sizes_have_a_row() -> None:
    graph = stochastic_block_model([60, 60], 0.2, 0.05, np.random.default_rng(1))
    seeds = {node: "a" if node < 60 else "b" for node in range(0, 120, 3)}
    plain = iso.NodeClassifier().fit(graph, seeds)
    sized = iso.NodeClassifier(class_sizes={"a": 0.4}).fit(graph, seeds)
    added = sized.explain(1).experts["class sizes"]
    logits, before = (np.log(clf.predict_proba()[1]) for clf in (sized, plain))
    assert added["b"] - added["a"] == pytest.approx(np.diff(logits - before)[0])
    assert "class sizes" in str(sized.explain(1))
    assert "class sizes" not in plain.explain(1).experts
