"""The classifier for tables: scikit-learn's contract, new rows, pipelines, the place of LabelSpreading."""

import pickle
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.utils.estimator_checks import parametrize_with_checks

import isotherm as iso

EXPECTED_FAILURES = {
    "check_classifiers_classes": "it uses -1 as a label, which here means unknown",
}
QUIET = (
    "ignore::isotherm.UnreachedWarning",
    "ignore::isotherm.RareClassWarning",
    "ignore::isotherm.CalibrationWarning",
    "ignore::isotherm.LabelWarning",
    "ignore::isotherm.ScaleWarning",
)
pytestmark = pytest.mark.filterwarnings(*QUIET)


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [iso.VectorClassifier()], expected_failed_checks=lambda _: EXPECTED_FAILURES
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def test_parameters_and_defaults_are_those_of_the_node_classifier() -> None:
    ours, theirs = (signature(kind).parameters for kind in (iso.VectorClassifier, iso.NodeClassifier))
    assert list(ours)[-len(theirs) :] == list(theirs)
    assert all(ours[name].default == theirs[name].default for name in theirs)


def few(y: NDArray[Any], per_class: int, seed: int = 0) -> NDArray[Any]:
    """The same labels, all but a few of each class unknown."""
    rng = np.random.default_rng(seed)
    known = np.concatenate([rng.choice(np.flatnonzero(y == c), per_class, replace=False) for c in np.unique(y)])
    shown = np.full_like(y, -1)
    shown[known] = y[known]
    return shown


@pytest.fixture(scope="module")
def digits() -> tuple[NDArray[Any], NDArray[Any]]:
    X, y = load_digits(return_X_y=True)
    return X, y


def test_it_takes_the_place_of_label_spreading(digits: tuple[NDArray[Any], NDArray[Any]]) -> None:
    X, y = digits
    shown = few(y, 5)
    hidden = shown == -1
    found = {}
    for name, clf in {"ours": iso.VectorClassifier(), "theirs": LabelSpreading(kernel="knn", n_neighbors=10)}.items():
        clf.fit(X, shown)
        found[name] = np.mean(clf.transduction_[hidden] == y[hidden])
    assert found["ours"] > found["theirs"] - 0.02
    assert found["ours"] > 0.93


def test_new_rows_are_labelled_as_if_they_had_been_in_the_table(digits: tuple[NDArray[Any], NDArray[Any]]) -> None:
    right = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(digits[1]))
        X, y = (part[order] for part in digits)
        shown = few(y[:1300], 5, seed)
        clf = iso.VectorClassifier().fit(X[:1300], shown)
        whole = iso.VectorClassifier().fit(X, np.append(shown, np.full(len(y) - 1300, -1)))
        new, refitted = clf.predict(X[1300:]), whole.labels_[1300:]
        right.append([np.mean(labels == y[1300:]) for labels in (new, refitted)])
    new_right, refitted_right = np.mean(right, axis=0)
    assert new_right > refitted_right - 0.02
    np.testing.assert_allclose(clf.predict_proba(X[1300:]).sum(axis=1), 1)


@pytest.mark.parametrize(
    ("load", "labels"), [(load_wine, 2), (load_wine, 20), (load_digits, 20), (load_breast_cancer, 2)]
)
def test_columns_are_evidence_beside_the_graph(load: Callable[..., Any], labels: int) -> None:
    """Regression on columns is better than the graph on wine with 20 labels of each class, the graph elsewhere."""
    X, y = load(return_X_y=True)
    X = X if load is load_digits else StandardScaler().fit_transform(X)
    right = []
    for seed in range(4 if labels > 2 else 10):
        shown = few(y, labels, seed)
        hidden = shown == -1
        both = iso.VectorClassifier().fit(X, shown)
        graph = iso.VectorClassifier().fit(X, shown, evidence=None)
        columns = LogisticRegression(max_iter=1000).fit(X[~hidden], y[~hidden])
        found = (both.labels_, graph.labels_, columns.predict(X))
        right.append([np.mean(guess[hidden] == y[hidden]) for guess in found])
    together, by_graph, by_columns = np.mean(right, axis=0)
    assert together > max(by_graph, by_columns) - 0.01
    if (load, labels) != (load_wine, 20):  # both are nearly as good there
        assert together > min(by_graph, by_columns) + 0.01
    assert set(both.experts_) == {"heat", "features", "neighbours", "majority", "second round"}
    assert graph.experts_ == {"heat": 1.0}


