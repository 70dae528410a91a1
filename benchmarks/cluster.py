"""The Dask engine on one machine: two workers against the engine of this process with two threads."""

import shutil
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import isotherm as iso
from benchmarks.graphs import CLASSES, FOLDER, small_world
from benchmarks.harness import Contestant, Race
from benchmarks.results import Result
from isotherm.choices import EngineName
from isotherm.engines.cluster import current_session
from isotherm.engines.mailbox import Team, mailbox_of
from isotherm.engines.part import balanced_bounds
from isotherm.engines.worker import inspect
from isotherm.graphs import Csr

WORKERS = 2
SLOWER, STARTED, SENT = 4.0, 5.0, 1.2  # the goals: times the local engine, seconds, times the halo


def races(scale: float = 1.0, rounds: int = 5) -> Iterator[Race | Result]:
    """Start-up, a fit, and what is sent in each iteration."""
    warnings.simplefilter("ignore", iso.UnreachedWarning)
    matrix, labels = small_world(scale)
    folder = _packed(iso.Graph.from_scipy(matrix), f"cluster_{len(labels)}.iso")
    graph = iso.Graph.open(folder)
    work = f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {CLASSES} classes"
    seconds = []
    for _ in range(rounds):
        began = time.perf_counter()
        with _cluster():
            iso.DirichletClassifier(rule="vanilla", engine="dask", tol=None, max_iter=1).fit(_rod(), {0: 0, 3: 1})
            seconds.append(time.perf_counter() - began)
    yield Result("start a cluster, and solve on four nodes", "goal", [STARTED] * rounds, "dask", seconds, 1.0)
    with _cluster():
        race = Race(
            f"temperatures, {work}",
            Contestant("local, two threads", lambda: _fit(graph, labels, "local", 2)),
            Contestant("dask, two workers", lambda: _fit(graph, labels, "dask", 1)),
            1 / SLOWER,
        )
        race.ours.run()  # deals the rows
        race.run(rounds)
        here, there = race.peer.result, race.ours.result
        error = np.nanmax(np.abs(here.temperatures_ - there.temperatures_) / np.nanstd(here.temperatures_, axis=0))
        if error > 2 * here.tol:
            raise SystemExit(f"temperatures differ by {error:.2g} of their spread: no race")
        yield race
        told = message_times()
        print(f"a round of sums: {1e3 * told.sums:.2g} ms; rows: {told.nbytes / told.rows / 1e9:.2g} GB/s both ways")
        sent, iterations = current_session().sent, current_session().iterations
        needed = halo_rows(graph.csr, labels >= 0, WORKERS) * CLASSES * 4 / 2**20  # K - 1 columns, and the clock
        each = [sum(sent) / iterations / 2**20]
        yield Result(f"sent in each iteration, {work}", "rows of the halo", [needed], "dask", each, 1 / SENT, "MB")


class Messages(NamedTuple):
    """What messages between two workers take: seconds for a round of sums, and for rows of these bytes both ways."""

    sums: float
    rows: float
    nbytes: int


def message_times() -> Messages:
    """Measured between two workers of this machine; docs/cluster.md builds its model on it."""
    from distributed import default_client

    client = default_client()
    addresses = sorted(client.scheduler_info()["workers"])
    client.run(inspect, None, "")
    tasks = [client.submit(_talk, addresses, rank, workers=[addresses[rank]], pure=False) for rank in range(WORKERS)]
    return Messages(*client.gather(tasks)[0])


def _talk(addresses: list[str], rank: int) -> Messages:
    from distributed import get_worker

    team = Team(mailbox_of(get_worker()), "messages", addresses, rank)
    sums, rows = np.zeros(6 * 17), np.ones((500_000, CLASSES), np.float32)
    other = 1 - rank
    for _ in range(10):  # opens the connections
        team.added(sums)
    began = time.perf_counter()
    for _ in range(200):
        team.added(sums)
    between = time.perf_counter()
    for _ in range(10):
        team.exchange({other: rows}, [other])
    return Messages((between - began) / 200, (time.perf_counter() - between) / 10, rows.nbytes)


def halo_rows(csr: Csr, held: Any, parts: int) -> int:
    """Rows of non-seeds that blocks of rows need from each other."""
    bounds, total = balanced_bounds(csr.indptr, parts), 0
    for first, last in pairwise(bounds):
        named = np.unique(csr.indices[csr.indptr[first] : csr.indptr[last]])
        outside = named[(named < first) | (named >= last)]
        total += int(np.count_nonzero(~held[outside]))
    return total


def _fit(graph: iso.Graph, labels: Any, engine: EngineName, threads: int) -> iso.DirichletClassifier:
    return iso.DirichletClassifier(rule="vanilla", solver="cg", engine=engine, n_threads=threads).fit(graph, labels)


def _rod() -> iso.Graph:
    return iso.Graph.from_edges([0, 1, 2], [1, 2, 3])


@contextmanager
def _cluster() -> Iterator[None]:
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        yield


def _packed(graph: iso.Graph, name: str) -> Path:
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    graph.pack(folder)
    return folder
