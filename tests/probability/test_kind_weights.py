"""Weights of kinds of edges, found by hidden seeds."""

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import triu

import isotherm as iso
from isotherm.arrays import Ints
from isotherm.choices import SideName
from isotherm.paper.block_model import stochastic_block_model
from isotherm.probability import kind_weights
from isotherm.probability.kind_weights import ALIKE, LEVELS, UNLIKE, _structure, _Trials
from isotherm.study.evaluation import evaluate

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.probability.calibration.CalibrationWarning")

SIZES = [100, 100, 100]
CLASSES = np.repeat(["red", "green", "blue"], SIZES)


def links(seed: int, *, useful: bool) -> Ints:
    """(2, m) the edges of a block model, or as many between random nodes."""
    found = triu(stochastic_block_model(SIZES, 0.06, 0.006, seed).adjacency, 1).tocoo()
    ends = np.stack([found.row, found.col])
    return ends if useful else np.random.default_rng(seed).integers(0, len(CLASSES), ends.shape)


def of_kinds(**parts: Ints) -> iso.Graph:
    kind = np.repeat(list(parts), [part.shape[1] for part in parts.values()])
    return iso.Graph.from_edges(*np.concatenate(list(parts.values()), axis=1), nodes=range(len(CLASSES)), kind=kind)


def known(count: int, seed: int = 0) -> dict[int, str]:
    """So many seeds of each class."""
    rng, first = np.random.default_rng(seed), np.cumsum([0, *SIZES])
    chosen = [first[place] + rng.choice(size, count, replace=False) for place, size in enumerate(SIZES)]
    return {int(node): str(CLASSES[node]) for node in np.concatenate(chosen)}


def accuracy(clf: iso.NodeClassifier) -> float:
    return float(np.mean(clf.labels_ == CLASSES))


GOOD, NOISE = links(0, useful=True), links(1, useful=False)


def test_structure_tells_a_useless_kind_where_heat_does_not() -> None:
    """Classes are hubs and leaves of stars in a ring: links join different classes, but degrees tell them apart."""
    n, rng = 40, np.random.default_rng(0)
    hubs = np.arange(n)
    stars = np.stack([np.repeat(hubs, 5), n + np.arange(5 * n)])
    good = np.concatenate([stars, [hubs, np.roll(hubs, 1)]], axis=1)
    noise = rng.integers(0, 6 * n, good.shape)
    kind = np.repeat(["good", "noise"], good.shape[1])
    graph = iso.Graph.from_edges(*np.concatenate([good, noise], axis=1), nodes=range(6 * n), kind=kind)
    seeds = {int(node): "hub" if node < n else "leaf" for node in rng.choice(6 * n, 60, replace=False)}
    found = iso.NodeClassifier().fit(graph, seeds).kind_weights_
    assert found["noise"] < found["good"] == 1


@pytest.mark.parametrize("count", [3, 10])
def test_a_useless_kind_hardly_counts(count: int) -> None:
    clf = iso.NodeClassifier().fit(of_kinds(good=GOOD, noise=NOISE), known(count))
    assert clf.kind_weights_["good"] == 1
    assert clf.kind_weights_["noise"] <= 0.1
    alone = iso.NodeClassifier().fit(of_kinds(good=GOOD).weigh_kinds(), known(count))
    alike = iso.NodeClassifier().fit(of_kinds(good=GOOD, noise=NOISE).weigh_kinds(), known(count))
    assert accuracy(clf) >= accuracy(alone) - 0.01 > accuracy(alike)


