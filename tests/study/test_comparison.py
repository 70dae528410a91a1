"""Methods that are compared: draws, answers and scores, against independent ones."""

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score

import isotherm as iso
from isotherm.paper.block_model import stochastic_block_model
from isotherm.seeds.hiding import sample_per_class, sample_two_classes
from isotherm.study import methods, peers
from isotherm.study.comparison import Curve, _draws, compare
from isotherm.study.methods import METHODS, Method
from isotherm.study.scores import Answer, answer, score
from isotherm.study.tasks import PROTOCOLS, Draw, Task, draw_seeds

SIZES = [60, 40, 20]


@pytest.fixture(scope="module")
def task() -> Task:
    return blocks(SIZES)


def blocks(sizes: list[int]) -> Task:
    """Three blocks with features that tell them apart, and an isolated node."""
    graph = stochastic_block_model(sizes, 0.2, 0.01, 0)
    truth = np.append(np.repeat(np.arange(3), sizes), 0)
    adjacency, n = csr_array(graph.adjacency), len(truth)
    adjacency.resize((n, n))
    rng = np.random.default_rng(1)
    features = csr_array(rng.random((n, 8)) * (rng.random((n, 8)) < 0.3) + np.eye(8)[truth])
    return Task(iso.Graph.from_scipy(adjacency), truth, features)


@pytest.fixture(scope="module")
def larger() -> Task:
    return blocks([240, 160, 80])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_draw_shows_only_seeds(task: Task, protocol: str) -> None:
    draw, again = (draw_seeds(task, PROTOCOLS[protocol], [5, 0]) for _ in range(2))
    np.testing.assert_array_equal(draw.seeds, again.seeds)
    assert not draw.scored[draw.seeds].any()
    np.testing.assert_array_equal(draw.known[draw.seeds], task.truth[draw.seeds])
    assert (np.delete(draw.known, draw.seeds) == -1).all()
    assert draw.scored.sum() == 121 - len(draw.seeds)
    assert not draw.reached[120] or 120 in draw.seeds


def test_guesses_at_unreached_nodes_count_as_wrong_unless_there_is_other_evidence(task: Task) -> None:
    draw = Draw.of(task, np.array([0, 60, 100]))
    labels = task.truth.copy()
    labels[5] = 2
    found = score(draw, Answer(labels))
    truth, counted = task.truth[draw.scored], np.where(draw.reached, labels, -1)[draw.scored]
    assert found.accuracy == pytest.approx(accuracy_score(truth, counted)) == pytest.approx(116 / 118)
    assert found.macro_f1 == pytest.approx(f1_score(truth, counted, average="macro", labels=[0, 1, 2]))
    assert found.guessed == pytest.approx(117 / 118)
    assert found.unlabelled == pytest.approx(1 / 118)
    assert np.isnan([found.calibration_error, found.coverage]).all()
    assert score(draw, Answer(labels, beyond_links=True)).accuracy == pytest.approx(117 / 118)


def test_calibration_and_coverage_of_an_answer(task: Task) -> None:
    draw = Draw.of(task, np.array([0, 60, 100]))
    sets = np.zeros((121, 3), dtype=bool)
    sets[:, 0] = True
    sets[60:, 1] = True
    found = score(draw, Answer(task.truth, np.full(121, 0.9), sets))
    assert found.calibration_error == pytest.approx(0.1)
    assert found.coverage == pytest.approx((59 + 39) / 117)
    assert found.set_size == pytest.approx((59 + 2 * 58) / 117)


def test_an_answer_is_the_largest_value_of_a_row() -> None:
    values = np.array([[0.2, 0.8], [0.0, 0.0], [np.nan, np.nan], [-1.0, -2.0], [-np.inf, -3.0]])
    found = answer(np.array([4, 7]), values)
    assert found.labels.tolist() == [7, -1, -1, 4, 7]


def test_label_spreading_is_that_of_a_dense_solve(task: Task) -> None:
    draw = draw_seeds(task, PROTOCOLS["5%"], [1, 0])
    dense = task.matrix.toarray()
    root = np.diag(1 / np.sqrt(np.maximum(dense.sum(axis=1), 1e-9)))
    start = np.eye(3)[np.maximum(draw.known, 0)] * (draw.known >= 0)[:, None]
    exact = np.linalg.solve(np.eye(121) - 0.8 * root @ dense @ root, start)
    found = peers.label_spreading(task, draw).labels
    np.testing.assert_array_equal(found[draw.reached], exact.argmax(axis=1)[draw.reached])


def test_regression_through_the_seeds_is_that_of_scikit_learn(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "TOLERANCE", 1e-9)
    draw = draw_seeds(task, partial(sample_per_class, size=6), [1, 0])
    rows = peers.unit_features(task).toarray()
    model = LogisticRegression(C=peers.PENALTIES["features"], max_iter=5000, tol=1e-9)
    model.fit(rows[draw.seeds], draw.known[draw.seeds])
    found = peers.feature_regression(task, draw)
    assert found.confidence is not None
    np.testing.assert_allclose(found.confidence, model.predict_proba(rows).max(axis=1), atol=1e-3)
    assert np.mean(found.labels == model.predict(rows)) > 0.98


