"""``python -m tools.fuzz``: run cases of each kind, and print how many ended in a crash, a hang or a wrong answer."""

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tools.fuzz import arrays, faults, fits, folders, guided, models, order, readers, weights
from tools.fuzz.workers import Job, Pool, Tally

GUIDED = "guided reader of "
SHOWN = 5  # failures of each kind that are printed


def main() -> int:
    """Run all kinds; the exit status is 1 if any case failed."""
    options = _options()
    kinds: dict[str, list[Job]] = {}
    for suffix in readers.FORMATS:
        kinds[f"reader of {suffix}"] = [(readers.case, (suffix, options.seed, n)) for n in range(options.cases)]
    kinds["arrays in files"] = [(arrays.case, (options.seed, n)) for n in range(options.cases)]
    kinds["saved models"] = [(models.case, (options.seed, n)) for n in range(options.cases)]
    kinds["packed folders"] = [(folders.case, (options.seed, n)) for n in range(options.cases)]
    for decades in weights.DECADES:
        jobs: list[Job] = [(weights.case, (decades, options.seed, n)) for n in range(options.cases // 5)]
        kinds[f"weights over {decades} decades"] = jobs
    for decades in fits.DECADES:
        kinds[f"fits over {decades} decades"] = [
            (fits.case, (decades, options.seed, n)) for n in range(options.cases // 10)
        ]
    kinds["sequences of updates"] = [(fits.updates, (options.seed, n)) for n in range(options.cases // 20)]
    kinds["order of lines, nodes, classes"] = [(order.case, (options.seed, n)) for n in range(options.cases // 20)]
    kinds["order where nodes look alike"] = [(order.alike, (options.seed, n)) for n in range(options.cases // 50)]
    kinds["order in larger graphs"] = [(order.larger, (options.seed, n)) for n in range(options.cases // 100)]
    kinds["order where seeds have several labels"] = [
        (order.several, (options.seed, n)) for n in range(options.cases // 50)
    ]
    words = options.only or [""]
    if any(word in faults.NAME for word in words):  # they have to be counted first
        kinds[faults.NAME] = faults.jobs(options.cases // 5)
    chosen = {name: jobs for name, jobs in kinds.items() if any(word in name for word in words)}
    print(f"seed {options.seed}; {'kind':25} {'cases':>7} {'crashes':>7} {'hangs':>7} {'wrong':>7} {'seconds':>7}")
    failures, pool = 0, Pool(options.workers, options.limit)
    for name, jobs in chosen.items():
        start = time.monotonic()
        tally = pool.run(iter(jobs))
        _print(name, tally, time.monotonic() - start)
        failures += tally.failures
    pool.close()
    suffixes = [suffix for suffix in guided.FORMATS if any(word in GUIDED + suffix for word in words)]
    with ThreadPoolExecutor(options.workers) as several:  # each starts a process

        def timed(suffix: str) -> tuple[str, Tally, float]:
            start = time.monotonic()
            return GUIDED + suffix, guided.run(suffix, options.seed, options.cases), time.monotonic() - start

        for name, tally, seconds in several.map(timed, suffixes if guided.available() else []):
            _print(name, tally, seconds)
            failures += tally.failures
    print(f"{failures} failures")
    return 1 if failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument(
        "--cases",
        type=int,
        default=10_000,
        help="of each reader, models and folders; fewer for weights and fits",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of a processor for one case")
    parser.add_argument("--only", nargs="*", help="kinds whose name has one of these words")
    return parser.parse_args()


def _print(name: str, tally: Tally, seconds: float) -> None:
    counts = (tally.cases, len(tally.crashes), len(tally.hangs), len(tally.wrong))
    print(f"{name:33} {' '.join(f'{count:7}' for count in counts)} {seconds:7.0f}", flush=True)
    for kind, found in (("crash", tally.crashes), ("hang", tally.hangs), ("wrong", tally.wrong)):
        for each in found[:SHOWN]:
            print(f"  {kind}: {each}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
