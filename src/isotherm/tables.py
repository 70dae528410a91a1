"""Small tables of results: text on a terminal, HTML in a notebook."""

import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, ClassVar

BLOCKS = " ▏▎▍▌▋▊▉█"
LONGEST_CELL = 40  # characters in a cell of text
CELL = "padding: 2px 10px; text-align: {side}"
BAR = "display: inline-block; height: 0.7em; width: {width:.0f}px; background: #d95f02"
WIDEST = 120  # pixels; the bar of a share of 1
LONGEST = 60  # characters in a cell of HTML


class Columns(Mapping[str, Any]):
    """A table whose columns are arrays of equal length: attributes, and by name as in a mapping."""

    NAMES: ClassVar[tuple[str, ...]]

    def __getitem__(self, column: str) -> Any:
        if column not in self.NAMES:
            raise KeyError(column)
        return getattr(self, column)

    def __iter__(self) -> Iterator[str]:
        return iter(self.NAMES)

    def __len__(self) -> int:
        return len(self.NAMES)

    def rows(self, count: int | None = None) -> list[dict[str, Any]]:
        """The first rows, or all."""
        table = zip(*(self[name][:count].tolist() for name in self), strict=True)
        return [dict(zip(self, row, strict=True)) for row in table]


def aligned(rows: list[list[str]], *, left: tuple[int, ...] = ()) -> str:
    """A table in columns; those in ``left`` are aligned left, the others right.

    >>> print(aligned([["class", "seeds"], ["tea", "2"], ["咖啡", "10"]], left=(0,)))
    class  seeds
    tea        2
    咖啡      10
    """
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for place, cell in enumerate(row):
            blanks = " " * (widths[place] - _width(cell))
            cells.append(cell + blanks if place in left else blanks + cell)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _width(text: str) -> int:
    """Columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.combining(sign) > 0 for sign in text)


def arrow() -> str:
    """The separator between the nodes of a path."""
    sign = "\N{RIGHTWARDS ARROW}"
    return f" {sign} " if _can_show(sign) else " > "


def bar(share: float, width: int = 20) -> str:
    """A bar for a share of 1, with a precision of an eighth of a character if the terminal allows.

    >>> bar(0.25, 10)
    '██▌'
    """
    if not _can_show(BLOCKS):
        return "#" * round(share * width)
    whole, eighths = divmod(round(share * width * 8), 8)
    return (BLOCKS[-1] * whole + BLOCKS[eighths]).rstrip()


def shown(value: object) -> str:
    r"""A class or a node as a cell of a table: without line breaks, and not too long.

    >>> shown("tea\nroom")
    'tea\\nroom'
    """
    text = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in str(value))
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 3]}..."


def counted(number: float, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "seed"), counted(2000, "seed")
    ('1 seed', '2,000 seeds')
    """
    figure = f"{number:,.0f}"
    return f"{figure} {noun}{'' if figure == '1' else 's'}"


def size(count: int) -> str:
    """A number of bytes.

    >>> size(3 << 10), size(3 << 20), size(3 << 29)
    ('3 KB', '3 MB', '1.5 GB')
    """
    if count < 2**19:
        return f"{count / 2**10:.0f} KB"
    return f"{count / 2**30:.1f} GB" if count >= 2**30 else f"{count / 2**20:.0f} MB"


def plus_minus(mean: float, deviation: float) -> str:
    """A mean and its standard deviation.

    >>> plus_minus(0.25, 0.0125)
    '0.250 ± 0.013'
    """
    sign = "\N{PLUS-MINUS SIGN}"
    return f"{mean:.3f} {sign if _can_show(sign) else '+-'} {deviation:.3f}"


def _can_show(text: str) -> bool:
    """Whether the terminal has these characters."""
    try:
        text.encode(sys.stderr.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def facts(title: str, values: Iterable[tuple[str, Any]]) -> str:
    """A title above a list of names and values."""
    rows = "".join(f"<tr>{_cell(name, 'left')}{_cell(value, 'left')}</tr>" for name, value in values)
    return f"<div><b>{escape(title)}</b><table>{rows}</table></div>"


def table(title: str, names: Sequence[str], rows: Iterable[Sequence[Any]], *, note: str = "") -> str:
    """A table with a title and an optional note; the numbers, from 0 to 1, in a column named "share" get bars."""

    def cell(name: str, value: Any) -> str:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return _cell(value, "right" if number else "left", bar=name == "share")

    head = "".join(f'<th style="{CELL.format(side="left")}">{escape(name)}</th>' for name in names)
    body = "".join(f"<tr>{''.join(map(cell, names, row))}</tr>" for row in rows)
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<div><b>{escape(title)}</b><table><tr>{head}</tr>{body}</table>{below}</div>"


def _cell(value: Any, side: str, *, bar: bool = False) -> str:
    drawn = f'<span style="{BAR.format(width=WIDEST * value)}"></span> ' if bar else ""
    return f'<td style="{CELL.format(side=side)}">{drawn}{escape(_text(value))}</td>'


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
