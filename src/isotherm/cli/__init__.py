"""The command line: each command is a library call, plus printing.

Arguments come in, files and an exit status go out. ``isotherm --help`` lists the commands; docs/commands describes
them. Read ``app.py`` first, which names the commands, then ``commands/classify.py``. ``options.py`` has the options
that commands share. ``inputs.py`` reads files and fits, ``outputs.py`` checks and writes tables, ``reports/`` makes
text and pictures of results, and ``terminal/`` has how a process starts, talks and ends.
"""

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default the one in the arguments of this process, and return its exit status.

    0 means success, 1 an error inside isotherm, 2 bad input or usage, 3 warnings with --strict, 130 Ctrl-C.
    """
    from isotherm.cli.terminal.process import run

    return run(arguments)
