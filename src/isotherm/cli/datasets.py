"""``isotherm datasets``: graphs with known labels."""

from typing import Annotated

from cyclopts import App

from isotherm.cli.options import option, positional
from isotherm.cli.status import UsageError

__all__ = ["EXAMPLES", "datasets"]

EXAMPLES = """Examples:

  isotherm datasets list
  isotherm datasets fetch cora --data graphs
"""

datasets = App(name="datasets", help="List graphs with known labels, or download some.", help_epilogue=EXAMPLES)

Data = Annotated[str | None, option("A folder of graphs.", "DATA", metavar="DIR")]


@datasets.default
@datasets.command(name="list")
def list_(*, data: Data = None) -> None:
    """Print all datasets, and where each comes from: built in, a folder, or a download."""
    from isotherm.datasets import available

    try:
        places = available(data)
    except ValueError as error:
        raise UsageError(str(error)) from None
    width = max(map(len, places))
    for name, place in places.items():
        print(f"{name:{width}}  {place}")


@datasets.command
def fetch(*names: Annotated[str, positional("What to download.")], data: Data = None) -> None:
    """Download datasets, unless they are there, and print the paths of their files."""
    from isotherm.datasets import fetch

    if not names:
        raise UsageError("fetch needs the name of a dataset: isotherm datasets list prints them")
    for name in names:
        try:
            paths = fetch(name, data=data)
        except (ValueError, OSError) as error:
            raise UsageError(str(error)) from None
        print(*paths, sep="\n")
