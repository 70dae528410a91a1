"""Scores of rules or methods as tables: text, HTML, LaTeX and columns; then precision and mistakes of one rule."""

import math
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from isotherm.arrays import Doubles
from isotherm.seeds.encoding import Labels
from isotherm.study.scores import Scores, class_scores
from isotherm.tables import aligned, bar, counted, plus_minus, shown, table

TITLES = {"macro_f1": "macro-F1", "micro_f1": "micro-F1", "accuracy": "accuracy", "calibration_error": "ECE"}
SECONDS = "CPU s"
MOST_MISTAKES = 20
MOST_COLUMNS = 200
LATEX_SIGNS = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
LATEX_SIGNS["^"] = r"\textasciicircum{}"


class ScoreTable(NamedTuple):
    """Scores of rules or methods by name, shown in several ways."""

    kind: str  # what is scored: "rule" or "method"
    scores: Mapping[str, Scores]  # by name
    best: str  # the name to mark
    figures: tuple[str, ...]  # the attributes of `Scores` to show

    def columns(self) -> dict[str, list[Any]]:
        """One row for each name and draw."""
        runs = range(len(self.scores[self.best].accuracy))
        table: dict[str, list[Any]] = {self.kind: [name for name in self.scores for _ in runs]}
        table["draw"] = [*runs] * len(self.scores)
        for figure in self.figures:
            table[figure] = [value for each in self.scores.values() for value in listed(getattr(each, figure))]
        return table

    def lists(self) -> dict[str, dict[str, Any]]:
        """The scores of each draw by name and figure."""
        return {
            name: {figure: listed(getattr(each, figure)) for figure in self.figures}
            for name, each in self.scores.items()
        }

    def text(self) -> str:
        """Mean and standard deviation of each figure that was measured, and CPU seconds if they were."""
        rows = self._cells()
        return aligned(rows, left=tuple(place for place, title in enumerate(rows[0]) if title != SECONDS))

    def html(self, title: str) -> str:
        """The same for notebooks."""
        names, *rows = self._cells()
        return table(title, names, rows)

    def _cells(self) -> list[list[str]]:
        measured = [name for name in self.figures if self._measured(name)]
        timed = not math.isnan(self.scores[self.best].seconds)
        rows = [[self.kind, *(TITLES[name] for name in measured), *[SECONDS] * timed, ""]]
        for name, each in self.scores.items():
            cells = [score_cell(getattr(each, figure)) for figure in measured]
            seconds = [f"{each.seconds:.2f}"] * timed
            rows.append([name, *cells, *seconds, "best" if name == self.best else ""])
        return rows

    def latex(self) -> str:
        """The same in LaTeX, for the packages booktabs and amsmath; the best row is in bold."""
        measured = [name for name in self.figures if self._measured(name)]
        lines = [_latex_line([self.kind, *(TITLES[name] for name in measured)]), r"\midrule"]
        for name, each in self.scores.items():
            cells = [_latexscore_cell(getattr(each, figure), bold=name == self.best) for figure in measured]
            title = "".join(LATEX_SIGNS.get(sign, sign) for sign in name)
            lines.append(_latex_line([rf"\textbf{{{title}}}" if name == self.best else title, *cells]))
        start = rf"\begin{{tabular}}{{l{'r' * len(measured)}}}"
        return "\n".join([start, r"\toprule", *lines, r"\bottomrule", r"\end{tabular}"])

    def _measured(self, figure: str) -> bool:
        return not all(np.isnan(getattr(each, figure)).all() for each in self.scores.values())


class ScoreReport(ABC):
    """Scores that show themselves as a table."""

    def __repr__(self) -> str:
        table = self.table
        return f"<{type(self).__name__}: {counted(len(table.scores), table.kind)}, best {table.best}>"

    def __str__(self) -> str:
        return self.text()

    @property
    @abstractmethod
    def title(self) -> str:
        """What was shown and hidden."""

    @property
    @abstractmethod
    def table(self) -> ScoreTable:
        """The scores by name."""

    @abstractmethod
    def text(self) -> str:
        """The title, the table, and what follows from it."""

    @abstractmethod
    def to_json(self) -> str:
        """The same for machines, with the scores of each draw."""

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return self.table.html(self.title)

    def to_pandas(self) -> Any:
        """A data frame with a row for each rule or method and each draw."""
        import pandas

        return pandas.DataFrame(self.table.columns())

    def to_latex(self) -> str:
        """A table in LaTeX, for the packages booktabs and amsmath."""
        return self.table.latex()


def class_table(classes: Labels, matrix: csr_array) -> str:
    """Precision, recall and F1 of each class, the largest class first, from a confusion matrix (K, K + 1)."""
    table = zip(classes.tolist(), matrix.sum(axis=1).tolist(), class_scores(matrix).tolist(), strict=True)
    rows = [["class", "nodes", "precision", "recall", "F1", ""]]
    for label, nodes, values in sorted(table, key=lambda row: -row[1]):
        rows.append([shown(label), f"{nodes:,}", *(f"{value:.3f}" for value in values), bar(values[2])])
    return aligned(rows, left=(0, 5))


def confusion_table(classes: Labels, matrix: csr_array) -> str:
    """Nodes by true and predicted class (K, K + 1); only the most frequent mistakes if the matrix is too wide."""
    names = [shown(label) for label in classes.tolist()]
    if len(names) > MOST_COLUMNS:
        return _mistakes(names, matrix, f"The matrix has {len(names):,} rows: these are its largest mistakes.")
    rows = [["", *names, "unreached"]]
    rows += [[name, *(f"{n:,}" for n in row)] for name, row in zip(names, matrix.toarray().tolist(), strict=True)]
    table = aligned(rows, left=(0,))
    if sys.stdout and sys.stdout.isatty() and table.index("\n") > shutil.get_terminal_size().columns:
        note = "The matrix is too wide for this terminal: these are its largest mistakes. "
        return _mistakes(names, matrix, f"{note}Print it to a file to see all.")
    return table


def _mistakes(names: list[str], matrix: csr_array, note: str) -> str:
    """The entries off the diagonal, the largest first."""
    sizes, entries = matrix.sum(axis=1), matrix.tocoo()
    wrong = [place for place in np.argsort(-entries.data, kind="stable") if entries.row[place] != entries.col[place]]
    rows = [["true", "predicted", "nodes", "share of the true class"]]
    for place in wrong[:MOST_MISTAKES]:
        true, guess, count = entries.row[place], entries.col[place], entries.data[place]
        rows.append([names[true], [*names, "unreached"][guess], f"{count:,}", f"{count / sizes[true]:.2f}"])
    return f"{note}\n\n{aligned(rows, left=(0, 1))}"


def score_cell(values: Doubles) -> str:
    """Mean and standard deviation, which a single value has not; empty if there are no values."""
    if np.isnan(values).any():
        return ""
    return plus_minus(float(values.mean()), float(values.std())) if len(values) > 1 else f"{values.item():.3f}"


def listed(values: Doubles) -> list[float | None]:
    """The numbers as JSON has them: None for NaN."""
    return [None if math.isnan(value) else value for value in values.tolist()]


def _latex_line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latexscore_cell(values: Doubles, *, bold: bool) -> str:
    if np.isnan(values).any():
        return "--"
    numbers = f"{values.mean():.3f}" + (rf" \pm {values.std():.3f}" if len(values) > 1 else "")
    return rf"$\boldsymbol{{{numbers}}}$" if bold else f"${numbers}$"
