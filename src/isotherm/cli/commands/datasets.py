"""``isotherm datasets``: graphs with known labels."""

from typing import Annotated

from cyclopts import App

from isotherm.cli.options import OPTIONS, Quiet, option, positional
from isotherm.cli.terminal.job import Job
from isotherm.cli.terminal.messages import UsageError, in_options
from isotherm.cli.terminal.process import exit_cleanly

EXAMPLES = """Examples:

  isotherm datasets list
  isotherm datasets fetch cora --data graphs
"""

datasets = App(
    name="datasets",
    help="List graphs with known labels, or download some.",
    help_epilogue=EXAMPLES,
    group_parameters=OPTIONS,
    sort_key=11,
)

Data = Annotated[str | None, option("A folder of graphs.", "DIR")]


@datasets.default
@datasets.command(name="list")
def list_(*, data: Data = None) -> None:
    """Print all datasets and where each comes from; those in the paper have a title.

    A dataset is built in, in a folder, or downloaded. A similar graph of the
    folder may stand in for it.
    """
    from isotherm.study.datasets.catalogue import CATALOGUE

    places = _places(data)
    names, widest = max(map(len, places)), max(map(len, places.values()))
    for name, place in places.items():
        entry = CATALOGUE.get(name)
        about = f"{entry.short}: {entry.title}" if entry else ""
        print(f"{name:{names}}  {place:{widest}}  {about}".rstrip())


@datasets.command(usage="isotherm datasets fetch [OPTIONS] NAMES...")
def fetch(*names: Annotated[str, positional("What to download.")], data: Data = None, quiet: Quiet = False) -> None:
    """Download datasets, unless they are there, and print the paths of their files.

    An interrupted download is resumed.
    """
    from isotherm.study.datasets import fetch

    if not names:
        raise UsageError("fetch needs the name of a dataset: isotherm datasets list prints them")
    with Job(quiet=quiet) as job, exit_cleanly():
        for name in names:
            try:
                with job.stage(name) as bar:
                    paths = fetch(name, data=data, progress=bar.amount)
            except (ValueError, OSError) as error:
                raise UsageError(in_options(error)) from None
            print(*paths, sep="\n")


def _places(data: str | None) -> dict[str, str]:
    """Where each dataset comes from."""
    from isotherm.study.datasets import at_hand, available

    try:
        places = available(data)
        stands = {name: at_hand(name, data=data) for name, place in places.items() if place == "download"}
    except ValueError as error:
        raise UsageError(in_options(error)) from None
    return places | {name: f"download; {other} stands in" for name, other in stands.items() if other}
