"""Models that release 0.2.0 saved: they load, answer as they did there, and can be updated.

Release 0.2.0 made the files and, after loading them again, the expected answers.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from saved_models import again, assert_same, dense

import isotherm as iso
from isotherm.errors import ParameterError

MODELS = Path(__file__).parents[1] / "models_0.2.0"
EXPECTED: dict[str, dict[str, Any]] = json.loads((MODELS / "expected.json").read_text())
BY_RULES = {
    *("auto_by_heat", "centered", "certified", "directed_centered", "several_unused", "soft", "vanilla_used"),
}

LEARNT_HERE = {"centered", "certified"}  # saved before probabilities were asked for

pytestmark = pytest.mark.filterwarnings(
    "ignore::isotherm.CalibrationWarning", "ignore::isotherm.RareClassWarning", "ignore::isotherm.EvidenceWarning"
)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_answers_are_the_same(name: str) -> None:
    clf, expected = iso.load(MODELS / f"{name}.npz"), EXPECTED[name]
    assert type(clf) is (iso.DirichletClassifier if name in BY_RULES else iso.NodeClassifier)
    assert clf.rule_ == expected["rule"]
    assert dense(clf.labels_).tolist() == expected["labels"]
    if name in LEARNT_HERE:
        fresh = iso.load(MODELS / f"{name}.npz").fit(clf.graph_, _labels(clf), seed_weight=_weights(clf))
        np.testing.assert_allclose(clf.predict_proba(), fresh.predict_proba(), atol=1e-9)
        return
    np.testing.assert_allclose(dense(clf.confidence_), expected["confidence"], atol=1e-9)
    if "probabilities" in expected:
        np.testing.assert_allclose(clf.predict_proba(), expected["probabilities"], atol=1e-9)
        if name == "balanced_unused":  # what new nodes need is learnt here
            return
        new = np.eye(2, clf.graph_.n_nodes) + np.eye(2, clf.graph_.n_nodes, 3)
        assert dense(clf.predict(new)).tolist() == expected["new_labels"]
        np.testing.assert_allclose(clf.predict_proba(new), expected["new_probabilities"], atol=1e-9)
    if "sets" in expected:
        assert clf.predict_set(0.8).tolist() == expected["sets"]
        assert clf.calibration_ is not None
        error = np.nan if expected["calibration_error"] is None else expected["calibration_error"]
        np.testing.assert_allclose(clf.calibration_.error, error, atol=1e-9)
    if isinstance(clf, iso.NodeClassifier) and "experts" in expected:
        assert clf.experts_ == pytest.approx(expected["experts"], abs=1e-9)


@pytest.mark.parametrize("name", EXPECTED)
def test_they_can_be_saved_again(tmp_path: Path, name: str) -> None:
    clf = iso.load(MODELS / f"{name}.npz")
    loaded = again(clf, tmp_path / "m.npz")
    if not clf.fitted_.outcome.several:
        assert_same(clf, loaded)
    np.testing.assert_array_equal(dense(clf.labels_), dense(loaded.labels_))
    np.testing.assert_array_equal(dense(clf.confidence_), dense(loaded.confidence_))


@pytest.mark.parametrize("name", sorted(EXPECTED.keys() - {"features"}))
def test_they_can_be_updated(name: str) -> None:
    """As a new fit with the same parameters and seeds would be, since all is learnt anew."""
    clf = iso.load(MODELS / f"{name}.npz")
    several, node = clf.fitted_.outcome.several, clf.graph_.nodes[3]
    label = clf.classes_[:1].tolist()
    clf.update({node: set(label) if several else label[0]})
    assert node in clf.graph_.nodes[clf.seeds_.nodes].tolist()
    fresh = iso.load(MODELS / f"{name}.npz").fit(clf.graph_, _labels(clf), seed_weight=_weights(clf))
    np.testing.assert_array_equal(dense(clf.labels_), dense(fresh.labels_))
    np.testing.assert_allclose(dense(clf.confidence_), dense(fresh.confidence_), atol=2e-3)


def _labels(clf: Any) -> dict[Any, Any]:
    seeds, ids = clf.seeds_, clf.graph_.nodes[clf.seeds_.nodes].tolist()
    if seeds.several:
        return {node: set(labels) for node, labels in zip(ids, seeds.names(np.arange(len(ids))), strict=True)}
    rows = [dict(zip(seeds.classes.tolist(), row, strict=True)) for row in seeds.values().tolist()]
    return dict(zip(ids, seeds.decode(seeds.codes).tolist() if seeds.table is None else rows, strict=True))


def _weights(clf: Any) -> dict[Any, float] | None:
    weights = clf.seeds_.weights
    if weights is None:
        return None
    soft = np.isfinite(weights)
    return dict(zip(clf.graph_.nodes[clf.seeds_.nodes[soft]].tolist(), weights[soft].tolist(), strict=True))


def test_features_are_not_saved() -> None:
    with pytest.raises(ParameterError, match="does not hold the features that it was fitted on: give them again"):
        iso.load(MODELS / "features.npz").update({"n1": "a"})
