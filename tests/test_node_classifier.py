"""The node classifier: labels by probabilities, with structure, features and other evidence."""

import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from scipy.special import softmax

import isotherm as iso
from isotherm.choices import DecisionName
from isotherm.paper.block_model import stochastic_block_model

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.CalibrationWarning")


def test_diffusion_is_asked_where_it_is_cheap(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, _, features, known = world
    assert "diffusion" in iso.NodeClassifier().fit(graph, known, features=features).experts_
    monkeypatch.setattr(import_module("isotherm.probability.experts.diffusion"), "MOST", 1000)
    assert "diffusion" not in iso.NodeClassifier().fit(graph, known, features=features).experts_


def test_features_help_and_label_unreached_nodes(world: Any) -> None:
    graph, truth, features, known = world
    links = iso.NodeClassifier().fit(graph, known, evidence=None)
    both = iso.NodeClassifier().fit(graph, known, features=features)
    hidden = known < 0
    assert (both.labels_ == truth)[hidden].mean() > (links.labels_ == truth)[hidden].mean() + 0.1
    assert links.labels_[-2:].tolist() == [-1, -1]
    assert both.labels_[-2:].min() >= 0
    assert not both.reached_[-2:].any()
    np.testing.assert_allclose(both.predict_proba().sum(axis=1), 1)
    regressions = ["features", "neighbours", "convolution", "diffusion"]
    assert list(both.experts_) == ["heat", *regressions, "spectrum", "degree", "second round"]
    assert links.experts_ == {"heat": 1.0}
    place = np.searchsorted(both.classes_, both.labels_)
    np.testing.assert_array_equal(both.confidence_, both.predict_proba()[np.arange(242), place])
    told = both.explain(7).experts
    weighted = np.log(np.bincount(known[known >= 0]) + 1) + sum(np.array([*row.values()]) for row in told.values())
    if known[7] < 0:
        np.testing.assert_allclose(softmax(weighted), both.predict_proba()[7], atol=1e-5)


def test_shuffled_features_do_little_harm(world: Any) -> None:
    graph, truth, features, known = world
    shuffled = np.random.default_rng(3).permutation(features)
    links = iso.NodeClassifier().fit(graph, known)
    both = iso.NodeClassifier().fit(graph, known, features=shuffled)
    hidden = (known < 0) & links.reached_
    assert (both.labels_ == truth)[hidden].mean() > (links.labels_ == truth)[hidden].mean() - 0.06


def test_the_opinion_of_another_model(world: Any) -> None:
    graph, truth, _, known = world
    chances = np.full((242, 3), 0.1)
    chances[np.arange(242), truth] = 0.8
    chances[::5] = np.nan
    clf = iso.NodeClassifier().fit(graph, known, evidence=chances)
    told = np.arange(242) % 5 != 0
    assert (clf.labels_ == truth)[told].mean() > 0.97
    named = pd.DataFrame(chances[:, ::-1], columns=["2", "1", "0"])
    other = iso.NodeClassifier().fit(graph, known, evidence=named)
    np.testing.assert_array_equal(other.labels_, clf.labels_)


def test_saved_updated_and_by_every_decision(world: Any, tmp_path: Path) -> None:
    graph, truth, features, known = world
    clf = iso.NodeClassifier("probable").fit(graph, known, features=features)
    np.testing.assert_array_equal(clf.labels_, clf.classes_[clf.predict_proba().argmax(axis=1)])
    clf.save(tmp_path / "m.npz")
    loaded = iso.load(tmp_path / "m.npz")
    np.testing.assert_array_equal(loaded.labels_, clf.labels_)
    np.testing.assert_array_equal(loaded.predict_set(), clf.predict_set())
    assert loaded.experts_ == clf.experts_
    assert loaded.explain(7).experts == clf.explain(7).experts
    with pytest.raises(ValueError, match="does not hold the features that it was fitted on: give them again"):
        loaded.update({1: 0})
    more = int(np.flatnonzero(known < 0)[0])
    again = known.copy()
    again[more] = truth[more]
    fresh = iso.NodeClassifier("probable").fit(graph, again, features=features)
    np.testing.assert_allclose(clf.update({more: truth[more]}).predict_proba(), fresh.predict_proba(), atol=0.02)


@pytest.mark.parametrize("given", [{}, {"evidence": "spectral"}])
def test_structure_is_evidence_by_default(world: Any, given: dict[str, Any], tmp_path: Path) -> None:
    graph, truth, _, known = world
    clf = iso.NodeClassifier().fit(graph, known, **given)
    assert list(clf.experts_) == ["heat", "spectrum", "degree"]
    assert (clf.labels_ == truth)[known < 0].mean() > 0.5
    assert clf.labels_[-2:].tolist() == [-1, -1], "unreached nodes have no label without evidence beyond links"
    clf.save(tmp_path / "m.npz")
    more = {int(node): truth[node] for node in np.flatnonzero(known < 0)[:6]}
    again = known.copy()
    again[list(more)] = list(more.values())
    fresh = iso.NodeClassifier().fit(graph, again, **given)
    loaded = iso.load(tmp_path / "m.npz").update(more)
    np.testing.assert_allclose(loaded.predict_proba(), fresh.predict_proba(), atol=1e-3)
    np.testing.assert_allclose(clf.update(more).predict_proba(), fresh.predict_proba(), atol=1e-3)


def test_few_new_seeds_keep_the_weights_of_experts(world: Any) -> None:
    graph, truth, _, known = world
    clf = iso.NodeClassifier().fit(graph, known)
    weights, node = clf.experts_, int(np.flatnonzero(known < 0)[0])
    assert clf.update({node: truth[node]}).experts_ == weights
    assert list(clf.explain(1).experts) == list(weights)


def test_structure_can_be_left_out(world: Any) -> None:
    graph, _, features, known = world
    assert iso.NodeClassifier().fit(graph, known, evidence=None).experts_ == {"heat": 1.0}
    assert "spectrum" not in iso.NodeClassifier().fit(graph, known, features=features, evidence=None).experts_


def test_the_structure_of_a_large_graph_is_left_out_with_a_warning(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, _, _, known = world
    monkeypatch.setattr("isotherm.probability.evidence.MOST_ODDS", 3 * 242 - 1)
    with pytest.warns(
        iso.EvidenceWarning, match="structure of the graph was left out .*: set evidence='spectral' to use it"
    ):
        usual = iso.NodeClassifier().fit(graph, known)
    assert usual.experts_ == {"heat": 1.0}
    heat = iso.NodeClassifier().fit(graph, known, evidence=None)  # without a warning, which would be an error
    np.testing.assert_array_equal(usual.labels_, heat.labels_)
    asked = iso.NodeClassifier().fit(graph, known, evidence="spectral")
    assert list(asked.experts_) == ["heat", "spectrum", "degree"]
    monkeypatch.undo()
    small = iso.NodeClassifier().fit(graph, known)
    np.testing.assert_array_equal(asked.predict_proba(), small.predict_proba())


@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
def test_an_update_of_a_large_graph_does_not_warn_again(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, truth, _, known = world
    monkeypatch.setattr("isotherm.probability.evidence.MOST_ODDS", 3 * 242 - 1)
    with pytest.warns(iso.EvidenceWarning):
        clf = iso.NodeClassifier().fit(graph, known)
    node = int(np.flatnonzero(known < 0)[0])
    assert clf.update({node: truth[node]}).experts_ == {"heat": 1.0}


def test_with_more_classes_than_memory_labels_go_by_heat_with_a_warning() -> None:
    rng = np.random.default_rng(0)
    graph = iso.Graph.from_edges(*rng.integers(300, size=(2, 1500)), nodes=range(300))
    seeds = {node: node % 30 for node in range(90)}
    with pytest.warns(
        iso.EvidenceWarning, match=r"30 classes at 300 nodes .* go by heat alone: raise max_memory, or use"
    ):
        clf = iso.NodeClassifier(max_memory=10_000).fit(graph, seeds)
    heat = iso.DirichletClassifier("relative").fit(graph, seeds)
    assert clf.rule_ == "relative"
    np.testing.assert_array_equal(clf.labels_, heat.labels_)
    with pytest.raises(AttributeError, match="was not kept, since all scores would take"):
        clf.predict_proba()
    with pytest.raises(ValueError, match="features and evidence cannot be used here, since not all scores are kept"):
        iso.NodeClassifier(max_memory=10_000).fit(graph, seeds, features=np.ones((300, 2)))


def test_features_are_refused_where_nodes_have_several_labels() -> None:
    with pytest.raises(
        ValueError, match="features and evidence cannot be used here, since nodes may have several labels"
    ):
        iso.NodeClassifier().fit(nx.path_graph(4), {0: {"a"}, 3: {"b"}}, features=np.ones((4, 1)))


@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
def test_several_labels_go_by_heat() -> None:
    graph, seeds = nx.karate_club_graph(), {0: {"a", "b"}, 33: {"c"}, 5: {"a"}}
    node, paper = iso.NodeClassifier().fit(graph, seeds), iso.DirichletClassifier("relative").fit(graph, seeds)
    assert node.rule_ == "relative"
    np.testing.assert_array_equal(csr_array(node.labels_).toarray(), csr_array(paper.labels_).toarray())


SINGLE: dict[str, tuple[Any, dict[int, Any]]] = {
    "karate": (nx.karate_club_graph(), {0: "Mr. Hi", 33: "Officer"}),
    "path": (nx.path_graph(200), {0: "a", 199: "b"}),
    "cliques": (nx.ring_of_cliques(4, 8), {2: "a", 10: "b", 18: "c", 26: "d"}),
    "apart": (nx.disjoint_union(nx.path_graph(6), nx.path_graph(2)), {0: 1, 5: 2}),
}


@pytest.mark.parametrize("decision", ["balanced", "probable"])
@pytest.mark.parametrize("name", SINGLE)
def test_where_no_seed_can_be_hidden_prior_weights_decide(name: str, decision: DecisionName) -> None:
    graph, seeds = SINGLE[name]
    clf = iso.NodeClassifier(decision).fit(graph, seeds)
    assert clf.experts_ == {"heat": 1.0, "spectrum": 0.0, "degree": 0.0}
    assert clf.rule_ == decision
    heat = iso.DirichletClassifier("relative").fit(graph, seeds)
    np.testing.assert_array_equal(clf.labels_, heat.labels_)
    with pytest.warns(iso.CalibrationWarning, match="with 0 hidden seeds, confidence is a guess"):
        assert clf.confidence_[list(clf.graph_.nodes).index(next(iter(seeds)))] == 1
    alone = iso.NodeClassifier(decision).fit(graph, seeds, evidence=None)
    assert alone.experts_ == {"heat": 1.0}
    np.testing.assert_allclose(clf.predict_proba(), alone.predict_proba(), atol=1e-6)


def test_features_count_by_their_prior_where_no_seed_can_be_hidden(world: Any) -> None:
    graph, truth, features, _ = world
    seeds = {int(np.flatnonzero(truth == code)[0]): code for code in range(3)}
    clf = iso.NodeClassifier().fit(graph, seeds, features=features)
    halved = {"heat": 0.25, "features": 0.125, "neighbours": 0.25, "convolution": 0.25, "diffusion": 0.25}
    assert clf.experts_ == {**halved, "spectrum": 0, "degree": 0, "second round": 0.5}
    heat = iso.NodeClassifier().fit(graph, seeds, evidence=None)
    assert (clf.labels_ == truth).mean() > (heat.labels_ == truth).mean()


def test_from_one_seed_of_each_class_on(world: Any) -> None:
    """A fit that could hide no seed is pickled and updated; then it is that of a new fit."""
    graph, truth, _, _ = world
    seeds = {int(np.flatnonzero(truth == code)[0]): code for code in range(3)}
    clf = iso.NodeClassifier().fit(graph, seeds)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(), clf.predict_proba())
    more = {int(node): truth[node] for node in range(5, 240, 10)}
    fresh = iso.NodeClassifier().fit(graph, seeds | more)
    np.testing.assert_allclose(clf.update(more).predict_proba(), fresh.predict_proba(), atol=1e-3)


def test_decisions_by_hand(world: Any) -> None:
    graph, _, _, known = world
    by = {name: iso.NodeClassifier(name).fit(graph, known) for name in ("balanced", "probable")}
    chances = by["probable"].predict_proba()
    np.testing.assert_array_equal(by["balanced"].predict_proba(), chances)
    reached = by["probable"].reached_
    np.testing.assert_array_equal(by["probable"].labels_[reached], chances[reached].argmax(axis=1))
    shares = (np.bincount(known[known >= 0]) + 1) / (np.count_nonzero(known >= 0) + 3)
    usual = np.sqrt(chances[reached].mean(axis=0) * shares)
    factors, most = usual**-0.75, chances[reached].argmax(axis=1)
    scores = chances[reached] * np.minimum(factors / factors[most, None], 2)
    np.testing.assert_allclose(by["balanced"].scores_[reached], scores / scores.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(by["balanced"].labels_[reached], scores.argmax(axis=1))
    assert np.count_nonzero(by["balanced"].labels_ == 2) > np.count_nonzero(by["probable"].labels_ == 2)


@pytest.mark.parametrize("decision", ["balanced", "probable"])
def test_a_class_weight_changes_labels_but_not_probabilities(world: Any, decision: DecisionName) -> None:
    graph, _, _, known = world
    plain = iso.NodeClassifier(decision).fit(graph, known)
    heavy = iso.NodeClassifier(decision, class_weight={2: 5.0}).fit(graph, known)
    np.testing.assert_array_equal(heavy.predict_proba(), plain.predict_proba())
    if decision == "probable":
        expected = plain.scores_ * [1, 1, 5]
        np.testing.assert_allclose(heavy.scores_, expected / expected.sum(axis=1, keepdims=True))
    assert np.count_nonzero(heavy.labels_ == 2) > np.count_nonzero(plain.labels_ == 2)
    held = known >= 0
    np.testing.assert_array_equal(heavy.labels_[held], known[held])
    equal = iso.NodeClassifier(decision, class_weight={0: 2.0, 1: 2.0, 2: 2.0}).fit(graph, known)
    np.testing.assert_array_equal(equal.labels_, plain.labels_)


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        ({"fraud": 5.0}, "class_weight has the label 'fraud', which no seed has: use labels of seeds"),
        ({0: 0.0}, "class_weight={0: 0.0}, but it must be None, or a mapping of labels to positive numbers"),
        ({0: True}, "it must be None, or a mapping of labels to positive numbers"),
        ([1, 2], "it must be None, or a mapping"),
    ],
)
def test_bad_class_weights(world: Any, weight: Any, sentence: str) -> None:
    graph, _, _, known = world
    with pytest.raises(ValueError, match=sentence):
        iso.NodeClassifier(class_weight=weight).fit(graph, known)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"decision": "fair"}, "decision='fair', but it must be one of 'balanced', 'probable'"),
        (
            {"decision": "centered"},
            r"decision='centered' compares temperatures: use DirichletClassifier\(rule='centered'\)",
        ),
        ({"decision": "vanilla"}, r"use DirichletClassifier\(rule='vanilla'\)"),
        ({"side": "target"}, "side='target', but it must be one of 'source', 'both', 'edges'"),
    ],
)
def test_bad_parameters(world: Any, parameters: dict[str, Any], message: str) -> None:
    graph, _, _, known = world
    with pytest.raises(ValueError, match=message):
        iso.NodeClassifier(**parameters).fit(graph, known)


