"""The second round, against dense least squares, and on graphs on which it is clear what it should say."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.linear_model import Ridge

import isotherm as iso
from isotherm.paper.block_model import stochastic_block_model
from isotherm.probability import second_round as module
from isotherm.probability.combination import log_odds
from isotherm.probability.experts.regression import MeanFeatures
from isotherm.probability.second_round import second_round

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")


def case(seed: int) -> tuple[Any, Any, Any, Any]:
    """Features of three classes, logits of a first round that knows a little, and a seed for each class."""
    rng = np.random.default_rng(seed)
    codes = np.arange(150) % 3
    rows = rng.normal(size=(150, 8)) + 2 * np.eye(8)[codes]
    logits = 2 * np.eye(3)[codes] + 1.5 * rng.normal(size=(150, 3))
    return rows, logits, codes, np.arange(3)


def test_it_is_a_ridge_regression_on_the_most_probable_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STEPS", 40)  # conjugate gradient to the end
    monkeypatch.setattr(module, "ROUNDS", 1)
    rows, logits, codes, seeds = case(0)
    shares = np.full(3, 1 / 3)
    found = second_round(MeanFeatures(rows), logits, seeds, codes[seeds], shares)
    chances = softmax(logits, axis=1)
    chances[seeds] = np.eye(3)
    weights = np.zeros(150)
    for column in chances.T:
        ranked = np.sort(np.delete(column, seeds))[::-1]
        full, none = np.interp([0.15 * ranked.sum(), 0.3 * ranked.sum()], np.arange(147), ranked)
        weights = np.maximum(weights, np.clip((column - none) / (full - none), 0, 1))
    weights[seeds] = 1
    assert 20 < np.count_nonzero(weights) < 60
    mean = weights @ chances / weights.sum()
    model = Ridge(alpha=module.PENALTY * weights.sum(), fit_intercept=False)
    scores = model.fit(rows, chances - mean, sample_weight=weights).predict(rows)
    scores /= np.sqrt(np.average((scores**2).mean(axis=1), weights=weights))

    def loss(x: Any) -> float:
        losses = -(chances * log_softmax(x[0] * scores + x[1:], axis=1)).sum(axis=1)
        return float(np.average(losses, weights=weights) + module.RIDGE / 2 * (x @ x))

    slope, *biases = minimize(loss, np.append(1.0, np.zeros(3)), tol=1e-12).x
    wanted = log_odds(log_softmax(slope * scores + biases, axis=1), shares)
    np.testing.assert_allclose(found, wanted, atol=1e-3)


def test_it_knows_more_than_the_first_round() -> None:
    for seed in range(5):
        rows, logits, codes, seeds = case(seed)
        found = second_round(MeanFeatures(rows), logits, seeds, codes[seeds], np.full(3, 1 / 3))
        before, after = (np.mean(each.argmax(axis=1) == codes) for each in (logits, found))
        assert after > before + 0.05


def test_rounding_errors_in_probabilities_hardly_change_it() -> None:
    """Also where many nodes are equally probable."""
    rows, logits, codes, seeds = case(1)
    for each in (logits, np.round(logits), np.zeros_like(logits)):
        one, other = (
            second_round(MeanFeatures(rows), moved, seeds, codes[seeds], np.full(3, 1 / 3))
            for moved in (each, each + 1e-14 * np.random.default_rng(0).normal(size=each.shape))
        )
        np.testing.assert_allclose(one, other, atol=5e-6)  # of log-odds: a tenth of that in a probability


def test_a_fit_with_features_has_a_second_round_that_hidden_seeds_weigh() -> None:
    """It counts where features tell the classes, and little where they are noise."""
    graph = stochastic_block_model([150, 150, 150], 0.05, 0.01, 0)
    truth, rng = np.repeat(np.arange(3), 150), np.random.default_rng(0)
    known = np.where(np.arange(450) % 15 == 0, truth, -1)
    noise = rng.normal(size=(450, 10))
    weights, right = [], []
    for features in (noise + 1.5 * np.eye(10)[truth], noise):
        clf = iso.NodeClassifier().fit(graph, known, features=features)
        weights.append(clf.experts_["second round"])
        right.append(np.mean(clf.labels_ == truth))
        assert (clf.confidence_[known < 0] < 1).all()
    assert weights[0] > weights[1] + 0.05
    assert right[0] > 0.9
    alone = iso.NodeClassifier().fit(graph, known)
    assert right[1] > np.mean(alone.labels_ == truth) - 0.03


def test_hidden_seeds_do_not_teach_the_second_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a seed is hidden, its label reaches the second round by no way."""
    graph = stochastic_block_model([60, 60], 0.2, 0.02, 0)
    truth = np.repeat([0, 1], 60)
    known = {node: int(truth[node]) for node in range(0, 120, 4)}
    asked: list[set[int]] = []
    usual = second_round

    def recorded(features: Any, logits: Any, seeds: Any, codes: Any, shares: Any) -> Any:
        asked.append(set(seeds.tolist()))
        return usual(features, logits, seeds, codes, shares)

    monkeypatch.setattr("isotherm.probability.learning.second_round", recorded)
    clf = iso.NodeClassifier().fit(graph, known, features=np.random.default_rng(0).normal(size=(120, 3)))
    assert [len(each) for each in asked] == [20, 20, 20, 30]
    trial = clf.fitted_.learnt.trial
    for number, visible in enumerate(asked[:3]):
        assert not visible & set(trial.nodes[trial.fold == number].tolist())
