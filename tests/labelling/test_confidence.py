"""Confidence and prediction sets, as users of both classifiers meet them."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

import isotherm as iso
from isotherm.choices import RuleName
from isotherm.engines import LocalEngine
from isotherm.equilibrium.options import SolveOptions
from isotherm.labelling.rules import DECISIONS, RULES
from isotherm.node_classifier import classifier_by
from isotherm.paper.block_model import stochastic_block_model
from isotherm.probability.trial import reliability

Ints = NDArray[np.int64]
Kind = type[iso.NodeClassifier] | type[iso.DirichletClassifier]
KINDS: list[Kind] = [iso.NodeClassifier, iso.DirichletClassifier]


def block_model(sizes: list[int], degree: float, inside: float, seed: int = 0) -> tuple[iso.Graph, Ints]:
    """A graph of this mean degree, a share of it to the own block; and the blocks."""
    n, blocks = sum(sizes), len(sizes)
    p_in, p_out = degree * inside / (n / blocks), degree * (1 - inside) / (n * (1 - 1 / blocks))
    return stochastic_block_model(sizes, p_in, p_out, seed), np.repeat(np.arange(blocks), sizes)


def shown(truth: Ints, share: float, seed: int) -> Ints:
    """Labels of a share of the nodes, -1 elsewhere."""
    return np.where(np.random.default_rng(seed).random(len(truth)) < share, truth, -1)


def heat_alone(kind: Kind) -> dict[str, Any]:
    """What to pass to `fit`, so that nothing but heat counts."""
    return {"evidence": None} if kind is iso.NodeClassifier else {}


@pytest.fixture
def solves(monkeypatch: pytest.MonkeyPatch) -> list[tuple[SolveOptions, Any]]:
    """The options and starts of all solves."""
    seen = []
    solve = LocalEngine.solve

    def counted(self: LocalEngine, problem: Any, options: SolveOptions, *, start: Any = None) -> Any:
        seen.append((options, start))
        return solve(problem, options, start=start)

    monkeypatch.setattr(LocalEngine, "solve", counted)
    return seen


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("classes", "directed"), [(2, False), (5, False), (5, True), (20, False)])
def test_confidence_is_calibrated_on_block_models(kind: Kind, classes: int, directed: bool) -> None:
    graph, truth = block_model([6000 // classes] * classes, 10, 0.8)
    if directed:
        row, col = graph.adjacency.nonzero()
        graph = iso.Graph.from_edges(row[row < col], col[row < col], directed=True, nodes=range(len(truth)))
    known = shown(truth, 0.1, 0)
    clf = kind(side="edges" if kind is iso.NodeClassifier else "both").fit(graph, known)
    others = (known < 0) & clf.reached_
    found = reliability(clf.confidence_[others], (clf.labels_ == truth)[others])
    assert found.error < 0.03
    uncalibrated = iso.DirichletClassifier("relative", calibration=None, side=clf.side).fit(graph, known)
    right = (uncalibrated.labels_ == truth)[others]
    assert reliability(uncalibrated.confidence_[others], right).error > 3 * found.error
    assert clf.calibration_ is not None
    assert clf.calibration_.n_held_out == pytest.approx(np.count_nonzero(known >= 0), rel=0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_confidence_is_the_probability_of_the_label(kind: Kind) -> None:
    graph, truth = block_model([900, 300, 100], 5, 0.7)
    known = shown(truth, 0.1, 1)
    with pytest.warns(iso.UnreachedWarning):
        clf = kind().fit(graph, known)
    probabilities = clf.predict_proba()
    np.testing.assert_allclose(probabilities.sum(axis=1), clf.reached_)
    place = np.searchsorted(clf.classes_, clf.labels_[clf.reached_])
    np.testing.assert_array_equal(clf.confidence_[clf.reached_], probabilities[clf.reached_, place])
    np.testing.assert_array_equal(clf.confidence_[known >= 0], 1)
    np.testing.assert_array_equal(clf.confidence_[~clf.reached_], 0)


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
@pytest.mark.parametrize("rule", [*RULES, *DECISIONS])
def test_confidence_never_changes_labels(rule: RuleName) -> None:
    """Whether it is asked for, calibrated, or left out."""
    graph, truth = block_model([900, 300, 100], 5, 0.7)
    known = shown(truth, 0.1, 1)
    clf = classifier_by(rule).fit(graph, known)
    before, scores = clf.labels_.copy(), clf.scores_.copy()
    assert clf.confidence_.any()
    assert clf.predict_set().any()
    np.testing.assert_array_equal(clf.labels_, before)
    np.testing.assert_array_equal(clf.scores_, scores)
    if rule in RULES:
        plain = iso.DirichletClassifier(rule, calibration=None).fit(graph, known)
        assert plain.confidence_.any()
        np.testing.assert_array_equal(plain.labels_, before)


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_sets_have_the_coverage_that_was_asked_for(kind: Kind) -> None:
    graph, truth = block_model([400, 300, 200], 8, 0.7)
    covered, sizes = [], []
    for seed in range(30):
        known = shown(truth, 0.15, seed)
        clf = kind().fit(graph, known)
        others = (known < 0) & clf.reached_
        sets = clf.predict_set(coverage=0.9)
        covered.append(sets[others, truth[others]].mean())
        sizes.append(sets[others].sum(axis=1).mean())
        assert sets[~clf.reached_].all()
        np.testing.assert_array_equal(sets[known >= 0].nonzero()[1], truth[known >= 0])
    assert 0.88 < np.mean(covered) < 0.93
    assert np.mean(sizes) < 2


def test_a_fit_costs_one_solve_and_confidence_three(solves: list[tuple[SolveOptions, Any]]) -> None:
    graph, truth = block_model([1000, 1000], 12, 0.8)
    clf = iso.DirichletClassifier().fit(graph, shown(truth, 0.1, 0))
    assert len(solves) == 1
    first = clf.confidence_
    assert len(solves) == 4
    assert all((options.max_iter or 1000) < clf.solution_.iterations for options, _ in solves[1:])
    np.testing.assert_array_equal(clf.confidence_, first)
    clf.predict_proba()
    clf.predict_set()
    assert len(solves) == 4
    clf.fit(graph, shown(truth, 0.1, 1))
    assert len(solves) == 5
    assert not np.array_equal(clf.confidence_, first)


def test_labels_by_probabilities_share_their_solves_with_confidence(solves: list[tuple[SolveOptions, Any]]) -> None:
    graph, truth = block_model([1000, 1000], 12, 0.8)
    clf = iso.NodeClassifier().fit(graph, shown(truth, 0.1, 0))
    assert len(solves) == 4
    assert clf.confidence_.any()
    assert clf.predict_set().any()
    assert len(solves) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_hidden_seeds_are_enough(kind: Kind, solves: list[tuple[SolveOptions, Any]]) -> None:
    graph, truth = block_model([4000, 4000], 12, 0.8)
    for share, count in ((0.1, 3), (0.25, 2), (0.5, 1)):
        known = shown(truth, share, 0)
        solves.clear()
        clf = kind().fit(graph, known)
        others = (known < 0) & clf.reached_
        right = clf.labels_[others] == truth[others]
        assert reliability(clf.confidence_[others], right).error < 0.03
        assert len(solves) == 1 + count


def test_nothing_is_hidden_without_calibration(solves: list[tuple[SolveOptions, Any]]) -> None:
    graph, truth = block_model([1000, 1000], 12, 0.8)
    clf = iso.DirichletClassifier(calibration=None).fit(graph, shown(truth, 0.1, 0))
    clf.predict_proba()
    assert len(solves) == 1
    with pytest.raises(ValueError, match="calibration=None: set calibration='auto'"):
        clf.predict_set()


def test_so_many_sweeps_are_so_many_for_hidden_seeds_too(solves: list[tuple[SolveOptions, Any]]) -> None:
    graph, truth = block_model([1000, 1000], 12, 0.8)
    clf = iso.DirichletClassifier(solver="sweeps", tol=None, max_iter=10).fit(graph, shown(truth, 0.1, 0))
    clf.predict_proba()
    assert [(options.max_iter, start) for options, start in solves] == [(10, None)] * 4


@pytest.mark.parametrize(("seeds", "off"), [({0: "a", 5: "b"}, 0.2), ({0: "a", 1: "a", 5: "b"}, 0.4)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
def test_few_seeds_give_the_shares_of_the_classes_and_a_warning(kind: Kind, seeds: dict[int, str], off: float) -> None:
    path = iso.Graph.from_edges(range(5), range(1, 6))
    clf = kind().fit(path, seeds)
    with pytest.warns(iso.CalibrationWarning, match=f"with {2 * (len(seeds) - 2)} hidden seeds"):
        probabilities = clf.predict_proba()
    shares = (clf.seeds_.counts + 1) / (len(seeds) + 2)
    assert np.abs(probabilities[2:5] - shares).max() < off
    assert (np.diff(probabilities[[2, 3, 4], 1]) > 0).all()  # closer to the seed of b
    with pytest.warns(iso.CalibrationWarning, match="too few for sets of coverage 0.9"):
        sets = clf.predict_set()
    assert sets[2:5].all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
def test_a_class_with_a_single_seed_is_never_hidden_and_makes_sets_larger(kind: Kind) -> None:
    graph, truth = block_model([1000, 1000], 12, 0.9)
    known = shown(truth, 0.1, 0)
    plain = kind().fit(graph, known)
    lonely = known.copy()
    lonely[np.flatnonzero(known < 0)[:10]] = np.arange(2, 12)
    clf = kind().fit(graph, lonely)
    assert clf.calibration_ is not None
    assert clf.calibration_.n_held_out == np.count_nonzero(known >= 0)
    assert np.count_nonzero(clf.calibration_.misfits == 1) == 10
    others = lonely < 0
    assert clf.predict_set()[others].sum() > plain.predict_set()[others].sum()
    assert clf.confidence_[others].mean() < plain.confidence_[others].mean()


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_nodes_matters_little(kind: Kind) -> None:
    """Other folds, other draws: probabilities differ as much as chance has it."""
    graph, truth = block_model([1000, 1000, 1000], 12, 0.7)
    known = shown(truth, 0.2, 0)
    order = np.random.default_rng(5).permutation(len(truth))
    moved = iso.Graph.from_scipy(graph.adjacency[order][:, order])
    one = kind().fit(graph, known)
    other = kind().fit(moved, known[order])
    assert np.abs(other.predict_proba() - one.predict_proba()[order]).mean() < 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_new_nodes_have_calibrated_probabilities(kind: Kind) -> None:
    graph, truth = block_model([1000, 1000, 1000], 12, 0.8)
    known = shown(truth, 0.1, 0)
    clf = kind(tol=1e-9).fit(graph, known, **heat_alone(kind))
    others = np.flatnonzero(known < 0)
    found = clf.predict_proba(graph.adjacency[others])
    np.testing.assert_allclose(found, clf.predict_proba()[others], atol=1e-5)
    np.testing.assert_array_equal(clf.predict_proba(np.zeros((1, len(truth)))), np.zeros((1, 3)))


def test_many_classes_have_no_probabilities_and_say_so() -> None:
    path = iso.Graph.from_edges(range(99), range(1, 100))
    seeds = {10 * k: f"class {k}" for k in range(10)}
    clf = iso.DirichletClassifier(max_memory=10_000).fit(path, seeds)
    assert clf.confidence_.shape == (100,)
    calls = (clf.predict_proba, clf.predict_set, lambda: clf.calibration_, lambda: clf.certified_)
    for call in calls:
        with pytest.raises(AttributeError, match=r"\w+ was not kept, since all scores would take.*or raise max_memory"):
            call()


def test_an_update_keeps_what_hidden_seeds_taught_until_many_have_changed() -> None:
    rng = np.random.default_rng(0)
    blocks = np.repeat(np.arange(3), 200)
    chance = np.where(blocks[:, None] == blocks, 0.05, 0.005)
    upper = np.triu(rng.random((600, 600)) < chance, 1)
    graph = iso.Graph.from_scipy(csr_array((upper | upper.T).astype(float)))
    order = rng.permutation(600)
    first = {int(node): int(blocks[node]) for node in order[:90]}
    clf = iso.NodeClassifier().fit(graph, first, evidence=None)
    learnt = clf.fitted_.calibration
    for node in order[90:94].tolist():  # fewer than one in twenty
        clf.update({node: int(blocks[node])})
        np.testing.assert_array_equal(clf.fitted_.calibration.slopes, learnt.slopes)
    np.testing.assert_allclose(clf.fitted_.calibration.shares, (clf.seeds_.counts + 1) / (94 + 3))
    np.testing.assert_allclose(clf.fitted_.calibration.mean, clf.temperatures_.mean(axis=0), rtol=1e-5)
    known = {int(node): int(blocks[node]) for node in order[:94]}
    again = iso.NodeClassifier().fit(graph, known, evidence=None)
    np.testing.assert_allclose(clf.predict_proba(), again.predict_proba(), atol=0.1)  # with other folds
    assert np.mean(clf.labels_ == again.labels_) >= 0.97
    clf.update({int(order[94]): int(blocks[order[94]])})  # the fifth of ninety
    fresh = iso.NodeClassifier().fit(graph, known | {int(order[94]): int(blocks[order[94]])}, evidence=None)
    np.testing.assert_allclose(clf.fitted_.calibration.slopes, fresh.fitted_.calibration.slopes, rtol=0.05, atol=0.01)
    assert not np.allclose(clf.fitted_.calibration.slopes, learnt.slopes)
