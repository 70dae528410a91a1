"""Options that have a new name. Until 0.4 the old one works, and a line names the new one."""

import os
from collections.abc import Sequence

from isotherm.cli.terminal.messages import UsageError, say

NEW_NAMES = {"--edges": "--more-edges", "--seeds": "--more-seeds"}
OF_COMMANDS = {"explain": {"--top": "--number"}, "suggest": {"--policy": "--strategy"}}


def renamed(tokens: Sequence[str]) -> list[str]:
    """The arguments of a process, with new names in place of old ones.

    >>> renamed(["classify", "a.csv", "b.csv", "--quiet", "--seeds=c.csv"])
    ['classify', 'a.csv', 'b.csv', '--quiet', '--more-seeds=c.csv']
    """
    names = NEW_NAMES | OF_COMMANDS.get(tokens[0] if tokens else "", {})
    for old, new in names.items():
        if _variable(old) in os.environ:
            raise UsageError(f"{_variable(old)} is now {_variable(new)}: rename it")
    quiet = not {"-q", "--quiet"}.isdisjoint(tokens)
    found = []
    for token in tokens:
        name, *value = token.split("=", 1)
        if name in names and not quiet:
            say(f"isotherm: warning: {name} is now {names[name]}; the old name works until 0.4")
        found.append("=".join([names.get(name, name), *value]))
    return found


def _variable(option: str) -> str:
    """The environment variable of an option."""
    return option.replace("--", "ISOTHERM_").replace("-", "_").upper()
