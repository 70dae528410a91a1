"""The commands, by name, and the layout of their help."""

import os
import textwrap
from collections.abc import Collection, Sequence
from types import ModuleType
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
from isotherm.cli.terminal.messages import UsageError, say

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

HELP_WIDTH = 88  # most characters in a line of help
NAMES_WIDTH = 26  # most characters in a line with all names of an option

EPILOGUE = f"""isotherm COMMAND --help lists the usual options of a command, with examples.
{VARIABLES}"""
HELP_ALL = "--help-all"


def version() -> str:
    """What a bug report needs."""
    import platform
    from importlib import metadata

    from isotherm import kernels

    own = metadata.version("isotherm")
    return f"isotherm {own}, Python {platform.python_version()}, kernels {kernels.description()}"


class TwoColumns(PlainFormatter):
    """Help in two columns: the names of commands, arguments and options, and what they do; only the usual ones."""

    def __init__(self, usual: Collection[str] | None = None) -> None:
        super().__init__()
        self.usual = usual

    def __call__(self, console: "Console", options: "ConsoleOptions", panel: "HelpPanel") -> None:
        """Print one group."""
        from rich.text import Text

        entries = [entry for entry in panel.entries if self._wants(entry)]
        if not entries:
            return
        names = [_names(entry) for entry in entries]
        left = 2 + max(len(line) for lines in names for line in lines)
        console.print(Text(f"\n{panel.title}:", style="bold"))
        for lines, entry in zip(names, entries, strict=True):
            texts = textwrap.wrap(_description(entry), min(console.width, HELP_WIDTH) - left - 2)
            for row in range(max(len(lines), len(texts))):
                name, text = ("".join(column[row : row + 1]) for column in (lines, texts))
                console.print(Text("  ").append(f"{name:{left}}" if text else name, style="cyan").append(text))

    def _wants(self, entry: "HelpEntry") -> bool:
        names = entry.positive_names
        return self.usual is None or not names or not set(self.usual).isdisjoint(names)

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
# The commands in the order of `isotherm --help`, with at most ten usual options each; --help-all lists the others too.
GRAPH = ("--directed", "--weight", "--features", "--quiet")
COMMANDS: dict[ModuleType, tuple[str, ...] | None] = {
    classify: (*GRAPH, "--vectors", "--rule", "--output", "--probabilities", "--save", "--force"),
    explain: (*GRAPH, "--rule", "--number", "--paths", "--output", "--json", "--force"),
    suggest: (*GRAPH, "--vectors", "--number", "--strategy", "--class", "--output", "--force"),
    update: (
        "--features",
        "--quiet",
        "--node",
        "--label",
        "--output",
        "--probabilities",
        "--save",
        "--json",
        "--force",
    ),
    check: (*GRAPH, "--vectors", "--rule", "--number", "--output", "--json", "--force"),
    explore: (*GRAPH, "--vectors", "--text", "--names", "--log", "--port", "--no-browser"),
    plot: (*GRAPH, "--vectors", "--text", "--rule", "--title", "--output", "--force"),
    evaluate: (*GRAPH, "--rule", "--fraction", "--policy", "--runs", "--per-class", "--plot"),
    compare: (*GRAPH, "--fraction", "--runs", "--no-peers", "--plot", "--output", "--force"),
    demo: None,
    pack: (
        "--directed",
        "--weight",
        "--source",
        "--target",
        "--simple",
        "--max-memory",
        "--output",
        "--force",
        "--quiet",
    ),
    reproduce: None,
    cite: None,
}
for place, (module, usual) in enumerate(COMMANDS.items()):
    app.command(
        getattr(module, module.__name__.rpartition(".")[2]),
        usage=getattr(module, "USAGE", None),
        help_epilogue=module.EXAMPLES,
        help_formatter=TwoColumns(usual),
        sort_key=place,
    )
app.command(datasets.datasets)
app.register_install_completion_command(help="Install completion for this shell.")
for flag in ("--help", "--version", "--install-completion"):
    app[flag].group = OPTIONS
app["--help"].help = "Show this, or the help of a command."
app["--version"].help = "Show the version, the kernels and the number of threads."


# Options that have a new name. Until 0.4 the old one works, and a line names the new one.
NEW_NAMES = {"--edges": "--more-edges", "--seeds": "--more-seeds"}
NEW_NAMES_OF_COMMANDS = {
    "explain": {"--top": "--number"},
    "suggest": {"--policy": "--strategy"},
    "explore": {"--title": "--names"},
}


def renamed(tokens: Sequence[str]) -> list[str]:
    """The arguments of a process, with new names in place of old ones.

    >>> renamed(["classify", "a.csv", "b.csv", "--quiet", "--seeds=c.csv"])
    ['classify', 'a.csv', 'b.csv', '--quiet', '--more-seeds=c.csv']
    """
    names = NEW_NAMES | NEW_NAMES_OF_COMMANDS.get(tokens[0] if tokens else "", {})
    for options in names.items():
        old, new = (option.replace("--", "ISOTHERM_").replace("-", "_").upper() for option in options)
        if old in os.environ:
            raise UsageError(f"{old} is now {new}: rename it")
    quiet = not {"-q", "--quiet"}.isdisjoint(tokens)
    found = []
    for token in tokens:
        name, *value = token.split("=", 1)
        if name in names and not quiet:
            say(f"isotherm: warning: {name} is now {names[name]}; the old name works until 0.4")
        found.append("=".join([names.get(name, name), *value]))
    return found


def run_command(tokens: Sequence[str]) -> None:
    """Run a command, or print its help: the usual options, or all of them with --help-all."""
    tokens = renamed(tokens)
    everything = {"help_formatter": TwoColumns()} if HELP_ALL in tokens else {}
    tokens = ["--help" if token == HELP_ALL else token for token in tokens]
    with app.app_stack([], overrides=everything):
        app(tokens, print_error=False, exit_on_error=False, result_action="return_value")
