"""Several labels for a node: the same as a problem for each label, whatever the memory; and a threshold that suits."""

from pathlib import Path
from typing import Any, get_args

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from problems import Problem, problems
from scipy.sparse import csr_array
from sklearn.metrics import f1_score, log_loss

import isotherm as iso
from isotherm.choices import RuleName, SideName
from isotherm.labelling.fit import warm_start
from isotherm.labelling.label_sets import _best_shift, _distinct
from isotherm.labelling.rules import RULES
from isotherm.probability.label_odds import LEAST
from isotherm.probability.trial import reliability
from isotherm.seeds.known import changed_seeds, label_sets

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")  # two seeds are enough here

quiet = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning")


def sets_of(problem: Problem, labels: int, chance: float) -> NDArray[np.bool_]:
    """(s, L) labels of the seeds, at random; each label is had by some and not by others."""
    rng = np.random.default_rng(len(problem.nodes))
    has = rng.random((len(problem.nodes), labels)) < chance
    has[0], has[1] = True, False
    return has


@quiet
@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=40)  # of each rule
@given(problem=problems(), chance=st.floats(0.1, 0.9), side=st.sampled_from(["both", "source"]))
def test_each_label_is_a_problem_of_two_classes(
    problem: Problem, rule: RuleName, chance: float, side: SideName
) -> None:
    graph, has = problem.graph, sets_of(problem, 3, chance)
    ids = graph.nodes[problem.nodes].tolist()
    sets = {node: set(np.flatnonzero(row).tolist()) for node, row in zip(ids, has, strict=True)}
    together = iso.DirichletClassifier(rule, side=side, tol=1e-9, threshold=None).fit(graph, sets)
    assert together.classes_.tolist() == [0, 1, 2]
    for label in range(3):
        seeds = {node: int(row[label]) for node, row in zip(ids, has, strict=True)}
        alone = iso.DirichletClassifier(rule, side=side, tol=1e-9, calibration=None).fit(graph, seeds)
        np.testing.assert_allclose(together.temperatures_[:, label], alone.temperatures_[:, 1], atol=1e-8)
        others = np.nan_to_num(np.delete(alone.temperatures_, problem.nodes, axis=0))
        if (others.sum(axis=0) < 1e-9).any():
            continue  # one class has nothing but rounding, of which "weighted" makes what it likes
        clear = np.abs(np.diff(alone.scores_, axis=1)[:, 0]) > 1e-6
        found = csr_array(together.labels_).toarray()[:, label]
        np.testing.assert_array_equal(found[clear], alone.labels_[clear] == 1)
        np.testing.assert_array_equal(found[problem.nodes], has[:, label])
    np.testing.assert_array_equal(together.reached_, alone.reached_)


def overlapping(n: int = 1200, groups: int = 8, chance: float = 0.15) -> tuple[iso.Graph, NDArray[np.bool_]]:
    """A graph whose nodes are in some of the groups, more likely joined the more groups they share."""
    rng = np.random.default_rng(0)
    has = rng.random((n, groups)) < chance
    shared = has.astype(float) @ has.T.astype(float)
    edges = np.triu(rng.random((n, n)) < 0.002 + 0.05 * shared, 1)
    return iso.Graph.from_scipy(csr_array((edges | edges.T).astype(float))), has


@pytest.fixture(scope="module")
def groups() -> tuple[iso.Graph, NDArray[np.bool_], dict[int, set[str]]]:
    graph, has = overlapping()
    known = np.random.default_rng(1).choice(len(has), 300, replace=False).tolist()
    return graph, has, {node: {f"g{group}" for group in np.flatnonzero(has[node])} for node in known}


def score(clf: iso.DirichletClassifier, has: NDArray[np.bool_], seeds: dict[int, Any]) -> float:
    hidden = np.setdiff1d(np.arange(len(has)), list(seeds))
    return float(f1_score(has[hidden], csr_array(clf.predict()).toarray()[hidden], average="macro"))


@quiet
def test_the_threshold_is_fitted_to_hidden_seeds(groups: Any) -> None:
    graph, has, seeds = groups
    for rule in get_args(RuleName):
        as_it_is, fitted = (iso.DirichletClassifier(rule, threshold=t).fit(graph, seeds) for t in (None, "auto"))
        assert score(fitted, has, seeds) > score(as_it_is, has, seeds) + 0.1
    plain = [iso.DirichletClassifier(threshold=t, calibration=None) for t in np.linspace(0.05, 0.9, 18)]
    tried = [clf.fit(graph, seeds) for clf in plain]
    best = max(score(clf, has, seeds) for clf in tried)  # what hindsight would have chosen
    assert score(iso.DirichletClassifier().fit(graph, seeds), has, seeds) > best - 0.02


