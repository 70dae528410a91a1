"""What ``isotherm evaluate`` and ``isotherm compare`` print and write: scores as text, JSON, LaTeX and columns."""

import json
import math
import shutil
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isotherm.tables import aligned, bar, counted, plus_minus, shown

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from isotherm.arrays import Doubles
    from isotherm.study.comparison import Comparison, Curve
    from isotherm.study.evaluation import Evaluation
    from isotherm.study.scores import Scores

TITLES = {"macro_f1": "macro-F1", "micro_f1": "micro-F1", "accuracy": "accuracy", "calibration_error": "ECE"}
MOST_MISTAKES = 20
MOST_COLUMNS = 200
LATEX_SIGNS = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
LATEX_SIGNS["^"] = r"\textasciicircum{}"


class ScoreTable(NamedTuple):
    """Scores of rules or methods by name, shown in several ways."""

    kind: str  # what is scored: "rule" or "method"
    scores: "Mapping[str, Scores]"  # by name
    best: str  # the name to mark
    figures: tuple[str, ...]  # the attributes of `Scores` to show

    @classmethod
    def of_rules(cls, found: "Evaluation") -> "ScoreTable":
        """The rules of an evaluation."""
        return cls("rule", found.rules, found.best, ("macro_f1", "micro_f1", "accuracy", "calibration_error"))

    @classmethod
    def of_methods(cls, found: "Comparison") -> "ScoreTable":
        """The methods of a comparison."""
        return cls("method", found.methods, found.best, ("accuracy", "macro_f1", "calibration_error"))

    def columns(self) -> dict[str, list[Any]]:
        """One row for each name and draw."""
        runs = range(len(self.scores[self.best].accuracy))
        table: dict[str, list[Any]] = {self.kind: [name for name in self.scores for _ in runs]}
        table["draw"] = [*runs] * len(self.scores)
        for figure in self.figures:
            table[figure] = [value for each in self.scores.values() for value in _listed(getattr(each, figure))]
        return table

    def lists(self) -> dict[str, dict[str, Any]]:
        """The scores of each draw by name and figure."""
        return {
            name: {figure: _listed(getattr(each, figure)) for figure in self.figures}
            for name, each in self.scores.items()
        }

    def text(self) -> str:
        """Mean and standard deviation of each figure that was measured, and CPU seconds if they were."""
        measured = [name for name in self.figures if self._measured(name)]
        timed = not math.isnan(self.scores[self.best].seconds)
        rows = [[self.kind, *(TITLES[name] for name in measured), *["CPU s"] * timed, ""]]
        for name, each in self.scores.items():
            cells = [_cell(getattr(each, figure)) for figure in measured]
            seconds = [f"{each.seconds:.2f}"] * timed
            rows.append([name, *cells, *seconds, "best" if name == self.best else ""])
        return aligned(rows, left=tuple(place for place in range(len(rows[0])) if rows[0][place] != "CPU s"))

    def latex(self) -> str:
        """The same in LaTeX, for the packages booktabs and amsmath; the best row is in bold."""
        measured = [name for name in self.figures if self._measured(name)]
        lines = [_latex_line([self.kind, *(TITLES[name] for name in measured)]), r"\midrule"]
        for name, each in self.scores.items():
            cells = [_latex_cell(getattr(each, figure), bold=name == self.best) for figure in measured]
            title = "".join(LATEX_SIGNS.get(sign, sign) for sign in name)
            lines.append(_latex_line([rf"\textbf{{{title}}}" if name == self.best else title, *cells]))
        start = rf"\begin{{tabular}}{{l{'r' * len(measured)}}}"
        return "\n".join([start, r"\toprule", *lines, r"\bottomrule", r"\end{tabular}"])

    def _measured(self, figure: str) -> bool:
        return not all(np.isnan(getattr(each, figure)).all() for each in self.scores.values())


def evaluation_text(
    found: "Evaluation", policy: str, *, per_class: bool = False, confusion_matrix: bool = False
) -> str:
    """What was hidden, the table of rules, and the tables that were asked for."""
    seeds, hidden = counted(found.seeds.mean(), "seed"), counted(found.hidden.mean(), "hidden label")
    sizes = found.rules[found.best].confusion.sum(axis=1)
    heading = (
        f"{seeds} ({policy}), {hidden} ({found.unreached.mean():,.0f} unreached), "
        f"{len(found.classes):,} classes, {counted(len(found.seeds), 'run')};\n"
        f"the largest class has {sizes.max() / sizes.sum():.3f} of the hidden labels"
    )
    parts = [heading, ScoreTable.of_rules(found).text()]
    if per_class:
        parts += [f"Rule {found.best}, all runs:", _class_table(found)]
    if confusion_matrix:
        parts += [f"Rule {found.best}, all runs, true classes in rows:", confusion(found)]
    return "\n\n".join(parts)


def evaluation_json(found: "Evaluation", policy: str) -> str:
    """The same for machines, with the scores of each draw; null where there are none."""
    values = {
        "policy": policy,
        "classes": found.classes.tolist(),
        "seeds": found.seeds.tolist(),
        "hidden": found.hidden.tolist(),
        "unreached": found.unreached.tolist(),
        "best": found.best,
        "rules": ScoreTable.of_rules(found).lists(),
    }
    return json.dumps(values, indent=2, ensure_ascii=False)


