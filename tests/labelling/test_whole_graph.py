"""Cross-validation by scikit-learn: the graph stays whole, no label leaks, and what would mislead is refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate

import isotherm as iso
from isotherm.choices import RuleName
from isotherm.labelling.fit import Fit

MODEL = iso.BlockModel([40, 60, 50], [1, 1, 1], p=0.12, q=0.02)
GRAPH, CODES = MODEL.sample(0), MODEL.labels()
NAMES = np.array(["ann", "bob", "eve"], dtype=object)[CODES]
FOLDS = iso.LabelSplit(3, random_state=0)
GRID: dict[str, list[RuleName]] = {"rule": ["centered", "vanilla"]}


def partly(labels: NDArray[Any], unknown: Any) -> NDArray[Any]:
    known = labels.copy()
    known[::3] = unknown
    return known


class Watched(iso.DirichletClassifier):
    """Remembers what each fit and each prediction was given."""

    seen: list[tuple[int, dict[int, Any]]] = []  # noqa: RUF012 - shared by clones

    def _hold(self, fit: Fit) -> Any:
        labels = fit.seeds.decode(fit.seeds.codes).tolist()
        self.seen.append((fit.graph.n_edges, dict(zip(fit.seeds.nodes.tolist(), labels, strict=True))))
        return super()._hold(fit)


@pytest.mark.parametrize("labels", [partly(CODES, -1), partly(NAMES, None), CODES, (NAMES == "bob")])
def test_scores_are_those_of_hidden_labels_on_the_whole_graph(labels: NDArray[Any]) -> None:
    found = cross_val_score(iso.DirichletClassifier(), iso.WholeGraph(GRAPH), labels, cv=FOLDS)
    expected = []
    for visible, hidden in FOLDS.split(labels):
        predicted = iso.DirichletClassifier().fit(GRAPH, visible).labels_
        expected.append(np.mean(predicted[hidden] == labels[hidden]))
    np.testing.assert_allclose(found, expected)
    assert min(found) > 0.8


def test_no_fit_sees_a_hidden_label_or_a_part_of_the_graph() -> None:
    labels = partly(NAMES, None)
    Watched.seen.clear()
    cross_validate(Watched(), iso.WholeGraph(GRAPH), labels, cv=FOLDS)
    assert len(Watched.seen) == 3
    for (n_edges, seeds), (_, hidden) in zip(Watched.seen, FOLDS.split(labels), strict=True):
        assert n_edges == GRAPH.n_edges
        visible = {node for node in range(150) if labels[node]} - set(hidden.tolist())
        assert seeds == {node: labels[node] for node in visible}


@pytest.mark.parametrize("container", [np.asarray, list, pd.Series])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_search_finds_the_better_rule_and_fits_it_with_all_labels(container: Any, n_jobs: int | None) -> None:
    labels = partly(NAMES, None)
    search = GridSearchCV(iso.DirichletClassifier(), GRID, cv=FOLDS, scoring="f1_macro", n_jobs=n_jobs)
    search.fit(iso.WholeGraph(GRAPH), container(labels))
    expected = [
        iso.cross_val_score(iso.DirichletClassifier(rule), GRAPH, labels, split=FOLDS).mean() for rule in GRID["rule"]
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)
    whole = iso.DirichletClassifier(**search.best_params_).fit(GRAPH, labels)
    np.testing.assert_array_equal(search.best_estimator_.labels_, whole.labels_)
    np.testing.assert_array_equal(search.predict(iso.WholeGraph(GRAPH)), whole.labels_)


def test_any_kind_of_graph_and_any_splitter_if_all_labels_are_known() -> None:
    folds = KFold(4, shuffle=True, random_state=0)
    by_graph, by_matrix = (
        cross_validate(iso.DirichletClassifier(calibration=None), whole, NAMES, cv=folds, scoring="neg_log_loss")
        for whole in (iso.WholeGraph(GRAPH), iso.WholeGraph(GRAPH.adjacency))
    )
    np.testing.assert_array_equal(by_graph["test_score"], by_matrix["test_score"])
    expected = []
    for visible, hidden in folds.split(NAMES):
        clf = iso.DirichletClassifier(calibration=None).fit(GRAPH, {node: NAMES[node] for node in visible.tolist()})
        found = clf.predict_proba()[hidden, CODES[hidden]]
        expected.append(np.log(found).mean())
    np.testing.assert_allclose(by_graph["test_score"], expected)


def test_a_search_inside_cross_validation() -> None:
    search = GridSearchCV(iso.DirichletClassifier(), GRID, cv=FOLDS)
    scores = cross_val_score(search, iso.WholeGraph(GRAPH), partly(CODES, -1), cv=FOLDS)
    assert min(scores) > 0.8


def test_weights_of_seeds_follow_the_folds() -> None:
    weights = np.linspace(0.5, 2, 150)
    arguments: dict[str, Any] = {"cv": FOLDS, "params": {"seed_weight": weights}}
    found = cross_val_score(iso.DirichletClassifier(), iso.WholeGraph(GRAPH), CODES, **arguments)
    expected = [
        np.mean(iso.DirichletClassifier().fit(GRAPH, visible, seed_weight=weights).labels_[hidden] == CODES[hidden])
        for visible, hidden in FOLDS.split(CODES)
    ]
    np.testing.assert_allclose(found, expected)


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
@pytest.mark.parametrize("labels", [["a", "a", "a", "b", "b", "b", "b", "b"], [True] * 3 + [False] * 5])
def test_an_unreached_hidden_node_is_wrong_and_not_an_error(labels: list[Any]) -> None:
    """Two triangles and two lone nodes, which no fold reaches."""
    graph = iso.WholeGraph(iso.Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5], nodes=range(8)))
    folds = [(np.array([1, 2, 4, 5, 7]), np.array([0, 3, 6])), (np.array([0, 2, 3, 5, 6]), np.array([1, 4, 7]))]
    for scoring in (None, "accuracy"):
        scores = cross_val_score(iso.DirichletClassifier(), graph, labels, cv=folds, scoring=scoring)
        np.testing.assert_allclose(scores, [2 / 3, 2 / 3])


def test_labels_of_a_series_are_in_the_order_of_the_nodes() -> None:
    graph = iso.WholeGraph(GRAPH)
    series = pd.Series(NAMES, index=GRAPH.nodes)
    in_order = cross_val_score(iso.DirichletClassifier(), graph, series, cv=FOLDS)
    np.testing.assert_array_equal(in_order, cross_val_score(iso.DirichletClassifier(), graph, NAMES, cv=FOLDS))
    message = r"the index of the labels differs from graph.nodes.*pass labels.reindex\(graph.nodes\)"
    with pytest.raises(ValueError, match=message):
        cross_val_score(iso.DirichletClassifier(), graph, series[::-1], cv=FOLDS)
    with pytest.raises(ValueError, match=message):
        cross_val_score(iso.DirichletClassifier(), graph, series[::-1], cv=3, error_score="raise")


@pytest.mark.parametrize("cv", [None, 3, KFold(4, shuffle=True, random_state=0)])
@pytest.mark.parametrize("whole", [False, True])
def test_unknown_labels_are_not_scored_as_a_class(cv: Any, whole: bool) -> None:
    graph = iso.WholeGraph(GRAPH) if whole else GRAPH.adjacency
    for labels in (partly(CODES, -1), partly(np.array(NAMES, dtype=object), "")):
        given = np.array(labels, dtype=str) if labels.dtype == object else labels
        with pytest.raises(
            ValueError, match=r"score unknown labels as a class.*WholeGraph.*cv=isotherm\.LabelSplit\(5\)"
        ):
            cross_val_score(iso.DirichletClassifier(), graph, given, cv=cv)
        with pytest.raises(ValueError, match=r"cv=isotherm\.LabelSplit"):
            GridSearchCV(iso.DirichletClassifier(), GRID, cv=cv).fit(graph, given)


def test_a_matrix_that_is_cut_is_worth_a_warning() -> None:
    message = r"^scikit-learn has removed the hidden nodes of this fold.*WholeGraph.*cv=isotherm\.LabelSplit"
    with pytest.warns(iso.CutGraphWarning, match=message):
        GridSearchCV(iso.DirichletClassifier(), GRID, cv=3, refit=False).fit(GRAPH.adjacency, CODES)


def test_a_matrix_is_not_cut_if_labels_are_split() -> None:
    with pytest.raises(
        ValueError, match=r"remove the hidden nodes from this graph: pass isotherm\.WholeGraph\(graph\)"
    ):
        GridSearchCV(iso.DirichletClassifier(), GRID, cv=FOLDS).fit(GRAPH.adjacency, CODES)


def test_a_graph_of_its_own_inside_cross_validation_is_no_fold() -> None:
    class Wrapped(DummyClassifier):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            iso.DirichletClassifier().fit(GRAPH.adjacency, CODES)
            return super().fit(X, y)

    cross_val_score(Wrapped(), np.zeros((150, 2)), CODES, cv=3, error_score="raise")


def test_features_without_a_graph_are_split_alike() -> None:
    scores = cross_val_score(DummyClassifier(), np.zeros((150, 2)), partly(CODES, -1), cv=FOLDS)
    np.testing.assert_allclose(scores, 40 / 100, atol=0.05)  # 60 of 150 are in the largest class, two in three known


def test_sets_of_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="needs one label per node, not sets of labels"):
        cross_val_score(iso.DirichletClassifier(), iso.WholeGraph(GRAPH), np.eye(3)[CODES], cv=3, error_score="raise")


def test_another_graph_cannot_be_predicted() -> None:
    clf = iso.DirichletClassifier().fit(GRAPH, CODES)
    assert clf.predict(GRAPH).tolist() == clf.labels_.tolist()
    with pytest.raises(ValueError, match="this graph has 2 nodes, but the fit was on 150: call fit for another graph"):
        clf.predict(iso.WholeGraph(iso.Graph.from_edges([0], [1])))


def test_a_whole_graph_is_indexed_by_rows_and_columns() -> None:
    whole = iso.WholeGraph(GRAPH)
    assert repr(whole) == f"WholeGraph({GRAPH!r})"
    part = whole[np.ix_([5, 7], [1, 2, 3])]
    assert repr(part) == f"<2 nodes of {GRAPH!r}>"
    assert (len(part), part.shape, part.nodes.tolist()) == (2, (2, 3), [5, 7])
    with pytest.raises(TypeError, match="indexed by rows and columns"):
        whole[0]
