"""How well the labels of a graph are found again: hide most of them, classify, and compare."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from isotherm.arrays import Doubles, Ints
from isotherm.choices import DrawPolicy
from isotherm.errors import Option, ParameterError
from isotherm.graphs import as_graph
from isotherm.io.node_rows import read_node_features
from isotherm.labelling.rules import class_factors
from isotherm.node_classifier import RULE_NAMES, NodeClassifier
from isotherm.probability.class_sizes import known_sizes
from isotherm.seeds import Seeds
from isotherm.seeds.encoding import Labels
from isotherm.seeds.hiding import codes_of_nodes, sample
from isotherm.study.methods import by_rules, classifiers
from isotherm.study.score_tables import ScoreReport, ScoreTable, class_table, confusion_table
from isotherm.study.scores import Scores, Tally
from isotherm.study.tasks import Draw, Task, check_runs, draw_seeds
from isotherm.tables import counted

Progress: TypeAlias = Callable[[int, int], None]  # number of runs done, and in total


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(ScoreReport):
    """The result of `evaluate`; `print` shows it as a table."""

    rules: dict[str, Scores]
    classes: Labels  # (K,) all labels, sorted
    policy: str  # how the labels to show were drawn
    seeds: Ints  # (runs,) number of labels shown
    hidden: Ints  # (runs,) number of labels hidden
    unreached: Ints  # (runs,) number of hidden labels of unreached nodes

    @property
    def calibrated(self) -> bool:
        """Whether confidence was scored."""
        return all(len(scores.reliability.count) for scores in self.rules.values())

    @property
    def best(self) -> str:
        """The rule with the highest mean macro-F1."""
        return max(self.rules, key=lambda rule: float(self.rules[rule].macro_f1.mean()))

    @property
    def title(self) -> str:
        """What was shown and hidden."""
        seeds, hidden = counted(self.seeds.mean(), "seed"), counted(self.hidden.mean(), "hidden label")
        sizes = self.rules[self.best].confusion.sum(axis=1)
        return (
            f"{seeds} ({self.policy}), {hidden} ({self.unreached.mean():,.0f} unreached), "
            f"{len(self.classes):,} classes, {counted(len(self.seeds), 'run')};\n"
            f"the largest class has {sizes.max() / sizes.sum():.3f} of the hidden labels"
        )

    @property
    def table(self) -> ScoreTable:
        """The scores of the rules."""
        return ScoreTable("rule", self.rules, self.best, ("macro_f1", "micro_f1", "accuracy", "calibration_error"))

    def text(self, *, per_class: bool = False, confusion_matrix: bool = False) -> str:
        """The title and the table of rules; for the best rule, scores of each class and mistakes if wanted."""
        matrix, parts = self.rules[self.best].confusion, [self.title, self.table.text()]
        if per_class:
            parts += [f"Rule {self.best}, all runs:", class_table(self.classes, matrix)]
        if confusion_matrix:
            parts += [f"Rule {self.best}, all runs, true classes in rows:", confusion_table(self.classes, matrix)]
        return "\n\n".join(parts)

    def to_json(self) -> str:
        """The same for machines, with the scores of each draw; null where there are none."""
        values = {
            "policy": self.policy,
            "classes": self.classes.tolist(),
            "seeds": self.seeds.tolist(),
            "hidden": self.hidden.tolist(),
            "unreached": self.unreached.tolist(),
            "best": self.best,
            "rules": self.table.lists(),
        }
        return json.dumps(values, indent=2, ensure_ascii=False)


def evaluate(
    graph: Any,
    labels: Mapping[Any, Any] | Iterable[Any],
    *,
    features: Any = None,
    fraction: float = 0.01,
    policy: DrawPolicy = "uniform",
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
        The graph: whatever ``NodeClassifier.fit`` takes. Rules on temperatures take all kinds of edges alike.
    labels
        The known labels, ``{node: label}`` or one for each node.
    features
        What is known about the nodes besides links, for the decisions of `NodeClassifier`; as for its `fit`.
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
        Parameters of `NodeClassifier` and `DirichletClassifier`. Unless ``calibration=None``, the confidence of rules
        is scored too, which takes up to three more solves a draw.

    Examples
    --------
    Two groups of five, joined by one edge:

    >>> from isotherm import Graph
    >>> group = [(i, j) for i in range(5) for j in range(i)]
    >>> source, target = zip(*group, (0, 5), *((i + 5, j + 5) for i, j in group))
    >>> labels = {node: "low" if node < 5 else "high" for node in range(10)}
    >>> found = evaluate(Graph.from_edges(source, target), labels, fraction=0.2, policy="balanced")
    >>> print(found.rules["centered"].accuracy.mean())
    1.0
    """
    rules = tuple(rules)
    estimators = classifiers(rules, parameters)
    check_runs(runs)
    graph = as_graph(graph)
    known = Seeds.from_labels(labels, graph)
    weights = class_factors(parameters.get("class_weight"), known)
    given = parameters.get("class_sizes")
    sizes = None if given is None else known_sizes(given, known)
    table = None if features is None else read_node_features(features, graph)
    task = Task(graph, codes_of_nodes(known, graph.n_nodes), table and table.rows)
    protocol = partial(sample, policy, size=fraction, degrees=graph.degrees)
    tallies = {rule: Tally() for rule in rules}
    draws = []
    for run in range(runs):
        draw = draw_seeds(task, protocol, [random_state, run])
        _check_draw(draw)
        present = np.unique(draw.known[draw.seeds])  # classes are numbers here, and not all have a seed
        for estimator in estimators:
            if isinstance(estimator, NodeClassifier):
                estimator.set_params(class_weight=_by_code(weights, present), class_sizes=_sizes(sizes, present))
        for rule, found in by_rules(estimators, task, draw, rules).items():
            tallies[rule].add(draw, found)
        draws.append((len(draw.seeds), np.count_nonzero(draw.scored)))
        if progress is not None:
            progress(run + 1, runs)
    scored = {rule: tally for rule, tally in tallies.items() if tally.scores}
    seeds, hidden = np.array(draws, dtype=np.int64).T
    unlabelled = np.array([each.unlabelled for each in next(iter(scored.values())).scores])
    unreached = np.rint(unlabelled * hidden).astype(np.int64)
    by_rule = {rule: tally.result() for rule, tally in scored.items()}
    return Evaluation(by_rule, known.classes, policy, seeds, hidden, unreached)


def _by_code(values: Doubles | None, present: Ints) -> dict[int, float] | None:
    """The values (K,) of some classes by their numbers, without those that are NaN."""
    if values is None:
        return None
    return {code: float(values[code]) for code in present.tolist() if not np.isnan(values[code])}


def _sizes(sizes: Doubles | None, present: Ints) -> dict[int, float] | None:
    """The sizes of these classes; if all are known, their shares among each other."""
    found = _by_code(sizes, present)
    if found is None or len(found) < len(present):
        return found
    return {code: size / sum(found.values()) for code, size in found.items()}


def _check_draw(draw: Draw) -> None:
    count, drawn = len(draw.seeds), len(np.unique(draw.known[draw.seeds]))
    if drawn < 2:
        found = f"a draw of {count} seed{'s' * (count > 1)} has only one class of {draw.task.n_classes}"
        message = f"{found}: raise {{fraction}}, or set {{policy}}"
        raise ParameterError(message, fraction=Option("fraction"), policy=Option("policy", "balanced"))
    if not draw.scored.any():
        raise ParameterError("no label is hidden to compare with: lower {fraction}", fraction=Option("fraction"))
