"""``python -m isotherm.datasets list`` or ``fetch NAME ...``."""

import argparse
import sys
from collections.abc import Sequence

from isotherm.datasets import available, fetch


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 2 if a dataset cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m isotherm.datasets", description="Datasets, and where they are.")
    parser.add_argument("--data", metavar="DIR", help="a folder of graphs (default: ISOTHERM_DATA)")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="all datasets, and where each comes from")
    commands.add_parser("fetch", help="download datasets").add_argument("name", nargs="+")
    options = parser.parse_args(arguments)
    try:
        if options.command == "list":
            places = available(options.data)
            width = max(map(len, places))
            print("\n".join(f"{name:{width}}  {place}" for name, place in places.items()))
        else:
            for name in options.name:
                print(*fetch(name, data=options.data), sep="\n")
    except (ValueError, OSError, ImportError) as error:
        print(f"isotherm: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
