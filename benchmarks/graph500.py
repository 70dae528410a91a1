"""Sweeps on the graph of Graph 500: seconds and core seconds for each entry and column, beside published PageRank.

The generator is the Kronecker one of Graph 500: each edge chooses a quarter of the matrix again and again, with the
probabilities 0.57, 0.19, 0.19 and 0.05. ``--scale 1`` has at most 2^26 nodes and 2^30 edges, 16 for each node, and
needs 35 GB of disk; half the scale has one bit less. Loops and repeated edges are dropped by `isotherm pack`. A sweep
does the work of an iteration of PageRank for each column: a sum over the neighbours of each node.
"""

import json
import math
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.billion import command
from benchmarks.results import Result

__all__ = ["edges_of", "races"]

Words: TypeAlias = NDArray[np.uint64]
BITS, EDGE_FACTOR = 26, 16
RIGHT = 0.19 + 0.05  # probability that a bit of the target is 1
BELOW = 0.19 / (0.57 + 0.19), 0.05 / RIGHT  # that the bit of the source is 1, by the bit of the target
PART = 1 << 24  # edges of a file
MULTIPLIER = 0x9E3779B97F4A7C15  # odd; scatters the ids of hubs
COLUMNS, SWEEPS = (1, 8), (2, 6)  # the cost of a sweep is what the larger number takes longer
SEEDS = 0.01  # share of the nodes
# GAP-kron, 27 bits: 4,223,264,644 entries, 7 iterations in 22.690 s on 20 cores of a Xeon E5-2698 v4, in float64
# (Test/PageRank3/hypersparse_out.txt of GraphBLAS/LAGraph, 2020).
PUBLISHED, PUBLISHED_CORES = 22.690e9 / (4_223_264_644 * 7), 20
PEER = "SuiteSparse:GraphBLAS 2020, PageRank on 2^27 nodes, published"


def edges_of(part: int, count: int, bits: int) -> tuple[Words, Words]:
    """Ends of the edges of a part, as scattered ids."""
    rng, ends = np.random.default_rng([500, part]), np.zeros((2, count), np.uint64)
    for _ in range(bits):
        right = rng.random(count, dtype=np.float32) < RIGHT
        below = rng.random(count, dtype=np.float32) < np.array(BELOW, np.float32)[right.astype(np.int8)]
        ends = ends << np.uint64(1) | np.stack([below, right])
    source, target = scattered(ends, bits)
    return source, target


def scattered(ids: Words, bits: int) -> Words:
    """A permutation of the numbers of so many bits."""
    mask, half = np.uint64((1 << bits) - 1), np.uint64(bits // 2)
    for _ in range(3):
        ids = ids * np.uint64(MULTIPLIER) & mask
        ids ^= ids >> half
    return ids


def races(scale: float = 1.0, rounds: int = 1) -> Iterator[Result]:
    """The cost of a sweep with one column and with eight, beside PageRank as published."""
    del rounds  # one: the work is large
    bits = round(BITS + math.log2(scale))
    with tempfile.TemporaryDirectory(dir=Path("out") if Path("out").is_dir() else None) as name:
        folder = Path(name)
        (folder / "edges").mkdir()
        for part, first in enumerate(range(0, EDGE_FACTOR << bits, PART)):
            source, target = edges_of(part, min(PART, (EDGE_FACTOR << bits) - first), bits)
            frame = pl.DataFrame({"source": source, "target": target}).cast(pl.UInt32)
            frame.write_parquet(folder / "edges" / f"part-{part:03}.parquet", compression="lz4", statistics=False)
        command("pack", folder / "edges", "-o", folder / "graph.iso", "--simple", "--max-memory", "8GB")
        process = [sys.executable, "-m", "benchmarks.graph500", str(folder / "graph.iso")]
        for line in subprocess.run(process, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
            found = json.loads(line)
            work = (
                f"a sweep on graph500-{bits}, {found['entries'] / 1e6:.4g} million entries, {found['columns']} columns"
            )
            wall, core = ([1e9 * found[kind]] for kind in ("seconds", "core_seconds"))
            yield Result(work, PEER, [PUBLISHED], "isotherm", wall, None, "ns an entry")
            theirs = [PUBLISHED * PUBLISHED_CORES]
            yield Result(f"{work}, core time", PEER, theirs, "isotherm", core, None, "ns an entry")


def sweep_costs(path: Path) -> Iterator[dict[str, float]]:
    """Seconds and core seconds for each entry and column, for each number of columns."""
    import isotherm as iso

    graph = iso.Graph.open(path)
    rng = np.random.default_rng(0)
    nodes = rng.choice(graph.n_nodes, max(int(SEEDS * graph.n_nodes), 2 * max(COLUMNS)), replace=False)
    for columns in COLUMNS:
        labels = np.full(graph.n_nodes, -1)
        labels[nodes] = np.arange(len(nodes)) % (columns + 1)  # the last class follows from the others
        spent = []
        for sweeps in (SWEEPS[0], *SWEEPS):  # the first time, the graph is read from disk
            clf = iso.DirichletClassifier(solver="sweeps", tol=None, max_iter=sweeps, calibration=None)
            wall, core = time.perf_counter(), time.process_time()
            clf.fit(graph, labels)
            spent.append((time.perf_counter() - wall, time.process_time() - core))
        work = (SWEEPS[1] - SWEEPS[0]) * 2 * graph.n_edges * columns
        wall, core = np.subtract(spent[-1], spent[-2]) / work
        yield {"entries": 2 * graph.n_edges, "columns": columns, "seconds": wall, "core_seconds": core}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for cost in sweep_costs(Path(sys.argv[1])):
        print(json.dumps(cost), flush=True)
