"""How well a graph's labels are found again: hide most of them, classify, compare; all rules from one solve."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from isotherm.calibration import CalibrationWarning
from isotherm.classifier import DirichletClassifier
from isotherm.dirichlet import UnreachedWarning
from isotherm.graph import Graph, as_graph
from isotherm.labels import Ints, Labels
from isotherm.reliability import Reliability, reliability
from isotherm.rules import RULES, apply_rule
from isotherm.seeds import Floats, RareClassWarning, Seeds, sample

__all__ = ["Evaluation", "RuleScores", "class_scores", "evaluate"]

Claims: TypeAlias = tuple[Floats, NDArray[np.bool_]]  # the confidence of labels, and which of them are right
Progress: TypeAlias = Callable[[int, int], None]  # runs that are done, and all runs


@dataclass(frozen=True, eq=False)
class RuleScores:
    """What one rule made of the hidden labels.

    Attributes
    ----------
    macro_f1, micro_f1, accuracy : ndarray of shape (runs,)
        Of the hidden labels; an unreached node counts as wrong. Macro-F1 is the mean over the classes that are hidden
        or predicted.
    confusion : csr_array of shape (K, K + 1)
        Nodes by true and predicted class, over all runs; those of the last column are unreached.
    calibration_error : ndarray of shape (runs,)
        Expected calibration error of the reached ones; NaN without calibration.
    reliability : Reliability
        The same in full, over all runs; empty without calibration.
    """

    macro_f1: Floats
    micro_f1: Floats
    accuracy: Floats
    confusion: csr_array
    calibration_error: Floats
    reliability: Reliability


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What came of hiding labels.

    Attributes
    ----------
    rules : dict
        Scores by the name of the rule.
    classes : ndarray of shape (K,)
        All labels, sorted.
    seeds, unreached : ndarray of shape (runs,)
        How many labels were shown, and how many of the hidden ones are those of unreached nodes.
    hidden : ndarray of shape (runs,)
        How many labels were hidden.
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
    rules: Iterable[str] = (*RULES, "auto"),
    random_state: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Evaluation:
    """Show a classifier some labels, and score what it says of the others.

    Parameters
    ----------
    graph
        The graph: whatever ``DirichletClassifier.fit`` takes.
    labels
        The known labels, ``{node: label}`` or one for each node.
    fraction, policy
        The share of the labels that is shown, and how these are drawn: "uniform", "degree" or "balanced"; see
        `isotherm.seeds.sample`.
    runs
        How many draws.
    rules
        The rules to be scored, all from the same temperatures where these can be kept; "auto" is the one that held-out
        seeds speak for, left out where temperatures cannot be kept.
    random_state
        Fixes all draws.
    progress
        Called after each run with the runs that are done and all runs.
    **options
        For `DirichletClassifier`. Without ``calibration=None``, confidence is scored too: up to three more solves a
        draw, which "auto" needs as well.

    Examples
    --------
    Two groups of five that one edge joins:

    >>> group = [(i, j) for i in range(5) for j in range(i)]
    >>> source, target = zip(*group, (0, 5), *((i + 5, j + 5) for i, j in group))
    >>> labels = {node: "low" if node < 5 else "high" for node in range(10)}
    >>> found = evaluate(Graph.from_edges(source, target), labels, fraction=0.2, policy="balanced")
    >>> print(found.rules["centered"].accuracy.mean())
    1.0
    """
    graph = as_graph(graph)
    known = Seeds.from_labels(labels, graph)
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
        for rule, guess, confidence in _predicted(graph, truth, chosen, matrices, options):
            matrices[rule].append(_confusion(truth[hidden], guess[hidden], known.n_classes))
            if confidence is not None:
                known_label = hidden & (guess >= 0)
                claims[rule].append((confidence[known_label], (guess == truth)[known_label]))
        seeds.append(len(chosen))
        if progress is not None:
            progress(run + 1, runs)
    first = next(iter(matrices.values()))
    return Evaluation(
        {rule: _scores(found, claims[rule]) for rule, found in matrices.items() if found},
        known.classes,
        np.array(seeds, dtype=np.int64),
        np.array([matrix.sum() for matrix in first], dtype=np.int64),
        np.array([matrix[:, [-1]].sum() for matrix in first], dtype=np.int64),
    )


def class_scores(confusion: csr_array) -> NDArray[np.float64]:
    """Precision, recall and F1 of each class, shape (K, 3); 0 where there is nothing to divide by.

    >>> class_scores(csr_array(np.array([[3, 1, 0], [0, 1, 1]]))).round(2)
    array([[1.  , 0.75, 0.86],
           [0.5 , 0.5 , 0.5 ]])
    """
    hits, true, guessed = _margins(confusion)
    parts = (guessed, true, (true + guessed) / 2)
    return np.stack([np.divide(hits, part, out=np.zeros(len(hits)), where=part > 0) for part in parts], axis=1)


def _fitted(graph: Graph, truth: Ints, chosen: Ints, options: dict[str, Any]) -> DirichletClassifier:
    visible = np.full(len(truth), -1, dtype=np.int64)
    visible[chosen] = truth[chosen]
    with warnings.catch_warnings():
        for expected in (UnreachedWarning, RareClassWarning):  # part of the game, and counted
            warnings.simplefilter("ignore", expected)
        return DirichletClassifier(**options).fit(graph, visible)


def _predicted(
    graph: Graph, truth: Ints, chosen: Ints, rules: Iterable[str], options: dict[str, Any]
) -> Iterator[tuple[str, Ints, Floats | None]]:
    """The class that each rule gives each node, -1 where unreached, and how probable it is, if that is known.

    With too many classes to keep all temperatures, each rule needs a solve of its own, and "auto" is left out.
    """
    clf = _fitted(graph, truth, chosen, options)
    rows = np.arange(graph.n_nodes)
    probabilities = _probabilities(clf)
    for rule in rules:
        if hasattr(clf, "temperatures_"):
            used = clf.best_rule_ if rule == "auto" else rule
            columns = apply_rule(used, clf.temperatures_, clf.seeds_).argmax(axis=1)
            guess = np.where(clf.reached_, clf.classes_[columns], -1)
            yield rule, guess, None if probabilities is None else probabilities[rows, columns]
        elif rule != "auto":
            clf = clf if clf.rule == rule else _fitted(graph, truth, chosen, {**options, "rule": rule})
            yield rule, clf.labels_, None


def _probabilities(clf: DirichletClassifier) -> Floats | None:
    if clf.calibration is None or not hasattr(clf, "temperatures_"):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)  # the scores tell
        return clf.predict_proba()


def _confusion(true: Ints, guess: Ints, classes: int) -> csr_array:
    ends = true, np.where(guess < 0, classes, guess)
    return csr_array(coo_array((np.ones(len(true), dtype=np.int64), ends), shape=(classes, classes + 1)))


def _scores(found: list[csr_array], claims: list[Claims]) -> RuleScores:
    macro, micro, accuracy = [], [], []
    for matrix in found:
        hits, true, guessed = _margins(matrix)
        total = true + guessed
        macro.append(np.mean(2 * hits[total > 0] / total[total > 0]))
        micro.append(2 * hits.sum() / total.sum())
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


def _margins(confusion: csr_array) -> tuple[Floats, Floats, Floats]:
    """For each class: right predictions, nodes, predictions."""
    classes = confusion.shape[0]
    hits = confusion[:, :classes].diagonal()
    return hits, confusion.sum(axis=1), confusion.sum(axis=0)[:classes]


def _check_draw(truth: Ints, chosen: Ints, classes: int) -> None:
    drawn = len(np.unique(truth[chosen]))
    if drawn < 2:
        raise ValueError(
            f"a draw of {len(chosen)} seed{'s' * (len(chosen) > 1)} has one class of {classes} only: "
            "raise the fraction, or draw balanced seeds"
        )
    if len(chosen) == np.count_nonzero(truth >= 0):
        raise ValueError("no label is hidden, so there is nothing to compare with: lower the fraction")
