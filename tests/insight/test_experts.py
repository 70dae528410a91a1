"""Features and other evidence, against scikit-learn, dense algebra, and what shuffling must not do."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from isotherm.insight.experts import diffusion, logistic, majority, regression
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

import isotherm as iso
from isotherm.equilibrium.options import SolveOptions
from isotherm.labelling import estimate
from isotherm.paper.block_model import stochastic_block_model
from isotherm.probability.combination import combine, log_odds
from isotherm.probability.evidence import read_rows
from isotherm.probability.experts.diffusion import Diffusion
from isotherm.probability.experts.majority import Majority
from isotherm.probability.experts.regression import C, Lesson, Regression, averaging, convolving, unit_rows
from isotherm.probability.experts.spectral import REGULARISATION, spectral_features

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.CalibrationWarning")
SIZES = [120, 80, 40]


@pytest.fixture(scope="module")
def world() -> tuple[iso.Graph, np.ndarray, np.ndarray, np.ndarray]:
    """A graph with two isolated nodes, its classes, features that tell something about them, and known labels."""
    rng = np.random.default_rng(0)
    blocks = stochastic_block_model(SIZES, 0.06, 0.02, 0)
    ends = blocks.adjacency.tocoo()
    once = ends.row < ends.col
    graph = iso.Graph.from_edges(ends.row[once], ends.col[once], nodes=range(242))
    truth = np.append(np.repeat([0, 1, 2], SIZES), [1, 2])
    features = rng.normal(size=(242, 12)) + 1.2 * np.eye(3)[truth].repeat(4, axis=1)
    known = np.full(242, -1)
    chosen = rng.choice(240, 60, replace=False)
    known[chosen] = truth[chosen]
    return graph, truth, features, known


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("products", [0, 4000])
@pytest.mark.parametrize(("make", "hops"), [(averaging, (0, 1, 2)), (convolving, (2,))])
def test_regression_is_that_of_scikit_learn_on_averaged_features(
    world: Any,
    sparse: bool,
    wide: bool,
    products: int,
    make: Callable[[iso.Graph], csr_array],
    hops: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(regression, "MOST_PRODUCTS", products)
    for name, value in {"MOST_ITERATIONS": 5000, "GRADIENT": 1e-6, "PROGRESS": 1e-14}.items():
        monkeypatch.setattr(logistic, name, value)
    graph, truth, features, _ = world
    rng = np.random.default_rng(1)
    table = features @ rng.normal(size=(12, 80)) if wide else features
    rows = unit_rows(csr_array(table) if sparse else table)
    dense = rows.toarray() if sparse else rows
    average = make(graph)
    means = [np.linalg.matrix_power(average.toarray(), hop) @ dense for hop in hops]
    model = Regression(rows, average, hops)
    scales = list(model.scales.values())
    for mean, scale in zip(means, scales, strict=True):
        length = np.linalg.norm(mean, axis=1)
        np.testing.assert_allclose((length * scale)[length > 0], 1, atol=0.4)  # about five standard errors
    whole = np.hstack([mean * scale[:, None] for mean, scale in zip(means, scales, strict=True)])
    seeds = np.arange(0, 240, 3)
    lesson = Lesson(model, seeds)
    for taught in (np.arange(len(seeds)), np.arange(0, len(seeds), 2)):
        codes = truth[seeds][taught]
        theirs = LogisticRegression(C=C, tol=1e-8, max_iter=5000).fit(whole[seeds][taught], codes)
        ours = lesson.log_probabilities(taught, codes, 3)
        np.testing.assert_allclose(np.exp(ours), theirs.predict_proba(whole), atol=0.005)
        some = lesson.log_probabilities(taught, codes, 3, asked=np.array([5, 7]))
        np.testing.assert_allclose(some, ours[seeds[[5, 7]]], atol=1e-4)


def test_averages_over_neighbours_by_hand() -> None:
    path = iso.Graph.from_edges([0, 1], [1, 2], weight=[1, 3])
    np.testing.assert_allclose(averaging(path).toarray(), np.array([[0, 4, 0], [1, 0, 3], [0, 4, 0]]) / 4)
    looped = np.array([[2, 1, 0], [1, 2, 3], [0, 3, 2]]) / np.sqrt(np.outer([3, 6, 5], [3, 6, 5]))
    np.testing.assert_allclose(convolving(path).toarray(), looped)  # a loop weighs as much as the mean edge
    np.testing.assert_array_equal(convolving(iso.Graph.from_scipy(csr_array((2, 2)))).toarray(), np.eye(2))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_diffusion_is_the_sum_over_walks(world: Any, sparse: bool, weighted: bool) -> None:
    graph, _, features, _ = world
    rng = np.random.default_rng(2)
    if weighted:
        factors = rng.uniform(0.5, 2, size=graph.n_nodes)
        graph = iso.Graph.from_scipy(csr_array(graph.adjacency.toarray() * np.outer(factors, factors)))
    rows = unit_rows(csr_array(np.maximum(features, 0)) if sparse else features)
    dense = rows.toarray() if sparse else rows
    step, walks = convolving(graph).toarray(), np.zeros((graph.n_nodes, graph.n_nodes))
    for hop in range(diffusion.STEPS + 1):
        walks += 0.9**hop * np.linalg.matrix_power(step, hop)
    model = Diffusion(rows, graph, SolveOptions())
    lengths = np.linalg.norm(walks @ dense, axis=1)
    np.testing.assert_allclose((lengths * model.scale)[lengths > 0], 1, atol=0.4)
    whole = walks @ dense * model.scale[:, None]
    for nodes in (np.array([3, 200, 77]), np.arange(0, 240, 3)):  # fewer and more than there are columns
        np.testing.assert_allclose(model.at(nodes), whole[nodes], atol=1e-4)
    weights = rng.normal(size=(dense.shape[1], 20))
    np.testing.assert_allclose(model.logits(weights), whole @ weights, atol=1e-3)


def test_diffusion_is_asked_where_it_is_cheap(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, _, features, known = world
    assert "diffusion" in iso.DirichletClassifier().fit(graph, known, features=features).experts_
    monkeypatch.setattr(diffusion, "MOST", 1000)
    assert "diffusion" not in iso.DirichletClassifier().fit(graph, known, features=features).experts_


def test_a_class_without_a_seed_is_impossible(world: Any) -> None:
    _, truth, features, _ = world
    lesson = Lesson(Regression(unit_rows(features)), np.arange(120, 240))
    places = np.arange(120)
    assert np.isneginf(lesson.log_probabilities(places, truth[120:240], 3)[:, 0]).all()
    one = lesson.log_probabilities(places[:5], truth[120:125], 3)
    np.testing.assert_array_equal(np.exp(one), np.tile([0.0, 1.0, 0.0], (242, 1)))


def test_weights_are_those_that_the_classes_were_drawn_by() -> None:
    rng = np.random.default_rng(2)
    shares = np.array([0.5, 0.3, 0.2])
    odds = [rng.normal(size=(4000, 3)) for _ in range(3)]
    true = np.array([1.4, 0.0, 0.6])
    chances = softmax(np.log(shares) + sum(w * each for w, each in zip(true, odds, strict=True)), axis=1)
    codes = (rng.random((4000, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    found = combine(("a", "b", "c"), odds, codes, shares, np.full(3, 0.5))
    np.testing.assert_allclose(found.weights, true, atol=0.1)
    np.testing.assert_allclose(found.probabilities(odds), chances, atol=0.05)


def test_no_opinion_is_no_evidence() -> None:
    shares = np.array([0.7, 0.3])
    np.testing.assert_allclose(log_odds(np.log([[np.nan, np.nan], [0.7, 0.3]]), shares), 0, atol=1e-12)


def test_features_help_and_label_unreached_nodes(world: Any) -> None:
    graph, truth, features, known = world
    links = iso.DirichletClassifier().fit(graph, known, evidence=None)
    both = iso.DirichletClassifier().fit(graph, known, features=features)
    hidden = known < 0
    assert (both.labels_ == truth)[hidden].mean() > (links.labels_ == truth)[hidden].mean() + 0.1
    assert links.labels_[-2:].tolist() == [-1, -1]
    assert both.labels_[-2:].min() >= 0
    assert not both.reached_[-2:].any()
    np.testing.assert_allclose(both.predict_proba().sum(axis=1), 1)
    assert list(both.experts_) == ["heat", "features", "neighbours", "convolution", "diffusion"]
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
    links = iso.DirichletClassifier().fit(graph, known, evidence=None)
    both = iso.DirichletClassifier().fit(graph, known, features=shuffled)
    hidden = (known < 0) & links.reached_
    assert (both.labels_ == truth)[hidden].mean() > (links.labels_ == truth)[hidden].mean() - 0.06


def test_the_opinion_of_another_model(world: Any) -> None:
    graph, truth, _, known = world
    chances = np.full((242, 3), 0.1)
    chances[np.arange(242), truth] = 0.8
    chances[::5] = np.nan
    clf = iso.DirichletClassifier().fit(graph, known, evidence=chances)
    told = np.arange(242) % 5 != 0
    assert (clf.labels_ == truth)[told].mean() > 0.97
    named = pd.DataFrame(chances[:, ::-1], columns=["2", "1", "0"])
    other = iso.DirichletClassifier().fit(graph, known, evidence=named)
    np.testing.assert_array_equal(other.labels_, clf.labels_)


def test_saved_updated_and_by_every_rule_on_probabilities(world: Any, tmp_path: Path) -> None:
    graph, truth, features, known = world
    clf = iso.DirichletClassifier(rule="probable").fit(graph, known, features=features)
    np.testing.assert_array_equal(clf.labels_, clf.classes_[clf.predict_proba().argmax(axis=1)])
    clf.save(tmp_path / "m.npz")
    loaded = iso.load(tmp_path / "m.npz")
    np.testing.assert_array_equal(loaded.labels_, clf.labels_)
    np.testing.assert_array_equal(loaded.predict_set(), clf.predict_set())
    assert loaded.experts_ == clf.experts_
    assert loaded.explain(7).experts == clf.explain(7).experts
    with pytest.raises(ValueError, match="fit it again"):
        loaded.update({1: 0})
    more = int(np.flatnonzero(known < 0)[0])
    again = known.copy()
    again[more] = truth[more]
    fresh = iso.DirichletClassifier(rule="probable").fit(graph, again, features=features)
    np.testing.assert_allclose(clf.update({more: truth[more]}).predict_proba(), fresh.predict_proba(), atol=0.02)


def test_rows_by_position_and_by_id() -> None:
    graph = iso.Graph.from_edges(["a", "b"], ["b", "c"])
    wanted = np.array([[1.0, 2], [3, 4], [5, 6]])
    frame = pd.DataFrame({"id": ["c", "a", "b"], "x": [5, 1, 3], "y": [6, 2, 4]})
    for table in (
        wanted,
        csr_array(wanted),
        {"c": [5, 6], "a": [1, 2], "b": [3, 4]},
        frame,
        frame.set_index("id"),
        pl.DataFrame(frame.to_dict("list")),
    ):
        found = read_rows(table, graph, "features")
        np.testing.assert_array_equal(found.toarray() if isinstance(found, csr_array) else found, wanted)
    np.testing.assert_array_equal(read_rows({"b": [3, 4]}, graph, "features"), [[0, 0], [3, 4], [0, 0]])


def test_rows_for_either_side_of_a_bipartite_graph() -> None:
    graph = iso.Graph.from_biadjacency(np.ones((2, 3)))
    np.testing.assert_array_equal(read_rows([[1], [2]], graph, "features")[:, 0], [1, 2, 0, 0, 0])
    np.testing.assert_array_equal(read_rows([[1], [2], [3]], graph, "features")[:, 0], [0, 0, 1, 2, 3])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"features": np.ones((3, 2))}, "features has 3 rows, but the graph has 242 nodes: give one row per node"),
        ({"features": np.full((242, 2), np.nan)}, "features has a value that is missing or infinite: fill it"),
        ({"features": {999: [1, 2]}}, "in features, .*999"),
        ({"features": np.full((242, 1), "x")}, "features must be numbers"),
        ({"evidence": "magic"}, "evidence='magic', but it must be 'auto', 'spectral' or a table of probabilities"),
        ({"evidence": np.ones((242, 2))}, "evidence has 2 columns, but there are 3 classes"),
        ({"evidence": -np.ones((242, 3))}, "evidence must be probabilities"),
    ],
)
def test_what_does_not_fit_is_refused(world: Any, given: dict[str, Any], sentence: str) -> None:
    graph, _, _, known = world
    with pytest.raises(ValueError, match=sentence):
        iso.DirichletClassifier().fit(graph, known, **given)


@pytest.mark.parametrize("settings", [{"rule": "centered"}, {"calibration": None}])
def test_features_need_probabilities(world: Any, settings: dict[str, Any]) -> None:
    graph, _, features, known = world
    with pytest.raises(ValueError, match="features and evidence"):
        iso.DirichletClassifier(**settings).fit(graph, known, features=features)


def test_the_spectrum_is_that_of_a_dense_solver() -> None:
    graph = stochastic_block_model([100, 100, 100], 0.3, 0.02, 0)
    matrix = graph.adjacency.toarray()
    degrees = matrix.sum(axis=1)
    roots = np.sqrt(degrees + REGULARISATION * degrees.mean())
    values, vectors = np.linalg.eigh(matrix / np.outer(roots, roots))
    found = spectral_features(graph, SolveOptions(), 1)[:, :2]
    wanted = vectors[:, -3:-1] / roots[:, None] * values[-3:-1]
    own, theirs = (each @ np.linalg.pinv(each) for each in (found, wanted))  # projections on the two spaces
    np.testing.assert_allclose(own, theirs, atol=1e-3)


def test_the_spectrum_of_a_graph_with_fewer_nodes_than_columns() -> None:
    found = spectral_features(iso.Graph.from_edges([0, 1, 2], [1, 2, 3]), SolveOptions())
    assert np.isfinite(found).all()
    assert len(found) == 4


@pytest.mark.parametrize("given", [{}, {"evidence": "spectral"}])
def test_structure_is_evidence_by_default(world: Any, given: dict[str, Any], tmp_path: Path) -> None:
    graph, truth, _, known = world
    clf = iso.DirichletClassifier().fit(graph, known, **given)
    assert list(clf.experts_) == ["heat", "spectrum", "degree"]
    assert (clf.labels_ == truth)[known < 0].mean() > 0.5
    assert clf.labels_[-2:].tolist() == [-1, -1], "unreached nodes have no label without evidence beyond links"
    clf.save(tmp_path / "m.npz")
    more = {int(node): truth[node] for node in np.flatnonzero(known < 0)[:6]}
    again = known.copy()
    again[list(more)] = list(more.values())
    fresh = iso.DirichletClassifier().fit(graph, again, **given)
    loaded = iso.load(tmp_path / "m.npz").update(more)
    np.testing.assert_allclose(loaded.predict_proba(), fresh.predict_proba(), atol=1e-3)
    np.testing.assert_allclose(clf.update(more).predict_proba(), fresh.predict_proba(), atol=1e-3)


def test_few_new_seeds_keep_the_weights_of_experts(world: Any) -> None:
    graph, truth, _, known = world
    clf = iso.DirichletClassifier().fit(graph, known)
    weights, node = clf.experts_, int(np.flatnonzero(known < 0)[0])
    assert clf.update({node: truth[node]}).experts_ == weights
    assert list(clf.explain(1).experts) == list(weights)


def test_structure_can_be_left_out(world: Any) -> None:
    graph, _, features, known = world
    assert iso.DirichletClassifier().fit(graph, known, evidence=None).experts_ == {"heat": 1.0}
    assert "spectrum" not in iso.DirichletClassifier().fit(graph, known, features=features).experts_


@pytest.mark.parametrize("settings", [{"rule": "centered"}, {"calibration": None}, {"stop": "labels"}])
def test_structure_is_left_out_where_labels_do_not_go_by_probabilities(world: Any, settings: dict[str, Any]) -> None:
    graph, _, _, known = world
    given, without = (iso.DirichletClassifier(**settings).fit(graph, known, evidence=e) for e in ("auto", None))
    np.testing.assert_array_equal(given.labels_, without.labels_)


def test_structure_of_a_large_graph_is_left_out(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, _, _, known = world
    monkeypatch.setattr(estimate, "STRUCTURE_ENTRIES", 100)
    assert list(iso.DirichletClassifier().fit(graph, known).experts_) == ["heat"]


def test_structure_is_left_out_where_no_seed_can_be_hidden(world: Any) -> None:
    graph, truth, _, _ = world
    seeds = {int(np.flatnonzero(truth == code)[0]): code for code in range(3)}
    given, without = (iso.DirichletClassifier().fit(graph, seeds, evidence=e) for e in ("auto", None))
    assert given.experts_ == {"heat": 1.0}
    assert given.rule_ == "relative"
    np.testing.assert_array_equal(given.predict_proba(), without.predict_proba())
    again = pickle.loads(pickle.dumps(given))
    np.testing.assert_array_equal(again.predict_proba(), without.predict_proba())
    more = {int(node): truth[node] for node in range(5, 240, 10)}
    fresh = iso.DirichletClassifier().fit(graph, seeds | more)
    np.testing.assert_allclose(given.update(more).predict_proba(), fresh.predict_proba(), atol=1e-3)


def test_new_nodes_are_told_by_the_evidence_of_their_neighbours() -> None:
    """A model that knows all nodes but the seeds' neighbours counts for new nodes as well."""
    graph = stochastic_block_model([60, 60], 0.1, 0.1, 0)  # links tell nothing
    truth = np.repeat([0, 1], 60)
    known = np.random.default_rng(0).choice(120, 40, replace=False)
    seeds = {int(node): int(truth[node]) for node in known}
    opinion = np.where(truth[:, None] == [0, 1], 0.95, 0.05)
    clf = iso.DirichletClassifier().fit(graph, seeds, evidence=opinion)
    weights = np.eye(120)[np.setdiff1d(np.arange(120), known)]
    found = clf.predict_proba(weights)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_array_equal(found.argmax(axis=1), np.delete(truth, known))
    alone = iso.DirichletClassifier().fit(graph, seeds, evidence=None).predict_proba(weights)
    assert np.mean(alone.argmax(axis=1) == np.delete(truth, known)) < 0.8
    assert clf.predict_proba(np.zeros((1, 120))).tolist() == [[0, 0]]