def test_random_edges_look_random_with_any_degrees() -> None:
    """Cliques keep much of random values, and edges between random nodes as much as shuffled ones do."""
    rng, n, m = np.random.default_rng(6), 2000, 10_000
    inside = rng.integers(0, 5, (2, m))
    ends = {
        "cliques": 5 * rng.integers(0, n // 5, (1, m)) + inside,
        "uniform": rng.integers(0, n, (2, m)),
        "hubs": (n * rng.random((2, m)) ** 1.5).astype(np.int64),
    }
    graph = iso.Graph.from_edges(*np.hstack(list(ends.values())), nodes=range(n), kind=np.repeat(list(ends), m))
    found = {name: _structure(iso.Graph(csr, graph.nodes), graph.weigh_kinds()) for name, csr in graph.kinds}
    assert found["cliques"] > 2 * UNLIKE
    assert max(found["uniform"], found["hubs"]) < ALIKE


def test_few_seeds_are_enough_where_a_kind_looks_random(monkeypatch: pytest.MonkeyPatch) -> None:
    """With two seeds of each class, hidden seeds hardly tell which kind joins cliques to a ring."""
    rng, cliques = np.random.default_rng(7), np.repeat(np.arange(80), 5)
    ring = 5 * np.stack([np.arange(80), np.roll(np.arange(80), 1)])
    good = np.hstack([np.stack(np.nonzero(np.triu(cliques[:, None] == cliques, 1))), ring])
    kind = np.repeat(["good", "noise"], good.shape[1])
    ends = np.hstack([good, rng.integers(0, 400, good.shape)])
    graph, seeds = iso.Graph.from_edges(*ends, nodes=range(400), kind=kind), {60: "a", 130: "a", 260: "b", 330: "b"}
    weights = iso.NodeClassifier().fit(graph, seeds).kind_weights_
    assert weights is not None
    assert weights["noise"] < 0.02
    monkeypatch.setattr(kind_weights, "RANDOM", 0.0)
    without = iso.NodeClassifier().fit(graph, seeds).kind_weights_
    assert without is not None
    assert without["noise"] > 0.1


def test_two_useful_kinds_are_better_than_one() -> None:
    graph = of_kinds(one=GOOD, two=links(2, useful=True), noise=NOISE)
    clf = iso.NodeClassifier().fit(graph, known(10))
    assert min(clf.kind_weights_["one"], clf.kind_weights_["two"]) >= 0.1
    assert clf.kind_weights_["noise"] <= 0.1
    assert accuracy(clf) > accuracy(iso.NodeClassifier().fit(of_kinds(one=GOOD).weigh_kinds(), known(10)))


def test_the_fit_is_one_on_the_weighed_graph(tmp_path: Path) -> None:
    """So labels, explanations, updates and saved models are those of a graph with these weights."""
    graph, seeds = of_kinds(good=GOOD, noise=NOISE), known(5)
    clf = iso.NodeClassifier().fit(graph, seeds)
    plain = iso.NodeClassifier().fit(graph.weigh_kinds(clf.kind_weights_), seeds)
    np.testing.assert_array_equal(clf.labels_, plain.labels_)
    np.testing.assert_allclose(clf.predict_proba(), plain.predict_proba(), atol=1e-12)
    assert clf.explain(1)["share"].sum() == pytest.approx(1)
    clf.save(tmp_path / "model.npz")
    again = iso.load(tmp_path / "model.npz")
    assert isinstance(again, iso.NodeClassifier)
    assert again.kind_weights_ == clf.kind_weights_
    clf.update({1: "red"})
    again.update({1: "red"})
    np.testing.assert_array_equal(again.labels_, clf.labels_)
    assert clf.kind_weights_ == again.kind_weights_ == plain.kind_weights_


def test_a_node_that_only_a_useless_kind_reaches_has_a_label() -> None:
    graph = of_kinds(good=GOOD[:, (GOOD != 7).all(axis=0)], noise=np.concatenate([NOISE, [[7], [8]]], axis=1))
    clf = iso.NodeClassifier().fit(graph, known(10))
    assert 0 < clf.kind_weights_["noise"] < 1
    assert clf.reached_.all()


def test_weights_do_not_depend_on_order_names_or_units() -> None:
    graph, seeds = of_kinds(good=GOOD, noise=NOISE), known(5)
    first = iso.NodeClassifier().fit(graph, seeds)
    rng = np.random.default_rng(5)
    places, lines = rng.permutation(len(CLASSES)), rng.permutation(GOOD.shape[1] + NOISE.shape[1])
    kinds = np.repeat(["z", "a"], [GOOD.shape[1], NOISE.shape[1]])[lines]
    ends = places[np.concatenate([GOOD, NOISE], axis=1)[:, lines]]
    weights = np.where(kinds == "a", 1000.0, 1.0)
    other = iso.Graph.from_edges(ends[0], ends[1], weights, nodes=range(len(CLASSES)), kind=kinds)
    second = iso.NodeClassifier().fit(other, {int(places[node]): label for node, label in seeds.items()})
    assert list(second.kind_weights_) == ["a", "z"]
    assert second.kind_weights_ == pytest.approx({"a": first.kind_weights_["noise"], "z": 1.0}, rel=0.02)
    np.testing.assert_array_equal(second.labels_[places], first.labels_)


def test_without_hidden_seeds_all_kinds_are_alike() -> None:
    clf = iso.NodeClassifier().fit(of_kinds(good=GOOD, noise=NOISE), known(1))
    assert clf.kind_weights_ == {"good": 1.0, "noise": 1.0}


def test_each_set_of_weights_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two kinds take seven trials: all alike, and each of them at each lower level."""
    tried, found = list[tuple[float, ...]](), _Trials._tried

    def noted(trials: _Trials, graph: iso.Graph) -> float:
        assert graph.kind_weights is not None
        tried.append(tuple(graph.kind_weights.values()))
        return found(trials, graph)

    monkeypatch.setattr(_Trials, "_tried", noted)
    iso.NodeClassifier().fit(of_kinds(good=GOOD, noise=NOISE), known(5))
    assert len(tried) == len(set(tried)) == 1 + 2 * (len(LEVELS) - 1)


def test_sets_of_labels_and_little_memory_are_refused() -> None:
    graph = of_kinds(good=GOOD, noise=NOISE)
    with pytest.raises(ValueError, match="cannot be weighed here, since nodes may have several labels"):
        iso.NodeClassifier().fit(graph, {0: {"red", "green"}, 150: {"blue"}})
    with pytest.raises(ValueError, match="cannot be weighed here, since not all scores are kept"):
        iso.NodeClassifier(max_memory=100).fit(graph, known(3))


def test_arcs_of_several_kinds() -> None:
    both = np.concatenate([GOOD, NOISE], axis=1)
    kind = np.repeat(["good", "noise"], [GOOD.shape[1], NOISE.shape[1]])
    graph = iso.Graph.from_edges(*both, nodes=range(len(CLASSES)), kind=kind, directed=True)
    sides: tuple[SideName, ...] = ("edges", "both")
    for side in sides:
        clf = iso.NodeClassifier(side=side).fit(graph, known(10))
        assert clf.graph_.directed
        assert clf.kind_weights_["noise"] <= 0.1


def test_evaluation_and_comparison_find_weights_too() -> None:
    graph, labels = of_kinds(good=GOOD, noise=NOISE), dict(enumerate(CLASSES.tolist()))
    found = evaluate(graph, labels, fraction=0.05, policy="balanced", runs=2, rules=["balanced", "centered"])
    alike = evaluate(
        graph.weigh_kinds(), labels, fraction=0.05, policy="balanced", runs=2, rules=["balanced", "centered"]
    )
    assert found.rules["balanced"].accuracy.mean() > alike.rules["balanced"].accuracy.mean() + 0.1
    np.testing.assert_array_equal(found.rules["centered"].accuracy, alike.rules["centered"].accuracy)
