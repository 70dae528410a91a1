"""A process of its own for each turn, where peak memory counts; it reports its time and its peak as JSON."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

__all__ = ["Measure", "measure", "reported"]


class Measure(NamedTuple):
    """Seconds of the work, and the peak memory of the process in GB."""

    seconds: float
    peak: float


def measure(module: str, *arguments: object) -> Measure:
    """Run a module of this folder in a new process, and read what it reports on its last line."""
    command = [sys.executable, "-W", "ignore", "-m", module, *map(str, arguments)]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    *lines, report = result.stdout.splitlines()
    for line in lines:
        print(line, flush=True)
    return Measure(**json.loads(report))


@contextmanager
def reported() -> Iterator[None]:
    """Time the work inside, and report it: the last thing that the new process does."""
    began = time.perf_counter()
    yield
    seconds = time.perf_counter() - began
    print(json.dumps(Measure(seconds, peak_memory())._asdict()), flush=True)


def peak_memory() -> float:
    """The most memory that this process has held, in GB.

    On Linux a new process inherits the peak that getrusage reports from its parent, so ask the system itself.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
