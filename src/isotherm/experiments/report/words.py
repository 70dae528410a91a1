"""Small things that sections say alike."""

import numpy as np

from isotherm.experiments.report.plots import Curve
from isotherm.experiments.results import Results, Summary

__all__ = ["along", "listed", "mean_of", "mean_only", "numbered", "percent", "plus_minus", "signed"]


def plus_minus(summary: Summary | None) -> str:
    """A mean and a standard deviation.

    >>> plus_minus(Summary(0.4237, 0.1, 10))
    '0.424 ± 0.100'
    """
    return "" if summary is None else f"{summary.mean:.3f} ± {summary.std:.3f}"


def mean_only(summary: Summary | None) -> str:
    """A mean."""
    return "" if summary is None else f"{summary.mean:.3f}"


def signed(value: float) -> str:
    r"""A difference, with its sign.

    >>> signed(-0.0312) == "\N{MINUS SIGN}0.031", signed(-0.0001)
    (True, '0.000')
    """
    text = f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")
    return text if text.strip("+0.\N{MINUS SIGN}") else "0.000"


def listed(words: list[str]) -> str:
    """Words in a sentence.

    >>> listed(["Cora", "CiteSeer", "DBLP"])
    'Cora, CiteSeer and DBLP'
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def numbered(count: int, word: str) -> str:
    """A number and what it counts.

    >>> numbered(1, "draw"), numbered(12, "entry")
    ('1 draw', '12 entries')
    """
    plural = word[:-1] + "ies" if word.endswith("y") else word + "s"
    return f"{count} {word if count == 1 else plural}"


def percent(share: float) -> str:
    """A share to two digits at least.

    >>> percent(0.3412), percent(0.0087), percent(0.0)
    ('34 %', '0.87 %', '0 %')
    """
    rounded = np.format_float_positional(100 * share, precision=2, fractional=False, trim="-")
    return f"{rounded if share < 0.1 else round(100 * share)} %"


def mean_of(results: Results, protocol: str, case: str, rule: str, measure: str, x: float = 0.0) -> float:
    """The mean over runs of what has been measured for sure."""
    return float(results.values(protocol, case, rule, measure, x).mean())


def along(results: Results, protocol: str, case: str, rule: str, measure: str) -> Curve:
    """The curve of a rule."""
    points = [(x, results.summary(protocol, case, rule, measure, x)) for x in results.axis(protocol, case)]
    known = [(x, summary) for x, summary in points if summary is not None]
    return Curve([x for x, _ in known], [s.mean for _, s in known], [s.std for _, s in known])
