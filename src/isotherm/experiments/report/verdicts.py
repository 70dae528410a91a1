"""Verdicts, computed: whether a measured number agrees with the published one."""

from typing import NamedTuple

import numpy as np

from isotherm.experiments.report.published import RUNS, Published
from isotherm.experiments.results import Summary

__all__ = [
    "CHANCE",
    "ELSEWHERE",
    "OUTSIDE",
    "ROUNDING",
    "TOLERANCES",
    "WITHIN",
    "CurveVerdict",
    "judge",
    "judge_curve",
    "marked",
    "standard_errors",
]

ROUNDING = 0.005  # published numbers have two decimals
WITHIN, CHANCE, OUTSIDE = "within one published deviation", "within the chance of ten draws", "outside"
ELSEWHERE = "another graph"  # the verdict on a stand-in: there is none
MARKS = {WITHIN: "\N{CHECK MARK}", CHANCE: "\N{ALMOST EQUAL TO}", OUTSIDE: "\N{BALLOT X}", ELSEWHERE: "*"}

# How far a curve may be from one that was read off a figure.
TOLERANCES = {"centered": 0.03, "vanilla": 0.05, "weighted": 0.05}


def judge(measured: Summary, published: Published) -> str:
    """Whether two means agree.

    `WITHIN` if they differ by no more than the published standard deviation, `CHANCE` if they differ by no more than
    twice the standard error of the difference of two such means; both up to rounding. Where the authors' program has
    another number than the paper, agreement with either counts.

    >>> judge(Summary(0.45, 0.1, 10), Published(0.42, 0.18))
    'within one published deviation'
    >>> judge(Summary(0.30, 0.11, 10), Published(0.36, 0.04))
    'within the chance of ten draws'
    >>> judge(Summary(0.50, 0.02, 10), Published(0.36, 0.04))
    'outside'
    >>> judge(Summary(0.50, 0.02, 10), Published(0.36, 0.04, program=(0.36, 0.14)))
    'within one published deviation'
    """
    if any(_distance(measured, each) <= each.std for each in published.versions):
        return WITHIN
    return CHANCE if standard_errors(measured, published) <= 2 else OUTSIDE


def standard_errors(measured: Summary, published: Published) -> float:
    """How far the two means are apart, but for rounding, in standard errors of their difference."""
    return min(_errors_apart(measured, each) for each in published.versions)


def _errors_apart(measured: Summary, published: Published) -> float:
    error = np.sqrt(published.std**2 / RUNS + measured.std**2 / measured.runs)
    return float(_distance(measured, published) / error) if error > 0 else np.inf


def _distance(measured: Summary, published: Published) -> float:
    return abs(measured.mean - published.mean) - ROUNDING


def marked(verdict: str) -> str:
    """A verdict with its sign, which is known at a glance."""
    return f"{MARKS[verdict]} {verdict}"


class CurveVerdict(NamedTuple):
    """The largest distance between two curves, where it is, what is allowed, and whether it is kept."""

    distance: float
    x: float
    tolerance: float

    @property
    def kept(self) -> bool:
        """Whether the curve is within its tolerance everywhere."""
        return self.distance <= self.tolerance

    @property
    def words(self) -> str:
        """The verdict, with its sign."""
        return f"{MARKS[WITHIN]} within" if self.kept else f"{MARKS[OUTSIDE]} outside"


def judge_curve(rule: str, xs: list[float], measured: list[float], published: list[float]) -> CurveVerdict:
    """How far a measured curve is from the published one."""
    distances = np.abs(np.subtract(measured, published))
    worst = int(distances.argmax())
    return CurveVerdict(float(distances[worst]), xs[worst], TOLERANCES[rule])
