"""What both classifiers of graphs promise, as their users meet it: scikit-learn's contract, and graphs of all kinds."""

import dataclasses
import pickle
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import confusion_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

import isotherm as iso
from isotherm.labelling.rules import DECISIONS, RULES
from isotherm.node_classifier import RULE_NAMES, classifier_by

Kind = type[iso.NodeClassifier] | type[iso.DirichletClassifier]
KINDS: list[Kind] = [iso.NodeClassifier, iso.DirichletClassifier]
UNCALIBRATED = iso.DirichletClassifier(calibration=None)
LEADERS = {0: "Mr. Hi", 33: "Officer"}
EXPECTED_FAILURES = {"check_classifiers_classes": "it uses -1 as a label, which here means unknown"}
CALIBRATED = {"check_classifiers_train": "the label is what the rule says, not the most probable class"}


def expected_failures(estimator: Any) -> dict[str, str]:
    calibrated = getattr(estimator, "calibration", None) is not None
    return EXPECTED_FAILURES | CALIBRATED if calibrated else EXPECTED_FAILURES


@pytest.mark.filterwarnings(
    "ignore::isotherm.UnreachedWarning",
    "ignore::isotherm.RareClassWarning",
    "ignore::isotherm.CalibrationWarning",
    "ignore::isotherm.LabelWarning",
)
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [*(kind() for kind in KINDS), UNCALIBRATED], expected_failed_checks=expected_failures
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture
def karate() -> Any:
    return nx.karate_club_graph()


