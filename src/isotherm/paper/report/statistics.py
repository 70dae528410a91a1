"""Statistics of the report: how unusual a published mean is, and paired tests over many graphs."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.stats import wilcoxon

from isotherm.arrays import Doubles
from isotherm.paper.report.published import RUNS, Published
from isotherm.paper.report.verdicts import ROUNDING

__all__ = ["Comparison", "as_far", "compare", "compare_all", "holm"]

RESAMPLES = 4000
FEWEST = 6  # graphs; with fewer the test cannot reject anything


def as_far(many: Doubles, published: Published) -> float:
    """How often a mean of ten draws is at least as far from the mean of many draws as the published one.

    By bootstrap with a fixed generator: samples of ten draws and of all of them are taken from the many. The published
    mean gets an allowance for rounding.
    """
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
    p: float  # of Wilcoxon's signed-rank test, two-sided
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
    p = holm([each.p for each in found.values()])
    p_families = holm([each.p_families for each in found.values()])
    return {
        name: each._replace(p=p[place], p_families=p_families[place])
        for place, (name, each) in enumerate(found.items())
    }


def _p(gap: Doubles) -> float:
    """The p-value of Wilcoxon's test, which leaves out ties."""
    return float(wilcoxon(gap).pvalue) if np.count_nonzero(gap) >= FEWEST else 1.0


def holm(values: list[float]) -> list[float]:
    """P-values corrected for their number, by Holm's method.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(values)
    scaled = np.array(values)[order] * np.arange(len(values), 0, -1)
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return corrected.round(12).tolist()
