"""Two ways to label, compared over many graphs."""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wilcoxon

__all__ = ["Comparison", "compare", "compare_all", "holm", "p_words"]

Floats: TypeAlias = NDArray[np.float64]
FEWEST = 6  # graphs below which the test cannot reject anything


class Comparison(NamedTuple):
    """How often each way is ahead, by how much, and whether that is chance."""

    wins: int
    ties: int
    losses: int
    difference: float  # mean over graphs
    p: float  # of Wilcoxon's signed-rank test, two-sided
    p_families: float  # the same over families of graphs, each counted once

    def sure(self, level: float) -> bool:
        """Whether neither test leaves it to chance."""
        return max(self.p, self.p_families) < level


def compare(first: Floats, second: Floats, families: list[str]) -> Comparison:
    """Compare two columns of scores, one for each graph.

    >>> compare(np.arange(8) + 0.5, np.arange(8.0), list("aabbcdef"))[:4]
    (8, 0, 0, 0.5)
    """
    gap = first - second
    _, members = np.unique(families, return_inverse=True)
    means = np.bincount(members, gap) / np.bincount(members)
    wins, losses = int(np.count_nonzero(gap > 0)), int(np.count_nonzero(gap < 0))
    return Comparison(wins, len(gap) - wins - losses, losses, float(gap.mean()), _p(gap), _p(means))


def compare_all(pairs: Mapping[str, tuple[Floats, Floats]], families: list[str]) -> dict[str, Comparison]:
    """Compare several pairs, with all p-values corrected for the number of pairs."""
    found = {name: compare(first, second, families) for name, (first, second) in pairs.items()}
    p, p_families = (holm([getattr(each, field) for each in found.values()]) for field in ("p", "p_families"))
    return {
        name: each._replace(p=p[place], p_families=p_families[place])
        for place, (name, each) in enumerate(found.items())
    }


def _p(gap: Floats) -> float:
    """Ties say nothing and are left out."""
    return float(wilcoxon(gap).pvalue) if np.count_nonzero(gap) >= FEWEST else 1.0


def holm(values: list[float]) -> list[float]:
    """P-values corrected for their number.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(values)
    scaled = np.array(values)[order] * np.arange(len(values), 0, -1)
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return corrected.round(12).tolist()


def p_words(value: float) -> str:
    """A p-value in a sentence.

    >>> p_words(0.0312), p_words(1e-9)
    ('p = 0.031', 'p < 0.001')
    """
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"
