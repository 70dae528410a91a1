"""A race: the contestants take turns, and what counts is the ratio of their medians."""

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels

__all__ = ["Contestant", "Race", "machine", "refuse_unless_equal"]


@dataclass
class Contestant:
    """Something to be timed; what it returns is kept, to be compared."""

    name: str
    run: Callable[[], Any]
    factor: float = 1  # how many times the work would be done
    seconds: list[float] = field(default_factory=list)
    result: Any = None

    def turn(self) -> None:
        began = time.perf_counter()
        self.result = self.run()
        self.seconds.append(self.factor * (time.perf_counter() - began))

    def describe(self) -> str:
        return f"{median(self.seconds):.2f} s ({min(self.seconds):.2f} to {max(self.seconds):.2f})"


@dataclass
class Race:
    """Ours against a peer, with the ratio to reach."""

    work: str
    peer: Contestant
    ours: Contestant
    goal: float

    def run(self, rounds: int) -> None:
        for _ in range(rounds):
            self.peer.turn()
            self.ours.turn()

    @property
    def ratio(self) -> float:
        return median(self.peer.seconds) / median(self.ours.seconds)

    def row(self) -> str:
        """A row of the table: medians, least and greatest, ratio of the medians, spread of the ratios of each turn."""
        turns = [p / o for p, o in zip(self.peer.seconds, self.ours.seconds, strict=True)]
        verdict = "reached" if self.ratio >= self.goal else "MISSED"
        return (
            f"| {self.work} | {self.peer.name}: {self.peer.describe()} | {self.ours.name}: {self.ours.describe()} "
            f"| {self.ratio:.1f} ({min(turns):.1f} to {max(turns):.1f}) | {self.goal:g}: {verdict} |"
        )


HEADER = "| work | peer | isotherm | times faster | goal |\n|---|---|---|---|---|"


def refuse_unless_equal(ours: NDArray[Any], theirs: NDArray[Any], scores: NDArray[np.floating], what: str) -> None:
    """Stop the benchmark if labels differ where the two best scores differ by more than rounding."""
    best = np.partition(scores, -2, axis=1)
    clear = best[:, -1] - best[:, -2] > 1e-4 * scores.std(axis=0).max()
    wrong = np.count_nonzero(ours[clear] != theirs[clear])
    if wrong or clear.mean() < 0.9:
        raise SystemExit(f"{what}: {wrong} of {clear.sum()} clear labels differ: these are two definitions, no race")


def machine() -> str:
    """What this ran on, in one line."""
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as info:
            model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), model)
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    return f"{model}, {os.cpu_count()} cores; {versions}; kernels {kernels.description()}"
