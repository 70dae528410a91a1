"""Workers and schedulers that are killed, on a real cluster: the answer comes all the same, or one sentence."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest

from isotherm.dirichlet_classifier import DirichletClassifier
from isotherm.engines import engine_of
from isotherm.engines.cluster import current_session
from isotherm.engines.session import ClusterError, LostWorker, Session
from isotherm.engines.worker import EVERY, inspect
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem
from isotherm.equilibrium.solvers import Solution
from isotherm.graphs import Graph
from isotherm.graphs.packed import PackedGraph, open_packed
from isotherm.labelling.remote import label_remotely
from isotherm.seeds import as_seeds


def solved(problem: Problem, options: SolveOptions) -> Solution:
    return engine_of(options).solve(problem, options)


def slow_problem() -> Problem:
    """A grid with seeds in two corners, on which cg takes hundreds of iterations."""
    side = 100
    graph = Graph.from_networkx(nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side)))
    nodes = np.array([0, 1, graph.n_nodes - 1])
    return Problem.of(graph, nodes, np.array([[1.0, 0], [1, 0], [0, 1]]))


class Killer:
    """Kills a worker that has rows when the solve reaches each of some iterations."""

    def __init__(self, client: Any, at: list[int]) -> None:
        self.client, self.at = client, at
        self.reached: list[int] = []
        self.teams: list[set[str]] = []

    def __call__(self, iteration: int, error: float) -> None:
        if self.at and iteration >= self.at[0]:
            del self.at[0]
            self.reached.append(iteration)
            team = current_session().addresses
            self.teams.append(set(team))
            victim = team[len(self.teams) % len(team)]
            os.kill(self.client.run(os.getpid, workers=[victim])[victim], signal.SIGKILL)


@pytest.mark.parametrize("at", [[40], [40, 80]])
def test_a_killed_worker_costs_a_few_iterations(cluster: Any, at: list[int]) -> None:
    kills, problem = len(at), slow_problem()
    usual = solved(problem, SolveOptions(tol=1e-6, solver="cg"))
    assert usual.iterations > 120
    cluster.wait_for_workers(3, timeout=120)
    killer = Killer(cluster, list(at))
    found = solved(problem, SolveOptions(tol=1e-6, engine="dask", progress=killer))
    assert current_session().restarts == kills
    spread = np.nanstd(usual.temperatures, axis=0)
    assert np.all(np.abs(found.temperatures - usual.temperatures) <= 2e-6 * spread)
    assert abs(found.iterations - usual.iterations) <= 2
    for reached, resumed in zip(killer.reached, current_session().resumed, strict=True):
        assert resumed >= reached - 2 * EVERY  # the last checkpoint may not have been complete
    assert set(current_session().addresses) != killer.teams[-1]


def test_a_worker_that_joined_is_used(cluster: Any) -> None:
    cluster.wait_for_workers(3, timeout=120)
    path = Graph.from_networkx(nx.path_graph(20))
    solved(Problem.of(path, np.array([0, 19]), np.eye(2)), SolveOptions(engine="dask"))
    assert set(current_session().addresses) == set(cluster.scheduler_info()["workers"])


class Watched:
    """A client that does something before it is asked for something: before its call number ``at`` of this kind."""

    def __init__(self, client: Any, call: str, at: int, event: Callable[[], None]) -> None:
        self.client, self.call, self.left, self.event = client, call, at, event

    def __getattr__(self, name: str) -> Any:
        known = getattr(self.client, name)
        if name != self.call:
            return known

        def called(*arguments: Any, **more: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                self.event()
            return known(*arguments, **more)

        return called


@contextmanager
def watched(client: Any, call: str, at: int, event: Callable[[], None]) -> Iterator[None]:
    session = current_session()
    session.client = Watched(client, call, at, event)
    try:
        yield
    finally:
        session.client = client


PHASES = {
    "workers are looked at": ("run", 1),
    "rows are sent": ("scatter", 2),
    "rows are placed": ("submit", 3),
    "rows are confirmed": ("gather", 1),
    "the problem is sent": ("scatter", 5),
    "it is solved": ("submit", 6),
    "temperatures are read back": ("gather", 2),
    "all is done": ("run", 2),
}


@pytest.mark.parametrize("phase", PHASES)
def test_a_worker_may_be_killed_at_any_time(own_cluster: Any, phase: str) -> None:
    victims = own_cluster.run(os.getpid)

    def kill() -> None:
        os.kill(victims[min(victims)], signal.SIGKILL)

    path = Graph.from_networkx(nx.path_graph(200))
    problem = Problem.of(path, np.array([0, 199]), np.eye(2))
    with watched(own_cluster, *PHASES[phase], kill):
        found = solved(problem, SolveOptions(tol=1e-6, engine="dask")).temperatures
        assert current_session().client.left <= 0, "nothing was killed"
    assert np.allclose(found[:, 0], np.linspace(1, 0, 200), atol=1e-6)


@pytest.mark.parametrize("back", [0, 3], ids=["writing", "deciding"])
def test_a_worker_may_be_killed_while_labels_are_written(own_cluster: Any, tmp_path: Path, back: int) -> None:
    Graph.from_networkx(nx.path_graph(24)).pack(tmp_path / "graph.iso")
    graph = open_packed(tmp_path / "graph.iso", unread=True)
    assert isinstance(graph, PackedGraph)
    seeds, settings = as_seeds({0: "a", 23: "b"}, graph, None), DirichletClassifier(calibration=None).settings
    victims = own_cluster.run(os.getpid)
    with watched(own_cluster, "submit", 0, lambda: None):
        label_remotely(graph, seeds, settings, str(tmp_path / "usual"))
        calls = -current_session().client.left - 3  # rows stay where they are
    with watched(own_cluster, "submit", calls - back, lambda: os.kill(victims[min(victims)], signal.SIGKILL)):
        label_remotely(graph, seeds, settings, str(tmp_path / "labels"))
        assert current_session().client.left <= 0, "nothing was killed"
    usual, found = (
        pl.concat([pl.read_parquet(part) for part in sorted((tmp_path / name).iterdir())])
        for name in ("usual", "labels")
    )
    assert found["label"].to_list() == usual["label"].to_list() == ["a"] * 12 + ["b"] * 12
    assert {path.name for path in tmp_path.iterdir()} == {"graph.iso", "usual", "labels"}


SCHEDULER = "from distributed.cli.dask_scheduler import main; main()"
WORKER = "from distributed.cli.dask_worker import main; main()"


@pytest.fixture
def separate(tmp_path: Path) -> Iterator[tuple[Any, subprocess.Popen[bytes]]]:
    """A client of a cluster of two workers, and the process of its scheduler."""
    distributed = pytest.importorskip("distributed", reason="needs isotherm[dask]")
    file = tmp_path / "scheduler.json"
    common = ["--no-dashboard", "--scheduler-file", str(file)]
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    scheduler = subprocess.Popen([sys.executable, "-c", SCHEDULER, "--port", "0", *common], **quiet)
    try:
        limit = time.monotonic() + 60
        while not (file.exists() and file.read_text()) and time.monotonic() < limit:
            time.sleep(0.05)
        workers = subprocess.Popen(
            [sys.executable, "-c", WORKER, "--nworkers", "2", "--nthreads", "1", *common], **quiet
        )
        try:
            with distributed.Client(json.loads(file.read_text())["address"]) as client:
                client.wait_for_workers(2, timeout=60)
                yield client, scheduler
            assert workers.wait(timeout=60) == 0, "the workers of a lost scheduler end"
        finally:
            workers.kill()
            workers.wait()
    finally:
        scheduler.kill()
        scheduler.wait()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("phase", ["workers are looked at", "rows are placed", "it is solved", "all is done"])
def test_a_lost_scheduler_is_one_sentence(separate: tuple[Any, subprocess.Popen[bytes]], phase: str) -> None:
    client, scheduler = separate
    call, at = PHASES[phase]
    at -= at // 3 if call == "submit" else 0  # two workers instead of three
    with (
        watched(client, call, at, scheduler.kill),
        pytest.raises(ClusterError, match="scheduler does not answer any more"),
    ):
        solved(slow_problem(), SolveOptions(tol=1e-6, engine="dask"))


class Answers:
    """A client whose workers answer like this."""

    def __init__(self, answers: Any, status: str = "running") -> None:
        self.answers, self.status = answers, status

    def run(self, *_: Any, **__: Any) -> dict[str, Any]:
        if isinstance(self.answers, Exception):
            raise self.answers
        return self.answers


GONE = OSError("Connection reset by peer")


@pytest.mark.parametrize(
    ("client", "error", "sentence"),
    [
        (Answers({"tcp://a:1": GONE}), LostWorker, "tcp://a:1"),
        (Answers({}), LostWorker, "all workers"),
        (
            Answers({"tcp://a:1": GONE, "tcp://b:1": ImportError("no isotherm")}),
            ClusterError,
            "install the same version",
        ),
        (Answers(GONE), ClusterError, "the Dask scheduler does not answer any more"),
        (Answers(RuntimeError("ConnectionPool is closed")), ClusterError, "scheduler does not answer any more"),
        (Answers({"tcp://a:1": True}, "connecting"), ClusterError, "scheduler does not answer any more"),
    ],
)
def test_who_is_gone_is_told_from_who_cannot(client: Answers, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        Session(client)._everywhere(inspect, None, "", required=True)


def test_a_worker_that_is_gone_is_left_out() -> None:
    client = Answers({"tcp://a:1": GONE, "tcp://b:1": True})
    assert Session(client)._everywhere(inspect, None, "", required=True) == {"tcp://b:1": True}
