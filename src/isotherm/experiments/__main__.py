"""``python -m isotherm.experiments [NAME ...]``: reproduce the paper."""

import argparse
import sys
from collections.abc import Sequence

from isotherm.experiments import names, reproduce
from isotherm.experiments.base import PROTOCOLS

WIDTH = 30


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 2 if it cannot be done, and 130 if it is interrupted."""
    parser = argparse.ArgumentParser(prog="python -m isotherm.experiments", description="Reproduce the paper.")
    parser.add_argument("name", nargs="*", default=["all"], help=f"all, or some of {', '.join(names())}")
    parser.add_argument("--out", default="out", metavar="DIR", help="where to put the report and all scores [out]")
    parser.add_argument("--data", metavar="DIR", help="a folder of graphs [ISOTHERM_DATA]")
    parser.add_argument("--runs", type=int, default=10, metavar="N", help="how often each setting is repeated [10]")
    parser.add_argument("--protocol", action="append", choices=PROTOCOLS, help="one of them only")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="processes that share the work [2]")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="where all randomness comes from [0]")
    options = parser.parse_args(arguments)
    try:
        page = reproduce(
            options.name,
            out=options.out,
            data=options.data,
            runs=options.runs,
            protocols=options.protocol or PROTOCOLS,
            processes=options.processes,
            seed=options.seed,
            progress=show if sys.stderr.isatty() else None,
        )
    except (ValueError, OSError, ImportError, RuntimeError) as error:
        print(f"isotherm: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nisotherm: stopped; the same command goes on from here", file=sys.stderr)
        return 130
    print(f"The report is in {page}")
    return 0


def show(done: int, total: int, name: str) -> None:
    """One line that is written over and over."""
    filled = WIDTH * done // total
    bar = "#" * filled + "-" * (WIDTH - filled)
    end = "\n" if done == total else ""
    print(f"\r[{bar}] {done}/{total} {name:.48}\033[K", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
