"""The commands, by name, and the layout of their help."""

import textwrap
from typing import TYPE_CHECKING, Any

from cyclopts import App
from cyclopts.config import Env
from cyclopts.help import PlainFormatter

from isotherm.cli.commands import (
    check,
    cite,
    classify,
    compare,
    datasets,
    demo,
    evaluate,
    explain,
    explore,
    pack,
    plot,
    reproduce,
    suggest,
    update,
)
from isotherm.cli.options import OPTIONS, VARIABLES

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

__all__ = ["app"]

HELP_WIDTH = 88  # most characters in a line of help
NAMES_WIDTH = 26  # most characters in a line with all names of an option

EPILOGUE = f"""isotherm COMMAND --help has the options and examples of a command.
{VARIABLES}"""


def version() -> str:
    """What a bug report needs."""
    import platform
    from importlib import metadata

    from isotherm import kernels

    own = metadata.version("isotherm")
    return f"isotherm {own}, Python {platform.python_version()}, kernels {kernels.description()}"


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


app = App(
    name="isotherm",
    help="Label a whole graph from a few known nodes, by heat diffusion at equilibrium.",
    version=version,
    help_format="plaintext",
    help_formatter=TwoColumns(),
    help_epilogue=EPILOGUE,
    group_parameters=OPTIONS,
    config=Env("ISOTHERM_", command=False, show=False),
    suppress_keyboard_interrupt=False,
)
app.command(classify.classify, usage=classify.USAGE, help_epilogue=classify.EXAMPLES, sort_key=1)
app.command(explain.explain, usage=explain.USAGE, help_epilogue=explain.EXAMPLES, sort_key=2)
app.command(suggest.suggest, usage=suggest.USAGE, help_epilogue=suggest.EXAMPLES, sort_key=3)
app.command(update.update, help_epilogue=update.EXAMPLES, sort_key=3.2)
app.command(check.check, usage=check.USAGE, help_epilogue=check.EXAMPLES, sort_key=3.3)
app.command(explore.explore, usage=explore.USAGE, help_epilogue=explore.EXAMPLES, sort_key=3.5)
app.command(plot.plot, help_epilogue=plot.EXAMPLES, sort_key=3.6)
app.command(evaluate.evaluate, usage=evaluate.USAGE, help_epilogue=evaluate.EXAMPLES, sort_key=4)
app.command(compare.compare, help_epilogue=compare.EXAMPLES, sort_key=4)
app.command(demo.demo, help_epilogue=demo.EXAMPLES, sort_key=5)
app.command(pack.pack, usage=pack.USAGE, help_epilogue=pack.EXAMPLES, sort_key=6)
app.command(cite.cite, help_epilogue=cite.EXAMPLES, sort_key=8)
app.command(datasets.datasets)
app.command(reproduce.reproduce, usage=reproduce.USAGE, help_epilogue=reproduce.EXAMPLES, sort_key=7)
app.register_install_completion_command(help="Install completion for this shell.")
for flag in ("--help", "--version", "--install-completion"):
    app[flag].group = OPTIONS
app["--help"].help = "Show this, or the help of a command."
app["--version"].help = "Show the version, the kernels and the number of threads."
