"""Known class sizes: factors against alternating scaling, and fits whose means match."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import isotherm as iso
from isotherm.choices import DecisionName
from isotherm.paper.block_model import stochastic_block_model
from isotherm.probability.class_sizes import resized, size_factors
from isotherm.seeds import Seeds

quiet = pytest.mark.filterwarnings(
    "ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning", "ignore::isotherm.CalibrationWarning"
)
pytestmark = quiet
SIZES = (400, 150, 50)
SHARES = {"a": 400 / 600, "b": 150 / 600, "c": 50 / 600}


def world() -> tuple[iso.Graph, dict[int, str], NDArray[Any]]:
    """A block model, five seeds of each class, and the classes of all nodes."""
    truth = np.repeat(np.array(["a", "b", "c"], dtype=object), SIZES)
    rng = np.random.default_rng(0)
    seeds = np.concatenate([rng.choice(np.flatnonzero(truth == each), 5, replace=False) for each in "abc"])
    return stochastic_block_model(SIZES, 0.03, 0.008, 3), {int(node): truth[node] for node in seeds}, truth


def scaled_in_turn(chances: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale columns and rows in turn until both sums are right (Sinkhorn and Knopp 1967)."""
    found = chances / chances.sum(axis=1, keepdims=True)
    for _ in range(20_000):
        found = found * (sizes / found.mean(axis=0))
        found /= found.sum(axis=1, keepdims=True)
    return found


@pytest.mark.parametrize("sharpness", [0.3, 3.0])
def test_factors_are_those_of_alternating_scaling(sharpness: float) -> None:
    rng = np.random.default_rng(1)
    chances = np.exp(sharpness * rng.normal(size=(200, 4)))
    chances /= chances.sum(axis=1, keepdims=True)
    sizes = np.array([0.05, 0.15, 0.3, 0.5])
    no_seeds = Seeds(np.empty(0, np.int64), np.empty(0, np.int64), np.arange(4))
    found = resized(chances, size_factors(chances, dict(enumerate(sizes)), no_seeds))
    np.testing.assert_allclose(found.mean(axis=0), sizes, atol=1e-8)
    np.testing.assert_allclose(found, scaled_in_turn(chances, sizes), atol=1e-6)


@pytest.mark.parametrize("decision", ["balanced", "probable"])
def test_means_are_the_known_sizes(decision: DecisionName) -> None:
    graph, seeds, _ = world()
    clf = iso.NodeClassifier(decision, class_sizes=SHARES).fit(graph, seeds)
    chances = clf.predict_proba()
    known = chances.any(axis=1)
    np.testing.assert_allclose(chances[known].mean(axis=0), list(SHARES.values()), atol=1e-6)
    places = clf.graph_.index(list(seeds))
    assert (chances[places].max(axis=1) == 1).all()
    assert (clf.labels_[places] == list(seeds.values())).all()


def test_classes_that_are_not_named_share_the_rest_in_proportion() -> None:
    graph, seeds, _ = world()
    plain = iso.NodeClassifier().fit(graph, seeds).predict_proba()
    found = iso.NodeClassifier(class_sizes={"c": 0.05}).fit(graph, seeds).predict_proba()
    known = plain.any(axis=1)
    assert found[known, 2].mean() == pytest.approx(0.05, abs=1e-6)
    free = known & (plain.max(axis=1) < 1)
    np.testing.assert_allclose(found[free, 0] / found[free, 1], plain[free, 0] / plain[free, 1])


def test_new_nodes_follow_the_sizes_too() -> None:
    graph, seeds, _ = world()
    rows = graph.adjacency[:50]
    plain, sized = (iso.NodeClassifier(class_sizes=sizes).fit(graph, seeds) for sizes in (None, {"a": 0.9}))
    before, after = (clf.predict_proba(rows) for clf in (plain, sized))
    factors = sized.fitted_.one_label("factors").factors
    np.testing.assert_allclose(after, resized(before, factors))
    assert after[:, 0].mean() > before[:, 0].mean()
    assert sized.predict_set().shape == (600, 3)


def test_sizes_are_saved_and_kept_by_update(tmp_path: Path) -> None:
    graph, seeds, truth = world()
    clf = iso.NodeClassifier(class_sizes=SHARES).fit(graph, seeds)
    clf.save(tmp_path / "model.npz")
    again = iso.load(tmp_path / "model.npz")
    assert again.get_params()["class_sizes"] == SHARES
    rows = graph.adjacency[:9]
    np.testing.assert_allclose(again.predict_proba(rows), clf.predict_proba(rows))
    node = next(node for node in range(600) if node not in seeds)
    for each in (clf, again):
        chances = each.update(add={node: truth[node]}).predict_proba()
        np.testing.assert_allclose(chances[chances.any(axis=1)].mean(axis=0), list(SHARES.values()), atol=1e-6)


def test_tables_have_sizes_too() -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(180, 2)), rng.normal(size=(20, 2)) + 2])
    labels = np.full(200, -1)
    labels[[0, 1, 2, 180, 181, 182]] = [0, 0, 0, 1, 1, 1]
    clf = iso.VectorClassifier(class_sizes={1: 0.1}).fit(rows, labels)
    assert clf.predict_proba()[:, 1].mean() == pytest.approx(0.1, abs=1e-6)
    assert clf.on_graph().class_sizes == {1: 0.1}


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ({"fraud": 0.1}, "class_sizes has the label 'fraud', which no seed has: use labels of seeds"),
        ({"a": 0.5, "b": 0.2, "c": 0.2}, "its shares add up to 0.9: make them add up to 1, or leave out one"),
        ({"a": 0.7, "b": 0.4}, "the shares in class_sizes add up to 1.1, which leaves nothing for other classes"),
        ({"c": 0.001}, "by class_sizes, 0.001 of the nodes have the class 'c', but more are seeds of it: correct it"),
        ({"a": 0.0}, "but it must be None, or a mapping of labels to shares above 0 and at most 1"),
        ({"a": 2}, "but it must be None, or a mapping of labels to shares above 0 and at most 1"),
        ([0.1], "but it must be None, or a mapping of labels to shares above 0 and at most 1"),
    ],
)
def test_bad_sizes_are_refused(sizes: Any, sentence: str) -> None:
    graph, seeds, _ = world()
    with pytest.raises(ValueError, match=sentence):
        iso.NodeClassifier(class_sizes=sizes).fit(graph, seeds)


def test_sizes_are_refused_where_there_are_no_probabilities() -> None:
    graph, seeds, _ = world()
    with pytest.raises(ValueError, match="class_sizes needs probabilities, but there are none, since not all scores"):
        iso.NodeClassifier(class_sizes=SHARES, max_memory=100).fit(graph, seeds)
    sets = {node: {label} for node, label in seeds.items()}
    with pytest.raises(ValueError, match="class_sizes needs probabilities, but there are none, since nodes may have"):
        iso.NodeClassifier(class_sizes={"a": 0.5}).fit(graph, sets)
