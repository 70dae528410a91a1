"""Saved classifiers in tests: saved and loaded again, and compared."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import isotherm as iso
from isotherm.graph_classifier import GraphClassifier


def again(clf: GraphClassifier, path: Path) -> GraphClassifier:
    clf.save(path, force=True)
    return iso.load(path)


def assert_same(one: GraphClassifier, other: GraphClassifier) -> None:
    assert type(one) is type(other)
    assert one.get_params() == other.get_params()
    for name in ("labels_", "classes_", "reached_", "confidence_"):
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    for name in ("solver", "iterations", "residual", "error", "error_bound", "converged", "seconds"):
        assert getattr(one.solution_, name) == getattr(other.solution_, name)
    for name in ("nodes", "directed", "n_rows"):
        np.testing.assert_array_equal(getattr(one.graph_, name), getattr(other.graph_, name))
    assert {*vars(one)} == {*vars(other)}


def dense(values: Any) -> NDArray[Any]:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)
