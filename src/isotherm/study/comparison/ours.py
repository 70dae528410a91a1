"""Isotherm: each rule, and each kind of evidence beside the links."""

import warnings
from typing import Any

import numpy as np

from isotherm.equilibrium.columns import UnreachedWarning
from isotherm.graph_classifier import GraphClassifier
from isotherm.node_classifier import NodeClassifier, classifier_by
from isotherm.probability.calibration import CalibrationWarning
from isotherm.probability.evidence import AUTO
from isotherm.seeds import RareClassWarning
from isotherm.study.comparison.scores import Answer, answer
from isotherm.study.comparison.tasks import Draw, Task

__all__ = ["by_rule", "most_probable", "with_evidence"]

COVERAGE = 0.9


def by_rule(task: Task, draw: Draw, *, rule: str | None = None, sets: bool = False) -> Answer:
    """The labels and their confidence by a rule, or by the default; ``sets`` gives prediction sets as well."""
    return _fitted(task, draw, "balanced" if rule is None else rule, {}, sets=sets)


def with_evidence(task: Task, draw: Draw, *, features: bool = False, structure: str | None = AUTO) -> Answer:
    """The same by the default rule, with features of the nodes, and with or without the structure of the graph."""
    evidence: dict[str, Any] = {"features": task.features} if features else {}
    return _fitted(task, draw, "balanced", evidence | {"evidence": structure}, sets=True)


def most_probable(task: Task, draw: Draw) -> Answer:
    """The class with the largest calibrated probability."""
    with warnings.catch_warnings():
        _expect_warnings()
        clf = NodeClassifier().fit(task.graph, draw.known)
        return answer(clf.classes_, clf.predict_proba())


def _fitted(task: Task, draw: Draw, rule: str, evidence: dict[str, Any], *, sets: bool) -> Answer:
    with warnings.catch_warnings():
        _expect_warnings()
        clf = classifier_by(rule).fit(task.graph, draw.known, **evidence)
        possible = _possible(task, clf) if sets else None
        return Answer(clf.labels_, clf.confidence_, possible, beyond_links="features" in evidence)


def _possible(task: Task, clf: GraphClassifier) -> Any:
    """Prediction sets over all classes of the task; those without seeds are in none."""
    sets = np.zeros((len(task.truth), task.n_classes), dtype=bool)
    sets[:, clf.classes_] = clf.predict_set(COVERAGE)
    return sets


def _expect_warnings() -> None:
    """What is scored need not be warned about."""
    for expected in (UnreachedWarning, RareClassWarning, CalibrationWarning):
        warnings.simplefilter("ignore", expected)
