"""The command line: each command is a library call, plus printing.

``isotherm --help`` lists the commands; docs/cli.md describes them.
"""

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default that of this process, and give its exit status.

    0 if all went well, 1 after an error inside isotherm, 2 after bad input or usage, 130 after Ctrl-C.
    """
    from isotherm.cli.status import run

    return run(arguments)