def test_the_majority_undoes_a_leak() -> None:
    """With one seed for each of six clusters, heat crosses the gaps; a node has most neighbours in its own cluster."""
    right = []
    for draw in range(4):
        X, truth = make_blobs(800, 8, centers=6, cluster_std=2.25, center_box=(-5, 5), random_state=draw)
        graph = iso.Graph.from_vectors(X)
        seeds = np.array([np.flatnonzero(truth == cluster)[0] for cluster in range(6)])
        heat = iso.DirichletClassifier(rule="relative").fit(graph, dict(zip(seeds, truth[seeds], strict=True)))
        found = Majority(graph, SolveOptions(), 6).log_probabilities(heat.labels_, seeds, truth[seeds])
        right.append([np.mean(labels == truth) for labels in (found.argmax(axis=1), heat.labels_)])
    by_majority, by_heat = np.mean(right, axis=0)
    assert by_majority > by_heat + 0.01


@pytest.mark.parametrize("n_classes", [3, 20])
def test_the_majority_is_threshold_dynamics(world: Any, n_classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rounds, against dense algebra: also with more classes than fit a block, and with unreached nodes."""
    monkeypatch.setattr(majority, "ROUNDS", 2)
    graph, _, _, known = world
    nodes = np.flatnonzero(known >= 0)
    rng = np.random.default_rng(0)
    labels = np.append(rng.integers(0, n_classes, 240), [-1, -1])
    codes = rng.integers(0, n_classes, len(nodes))
    found = Majority(graph, SolveOptions(), n_classes).log_probabilities(labels, nodes, codes)
    walk = averaging(graph).toarray()
    stay = np.union1d(nodes, np.flatnonzero(walk.sum(axis=1) == 0))
    walk[stay] = np.eye(242)[stay]
    expected = labels.copy()
    for _ in range(2):
        expected[nodes] = codes
        average = np.linalg.matrix_power(walk, majority.STEPS)[:, :240] @ np.eye(n_classes)[expected[:240]]
        expected = (average / average[:240].mean(axis=0)).argmax(axis=1)
    smoothed = average + majority.PSEUDO_NEIGHBOUR
    np.testing.assert_allclose(np.exp(found[:240]), (smoothed / smoothed.sum(axis=1, keepdims=True))[:240], atol=1e-5)
    assert np.isnan(found[240:]).all()
