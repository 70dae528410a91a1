"""Folds of labels on a whole graph, and the scores over them."""

from typing import Any, Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import isotherm as iso
from isotherm.graphs import Graph
from isotherm.paper.block_model import BlockModel
from isotherm.seeds import Seeds
from isotherm.study.splits import LabelSplit, cross_val_score, hidden_accuracy


class Neighbours(BaseEstimator):  # type: ignore[misc]
    """The most frequent visible label among the neighbours; unknown without any."""

    def fit(self, graph: Graph, labels: NDArray[Any]) -> Self:
        seeds = Seeds.from_labels(labels, graph)
        votes = graph.adjacency[:, seeds.nodes] @ seeds.values()
        self.labels_ = seeds.decode(np.where(votes.any(axis=1), votes.argmax(axis=1), -1))
        return self

    def predict(self) -> NDArray[Any]:
        return self.labels_


class Columns(Neighbours):
    """The most frequent visible label two steps away."""

    def fit(self, graph: Graph, labels: NDArray[Any]) -> Self:
        seeds = Seeds.from_labels(labels, graph)
        votes = graph.adjacency @ (graph.adjacency[:, seeds.nodes] @ seeds.values())
        self.labels_ = seeds.decode(votes.argmax(axis=1))
        return self


@pytest.fixture
def model() -> BlockModel:
    return BlockModel([40, 60, 50], [1, 1, 1], p=0.12, q=0.02)


labelled = st.lists(st.none() | st.sampled_from("abcd"), max_size=60).map(lambda labels: [*labels, *"aaaaaa"])


@given(labelled, st.integers(2, 6), st.booleans())
def test_every_label_is_hidden_once_unless_it_is_the_only_one(
    labels: list[str | None], n_splits: int, stratified: bool
) -> None:
    several = [place for place, label in enumerate(labels) if label and labels.count(label) > 1]
    folds = list(LabelSplit(n_splits, stratified=stratified, random_state=0).split(labels))
    assert sorted(np.concatenate([hidden for _, hidden in folds]).tolist()) == several
    assert np.ptp([len(hidden) for _, hidden in folds]) <= 1
    for visible, hidden in folds:
        assert (np.diff(hidden) > 0).all()
        assert visible.tolist() == [None if i in hidden else label for i, label in enumerate(labels)]


@given(labelled, st.integers(2, 6))
def test_stratified_folds_spread_each_class_and_hide_none_entirely(labels: list[str | None], n_splits: int) -> None:
    known = [label for label in labels if label]
    for visible, hidden in LabelSplit(n_splits, random_state=1).split(labels):
        assert set(visible) - {None} == set(known)
        for label in set(known):
            n_hidden = sum(labels[place] == label for place in hidden)
            assert known.count(label) == 1 or abs(n_hidden - known.count(label) / n_splits) < 1


def test_folds_without_strata_can_hide_a_class() -> None:
    labels = np.repeat([0, 1], [98, 2])
    visible = [
        np.unique(visible).tolist() for visible, _ in LabelSplit(2, stratified=False, random_state=0).split(labels)
    ]
    assert [-1, 0] in visible


def test_the_labels_given_are_left_alone() -> None:
    labels = np.array([0, 1, 0, 1, -1])
    folds = list(LabelSplit(2).split(labels))
    assert labels.tolist() == [0, 1, 0, 1, -1]
    assert all(visible.dtype == np.int64 for visible, _ in folds)


