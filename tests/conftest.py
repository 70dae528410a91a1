"""What all tests share: settings of hypothesis, the folder of real graphs, and both kinds of kernels."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from isotherm import kernels
from isotherm.kernels import reference

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


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A `distributed.Client` of a real cluster: three processes on this machine."""
    distributed = pytest.importorskip("distributed", reason="needs isotherm[dask]")
    with (
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=":0") as started,
        distributed.Client(started) as client,
    ):
        yield client


@pytest.fixture(params=["native", "reference"])
def each_kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test twice: with the native kernels, and with the reference ones."""
    if request.param == "native" and kernels.native is None:
        pytest.skip("installed without a C++ compiler")
    monkeypatch.setattr(kernels, "active", kernels.native if request.param == "native" else reference)
