"""Run the benchmarks: print what comes out, keep it, and make a page of it."""

import argparse
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from benchmarks.harness import Race, machine
from benchmarks.page import write_page
from benchmarks.results import HEADER, Point, Result, Run, latest, store

SUITES = {
    "foundation": "benchmarks.foundation",
    "laplace-learning": "benchmarks.laplace_learning",
    "bandwidth": "benchmarks.bandwidth",
    "grid": "benchmarks.grid",
    "hard-graphs": "benchmarks.hard_graphs",
    "choice": "benchmarks.choice",
    "directed": "benchmarks.directed",
    "many-classes": "benchmarks.many_classes",
    "growth": "benchmarks.growth",
    "classify": "benchmarks.classify",
    "confidence": "benchmarks.confidence",
    "labelling": "benchmarks.labelling",
}


def run_suite(name: str, scale: float, rounds: int) -> Run:
    """Run one suite, printing each result as it comes."""
    run = Run(name, scale, datetime.now(UTC).date().isoformat(), machine())
    races: Iterable[Race | Result | Point] = import_module(SUITES[name]).races(scale, rounds)
    for race in races:
        outcome = race.result() if isinstance(race, Race) else race
        (run.points if isinstance(outcome, Point) else run.results).append(outcome)  # type: ignore[arg-type]
        print(outcome.row(), flush=True)
    return run


def main() -> None:
    """Race against the peers; print medians, spread and ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"{', '.join(SUITES)} (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each contestant (default 5)")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the made-up graphs, 1 for full size")
    parser.add_argument("--results", type=Path, default=Path("out/benchmarks.jsonl"), help="where each run is kept")
    parser.add_argument("--page", type=Path, help="make this page of the latest run of each suite, and run nothing")
    arguments = parser.parse_args()
    if arguments.page is not None:
        write_page(latest(arguments.results, arguments.scale, SUITES), arguments.page)
        return
    print(machine(), HEADER, sep="\n", flush=True)
    for name in arguments.suites or SUITES:
        store(run_suite(name, arguments.scale, arguments.rounds), arguments.results)


if __name__ == "__main__":
    main()
