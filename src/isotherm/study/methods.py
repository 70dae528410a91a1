"""The methods that can be compared, by name: Isotherm with each rule and kind of evidence, and its peers.

All that `evaluate` and `compare` know of the classifier is here: `classifier` makes it.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from isotherm.arrays import Mask
from isotherm.classifier import DirichletClassifier
from isotherm.equilibrium.columns import UnreachedWarning
from isotherm.insight.confidence.calibration import CalibrationWarning
from isotherm.insight.experts import evidence
from isotherm.labelling.outcome.outcomes import at_codes
from isotherm.labelling.rules import RULES, TEMPERATURE_RULES, TemperatureRule
from isotherm.labelling.settings import AUTO
from isotherm.seeds import RareClassWarning
from isotherm.study import peers
from isotherm.study.scores import Answer, answer
from isotherm.study.tasks import Draw, Task

__all__ = ["ALL_RULES", "METHODS", "Method", "by_rule", "by_rules", "classifier", "most_probable", "with_evidence"]

Run: TypeAlias = Callable[[Task, Draw], Answer]

ALL_RULES = (*RULES, AUTO)
COVERAGE = 0.9


def classifier(rule: str | None = None, **parameters: Any) -> DirichletClassifier:
    """The classifier that is evaluated, by default with its own rule."""
    chosen: dict[str, Any] = {} if rule is None else {"rule": rule}
    return DirichletClassifier(**chosen, **parameters)


def by_rule(task: Task, draw: Draw, *, rule: str | None = None, sets: bool = False) -> Answer:
    """The labels and their confidence by a rule, or by the default; ``sets`` gives prediction sets as well."""
    return _answer(task, draw, classifier(rule), sets=sets)


def with_evidence(task: Task, draw: Draw, *, features: bool = False, structure: str | None = evidence.AUTO) -> Answer:
    """The same by the default rule, with features of the nodes, and with or without the structure of the graph."""
    given: dict[str, Any] = {"features": task.features} if features else {}
    return _answer(task, draw, classifier(), sets=True, evidence=structure, **given)


def most_probable(task: Task, draw: Draw) -> Answer:
    """The class with the largest calibrated probability."""
    with _expected_warnings():
        clf = classifier().fit(task.graph, draw.known)
        return answer(clf.classes_, clf.predict_proba())


def by_rules(estimator: DirichletClassifier, task: Task, draw: Draw, rules: Iterable[str]) -> dict[str, Answer]:
    """The answer of each rule, from one fit if all temperatures are kept; confidence if it is calibrated.

    Rules that need held-out seeds are left out without calibration, and if not all temperatures are kept.
    """
    found: dict[str, Answer] = {}
    with _expected_warnings():
        clf = clone(estimator).fit(task.graph, draw.known)
        if not clf.fitted_.outcome.kept:
            for rule in filter(TEMPERATURE_RULES.__contains__, rules):
                if clf.rule_ != rule:
                    clf = clone(estimator).set_params(rule=rule).fit(task.graph, draw.known)
                found[rule] = Answer(clf.labels_, beyond_links=True)
            return found
        probabilities = None if clf.calibration is None else clf.predict_proba()
        for rule in rules:
            used = RULES[clf.best_rule_ if rule == AUTO else rule]
            if probabilities is not None or isinstance(used, TemperatureRule):
                codes = clf.insight_.by_rule(used).codes
                confidence = None if probabilities is None else at_codes(probabilities, codes)
                found[rule] = Answer(np.where(codes >= 0, clf.classes_[codes], -1), confidence, beyond_links=True)
    return found


def _answer(task: Task, draw: Draw, estimator: DirichletClassifier, *, sets: bool, **fit: Any) -> Answer:
    with _expected_warnings():
        clf = estimator.fit(task.graph, draw.known, **fit)
        possible = _possible(task, clf) if sets else None
        return Answer(clf.labels_, clf.confidence_, possible, beyond_links="features" in fit)


def _possible(task: Task, clf: DirichletClassifier) -> Mask:
    """Prediction sets over all classes of the task; classes without seeds are in none."""
    sets = np.zeros((len(task.truth), task.n_classes), dtype=bool)
    sets[:, clf.classes_] = clf.predict_set(COVERAGE)
    return sets


@contextmanager
def _expected_warnings() -> Iterator[None]:
    """Ignore warnings about what is scored."""
    with warnings.catch_warnings():
        for expected in (UnreachedWarning, RareClassWarning, CalibrationWarning):
            warnings.simplefilter("ignore", expected)
        yield


@dataclass(frozen=True)
class Method:
    """A way to find labels.

    Attributes
    ----------
    name
        The name in tables.
    run
        From a task and a draw to an answer.
    needs
        The package that must be installed.
    features
        Whether it needs features of the nodes.
    """

    name: str
    run: Run
    needs: str = "isotherm"
    features: bool = False

    @property
    def ours(self) -> bool:
        """Whether this is Isotherm."""
        return self.name.startswith("Isotherm")

    @property
    def installed(self) -> bool:
        """Whether its package is there."""
        return find_spec(self.needs) is not None


SCIKIT_NETWORK = {
    "diffusion": "DiffusionClassifier",
    "PageRank": "PageRankClassifier",
    "propagation": "Propagation",
    "nearest neighbours": "NNClassifier",
}
FEATURES = partial(with_evidence, features=True)

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("Isotherm", partial(by_rule, sets=True)),
        *(Method(f"Isotherm, rule {rule}", partial(by_rule, rule=rule)) for rule in ALL_RULES),
        Method("Isotherm, most probable", most_probable),
        Method("Isotherm, heat alone", partial(with_evidence, structure=None)),
        Method("Isotherm, features", FEATURES, features=True),
        Method("Isotherm, features and spectral evidence", partial(FEATURES, structure="spectral"), features=True),
        *(
            Method(f"scikit-network {short}", partial(peers.network_classifier, name=name), needs="sknetwork")
            for short, name in SCIKIT_NETWORK.items()
        ),
        *(
            Method(f"GraphLearning {name}", partial(peers.graph_learning, name=name), needs="graphlearning")
            for name in ("laplace", "poisson", "randomwalk")
        ),
        Method("PyG label propagation", peers.torch_propagation, needs="torch_geometric"),
        Method("label spreading", peers.label_spreading),
        Method("spectral + regression", peers.spectral_regression, needs="sknetwork"),
        Method("regression on X", peers.feature_regression, features=True),
        Method("SGC", peers.simple_graph_convolution, features=True),
        Method("regression on X, PX, P²X", peers.hop_regression, features=True),
        Method("Correct and Smooth", peers.correct_and_smooth, features=True),
    )
}
