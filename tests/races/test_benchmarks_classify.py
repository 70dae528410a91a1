"""The benchmark of the command, on small graphs."""

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import classify  # noqa: E402 - the folder is no installed package


def test_a_web_like_graph() -> None:
    n, arcs = 2000, 40_000
    source, target = classify.web_like(n, arcs)
    assert abs(len(source) - arcs) < 0.1 * arcs
    assert (np.diff(source) >= 0).all()
    assert (source != target).all()
    assert len(np.unique(source * n + target)) == len(source)
    assert len(np.union1d(source, target)) > 0.99 * n
    assert 0.7 < np.mean(source % classify.CLASSES == target % classify.CLASSES) < 0.9
    degrees = np.sort(np.bincount(target, minlength=n))[::-1]
    assert degrees[0] > 10 * np.median(degrees)


def test_the_script_and_the_command_label_the_same_nodes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = classify.write_job(tmp_path / "job", 1000, 20_000, "csv")
    race = classify.end_to_end(job, 1)
    assert race.ratio > 0
    theirs, ours = (pl.read_csv(job / name) for name in ("script.csv", "labels.csv"))
    assert sorted(theirs["node"]) == sorted(ours["node"])
    both = theirs.join(ours, on="node")
    assert (
        np.mean(both["label"].to_numpy() == both["label_right"].to_numpy()) > 0.5
    )  # ten sweeps on one side, equilibrium on the other
    assert "web-like graph: 1000 nodes" in capsys.readouterr().out


def test_memory_and_reading(tmp_path: Path) -> None:
    job = classify.write_job(tmp_path / "job", 1000, 20_000, "parquet")
    held = classify.memory(job, 2.0)
    assert held.reached
    assert 0.05 < held.ours[0] < 2
    read = classify.reading(job, 2)
    assert read.reached == (np.median(read.ours) <= 2.5 * np.median(read.theirs))
    assert len(read.ours) == len(read.theirs) == 2
    assert "at most 2.5" in read.row()