@pytest.mark.parametrize("kind", KINDS)
def test_karate_club_with_two_seeds(kind: Kind, karate: Any) -> None:
    clf = kind().fit(iso.Graph.from_networkx(karate, weight=None), LEADERS)
    truth = np.array([karate.nodes[i]["club"] for i in karate])
    assert np.count_nonzero(clf.labels_ != truth) == 1
    assert clf.classes_.tolist() == ["Mr. Hi", "Officer"]
    assert clf.predict() is clf.labels_


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "make", [lambda m: m, csr_matrix, lambda m: m.tocsc(), lambda m: m.tocoo(), lambda m: m.todense()]
)
def test_matrices_of_any_kind(kind: Kind, karate: Any, make: Any) -> None:
    adjacency = csr_array(nx.to_scipy_sparse_array(karate, weight=None))
    labels = np.full(34, -1)
    labels[[0, 33]] = 0, 1
    expected = kind().fit(karate, {0: 0, 33: 1})
    found = kind().fit(make(adjacency), labels)
    weighted = kind().fit(nx.to_scipy_sparse_array(karate), labels)
    np.testing.assert_array_equal(weighted.labels_, expected.labels_)
    assert np.count_nonzero(found.labels_ != expected.labels_) <= 3  # networkx has weights, the matrix has none


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("container", [np.array, list, pd.Series, lambda x: pl.Series(x, strict=False)])
@pytest.mark.parametrize("unknown", [None, float("nan"), -1])
def test_string_labels_with_any_sign_for_unknown(kind: Kind, container: Any, unknown: Any) -> None:
    if unknown is not None and container not in (np.array, list, pd.Series):
        pytest.skip("a polars column has one type")
    labels: list[Any] = ["a", unknown, unknown, "b"]
    values = np.array(labels, dtype=object) if container is np.array else container(labels)
    clf = kind().fit(iso.Graph.from_edges([0, 1, 2], [1, 2, 3]), values)
    assert clf.labels_.tolist() == ["a", "a", "b", "b"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")
@pytest.mark.parametrize("labels", [{"a": 3, "d": 7}, {"a": "x", "d": "y"}])
def test_unreached_nodes_have_no_label_and_no_confidence(kind: Kind, labels: dict[str, Any]) -> None:
    graph = iso.Graph.from_edges(["a", "b", "c", "e"], ["b", "c", "d", "f"])
    with pytest.warns(iso.UnreachedWarning, match="2 of 6 nodes"):
        clf = kind().fit(graph, labels)
    unknown = -1 if labels["a"] == 3 else None
    assert clf.labels_.tolist()[4:] == [unknown, unknown]
    np.testing.assert_array_equal(clf.reached_, [True] * 4 + [False] * 2)
    assert np.isnan(clf.temperatures_[4:]).all()
    np.testing.assert_array_equal(clf.confidence_[4:], 0)
    np.testing.assert_array_equal(clf.predict_proba()[4:], 0)


@pytest.mark.parametrize("kind", KINDS)
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
def test_unreached_nodes_have_the_label_asked_for(kind: Kind, labels: dict[str, Any], unreached: Any) -> None:
    graph = iso.Graph.from_edges(["a", "b", "c", "e"], ["b", "c", "d", "f"])
    clf = kind().fit(graph, labels)
    found = clf.predict(unreached=unreached)
    assert found.tolist() == [*clf.labels_.tolist()[:4], unreached, unreached]
    assert found.dtype == clf.classes_.dtype
    assert confusion_matrix(found, found).sum() == 6
    assert clf.predict(np.zeros((1, 6)), unreached=unreached).tolist() == [unreached]


@pytest.mark.parametrize("kind", KINDS)
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
def test_a_label_of_another_kind_is_refused(kind: Kind, labels: dict[str, Any], unreached: Any, message: str) -> None:
    graph = iso.Graph.from_edges(["a", "b", "c", "e"], ["b", "c", "d", "f"])
    with pytest.raises(ValueError, match=message):
        kind().fit(graph, labels).predict(unreached=unreached)


@pytest.mark.parametrize("kind", KINDS)
def test_booleans_stay_booleans(kind: Kind) -> None:
    graph = iso.Graph.from_edges(["a", "b", "c", "e"], ["b", "c", "d", "f"])
    with pytest.warns(iso.UnreachedWarning):
        clf = kind().fit(graph, {"a": True, "d": False})
    assert clf.classes_.tolist() == [False, True]
    assert clf.labels_.tolist() == [True, True, False, False, None, None]
    reached = kind().fit(iso.Graph.from_edges([0, 1, 2], [1, 2, 3]), [True, None, None, False])
    assert reached.labels_.dtype == bool
    assert reached.labels_[:2].all()


@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning", "ignore::isotherm.UnreachedWarning")
@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
@pytest.mark.parametrize("labels", [{0: "a", 33: "a"}, {0: 1}, np.where(np.arange(36) < 3, 1, -1)])
@pytest.mark.parametrize("rule", RULE_NAMES)
def test_one_class_is_that_of_all_reached_nodes(karate: Any, labels: Any, rule: str) -> None:
    karate.add_edge(34, 35)
    with pytest.warns(iso.LabelWarning, match="so all reached nodes get it: give seeds of another class too"):
        clf = classifier_by(rule).fit(karate, labels)
    label = clf.classes_.tolist()[0]
    assert clf.labels_.tolist() == [label] * 34 + [clf.seeds_.unknown] * 2
    np.testing.assert_array_equal(clf.predict_proba()[:, 0], clf.reached_)
    np.testing.assert_array_equal(clf.confidence_, clf.reached_)
    if rule in RULES:
        np.testing.assert_array_equal(clf.certified_, clf.reached_)
    assert clf.predict_set().shape == (36, 1)
    assert {len(clf.suggest(3, policy=policy)) for policy in ("diverse", "uncertainty", "margin")} == {3}
    assert clf.explain(5).share.sum() == pytest.approx(1)
    clf.update({5: "b" if label == "a" else 0, 6: "b" if label == "a" else 0})
    assert len(clf.classes_) == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
def test_the_score_is_the_share_of_known_labels_that_are_found(kind: Kind) -> None:
    graph = iso.Graph.from_edges(["a", "b", "c", "e"], ["b", "c", "d", "f"])
    clf = kind().fit(graph, {"a": "x", "d": "y"})
    assert clf.score(None, ["x", "x", "x", "y", None, None]) == 0.75
    assert clf.score(graph, pd.Series(["x", None, None, None, "x", None])) == 0.5
    assert clf.score(None, ["x", None, None, None, "x", None], sample_weight=[3, 1, 1, 1, 1, 1]) == 0.75
    with pytest.raises(ValueError, match="no label of y is known"):
        clf.score(None, [None] * 6)


@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")
@pytest.mark.parametrize(
    ("rule", "calibration"), [*((rule, c) for rule in RULES for c in ("auto", None)), *((d, "auto") for d in DECISIONS)]
)
def test_a_new_node_has_the_mean_temperature_of_its_neighbours(karate: Any, rule: str, calibration: str | None) -> None:
    clf = classifier_by(rule, tol=1e-9, **({} if rule in DECISIONS else {"calibration": calibration})).fit(
        karate, LEADERS
    )
    others = np.delete(np.arange(34), [0, 33])
    own_rows = csr_array(nx.to_scipy_sparse_array(karate))[others]
    np.testing.assert_array_equal(clf.predict(own_rows), clf.labels_[others])
    np.testing.assert_allclose(clf.predict_proba(own_rows), clf.predict_proba()[others], atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_node_without_neighbours_has_no_label(kind: Kind, karate: Any) -> None:
    clf = kind().fit(karate, LEADERS)
    assert clf.predict(np.zeros((1, 34))).tolist() == [None]
    with pytest.raises(ValueError, match=f"X has 33 features, but {kind.__name__} is expecting 34"):
        clf.predict(np.zeros((1, 33)))


@pytest.mark.parametrize("kind", KINDS)
def test_bipartite_graphs_label_rows_and_columns(kind: Kind) -> None:
    biadjacency = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1]])
    graph = iso.Graph.from_biadjacency(biadjacency, rows=["r1", "r2", "r3"], columns=["c1", "c2", "c3", "c4"])
    clf = kind().fit(graph, {"r1": "left", "c4": "right"})
    assert clf.labels_[: graph.n_rows].tolist() == ["left", "left", "right"]
    assert clf.labels_[graph.n_rows :].tolist() == ["left", "left", "right", "right"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")
def test_a_second_fit_forgets_the_first(kind: Kind, karate: Any) -> None:
    clf = kind().fit(karate, LEADERS)
    first = clf.confidence_
    clf.fit(karate, {0: "Officer", 33: "Mr. Hi"})
    np.testing.assert_array_equal(clf.labels_[[0, 33]], ["Officer", "Mr. Hi"])
    np.testing.assert_allclose(clf.confidence_, first, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_without_a_seed_does_not_exist(kind: Kind) -> None:
    clf = kind().fit(iso.Graph.from_edges([0, 1], [1, 2]), [5, -1, 9])
    assert clf.classes_.tolist() == [5, 9]
    assert clf.temperatures_.shape == (3, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_with_a_single_seed_is_worth_a_warning(kind: Kind) -> None:
    graph = iso.Graph.from_edges([0, 1, 2], [1, 2, 3])
    with pytest.warns(iso.RareClassWarning, match="the class 1 has a single seed"):
        kind().fit(graph, [0, 0, -1, 1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ({0: "a", 99: "b"}, "not in the graph: 99"),
        ({}, "no seed"),
        ([0, 1], "34"),
    ],
)
def test_bad_seeds(kind: Kind, karate: Any, seeds: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind().fit(karate, seeds)


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_in_the_wrong_place_is_explained(kind: Kind, karate: Any) -> None:
    edges = {"source": ["a", "b", "c"], "target": ["b", "c", "d"]}
    for frame in (pl.DataFrame(edges), pd.DataFrame(edges)):
        with pytest.raises(ValueError, match=r"of 3 rows and 2 columns is no adjacency .*Graph\.from_polars"):
            kind().fit(frame, {"a": 0, "d": 1})
    with pytest.raises(ValueError, match=r"not the shape \(2, 2\): pass {node: label}, such as dict"):
        kind().fit(karate, pl.DataFrame({"node": [0, 33], "label": ["a", "b"]}))
    with pytest.raises(TypeError, match=r"explain takes one node, not list: give several to explain_many\(nodes\)"):
        kind().fit(karate, LEADERS).explain([0, 33])


@pytest.mark.parametrize("rule", ["balanced", "relative"])
@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")
def test_clone_pickle_and_parameters(karate: Any, rule: str) -> None:
    clf = classifier_by(rule, tol=1e-5).fit(karate, LEADERS)
    assert clone(clf).get_params() == clf.get_params()
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.labels_, clf.labels_)
    np.testing.assert_array_equal(again.predict_proba(), clf.predict_proba())


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_is_split_in_the_middle(kind: Kind) -> None:
    """Ten sweeps split it 189 to 11."""
    graph = iso.Graph.from_edges(np.arange(199), np.arange(1, 200))
    for solver in ("cg", "direct", "auto"):
        clf = kind(solver=solver).fit(graph, {0: "a", 199: "b"})
        assert np.count_nonzero(clf.labels_ == "a") == 100


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "jacobi"}, "solver='jacobi', but it must be one of 'auto', 'cg', 'direct', 'elimination'"),
        ({"side": "target"}, "side='target', but it must be one of 'source', 'both', 'edges'"),
        ({"engine": "cloud"}, "engine='cloud', but it must be one of 'local'"),
        ({"tol": 0}, "tol=0, but it must be positive"),
        ({"tol": None}, "tol=None asks for a fixed number of iterations: set max_iter"),
        ({"max_iter": 0}, "max_iter=0, but it must be at least 1"),
        ({"n_threads": 0}, "n_threads=0, but it must be at least 1"),
        ({"max_memory": 0}, "max_memory=0, but it must be a positive number of bytes"),
        ({"tol": "x"}, "tol='x', but it must be positive"),
        ({"max_iter": "x"}, "max_iter='x', but it must be at least 1"),
        ({"n_threads": "x"}, "n_threads='x', but it must be at least 1"),
        ({"max_memory": "x"}, "max_memory='x', but it must be a positive number of bytes"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_bad_parameters(kind: Kind, karate: Any, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind(**parameters).fit(karate, LEADERS)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_known_before_the_fit(kind: Kind) -> None:
    for name in ("labels_", "confidence_", "temperatures_", "rule_", "graph_"):
        with pytest.raises(NotFittedError):
            getattr(kind(), name)


@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_is_frozen(kind: Kind, karate: Any) -> None:
    """An update makes a new fit; the earlier one stays as it was."""
    clf = kind().fit(karate, LEADERS)
    fit = clf.fitted_
    for value in (fit, fit.outcome, fit.settings, fit.learnt, fit.calibration):
        for field in dataclasses.fields(value):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(value, field.name, None)
    labels, chances = fit.outcome.labels.copy(), fit.chances.copy()
    clf.update({5: "Mr. Hi", 32: "Officer"})
    assert clf.fitted_ is not fit
    np.testing.assert_array_equal(fit.outcome.labels, labels)
    np.testing.assert_array_equal(fit.chances, chances)
    assert fit.seeds.nodes.tolist() == [0, 33]


@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_computed_lazily_is_not_pickled(kind: Kind, karate: Any) -> None:
    clf = kind().fit(karate, LEADERS)
    assert clf.fitted_.learnt is clf.fitted_.taught  # what hidden seeds taught is pickled, tables of all nodes are not
    size = len(pickle.dumps(clf.fitted_))
    before = clf.predict_proba().copy()
    assert len(pickle.dumps(clf.fitted_)) == size
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf.fitted_)).probabilities(), before)


def test_each_rule_and_each_decision_has_its_classifier() -> None:
    assert set(RULE_NAMES) == {*RULES, *DECISIONS}
    assert {type(classifier_by(name)) for name in RULES} == {iso.DirichletClassifier}
    assert {type(classifier_by(name)) for name in DECISIONS} == {iso.NodeClassifier}


@pytest.mark.parametrize("rule", RULE_NAMES)
def test_the_same_fit_by_another_rule(karate: Any, rule: str) -> None:
    """Temperatures and probabilities are found once, and may be labelled by each rule and decision."""
    seeds = {node: karate.nodes[node]["club"] for node in range(0, 34, 2)}
    for clf in (iso.NodeClassifier().fit(karate, seeds, evidence=None), iso.DirichletClassifier().fit(karate, seeds)):
        other = classifier_by(rule, side="edges")
        own = other.fit(karate, seeds, **({"evidence": None} if rule in DECISIONS else {}))
        by = RULES[rule] if rule in RULES else DECISIONS[rule]
        np.testing.assert_array_equal(clf.fitted_.outcome_by(by).labels, own.labels_)
