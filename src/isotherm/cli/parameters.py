"""How one option or argument is declared, and how its text is checked and read."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from cyclopts import CoercionError, Parameter, Token

from isotherm.cli.terminal.wording import UsageError

__all__ = ["at_least", "between", "class_weights", "in_bytes", "option", "positional", "threshold_of"]

Validator: TypeAlias = Callable[[Any, Any], None]


def option(text: str, metavar: str | None = None, **more: Any) -> Parameter:
    """An option without a negative form, unless it is given one; the metavar N means a whole number."""
    usual = {"negative": "", "show_default": _default, "converter": _whole if metavar == "N" else None}
    return Parameter(help=text, metavar=metavar, **{**usual, **more})


def _whole(_: Any, tokens: Sequence[Token]) -> int:
    """A whole number; cyclopts would read 1.5 as 1."""
    token = tokens[0]
    try:
        return int(token.value)
    except ValueError:
        raise CoercionError(token=token, target_type=int) from None


def _default(value: Any) -> Any:
    """The default that help shows; None for none, where it is obvious."""
    return None if value is False or value == "-" else value


def positional(text: str) -> Parameter:
    """An argument without a name; ``-`` stands for standard input."""
    return Parameter(help=text, allow_leading_hyphen=True)


def at_least(least: int) -> Validator:
    """Check that a number is large enough."""

    def check(_: Any, value: Any) -> None:
        if value is not None and value < least:
            raise ValueError(f"it must be at least {least}")

    return check


def between(*, above: float = -1, least: float = -1, below: float = 2, most: float = 2) -> Validator:
    """Check that a number is within limits, which are part of the range or not."""
    low = f"above {above}" if above >= 0 else f"at least {least}"
    high = f"below {below}" if below <= 1 else f"at most {most}"

    def check(_: Any, value: Any) -> None:
        if value is not None and not (above < value < below and least <= value <= most):
            raise ValueError(f"it must be {low} and {high}")

    return check


def class_weights(texts: Sequence[str], labels: Iterable[Any]) -> dict[Any, float] | None:
    """The weights of classes, by their labels.

    >>> class_weights(["1=5", "a=b=2"], [1, "a=b"])
    {1: 5.0, 'a=b': 2.0}
    """
    known = {str(label): label for label in labels}
    found = {}
    for text in texts:
        label, _, weight = text.rpartition("=")
        if label not in known:
            example = next(iter(known), "fraud")
            raise UsageError(f"--class-weight {text}: give LABEL=X with a label of the seeds, such as {example}=5")
        with suppress(ValueError):
            found[known[label]] = float(weight)
        if not 0 < found.get(known[label], 0) < math.inf:
            raise UsageError(f"--class-weight {text}: the weight must be a positive number, as in {label}=5")
    return found or None


def threshold_of(text: str) -> str | float | None:
    """A threshold, or where it comes from.

    >>> threshold_of("auto"), threshold_of("rule"), threshold_of("0.25")
    ('auto', None, 0.25)
    """
    if text in ("auto", "rule"):
        return text if text == "auto" else None
    with suppress(ValueError):
        if 0 <= float(text) < 1:
            return float(text)
    raise UsageError(f"--threshold is {text}: give auto, rule, or a number from 0 to 1")


def in_bytes(size: str, name: str = "--max-memory") -> int:
    """A size with its unit.

    >>> in_bytes("1.5 GB"), in_bytes("2000")
    (1610612736, 2000)
    """
    parts = re.fullmatch(r"([\d.]+) ?([KMGT]?)i?B?", size, re.IGNORECASE)
    with suppress(ValueError):
        if parts and float(parts[1]):
            return int(float(parts[1]) * 1024 ** " KMGT".index(parts[2].upper() or " "))
    raise UsageError(f"{name} is {size}: give a size such as 500MB or 4GB")
