"""Small things that sections say alike."""

from isotherm.experiments.report.plots import Curve
from isotherm.experiments.results import Results, Summary

__all__ = ["along", "listed", "mean_only", "plus_minus", "signed"]


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

    >>> signed(-0.0312) == "\N{MINUS SIGN}0.031"
    True
    """
    return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")


def listed(words: list[str]) -> str:
    """Words in a sentence.

    >>> listed(["Cora", "CiteSeer", "DBLP"])
    'Cora, CiteSeer and DBLP'
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def along(results: Results, protocol: str, case: str, rule: str, measure: str) -> Curve:
    """The curve of a rule."""
    points = [(x, results.summary(protocol, case, rule, measure, x)) for x in results.axis(protocol, case)]
    known = [(x, summary) for x, summary in points if summary is not None]
    return Curve([x for x, _ in known], [s.mean for _, s in known], [s.std for _, s in known])
