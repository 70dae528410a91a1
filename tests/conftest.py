"""What tests share: settings of hypothesis, the folder of real graphs, both kinds of kernels, and small fixtures."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray
from page_graphs import write_club
from pages import Server, browser

import isotherm as iso
from isotherm import kernels
from isotherm.kernels import reference
from isotherm.paper.block_model import stochastic_block_model

# The machine may be shared, so no deadlines; a check of a submission takes the same examples each time.
settings.register_profile("isotherm", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("isotherm")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Take at most ``ISOTHERM_EXAMPLES`` examples, also where a test asks for more; make sanitize is slow enough."""
    most = int(os.environ.get("ISOTHERM_EXAMPLES", "0"))
    for item in items if most else []:
        test: Any = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)
        given = getattr(test, "_hypothesis_internal_use_settings", None)
        if given is not None:
            test._hypothesis_internal_use_settings = settings(given, max_examples=min(most, given.max_examples))


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep maps of test graphs out of the user's cache folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def data_folder() -> Path:
    folder = os.environ.get("ISOTHERM_DATA")
    if not folder:
        pytest.skip("needs real graphs: set ISOTHERM_DATA to their folder")
    return Path(folder)


@contextmanager
def started_cluster() -> Iterator[Any]:
    """A `distributed.Client` of a real cluster: three processes on this machine.

    They are forked from a process that has imported what they need, which takes a tenth of the time of starting them.
    """
    distributed = pytest.importorskip("distributed", reason="needs isotherm[dask]")
    import dask

    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        distributed.utils.get_mp_context().set_forkserver_preload(["distributed", "isotherm.engines.worker"])
        with (
            distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=":0") as started,
            distributed.Client(started) as client,
        ):
            yield client


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A cluster for all tests that leave it as it was."""
    with started_cluster() as client:
        yield client


@pytest.fixture
def own_cluster() -> Iterator[Any]:
    """A cluster for one test: Dask does not start every worker that was killed again."""
    with started_cluster() as client:
        yield client


@pytest.fixture(params=["native", "reference"])
def each_kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test twice: with the native kernels, and with the reference ones."""
    if request.param == "native" and kernels.native is None:
        pytest.skip("installed without a C++ compiler")
    monkeypatch.setattr(kernels, "active", kernels.native if request.param == "native" else reference)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache for datasets in which nothing is yet, and no folder of real graphs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("ISOTHERM_DATA", raising=False)
    return tmp_path / "cache" / "isotherm"


@pytest.fixture
def save(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file of this name and content."""

    def saved(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return saved


@pytest.fixture(scope="session")
def karate_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("karate") / "m.npz"
    iso.DirichletClassifier().fit(nx.karate_club_graph(), {0: "a", 33: "b"}).save(path)
    return path


@pytest.fixture
def model(karate_model: Path, tmp_path: Path) -> Path:
    """A saved classifier that a test may damage."""
    return Path(shutil.copy(karate_model, tmp_path))


@pytest.fixture(scope="session")
def world() -> tuple[iso.Graph, NDArray[Any], NDArray[Any], NDArray[Any]]:
    """A graph with two isolated nodes, its classes, features that tell something about them, and known labels."""
    sizes, rng = [120, 80, 40], np.random.default_rng(0)
    blocks = stochastic_block_model(sizes, 0.06, 0.02, 0)
    ends = blocks.adjacency.tocoo()
    once = ends.row < ends.col
    graph = iso.Graph.from_edges(ends.row[once], ends.col[once], nodes=range(242))
    truth = np.append(np.repeat([0, 1, 2], sizes), [1, 2])
    features = rng.normal(size=(242, 12)) + 1.2 * np.eye(3)[truth].repeat(4, axis=1)
    known = np.full(242, -1)
    chosen = rng.choice(240, 60, replace=False)
    known[chosen] = truth[chosen]
    return graph, truth, features, known


@pytest.fixture(scope="module")
def window() -> Iterator[Any]:
    """Chromium, for the tests of a module."""
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The page of the Karate Club, for all tests of a module that label nothing."""
    with Server(write_club(tmp_path_factory.mktemp("calm")), "edges.csv", "seeds.csv") as running:
        yield running
