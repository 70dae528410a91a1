"""The classifier, as its users meet it."""

import pickle
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from problems import Problem, dense, harmonic, problems
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.metrics import confusion_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

import isotherm as iso
from isotherm.labelling.rules import RULES, TEMPERATURE_RULES

EXPECTED_FAILURES = {"check_classifiers_classes": "it uses -1 as a label, which here means unknown"}
CALIBRATED = {"check_classifiers_train": "the label is what the rule says, not the most probable class"}


def expected_failures(estimator: iso.DirichletClassifier) -> dict[str, str]:
    return EXPECTED_FAILURES if estimator.calibration is None else EXPECTED_FAILURES | CALIBRATED


@pytest.mark.filterwarnings(
    "ignore::isotherm.UnreachedWarning",
    "ignore::isotherm.RareClassWarning",
    "ignore::isotherm.CalibrationWarning",
    "ignore::isotherm.LabelWarning",
)
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [iso.DirichletClassifier(), iso.DirichletClassifier(calibration=None)], expected_failed_checks=expected_failures
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture
def karate() -> Any:
    return nx.karate_club_graph()


LEADERS = {0: "Mr. Hi", 33: "Officer"}


def test_karate_club_with_two_seeds(karate: Any) -> None:
    clf = iso.DirichletClassifier().fit(iso.Graph.from_networkx(karate, weight=None), LEADERS)
    truth = np.array([karate.nodes[i]["club"] for i in karate])
    assert np.count_nonzero(clf.labels_ != truth) == 1
    assert clf.classes_.tolist() == ["Mr. Hi", "Officer"]
    assert clf.predict() is clf.labels_


@given(problem=problems())
@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning")
def test_labels_equal_the_exact_ones_wherever_the_margin_exceeds_the_error(problem: Problem) -> None:
    clf = iso.DirichletClassifier(side="source", rule="vanilla").fit(problem.graph, problem.labels)
    exact = harmonic(dense(problem.graph.heat), problem.nodes, problem.values)[: problem.graph.n_nodes]
    spread = np.nanstd(exact, axis=0).max()
    best = np.sort(exact, axis=1)
    clear = best[:, -1] - best[:, -2] > 6e-3 * spread
    np.testing.assert_array_equal(clf.labels_[clear], exact[clear].argmax(axis=1))
    np.testing.assert_array_equal(clf.labels_ == -1, np.isnan(exact[:, 0]))


@pytest.mark.parametrize(
    "make", [lambda m: m, csr_matrix, lambda m: m.tocsc(), lambda m: m.tocoo(), lambda m: m.todense()]
)
def test_matrices_of_any_kind(karate: Any, make: Any) -> None:
    adjacency = csr_array(nx.to_scipy_sparse_array(karate, weight=None))
    labels = np.full(34, -1)
    labels[[0, 33]] = 0, 1
    expected = iso.DirichletClassifier().fit(karate, {0: 0, 33: 1})
    found = iso.DirichletClassifier().fit(make(adjacency), labels)
    weighted = iso.DirichletClassifier().fit(nx.to_scipy_sparse_array(karate), labels)
    np.testing.assert_array_equal(weighted.labels_, expected.labels_)
    assert np.count_nonzero(found.labels_ != expected.labels_) <= 3  # networkx has weights, the matrix has none


@pytest.mark.parametrize("container", [np.array, list, pd.Series, lambda x: pl.Series(x, strict=False)])
@pytest.mark.parametrize("unknown", [None, float("nan"), -1])
def test_string_labels_with_any_sign_for_unknown(container: Any, unknown: Any) -> None:
    if unknown is not None and container not in (np.array, list, pd.Series):
        pytest.skip("a polars column has one type")
    labels: list[Any] = ["a", unknown, unknown, "b"]
    values = np.array(labels, dtype=object) if container is np.array else container(labels)
    clf = iso.DirichletClassifier().fit(iso.Graph.from_edges([0, 1, 2], [1, 2, 3]), values)
    assert clf.labels_.tolist() == ["a", "a", "b", "b"]


