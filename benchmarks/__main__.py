"""Run the benchmarks: print what comes out, keep it, and make a page of it."""

import argparse
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from benchmarks.commits import measured_commit, stale
from benchmarks.harness import Race, instruction_set, machine
from benchmarks.page import write_page
from benchmarks.results import Cost, Point, Result, Run, header, latest, overwrite, store

SUITES = {
    "default": "benchmarks.default",
    "foundation": "benchmarks.foundation",
    "laplace-learning": "benchmarks.laplace_learning",
    "processors": "benchmarks.processors",
    "grid": "benchmarks.grid",
    "hard-graphs": "benchmarks.hard_graphs",
    "communities": "benchmarks.communities",
    "choice": "benchmarks.choice",
    "directed": "benchmarks.directed",
    "fields": "benchmarks.fields",
    "edge-kinds": "benchmarks.edge_kinds",
    "many-classes": "benchmarks.many_classes",
    "growth": "benchmarks.growth",
    "classify": "benchmarks.classify",
    "confidence": "benchmarks.confidence",
    "labelling": "benchmarks.labelling",
    "doubtful": "benchmarks.doubtful",
    "answers": "benchmarks.answers",
    "small": "benchmarks.small",
    "billion": "benchmarks.billion",
    "graph500": "benchmarks.graph500",
    "vectors": "benchmarks.vectors",
    "cells": "benchmarks.cells",
    "cluster": "benchmarks.cluster",
    "layout": "benchmarks.layout",
    "explorer": "benchmarks.explorer",
    "backend": "benchmarks.backend",
}
EPILOGUE = "How right the labels are is measured by: python -m benchmarks accuracy --help"
# These take minutes to an hour; the first two need 35 GB of disk.
ON_REQUEST = {"billion", "graph500", "cells", "doubtful", "edge-kinds", "vectors"}


def run_suite(name: str, scale: float, rounds: int) -> Run:
    """Run one suite, printing each result as it comes."""
    run = Run(
        name, scale, datetime.now(UTC).date().isoformat(), machine(), isa=instruction_set(), commit=measured_commit()
    )
    races: Iterable[Race | Result | Point | Cost] = import_module(SUITES[name]).races(scale, rounds)
    for race in races:
        outcome = race.result() if isinstance(race, Race) else race
        run.add(outcome)
        print(outcome.row(), flush=True)
    return run


def main() -> None:
    """Race against the peers; print medians, spread and ratios."""
    if sys.argv[1:2] == ["accuracy"]:
        from benchmarks.accuracy.command import main as measure_accuracy

        measure_accuracy(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__, epilog=EPILOGUE)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"{', '.join(SUITES)} (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each contestant (default 5)")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the made-up graphs, 1 for full size")
    parser.add_argument("--results", type=Path, default=Path("out/benchmarks.jsonl"), help="where each run is kept")
    parser.add_argument(
        "--page",
        type=Path,
        help="make this page of the latest run of each suite, keep these runs beside it (.jsonl), and run nothing",
    )
    arguments = parser.parse_args()
    if arguments.page is not None:
        kept = arguments.page.with_suffix(".jsonl")
        runs = latest([kept, arguments.results], arguments.scale, SUITES)
        write_page(runs, arguments.page)
        overwrite(runs, kept)
        print(*(f"stale: {words}" for words in stale(runs)), sep="\n")
        return
    print(machine(), header(), sep="\n", flush=True)
    for name in arguments.suites or (name for name in SUITES if name not in ON_REQUEST):
        store(run_suite(name, arguments.scale, arguments.rounds), arguments.results)


if __name__ == "__main__":
    main()
