"""Verdicts, computed: whether a measured number agrees with the published one."""

from typing import NamedTuple

import numpy as np

from isotherm.experiments.report.published import RUNS, Published
from isotherm.experiments.results import Summary

__all__ = ["CHANCE", "OUTSIDE", "TOLERANCES", "WITHIN", "CurveVerdict", "judge", "judge_curve", "standard_errors"]

ROUNDING = 0.005  # published numbers have two decimals
WITHIN, CHANCE, OUTSIDE = "within one published deviation", "within the chance of ten draws", "outside"

# How far a curve may be from one that was read off a figure.
TOLERANCES = {"centered": 0.03, "vanilla": 0.05, "weighted": 0.05}


def judge(measured: Summary, published: Published) -> str:
    """Whether two means agree.

    `WITHIN` if they differ by no more than the published standard deviation, `CHANCE` if they differ by no more than
    twice the standard error of the difference of two such means; both up to rounding.

    >>> judge(Summary(0.45, 0.1, 10), Published(0.42, 0.18))
    'within one published deviation'
    >>> judge(Summary(0.30, 0.11, 10), Published(0.36, 0.04))
    'within the chance of ten draws'
    >>> judge(Summary(0.50, 0.02, 10), Published(0.36, 0.04))
    'outside'
    """
    if abs(measured.mean - published.mean) - ROUNDING <= published.std:
        return WITHIN
    return CHANCE if standard_errors(measured, published) <= 2 else OUTSIDE


def standard_errors(measured: Summary, published: Published) -> float:
    """How far the two means are apart, but for rounding, in standard errors of their difference."""
    error = np.sqrt(published.std**2 / RUNS + measured.std**2 / measured.runs)
    distance = abs(measured.mean - published.mean) - ROUNDING
    return float(distance / error) if error > 0 else np.inf


class CurveVerdict(NamedTuple):
    """The largest distance between two curves, where it is, what is allowed, and whether it is kept."""

    distance: float
    x: float
    tolerance: float

    @property
    def kept(self) -> bool:
        """Whether the curve is within its tolerance everywhere."""
        return self.distance <= self.tolerance


def judge_curve(rule: str, xs: list[float], measured: list[float], published: list[float]) -> CurveVerdict:
    """How far a measured curve is from the published one."""
    distances = np.abs(np.subtract(measured, published))
    worst = int(distances.argmax())
    return CurveVerdict(float(distances[worst]), xs[worst], TOLERANCES[rule])