@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")
@pytest.mark.parametrize("labels", [{"a": 3, "d": 7}, {"a": "x", "d": "y"}])
def test_unreached_nodes_have_no_label_and_no_confidence(labels: dict[str, Any]) -> None:
    graph = iso.Graph.from_edges(["a", "b", "c", "e"], ["b", "c", "d", "f"])
    with pytest.warns(iso.UnreachedWarning, match="2 of 6 nodes"):
        clf = iso.DirichletClassifier().fit(graph, labels)
    unknown = -1 if labels["a"] == 3 else None
    assert clf.labels_.tolist()[4:] == [unknown, unknown]
    np.testing.assert_array_equal(clf.reached_, [True] * 4 + [False] * 2)
    assert np.isnan(clf.temperatures_[4:]).all()
    np.testing.assert_array_equal(clf.confidence_[4:], 0)
    np.testing.assert_array_equal(clf.predict_proba()[4:], 0)


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
@pytest.mark.parametrize(
    ("labels", "unreached"),
    [
        ({"a": 3, "d": 7}, 0),
        ({"a": 3, "d": 7}, np.int8(-5)),
        ({"a": "x", "d": "y"}, "none"),
        ({"a": True, "d": False}, True),
    ],
)
def test_unreached_nodes_have_the_label_asked_for(labels: dict[str, Any], unreached: Any) -> None:
    graph = iso.Graph.from_edges(["a", "b", "c", "e"], ["b", "c", "d", "f"])
    clf = iso.DirichletClassifier().fit(graph, labels)
    found = clf.predict(unreached=unreached)
    assert found.tolist() == [*clf.labels_.tolist()[:4], unreached, unreached]
    assert found.dtype == clf.classes_.dtype
    assert confusion_matrix(found, found).sum() == 6
    assert clf.predict(np.zeros((1, 6)), unreached=unreached).tolist() == [unreached]


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
@pytest.mark.parametrize(
    ("labels", "unreached", "message"),
    [
        ({"a": 3, "d": 7}, "none", "unreached='none', but it must be an int, as the other labels are"),
        ({"a": 3, "d": 7}, True, "unreached=True, but it must be an int"),
        ({"a": "x", "d": "y"}, -1, "unreached=-1, but it must be a str"),
        ({"a": True, "d": False}, 0, "unreached=0, but it must be a bool"),
        ({"a": {"x"}, "d": {"y"}}, "none", "unreached='none' is for seeds with one label each"),
    ],
)
def test_a_label_of_another_kind_is_refused(labels: dict[str, Any], unreached: Any, message: str) -> None:
    graph = iso.Graph.from_edges(["a", "b", "c", "e"], ["b", "c", "d", "f"])
    with pytest.raises(ValueError, match=message):
        iso.DirichletClassifier().fit(graph, labels).predict(unreached=unreached)


def test_booleans_stay_booleans() -> None:
    graph = iso.Graph.from_edges(["a", "b", "c", "e"], ["b", "c", "d", "f"])
    with pytest.warns(iso.UnreachedWarning):
        clf = iso.DirichletClassifier().fit(graph, {"a": True, "d": False})
    assert clf.classes_.tolist() == [False, True]
    assert clf.labels_.tolist() == [True, True, False, False, None, None]
    reached = iso.DirichletClassifier().fit(iso.Graph.from_edges([0, 1, 2], [1, 2, 3]), [True, None, None, False])
    assert reached.labels_.dtype == bool
    assert reached.labels_[:2].all()


@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning", "ignore::isotherm.UnreachedWarning")
@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
@pytest.mark.parametrize("labels", [{0: "a", 33: "a"}, {0: 1}, np.where(np.arange(36) < 3, 1, -1)])
@pytest.mark.parametrize("rule", [*RULES, "auto"])
def test_one_class_is_that_of_all_reached_nodes(karate: Any, labels: Any, rule: str) -> None:
    karate.add_edge(34, 35)
    with pytest.warns(iso.LabelWarning, match="so all reached nodes get it: give seeds of another class too"):
        clf = iso.DirichletClassifier(rule).fit(karate, labels)
    label = clf.classes_.tolist()[0]
    assert clf.labels_.tolist() == [label] * 34 + [clf.seeds_.unknown] * 2
    np.testing.assert_array_equal(clf.predict_proba()[:, 0], clf.reached_)
    np.testing.assert_array_equal(clf.confidence_, clf.reached_)
    if clf.rule_ in TEMPERATURE_RULES:
        np.testing.assert_array_equal(clf.certified_, clf.reached_)
    assert clf.predict_set().shape == (36, 1)
    assert {len(clf.suggest(3, policy=policy)) for policy in ("diverse", "uncertainty", "margin")} == {3}
    assert clf.explain(5).share.sum() == pytest.approx(1)
    clf.update({5: "b" if label == "a" else 0, 6: "b" if label == "a" else 0})
    assert len(clf.classes_) == 2


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
def test_the_score_is_the_share_of_known_labels_that_are_found() -> None:
    graph = iso.Graph.from_edges(["a", "b", "c", "e"], ["b", "c", "d", "f"])
    clf = iso.DirichletClassifier().fit(graph, {"a": "x", "d": "y"})
    assert clf.score(None, ["x", "x", "x", "y", None, None]) == 0.75
    assert clf.score(graph, pd.Series(["x", None, None, None, "x", None])) == 0.5
    assert clf.score(None, ["x", None, None, None, "x", None], sample_weight=[3, 1, 1, 1, 1, 1]) == 0.75
    with pytest.raises(ValueError, match="no label of y is known"):
        clf.score(None, [None] * 6)


