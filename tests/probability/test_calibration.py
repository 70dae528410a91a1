"""Probabilities from hidden seeds, against finite differences, simulated classes and symmetry."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array

from isotherm.probability.calibration import (
    LAPSES,
    Calibration,
    CalibrationWarning,
    _Fitting,
    _FoldEvidence,
    _Loss,
    _Model,
    _prior,
    calibrate,
    evidence,
)
from isotherm.probability.hidden_seeds import Fold, HiddenSeeds
from isotherm.probability.node_features import FeatureField, NodeFeatures
from isotherm.probability.trial import reliability
from isotherm.seeds import Seeds

NODES, CLASSES = 3000, 4
NONE = np.empty(0, np.int32)


def test_the_gradient_of_the_likelihood() -> None:
    rng = np.random.default_rng(0)
    kinds, codes = rng.normal(size=(5, 50, CLASSES)), rng.integers(CLASSES, size=50)
    loss = _Loss(kinds, codes, rng.dirichlet(np.ones(CLASSES)), 1.5)
    for scale in (0.1, 1, 3):
        x = scale * rng.normal(size=len(loss.start))
        numeric = approx_fprime(x, lambda y: loss(y)[0], 1e-6)
        np.testing.assert_allclose(loss(x)[1], numeric, rtol=1e-4, atol=1e-3)


def test_the_curvature_of_the_likelihood() -> None:
    rng = np.random.default_rng(1)
    kinds, codes = rng.normal(size=(5, 50, CLASSES)), rng.integers(CLASSES, size=50)
    loss = _Loss(kinds, codes, rng.dirichlet(np.ones(CLASSES)), 1.5)
    for scale in (0.1, 1):
        x = scale * rng.normal(size=len(loss.start))
        numeric = approx_fprime(x, lambda y: loss(y).gradient, 1e-6)
        products = np.column_stack([loss(x).curve(unit) for unit in np.eye(len(x))])
        np.testing.assert_allclose(products, numeric, rtol=1e-4, atol=1e-3)


def simulated(
    rng: np.random.Generator, slope: float, lapse: float, neighbours: np.ndarray
) -> tuple[HiddenSeeds, Seeds, FeatureField, np.ndarray]:
    """Temperatures at random, and classes drawn by the softmax of ``slope`` times their logarithm, save for lapses."""
    temperatures = rng.dirichlet(np.full(CLASSES, 2.0), NODES)
    odds = temperatures**slope
    odds /= odds.sum(axis=1, keepdims=True)
    odds = (1 - lapse) * odds + lapse / CLASSES
    codes = (rng.random((NODES, 1)) > odds.cumsum(axis=1)).sum(axis=1)
    seeds = Seeds(np.arange(0, NODES, 2), codes[::2], np.arange(CLASSES))
    sample = np.arange(1, NODES, 2)
    field = FeatureField(temperatures, csr_array((NODES, CLASSES)), neighbours)
    folds = (_fold(nodes, codes, field, sample) for nodes in np.array_split(seeds.nodes, 3))
    return HiddenSeeds(tuple(folds), sample, 0), seeds, field, codes


def _fold(nodes: np.ndarray, codes: np.ndarray, field: FeatureField, sample: np.ndarray) -> Fold:
    mean = field.temperatures.mean(axis=0)
    guess = (field.temperatures - mean)[nodes].argmax(axis=1)
    return Fold(nodes, codes[nodes], field.at(nodes), mean, field.at(sample), guess)


def calibrated(hidden: HiddenSeeds, field: FeatureField, seeds: Seeds) -> Calibration:
    found, trial, _ = calibrate(hidden, field, seeds)
    assert trial.labels is not None
    return found.judged(trial, trial.labels)


@pytest.mark.parametrize(("slope", "lapse"), [(0.5, 0.0), (2.0, 0.0), (4.0, 0.3)])
def test_probabilities_are_those_that_the_classes_were_drawn_by(slope: float, lapse: float) -> None:
    neighbours = np.full(NODES, 1e6)  # so many that the first kind of evidence is the logarithm of T / mean
    hidden, seeds, field, codes = simulated(np.random.default_rng(1), slope, lapse, neighbours)
    found = calibrated(hidden, field, seeds)
    probabilities = found.probabilities(field)
    odds = field.temperatures**slope
    truth = (1 - lapse) * odds / odds.sum(axis=1, keepdims=True) + lapse / CLASSES
    assert np.abs(probabilities - truth).mean() < 0.02
    others = hidden.sample
    best = probabilities[others].argmax(axis=1)
    assert reliability(probabilities[others, best], best == codes[others]).error < 0.05
    assert found.error < 0.06
    assert found.n_held_out == NODES // 2


def test_sets_cover_simulated_classes() -> None:
    shares = []
    for seed in range(20):
        hidden, seeds, field, codes = simulated(np.random.default_rng(seed), 3.0, 0.1, np.full(NODES, 10.0))
        found = calibrated(hidden, field, seeds)
        sets = found.probabilities(field) >= found.least_score(0.8)
        shares.append(sets[hidden.sample, codes[hidden.sample]].mean())
    assert 0.79 < np.mean(shares) < 0.81


def test_the_order_of_nodes_and_classes_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    hidden, seeds, field, _ = simulated(rng, 2.0, 0.1, rng.integers(1, 50, NODES).astype(float))
    nodes, classes = rng.permutation(NODES), rng.permutation(CLASSES)  # the old place of each
    place, code = np.argsort(nodes), np.argsort(classes)
    folds = [
        Fold(
            place[fold.hidden][::-1],
            code[fold.codes][::-1],
            _moved(fold.features, classes).at(np.arange(len(fold.hidden))[::-1]),
            fold.mean[classes],
            _moved(fold.sample, classes),
            code[fold.labels][::-1],
        )
        for fold in hidden.folds
    ]
    moved = HiddenSeeds(tuple(folds[::-1]), place[hidden.sample], 0)
    order = np.argsort(place[seeds.nodes])
    known = replace(seeds, nodes=place[seeds.nodes][order], codes=code[seeds.codes][order])
    one = calibrated(hidden, field, seeds)
    elsewhere = FeatureField(
        field.temperatures[nodes][:, classes], field.direct[nodes][:, classes], field.neighbours[nodes]
    )
    other = calibrated(moved, elsewhere, known)
    before = one.probabilities(field)
    after = other.probabilities(elsewhere)
    np.testing.assert_allclose(after, before[nodes][:, classes], atol=1e-3)
    np.testing.assert_allclose(other.misfits, one.misfits, atol=2e-3)
    assert other.error == pytest.approx(one.error, abs=2e-3)


def _moved(nodes: NodeFeatures, classes: np.ndarray) -> NodeFeatures:
    return NodeFeatures(nodes.temperatures[:, classes], nodes.direct[:, classes], nodes.neighbours)


def test_evidence_falls_with_temperature_and_grows_with_neighbours() -> None:
    temperatures, mean = np.array([[0.5, 0.5], [0.5, 0.5], [np.nan, np.nan]]), np.array([0.2, 0.8])
    nodes = NodeFeatures(temperatures, np.array([[0.4, 0.0]] * 3), np.array([1.0, 100.0, 5.0]))
    few, many, unreached = evidence(nodes, mean, np.array([0.5, 0.5])).transpose(1, 0, 2)
    assert (few[[0, 1, 2, 4], 0] > few[[0, 1, 2, 4], 1]).all()
    assert many[3, 0] < few[3, 0] < 0 < few[3, 1] < many[3, 1]  # by neighbours that are no seeds, 0.17 and 0.83
    assert many[0, 0] > few[0, 0]
    assert many[0, 0] == pytest.approx(np.log(2.5), rel=0.01)
    assert many[3, 0] == pytest.approx(np.log(0.1 / 0.6 / 0.2), abs=0.02)
    assert many[4, 0] == pytest.approx(np.log(2), rel=0.02)
    assert np.isnan(unreached).all()


def test_a_logit_counts_less_the_less_certain_it_is() -> None:
    """Against the mean over slopes drawn at random."""
    rng = np.random.default_rng(3)
    kinds, shares = rng.normal(size=(2, 200, 2)), np.array([0.5, 0.5])
    slopes, covariance = np.array([0.5, 1.0]), np.array([[0.5, 0.2], [0.2, 0.3]])
    found = _Model(slopes, covariance, np.zeros(2), 0.1).probabilities(kinds, shares)
    certain = _Model(slopes, np.zeros((2, 2)), np.zeros(2), 0.1)
    drawn = rng.multivariate_normal(slopes, covariance, 4000)
    mean = np.mean([certain._replace(slopes=each).probabilities(kinds, shares) for each in drawn], axis=0)
    assert np.abs(found - mean).max() < 0.02
    assert np.abs(certain.probabilities(kinds, shares) - mean).max() > 0.05


def test_the_covariance_is_the_inverse_of_the_curvature() -> None:
    rng = np.random.default_rng(4)
    kinds, codes = rng.normal(size=(5, 60, CLASSES)), rng.integers(CLASSES, size=60)
    loss = _Loss(kinds, codes, rng.dirichlet(np.ones(CLASSES)), 1.0)
    x = np.append(rng.normal(size=len(loss.start) - 1) / 3, -40.0)  # without lapses it is exact
    curvature = approx_fprime(x, lambda y: loss(y)[1], 1e-6)[:5, :5]
    np.testing.assert_allclose(loss.model(x).covariance, np.linalg.inv(curvature), rtol=1e-4, atol=1e-6)


def test_a_class_that_is_never_hidden_is_not_held_to_be_rare() -> None:
    neighbours = np.full(NODES, 10.0)
    hidden, seeds, field, _ = simulated(np.random.default_rng(5), 2.0, 0.0, neighbours)
    lone = np.flatnonzero(seeds.codes != 3).tolist() + np.flatnonzero(seeds.codes == 3)[:1].tolist()
    folds = tuple(_without(fold, 3) for fold in hidden.folds)
    found = calibrated(HiddenSeeds(folds, hidden.sample, 1), field, seeds.take(np.sort(lone)))
    assert found.bias[3] == 0
    assert np.abs(found.bias[:3]).max() < 0.5


def _without(fold: Fold, code: int) -> Fold:
    kept = fold.codes != code
    features = NodeFeatures(*(each[kept] for each in fold.features))
    return fold._replace(hidden=fold.hidden[kept], codes=fold.codes[kept], features=features, labels=fold.labels[kept])


def test_coverage_by_hand() -> None:
    shares = np.ones(2) / 2
    found = Calibration(np.ones(3), np.zeros(2), 0.0, shares, shares, 9, 0.0, np.arange(1, 10) / 10)
    assert found.least_score(0.5) == pytest.approx(1 - 0.5)  # the fifth of nine, and ten with the new one
    assert found.least_score(0.9) == pytest.approx(1 - 0.9)
    with pytest.warns(CalibrationWarning, match="9 hidden seeds are too few for sets of coverage 0.95"):
        assert found.least_score(0.95) == 0
    for coverage in (0, 1, -1, np.nan):
        with pytest.raises(ValueError, match="it must be above 0 and below 1"):
            found.least_score(coverage)


def test_a_fit_to_folds_without_reached_seeds_is_the_prior() -> None:
    nothing = _FoldEvidence(np.empty((5, 0, 3)), np.empty(0, np.int64))
    fitting = _Fitting(np.ones(5), np.full(3, 1 / 3), LAPSES)
    found, before = fitting.fit([nothing, nothing]), _prior(3)
    np.testing.assert_allclose(found.slopes, before.slopes, atol=1e-4)
    np.testing.assert_allclose(found.lapse, before.lapse, atol=1e-4)
