"""The methods that can be compared, by name: Isotherm with each rule and kind of evidence, and its peers.

All that `evaluate` and `compare` know of the classifiers is here.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import clone

from isotherm.dirichlet_classifier import DirichletClassifier
from isotherm.equilibrium.problem import UnreachedWarning
from isotherm.graph_classifier import GraphClassifier
from isotherm.graphs import Graph
from isotherm.labelling.outcomes import at_codes
from isotherm.labelling.rules import DECISIONS, RULES
from isotherm.node_classifier import RULE_NAMES, NodeClassifier, classifier_by
from isotherm.probability import evidence
from isotherm.probability.calibration import CalibrationWarning
from isotherm.seeds import RareClassWarning
from isotherm.study import peers
from isotherm.study.scores import Answer, answer
from isotherm.study.tasks import Draw, Task

DEFAULT = "balanced"  # the rule of the classifier that users get
COVERAGE = 0.9


def by_rule(task: Task, draw: Draw, *, rule: str = DEFAULT, sets: bool = False) -> Answer:
    """The labels by a rule, with confidence; ``sets`` adds prediction sets."""
    return _answer(task, draw, classifier_by(rule), sets=sets)


def with_evidence(task: Task, draw: Draw, *, features: bool = False, structure: str | None = evidence.AUTO) -> Answer:
    """The answer by the default rule with features, with or without the structure of the graph as evidence."""
    given: dict[str, Any] = {"features": task.features} if features else {}
    return _answer(task, draw, classifier_by(DEFAULT), sets=True, evidence=structure, **given)


def most_probable(task: Task, draw: Draw) -> Answer:
    """The class with the largest calibrated probability."""
    with _expected_warnings():
        clf = classifier_by(DEFAULT).fit(task.graph, draw.known)
        return answer(clf.classes_, clf.predict_proba())


def classifiers(rules: tuple[str, ...], parameters: Mapping[str, Any]) -> list[GraphClassifier]:
    """One classifier for all decisions among the rules, and one for all rules on temperatures."""
    first = [next((name for name in rules if name in kind), None) for kind in (DECISIONS, RULES)]
    unknown = set(rules) - set(RULE_NAMES)
    kinds = [classifier_by(name) for name in [*first, *unknown] if name is not None]
    names = set().union(*(kind.get_params() for kind in (NodeClassifier(), DirichletClassifier())))
    for name in set(parameters) - names:
        raise TypeError(f"evaluate() got an unexpected keyword argument {name!r}")
    for kind in kinds:
        kind.set_params(**{name: value for name, value in parameters.items() if name in kind.get_params()})
        kind.settings  # noqa: B018 - refuses invalid values
    return kinds


def by_rules(estimators: Iterable[GraphClassifier], task: Task, draw: Draw, rules: Iterable[str]) -> dict[str, Answer]:
    """The answer of each rule, from one fit of each classifier; with confidence if that is calibrated."""
    found: dict[str, Answer] = {}
    with _expected_warnings():
        for estimator in estimators:
            own: Mapping[str, Any] = DECISIONS if isinstance(estimator, NodeClassifier) else RULES
            decides = isinstance(estimator, NodeClassifier)
            given = {"features": task.features} if decides and task.features is not None else {}
            clf = clone(estimator).fit(_links(task, estimator), draw.known, **given)
            kept = clf.fitted_.outcome.kept
            chances = np.asarray(clf.predict_proba()) if kept and clf.settings.calibration is not None else None
            for rule in filter(own.__contains__, rules):
                if kept:
                    codes = clf.fitted_.outcome_by(own[rule]).codes
                    confidence = None if chances is None else at_codes(chances, codes)
                    found[rule] = Answer(np.where(codes >= 0, clf.classes_[codes], -1), confidence, beyond_links=True)
                    continue
                # Without all temperatures each rule needs its own fit, and only one decision is scored.
                if clf.rule_ != rule and isinstance(clf, DirichletClassifier):
                    clf = clone(estimator).set_params(rule=rule).fit(_links(task, estimator), draw.known)
                if clf.rule_ == rule:
                    found[rule] = Answer(clf.labels_, beyond_links=True)
    return found


def _answer(task: Task, draw: Draw, estimator: GraphClassifier, *, sets: bool, **fit: Any) -> Answer:
    with _expected_warnings():
        clf = estimator.fit(_links(task, estimator), draw.known, **fit)
        possible = None
        if sets:
            possible = np.zeros((len(task.truth), task.n_classes), dtype=bool)  # classes without seeds are in no set
            possible[:, clf.classes_] = clf.predict_set(COVERAGE)
        return Answer(clf.labels_, clf.confidence_, possible, beyond_links="features" in fit)


def _links(task: Task, estimator: GraphClassifier) -> Graph:
    """The graph; rules on temperatures find no weights of kinds of edges, so for them all kinds are alike."""
    return task.graph if isinstance(estimator, NodeClassifier) else task.graph.weigh_kinds()


@contextmanager
def _expected_warnings() -> Iterator[None]:
    """Ignore warnings that are expected while methods are scored."""
    with warnings.catch_warnings():
        for expected in (UnreachedWarning, RareClassWarning, CalibrationWarning):
            warnings.simplefilter("ignore", expected)
        yield


@dataclass(frozen=True)
class Method:
    """A way to find labels."""

    name: str  # in tables
    run: Callable[[Task, Draw], Answer]
    needs: str = "isotherm"  # the package that must be installed
    features: bool = False  # whether it needs features of the nodes
    again: bool = False  # whether it repeats another method under a second name; `compare` leaves it out

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
        *(Method(f"Isotherm, rule {rule}", partial(by_rule, rule=rule), again=rule == DEFAULT) for rule in RULE_NAMES),
        Method("Isotherm, most probable", most_probable, again=True),
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
