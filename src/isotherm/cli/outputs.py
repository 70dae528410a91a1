"""Files that commands write: checked before any work is done for them, and written whole or not at all."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from isotherm.cli.options import TableFormat
from isotherm.cli.terminal.messages import OUTPUT, UsageError, usage_errors
from isotherm.cli.terminal.process import exit_cleanly
from isotherm.cli.terminal.text import counted

__all__ = ["check_apart", "check_targets", "same_file", "write_columns"]


def check_targets(
    output: str | None, plot: str | None, sources: Iterable[str], *, force: bool, output_format: str | None = None
) -> None:
    """Refuse a table or a picture that cannot be written, or that is an input."""
    sources = list(sources)
    if plot is not None:
        from isotherm.cli.reports.picture import check_picture

        check_apart(plot, sources)
        check_picture(plot, force=force)
    if output is not None:
        from isotherm.io import check_output

        check_apart(output, sources)
        with usage_errors(OUTPUT):
            check_output(output, force=force, format=output_format)


def check_apart(target: str, sources: Iterable[str]) -> None:
    """Refuse to write to a file that is read."""
    if target != "-" and any(same_file(source, target) for source in sources):
        raise UsageError(f"{target} is also an input: give the output another name")


def same_file(one: str, other: str) -> bool:
    """Whether two names stand for one file, or both for standard input or output."""
    if "-" in (one, other):
        return one == other
    return os.path.realpath(one) == os.path.realpath(other) and not os.path.realpath(one).startswith("/dev/")


def write_columns(output: str, columns: Mapping[str, Sequence[Any]], table: TableFormat) -> str:
    """Write a table, and return a line that says how many rows went where."""
    from isotherm.io import write_table

    with exit_cleanly(), usage_errors(OUTPUT):
        rows = write_table(output, columns, format=table.output_format, force=table.force, safe_cells=table.safe_cells)
    return f"{counted(rows, 'row')} to {'standard output' if output == '-' else output}"