def comparison_text(found: "Comparison") -> str:
    """The table of methods, the learning curve, and what follows from them."""
    draws = counted(len(found.methods[found.best].accuracy), "draw")
    labels, hidden = counted(found.seeds, "label"), counted(found.hidden, "hidden label")
    parts = [
        f"{labels} shown, {hidden}, {found.classes:,} classes, {draws}; ± is the standard deviation over draws",
        ScoreTable.of_methods(found)._replace(scores=found.ranked).text(),
        _method_advice(found),
        _curve_table(found.curve),
        _labels_advice(found.curve),
    ]
    if found.left_out:
        parts.append("Left out: " + "; ".join(f"{name} ({why})" for name, why in found.left_out.items()))
    return "\n\n".join(parts)


def comparison_json(found: "Comparison") -> str:
    """The same for machines; figures that do not exist are null."""
    methods = ScoreTable.of_methods(found).lists()
    for name, figures in methods.items():
        figures["cpu_seconds"] = found.methods[name].seconds
    values = {
        "seeds": found.seeds,
        "hidden": found.hidden,
        "classes": found.classes,
        "best": found.best,
        "best_of_isotherm": found.best_of_ours,
        "methods": methods,
        "left_out": found.left_out,
        "learning_curve": {
            "method": found.curve.method,
            "seeds": found.curve.seeds.tolist(),
            "accuracy": [_listed(row) for row in found.curve.accuracy],
            "macro_f1": [_listed(row) for row in found.curve.macro_f1],
        },
    }
    return json.dumps(values, indent=2, ensure_ascii=False)


def _method_advice(found: "Comparison") -> str:
    best, ours = found.best, found.best_of_ours
    if best == ours:
        return f"{best} finds hidden labels best on this graph."
    lead, error = found.behind(ours)
    sure = "more" if lead > 2 * error else "less"
    return (
        f"{best} finds hidden labels best on this graph; {ours} is {100 * lead:.1f} points of macro-F1 behind, "
        f"{sure} than two standard errors over draws."
    )


def _curve_table(curve: "Curve") -> str:
    rows = [["labels shown", "accuracy", "macro-F1"]]
    for seeds, *scores in zip(curve.seeds, curve.accuracy, curve.macro_f1, strict=True):
        rows.append([f"{seeds:,}", *map(_cell, scores)])
    return f"{curve.method}, with fewer labels:\n\n{aligned(rows)}"


def _labels_advice(curve: "Curve") -> str:
    gain, error = curve.gain
    if math.isnan(gain):
        return "There are too few labels to say whether more would help."
    known = "" if math.isnan(error) else f" (standard error {100 * error:.1f})"
    found = f"The last doubling of the labels added {100 * gain:+.1f} points of macro-F1{known}"
    if gain <= 0.005 or (not math.isnan(error) and gain < 2 * error):
        return f"{found}: more labels may not help much."
    return f"{found}; the next one should add about as much, or a little less."


def _class_table(found: "Evaluation") -> str:
    """Precision, recall and F1 of each class under the best rule, the largest class first."""
    from isotherm.study.scores import class_scores

    matrix = found.rules[found.best].confusion
    table = zip(found.classes.tolist(), matrix.sum(axis=1).tolist(), class_scores(matrix).tolist(), strict=True)
    rows = [["class", "nodes", "precision", "recall", "F1", ""]]
    for label, nodes, values in sorted(table, key=lambda row: -row[1]):
        rows.append([shown(label), f"{nodes:,}", *(f"{value:.3f}" for value in values), bar(values[2])])
    return aligned(rows, left=(0, 5))


def confusion(found: "Evaluation") -> str:
    """Nodes by true and predicted class; only the most frequent mistakes if the matrix is too wide."""
    names = [shown(label) for label in found.classes.tolist()]
    matrix = found.rules[found.best].confusion  # (K, K + 1)
    if len(names) > MOST_COLUMNS:
        return _mistakes(names, matrix, f"The matrix has {len(names):,} rows: these are its largest mistakes.")
    rows = [["", *names, "unreached"]]
    rows += [[name, *(f"{n:,}" for n in row)] for name, row in zip(names, matrix.toarray().tolist(), strict=True)]
    table = aligned(rows, left=(0,))
    if sys.stdout and sys.stdout.isatty() and table.index("\n") > shutil.get_terminal_size().columns:
        note = "The matrix is too wide for this terminal: these are its largest mistakes. "
        return _mistakes(names, matrix, f"{note}Print it to a file to see all.")
    return table


def _mistakes(names: list[str], matrix: "csr_array", note: str) -> str:
    """The entries off the diagonal, the largest first."""
    sizes, entries = matrix.sum(axis=1), matrix.tocoo()
    wrong = [place for place in np.argsort(-entries.data, kind="stable") if entries.row[place] != entries.col[place]]
    rows = [["true", "predicted", "nodes", "share of the true class"]]
    for place in wrong[:MOST_MISTAKES]:
        true, guess, count = entries.row[place], entries.col[place], entries.data[place]
        rows.append([names[true], [*names, "unreached"][guess], f"{count:,}", f"{count / sizes[true]:.2f}"])
    return f"{note}\n\n{aligned(rows, left=(0, 1))}"


def _cell(values: "Doubles") -> str:
    """Mean and standard deviation; empty if there are no values."""
    return "" if np.isnan(values).any() else plus_minus(float(values.mean()), float(values.std()))


def _listed(values: "Doubles") -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _latex_line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_cell(values: "Doubles", *, bold: bool) -> str:
    if np.isnan(values).any():
        return "--"
    numbers = rf"{values.mean():.3f} \pm {values.std():.3f}"
    return rf"$\boldsymbol{{{numbers}}}$" if bold else f"${numbers}$"
