"""Columns of edges out of a data frame of pandas or polars."""

from collections.abc import Iterable
from typing import Any

from isotherm.errors import Option, ParameterError

__all__ = ["edge_columns"]

USUAL_WEIGHT = "weight"
MOST_SHOWN = 8


def edge_columns(
    frame: Any, source: Any, target: Any, weight: Any
) -> tuple[Iterable[Any], Iterable[Any], Iterable[Any] | None]:
    """The columns of sources, targets and weights; a column named "weight" may be missing, others may not."""
    names = list(frame.columns)
    for role, name in (("source", source), ("target", target), ("weight", weight)):
        optional = role == "weight" and name in (None, USUAL_WEIGHT)
        if name not in names and not optional:
            shown = ", ".join(map(repr, names[:MOST_SHOWN])) + ", ..." * (len(names) > MOST_SHOWN)
            message = "the data frame has no column for {given}: it has {shown}"
            raise ParameterError(message, given=Option(role, name), shown=shown)
    return _column(frame, source), _column(frame, target), _column(frame, weight) if weight in names else None


def _column(frame: Any, name: Any) -> Iterable[Any]:
    column = frame[name]
    if getattr(column, "ndim", 1) != 1:  # pandas gives all columns of a name that occurs twice
        raise ParameterError("the data frame has several columns named {name}: rename one", name=repr(name))
    return column.to_list() if column.dtype == object or not hasattr(column, "to_numpy") else column.to_numpy()
