"""How well the labels of a graph are found again: hide most of them, classify, and compare."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import coo_array, csr_array
from sklearn.base import clone

from isotherm.arrays import Doubles, Ints, Mask
from isotherm.dirichlet_classifier import DirichletClassifier
from isotherm.equilibrium.columns import UnreachedWarning
from isotherm.errors import Option, ParameterError
from isotherm.graph_classifier import GraphClassifier
from isotherm.graphs import Graph, as_graph
from isotherm.labelling.decisions import DECISIONS, class_factors
from isotherm.labelling.metrics import f1_of_totals
from isotherm.labelling.outcomes import at_codes
from isotherm.labelling.rules import RULES
from isotherm.node_classifier import RULE_NAMES, NodeClassifier, classifier_by
from isotherm.probability.calibration import CalibrationWarning
from isotherm.probability.trial import Reliability, reliability
from isotherm.seeds import RareClassWarning, Seeds, sample
from isotherm.seeds.encoding import Labels

__all__ = ["Evaluation", "RuleScores", "class_scores", "evaluate"]

Claims: TypeAlias = tuple[Doubles, Mask]  # the confidence of labels, and which of them are right
Progress: TypeAlias = Callable[[int, int], None]  # number of runs done, and in total


@dataclass(frozen=True, eq=False)
class RuleScores:
    """How well one rule found the hidden labels.

    Attributes
    ----------
    macro_f1, micro_f1, accuracy : ndarray of shape (runs,)
        Scores on the hidden labels; an unreached node counts as wrong. Macro-F1 is the mean over the classes that are
        hidden or predicted.
    confusion : csr_array of shape (K, K + 1)
        Nodes by true and predicted class, over all runs; the last column counts unreached nodes.
    calibration_error : ndarray of shape (runs,)
        Expected calibration error on reached nodes; NaN without calibration.
    reliability : Reliability
        The reliability diagram over all runs; empty without calibration.
    """

    macro_f1: Doubles
    micro_f1: Doubles
    accuracy: Doubles
    confusion: csr_array
    calibration_error: Doubles
    reliability: Reliability


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The result of `evaluate`.

    Attributes
    ----------
    rules : dict
        Scores by the name of the rule.
    classes : ndarray of shape (K,)
        All labels, sorted.
    seeds, hidden, unreached : ndarray of shape (runs,)
        Number of labels that were shown, of those that were hidden, and of hidden labels of unreached nodes.
    """

    rules: dict[str, RuleScores]
    classes: Labels
    seeds: Ints
    hidden: Ints
    unreached: Ints

    @property
    def calibrated(self) -> bool:
        """Whether confidence was scored."""
        return all(len(scores.reliability.count) for scores in self.rules.values())

    @property
    def best(self) -> str:
        """The rule with the highest mean macro-F1."""
        return max(self.rules, key=lambda rule: float(self.rules[rule].macro_f1.mean()))


def evaluate(
    graph: Any,
    labels: Mapping[Any, Any] | Iterable[Any],
    *,
    fraction: float = 0.01,
    policy: str = "uniform",
    runs: int = 10,
    rules: Iterable[str] = RULE_NAMES,
    random_state: int = 0,
    progress: Progress | None = None,
    **parameters: Any,
) -> Evaluation:
    """Show some labels to a classifier, and score its labels for the other nodes.

    Parameters
    ----------
    graph
        The graph: whatever ``NodeClassifier.fit`` takes.
    labels
        The known labels, ``{node: label}`` or one for each node.
    fraction, policy
        The share of the labels that is shown, and how they are drawn: "uniform", "degree" or "balanced"; see
        `isotherm.seeds.sample`.
    runs
        Number of draws.
    rules
        What decides the labels: rules of `DirichletClassifier`, which one solve serves, and decisions of
        `NodeClassifier`, which another serves.
    random_state
        Seed of all draws.
    progress
        Called after each run with the number of runs done and the total.
    **parameters
        Those of `NodeClassifier` and `DirichletClassifier`. Unless ``calibration=None``, the confidence of rules is
        scored too, which takes up to three more solves a draw.

    Examples
    --------
    Two groups of five, joined by one edge:

    >>> group = [(i, j) for i in range(5) for j in range(i)]
    >>> source, target = zip(*group, (0, 5), *((i + 5, j + 5) for i, j in group))
    >>> labels = {node: "low" if node < 5 else "high" for node in range(10)}
    >>> found = evaluate(Graph.from_edges(source, target), labels, fraction=0.2, policy="balanced")
    >>> print(found.rules["centered"].accuracy.mean())
    1.0
    """
    rules = tuple(rules)
    estimators = _estimators(rules, parameters)
    graph = as_graph(graph)
    known = Seeds.from_labels(labels, graph)
    weights = class_factors(parameters.get("class_weight"), known)
    truth = np.full(graph.n_nodes, -1, dtype=np.int64)
    truth[known.nodes] = known.codes
    matrices: dict[str, list[csr_array]] = {rule: [] for rule in rules}
    claims: dict[str, list[Claims]] = {rule: [] for rule in matrices}
    seeds = []
    for run in range(runs):
        chosen = sample(policy, truth, fraction, np.random.default_rng([random_state, run]), degrees=graph.degrees)
        _check_draw(truth, chosen, known.n_classes)
        hidden = truth >= 0
        hidden[chosen] = False
        for estimator in estimators if weights is not None else ():
            if isinstance(estimator, NodeClassifier):  # classes are numbers here; some may have no seed in this draw
                estimator.set_params(class_weight={code: weights[code] for code in np.unique(truth[chosen]).tolist()})
        for rule, guess, confidence in _predicted(estimators, graph, truth, chosen, rules):
            matrices[rule].append(_confusion(truth[hidden], guess[hidden], known.n_classes))
            if confidence is not None:
                labelled = hidden & (guess >= 0)
                claims[rule].append((confidence[labelled], (guess == truth)[labelled]))
        seeds.append(len(chosen))
        if progress is not None:
            progress(run + 1, runs)
    first = next(found for found in matrices.values() if found)
    return Evaluation(
        {rule: _scores(found, claims[rule]) for rule, found in matrices.items() if found},
        known.classes,
        np.array(seeds, dtype=np.int64),
        np.array([matrix.sum() for matrix in first], dtype=np.int64),
        np.array([matrix[:, [-1]].sum() for matrix in first], dtype=np.int64),
    )


