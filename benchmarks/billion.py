"""A billion edges on one machine: packed from Parquet, and classified with confidence, each in a process of its own.

The graph is generated: nodes have degrees by a power law and belong to four communities; 80% of the edges stay inside
one. ``--scale 1`` has 50 million nodes and a billion edges and needs 35 GB of disk, which are given back at the end.
Memory is the peak of what a process holds by itself: mapped pages, which the system may drop at any time, do not count.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.process import Measure, measure
from benchmarks.results import Result

__all__ = ["Sizes", "communities", "races", "write_edges", "write_part", "write_seeds"]

NODES, EDGES, CLASSES = 50_000_000, 1_000_000_000, 4
PART = 20_000_000  # edges of a file
SKEW = 1.7  # the node of rank r has a degree in proportion to r^(1/SKEW - 1)
INSIDE = 0.8  # share of the edges inside a community
SEED_SHARE = 0.01
STEP = 48_271  # neighbouring ranks have ids far apart
PACK_SECONDS, CLASSIFY_SECONDS, MEMORY = 900, 600, 16  # goals for a billion edges
PEER_SCALE = 0.2  # up to which peers are asked: they hold everything in memory
START = 10  # seconds of a command on a small graph
BASE = 0.5  # GB of a process that does nothing large


class Sizes(NamedTuple):
    """Numbers of nodes and edges at a scale."""

    nodes: int
    edges: int

    @classmethod
    def at(cls, scale: float) -> "Sizes":
        nodes = max(CLASSES * round(NODES * scale / CLASSES), 400)
        while np.gcd(nodes, STEP) != 1:
            nodes += CLASSES
        return cls(nodes, max(round(EDGES * scale), 1000))


def communities(n: int) -> NDArray[np.int8]:
    """(n,) the community of each node."""
    found = np.empty(n, dtype=np.int8)
    found[np.arange(n) * STEP % n] = np.arange(n) % CLASSES
    return found


def write_edges(folder: Path, sizes: Sizes, part: int = PART) -> None:
    """Write the edges to files of a folder, a part at a time."""
    folder.mkdir()
    for number, first in enumerate(range(0, sizes.edges, part)):
        write_part(folder, number, min(part, sizes.edges - first), sizes.nodes)


def write_part(folder: Path, number: int, count: int, n: int) -> None:
    """Write one of the files; each has random numbers of its own, so that several processes may share the work."""
    source, target = _edges(np.random.default_rng([0, number]), count, n)
    frame = pl.DataFrame({"source": source, "target": target})
    frame.write_parquet(folder / f"part-{number:03}.parquet", compression="lz4", statistics=False)


def _edges(rng: np.random.Generator, count: int, n: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    ranks = (n * rng.random((2, count)) ** SKEW).astype(np.int64)  # float32 would skip most ranks of 50 million
    inside = rng.random(count, dtype=np.float32) < INSIDE
    moved = ranks[1] - ranks[1] % CLASSES + ranks[0] % CLASSES
    ranks[1] = np.where(inside, moved, ranks[1])
    source, target = (ranks * STEP % n).astype(np.int32)
    return source, target


def write_seeds(path: Path, n: int) -> None:
    """Write the communities of one node in a hundred."""
    nodes = np.sort(np.random.default_rng(1).permutation(n)[: max(int(n * SEED_SHARE), 20)])
    pl.DataFrame({"node": nodes, "label": communities(n)[nodes].astype(np.int64)}).write_parquet(path)


def command(*arguments: object) -> Measure:
    """Run a command of isotherm in a new process: its seconds, and the peak of its own memory in GB."""
    began, peak = time.perf_counter(), 0.0
    process = subprocess.Popen([sys.executable, "-m", "isotherm", *map(str, arguments), "--quiet"])
    while process.poll() is None:
        peak = max(peak, own_memory(process.pid))
        time.sleep(0.02)
    if process.returncode:
        raise SystemExit(f"isotherm {' '.join(map(str, arguments))} failed")
    return Measure(time.perf_counter() - began, peak)


def own_memory(process: int) -> float:
    """Memory of a process that is not mapped from files, in GB; 0 where the system does not tell."""
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("RssAnon"))) / 2**20
    return 0.0


@contextmanager
def job(scale: float) -> Iterator[Path]:
    """A folder with the edges and the seeds."""
    with tempfile.TemporaryDirectory(dir=Path("out") if Path("out").is_dir() else None) as name:
        folder, sizes = Path(name), Sizes.at(scale)
        write_edges(folder / "edges", sizes)
        write_seeds(folder / "seeds.parquet", sizes.nodes)
        yield folder


def races(scale: float = 1.0, rounds: int = 1) -> Iterator[Result]:
    """Pack and classify against the goals; at a tenth, also what a user would take instead."""
    del rounds  # one: the work is large
    sizes = Sizes.at(scale)
    size = f"{sizes.edges / 1e6:.3g} million edges"
    memory = max(MEMORY * scale, BASE)
    with job(scale) as folder:
        edges, seeds, graph, labels = (folder / name for name in ("edges", "seeds.parquet", "graph.iso", "out.parquet"))
        packed = command("pack", edges, "-o", graph, "--simple", "--max-memory", f"{max(8 * scale, 0.004)}GB")
        yield Result(f"pack {size}", "goal", [PACK_SECONDS * scale + START], "isotherm", [packed.seconds], 1)
        yield Result(f"pack {size}, memory", "goal", [memory], "isotherm", [packed.peak], 1, "GB")
        found = command("classify", graph, seeds, "-o", labels)
        yield Result(f"classify {size}", "goal", [CLASSIFY_SECONDS * scale + START], "isotherm", [found.seconds], 1)
        yield Result(f"classify {size}, memory", "goal", [memory], "isotherm", [found.peak], 1, "GB")
        share = [100 * wrong(labels, sizes.nodes)]
        yield Result(f"classify {size}, wrong labels", "guesses", [100 * (1 - 1 / CLASSES)], "isotherm", share, 5, "%")
        if scale <= PEER_SCALE:
            yield from against_peers(folder, packed, found, size)


def against_peers(folder: Path, packed: Measure, found: Measure, size: str) -> Iterator[Result]:
    """From Parquet to labels, by what a user would take instead; neither finds equilibrium or a confidence."""
    ours = packed.seconds + found.seconds
    for peer in ("scikit-network", "Polars joins"):
        theirs = measure("benchmarks.billion_peers", peer, folder)
        work = f"from Parquet to labels, {size}"
        yield Result(work, f"{peer}, ten sweeps", [theirs.seconds], "isotherm, equilibrium", [ours], 1)
        peak = max(packed.peak, found.peak)
        yield Result(f"{work}, memory", f"{peer}, ten sweeps", [theirs.peak], "isotherm", [peak], 1, "GB")


def wrong(labels: Path, n: int) -> float:
    """The share of labels that are not the community."""
    frame = pl.read_parquet(labels, columns=["node", "label"])
    return float(np.mean(communities(n)[frame["node"].to_numpy()] != frame["label"].fill_null(-1).to_numpy()))
