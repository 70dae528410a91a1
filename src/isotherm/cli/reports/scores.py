"""The tables of ``isotherm evaluate``."""

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from isotherm.cli.reports.latex import score_table
from isotherm.cli.terminal.text import aligned, bar, counted, plus_minus, shown

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from isotherm.arrays import Doubles
    from isotherm.study.evaluation import Evaluation

__all__ = ["as_json", "as_latex", "class_table", "confusion", "draws", "heading", "rule_table", "text"]

FIGURES = ("macro_f1", "micro_f1", "accuracy", "calibration_error")
MOST_MISTAKES = 20
MOST_COLUMNS = 200


def text(found: "Evaluation", policy: str, *, per_class: bool = False, confused: bool = False) -> str:
    """All tables that were asked for."""
    parts = [heading(found, policy), rule_table(found)]
    if per_class:
        parts += [f"Rule {found.best}, all runs:", class_table(found)]
    if confused:
        parts += [f"Rule {found.best}, all runs, true classes in rows:", confusion(found)]
    return "\n\n".join(parts)


def as_json(found: "Evaluation", policy: str) -> str:
    """The same for machines, with the scores of each draw; null where there are none."""
    values = {
        "policy": policy,
        "classes": found.classes.tolist(),
        "seeds": found.seeds.tolist(),
        "hidden": found.hidden.tolist(),
        "unreached": found.unreached.tolist(),
        "best": found.best,
        "rules": {
            rule: {name: _listed(getattr(scores, name)) for name in FIGURES} for rule, scores in found.rules.items()
        },
    }
    return json.dumps(values, indent=2, ensure_ascii=False)


def as_latex(found: "Evaluation") -> str:
    """The table of rules in LaTeX."""
    names = ["rule", "macro-F1", "micro-F1", "accuracy", *["ECE"] * found.calibrated]
    rows = {rule: [getattr(scores, name) for name in FIGURES[: len(names) - 1]] for rule, scores in found.rules.items()}
    return score_table(names, rows, best=found.best)


def draws(found: "Evaluation") -> dict[str, list[Any]]:
    """A table with one row for each rule and draw."""
    runs = len(found.seeds)
    table: dict[str, list[Any]] = {"rule": [rule for rule in found.rules for _ in range(runs)]}
    table["draw"] = list(range(runs)) * len(found.rules)
    for name in FIGURES:
        table[name] = [value for scores in found.rules.values() for value in _listed(getattr(scores, name))]
    return table


def _listed(values: "Doubles") -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]


def heading(found: "Evaluation", policy: str) -> str:
    """What was shown and hidden, and how often the largest class is right."""
    seeds, hidden = counted(found.seeds.mean(), "seed"), counted(found.hidden.mean(), "hidden label")
    sizes = found.rules[found.best].confusion.sum(axis=1)
    return (
        f"{seeds} ({policy}), {hidden} ({found.unreached.mean():,.0f} unreached), "
        f"{len(found.classes):,} classes, {counted(len(found.seeds), 'run')};\n"
        f"the largest class has {sizes.max() / sizes.sum():.3f} of the hidden labels"
    )


def rule_table(found: "Evaluation") -> str:
    """Mean and standard deviation of the scores of each rule."""
    calibrated = found.calibrated
    rows = [["rule", "macro-F1", "micro-F1", "accuracy", *["ECE"] * calibrated, ""]]
    for rule, scores in found.rules.items():
        columns = (scores.macro_f1, scores.micro_f1, scores.accuracy, *[scores.calibration_error] * calibrated)
        cells = [plus_minus(values.mean(), values.std()) for values in columns]
        rows.append([rule, *cells, "best" if rule == found.best else ""])
    return aligned(rows, left=(0, 1, 2, 3, 4, 5))


def class_table(found: "Evaluation") -> str:
    """Precision, recall and F1 of each class under the best rule, the largest class first."""
    from isotherm.study.evaluation import class_scores

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
        note = (
            "The matrix is too wide for this terminal: these are its largest mistakes. Print it to a file to see all."
        )
        return _mistakes(names, matrix, note)
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
