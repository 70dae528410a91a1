"""A race: the contestants take turns, and what counts is the ratio of their medians."""

import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.results import Result
from isotherm import kernels

__all__ = ["Contestant", "Race", "instruction_set", "machine", "refuse_unless_equal"]

PAUSE = 0.2  # seconds before each turn


@dataclass
class Contestant:
    """Something to be timed; what it returns is kept, to be compared."""

    name: str
    run: Callable[[], Any]
    factor: float = 1  # how many times the work would be done
    seconds: list[float] = field(default_factory=list)
    result: Any = None

    def turn(self) -> None:
        time.sleep(PAUSE)  # threads of linear algebra spin for some time after their last work
        began = time.perf_counter()
        self.result = self.run()
        self.seconds.append(self.factor * (time.perf_counter() - began))


@dataclass
class Race:
    """Ours against a peer, with the ratio to reach, if there is one."""

    work: str
    peer: Contestant
    ours: Contestant
    goal: float | None

    def run(self, rounds: int) -> None:
        for _ in range(rounds):
            self.peer.turn()
            self.ours.turn()

    def result(self) -> Result:
        """What was measured so far."""
        return Result(self.work, self.peer.name, self.peer.seconds, self.ours.name, self.ours.seconds, self.goal)

    @property
    def ratio(self) -> float:
        return self.result().ratio


def refuse_unless_equal(ours: NDArray[Any], theirs: NDArray[Any], scores: NDArray[np.floating], what: str) -> None:
    """Stop the benchmark if labels differ where the two best scores differ by more than rounding."""
    best = np.partition(scores, -2, axis=1)
    clear = best[:, -1] - best[:, -2] > 1e-4 * scores.std(axis=0).max()
    wrong = np.count_nonzero(ours[clear] != theirs[clear])
    if wrong or clear.mean() < 0.9:
        raise SystemExit(f"{what}: {wrong} of {clear.sum()} clear labels differ: these are two definitions, no race")


def instruction_set() -> str:
    """The instruction set of the kernels that run here."""
    return "reference" if kernels.active is not kernels.native else str(kernels.active.instruction_set())


def machine() -> str:
    """What this ran on, in one line."""
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as info:
            model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), model)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version}" for name, version in _versions())
    return (
        f"{model}, {os.cpu_count()} cores, {memory:.0f} GB; {platform.system()}, Python {platform.python_version()}, "
        f"{packages}; kernels {kernels.description()}"
    )


def _versions() -> Iterator[tuple[str, str]]:
    for name in ("numpy", "scipy", "scikit-network", "pyamg", "graphlearning"):
        with suppress(PackageNotFoundError):
            yield name, version(name)