def class_scores(confusion: csr_array) -> Doubles:
    """Precision, recall and F1 of each class, shape (K, 3); 0 where the denominator is 0.

    >>> class_scores(csr_array(np.array([[3, 1, 0], [0, 1, 1]]))).round(2)
    array([[1.  , 0.75, 0.86],
           [0.5 , 0.5 , 0.5 ]])
    """
    hits, true, guessed = _margins(confusion)
    parts = (guessed, true, (true + guessed) / 2)
    return np.stack([np.divide(hits, part, out=np.zeros(len(hits)), where=part > 0) for part in parts], axis=1)


def _estimators(rules: tuple[str, ...], parameters: Mapping[str, Any]) -> list[GraphClassifier]:
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


def _fitted(estimator: GraphClassifier, graph: Graph, truth: Ints, chosen: Ints) -> GraphClassifier:
    visible = np.full(len(truth), -1, dtype=np.int64)
    visible[chosen] = truth[chosen]
    with warnings.catch_warnings():
        for expected in (UnreachedWarning, RareClassWarning):  # expected here, and counted
            warnings.simplefilter("ignore", expected)
        return clone(estimator).fit(graph, visible)


def _predicted(
    estimators: Iterable[GraphClassifier], graph: Graph, truth: Ints, chosen: Ints, rules: tuple[str, ...]
) -> Iterator[tuple[str, Ints, Doubles | None]]:
    """The class that each rule gives each node, -1 where unreached, and its probability, if that is calibrated."""
    for estimator in estimators:
        own: Mapping[str, Any] = DECISIONS if isinstance(estimator, NodeClassifier) else RULES
        clf = _fitted(estimator, graph, truth, chosen)
        for rule in filter(own.__contains__, rules):
            if not clf.fitted_.outcome.kept:
                if clf.rule_ == rule or isinstance(clf, DirichletClassifier):
                    if clf.rule_ != rule:
                        clf = _fitted(clone(estimator).set_params(rule=rule), graph, truth, chosen)
                    yield rule, clf.labels_, None
                continue
            codes, chances = clf.fitted_.outcome_by(own[rule]).codes, _probabilities(clf)
            guess = np.where(codes >= 0, clf.classes_[codes], -1)
            yield rule, guess, None if chances is None else at_codes(chances, codes)


def _probabilities(clf: GraphClassifier) -> Doubles | None:
    if clf.settings.calibration is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)  # the scores show it
        return np.asarray(clf.predict_proba())


def _confusion(true: Ints, guess: Ints, classes: int) -> csr_array:
    ends = true, np.where(guess < 0, classes, guess)
    return csr_array(coo_array((np.ones(len(true), dtype=np.int64), ends), shape=(classes, classes + 1)))


def _scores(found: list[csr_array], claims: list[Claims]) -> RuleScores:
    macro, micro, accuracy = [], [], []
    for matrix in found:
        hits, true, guessed = _margins(matrix)
        scores = f1_of_totals(hits, true + guessed)
        macro.append(scores[0])
        micro.append(scores[1])
        accuracy.append(hits.sum() / true.sum())
    confidence, right = map(np.concatenate, zip((np.empty(0), np.empty(0, dtype=bool)), *claims, strict=True))
    return RuleScores(
        np.array(macro),
        np.array(micro),
        np.array(accuracy),
        csr_array(sum(found[1:], found[0])),
        np.array([reliability(*claim).error for claim in claims] or [np.nan] * len(found)),
        reliability(confidence, right),
    )


def _margins(confusion: csr_array) -> tuple[Doubles, Doubles, Doubles]:
    """For each class: right predictions, nodes, predictions."""
    classes = confusion.shape[0]
    hits = confusion[:, :classes].diagonal()
    return hits, confusion.sum(axis=1), confusion.sum(axis=0)[:classes]


def _check_draw(truth: Ints, chosen: Ints, classes: int) -> None:
    drawn = len(np.unique(truth[chosen]))
    if drawn < 2:
        draw = f"a draw of {len(chosen)} seed{'s' * (len(chosen) > 1)} has only one class of {classes}"
        balanced = Option("policy", "balanced")
        message = f"{draw}: raise {{fraction}}, or set {{policy}}"
        raise ParameterError(message, fraction=Option("fraction"), policy=balanced)
    if len(chosen) == np.count_nonzero(truth >= 0):
        raise ParameterError("no label is hidden to compare with: lower {fraction}", fraction=Option("fraction"))
