"""``isotherm pack``: commands take what it writes, and a process that is ended leaves nothing half done."""

import io
import os
import signal
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import Run, leftovers, runner, start

import isotherm as iso

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")  # two seeds are enough here


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(tmp_path, capfd, monkeypatch)


def test_a_packed_graph_is_classified_like_its_edges(run: Run) -> None:
    outcome = run("pack", "edges.csv", "-o", "graph.iso")
    assert (outcome.status, outcome.out) == (0, "")
    assert outcome.err.startswith("graph.iso: 7 nodes, 8 edges, weighted, packed in ")
    from_edges, from_packed = (run("classify", name, "seeds.csv", "-q") for name in ("edges.csv", "graph.iso"))
    assert (from_packed.status, from_packed.err) == (0, "")
    ours, theirs = (pl.read_csv(io.StringIO(each.out)).sort("node") for each in (from_packed, from_edges))
    assert ours["label"].to_list() == theirs["label"].to_list()
    assert ours["confidence"].to_list() == pytest.approx(theirs["confidence"].to_list())


def test_the_other_commands_take_it_too(run: Run) -> None:
    assert run("pack", "edges.csv", "-o", "graph.iso", "-q").status == 0
    packed, read = (run("explain", name, "seeds.csv", "cat", "-q") for name in ("graph.iso", "edges.csv"))
    assert packed.status == 0, packed.err
    assert packed.out == read.out
    packed, read = (run("suggest", name, "seeds.csv", "-q") for name in ("graph.iso", "edges.csv"))
    assert packed.status == 0, packed.err
    ours, theirs = (pl.read_csv(io.StringIO(each.out)).sort("node") for each in (packed, read))
    assert ours.select("node", "guess").equals(theirs.select("node", "guess"))
    for column in ("confidence", "value"):
        assert ours[column].to_list() == pytest.approx(theirs[column].to_list(), rel=1e-6)
    Path("labels.csv").write_text("node,label\nann,0\nbob,0\ncat,0\ndan,1\neve,1\nfay,1\ngus,1\n")
    outcome = run("evaluate", "graph.iso", "labels.csv", "--fraction", "0.4", "--policy", "balanced", "--runs", "2")
    assert outcome.status == 0, outcome.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["pack", "edges.csv", "-o", "graph.iso"], "graph.iso exists already, and is kept;"),
        (["pack", "edges.csv", "-o", "edges.csv"], "edges.csv is also an input"),
        (["pack", "edges.csv", "-o", "seeds.csv", "--force"], "seeds.csv exists and is not a packed graph"),
        (["pack", "edges.csv", "-o", "no/graph.iso"], "no/graph.iso cannot be written: the directory"),
        (["pack", "edges.csv"], "--output is missing"),
        (["pack", "-o", "x.iso"], "isotherm pack needs files of edges"),
        (["pack", "-", "-o", "x.iso"], "-: edges are read twice"),
        (["pack", "edges.csv", "-o", "x.iso", "--max-memory", "much"], "--max-memory is much: give a size"),
        (
            ["classify", "graph.iso", "seeds.csv", "--directed"],
            "graph.iso was packed as an undirected graph; leave out",
        ),
        (["classify", "graph.iso", "seeds.csv", "--source", "a"], "--source is for tables, not for iso files"),
        (["classify", "graph.iso", "seeds.csv", "--weight", "a"], "a packed graph has no columns; leave out --weight"),
        (["classify", "none.iso", "seeds.csv"], "none.iso does not exist"),
        (["classify", "bad.iso", "seeds.csv"], "bad.iso is damaged: indices.npy is missing; pack the graph again"),
    ],
)
def test_one_sentence_for_what_is_wrong(run: Run, arguments: list[str], sentence: str) -> None:
    for name in ("graph.iso", "bad.iso"):
        assert run("pack", "edges.csv", "-o", name, "-q").status == 0
    Path("bad.iso/indices.npy").unlink()
    before = sorted(Path().iterdir())
    outcome = run(*arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert sentence in outcome.err
    assert outcome.err.count("\n") == 1
    assert sorted(Path().iterdir()) == before


def test_weights_can_be_ignored_later(run: Run) -> None:
    assert run("pack", "edges.csv", "-o", "graph.iso", "-q").status == 0
    assert iso.read_graph("graph.iso").weighted
    assert not iso.read_graph("graph.iso", weight=False).weighted
    assert run("classify", "graph.iso", "seeds.csv", "--unweighted", "-q").status == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_process_that_is_ended_leaves_nothing_half_done(run: Run, tmp_path: Path, number: signal.Signals) -> None:
    ends = np.random.default_rng(0).integers(0, 100_000, (2, 3_000_000))
    pl.DataFrame({"source": ends[0], "target": ends[1]}).write_parquet("many.parquet")
    assert run("pack", "edges.csv", "-o", "graph.iso", "-q").status == 0
    arguments = ("pack", "many.parquet", "-o", "graph.iso", "--force", "--max-memory", "5MB")
    process = start(*arguments, folder=tmp_path)
    deadline = time.monotonic() + 60
    while not leftovers(tmp_path) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, number)
    process.communicate(timeout=60)
    assert process.returncode != 0, "it was faster than the signal"
    assert iso.Graph.open("graph.iso", verify=True).n_nodes == 7  # the old one
    assert len(leftovers(tmp_path)) == (number == signal.SIGKILL)
    assert run("pack", "edges.csv", "-o", "graph.iso", "-q", "--force").status == 0
    assert leftovers(tmp_path) == []


def test_an_estimate_labels_nothing(run: Run) -> None:
    assert run("pack", "edges.csv", "-o", "graph.iso", "-q").status == 0
    outcome = run("classify", "graph.iso", "seeds.csv", "-o", "labels.csv", "--estimate")
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith("7 nodes, 8 edges, 2 classes: about 150 MB of memory, 1 KB mapped, and ")
    assert not Path("labels.csv").exists()
