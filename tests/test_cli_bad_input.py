"""Every bad input: one sentence that names the culprit, exit status 2, and nothing lost."""

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import Run, command, leftovers, runner

OLD = "the old result\n"


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(tmp_path, capfd, monkeypatch)


def text(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content)


def junk(path: Path) -> None:
    path.write_bytes(np.random.default_rng(0).integers(0, 256, 5000, dtype=np.uint8).tobytes())


def truncated_gzip(path: Path) -> None:
    path.write_bytes(gzip.compress(b"source,target\n" + b"ann,bob\n" * 10_000)[:-20])


def truncated_parquet(path: Path) -> None:
    pl.DataFrame({"source": ["ann"] * 1000, "target": ["bob"] * 1000}).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])


def nothing(path: Path) -> None:
    pass


BAD_EDGES: list[tuple[str, str, Callable[[Path], object], list[str]]] = [
    ("missing", "none.csv", nothing, ["none.csv does not exist"]),
    ("empty", "bad.csv", text(""), ["bad.csv is empty"]),
    ("directory", "bad.csv", Path.mkdir, ["bad.csv is a directory"]),
    ("junk", "bad.csv", junk, ["bad.csv"]),
    ("junk parquet", "bad.parquet", junk, ["bad.parquet", "Parquet"]),
    ("wrong delimiter", "bad.csv", text("ann/bob\nbob/cat\ncat/gus\n"), ["bad.csv", "one column"]),
    ("short row", "bad.csv", text("source,target\nann,bob\nbob\ncat,gus\n"), ["bad.csv, line 3"]),
    ("text weight", "bad.csv", text("source,target,weight\nann,gus,x\n"), ["bad.csv, line 2", "weight", "'x'"]),
    ("negative weight", "bad.csv", text("source,target,weight\nann,gus,1\nann,bob,-1\n"), ["line 3", "weight", "-1"]),
    ("nan weight", "bad.csv", text("source,target,weight\nann,gus,NaN\n"), ["line 2", "weight"]),
    ("infinite weight", "bad.csv", text("source,target,weight\nann,gus,inf\n"), ["line 2", "weight"]),
    ("header only", "bad.csv", text("source,target\n"), ["bad.csv", "no rows"]),
    ("truncated gzip", "bad.csv.gz", truncated_gzip, ["bad.csv.gz", "truncated"]),
    ("truncated parquet", "bad.parquet", truncated_parquet, ["bad.parquet", "Parquet"]),
    ("unknown suffix", "bad.docx", text("a,b\n"), ["bad.docx", "format"]),
]


def refused(run: Run, *arguments: str | Path) -> str:
    """What a command that is refused says, having touched nothing."""
    Path("old.csv").write_text(OLD)
    before = sorted(path.name for path in Path().iterdir())
    outcome = run("classify", *arguments)
    assert outcome.status == 2, outcome.err
    assert outcome.out == ""
    assert outcome.err.startswith("isotherm: ")
    assert outcome.err.count("\n") == 1
    assert "Traceback" not in outcome.err
    assert Path("old.csv").read_text() == OLD
    assert sorted(path.name for path in Path().iterdir()) == before
    return outcome.err


@pytest.mark.parametrize(
    ("name", "make", "words"), [case[1:] for case in BAD_EDGES], ids=[case[0] for case in BAD_EDGES]
)
def test_bad_edges(run: Run, name: str, make: Callable[[Path], object], words: list[str]) -> None:
    make(Path(name))
    sentence = refused(run, name, "seeds.csv", "-o", "old.csv", "--force")
    assert [word for word in words if word not in sentence] == []


BAD_SEEDS: list[tuple[str, str, list[str]]] = [
    ("empty", "", ["bad.csv is empty"]),
    ("no rows", "node,label\n", ["bad.csv", "no seeds"]),
    ("labels empty", "node,label\nann,\ngus,\n", ["bad.csv", "no seeds"]),
    ("one class", "node,label\nann,tea\ngus,tea\n", ["bad.csv", "'tea'", "at least two"]),
    ("two labels", "node,label\nann,tea\ngus,coffee\nann,coffee\n", ["bad.csv", "'ann'", "line 2", "line 4"]),
    (
        "unknown nodes",
        "node,label\nann,tea\nzoe,tea\nyan,coffee\n",
        ["bad.csv", "2 seeds", "'zoe'", "'yan'", "--ignore-missing-seeds"],
    ),
    ("one column", "node\nann\ngus\n", ["bad.csv", "one column"]),
]


@pytest.mark.parametrize(("content", "words"), [case[1:] for case in BAD_SEEDS], ids=[case[0] for case in BAD_SEEDS])
def test_bad_seeds(run: Run, content: str, words: list[str]) -> None:
    Path("bad.csv").write_text(content)
    sentence = refused(run, "edges.csv", "bad.csv", "-o", "old.csv", "--force")
    assert [word for word in words if word not in sentence] == []


