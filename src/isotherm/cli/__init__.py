"""The command line: each command is a library call, plus printing.

Arguments come in, files and an exit status go out. ``isotherm --help`` lists the commands; docs/cli.md describes them.
Read ``app.py`` first, which names the commands, then ``commands/classify.py``. ``options.py`` has the options that
commands share, ``parameters.py`` how one is declared and checked. ``inputs/`` reads files and fits, ``reports/`` has
what is shown, and ``terminal/`` how a process talks and ends.
"""

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default that of this process, and give its exit status.

    0 means success, 1 an error inside isotherm, 2 bad input or usage, 3 warnings with --strict, 130 Ctrl-C.
    """
    from isotherm.cli.terminal.status import run

    return run(arguments)
