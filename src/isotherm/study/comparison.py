"""Which method finds the hidden labels of one graph best, and how many labels would help."""

import json
import math
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Ints
from isotherm.errors import Option, ParameterError
from isotherm.graphs import as_graph
from isotherm.io.node_rows import read_node_features
from isotherm.seeds import Seeds
from isotherm.seeds.hiding import codes_of_nodes, sample_two_classes
from isotherm.study.methods import METHODS, Method
from isotherm.study.score_tables import ScoreReport, ScoreTable, listed, score_cell
from isotherm.study.scores import Scores, Tally
from isotherm.study.tasks import Draw, Task, check_runs, draw_seeds
from isotherm.tables import aligned, counted

Progress: TypeAlias = Callable[[int, int], None]  # number of fits done, and in total
FEWER = (1 / 16, 1 / 8, 1 / 4, 1 / 2)  # shares of the shown labels, on the learning curve
LARGE = 0.02  # macro-F1 worth more labels
LEAST = 3  # fewest labels on the learning curve


@dataclass(frozen=True, eq=False)
class Curve:
    """How well Isotherm found the hidden labels, with more and more seeds."""

    method: str  # Isotherm, with features if there are any
    seeds: Ints  # (sizes,) number of seeds
    accuracy: Doubles  # (sizes, runs)
    macro_f1: Doubles  # (sizes, runs)

    @property
    def gain(self) -> tuple[float, float]:
        """The macro-F1 that the last doubling of the seeds added, and its standard error over draws."""
        if len(self.seeds) < 2:
            return np.nan, np.nan
        steps = (self.macro_f1[-1] - self.macro_f1[-2]) / np.log2(self.seeds[-1] / self.seeds[-2])
        return float(steps.mean()), _standard_error(steps)

    def text(self) -> str:
        """A row for each number of seeds."""
        rows = [["labels shown", "accuracy", "macro-F1"]]
        for seeds, *scores in zip(self.seeds, self.accuracy, self.macro_f1, strict=True):
            rows.append([f"{seeds:,}", *map(score_cell, scores)])
        return f"{self.method}, with fewer labels:\n\n{aligned(rows)}"

    @property
    def advice(self) -> str:
        """Whether more labels would help."""
        gain, error = self.gain
        if math.isnan(gain):
            return "There are too few labels to say whether more would help."
        known = "" if math.isnan(error) else f" (standard error {100 * error:.1f})"
        found = f"The last doubling of the labels added {100 * gain:+.1f} points of macro-F1{known}"
        if gain < 2 * error and gain + 2 * error > LARGE:
            return f"{found}: these are too few draws or labels to tell whether more labels would help."
        if gain <= 0.005 or gain < 2 * error:
            return f"{found}: more labels may not help much."
        return f"{found}; the next one should add about as much, or a little less."


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ScoreReport):
    """The result of `compare`; `print` shows it as a table."""

    methods: dict[str, Scores]
    left_out: dict[str, str]  # why a method was not run
    seeds: int  # number of labels shown
    hidden: int  # number of labels hidden
    classes: int
    curve: Curve  # scores with fewer seeds

    @property
    def ranked(self) -> dict[str, Scores]:
        """The methods by the mean of accuracy and macro-F1, the best first."""
        return {name: self.methods[name] for name in sorted(self.methods, key=self._mean, reverse=True)}

    @property
    def best(self) -> str:
        """The method with the highest mean of accuracy and macro-F1."""
        return max(self.methods, key=self._mean)

    @property
    def best_of_ours(self) -> str:
        """The same among the methods of Isotherm."""
        return max((name for name in self.methods if METHODS[name].ours), key=self._mean)

    def behind(self, name: str, figure: str = "macro_f1") -> tuple[float, float]:
        """The paired difference of the best method and this one, and its standard error over draws."""
        steps = getattr(self.methods[self.best], figure) - getattr(self.methods[name], figure)
        return float(steps.mean()), _standard_error(steps)

    @property
    def title(self) -> str:
        """What was shown and hidden."""
        labels, hidden = counted(self.seeds, "label"), counted(self.hidden, "hidden label")
        n_draws = len(self.methods[self.best].accuracy)
        note = "; ± is the standard deviation over draws" * (n_draws > 1)
        return f"{labels} shown, {hidden}, {self.classes:,} classes, {counted(n_draws, 'draw')}{note}"

    @property
    def table(self) -> ScoreTable:
        """The scores of the methods, the best first."""
        return ScoreTable("method", self.ranked, self.best, ("accuracy", "macro_f1", "calibration_error"))

    def text(self) -> str:
        """The title, the table of methods, the learning curve, and what follows from them."""
        parts = [self.title, self.table.text(), self._advice, self.curve.text(), self.curve.advice]
        if self.left_out:
            parts.append("Left out: " + "; ".join(f"{name} ({why})" for name, why in self.left_out.items()))
        return "\n\n".join(parts)

    @property
    def _advice(self) -> str:
        best, ours = self.best, self.best_of_ours
        if best == ours:
            return f"{best} finds hidden labels best on this graph."
        lead, error = self.behind(ours)
        sure = "more" if lead > 2 * error else "less"
        return (
            f"{best} finds hidden labels best on this graph; {ours} is {100 * lead:.1f} points of macro-F1 behind, "
            f"{sure} than two standard errors over draws."
        )

    def to_json(self) -> str:
        """The same for machines; figures that do not exist are null."""
        methods = self.table.lists()
        for name, figures in methods.items():
            figures["cpu_seconds"] = self.methods[name].seconds
        values = {
            "seeds": self.seeds,
            "hidden": self.hidden,
            "classes": self.classes,
            "best": self.best,
            "best_of_isotherm": self.best_of_ours,
            "methods": methods,
            "left_out": self.left_out,
            "learning_curve": {
                "method": self.curve.method,
                "seeds": self.curve.seeds.tolist(),
                "accuracy": [listed(row) for row in self.curve.accuracy],
                "macro_f1": [listed(row) for row in self.curve.macro_f1],
            },
        }
        return json.dumps(values, indent=2, ensure_ascii=False)

    def _mean(self, name: str) -> float:
        scores = self.methods[name]
        return float(scores.accuracy.mean() + scores.macro_f1.mean())


