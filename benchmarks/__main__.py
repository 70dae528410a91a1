"""Run all benchmarks and print one table."""

import argparse

from benchmarks import foundation
from benchmarks.harness import HEADER, machine


def main() -> None:
    """Run the races and print medians, spread and ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each contestant (default 5)")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the graphs, 1 for full size")
    arguments = parser.parse_args()
    print(machine(), flush=True)
    n, edges = int(1_000_000 * arguments.scale), int(11_500_000 * arguments.scale)
    rows = [race.row() for race in foundation.races(n, edges, rounds=arguments.rounds)]
    print("\n".join([HEADER, *rows]))


main()