def test_arcs_are_read_as_edges() -> None:
    arcs = csr_array(np.random.default_rng(0).random((60, 60)) < 0.08, dtype=np.float64)
    edges = csr_array(arcs + arcs.T)
    edges.setdiag(0)
    edges.eliminate_zeros()
    known = np.where(np.arange(60) < 20, np.arange(60) % 3, -1)
    directed = iso.NodeClassifier(tol=1e-9).fit(iso.Graph.from_scipy(arcs, directed=True), known)
    undirected = iso.NodeClassifier(tol=1e-9).fit(iso.Graph.from_scipy(edges), known)
    np.testing.assert_allclose(directed.temperatures_, undirected.temperatures_, atol=1e-8)
    source = iso.NodeClassifier(side="source", tol=1e-9).fit(iso.Graph.from_scipy(arcs, directed=True), known)
    paper = iso.DirichletClassifier(tol=1e-9).fit(iso.Graph.from_scipy(arcs, directed=True), known)
    np.testing.assert_array_equal(source.temperatures_, paper.temperatures_)


def test_probabilities_do_not_depend_on_which_classifier_solved(world: Any) -> None:
    """With heat alone, confidence of both classifiers comes from the same calibration of the same temperatures."""
    graph, _, _, known = world
    node = iso.NodeClassifier("probable").fit(graph, known, evidence=None)
    paper = iso.DirichletClassifier().fit(graph, known)
    np.testing.assert_array_equal(node.temperatures_, paper.temperatures_)
    np.testing.assert_allclose(node.predict_proba(), paper.predict_proba(), atol=1e-12)


