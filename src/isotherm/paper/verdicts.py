"""The paper's numbers, from published.toml; verdicts, whether a measured number agrees with them; and tests of chance.

Verdicts are given on the entries of tables 2 to 4, the curves of figures 2 and 3, and the ends of the curves of figure
4, all of them in the authors' protocol. The tests compare two rules over many graphs.
"""

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import wilcoxon

from isotherm.arrays import Doubles
from isotherm.paper.experiment import AUTHORS, Results, Summary
from isotherm.paper.graph_experiments import column, stands_in
from isotherm.paper.scoring import ALL, SHIFTED

RUNS = 10  # number of runs behind each published mean and standard deviation


class Published(NamedTuple):
    """A mean and a standard deviation; `program` has them as the authors' program gives them, if they differ."""

    mean: float
    std: float
    program: tuple[float, float] | None = None

    @property
    def versions(self) -> list["Published"]:
        """The printed numbers, then the numbers of the program if they differ."""
        return [Published(self.mean, self.std), *([Published(*self.program)] if self.program else [])]

    @property
    def note(self) -> str:
        """A note about the numbers of the program, if they differ."""
        return "" if self.program is None else "the output of the program has {:.2f} ± {:.2f}".format(*self.program)


_ALL: dict[str, Any] = tomllib.loads(files("isotherm.paper").joinpath("published.toml").read_text(encoding="utf-8"))

TABLES: dict[str, dict[tuple[str, str], Published]] = {  # by table; then by column and rule
    name: {
        (column, rule): Published(*entry)
        for rule, entries in table.items()
        if rule != "columns"
        for column, entry in zip(table["columns"], entries, strict=True)
    }
    for name, table in _ALL["tables"].items()
}
CURVES: dict[str, dict[str, list[float]]] = {  # by figure and rule
    name: {
        rule: np.linspace(points[0], points[1], 10).round(4).tolist() if len(points) == 2 else points
        for rule, points in curves.items()
    }
    for name, curves in _ALL["curves"].items()
}
ENDS: dict[tuple[str, str], tuple[float, float]] = {  # by column and rule
    (column, rule): tuple(points) for column, curves in _ALL["ends"].items() for rule, points in curves.items()
}
DATASETS: dict[str, list[int]] = _ALL["datasets"]

ROUNDING = 0.005  # published numbers have two decimals
READ_OFF = 0.01  # accuracy of a point that was read off a figure
TOLERANCES = {"centered": 0.03, "vanilla": 0.05, "weighted": 0.05}  # largest distance allowed from a published curve
RESAMPLES = 4000  # samples of the bootstrap
FEWEST = 6  # graphs; with fewer the test cannot reject anything


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
    """Whether two means agree; if the paper and the output of its program differ, agreement with either counts."""
    if any(abs(measured.mean - each.mean) - ROUNDING <= each.std for each in published.versions):
        return Verdict.WITHIN
    return Verdict.CHANCE if standard_errors(measured, published) <= 2 else Verdict.OUTSIDE


def standard_errors(measured: Summary, published: Published) -> float:
    """The distance of the two means beyond rounding, in standard errors of their difference."""
    found = [np.inf]
    for each in published.versions:
        error = np.sqrt(each.std**2 / RUNS + measured.std**2 / measured.runs)
        if error > 0:
            found.append(max(abs(measured.mean - each.mean) - ROUNDING, 0.0) / error)
    return float(min(found))


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
    (case,) = results.cases(AUTHORS)
    curves = {rule: results.curve(AUTHORS, case, rule, SHIFTED) for rule in CURVES[name]}
    return {
        rule: judge_curve(rule, [x for x, _ in points], [s.mean for _, s in points], CURVES[name][rule])
        for rule, points in curves.items()
    }


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


def as_far(many: Doubles, published: Published) -> float:
    """By bootstrap, how often a mean of ten draws is as far from the mean of many as the published mean is."""
    rng = np.random.default_rng(0)
    few, all_ = (rng.choice(many, (RESAMPLES, size)).mean(axis=1) for size in (RUNS, len(many)))
    distance = min(abs(each.mean - many.mean()) for each in published.versions) - ROUNDING
    return float((np.abs(few - all_) >= distance).mean())


class Comparison(NamedTuple):
    """How often the first of two methods is ahead, by how much, and whether that may be chance."""

    wins: int
    ties: int
    losses: int
    difference: float  # mean over graphs
    p: float  # p-value of Wilcoxon's signed-rank test, two-sided
    p_families: float  # the same over families of graphs, each counted once


def compare(first: Doubles, second: Doubles, families: list[str]) -> Comparison:
    """Compare two columns of scores, one row for each graph.

    >>> compare(np.arange(8) + 0.5, np.arange(8.0), list("aabbcdef"))[:4]
    (8, 0, 0, 0.5)
    """
    gap = first - second
    _, members = np.unique(families, return_inverse=True)
    means = np.bincount(members, gap) / np.bincount(members)
    wins, losses = int(np.count_nonzero(gap > 0)), int(np.count_nonzero(gap < 0))
    return Comparison(wins, len(gap) - wins - losses, losses, float(gap.mean()), _p(gap), _p(means))


def compare_all(pairs: Mapping[str, tuple[Doubles, Doubles]], families: list[str]) -> dict[str, Comparison]:
    """Compare several pairs, with p-values corrected for the number of pairs."""
    found = {name: compare(first, second, families) for name, (first, second) in pairs.items()}
    p, p_families = (holm([getattr(each, kind) for each in found.values()]) for kind in ("p", "p_families"))
    return {name: found[name]._replace(p=a, p_families=b) for name, a, b in zip(found, p, p_families, strict=True)}


def _p(gap: Doubles) -> float:
    """The p-value of Wilcoxon's test, which leaves out ties."""
    return float(wilcoxon(gap).pvalue) if np.count_nonzero(gap) >= FEWEST else 1.0


def holm(values: list[float]) -> list[float]:
    """P-values corrected for their number, by Holm's method."""
    order = np.argsort(values)
    scaled = np.array(values)[order] * np.arange(len(values), 0, -1)
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return corrected.round(12).tolist()
