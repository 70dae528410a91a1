"""Warnings about labels that may not mean what their user thinks."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from isotherm.errors import warn
from isotherm.seeds.encoding import Labels

__all__ = ["LabelWarning", "advise", "warn_about_classes", "warn_about_minus_one"]


class LabelWarning(UserWarning):
    """Labels may not mean what they seem to: -1, one class only, classes that differ by case, an ambiguous index."""


def advise(message: str, category: type[Warning] = LabelWarning) -> None:
    """Warn about labels, at the line that called Isotherm."""
    warn(message, category)


def warn_about_minus_one(labels: Iterable[Any]) -> None:
    """Warn if labels that were given node by node are -1: where all nodes are listed it is needed, here it is not."""
    count = sum(map(_is_minus_one, labels))
    if count:
        subject = "1 seed has the label -1, which means unknown, and is" if count == 1 else None
        subject = subject or f"{count} seeds have the label -1, which means unknown, and are"
        advise(f"{subject} left out: leave such nodes out yourself, or rename the label if it is a class")


def warn_about_classes(classes: Labels, n_seeds: int, *, labels: Any = ()) -> None:
    """Warn about classes that hint at a mistake; `labels` are those that were given, if they can have -1."""
    if len(classes) == 1:
        _warn_about_one_class(classes.tolist()[0], n_seeds, has_minus_one(labels))
    elif classes.dtype == object:
        _warn_about_spelling(classes)
    elif classes.dtype.kind == "i" and classes[0] < -1 and has_minus_one(labels):
        advise(
            f"the label -1 means unknown, but other negative labels such as {classes[0]} are classes: "
            "rename the labels if -1 is a class too"
        )


def has_minus_one(labels: Any) -> bool:
    """Whether the label -1 occurs."""
    if getattr(getattr(labels, "dtype", None), "kind", None) in ("b", "i", "u", "f"):  # of NumPy or pandas
        return bool((labels == -1).any())
    to_list = getattr(labels, "tolist", None) or getattr(labels, "to_list", None)
    return any(map(_is_minus_one, to_list() if to_list else labels))


def _is_minus_one(label: Any) -> bool:
    return isinstance(label, (int, float, np.number)) and bool(label == -1)


def _warn_about_one_class(label: Any, n_seeds: int, minus_one: bool) -> None:
    subject = "the only seed has" if n_seeds == 1 else f"all {n_seeds} seeds have"
    unknown = " (-1 means unknown)" if minus_one else ""
    advise(f"{subject} the label {label!r}{unknown}, so all reached nodes get it: give seeds of another class too")


def _warn_about_spelling(classes: Labels) -> None:
    """Name two classes that differ only by case or by blanks around them."""
    first: dict[str, str] = {}
    for label in classes.tolist():
        twin = first.setdefault(label.strip().casefold(), label)
        if twin != label:
            advise(
                f"{twin!r} and {label!r} are two classes, though they differ only by case or blanks: "
                "spell them alike if they are one"
            )
            return
