"""Tables of scores in LaTeX, for the packages booktabs and amsmath."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["score_table"]

SPECIAL = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
SPECIAL["^"] = r"\textasciicircum{}"


def score_table(names: Sequence[str], rows: Mapping[str, Iterable[Any]], *, best: str) -> str:
    r"""A row for each method with means and standard deviations, the best row in bold.

    >>> import numpy as np
    >>> print(score_table(["rule", "accuracy"], {"mean_rule": [np.array([0.5, 0.75])]}, best="other"))
    \begin{tabular}{lr}
    \toprule
    rule & accuracy \\
    \midrule
    mean\_rule & $0.625 \pm 0.125$ \\
    \bottomrule
    \end{tabular}
    """
    body = [[_escaped(name), *map(_cell, scores)] for name, scores in rows.items()]
    marked = [_bold(cells) if name == best else cells for name, cells in zip(rows, body, strict=True)]
    lines = [_line(list(map(_escaped, names))), r"\midrule", *map(_line, marked)]
    columns = "l" + "r" * (len(names) - 1)
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *lines, r"\bottomrule", r"\end{tabular}"])


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(scores: Any) -> str:
    mean, deviation = float(scores.mean()), float(scores.std())
    return "--" if math.isnan(mean) else rf"${mean:.3f} \pm {deviation:.3f}$"


def _bold(cells: list[str]) -> list[str]:
    name, *others = cells
    marked = [rf"$\boldsymbol{{{cell.strip('$')}}}$" if cell.startswith("$") else cell for cell in others]
    return [rf"\textbf{{{name}}}", *marked]


def _escaped(text: str) -> str:
    return "".join(SPECIAL.get(sign, sign) for sign in text)
