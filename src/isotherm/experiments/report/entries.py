"""The entries of tables 2 to 4: measured, published, and the verdict."""

from typing import NamedTuple

import numpy as np

from isotherm.experiments.base import AUTHORS
from isotherm.experiments.real_graphs import column, stands_in
from isotherm.experiments.report.document import Table
from isotherm.experiments.report.published import TABLES, Published
from isotherm.experiments.report.verdicts import OUTSIDE, WITHIN, judge, standard_errors
from isotherm.experiments.report.words import plus_minus, signed
from isotherm.experiments.results import Results, Summary
from isotherm.experiments.scoring import ALL, LOST, SHIFTED

__all__ = ["ELSEWHERE", "RULES", "Entry", "entries", "entry_table", "measure_of"]

RULES = ("centered", "vanilla", "weighted")
ELSEWHERE = "another graph"  # the verdict on a stand-in: there is none


class Entry(NamedTuple):
    """One number of a table."""

    case: str
    rule: str
    measured: Summary
    published: Published
    verdict: str
    why: str


def measure_of(name: str) -> str:
    """What a table shows in the authors' protocol."""
    return ALL if name == "table4" else SHIFTED


def entries(name: str, results: Results) -> list[Entry]:
    """All numbers of a table that were measured and published."""
    found = []
    for case in results.cases(AUTHORS):
        for rule in RULES:
            measured = results.summary(AUTHORS, case, rule, measure_of(name))
            published = TABLES[name].get((column(case).rstrip("*"), rule))
            if measured and published:
                verdict = ELSEWHERE if stands_in(case) else judge(measured, published)
                why = _why(results, case, rule, verdict, measured, published)
                found.append(Entry(case, rule, measured, published, verdict, why))
    return found


def entry_table(caption: str, found: list[Entry]) -> Table:
    """The entries as a table."""
    header = ["graph and rule", "measured", "published", "difference", "verdict", "why"]
    rows = [
        [
            f"{column(entry.case)}, {entry.rule}",
            plus_minus(entry.measured),
            f"{entry.published.mean:.2f} ± {entry.published.std:.2f}",
            signed(entry.measured.mean - entry.published.mean),
            entry.verdict,
            entry.why,
        ]
        for entry in found
    ]
    return Table(caption, header, rows)


def _why(results: Results, case: str, rule: str, verdict: str, measured: Summary, published: Published) -> str:
    """What explains a difference, as far as the runs themselves tell."""
    if verdict == ELSEWHERE:
        return f"{case} stands in for it"
    notes = [published.note] if published.note else []
    lost = results.values(AUTHORS, case, "", LOST)
    if verdict != WITHIN and lost.any() and (lost == 0).any():
        rest = results.values(AUTHORS, case, rule, SHIFTED)[lost == 0].mean()
        notes.append(f"{np.count_nonzero(lost)} of {len(lost)} draws lost a class; the others have {rest:.2f}")
    if verdict == OUTSIDE:
        apart = standard_errors(measured, published)
        notes.append(f"{apart:.1f} standard errors apart; chance alone puts one entry in twenty beyond two")
    return "; ".join(notes)
