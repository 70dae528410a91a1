"""The section on where centering does not help."""

from collections.abc import Mapping

import numpy as np

from isotherm.experiments.base import CORRECTED
from isotherm.experiments.panel import OPTIONS
from isotherm.experiments.real_graphs import column
from isotherm.experiments.report.document import Block, Section, Table, Text
from isotherm.experiments.report.plots import ORDER
from isotherm.experiments.report.words import listed, mean_of, numbered, plus_minus, signed
from isotherm.experiments.results import Results
from isotherm.experiments.scoring import ALL, OTHERS

__all__ = ["helpless_section"]

_, SETTLED = OPTIONS
LOW = 0.3  # macro-F1 that a helpful rule has


def helpless_section(results: Mapping[str, Results]) -> Section | None:
    """Words on the paper's experiments, and the graphs of the panel; nothing if none was run."""
    words = [
        *(_communities(results["table4"]) if "table4" in results else []),
        *(_small_block(results["figure2b"]) if "figure2b" in results else []),
    ]
    blocks: list[Block] = [Text(each) for each in words]
    if "panel" in results:
        blocks += [_panel_table(results["panel"]), Text(_low(results["panel"]))]
    return Section("Where centering does not help", blocks) if blocks else None


def _communities(results: Results) -> list[str]:
    """Graphs of table 4 on which another rule is ahead at equilibrium."""
    found = []
    for case in results.cases(CORRECTED):
        scores = {rule: mean_of(results, CORRECTED, case, rule, ALL) for rule in ("centered", "vanilla", "weighted")}
        ahead = [f"{rule} has {score:.2f}" for rule, score in scores.items() if score > scores["centered"]]
        if ahead:
            found.append(
                f"**{column(case)}** (table 4): at equilibrium {listed(ahead)}, centered {scores['centered']:.2f}, "
                "where a small community is to be told from all the rest."
            )
    return found


def _small_block(results: Results) -> list[str]:
    """How far centered falls in figure 2b."""
    return [
        f"**Figure 2b**: centered falls from {mean_of(results, CORRECTED, case, 'centered', ALL, 1):.2f} to "
        f"{mean_of(results, CORRECTED, case, 'centered', ALL, 10):.2f} as block 2 shrinks."
        for case in results.cases(CORRECTED)
    ]


def _panel_table(results: Results) -> Block:
    rivals = [(case, rule) for case in results.cases(SETTLED) for rule in ("vanilla", "weighted")]
    rows = [row for case, rule in rivals for row in _ahead(results, case, rule)]
    header = ["graph", "rule ahead", "its macro-F1", "centered", "difference"]
    caption = "Graphs of the panel where vanilla or weighted is ahead by more than two standard errors, at equilibrium"
    none = "On no graph of the panel is vanilla or weighted ahead by more than two standard errors, at equilibrium."
    return Table(caption, header, rows) if rows else Text(none)


def _ahead(results: Results, case: str, rule: str) -> list[list[str]]:
    """The line of a graph on which a rule is ahead of centered for sure, draw by draw."""
    gap = results.values(SETTLED, case, rule, OTHERS) - results.values(SETTLED, case, "centered", OTHERS)
    if len(gap) < 2 or gap.mean() <= 2 * gap.std(ddof=1) / np.sqrt(len(gap)):
        return []
    numbers = [plus_minus(results.summary(SETTLED, case, each, OTHERS)) for each in (rule, "centered")]
    return [[case, rule, *numbers, signed(float(gap.mean()))]]


def _low(results: Results) -> str:
    """Graphs on which no rule does well."""
    cases = results.cases(SETTLED)
    low = [case for case in cases if max(mean_of(results, SETTLED, case, rule, OTHERS) for rule in ORDER) < LOW]
    if not low:
        return f"On every graph of the panel some rule reaches {LOW}."
    return (
        f"On {numbered(len(low), 'graph')} of {len(cases)} no rule reaches {LOW}, and with 1 % of seeds the edges tell "
        f"little of the classes: {listed(low)}."
    )
