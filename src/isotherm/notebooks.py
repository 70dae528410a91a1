"""Small HTML tables, with which objects show themselves in a notebook."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["facts", "table"]

CELL = "padding: 2px 10px; text-align: {side}"
BAR = "display: inline-block; height: 0.7em; width: {width:.0f}px; background: #d95f02"
WIDEST = 120  # pixels; the bar of a share of 1
LONGEST = 60  # characters in a cell


def facts(title: str, values: Iterable[tuple[str, Any]]) -> str:
    """A title above a list of names and values."""
    rows = "".join(f"<tr>{_cell(name, 'left')}{_cell(value, 'left')}</tr>" for name, value in values)
    return f"<div><b>{escape(title)}</b><table>{rows}</table></div>"


def table(title: str, names: Sequence[str], rows: Iterable[Sequence[Any]], *, note: str = "") -> str:
    """A table with a title and an optional note; the numbers, from 0 to 1, in a column named "share" get bars."""
    head = "".join(f'<th style="{CELL.format(side="left")}">{escape(name)}</th>' for name in names)
    body = "".join(f"<tr>{''.join(map(_in_column, names, row))}</tr>" for row in rows)
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<div><b>{escape(title)}</b><table><tr>{head}</tr>{body}</table>{below}</div>"


def _in_column(name: str, value: Any) -> str:
    return _cell(value, _side(value), bar=name == "share")


def _cell(value: Any, side: str, *, bar: bool = False) -> str:
    drawn = f'<span style="{BAR.format(width=WIDEST * value)}"></span> ' if bar else ""
    return f'<td style="{CELL.format(side=side)}">{drawn}{escape(_text(value))}</td>'


def _side(value: Any) -> str:
    return "right" if isinstance(value, int | float) and not isinstance(value, bool) else "left"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