@quiet
@pytest.mark.parametrize("rule", ["centered", "weighted"])
def test_block_after_block_gives_the_same(groups: Any, rule: RuleName) -> None:
    graph, _, seeds = groups
    many = {node: each | {f"h{len(each)}", *(f"i{node % 40}",)} for node, each in seeds.items()}
    whole = iso.DirichletClassifier(rule).fit(graph, many)
    parts = iso.DirichletClassifier(rule, max_memory=1_200_000).fit(graph, many)
    assert len(whole.classes_) > 40
    np.testing.assert_array_equal(csr_array(parts.labels_).toarray(), csr_array(whole.labels_).toarray())
    np.testing.assert_array_equal(csr_array(parts.confidence_).toarray(), csr_array(whole.confidence_).toarray())
    np.testing.assert_array_equal(parts.thresholds_, whole.thresholds_)
    with pytest.raises(AttributeError, match="use labels_ and confidence_, or raise max_memory"):
        parts.predict_proba()


@quiet
def test_labels_that_are_too_many_are_refused(groups: Any) -> None:
    graph, _, seeds = groups
    with pytest.raises(ValueError, match=r"nodes have more than [\d.]+ of 8 labels .* raise threshold or max_memory"):
        iso.DirichletClassifier(threshold=0.0, max_memory=50_000).fit(graph, seeds)


@quiet
def test_what_is_found(groups: Any) -> None:
    graph, _, seeds = groups
    clf = iso.DirichletClassifier().fit(graph, seeds)
    labels, probabilities = clf.predict(), clf.predict_proba()
    assert isinstance(labels, csr_array)
    assert labels.dtype == bool
    assert labels.shape == probabilities.shape == (graph.n_nodes, 8)
    np.testing.assert_array_equal(labels.toarray(), clf.temperatures_ > clf.thresholds_)
    np.testing.assert_array_equal(csr_array(clf.confidence_).toarray(), np.where(labels.toarray(), probabilities, 0))
    for node, each in list(seeds.items())[:50]:
        assert {*clf.classes_[labels.toarray()[node]]} == each


@quiet
def test_new_nodes(groups: Any) -> None:
    graph, _, seeds = groups
    clf = iso.DirichletClassifier(tol=1e-9).fit(graph, seeds)
    others = np.setdiff1d(np.arange(graph.n_nodes), list(seeds))
    rows = graph.adjacency[others]
    np.testing.assert_allclose(clf.predict_proba(rows), clf.predict_proba()[others], atol=1e-6)
    clear = (np.abs(clf.scores_[others]) > 1e-6).all(axis=1)
    np.testing.assert_array_equal(
        csr_array(clf.predict(rows)).toarray()[clear], csr_array(clf.labels_).toarray()[others][clear]
    )
    assert csr_array(clf.predict(np.zeros((1, graph.n_nodes)))).nnz == 0


def test_unreached_nodes_have_no_label() -> None:
    graph = iso.Graph.from_edges([0, 1, 3], [1, 2, 4])
    with pytest.warns(iso.UnreachedWarning, match="2 of 5 nodes"):
        clf = iso.DirichletClassifier(rule="vanilla", threshold=None).fit(graph, {0: {"a"}, 2: {"b"}})
    assert csr_array(clf.labels_).toarray().tolist() == [[1, 0], [0, 0], [0, 1], [0, 0], [0, 0]]
    np.testing.assert_array_equal(clf.predict_proba()[3:], 0)


@quiet
def test_a_label_that_all_seeds_have_is_everywhere_and_one_that_none_has_nowhere() -> None:
    matrix = np.zeros((34, 3), dtype=int)
    matrix[[0, 33], 0] = matrix[0, 1] = 1
    clf = iso.DirichletClassifier().fit(nx.karate_club_graph(), matrix)
    assert clf.labels_.sum(axis=0).tolist()[::2] == [34, 0]


