"""How numbers are written: with a decimal point or a decimal comma, and with or without signs between thousands."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from isotherm.errors import Option, ParameterError
from isotherm.io.errors import shorten

# A number with leading zeros, such as 007, is a code.
POINT = re.compile(r"[+-]?(?:0|[1-9]\d*|(?=\.\d))(?:\.\d+)?(?:[eE][+-]?\d+)?")
POINT_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
COMMA = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:,\d+)?")
COMMA_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?")


class NumberStyle(NamedTuple):
    """How the numbers of a column are written."""

    decimal: str = "."
    unclear: str = ""  # a number such as 1.284, if it would be a thousand in another style, and no value decides

    def number(self, text: str) -> float:
        """The number that a text stands for; raises ValueError if it is none.

        >>> NumberStyle(",").number("1.284,86"), NumberStyle().number("1,284.86")
        (1284.86, 1284.86)
        """
        if self.decimal == ",":
            if not (COMMA.fullmatch(text) or COMMA_GROUPED.fullmatch(text)):
                raise ValueError(text)
            return float(text.replace(".", "").replace(",", "."))
        return float(text.replace(",", "") if POINT_GROUPED.fullmatch(text) else text)


def find_style(texts: Iterable[str], *, decimal: str | None = None, thousands: bool = False) -> NumberStyle | None:
    """How numbers are written, or None if not all texts are numbers.

    Without ``decimal`` and ``thousands``, a column such as 1,284 and 2,500 is a question: a `ParameterError`.

    >>> find_style(["1,284.86", "12"]), find_style(["1.284,86", "12,5"]), find_style(["007", "12"])
    (NumberStyle(decimal='.', unclear=''), NumberStyle(decimal=',', unclear=''), None)
    """
    distinct = set(texts)
    point = all(POINT.fullmatch(text) or POINT_GROUPED.fullmatch(text) for text in distinct)
    comma = all(COMMA.fullmatch(text) or COMMA_GROUPED.fullmatch(text) for text in distinct)
    if comma and decimal == ",":
        return NumberStyle(",")
    if point and (thousands or decimal == "."):
        return NumberStyle()
    signed = next(filter(re.compile("[.,]").search, sorted(distinct)), "")
    if point and comma and "," in "".join(distinct):
        raise unclear_number(signed)
    if point:
        return NumberStyle(unclear=signed if comma else "")
    return NumberStyle(",") if comma else None


def unclear_number(text: str, column: str | None = None, why: str = "") -> ParameterError:
    """The question how a number is meant."""
    where = "" if column is None else f" in the column {shorten(column)}"
    other = {"decimal": Option("decimal", "." if "," not in text else ",")}
    if "," in text:
        message = "{text}{where} may be a thousand or a fraction{why}: set {thousands} or {decimal}"
        return ParameterError(message, text=text, where=where, why=why, thousands=Option("thousands", True), **other)
    message = "{text}{where} may be a thousand or a fraction{why}: set {comma} or {decimal}"
    return ParameterError(message, text=text, where=where, why=why, comma=Option("decimal", ","), **other)
