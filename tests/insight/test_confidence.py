"""Confidence, sets and the choice of a rule, as users of the classifier meet them."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

import isotherm as iso
from isotherm.engines import LocalEngine
from isotherm.equilibrium.options import SolveOptions
from isotherm.labelling.rules import RULES
from isotherm.paper.block_model import stochastic_block_model
from isotherm.probability.hidden_seeds import hold_out
from isotherm.probability.node_features import Field, count_neighbours, effective_number
from isotherm.probability.trial import reliability
from isotherm.seeds import Seeds

Ints = NDArray[np.int64]


def block_model(sizes: list[int], degree: float, inside: float, seed: int = 0) -> tuple[iso.Graph, Ints]:
    """A graph of this mean degree, a share of it to the own block; and the blocks."""
    n, blocks = sum(sizes), len(sizes)
    p_in, p_out = degree * inside / (n / blocks), degree * (1 - inside) / (n * (1 - 1 / blocks))
    return stochastic_block_model(sizes, p_in, p_out, seed), np.repeat(np.arange(blocks), sizes)


def shown(truth: Ints, share: float, seed: int) -> Ints:
    """Labels of a share of the nodes, -1 elsewhere."""
    return np.where(np.random.default_rng(seed).random(len(truth)) < share, truth, -1)


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
@pytest.mark.parametrize(("classes", "directed"), [(2, False), (5, False), (5, True), (20, False)])
def test_confidence_is_calibrated_on_block_models(classes: int, directed: bool) -> None:
    graph, truth = block_model([6000 // classes] * classes, 10, 0.8)
    if directed:
        row, col = graph.adjacency.nonzero()
        graph = iso.Graph.from_edges(row[row < col], col[row < col], directed=True, nodes=range(len(truth)))
    known = shown(truth, 0.1, 0)
    clf = iso.DirichletClassifier().fit(graph, known)
    others = (known < 0) & clf.reached_
    right = (clf.labels_ == truth)[others]
    found = reliability(clf.confidence_[others], right)
    assert found.error < 0.03
    uncalibrated = iso.DirichletClassifier(calibration=None).fit(graph, known)
    assert reliability(uncalibrated.confidence_[others], right).error > 3 * found.error
    assert clf.calibration_ is not None
    assert clf.calibration_.n_held_out == pytest.approx(np.count_nonzero(known >= 0), rel=0.02)


def test_confidence_is_the_probability_of_the_label() -> None:
    graph, truth = block_model([900, 300, 100], 5, 0.7)
    known = shown(truth, 0.1, 1)
    with pytest.warns(iso.UnreachedWarning):
        clf = iso.DirichletClassifier().fit(graph, known)
    probabilities = clf.predict_proba()
    np.testing.assert_allclose(probabilities.sum(axis=1), clf.reached_)
    place = np.searchsorted(clf.classes_, clf.labels_[clf.reached_])
    np.testing.assert_array_equal(clf.confidence_[clf.reached_], probabilities[clf.reached_, place])
    np.testing.assert_array_equal(clf.confidence_[known >= 0], 1)
    np.testing.assert_array_equal(clf.confidence_[~clf.reached_], 0)
    with pytest.warns(iso.UnreachedWarning):
        plain = iso.DirichletClassifier(calibration=None).fit(graph, known)
    with pytest.warns(iso.UnreachedWarning):
        relative = iso.DirichletClassifier(rule="relative").fit(graph, known)
    assert (plain.rule_, plain.fitted_.obstacle) == ("relative", "probabilities are not calibrated")
    np.testing.assert_array_equal(plain.labels_, relative.labels_)


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
def test_sets_have_the_coverage_that_was_asked_for() -> None:
    graph, truth = block_model([400, 300, 200], 8, 0.7)
    covered, sizes = [], []
    for seed in range(30):
        known = shown(truth, 0.15, seed)
        clf = iso.DirichletClassifier().fit(graph, known)
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
    clf = iso.DirichletClassifier(rule="centered").fit(graph, shown(truth, 0.1, 0))
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
    clf = iso.DirichletClassifier().fit(graph, shown(truth, 0.1, 0))
    assert len(solves) == 4
    assert clf.confidence_.any()
    assert clf.predict_set().any()
    assert len(solves) == 4


def test_other_solvers_begin_at_the_present_temperatures(solves: list[tuple[SolveOptions, Any]]) -> None:
    graph, truth = block_model([300, 300], 12, 0.8)
    clf = iso.DirichletClassifier(solver="elimination").fit(graph, shown(truth, 0.1, 0))
    assert clf.confidence_.any()
    assert len(solves) == 4
    assert all(start is clf.temperatures_ for _, start in solves[1:])


def test_a_thousand_hidden_seeds_are_enough(solves: list[tuple[SolveOptions, Any]]) -> None:
    graph, truth = block_model([4000, 4000], 12, 0.8)
    for share, count in ((0.1, 3), (0.25, 2), (0.5, 1)):
        known = shown(truth, share, 0)
        solves.clear()
        clf = iso.DirichletClassifier().fit(graph, known)
        others = (known < 0) & clf.reached_
        right = clf.labels_[others] == truth[others]
        assert reliability(clf.confidence_[others], right).error < 0.03
        assert len(solves) == 1 + count


def test_the_choice_of_a_rule_and_confidence_share_their_solves(solves: list[tuple[SolveOptions, Any]]) -> None:
    graph, truth = block_model([1000, 1000], 12, 0.8)
    clf = iso.DirichletClassifier(rule="auto").fit(graph, shown(truth, 0.1, 0))
    assert len(solves) == 4
    clf.predict_set()
    assert len(solves) == 4
    assert set(clf.rule_report_) == set(RULES)
    assert clf.rule_ in RULES


def test_nothing_is_held_out_without_calibration(solves: list[tuple[SolveOptions, Any]]) -> None:
    graph, truth = block_model([1000, 1000], 12, 0.8)
    clf = iso.DirichletClassifier(calibration=None).fit(graph, shown(truth, 0.1, 0))
    clf.predict_proba()
    assert len(solves) == 1
    with pytest.raises(ValueError, match="calibration=None: set calibration='auto'"):
        clf.predict_set()


def test_so_many_sweeps_are_so_many_for_held_out_seeds_too(solves: list[tuple[SolveOptions, Any]]) -> None:
    graph, truth = block_model([1000, 1000], 12, 0.8)
    clf = iso.DirichletClassifier(solver="sweeps", tol=None, max_iter=10).fit(graph, shown(truth, 0.1, 0))
    clf.predict_proba()
    assert [(options.max_iter, start) for options, start in solves] == [(10, None)] * 4


@pytest.mark.parametrize(("seeds", "off"), [({0: "a", 5: "b"}, 0.2), ({0: "a", 1: "a", 5: "b"}, 0.4)])
@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
def test_few_seeds_give_the_shares_of_the_classes_and_a_warning(seeds: dict[int, str], off: float) -> None:
    path = iso.Graph.from_edges(range(5), range(1, 6))
    clf = iso.DirichletClassifier().fit(path, seeds)
    with pytest.warns(iso.CalibrationWarning, match=f"with {2 * (len(seeds) - 2)} held-out seeds"):
        probabilities = clf.predict_proba()
    shares = (clf.seeds_.counts + 1) / (len(seeds) + 2)
    assert np.abs(probabilities[2:5] - shares).max() < off
    assert (np.diff(probabilities[[2, 3, 4], 1]) > 0).all()  # closer to the seed of b
    with pytest.warns(iso.CalibrationWarning, match="too few for sets of coverage 0.9"):
        sets = clf.predict_set()
    assert sets[2:5].all()


@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
def test_a_class_with_a_single_seed_is_never_held_out_and_makes_sets_larger() -> None:
    graph, truth = block_model([1000, 1000], 12, 0.9)
    known = shown(truth, 0.1, 0)
    plain = iso.DirichletClassifier().fit(graph, known)
    lonely = known.copy()
    lonely[np.flatnonzero(known < 0)[:10]] = np.arange(2, 12)
    clf = iso.DirichletClassifier().fit(graph, lonely)
    assert clf.calibration_ is not None
    assert clf.calibration_.n_held_out == np.count_nonzero(known >= 0)
    assert np.count_nonzero(clf.calibration_.misfits == 1) == 10
    others = lonely < 0
    assert clf.predict_set()[others].sum() > plain.predict_set()[others].sum()
    assert clf.confidence_[others].mean() < plain.confidence_[others].mean()


def test_the_order_of_the_nodes_matters_little() -> None:
    """Other folds, other draws: probabilities differ as much as chance has it."""
    graph, truth = block_model([1000, 1000, 1000], 12, 0.7)
    known = shown(truth, 0.2, 0)
    order = np.random.default_rng(5).permutation(len(truth))
    moved = iso.Graph.from_scipy(graph.adjacency[order][:, order])
    one = iso.DirichletClassifier().fit(graph, known)
    other = iso.DirichletClassifier().fit(moved, known[order])
    assert np.abs(other.predict_proba() - one.predict_proba()[order]).mean() < 0.02


def test_hidden_seeds_are_no_more_like_the_others_than_chance_has_it() -> None:
    """Dealt by degree, three seeds that are next to each other in degree would always be in three folds."""
    hubs, n = np.repeat(np.arange(60), np.arange(60) + 1), 60 + 61 * 30
    graph = iso.Graph.from_edges(hubs, np.arange(60, n), nodes=range(n))
    seeds = iso.DirichletClassifier().fit(graph, {hub: hub % 2 for hub in range(60)}, evidence=None).seeds_
    field = Field(np.full((n, 2), 0.5), csr_array((n, 2)), np.ones(n))
    fold_of = {
        node: place for place, fold in enumerate(hold_out(seeds, graph, lambda _: field).folds) for node in fold.hidden
    }
    triples = [{fold_of[first + 2 * step] for step in range(3)} for first in range(56)]
    assert 4 <= sum(len(folds) == 3 for folds in triples) <= 25  # 2/9 of them by chance
    assert [list(fold_of.values()).count(fold) for fold in range(3)] == [20, 20, 20]


@pytest.mark.parametrize(("rare", "folds"), [(3, 3), (100, 1)])
def test_more_seeds_are_hidden_where_a_class_has_hardly_any(rare: int, folds: int) -> None:
    """One fold of 1,200 seeds tells how well most are found, but a single rare one tells nothing about the others."""
    n = 3600
    graph = iso.Graph.from_edges(np.arange(n), np.roll(np.arange(n), 1))
    seeds = iso.DirichletClassifier().fit(graph, dict(enumerate((np.arange(n) < rare).tolist())), evidence=None).seeds_
    solved = []

    def solve(rest: Seeds) -> Field:
        solved.append(rest)
        return Field(np.full((n, 2), 0.5), csr_array((n, 2)), np.ones(n))

    found = hold_out(seeds, graph, solve)
    assert len(solved) == folds
    assert np.count_nonzero(found.joined("codes")) == (3 if rare == 3 else 33)


def test_new_nodes_have_calibrated_probabilities() -> None:
    graph, truth = block_model([1000, 1000, 1000], 12, 0.8)
    known = shown(truth, 0.1, 0)
    clf = iso.DirichletClassifier(tol=1e-9).fit(graph, known, evidence=None)
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
    with pytest.raises(ValueError, match=r"rule='auto' needs all scores.*choose a rule, or raise max_memory"):
        iso.DirichletClassifier(max_memory=10_000, rule="auto").fit(path, seeds)


def test_neighbours_are_counted_by_their_weights() -> None:
    np.testing.assert_allclose(effective_number(np.array([0, 3, 3, 4]), np.array([2.0, 2.0, 2.0, 7.0])), [3, 0, 1])
    arcs = iso.Graph.from_edges([0, 0, 1], [1, 2, 2], directed=True)
    np.testing.assert_array_equal(count_neighbours(arcs, "source"), [2, 1, 0])
    np.testing.assert_array_equal(count_neighbours(arcs, "both"), [2, 2, 2])
    weighted = iso.Graph.from_edges([0, 0], [1, 2], weight=[1, 3])
    np.testing.assert_allclose(count_neighbours(weighted, "both"), [16 / 10, 1, 1])


def test_an_update_keeps_what_held_out_seeds_told_until_many_have_changed() -> None:
    rng = np.random.default_rng(0)
    blocks = np.repeat(np.arange(3), 200)
    chance = np.where(blocks[:, None] == blocks, 0.05, 0.005)
    upper = np.triu(rng.random((600, 600)) < chance, 1)
    graph = iso.Graph.from_scipy(csr_array((upper | upper.T).astype(float)))
    order = rng.permutation(600)
    first = {int(node): int(blocks[node]) for node in order[:90]}
    clf = iso.DirichletClassifier().fit(graph, first, evidence=None)
    learnt = clf.calibration_
    for node in order[90:94].tolist():  # fewer than one in twenty
        clf.update({node: int(blocks[node])})
        np.testing.assert_array_equal(clf.calibration_.slopes, learnt.slopes)
    np.testing.assert_allclose(clf.calibration_.shares, (clf.seeds_.counts + 1) / (94 + 3))
    np.testing.assert_allclose(clf.calibration_.mean, clf.temperatures_.mean(axis=0), rtol=1e-5)
    known = {int(node): int(blocks[node]) for node in order[:94]}
    again = iso.DirichletClassifier().fit(graph, known, evidence=None)
    np.testing.assert_allclose(clf.predict_proba(), again.predict_proba(), atol=0.1)  # with other folds
    assert np.mean(clf.labels_ == again.labels_) >= 0.97
    clf.update({int(order[94]): int(blocks[order[94]])})  # the fifth of ninety
    fresh = iso.DirichletClassifier().fit(graph, known | {int(order[94]): int(blocks[order[94]])}, evidence=None)
    np.testing.assert_allclose(clf.calibration_.slopes, fresh.calibration_.slopes, rtol=0.05, atol=0.01)
    assert not np.allclose(clf.calibration_.slopes, learnt.slopes)
