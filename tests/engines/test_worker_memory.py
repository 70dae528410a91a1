"""Memory on a real cluster: a limit of a third of what the whole graph needs is enough for each of three workers."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import isotherm as iso

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to tell memory")

WORKERS, CLASSES = 3, 8
SAME = ["--evidence", "none", "--solver", "cg", "--threads", "1", "--quiet"]  # what workers do
MANAGED = {"target": False, "spill": False, "pause": False, "terminate": 1.0, "monitor-interval": "10 ms"}


@pytest.fixture
def limited() -> Iterator[Any]:
    """A `distributed.Client` of three processes, which their nannies end when they exceed a limit; none at first."""
    pytest.importorskip("distributed", reason="needs isotherm[dask]")
    import dask
    from distributed import Client, LocalCluster

    spawned = {"distributed.worker.multiprocessing-method": "spawn"}  # forked ones would share memory
    with (
        dask.config.set({f"distributed.worker.memory.{name}": value for name, value in MANAGED.items()} | spawned),
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, memory_limit="1 TB", dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def ring(folder: Path, n: int, *, weighted: bool) -> Path:
    """A packed graph in which each node is linked to the twelve next ones, and a file of seeds beside it."""
    node = np.arange(n)
    source, target = np.tile(node, 12), np.concatenate([(node + step) % n for step in range(1, 13)])
    weight = np.random.default_rng(0).uniform(0.5, 1.5, len(source)) if weighted else None
    iso.Graph.from_edges(source, target, weight).pack(folder)
    seeds = node[::50]
    pl.DataFrame({"node": seeds, "label": seeds * CLASSES // n}).write_csv(folder.with_suffix(".csv"))
    return folder


def classify(graph: Path, labels: Path | str, *options: str) -> bytes:
    """What the command says about itself; it runs in a process of its own."""
    command = [sys.executable, "-m", "isotherm", "classify", graph, graph.with_suffix(".csv"), "-o", labels]
    return subprocess.run([*map(str, command), *options, *SAME], stdout=subprocess.PIPE, check=True).stdout


def needed(graph: Path, labels: Path) -> int:
    """The most memory of a process that classifies a whole graph, in bytes."""
    return int(json.loads(classify(graph, labels, "--json"))["peak_memory_bytes"])


def memory() -> int:
    """The memory of this process in bytes."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["VmRSS"].split()[0]) * 1024


@pytest.mark.parametrize("weighted", [False, True])
def test_three_workers_need_a_third_of_the_memory_each(limited: Any, tmp_path: Path, weighted: bool) -> None:
    small = ring(tmp_path / "small.iso", 3000, weighted=weighted)
    large = ring(tmp_path / "large.iso", 300_000, weighted=weighted)
    third = (needed(large, tmp_path / "large.parquet") - needed(small, tmp_path / "small.parquet")) // WORKERS
    there = ("--engine", "dask", "--scheduler", limited.scheduler.address)
    classify(small, f"{tmp_path / 'small'}/", *there)
    before = limited.run(memory)
    for nanny in limited.cluster.workers.values():
        nanny.memory_manager.memory_limit = before[nanny.worker_address] + third
    classify(large, f"{tmp_path / 'large'}/", *there)
    assert set(limited.run(memory)) == set(before)  # none was ended
    parts = sorted((tmp_path / "large").iterdir())
    assert len(parts) == WORKERS
    found = pl.concat([pl.read_parquet(part, columns=["node", "label"]) for part in parts])
    assert found.equals(pl.read_parquet(tmp_path / "large.parquet", columns=["node", "label"]))


def test_a_worker_that_exceeds_the_limit_is_ended(limited: Any) -> None:
    before = limited.run(memory)
    for nanny in limited.cluster.workers.values():
        nanny.memory_manager.memory_limit = before[nanny.worker_address] // 2
    limited.sync(gone, limited.cluster, set(before))


async def gone(cluster: Any, addresses: set[str]) -> None:
    """Wait until none of these workers is left."""
    while addresses & set(cluster.scheduler.workers):
        await asyncio.sleep(0.05)
