"""``--engine dask`` on the command line, with a real cluster."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from commands import Run, runner

from isotherm.engines.cluster import disconnect

EDGES = "source,target\n" + "".join(f"n{i},n{(i + step) % 60}\n" for i in range(60) for step in (1, 2, 20))
SEEDS = "node,label\n" + "".join(f"n{i},{'ab'[i // 30]}\n" for i in range(0, 60, 5))


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    found = runner(tmp_path, capfd, monkeypatch)
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "seeds.csv").write_text(SEEDS)
    yield found
    disconnect()


@pytest.mark.filterwarnings("ignore::isotherm.probability.calibration.CalibrationWarning")
def test_a_file_and_a_folder_have_the_labels_of_this_machine(cluster: Any, run: Run, tmp_path: Path) -> None:
    by_heat = ("--evidence", "none")  # as workers that write labels go
    there = ("--engine", "dask", "--scheduler", cluster.scheduler.address, *by_heat)
    assert run("pack", "edges.csv", "-o", "graph.iso", "--quiet").status == 0
    here_too = ("-o", "here.parquet", "--solver", "cg", "--quiet", *by_heat)
    assert run("classify", "graph.iso", "seeds.csv", *here_too).status == 0
    done = run("classify", "graph.iso", "seeds.csv", "-o", "there.parquet", *there)
    assert done.status == 0, done.err
    assert f"connected to the Dask cluster at {cluster.scheduler.address}" in done.err
    done = run("classify", "graph.iso", "seeds.csv", "-o", "labels/", *there)
    assert done.status == 0, done.err
    assert "60 rows written to labels/ by the workers" in done.err
    here = pl.read_parquet("here.parquet")
    for found in (pl.read_parquet("there.parquet"), pl.read_parquet("labels/*.parquet").sort("node")):
        same = here if found["node"].equals(here["node"]) else here.sort("node")
        assert found["node"].equals(same["node"])
        assert found["label"].equals(same["label"])
        assert (found["confidence"] - same["confidence"]).abs().max() < 1e-3  # type: ignore[operator]
    again = run("classify", "graph.iso", "seeds.csv", "-o", "labels/", *there)
    assert again.status == 2
    assert "exists already, and is kept" in again.err
    assert not list(tmp_path.glob(".labels*"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("-o", "labels/"), "labels/ is a folder, which is for --engine dask"),
        (("-o", "labels/", "--engine", "dask"), "edges.csv is not a packed graph, which workers could read"),
        (("-o", "labels/", "--engine", "dask", "--json"), "--json is for labels in a file, not in the folder labels/"),
        (("-o", "x.csv", "--scheduler", "tcp://127.0.0.1:9"), "--scheduler is for --engine dask"),
    ],
)
def test_what_does_not_go_together_is_refused(run: Run, arguments: tuple[str, ...], sentence: str) -> None:
    done = run("classify", "edges.csv", "seeds.csv", *arguments)
    assert done.status == 2
    assert sentence in done.err
