"""Text in columns: tables with bars, and the layout of help."""

import sys
import textwrap
from typing import TYPE_CHECKING, Any

from cyclopts.help import PlainFormatter

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

__all__ = ["TwoColumns", "aligned", "arrow", "bar", "counted", "plus_minus", "shown"]

BLOCKS = " ▏▎▍▌▋▊▉█"
LONGEST_CELL = 40  # characters
HELP_WIDTH = 88  # most characters in a line of help
NAMES_WIDTH = 26  # most characters in a line with all names of an option


def aligned(rows: list[list[str]], *, left: tuple[int, ...] = ()) -> str:
    """A table in columns; those in ``left`` are aligned left, the others right.

    >>> print(aligned([["class", "seeds"], ["tea", "2"], ["咖啡", "10"]], left=(0,)))
    class  seeds
    tea        2
    咖啡      10
    """
    from rich.cells import cell_len

    widths = [max(cell_len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = []
        for place, cell in enumerate(row):
            blanks = " " * (widths[place] - cell_len(cell))
            cells.append(cell + blanks if place in left else blanks + cell)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


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


def counted(number: float, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "seed"), counted(2000, "seed")
    ('1 seed', '2,000 seeds')
    """
    figure = f"{number:,.0f}"
    return f"{figure} {noun}{'' if figure == '1' else 's'}"


def plus_minus(mean: float, deviation: float) -> str:
    """A mean and its standard deviation.

    >>> plus_minus(0.25, 0.0125)
    '0.250 ± 0.013'
    """
    sign = "\N{PLUS-MINUS SIGN}"
    return f"{mean:.3f} {sign if _can_show(sign) else '+-'} {deviation:.3f}"


def shown(value: object) -> str:
    r"""A class or a node as a cell of a table: without line breaks, and not too long.

    >>> shown("tea\nroom")
    'tea\\nroom'
    """
    text = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in str(value))
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 3]}..."


def _can_show(text: str) -> bool:
    try:
        text.encode(sys.stderr.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class TwoColumns(PlainFormatter):
    """Help in two columns: the names of commands, arguments and options, and what they do."""

    def __call__(self, console: "Console", options: "ConsoleOptions", panel: "HelpPanel") -> None:
        """Print one group."""
        from rich.text import Text

        if not panel.entries:
            return
        names = [_names(entry) for entry in panel.entries]
        left = 2 + max(len(line) for lines in names for line in lines)
        console.print(Text(f"\n{panel.title}:", style="bold"))
        for lines, entry in zip(names, panel.entries, strict=True):
            texts = textwrap.wrap(_description(entry), min(console.width, HELP_WIDTH) - left - 2)
            for row in range(max(len(lines), len(texts))):
                name, text = ("".join(column[row : row + 1]) for column in (lines, texts))
                console.print(Text("  ").append(f"{name:{left}}" if text else name, style="cyan").append(text))

    def render_description(self, console: "Console", options: "ConsoleOptions", description: Any) -> None:
        """Print what a command does; the groups and the examples begin with a blank line."""
        console.print(_plain(description))


def _names(entry: "HelpEntry") -> list[str]:
    """The names of an option, such as ``-o, --output FILE``, on one line or more."""
    names = [*entry.positive_shorts, *entry.positive_names, *entry.negative_names]
    line = f"{', '.join(names)} {entry.metavar or ''}".rstrip() if names else entry.positional_label or ""
    return [line] if len(line) <= NAMES_WIDTH else [*(f"{name}," for name in names[:-1]), names[-1]]


def _description(entry: "HelpEntry") -> str:
    """The description, the choices and the default."""
    text = _plain(entry.description)
    if entry.choices:
        text = f"{text.rstrip('.')}: {', '.join(entry.choices)}."
    return text if entry.default is None else f"{text} [default {entry.default}]"


def _plain(text: Any) -> str:
    return str(getattr(text, "primary_renderable", text)).rstrip()