def compare(
    graph: Any,
    labels: Mapping[Any, Any] | Iterable[Any],
    *,
    features: Any = None,
    fraction: float = 0.5,
    runs: int = 10,
    peers: bool = True,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Show some labels to every method, and score what they find for the others.

    Parameters
    ----------
    graph
        The graph: whatever ``NodeClassifier.fit`` takes. Only the decisions of Isotherm find weights of kinds of
        edges; other methods take all kinds alike.
    labels
        The known labels, ``{node: label}`` or one for each node.
    features
        What is known about the nodes besides links, as for ``NodeClassifier.fit``.
    fraction
        The share of the labels that is shown.
    runs
        Number of draws.
    peers
        Whether to compare with methods of other packages, if they are installed, and with baselines.
    random_state
        Seed of all draws.
    progress
        Called after each fit with the number of fits done and the total.

    Examples
    --------
    >>> from isotherm.study.datasets import karate_club
    >>> club = karate_club()
    >>> found = compare(club.graph, club.labels, fraction=0.3, runs=2, peers=False)
    >>> found.seeds, found.hidden, found.methods["Isotherm"].accuracy.shape
    (10, 24, (2,))
    """
    check_runs(runs)
    graph = as_graph(graph)
    known = Seeds.from_labels(labels, graph)
    given = None if features is None else csr_array(read_node_features(features, graph).rows)
    task = Task(graph, codes_of_nodes(known, graph.n_nodes), given)
    _check_labels(len(known.codes), known.n_classes, fraction)
    chosen, left_out = _methods(task, peers)
    draws = _draws(task, fraction, runs, random_state)
    total, finished = runs * (len(chosen) + len(draws) - 1), count(1)

    def run(method: Method, some: list[Draw]) -> Scores:
        began, tally = time.process_time(), Tally()
        for draw in some:
            with warnings.catch_warnings():
                if not method.ours:
                    warnings.simplefilter("ignore")  # about their own internals
                tally.add(draw, method.run(task, draw))
            if progress is not None:
                progress(next(finished), total)
        return tally.result((time.process_time() - began) / len(some))

    found = {}
    for method in chosen:
        try:
            found[method.name] = run(method, draws[-1])
        except Exception as error:
            if method.ours:
                raise
            left_out[method.name] = f"failed: {str(error) or type(error).__name__}"
    rich = next((name for name in found if METHODS[name].ours and METHODS[name].features), "Isotherm")
    scores = [*(run(METHODS[rich], fewer) for fewer in draws[:-1]), found[rich]]
    seeds = np.array([round(float(np.mean([len(draw.seeds) for draw in each]))) for each in draws], dtype=np.int64)
    curve = Curve(rich, seeds, np.array([s.accuracy for s in scores]), np.array([s.macro_f1 for s in scores]))
    last = draws[-1][0]
    return Comparison(found, left_out, len(last.seeds), int(last.scored.sum()), known.n_classes, curve)


def _methods(task: Task, peers: bool) -> tuple[list[Method], dict[str, str]]:
    """The methods to run, and why others are left out."""
    chosen, left_out = [], {}
    for method in METHODS.values():
        if method.again or not (method.ours or peers):
            continue
        if method.features and task.features is None:
            left_out[method.name] = "needs features"
        elif not method.installed:
            left_out[method.name] = f"needs the package {method.needs}"
        else:
            chosen.append(method)
    return chosen, left_out


def _draws(task: Task, fraction: float, runs: int, random_state: int) -> list[list[Draw]]:
    """Nested draws with more and more seeds; all are scored on the nodes that the largest leaves hidden."""
    largest = [draw_seeds(task, partial(sample_two_classes, size=fraction), [random_state, run]) for run in range(runs)]

    def fewer(run: int, part: float) -> Draw:
        rng = np.random.default_rng([random_state, run])
        return Draw.of(task, sample_two_classes(largest[run].known, part, rng), largest[run].scored)

    shares = [part for part in FEWER if part * len(largest[0].seeds) >= LEAST]
    return [*([fewer(run, part) for run in range(runs)] for part in shares), largest]


def _check_labels(known: int, classes: int, fraction: float) -> None:
    if classes < 2:
        raise ParameterError("all labels are the same: methods can be compared only where there are two classes")
    if round(fraction * known) < 2:
        found = f"{known} labels are too few to show some and hide others"
        remedy = "give more, or raise {fraction}" if known > 2 else "give more"
        raise ParameterError(f"{found}: {remedy}", fraction=Option("fraction"))
    if round(fraction * known) >= known:
        raise ParameterError("no label is hidden to compare with: lower {fraction}", fraction=Option("fraction"))


def _standard_error(values: Doubles) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