def test_where_no_label_can_be_hidden_the_majority_helps_the_heat(digits: tuple[NDArray[Any], NDArray[Any]]) -> None:
    X, y = digits
    wrong = []
    for seed in range(5):
        shown = few(y, 1, seed)
        helped = iso.VectorClassifier().fit(X, shown)
        alone = iso.DirichletClassifier("relative").fit(helped.graph_, shown)
        wrong.append([np.mean(clf.labels_ != y) for clf in (helped, alone)])
        assert [name for name, weight in helped.experts_.items() if weight] == ["heat", "majority"]
    helped_wrong, alone_wrong = np.mean(wrong, axis=0)
    assert helped_wrong < alone_wrong - 0.005


def test_one_class_needs_no_majority(digits: tuple[NDArray[Any], NDArray[Any]]) -> None:
    clf = iso.VectorClassifier().fit(digits[0][:50], {0: "only"})
    assert set(clf.labels_) == {"only"}
    assert clf.rule_ == "balanced"


def test_a_row_of_the_table_keeps_its_label(digits: tuple[NDArray[Any], NDArray[Any]]) -> None:
    X, y = digits
    shown = few(y, 3)
    clf = iso.VectorClassifier().fit(X, shown)
    np.testing.assert_array_equal(clf.predict(), clf.labels_)
    again = clf.predict(X)
    np.testing.assert_array_equal(again[shown >= 0], shown[shown >= 0])
    assert np.mean(again == clf.labels_) > 0.99  # what experts say about a new row is a mean over its neighbours
    by_heat = iso.DirichletClassifier().fit(clf.graph_, shown)
    np.testing.assert_array_equal(by_heat.predict(clf.neighbours_.to_new(X, 1)), by_heat.labels_)


def test_it_works_in_a_pipeline_and_can_be_cloned() -> None:
    X, y = load_wine(return_X_y=True)
    pipeline = clone(make_pipeline(StandardScaler(), iso.VectorClassifier(k=7)))
    shown = few(y, 5)
    pipeline.fit(X, shown)
    scaled = iso.VectorClassifier(k=7, scale=True).fit(X, shown)
    np.testing.assert_array_equal(pipeline[-1].labels_, scaled.labels_)
    assert pipeline.score(X, y) > 0.9
    with pytest.warns(iso.ScaleWarning, match="scale=True"):
        raw = iso.VectorClassifier(k=7).fit(X, shown)
    assert np.mean(raw.labels_ == y) < np.mean(scaled.labels_ == y)


def test_labels_may_be_texts_or_come_by_row_number() -> None:
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    texts = iso.VectorClassifier(k=1).fit(X, ["low", None, None, "high"])
    assert texts.labels_.tolist() == ["low", "low", "high", "high"]
    numbered = iso.VectorClassifier(k=1).fit(X, {0: "low", 3: "high"})
    assert numbered.predict([[3.0], [12.0]]).tolist() == ["low", "high"]


def test_a_series_follows_the_index_of_the_table() -> None:
    X = pd.DataFrame({"a": [0.0, 1.0, 10.0, 11.0]}, index=list("wxyz"))
    seeds = pd.Series(["high", "low"], index=["z", "w"])
    clf = iso.VectorClassifier(k=1).fit(X, seeds)
    assert clf.labels_.tolist() == ["low", "low", "high", "high"]
    assert clf.feature_names_in_.tolist() == ["a"]
    by_order = pd.Series(["low", None, None, "high"], index=[5, 6, 7, 8])
    assert iso.VectorClassifier(k=1).fit(X.to_numpy(), by_order).labels_.tolist() == ["low", "low", "high", "high"]


