"""The choice of a rule by held-out seeds."""

from pathlib import Path

import numpy as np
import pytest
from isotherm.insight.confidence.rule_choice import RuleScore, compare_rules, select_rule
from sklearn.metrics import f1_score

import isotherm as iso
from isotherm.labelling.metrics import macro_f1
from isotherm.labelling.rules import FALLBACK, TEMPERATURE_RULES
from isotherm.paper.graph_experiments import largest
from isotherm.probability.calibration import calibrate
from isotherm.probability.hidden_seeds import HeldOut, hold_out
from isotherm.probability.node_features import Field, count_neighbours, direct_heat
from isotherm.probability.trial import Trial
from isotherm.seeds import Seeds, sample
from isotherm.study.datasets import load


def held_out_by_hand() -> tuple[HeldOut, Trial, dict[str, float]]:
    """Held-out seeds of a random graph, and the macro-F1 of each rule by scikit-learn."""
    rng = np.random.default_rng(0)
    graph = iso.Graph.from_edges(*rng.integers(200, size=(2, 1500)), nodes=range(200))
    labels = np.where(np.arange(200) < 60, np.arange(200) % 3, -1)
    seeds = Seeds.from_labels(labels, graph)
    truths: list[int] = []
    guesses: dict[str, list[int]] = {rule: [] for rule in TEMPERATURE_RULES}

    def solve(rest: Seeds) -> Field:
        hidden = np.setdiff1d(seeds.nodes, rest.nodes)
        values = np.full((200, 3), np.nan)
        values[rest.nodes] = rest.values()
        temperatures = iso.solve_dirichlet(graph, values)
        truths.extend(labels[hidden])
        for rule in TEMPERATURE_RULES:
            guesses[rule].extend(TEMPERATURE_RULES[rule].scores(temperatures, rest)[hidden].argmax(axis=1))
        return Field(temperatures, direct_heat(graph, rest, "both"), count_neighbours(graph, "both"))

    found = hold_out(seeds, graph, solve)
    expected = {rule: f1_score(truths, guess, average="macro") for rule, guess in guesses.items()}
    return found, calibrate(found, solve(seeds), seeds).trial, expected


def test_every_seed_is_hidden_once_and_rules_are_scored_on_them() -> None:
    held_out, trial, expected = held_out_by_hand()
    np.testing.assert_array_equal(np.sort(held_out.joined("hidden")), np.arange(60))
    report = compare_rules(trial, {rule: held_out.predicted(rule) for rule in TEMPERATURE_RULES})
    assert {rule: score.macro_f1 for rule, score in report.items()} == pytest.approx(expected)
    codes = held_out.joined("codes")
    for rule, score in report.items():
        assert score.macro_f1 == pytest.approx(macro_f1(codes, held_out.predicted(rule)))


def test_without_held_out_seeds_the_rule_is_the_usual_one() -> None:
    assert select_rule({}, 0) == FALLBACK.name
    path = iso.Graph.from_edges(range(5), range(1, 6))
    clf = iso.DirichletClassifier(rule="auto").fit(path, {0: "a", 5: "b"})
    assert clf.rule_ == FALLBACK.name
    assert clf.rule_report_ == {}


def test_a_small_lead_is_chance() -> None:
    close = {"relative": RuleScore(0.70, 0.1), "vanilla": RuleScore(0.72, 0.1)}
    assert select_rule(close, 1000) == "relative"
    assert select_rule(close, 10_000) == "vanilla"


def test_rare_classes_on_amazon(data_folder: Path) -> None:
    """Some hundred members of a community among 334,863 nodes: at equilibrium vanilla finds them, centered does not."""
    amazon = load("amazon", data=data_folder)
    scores: dict[str, list[float]] = {"auto": [], "centered": [], "vanilla": []}
    for number, members in enumerate(2 * largest(amazon.communities or (), 3)):
        truth = np.zeros(amazon.graph.n_nodes, dtype=np.int64)
        truth[members] = 1
        chosen = sample("balanced", truth, 0.01, np.random.default_rng(number))
        known = np.full(len(truth), -1)
        known[chosen] = truth[chosen]
        for rule, found in scores.items():
            calibration = "auto" if rule == "auto" else None
            clf = iso.DirichletClassifier(rule=rule, calibration=calibration).fit(amazon.graph, known)
            found.append(f1_score(truth[known < 0], clf.labels_[known < 0], average="macro"))
    auto, centered, vanilla = (np.mean(found) for found in scores.values())
    assert auto >= vanilla - 0.02
    assert auto > centered + 0.2