def test_missing_seeds_can_be_ignored(run: Run) -> None:
    Path("more.csv").write_text("node,label\nann,tea\nzoe,tea\ngus,coffee\n")
    outcome = run("classify", "edges.csv", "more.csv", "--ignore-missing-seeds")
    assert outcome.status == 0
    assert "warning: more.csv: 1 of 3 labelled nodes are not in the graph" in outcome.err
    assert outcome.out == run("classify", "edges.csv", "seeds.csv").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["edges.csv"], ["SEEDS", "isotherm classify --help"]),
        (["edges.csv", "seeds.csv", "--tol", "x"], ["--tol", "float"]),
        (["edges.csv", "seeds.csv", "--tol", "0"], ["--tol"]),
        (["edges.csv", "seeds.csv", "--rule", "best"], ["--rule", "centered"]),
        (["edges.csv", "seeds.csv", "--min-confidence", "2"], ["--min-confidence"]),
        (["edges.csv", "seeds.csv", "--nothing"], ["--nothing"]),
        (["-", "-"], ["standard input"]),
        (["edges.csv", "seeds.csv", "--weight", "cost"], ["edges.csv", "'cost'"]),
        (["edges.csv", "seeds.csv", "--delimiter", ";"], ["edges.csv", "one column"]),
        (["edges.csv", "seeds.csv", "--labels-delimiter", "tab"], ["seeds.csv", "one column"]),
        (["edges.csv", "seeds.csv", "--source", "9"], ["edges.csv", "no column 9"]),
        (["edges.csv", "seeds.csv", "--format", "xlsx"], ["'xlsx'", "parquet"]),
        (["edges.csv", "seeds.csv", "-o", "none/x.csv"], ["none/x.csv", "does not exist"]),
        (["edges.csv", "seeds.csv", "-o", "."], ["format"]),
        (["edges.csv", "seeds.csv", "-o", "x.mtx"], ["x.mtx", "mtx"]),
        (["edges.csv", "seeds.csv", "-o", "old.csv"], ["old.csv exists", "force"]),
        (["edges.csv", "seeds.csv", "-o", "edges.csv", "--force"], ["edges.csv is also an input"]),
        (["edges.csv", "seeds.csv", "-o", "x.csv", "--json-summary", "x.csv"], ["two names"]),
        (["edges.csv", "seeds.csv", "--json-summary", "old.csv"], ["old.csv exists"]),
    ],
)
def test_bad_usage(run: Run, arguments: list[str], words: list[str]) -> None:
    sentence = refused(run, *arguments)
    assert [word for word in words if word not in sentence] == []


def test_a_header_can_be_taken_for_data_and_data_for_a_header(run: Run) -> None:
    Path("bare.csv").write_text("ann,bob\nbob,gus\n")
    read = run("classify", "bare.csv", "seeds.csv", "--no-header")
    assert read.out.splitlines()[1].startswith("ann,tea")
    sentence = refused(run, "bare.csv", "seeds.csv", "--header")  # "ann" is then the name of a column
    assert "'ann'" in sentence
    sentence = refused(run, "edges.csv", "seeds.csv", "--no-header")
    assert "edges.csv, line 1" in sentence
    assert "'weight'" in sentence


def test_a_process_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text(OLD)
    outcome = command("classify", "none.csv", "none.csv", "-o", "old.csv", "--force", folder=tmp_path)
    assert outcome == (2, "", "isotherm: none.csv does not exist\n")
    assert (tmp_path / "old.csv").read_text() == OLD


def test_an_unknown_command_is_refused(run: Run) -> None:
    outcome = run("clasify")
    assert outcome.status == 2
    assert "classify" in outcome.err
    assert outcome.err.count("\n") == 1


def test_bad_settings_in_the_environment_are_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTHERM_TOL", "small")
    assert "ISOTHERM_TOL" in refused(run, "edges.csv", "seeds.csv")


def test_an_output_that_cannot_be_written(run: Run) -> None:
    if not Path("/proc/self").is_dir():
        pytest.skip("needs /proc, in which not even root can make files")
    sentence = refused(run, "edges.csv", "seeds.csv", "-o", "/proc/self/labels.csv", "-q")
    assert "labels.csv cannot be written" in sentence


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_standard_output_that_is_full(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("a,b\nb,c\n")
    (tmp_path / "s.csv").write_text("node,label\na,x\nc,y\n")
    shell = f"{sys.executable} -m isotherm classify e.csv s.csv -q > /dev/full"
    result = subprocess.run(shell, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert "the disk is full" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_full_disk(run: Run, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small disk is not permitted")
    try:
        (disk / "labels.csv").write_text(OLD)
        chain = "".join(f"n{i},n{i + 1}\n" for i in range(20_000))
        Path("long.csv").write_text(f"source,target\n{chain}")
        Path("ends.csv").write_text("node,label\nn0,a\nn20000,b\n")
        sentence = refused(run, "long.csv", "ends.csv", "-o", "disk/labels.csv", "--force", "-q")
        assert "the disk is full" in sentence
        assert (disk / "labels.csv").read_text() == OLD
        assert leftovers(disk) == []
    finally:
        subprocess.run(["umount", disk], check=True)