def test_rows_of_a_data_frame_have_the_ids_of_its_index() -> None:
    X = pd.DataFrame([[0, 0], [0, 1], [1, 0], [9, 9], [9, 8], [8, 9]], index=range(1, 7))
    clf = iso.VectorClassifier(k=2).fit(X, {3: "lo", 4: "hi"})
    assert clf.labels_.tolist() == ["lo"] * 3 + ["hi"] * 3
    assert clf.graph_.nodes.tolist() == list(range(1, 7))
    assert clf.explain(6).node == 6
    by_position = ["lo", None, None, None, None, "hi"]
    assert iso.VectorClassifier(k=2).fit(X, by_position).labels_.tolist() == clf.labels_.tolist()
    dates = X.set_index(pd.date_range("2026-01-01", periods=6))
    assert iso.VectorClassifier(k=2).fit(dates, by_position).graph_.nodes.tolist() == list(range(6))
    for table in (dates, X.set_index(pd.Index([1, 1, 2, 3, 4, 5]))):
        with pytest.raises(ValueError, match="index of the data frame must be distinct ints or texts, since labels"):
            iso.VectorClassifier(k=2).fit(table, {3: "lo", 4: "hi"})


def test_a_matrix_with_names_gives_the_ids_of_the_nodes() -> None:
    rod = np.diag([1, 1, 0.1, 1], 1)
    names = range(1, 6)
    matrix = pd.DataFrame(rod + rod.T, index=names, columns=[str(name) for name in names])  # as read_csv reads it
    seeds = {1: "a", 4: "b"}
    clf = iso.NodeClassifier().fit(matrix, seeds)
    assert clf.graph_.nodes.tolist() == [1, 2, 3, 4, 5]
    assert clf.labels_.tolist() == ["a", "a", "a", "b", "b"]
    array = iso.NodeClassifier().fit(matrix, ["a", None, None, "b", None])
    np.testing.assert_array_equal(array.labels_, clf.labels_)
    with pytest.raises(ValueError, match="the index of the data frame and its columns must have the same ids"):
        iso.NodeClassifier().fit(matrix.set_axis(list("abcde"), axis=1), seeds)


def test_cross_validation_of_a_data_frame_goes_by_position() -> None:
    X, y = load_digits(return_X_y=True, as_frame=True)
    chosen = X.sample(300, random_state=0)
    clf = iso.VectorClassifier(k=5)
    found = cross_val_score(clf, chosen, y[chosen.index], cv=3)
    np.testing.assert_array_equal(found, cross_val_score(clf, chosen.to_numpy(), y[chosen.index].to_numpy(), cv=3))


def test_an_unreached_row_has_no_label() -> None:
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    clf = iso.VectorClassifier(k=1).fit(X, [0, -1, -1, -1])
    assert clf.labels_.tolist() == [0, 0, -1, -1]
    assert clf.predict([[0.2], [10.5]]).tolist() == [0, -1]


def test_copies_of_a_seed_have_its_label() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([np.zeros((200, 2)), rng.standard_normal((100, 2)) + 4])
    y = np.full(300, -1)
    y[[150, 250]] = [0, 1]
    clf = iso.VectorClassifier().fit(X, y)
    assert (clf.labels_[:200] == 0).all()
    assert clf.predict([[0.0, 0.0]]).tolist() == [0]


def test_it_can_be_pickled_and_saved_without_its_table(tmp_path: Path) -> None:
    X, y = load_wine(return_X_y=True)
    clf = iso.VectorClassifier(scale=True).fit(X, few(y, 5))
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict(X + 0.01), clf.predict(X + 0.01))
    clf.save(tmp_path / "model.npz")
    loaded = iso.load(tmp_path / "model.npz")
    assert type(loaded) is iso.NodeClassifier
    np.testing.assert_array_equal(loaded.labels_, clf.labels_)
    np.testing.assert_allclose(loaded.explain(3)["share"], clf.explain(3)["share"])


def test_seeds_can_be_changed() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    clf = iso.VectorClassifier(k=1).fit(X, [0, -1, -1, -1, 1])
    clf.update(add={3: 0})
    assert clf.labels_.tolist()[:4] == [0, 0, 0, 0]
    assert clf.n_features_in_ == 1
    assert clf.predict([[0.1]]).tolist() == [0]


@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_the_place_of_a_missing_value_is_told(value: float, name: str) -> None:
    X = np.zeros((6, 3))
    X[4, 1] = value
    with pytest.raises(ValueError, match=f"row 4 has {name} in column 1: replace such values"):
        iso.VectorClassifier().fit(X, [0, 1, -1, -1, -1, -1])
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    for use in (
        lambda: iso.VectorClassifier().fit(frame, [0, 1, -1, -1, -1, -1]),
        lambda: iso.Graph.from_vectors(frame),
    ):
        with pytest.raises(ValueError, match=f"row 4 has {name} in column 'y': replace such values"):
            use()
