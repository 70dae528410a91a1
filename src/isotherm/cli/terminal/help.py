"""The layout of help: names on the left, descriptions on the right."""

import textwrap
from typing import TYPE_CHECKING, Any

from cyclopts.help import PlainFormatter

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

__all__ = ["TwoColumns"]

WIDEST = 26  # characters for the names of an option on one line
WIDTH = 88  # characters in a line at most


class TwoColumns(PlainFormatter):
    """Commands, arguments and options in two columns."""

    def __call__(self, console: "Console", options: "ConsoleOptions", panel: "HelpPanel") -> None:
        """Print one group."""
        from rich.text import Text

        if not panel.entries:
            return
        names = [_names(entry) for entry in panel.entries]
        left = 2 + max(len(line) for lines in names for line in lines)
        console.print(Text(f"\n{panel.title}:", style="bold"))
        for lines, entry in zip(names, panel.entries, strict=True):
            texts = textwrap.wrap(_description(entry), min(console.width, WIDTH) - left - 2)
            for row in range(max(len(lines), len(texts))):
                name, text = ("".join(column[row : row + 1]) for column in (lines, texts))
                console.print(Text("  ").append(f"{name:{left}}" if text else name, style="cyan").append(text))

    def render_description(self, console: "Console", options: "ConsoleOptions", description: Any) -> None:
        """Print what a command does; the groups and the examples begin with a blank line."""
        console.print(_plain(description))


def _names(entry: "HelpEntry") -> list[str]:
    """Such as ``-o, --output FILE``, on one line or more."""
    names = [*entry.positive_shorts, *entry.positive_names, *entry.negative_names]
    line = f"{', '.join(names)} {entry.metavar or ''}".rstrip() if names else entry.positional_label or ""
    return [line] if len(line) <= WIDEST else [*(f"{name}," for name in names[:-1]), names[-1]]


def _description(entry: "HelpEntry") -> str:
    """The description, the choices and the default."""
    text = _plain(entry.description)
    if entry.choices:
        text = f"{text.rstrip('.')}: {', '.join(entry.choices)}."
    return text if entry.default is None else f"{text} [default {entry.default}]"


def _plain(text: Any) -> str:
    return str(getattr(text, "primary_renderable", text)).rstrip()
