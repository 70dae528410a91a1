"""Verdicts, computed: whether a measured number agrees with the published one.

The numbers are the entries of tables 2 to 4, the curves of figures 2 and 3, and the ends of the curves of figure 4, all
of them in the authors' protocol.
"""

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from isotherm.paper.report.published import CURVES, ENDS, RUNS, TABLES, Published
from isotherm.paper.running.experiment import AUTHORS
from isotherm.paper.running.real_graphs import column, stands_in
from isotherm.paper.running.results import Results, Summary
from isotherm.paper.running.scoring import ALL, SHIFTED

__all__ = [
    "ROUNDING",
    "TOLERANCES",
    "Entry",
    "Verdict",
    "curve_verdicts",
    "ends",
    "entries",
    "judge",
    "judge_curve",
    "measure_of",
    "standard_errors",
]

ROUNDING = 0.005  # published numbers have two decimals
READ_OFF = 0.01  # accuracy of a point that was read off a figure
TOLERANCES = {"centered": 0.03, "vanilla": 0.05, "weighted": 0.05}  # largest distance allowed from a published curve


class Verdict(StrEnum):
    """What the report says of a number; texts.md explains it."""

    WITHIN = "✓ within one published deviation"
    CHANCE = "≈ within the chance of ten draws"
    OUTSIDE = "✗ outside"
    ELSEWHERE = "* another graph"  # a stand-in gets no verdict


class Entry(NamedTuple):
    """One number of tables 2 to 4."""

    case: str
    rule: str
    measured: Summary
    published: Published

    @property
    def verdict(self) -> Verdict:
        """Whether the two agree; none for a stand-in."""
        return Verdict.ELSEWHERE if stands_in(self.case) else judge(self.measured, self.published)


def entries(name: str, results: Results) -> list[Entry]:
    """All numbers of a table that were measured and published."""
    return [
        Entry(case, rule, measured, published)
        for case in results.cases(AUTHORS)
        for rule in TOLERANCES
        if (measured := results.summary(AUTHORS, case, rule, measure_of(name)))
        and (published := TABLES[name].get((column(case).rstrip("*"), rule)))
    ]


def measure_of(name: str) -> str:
    """What a table shows in the authors' protocol."""
    return ALL if name == "table4" else SHIFTED


def judge(measured: Summary, published: Published) -> Verdict:
    """Whether two means agree.

    `WITHIN` if they differ by at most the published standard deviation, `CHANCE` if by at most twice the standard error
    of the difference of the two means, both after an allowance for rounding. If the output of the authors' program and
    the paper have different numbers, agreement with either counts.

    >>> judge(Summary(0.45, 0.1, 10), Published(0.42, 0.18)).name
    'WITHIN'
    >>> judge(Summary(0.30, 0.11, 10), Published(0.36, 0.04)).name
    'CHANCE'
    >>> judge(Summary(0.50, 0.02, 10), Published(0.36, 0.04)).name
    'OUTSIDE'
    >>> judge(Summary(0.50, 0.02, 10), Published(0.36, 0.04, program=(0.36, 0.14))).name
    'WITHIN'
    """
    if any(_distance(measured, each) <= each.std for each in published.versions):
        return Verdict.WITHIN
    return Verdict.CHANCE if standard_errors(measured, published) <= 2 else Verdict.OUTSIDE


def standard_errors(measured: Summary, published: Published) -> float:
    """The distance of the two means beyond rounding, in standard errors of their difference."""
    return min(_errors_apart(measured, each) for each in published.versions)


def _errors_apart(measured: Summary, published: Published) -> float:
    error = np.sqrt(published.std**2 / RUNS + measured.std**2 / measured.runs)
    distance = max(_distance(measured, published), 0.0)
    return float(distance / error) if error > 0 else np.inf


def _distance(measured: Summary, published: Published) -> float:
    return abs(measured.mean - published.mean) - ROUNDING


class CurveVerdict(NamedTuple):
    """The largest distance between two curves, where it is, and how much is allowed."""

    distance: float
    x: float
    tolerance: float

    @property
    def verdict(self) -> Verdict:
        """Whether the curve is within its tolerance everywhere."""
        return Verdict.WITHIN if self.distance <= self.tolerance else Verdict.OUTSIDE


def curve_verdicts(name: str, results: Results) -> dict[str, CurveVerdict]:
    """How far the curve of each rule is from the published one."""
    verdicts = {}
    for rule, published in CURVES[name].items():
        for case in results.cases(AUTHORS):
            points = results.curve(AUTHORS, case, rule, SHIFTED)
            verdicts[rule] = judge_curve(rule, [x for x, _ in points], [s.mean for _, s in points], published)
    return verdicts


def judge_curve(rule: str, xs: list[float], measured: list[float], published: list[float]) -> CurveVerdict:
    """How far a measured curve is from the published one."""
    distances = np.abs(np.subtract(measured, published))
    worst = int(distances.argmax())
    return CurveVerdict(float(distances[worst]), xs[worst], TOLERANCES[rule])


class End(NamedTuple):
    """The first or the last point of a curve of figure 4."""

    case: str
    rule: str
    x: int
    measured: Summary
    published: float

    @property
    def verdict(self) -> Verdict:
        """Whether it is within one standard deviation of the runs; the figure does not give the published one."""
        if stands_in(self.case):
            return Verdict.ELSEWHERE
        distance = abs(self.measured.mean - self.published)
        return Verdict.WITHIN if distance <= self.measured.std + READ_OFF else Verdict.OUTSIDE


def ends(results: Results) -> list[End]:
    """The ends of all curves of figure 4 that were measured and published."""
    return [
        End(case, rule, x, measured, published)
        for case in results.cases(AUTHORS)
        for rule in ("centered", "vanilla")
        for x, published in zip((1, 10), ENDS[column(case).rstrip("*"), rule], strict=True)
        if (measured := results.summary(AUTHORS, case, rule, SHIFTED, x))
    ]
