"""Run the benchmarks and print one table."""

import argparse
from collections.abc import Iterable

from benchmarks.harness import HEADER, Race, machine


def foundation(scale: float, rounds: int) -> Iterable[Race]:
    from benchmarks import foundation

    return foundation.races(int(1_000_000 * scale), int(11_500_000 * scale), rounds=rounds)


def hard_graphs(scale: float, rounds: int) -> Iterable[Race]:
    from benchmarks import hard_graphs

    return hard_graphs.races(scale, rounds)


def classify(scale: float, rounds: int) -> Iterable[Race]:
    from benchmarks import classify

    return classify.races(scale, rounds)


SUITES = {"foundation": foundation, "hard-graphs": hard_graphs, "classify": classify}


def main() -> None:
    """Race against the peers; print medians, spread and ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"{', '.join(SUITES)} (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each contestant (default 5)")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the made-up graphs, 1 for full size")
    arguments = parser.parse_args()
    print(machine(), flush=True)
    print(HEADER)
    for name in arguments.suites or SUITES:
        for race in SUITES[name](arguments.scale, arguments.rounds):
            print(race.row(), flush=True)


main()
