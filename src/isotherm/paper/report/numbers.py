"""Numbers as the tables of the report show them."""

import numpy as np

from isotherm.paper.report.published import Published
from isotherm.paper.running.results import Summary

__all__ = ["percent", "plus_minus", "signed"]


def plus_minus(spread: Summary | Published | None, digits: int = 3) -> str:
    """A mean and a standard deviation; empty if there is none.

    >>> plus_minus(Summary(0.4237, 0.1, 10))
    '0.424 ± 0.100'
    """
    return "" if spread is None else f"{spread.mean:.{digits}f} ± {spread.std:.{digits}f}"


def signed(value: float) -> str:
    r"""A difference, with its sign.

    >>> signed(-0.0312) == "\N{MINUS SIGN}0.031", signed(-0.0001)
    (True, '0.000')
    """
    text = f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")
    return text if text.strip("+0.\N{MINUS SIGN}") else "0.000"


def percent(share: float) -> str:
    """A share with two significant digits, or as a whole number.

    >>> percent(0.3412), percent(0.0087), percent(0.0)
    ('34 %', '0.87 %', '0 %')
    """
    rounded = np.format_float_positional(100 * share, precision=2, fractional=False, trim="-")
    return f"{rounded if share < 0.1 else round(100 * share)} %"
