"""The entries of tables 2 to 4: measured, published, and the verdict."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isotherm.experiments.base import AUTHORS
from isotherm.experiments.draws import case_of
from isotherm.experiments.real_graphs import column, stands_in
from isotherm.experiments.report.document import Table
from isotherm.experiments.report.published import RUNS, TABLES, Published
from isotherm.experiments.report.verdicts import ELSEWHERE, OUTSIDE, ROUNDING, WITHIN, judge, marked, standard_errors
from isotherm.experiments.report.words import percent, plus_minus, signed
from isotherm.experiments.results import Results, Summary
from isotherm.experiments.scoring import ALL, LOST, SHIFTED

__all__ = ["RULES", "Entry", "entries", "entry_table", "measure_of"]

RULES = ("centered", "vanilla", "weighted")
RESAMPLES = 4000


class Entry(NamedTuple):
    """One number of a table."""

    case: str
    rule: str
    measured: Summary
    published: Published
    verdict: str
    why: str
    many: NDArray[np.float64]  # the same over many draws, if they were made


def measure_of(name: str) -> str:
    """What a table shows in the authors' protocol."""
    return ALL if name == "table4" else SHIFTED


def entries(name: str, results: Results, draws: Results | None = None) -> list[Entry]:
    """All numbers of a table that were measured and published."""
    found = []
    measure = measure_of(name)
    for case in results.cases(AUTHORS):
        for rule in RULES:
            measured = results.summary(AUTHORS, case, rule, measure)
            published = TABLES[name].get((column(case).rstrip("*"), rule))
            if measured and published:
                verdict = ELSEWHERE if stands_in(case) else judge(measured, published)
                many = (draws or Results()).values(AUTHORS, case_of(name, case), rule, measure)
                entry = Entry(case, rule, measured, published, verdict, "", many)
                found.append(entry._replace(why=_why(entry, results)))
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
            marked(entry.verdict),
            entry.why,
        ]
        for entry in found
    ]
    return Table(caption, header, rows)


def as_far(many: NDArray[np.float64], published: Published) -> float:
    """How often a mean of ten draws is as far from the mean of many as the published one, but for rounding.

    By bootstrap, with a generator of its own: draws of ten and of all are made anew from the many.
    """
    rng = np.random.default_rng(0)
    few, all_ = (rng.choice(many, (RESAMPLES, size)).mean(axis=1) for size in (RUNS, len(many)))
    distance = min(abs(each.mean - many.mean()) for each in published.versions) - ROUNDING
    return float((np.abs(few - all_) >= distance).mean())


def _why(entry: Entry, results: Results) -> str:
    """What explains a difference, as far as the runs themselves tell."""
    if entry.verdict == ELSEWHERE:
        return f"{entry.case} stands in for it"
    notes = [entry.published.note] if entry.published.note else []
    lost = results.values(AUTHORS, entry.case, "", LOST)
    if entry.verdict != WITHIN and lost.any() and (lost == 0).any():
        rest = results.values(AUTHORS, entry.case, entry.rule, SHIFTED)[lost == 0].mean()
        notes.append(f"{np.count_nonzero(lost)} of {len(lost)} draws lost a class; the others have {rest:.2f}")
    if entry.verdict == OUTSIDE:
        notes.append(f"{standard_errors(entry.measured, entry.published):.1f} standard errors apart")
    if entry.verdict != WITHIN and len(entry.many):
        share = percent(as_far(entry.many, entry.published))
        notes.append(f"{len(entry.many)} draws have {entry.many.mean():.3f}; ten are as far off in {share} of cases")
    return "; ".join(notes)
