"""The four rules, against their definitions."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import Problem, problems
from sklearn.metrics import f1_score

from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem as Stated
from isotherm.equilibrium.problem import solve
from isotherm.errors import ParameterError
from isotherm.graphs import Graph
from isotherm.labelling.rules import (
    DECISIONS,
    FLOOR,
    RULES,
    Balanced,
    FittedDecision,
    class_factors,
    expected_scores,
    f1_of_totals,
)
from isotherm.paper.block_model import BlockModel
from isotherm.seeds import Seeds
from isotherm.study.scores import accuracy, macro_f1

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")

NONE = np.empty(0, np.int64), np.full(2, 0.5)  # no seeds, equal shares
T = np.array([[1, 0], [0.3, 0.7], [np.nan, np.nan], [0.2, 0.8], [0, 1]])


def scores(rule: str, temperatures: Any, seeds: Any = NONE[0], shares: Any = NONE[1]) -> Any:
    return RULES[rule].scores_of(temperatures, seeds, shares)


def solved(graph: Graph, nodes: Any, values: Any, tol: float) -> Any:
    return solve(Stated.of(graph, nodes, values), SolveOptions(tol=tol)).temperatures


def test_vanilla_leaves_temperatures_alone() -> None:
    np.testing.assert_array_equal(scores("vanilla", T), T)


def test_centered_subtracts_the_mean_over_reached_nodes() -> None:
    np.testing.assert_allclose(scores("centered", T), T - [0.375, 0.625])


def test_relative_divides_by_the_mean_over_reached_nodes() -> None:
    np.testing.assert_allclose(scores("relative", T), T / [0.375, 0.625])


def test_weighted_gives_each_class_its_share_of_the_mass_outside_the_seeds() -> None:
    found = scores("weighted", T, np.array([0, 4]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(found, T * [0.5 / 0.5, 0.5 / 1.5])
    outside = np.delete(scores("weighted", T, np.array([0, 4]), np.array([0.9, 0.1])), [0, 2, 4], axis=0)
    np.testing.assert_allclose(outside.sum(axis=0), [0.9, 0.1])


def test_weighted_with_a_class_that_warms_no_other_node() -> None:
    temperatures = np.array([[1.0, 0], [0, 1], [0, 1]])
    found = scores("weighted", temperatures, np.array([0, 1]), np.array([0.5, 0.5]))
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found.argmax(axis=1), [0, 1, 1])


def test_means_of_float32_are_taken_in_float64() -> None:
    temperatures = np.tile(np.array([[0.1, 0.9]], dtype=np.float32), (3_000_000, 1))
    np.testing.assert_allclose(scores("centered", temperatures)[0], 0, atol=1e-8)


@given(problems())
def test_for_two_classes_the_threshold_is_the_mean_or_one_half(problem: Problem) -> None:
    binary = np.eye(2)[problem.codes % 2]
    hot = solved(problem.graph, problem.nodes, binary, 1e-10)
    gap = hot[:, 1] - np.nanmean(hot[:, 1])
    clear = np.abs(gap) > 1e-8
    np.testing.assert_array_equal(scores("centered", hot)[clear].argmax(axis=1), gap[clear] > 0)
    clear = np.abs(hot[:, 1] - 0.5) > 1e-8
    np.testing.assert_array_equal(scores("vanilla", hot)[clear].argmax(axis=1), hot[clear, 1] > 0.5)


@given(problems())
def test_no_rule_takes_a_seed_its_label(problem: Problem) -> None:
    seeds = Seeds.from_labels(problem.labels, problem.graph)
    temperatures = solved(problem.graph, seeds.nodes, seeds.values(), 1e-6)
    for rule in RULES.values():
        np.testing.assert_array_equal(rule.scores(temperatures, seeds)[seeds.nodes].argmax(axis=1), seeds.codes)


@given(
    st.lists(st.tuples(st.integers(2, 12), st.integers(1, 12)), min_size=2, max_size=5),
    st.floats(0.05, 1),
    st.floats(0.01, 0.9),
)
def test_theorem_1_for_centered_and_relative_and_the_condition_for_vanilla(
    blocks: list[tuple[int, int]], p: float, share: float
) -> None:
    sizes, counts = [size for size, _ in blocks], [min(size, count) for size, count in blocks]
    model = BlockModel(sizes, counts, p, share * p)
    values = np.eye(len(sizes))[model.labels()[model.seed_nodes()]]
    found = solved(Graph.from_scipy(model.adjacency()), model.seed_nodes(), values, 1e-10)
    others = np.setdiff1d(np.arange(len(found)), model.seed_nodes())
    truth = model.labels()[others]
    for rule in ("centered", "relative"):
        np.testing.assert_array_equal(scores(rule, found)[others].argmax(axis=1), truth)
    decided = np.abs(model.vanilla_margin())[truth] > 1e-9
    right = found[others].argmax(axis=1) == truth
    np.testing.assert_array_equal(right[decided], model.vanilla_correct()[truth][decided])


def test_expected_scores_are_the_mean_over_draws_of_the_truth() -> None:
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet([2, 1, 1], size=400)
    codes = probabilities.argmax(axis=1)
    drawn = [(probabilities.cumsum(axis=1) < rng.random((400, 1))).sum(axis=1) for _ in range(300)]
    seen = np.mean([(accuracy(truth, codes), macro_f1(truth, codes)) for truth in drawn], axis=0)
    np.testing.assert_allclose(expected_scores(probabilities, codes), seen, atol=0.005)


@pytest.mark.parametrize("certainty", [1.2, 3.0])
def test_with_two_classes_balanced_is_never_far_from_the_best(certainty: float) -> None:
    """A rare class that is hard to find is favoured, one that is easy to find is not."""
    rng, share = np.random.default_rng(1), np.array([0.93, 0.07])
    truth = (rng.random(20_000) < share[1]).astype(np.int64)
    logits = np.log(share[1] / share[0]) + certainty * (certainty * (truth - 0.5) + rng.normal(size=len(truth)))
    chance = 1 / (1 + np.exp(-logits))  # of the rare class, as Bayes has it
    probabilities, rule = np.stack([1 - chance, chance], axis=1), Balanced()
    mean = rule.tempered(share, probabilities[::10])
    found = [rule.scores(probabilities, share ** (power / rule.POWER)).argmax(axis=1) for power in rule.POWERS]
    scores = [accuracy(truth, codes) + macro_f1(truth, codes) for codes in found]
    chosen = rule.scores(probabilities, mean).argmax(axis=1)
    assert accuracy(truth, chosen) + macro_f1(truth, chosen) > max(scores) - 0.01
    assert (mean[1] < 0.5) == (certainty < 2)
    assert rule.tempered(np.full(3, 1 / 3), np.eye(3)).tolist() == [1 / 3] * 3, "with more classes it stays"


@pytest.mark.parametrize("n_classes", [2, 3, 58])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_label_is_absurd(n_classes: int, weighted: bool) -> None:
    """Rare classes are favoured, but only where they are about as probable as the most probable one."""
    rng = np.random.default_rng(n_classes)
    chances = rng.dirichlet(np.full(n_classes, 0.5), 2000)
    mean = rng.dirichlet(np.full(n_classes, 0.3)) + 1e-6
    weights = rng.uniform(0.2, 5, n_classes) if weighted else None
    scores = Balanced().scores(chances, mean, weights)
    np.testing.assert_allclose(scores.sum(axis=1), 1)
    costs = chances if weights is None else chances * weights
    best = scores.argmax(axis=1)
    share = costs[np.arange(2000), best] / costs.max(axis=1)
    assert share.min() >= FLOOR * (1 - 1e-12)
    assert np.count_nonzero(share < 1) > 50
    unbounded = (costs * Balanced().factors(mean)).argmax(axis=1)
    possible = costs[np.arange(2000), unbounded] >= costs.max(axis=1)
    np.testing.assert_array_equal(best[possible], unbounded[possible])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_for_any_errors_within_those_of_the_temperatures(rule: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, errors = rng.uniform(0.1, 1, (12, 3)), rng.uniform(0, 0.05, (12, 3))
    is_seed, shares = np.arange(12) < 3, np.array([0.5, 0.3, 0.2])
    found, bounds = RULES[rule].bounds(x, errors, is_seed, shares)
    np.testing.assert_allclose(found, scores(rule, x, np.arange(3), shares))
    largest = np.zeros_like(bounds)
    for signs in rng.choice([-1.0, 1.0], (200, 12, 3)):
        moved = scores(rule, x + signs * errors, np.arange(3), shares)
        largest = np.maximum(largest, np.abs(moved - found))
    assert (largest <= bounds + 1e-12).all()
    assert bounds.max() < 20 * largest.max()


def test_where_errors_may_be_all_of_the_mass_there_is_no_bound() -> None:
    x, errors = np.array([[0.1, 0.9], [0.0, 1.0]]), np.array([[0.1, 0.1], [0.0, 0.1]])
    for rule in ("relative", "weighted"):
        _, bounds = RULES[rule].bounds(x, errors, np.zeros(2, bool), np.array([0.5, 0.5]))
        assert np.isinf(bounds[:, 0]).all()
        assert np.isfinite(bounds[:, 1]).all()


def test_thresholds_of_labels() -> None:
    mean, shares = np.array([0.1, 0.5, 0.0, 1.0, 0.3, 0.3]), np.array([0.2, 0.5, 0.2, 0.2, 0.0, 1.0])
    assert RULES["vanilla"].thresholds(mean, shares).tolist() == [0.5] * 6
    for rule in ("centered", "relative"):
        assert RULES[rule].thresholds(mean, shares).tolist() == [0.1, 0.5, 0.5, 0.5, 0.5, 0.5]
    found = RULES["weighted"].thresholds(mean, shares)
    assert found[1:].tolist() == [0.5] * 5
    own, other = found[0] * 0.2 / 0.1, (1 - found[0]) * 0.8 / 0.9  # scores of the label and of its complement
    assert own == pytest.approx(other)


def test_f1_of_totals_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    truth, predicted = rng.integers(0, 4, (2, 200))
    hits = np.bincount(truth[truth == predicted], minlength=5)
    total = np.bincount(truth, minlength=5) + np.bincount(predicted, minlength=5)  # the fifth class does not occur
    expected = [f1_score(truth, predicted, average=average) for average in ("macro", "micro")]
    np.testing.assert_allclose(f1_of_totals(hits, total), expected)


def test_weights_of_classes() -> None:
    graph = Graph.from_edges([0, 1], [1, 2])
    seeds = Seeds.from_labels({0: "a", 2: "b"}, graph)
    found = class_factors({"b": 3}, seeds)
    assert found is not None
    assert found.dtype == np.float64, "the kernels take no integers"
    assert found.tolist() == [1, 3]
    assert class_factors(None, seeds) is None
    with pytest.raises(ParameterError, match="class_weight has the label 'c', which no seed has"):
        class_factors({"c": 2}, seeds)


def test_a_decision_says_why_a_label_is_not_the_most_probable_class() -> None:
    mean = np.array([0.5, 0.5])
    assert FittedDecision(Balanced(), mean, None).reason == "the decision balanced favours rare classes"
    by_weight = FittedDecision(DECISIONS["probable"], mean, np.array([1.0, 2])).reason
    assert by_weight == "the decision probable favours no class, and class_weight others"
    assert [repr(Balanced()), repr(RULES["centered"])] == ["<Decision: balanced>", "<Rule: centered>"]