def test_hops_are_features_and_their_means_over_neighbours(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "TOLERANCE", 1e-9)
    draw = draw_seeds(task, partial(sample_per_class, size=6), [1, 0])
    rows, dense = peers.unit_features(task).toarray(), task.matrix.toarray()
    mean = dense / np.maximum(dense.sum(axis=1, keepdims=True), 1)
    blocks = [rows, mean @ rows, mean @ mean @ rows]
    lengths = [np.linalg.norm(block, axis=1, keepdims=True) for block in blocks]
    joined = np.hstack([block / np.where(size > 0, size, 1) for block, size in zip(blocks, lengths, strict=True)])
    model = LogisticRegression(C=peers.PENALTIES["hops"], max_iter=5000, tol=1e-9)
    model.fit(joined[draw.seeds], draw.known[draw.seeds])
    found = peers.hop_probabilities(task, draw)
    np.testing.assert_allclose(found, model.predict_proba(joined), atol=1e-3)


def test_isotherm_is_the_classifier_itself(task: Task) -> None:
    draw = draw_seeds(task, partial(sample_per_class, size=3), [1, 0])
    with pytest.warns(iso.UnreachedWarning):
        clf = iso.DirichletClassifier(rule="relative").fit(task.graph, draw.known)
    found = methods.by_rule(task, draw, rule="relative", sets=True)
    np.testing.assert_array_equal(found.labels, clf.labels_)
    assert found.sets is not None
    assert found.sets.shape == (121, 3)
    np.testing.assert_array_equal(methods.most_probable(task, draw).labels == -1, ~clf.reached_)


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].installed])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning", "ignore::FutureWarning")
def test_every_method_finds_blocks(larger: Task, name: str) -> None:
    draw = draw_seeds(larger, partial(sample_per_class, size=8), [1, 0])
    found = score(draw, METHODS[name].run(larger, draw))
    least = {"scikit-network propagation": 0.3, "scikit-network nearest neighbours": 0.5, "spectral + regression": 0.6}
    assert found.accuracy > least.get(name, 0.8)  # the largest block has half of the nodes


def test_poisson_learning_gets_each_connected_part() -> None:
    pytest.importorskip("graphlearning")
    path = [(i, i + 1) for i in range(9)] + [(20, 21), (22, 23)]
    graph = iso.Graph.from_edges(*zip(*path, strict=True), nodes=range(24))
    task = Task(graph, np.where(np.arange(24) < 5, 0, 1))
    draw = Draw.of(task, np.array([0, 9, 20]))
    found = peers.graph_learning(task, draw, "poisson").labels
    assert found[[1, 8, 21]].tolist() == [0, 1, 1]
    assert found[[12, 22]].tolist() == [-1, -1]


def test_compare_scores_every_method_on_the_same_draws(larger: Task) -> None:
    found = compare(larger.graph, larger.truth, fraction=0.1, runs=2, peers=False, random_state=3)
    draws = [draw_seeds(larger, partial(sample_two_classes, size=0.1), [3, run]) for run in range(2)]
    expected = [score(draw, methods.by_rule(larger, draw)) for draw in draws]
    np.testing.assert_allclose(found.methods["Isotherm"].accuracy, [each.accuracy for each in expected])
    np.testing.assert_allclose(found.curve.macro_f1[-1], [each.macro_f1 for each in expected])
    assert found.curve.seeds.tolist() == [3, 6, 12, 24, 48]
    assert set(found.left_out.values()) == {"needs features"}


def test_a_smaller_draw_of_the_curve_is_part_of_the_larger(task: Task) -> None:
    *smaller, largest = _draws(task, 0.4, 2, 0)
    for draws in smaller:
        for small, large in zip(draws, largest, strict=True):
            assert set(small.seeds) < set(large.seeds)
            np.testing.assert_array_equal(small.scored, large.scored)


@pytest.mark.parametrize(
    ("before", "after", "advice"),
    [
        ([0.3, 0.7], [0.7, 0.75], "too few draws or labels to tell"),
        ([0.500, 0.501], [0.503, 0.501], "more labels may not help much"),
        ([0.50, 0.51], [0.60, 0.61], "the next one should add about as much"),
        ([0.5], [0.5], "more labels may not help much"),
    ],
)
def test_advice_follows_from_the_gain_and_its_error(before: list[float], after: list[float], advice: str) -> None:
    scores = np.array([before, after])
    assert advice in Curve("Isotherm", np.array([10, 20]), scores, scores).advice


def test_a_peer_that_fails_is_left_out(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(task: Task, draw: Draw) -> Answer:
        raise ValueError("no luck")

    monkeypatch.setitem(METHODS, "label spreading", Method("label spreading", fail))
    found = compare(task.graph, task.truth, runs=1)
    assert found.left_out["label spreading"] == "failed: no luck"
    assert found.best in found.methods


def test_features_of_zeros_only_give_the_shares(task: Task) -> None:
    blank = Task(task.graph, task.truth, csr_array((121, 8)))
    draw = draw_seeds(blank, PROTOCOLS["5%"], [1, 0])
    assert len(np.unique(peers.feature_regression(blank, draw).labels)) == 1
