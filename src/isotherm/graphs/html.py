"""Tables in HTML, as notebooks show them."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["facts", "table"]

CELL = "padding: 2px 10px; text-align: {side}"
BAR = "display: inline-block; height: 0.7em; width: {width:.0f}px; background: #d95f02"
WIDEST = 120  # pixels of a bar
LONGEST = 60  # characters of a cell


def facts(title: str, values: Iterable[tuple[str, Any]]) -> str:
    """A title, and below it names with their values."""
    rows = "".join(f"<tr>{_cell(name, 'left')}{_cell(value, 'left')}</tr>" for name, value in values)
    return f"<div><b>{escape(title)}</b><table>{rows}</table></div>"


def table(title: str, names: Sequence[str], rows: Iterable[Sequence[Any]], *, note: str = "") -> str:
    """A table with a title and perhaps a note below it; a number between 0 and 1 in a column "share" gets a bar."""
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