def test_the_state_decides_the_folds() -> None:
    labels = np.arange(100) % 3
    first, again, other = (
        np.concatenate([hidden for _, hidden in LabelSplit(4, random_state=state).split(labels)])
        for state in (5, np.random.default_rng(5), 6)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_folds_that_cannot_be_made_are_refused() -> None:
    with pytest.raises(ValueError, match="n_splits=1, but at least two folds are needed"):
        LabelSplit(1)
    with pytest.raises(ValueError, match="n_splits=5, but only 4 labels can be hidden"):
        next(LabelSplit(5).split(["a", "a", "b", "b", "c", None]))
    with pytest.raises(TypeError, match="labels must be an array or a list with one label per node"):
        next(LabelSplit(5).split({"ann": "a", "bob": "b"}))


def expected_scores(graph: Graph, labels: NDArray[Any], scoring: str) -> list[float]:
    scores = []
    for visible, hidden in LabelSplit(4, random_state=3).split(labels):
        truth, predicted = labels[hidden], Neighbours().fit(graph, visible).predict()[hidden]
        known = sorted({*truth, *predicted} - {-1})
        if scoring == "accuracy":
            scores.append(accuracy_score(truth, predicted))
        else:
            scores.append(f1_score(truth, predicted, labels=known, average=scoring.removesuffix("_f1")))
    return scores


@pytest.mark.parametrize("scoring", ["accuracy", "macro_f1", "micro_f1"])
def test_scores_are_those_of_scikit_learn(model: BlockModel, scoring: str) -> None:
    graph, labels = model.sample(0), model.labels()
    labels[::3] = -1
    scores = cross_val_score(Neighbours(), graph, labels, split=LabelSplit(4, random_state=3), scoring=scoring)
    np.testing.assert_allclose(scores, expected_scores(graph, labels, scoring))


def test_strings_mappings_and_integers_score_alike(model: BlockModel) -> None:
    graph, codes = model.sample(1), model.labels()
    names = np.array(["ann", "bob", "eve"], dtype=object)[codes]
    by_code = cross_val_score(Neighbours(), graph, codes)
    by_name = cross_val_score(Neighbours(), graph, names)
    by_node = cross_val_score(Neighbours(), graph, dict(enumerate(names)))
    assert by_code.shape == (5,)
    assert by_code.min() > 0.5
    np.testing.assert_array_equal(by_code, by_name)
    np.testing.assert_array_equal(by_code, by_node)


@pytest.mark.parametrize(("scoring", "score"), [("accuracy", 2 / 3), ("macro_f1", 5 / 6), ("micro_f1", 4 / 5)])
def test_an_unreached_node_counts_as_wrong(scoring: str, score: float) -> None:
    """Two triangles and two lone nodes: in each fold one lone node of class "b" is hidden, and gets no label."""
    graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5], nodes=range(8))
    labels = ["a", "a", "a", "b", "b", "b", "b", "b"]

    class OneLoneNode(LabelSplit):
        def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
            for hidden in ([0, 3, 6], [1, 4, 7]):
                visible = np.array(X, dtype=object)
                visible[hidden] = None
                yield visible, np.array(hidden)

    scores = cross_val_score(Neighbours(), graph, labels, split=OneLoneNode(), scoring=scoring)
    np.testing.assert_allclose(scores, [score, score])


def test_scoring_by_a_function_gets_labels(model: BlockModel) -> None:
    names = np.array(["ann", "bob", "eve"])[model.labels()]
    seen = []

    def share_of_ann(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
        seen.append(set(truth) | set(predicted))
        return float(np.mean(truth == "ann"))

    scores = cross_val_score(Neighbours(), model.sample(2), names, scoring=share_of_ann)
    np.testing.assert_allclose(scores, 40 / 150, atol=0.01)
    assert all(labels <= {"ann", "bob", "eve", None} for labels in seen)


def test_an_unknown_scoring_is_refused(model: BlockModel) -> None:
    with pytest.raises(ValueError, match="no scoring 'auc': choose one of accuracy, macro_f1, micro_f1"):
        cross_val_score(Neighbours(), model.sample(0), model.labels(), scoring="auc")


def test_the_estimator_is_cloned(model: BlockModel) -> None:
    estimator = Neighbours()
    cross_val_score(estimator, model.sample(0), model.labels())
    assert not hasattr(estimator, "labels_")


def test_labels_of_rows_are_scored_on_rows() -> None:
    graph = Graph.from_biadjacency(np.kron(np.eye(2), np.ones((6, 3))))
    labels = ["a"] * 6 + ["b"] * 6
    assert cross_val_score(Columns(), graph, labels, split=LabelSplit(3)).tolist() == [1, 1, 1]


def test_scikit_learn_gets_positions_of_visible_and_hidden_labels() -> None:
    labels = np.array([0, 1, -1, 0, 1, 0, 1, -1])
    split = LabelSplit(3, random_state=2)
    features = np.zeros((8, 2))
    assert split.get_n_splits(features, labels) == 3
    folds = list(split.split(features, labels, groups=None))
    for (train, test), (visible, hidden) in zip(folds, split.split(labels), strict=True):
        assert train.tolist() == np.flatnonzero(visible >= 0).tolist()
        assert test.tolist() == hidden.tolist()


def test_a_splitter_shows_its_parameters() -> None:
    assert repr(LabelSplit(3)) == "LabelSplit(3)"
    assert repr(LabelSplit(4, stratified=False, random_state=0)) == "LabelSplit(4, stratified=False, random_state=0)"


@pytest.mark.filterwarnings("ignore::isotherm.ScaleWarning")
def test_logistic_regression_alone_is_at_its_best() -> None:
    """Standardised, two columns that tell the classes drown in two hundred that do not."""
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=60)
    rows = np.hstack([rng.normal(size=(60, 2)) + 3 * codes[:, None], rng.normal(scale=0.05, size=(60, 200))])
    graph, known = Graph.from_vectors(rows, k=5), dict(enumerate(codes.tolist()))
    found = hidden_accuracy(iso.NodeClassifier().fit(graph, known), graph, rows, known)
    standardised = make_pipeline(StandardScaler(), LogisticRegression())
    assert found is not None
    assert found.hidden == 60
    assert found.logistic > 0.95 > (cross_val_predict(standardised, rows, codes) == codes).mean()