def test_labels_by_probabilities_are_not_certified(world: Any) -> None:
    graph, _, _, known = world
    clf = iso.NodeClassifier().fit(graph, known)
    assert not hasattr(clf, "certified_")


def test_labels_of_unreached_nodes_are_written_too(world: Any, tmp_path: Path) -> None:
    """Features label a node that no seed reaches: files and data frames have its label and its confidence."""
    graph, _, features, known = world
    clf = iso.NodeClassifier().fit(graph, known, features=features)
    assert clf.reached_[-2:].tolist() == [False, False]
    assert clf.labels_[-2:].min() >= 0
    assert clf.confidence_[-2:].min() > 0
    iso.write_labels(tmp_path / "labels.parquet", graph, clf)
    for frame in (pl.read_parquet(tmp_path / "labels.parquet"), clf.to_polars(), pl.from_pandas(clf.to_pandas())):
        assert frame["label"].to_list() == clf.labels_.tolist()
        np.testing.assert_array_equal(frame["confidence"].to_numpy(), clf.confidence_)
    attributes = clf.to_networkx().nodes
    assert [attributes[node]["label"] for node in (240, 241)] == clf.labels_[-2:].tolist()


def test_new_nodes_are_told_by_the_evidence_of_their_neighbours() -> None:
    """A model that knows all nodes but the seeds' neighbours counts for new nodes as well."""
    graph = stochastic_block_model([60, 60], 0.1, 0.1, 0)  # links tell nothing
    truth = np.repeat([0, 1], 60)
    known = np.random.default_rng(0).choice(120, 40, replace=False)
    seeds = {int(node): int(truth[node]) for node in known}
    opinion = np.where(truth[:, None] == [0, 1], 0.95, 0.05)
    clf = iso.NodeClassifier().fit(graph, seeds, evidence=opinion)
    weights = np.eye(120)[np.setdiff1d(np.arange(120), known)]
    found = clf.predict_proba(weights)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_array_equal(found.argmax(axis=1), np.delete(truth, known))
    alone = iso.NodeClassifier().fit(graph, seeds, evidence=None).predict_proba(weights)
    assert np.mean(alone.argmax(axis=1) == np.delete(truth, known)) < 0.8
    assert clf.predict_proba(np.zeros((1, 120))).tolist() == [[0, 0]]