@quiet
def test_seeds_that_are_not_trusted(groups: Any) -> None:
    graph, _, seeds = groups
    node = next(node for node, each in seeds.items() if not each and graph.degrees[node] > 5)
    wrong = {**seeds, node: {f"g{group}" for group in range(8)}}
    without = {other: each for other, each in seeds.items() if other != node}
    doubted = iso.DirichletClassifier(tol=1e-9).fit(graph, wrong, seed_weight={node: 1e-4})
    expected = iso.DirichletClassifier(tol=1e-9).fit(graph, without)
    np.testing.assert_allclose(doubted.temperatures_, expected.temperatures_, atol=1e-3)
    assert iso.DirichletClassifier().fit(graph, wrong).labels_[[node]].sum() == 8


@quiet
def test_explanations_add_up_to_the_temperatures(groups: Any) -> None:
    graph, _, seeds = groups
    clf = iso.DirichletClassifier(tol=1e-6).fit(graph, seeds)
    others = np.setdiff1d(np.arange(graph.n_nodes), list(seeds))[:20]
    for explanation in clf.explain_many(others.tolist()):
        np.testing.assert_allclose(list(explanation.classes.values()), clf.temperatures_[explanation.node], atol=2e-6)
        assert set(explanation.label[0]) == seeds[explanation.seed[0]]
        assert str(explanation)


@quiet
def test_what_one_label_each_is_needed_for(groups: Any) -> None:
    graph, _, seeds = groups
    clf = iso.DirichletClassifier().fit(graph, seeds)
    with pytest.raises(ValueError, match="certified_ is for seeds with one label each"):
        clf.certified_  # noqa: B018
    with pytest.raises(ValueError, match="stop='labels' is for seeds with one label each: use stop='error'"):
        iso.DirichletClassifier(stop="labels").fit(graph, seeds)


@quiet
@pytest.mark.parametrize("threshold", ["auto", None])
def test_probabilities_are_calibrated(groups: Any, threshold: Any) -> None:
    graph, has, _ = groups
    errors = []
    for draw in range(8):
        known = np.random.default_rng(draw).choice(len(has), 300, replace=False).tolist()
        seeds = {node: set(np.flatnonzero(has[node]).tolist()) for node in known}
        clf = iso.DirichletClassifier(threshold=threshold).fit(graph, seeds)
        plain = iso.DirichletClassifier(threshold=threshold, calibration=None).fit(graph, seeds)
        np.testing.assert_array_equal(plain.predict_proba(), np.nan_to_num(plain.temperatures_))
        others = np.setdiff1d(np.flatnonzero(clf.reached_), known)
        both = [each.predict_proba()[others].ravel().clip(0, 1) for each in (clf, plain)]  # rounding
        truth = has[others].ravel()
        assert log_loss(truth, both[0]) < log_loss(truth, both[1])
        errors.append([reliability(each, truth).error for each in both])
        for node in known[:20]:
            assert set(clf.classes_[clf.predict_proba()[node] == 1]) == seeds[node]
    calibrated, not_calibrated = np.mean(errors, axis=0)
    assert calibrated < 0.08 < 0.12 < not_calibrated


@quiet
def test_new_nodes_have_probabilities_by_their_temperatures(groups: Any) -> None:
    graph, _, seeds = groups
    clf = iso.DirichletClassifier().fit(graph, seeds)
    other = np.setdiff1d(np.flatnonzero(clf.reached_), list(seeds))[0]
    weights = csr_array(([1.0], ([0], [other])), shape=(1, graph.n_nodes))
    np.testing.assert_allclose(clf.predict_proba(weights)[0], clf.predict_proba()[other])


@quiet
def test_few_seeds_are_told() -> None:
    clf = iso.DirichletClassifier().fit(nx.karate_club_graph(), {0: {"a"}, 33: {"b"}})
    with pytest.warns(
        iso.CalibrationWarning, match="with 0 labels on hidden seeds, probabilities are hardly more than"
    ):
        np.testing.assert_allclose(clf.predict_proba(), np.clip(clf.temperatures_, LEAST, 1), atol=LEAST)


@quiet
def test_an_update_is_a_new_fit_from_the_present_temperatures(groups: Any) -> None:
    graph, _, seeds = groups
    ids = list(seeds)
    changed = {node: seeds[node] for node in ids[3:]} | {ids[3]: {"new", "g1"}, ids[4]: set()}
    fresh = iso.DirichletClassifier(tol=1e-7, solver="cg").fit(graph, changed)
    clf = iso.DirichletClassifier(tol=1e-7, solver="cg").fit(graph, seeds)
    clf.update({ids[3]: ["new", "g1"], ids[4]: set()}, ids[:3])
    assert clf.classes_.tolist() == fresh.classes_.tolist()
    np.testing.assert_allclose(clf.temperatures_, fresh.temperatures_, atol=2e-7)
    np.testing.assert_allclose(clf.thresholds_, fresh.thresholds_, atol=1e-6)
    assert (clf.labels_ != fresh.labels_).nnz == 0
    before = clf.solution_.iterations
    assert clf.update().solution_.iterations < before / 2


