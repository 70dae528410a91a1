"""Files that a command will write, checked before any work is done for them."""

from collections.abc import Sequence

from isotherm.cli.inputs.reading import check_apart
from isotherm.cli.terminal import wording
from isotherm.cli.terminal.wording import usage_errors

__all__ = ["check_targets"]


def check_targets(
    output: str | None, plot: str | None, sources: Sequence[str], *, force: bool, output_format: str | None = None
) -> None:
    """Refuse a table or a picture that cannot be written, or that is read."""
    if plot is not None:
        from isotherm.cli.reports.picture import check_picture

        check_apart(plot, sources)
        check_picture(plot, force=force)
    if output is not None:
        from isotherm.io import check_output

        check_apart(output, sources)
        with usage_errors(wording.OUTPUT):
            check_output(output, force=force, format=output_format)
