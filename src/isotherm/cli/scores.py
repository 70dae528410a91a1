"""The tables of ``isotherm evaluate``."""

import shutil
import sys
from typing import TYPE_CHECKING

import numpy as np

from isotherm.cli.tables import aligned, bar, counted, plus_minus, shown

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from isotherm.evaluation import Evaluation

__all__ = ["confusion", "heading", "of_classes", "of_rules"]

MOST_MISTAKES = 20
MOST_COLUMNS = 200


def heading(found: "Evaluation", policy: str) -> str:
    """What was shown and hidden, and what a guess would be worth."""
    seeds, hidden = counted(found.seeds.mean(), "seed"), counted(found.hidden.mean(), "hidden label")
    sizes = found.rules[found.best].confusion.sum(axis=1)
    return (
        f"{seeds} ({policy}), {hidden} ({found.unreached.mean():,.0f} unreached), "
        f"{len(found.classes):,} classes, {counted(len(found.seeds), 'run')};\n"
        f"the largest class has {sizes.max() / sizes.sum():.3f} of the hidden labels"
    )


def of_rules(found: "Evaluation") -> str:
    """Mean and standard deviation of the scores of each rule."""
    calibrated = found.calibrated
    rows = [["rule", "macro-F1", "micro-F1", "accuracy", *["ECE"] * calibrated, ""]]
    for rule, scores in found.rules.items():
        columns = (scores.macro_f1, scores.micro_f1, scores.accuracy, *[scores.calibration_error] * calibrated)
        cells = [plus_minus(values.mean(), values.std()) for values in columns]
        rows.append([rule, *cells, "best" if rule == found.best else ""])
    return aligned(rows, left=(0, 1, 2, 3, 4, 5))


def of_classes(found: "Evaluation") -> str:
    """Precision, recall and F1 of each class under the best rule, the largest class first."""
    from isotherm.evaluation import class_scores

    matrix = found.rules[found.best].confusion
    table = zip(found.classes.tolist(), matrix.sum(axis=1).tolist(), class_scores(matrix).tolist(), strict=True)
    rows = [["class", "nodes", "precision", "recall", "F1", ""]]
    for label, nodes, values in sorted(table, key=lambda row: -row[1]):
        rows.append([shown(label), f"{nodes:,}", *(f"{value:.3f}" for value in values), bar(values[2])])
    return aligned(rows, left=(0, 5))


def confusion(found: "Evaluation") -> str:
    """Nodes by true and predicted class; only the most frequent mistakes where that is too wide."""
    names = [shown(label) for label in found.classes.tolist()]
    matrix = found.rules[found.best].confusion  # (K, K + 1)
    if len(names) > MOST_COLUMNS:
        return _mistakes(
            names, matrix, f"The matrix has {len(names):,} rows and columns: these are its largest mistakes."
        )
    rows = [["", *names, "unreached"]]
    rows += [[name, *(f"{n:,}" for n in row)] for name, row in zip(names, matrix.toarray().tolist(), strict=True)]
    table = aligned(rows, left=(0,))
    if sys.stdout and sys.stdout.isatty() and table.index("\n") > shutil.get_terminal_size().columns:
        return _mistakes(
            names,
            matrix,
            "The matrix is too wide for this terminal: these are its largest mistakes. Print it to a file to see all.",
        )
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