@quiet
def test_labels_that_no_seed_has_any_more_stay() -> None:
    path = iso.Graph.from_edges(range(5), range(1, 6))
    labels = np.zeros((6, 3), bool)
    labels[0, :2] = labels[5, 2] = True
    clf = iso.DirichletClassifier().fit(path, labels).update({0: {0}, 1: {0}})
    assert clf.classes_.tolist() == [0, 1, 2]
    assert csr_array(clf.labels_).toarray()[:, 1].tolist() == [False] * 6
    assert csr_array(clf.predict()).toarray()[[0, 5]].tolist() == [[True, False, False], [False, False, True]]


def test_where_an_update_of_label_sets_begins() -> None:
    path = iso.Graph.from_edges(["a", "b", "x"], ["b", "c", "y"])
    before = label_sets({"a": {"hot"}, "c": {"cold"}}, path)
    after = changed_seeds(before, {"x": {"new", "hot"}, "y": set()}, [], path)
    temperatures = np.array([[0, 1.0], [0.4, 0.5], [1, 0], [np.nan, np.nan], [np.nan, np.nan]])
    expected = np.array([[0, 1, 0.25], [0.4, 0.5, 0.25], [1, 0, 0.25], [0.25, 0.5, 0.25], [0.25, 0.5, 0.25]])
    assert path.nodes.tolist() == ["a", "b", "c", "x", "y"]
    np.testing.assert_allclose(np.asarray(warm_start(temperatures, before, after)), expected)


@pytest.mark.parametrize("threshold", ["none", 1.0, -0.1])
def test_bad_thresholds(threshold: Any) -> None:
    with pytest.raises(ValueError, match=f"threshold={threshold!r}, but it must be"):
        iso.DirichletClassifier(threshold=threshold).fit(nx.karate_club_graph(), {0: {"a"}})


@quiet
def test_a_second_fit_forgets_the_first(groups: Any) -> None:
    graph, _, seeds = groups
    clf = iso.DirichletClassifier().fit(graph, seeds)
    clf.fit(nx.karate_club_graph(), {0: "a", 33: "b"})
    assert clf.labels_.shape == clf.confidence_.shape == (34,)
    assert clf.certified_.any()


@quiet
@pytest.mark.parametrize("memory", [None, 100_000])
def test_saved_and_loaded(groups: Any, memory: int | None, tmp_path: Path) -> None:
    graph, _, seeds = groups
    clf = iso.DirichletClassifier(max_memory=memory).fit(graph, seeds)
    clf.save(tmp_path / "model.npz")
    loaded = iso.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(csr_array(loaded.labels_).toarray(), csr_array(clf.labels_).toarray())
    np.testing.assert_array_equal(csr_array(loaded.confidence_).toarray(), csr_array(clf.confidence_).toarray())
    assert loaded.explain(0).classes == clf.explain(0).classes


def test_the_best_shift_by_exhaustive_search() -> None:
    rng = np.random.default_rng(4)
    truth = rng.random((400, 5)) < 0.2
    margins = rng.normal(truth * 1.0, 0.7)
    margins[:7] = -np.inf
    shift = _best_shift(margins, truth)
    tried = [f1_score(truth, margins > t, average="macro") for t in np.linspace(-2, 3, 1001)]
    assert f1_score(truth, margins > shift, average="macro") > max(tried) - 0.01
    assert _best_shift(np.full((3, 2), -np.inf), truth[:3, :2]) == 0


def test_labels_of_the_same_seeds_are_solved_for_once() -> None:
    matrix = csr_array(np.array([[1, 1, 0, 1, 0], [1, 0, 0, 1, 1], [0, 1, 0, 0, 0]]))
    distinct, copies = _distinct(matrix, np.arange(3))
    assert distinct.tolist() == [0, 1, 4, 2]  # the rarest last
    np.testing.assert_array_equal(matrix.toarray()[:, distinct][:, copies], matrix.toarray())
