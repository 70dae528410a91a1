"""The tables of ``isotherm evaluate``."""

import shutil
import sys
from typing import TYPE_CHECKING

from isotherm.cli.tables import aligned, bar, plus_minus, shown

if TYPE_CHECKING:
    from isotherm.evaluation import Evaluation

__all__ = ["confusion", "heading", "of_classes", "of_rules"]

MOST_MISTAKES = 20


def heading(found: "Evaluation", policy: str) -> str:
    """What was shown and hidden, and what a guess would be worth."""
    runs = len(found.seeds)
    sizes = found.rules[found.best].confusion.sum(axis=1)
    return (
        f"{found.seeds.mean():,.0f} seeds ({policy}), {found.hidden.mean():,.0f} hidden labels "
        f"({found.unreached.mean():,.0f} unreached), {len(found.classes)} classes, {runs} run{'s' * (runs > 1)};\n"
        f"the largest class has {sizes.max() / sizes.sum():.3f} of the hidden labels"
    )


def of_rules(found: "Evaluation") -> str:
    """Mean and standard deviation of the scores of each rule."""
    rows = [["rule", "macro-F1", "micro-F1", "accuracy", ""]]
    for rule, scores in found.rules.items():
        columns = (scores.macro_f1, scores.micro_f1, scores.accuracy)
        cells = [plus_minus(values.mean(), values.std()) for values in columns]
        rows.append([rule, *cells, "best" if rule == found.best else ""])
    return aligned(rows, left=(0, 1, 2, 3, 4))


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
    """Nodes by true and predicted class; only the most frequent mistakes where a terminal is not wide enough."""
    names = [shown(label) for label in found.classes.tolist()]
    counts = found.rules[found.best].confusion.toarray().tolist()  # (K, K + 1)
    rows = [["", *names, "unreached"]]
    rows += [[name, *(f"{count:,}" for count in row)] for name, row in zip(names, counts, strict=True)]
    table = aligned(rows, left=(0,))
    if sys.stdout and sys.stdout.isatty() and table.index("\n") > shutil.get_terminal_size().columns:
        return _mistakes(names, counts)
    return table


def _mistakes(names: list[str], counts: list[list[int]]) -> str:
    pairs = [
        (count, name, guess, count / max(1, sum(row)))
        for name, row in zip(names, counts, strict=True)
        for count, guess in zip(row, [*names, "unreached"], strict=True)
        if count and name != guess
    ]
    rows = [["true", "predicted", "nodes", "share of the true class"]]
    for count, name, guess, share in sorted(pairs, key=lambda pair: -pair[0])[:MOST_MISTAKES]:
        rows.append([name, guess, f"{count:,}", f"{share:.2f}"])
    note = "The matrix is too wide for this terminal: these are its largest mistakes. Print it to a file to see all."
    return f"{note}\n\n{aligned(rows, left=(0, 1))}"