def test_probabilities_without_calibration_are_the_softmax_of_the_scores() -> None:
    graph = iso.Graph.from_networkx(nx.les_miserables_graph())
    labels = {"Valjean": "a", "Marius": "b", "Myriel": "c"}
    clf = iso.DirichletClassifier(calibration=None).fit(graph, labels)
    assert clf.calibration_ is None
    probabilities = clf.predict_proba()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(clf.classes_[probabilities.argmax(axis=1)], clf.labels_)
    others = np.delete(np.arange(graph.n_nodes), graph.index(list(labels)))
    softmax = np.exp(clf.scores_) / np.exp(clf.scores_).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probabilities[others], softmax[others], rtol=1e-6)
    np.testing.assert_array_equal(clf.confidence_, probabilities.max(axis=1))
    np.testing.assert_array_equal(clf.confidence_[graph.index(list(labels))], 1)


@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")
@pytest.mark.parametrize("calibration", ["auto", None])
@pytest.mark.parametrize("rule", RULES)
def test_a_new_node_has_the_mean_temperature_of_its_neighbours(karate: Any, rule: str, calibration: str) -> None:
    clf = iso.DirichletClassifier(rule=rule, tol=1e-9, calibration=calibration).fit(karate, LEADERS)
    others = np.delete(np.arange(34), [0, 33])
    own_rows = csr_array(nx.to_scipy_sparse_array(karate))[others]
    np.testing.assert_array_equal(clf.predict(own_rows), clf.labels_[others])
    np.testing.assert_allclose(clf.predict_proba(own_rows), clf.predict_proba()[others], atol=1e-6)


def test_a_new_node_without_neighbours_has_no_label(karate: Any) -> None:
    clf = iso.DirichletClassifier().fit(karate, LEADERS)
    assert clf.predict(np.zeros((1, 34))).tolist() == [None]
    with pytest.raises(ValueError, match="X has 33 features, but DirichletClassifier is expecting 34"):
        clf.predict(np.zeros((1, 33)))


def test_arcs_as_edges() -> None:
    rng = np.random.default_rng(0)
    arcs = csr_array(rng.random((60, 60)) < 0.08, dtype=np.float64)
    directed, edges = iso.Graph.from_scipy(arcs, directed=True), arcs + arcs.T
    edges.setdiag(0)
    known = np.full(60, -1)
    known[:20] = np.arange(20) % 3
    by_arcs = iso.DirichletClassifier(side="edges").fit(directed, known)
    by_edges = iso.DirichletClassifier().fit(iso.Graph.from_scipy(csr_array(edges)), known)
    np.testing.assert_allclose(by_arcs.temperatures_, by_edges.temperatures_, atol=1e-3)
    usual = iso.DirichletClassifier().fit(directed, known)
    np.testing.assert_array_equal(usual.temperatures_, by_arcs.temperatures_)
    paper, both = (
        iso.DirichletClassifier(rule="centered", side=side).fit(directed, known) for side in ("auto", "both")
    )
    np.testing.assert_array_equal(paper.temperatures_, both.temperatures_)


def test_directed_graphs_by_both_sides() -> None:
    arcs = csr_array(np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]))
    graph = iso.Graph.from_scipy(arcs, directed=True)
    with pytest.warns(iso.UnreachedWarning):
        source = iso.DirichletClassifier(side="source").fit(graph, {0: 0, 2: 1})
    assert source.labels_.tolist() == [0, -1, 1, -1]  # no path of the bipartite graph joins 1 or 3 to a seed
    both = iso.DirichletClassifier(side="both").fit(graph, {0: 0, 2: 1})
    assert both.labels_.tolist() == [0, -1 if not both.reached_[1] else both.labels_[1], 1, 1]


