"""The weights of experts, and what is kept after a change of the seeds."""

from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

import isotherm as iso
from isotherm.equilibrium.options import SolveOptions
from isotherm.probability.calibration import Calibrated
from isotherm.probability.combination import BLIND, combine, log_odds, prior_weights
from isotherm.probability.evidence import Evidence
from isotherm.probability.experts.spectral import Structure
from isotherm.probability.hidden_seeds import Fold, HiddenSeeds
from isotherm.probability.learning import FEW_CHANGES, Learnt, Panel, learn
from isotherm.probability.node_features import FeatureField
from isotherm.probability.trial import Trial
from isotherm.seeds import Seeds

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")


def test_weights_are_those_that_the_classes_were_drawn_by() -> None:
    rng = np.random.default_rng(2)
    shares = np.array([0.5, 0.3, 0.2])
    odds = [rng.normal(size=(4000, 3)) for _ in range(3)]
    true = np.array([1.4, 0.0, 0.6])
    chances = softmax(np.log(shares) + sum(w * each for w, each in zip(true, odds, strict=True)), axis=1)
    codes = (rng.random((4000, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    found = combine(("a", "b", "c"), odds, codes, shares, np.full(3, 0.5))
    np.testing.assert_allclose(found.weights, true, atol=0.1)
    np.testing.assert_allclose(found.probabilities(odds), chances, atol=0.05)


def test_no_opinion_is_no_evidence() -> None:
    shares = np.array([0.7, 0.3])
    np.testing.assert_allclose(log_odds(np.log([[np.nan, np.nan], [0.7, 0.3]]), shares), 0, atol=1e-12)


def test_prior_weights() -> None:
    names = ("heat", "features", "majority", "neighbours")
    np.testing.assert_array_equal(prior_weights(names, Evidence(), blind=False), [0.5, 0.25, 0.5, 0.5])
    table = Evidence.of_table(np.zeros((3, 1)))
    np.testing.assert_array_equal(prior_weights(names, table, blind=False), [0.5, 0.25, 0.75, 0.25])
    np.testing.assert_array_equal(prior_weights(names, table, blind=True), [BLIND["heat"], 0, BLIND["majority"], 0])
    structural = prior_weights(("heat", "spectrum", "degree"), Evidence(), blind=True)
    np.testing.assert_array_equal(structural, [1, 0, 0])


def seeds_in(world: Any) -> tuple[iso.Graph, Seeds]:
    graph, _, _, known = world
    return graph, Seeds.from_labels(known, graph)


def solver_on(graph: iso.Graph) -> Any:
    def solve(seeds: Seeds) -> FeatureField:
        values = np.full((graph.n_nodes, seeds.n_classes), np.nan)
        values[seeds.nodes] = seeds.values()
        return FeatureField.of(graph, seeds, iso.solve_dirichlet(graph, values), "edges")

    return solve


def test_a_panel_is_weighed_by_what_its_experts_say_about_hidden_seeds(world: Any) -> None:
    """An expert that knows the classes gets a large weight, one that knows nothing a small one."""
    graph, seeds = seeds_in(world)
    truth, shares = world[1], seeds.smoothed_shares
    right = np.where(truth[:, None] == np.arange(3), 0.9, 0.05)
    wrong = np.random.default_rng(0).permutation(right)
    folds = [np.arange(len(seeds.nodes))[first::3] for first in range(3)]
    order = np.concatenate(folds)
    fold = np.repeat(np.arange(3), [len(each) for each in folds])
    known = np.ones(len(order), bool)
    flat = np.tile(shares, (len(order), 1))
    trial = Trial(seeds.nodes[order], seeds.codes[order], fold, known, flat, 0)
    nothing: Any = None
    none = np.empty(0, np.int64)
    hidden = HiddenSeeds(
        tuple(Fold(seeds.nodes[each], seeds.codes[each], nothing, shares, nothing, none) for each in folds),
        np.empty(0, np.int64),
        0,
    )
    weights = {}
    for name, opinion in (("right", right), ("wrong", wrong)):
        panel = Panel(Evidence(opinion=opinion), graph, seeds, SolveOptions())
        assert panel.names == ("heat", "evidence")
        combination, combined = panel.weigh(Calibrated(nothing, trial, []), hidden, shares)
        weights[name] = combination.by_name["evidence"]
        assert combination.by_name["heat"] == pytest.approx(0.5, abs=1e-4)  # it says nothing: its prior is kept
        np.testing.assert_allclose(combined.probabilities.sum(axis=1), 1)
        found = np.mean(combined.probabilities.argmax(axis=1) == combined.codes)
        assert (found > 0.95) == (name == "right")
    assert weights["right"] > 1 > 0.2 > weights["wrong"]


def test_probabilities_of_hidden_seeds_come_from_weights_that_were_found_without_them(world: Any) -> None:
    """One fold whose expert is wrong does not spoil its own trial, and is not helped by it."""
    graph, seeds = seeds_in(world)
    opinion = np.where(world[1][:, None] == np.arange(3), 0.9, 0.05)
    learnt = learn_with(world, Evidence(opinion=opinion))
    trial, names = learnt.trial, ("heat", "evidence")
    assert learnt.combination is not None
    alone = learn(solver_on(graph)(seeds), graph, seeds, solver_on(graph)).trial
    shares = seeds.smoothed_shares
    odds = [
        log_odds(np.log(alone.probabilities), shares),
        log_odds(np.log(opinion[trial.nodes]), shares),
    ]
    prior = prior_weights(names, Evidence(), blind=False)
    for fold in range(3):
        out = trial.fold == fold
        rest = combine(names, [each[~out] for each in odds], trial.codes[~out], shares, prior)
        np.testing.assert_allclose(
            trial.probabilities[out], rest.probabilities([each[out] for each in odds]), atol=1e-6
        )


def learn_with(world: Any, evidence: Evidence | None) -> Learnt:
    graph, seeds = seeds_in(world)
    panel = None if evidence is None else Panel(evidence, graph, seeds, SolveOptions())
    return learn(solver_on(graph)(seeds), graph, seeds, solver_on(graph), panel=panel)


def test_what_was_learnt_is_kept_for_few_changes_only(world: Any) -> None:
    graph, seeds = seeds_in(world)
    learnt, mean = learn_with(world, None), np.full(3, 0.3)
    few = seeds.take(np.arange(len(seeds.nodes)) >= int(FEW_CHANGES * len(seeds.nodes)))
    many = seeds.take(np.arange(len(seeds.nodes)) > int(FEW_CHANGES * len(seeds.nodes)))
    moved = learnt.moved(few, mean, None)
    assert moved is not None
    np.testing.assert_array_equal(moved.calibration.slopes, learnt.calibration.slopes)
    np.testing.assert_array_equal(moved.calibration.mean, mean)
    np.testing.assert_array_equal(moved.calibration.shares, few.smoothed_shares)
    assert moved.trial is learnt.trial
    assert moved.seeds is learnt.seeds, "changes are counted from the seeds that it was learnt from"
    assert learnt.moved(many, mean, None) is None
    assert learnt.moved(few, mean, Panel(Evidence(structure=Structure(graph)), graph, few, SolveOptions())) is None
    other = Seeds(few.nodes, few.codes, np.array(["a", "b", "c"], object))
    assert learnt.moved(other, mean, None) is None


def test_without_other_experts_there_is_nothing_to_combine(world: Any) -> None:
    learnt = learn_with(world, None)
    assert learnt.combination is None
    field = solver_on(world[0])(learnt.seeds)
    found, odds = learnt.probabilities(field, None)
    assert odds is None
    np.testing.assert_array_equal(found, learnt.calibration.probabilities(field))