def test_bipartite_graphs_label_rows_and_columns() -> None:
    biadjacency = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1]])
    graph = iso.Graph.from_biadjacency(biadjacency, rows=["r1", "r2", "r3"], columns=["c1", "c2", "c3", "c4"])
    clf = iso.DirichletClassifier().fit(graph, {"r1": "left", "c4": "right"})
    assert clf.labels_[: graph.n_rows].tolist() == ["left", "left", "right"]
    assert clf.labels_[graph.n_rows :].tolist() == ["left", "left", "right", "right"]


def test_weights_decide() -> None:
    edges = [0, 1], [1, 2]
    for weight, label in (([3, 1], 0), ([1, 3], 1)):
        clf = iso.DirichletClassifier(rule="vanilla").fit(iso.Graph.from_edges(*edges, weight=weight), {0: 0, 2: 1})
        assert clf.labels_[1] == label


def test_a_path_is_split_in_the_middle() -> None:
    """Ten sweeps split it 189 to 11."""
    graph = iso.Graph.from_edges(np.arange(199), np.arange(1, 200))
    for solver in ("cg", "direct", "auto"):
        clf = iso.DirichletClassifier(solver=solver).fit(graph, {0: "a", 199: "b"})
        assert np.count_nonzero(clf.labels_ == "a") == 100


@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")
def test_clone_pickle_and_parameters(karate: Any) -> None:
    clf = iso.DirichletClassifier(rule="relative", tol=1e-5).fit(karate, LEADERS)
    assert clone(clf).get_params() == clf.get_params()
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.labels_, clf.labels_)
    np.testing.assert_array_equal(again.predict_proba(), clf.predict_proba())


@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")
def test_a_second_fit_forgets_the_first(karate: Any) -> None:
    clf = iso.DirichletClassifier().fit(karate, LEADERS)
    first = clf.confidence_
    clf.fit(karate, {0: "Officer", 33: "Mr. Hi"})
    np.testing.assert_array_equal(clf.labels_[[0, 33]], ["Officer", "Mr. Hi"])
    np.testing.assert_allclose(clf.confidence_, first, atol=1e-3)


def test_a_class_without_a_seed_does_not_exist() -> None:
    clf = iso.DirichletClassifier().fit(iso.Graph.from_edges([0, 1], [1, 2]), [5, -1, 9])
    assert clf.classes_.tolist() == [5, 9]
    assert clf.temperatures_.shape == (3, 2)


def test_a_class_with_a_single_seed_is_worth_a_warning() -> None:
    graph = iso.Graph.from_edges([0, 1, 2], [1, 2, 3])
    with pytest.warns(iso.RareClassWarning, match="the class 1 has a single seed"):
        iso.DirichletClassifier().fit(graph, [0, 0, -1, 1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rule": "centred"}, "rule='centred', but it must be one of 'balanced', 'probable', 'centered', 'relative'"),
        ({"solver": "jacobi"}, "solver='jacobi', but it must be one of 'auto', 'cg', 'direct', 'elimination'"),
        ({"side": "target"}, "side='target', but it must be one of 'auto', 'both', 'source', 'edges'"),
        ({"engine": "cloud"}, "engine='cloud', but it must be one of 'local'"),
        ({"calibration": "platt"}, "calibration='platt', but it must be one of 'auto', None"),
        ({"tol": 0}, "tol=0, but it must be positive"),
        ({"tol": None}, "tol=None asks for a fixed number of iterations: set max_iter"),
        ({"max_iter": 0}, "max_iter=0, but it must be at least 1"),
        ({"n_threads": 0}, "n_threads=0, but it must be at least 1"),
        ({"open_share": 1}, "open_share=1, but it must be at least 0 and below 1"),
        ({"max_memory": 0}, "max_memory=0, but it must be a positive number of bytes"),
    ],
)
def test_bad_parameters(karate: Any, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        iso.DirichletClassifier(**parameters).fit(karate, LEADERS)


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ({0: "a", 99: "b"}, "not in the graph: 99"),
        ({}, "no seed"),
        ([0, 1], "34"),
    ],
)
def test_bad_seeds(karate: Any, seeds: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        iso.DirichletClassifier().fit(karate, seeds)
