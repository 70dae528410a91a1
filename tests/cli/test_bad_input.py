"""Every bad input: one sentence that names the culprit, exit status 2, and nothing lost."""

import gzip
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zstandard
from commands import Run, command, leftovers, runner
from scipy.io import mmwrite
from scipy.sparse import csr_array, save_npz

import isotherm as iso

OLD = "the old result\n"
PYTHON = re.compile(r"\w=(True|False|None|\d|'|$)|\bforce\b(?<!-force)")


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(tmp_path, capfd, monkeypatch)


def text(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content)


def junk(path: Path) -> None:
    path.write_bytes(np.random.default_rng(0).integers(0, 256, 5000, dtype=np.uint8).tobytes())


def truncated(path: Path) -> None:
    """A file in the format that its suffix says, but for its last bytes."""
    lines = b"source,target\n" + b"ann,bob\n" * 10_000
    frame = pl.DataFrame({"source": ["ann"] * 1000, "target": ["bob"] * 1000})
    match path.suffix:
        case ".gz":
            path.write_bytes(gzip.compress(lines))
        case ".zst":
            path.write_bytes(zstandard.compress(lines))
        case ".parquet":
            frame.write_parquet(path)
        case ".arrow":
            frame.write_ipc(path)
    path.write_bytes(path.read_bytes()[:-20])


def nothing(path: Path) -> None:
    pass


def arc(path: Path) -> None:
    save_npz(path, csr_array([[0, 1], [2, 0]]))


def weights(weight: str) -> Callable[[Path], object]:
    return text(f"source,target,weight\nann,gus,1\nann,bob,{weight}\n")


def classifier(path: Path) -> None:
    iso.DirichletClassifier().fit(iso.Graph.from_edges([1, 2], [2, 3]), {1: 0, 3: 1}).save(path)


PAIR = pl.DataFrame({"source": ["ann"], "target": ["bob"]})
JUNK = ("csv", "tsv", "txt", "csv.gz", "csv.zst", "arrow", "mtx", "npz", "graphml", "gexf", "graph")
MIXED = (
    '<gexf><graph><nodes><node id="ann"/><node id="gus"/></nodes><edges><edge source="ann" target="gus"/>'
    '<edge source="gus" target="ann" type="directed"/></edges></graph></gexf>'
)


BAD_EDGES: list[tuple[str, str, Callable[[Path], object], list[str]]] = [
    ("missing", "none.csv", nothing, ["none.csv does not exist; check its name"]),
    ("misspelt", "edge.csv", nothing, ["edge.csv does not exist; did you mean edges.csv?"]),
    ("in a file", "edges.csv/e.csv", nothing, ["edges.csv/e.csv is inside a file"]),
    ("empty", "bad.csv", text(""), ["bad.csv is empty"]),
    ("empty parquet", "bad.parquet", text(""), ["bad.parquet is empty"]),
    ("directory", "bad.csv", Path.mkdir, ["bad.csv holds no tables of edges", "; give another folder"]),
    *((f"junk {suffix}", f"bad.{suffix}", junk, [f"bad.{suffix}"]) for suffix in JUNK),
    ("junk parquet", "bad.parquet", junk, ["bad.parquet", "not a Parquet file", "write it again"]),
    ("wrong delimiter", "bad.csv", text("ann/bob\nbob/cat\n"), ["bad.csv", "one column", "change --delimiter"]),
    ("short row", "bad.csv", text("source,target\nann,bob\nbob\ncat,gus\n"), ["bad.csv, line 3", "; complete it"]),
    (
        "long row",
        "bad.csv",
        text("source,target\nann,bob\nbob,cat,1\n"),
        ["bad.csv, line 3", "; delete the extra", "quote fields"],
    ),
    (
        "utf-16",
        "bad.csv",
        lambda path: path.write_text("a,b\n", "utf-16"),
        ["bad.csv is UTF-16 text; set --encoding utf-16"],
    ),
    ("parquet", "bad.csv", lambda path: PAIR.write_parquet(path), ["end its name in .parquet", "or set --format"]),
    ("xml", "bad.graphml", text("<graphml>\n<a></b>"), ["bad.graphml, line 2", "mismatched tag; correct it, or write"]),
    ("html", "bad.graphml", text("<html/>"), ["<html>, not <graphml>; give another file, or set --format"]),
    ("npy", "bad.npz", lambda path: path.write_bytes(b"\x93NUMPY"), ["bad.npz is not an npz file", "save_npz"]),
    ("arrays", "bad.npz", lambda path: np.savez(path, a=1), ["bad.npz holds no graph, only 'a'; save a matrix with"]),
    ("classifier", "bad.npz", classifier, ["bad.npz is a saved classifier, not a graph; ask it with isotherm explain"]),
    ("metis", "bad.graph", text("2 1\n2\nx\n"), ["bad.graph, line 3: 'x'", "correct it, or set --format"]),
    ("text weight", "bad.csv", weights("x"), ["bad.csv, line 3", "weight", "'x'", "--unweighted"]),
    ("negative weight", "bad.csv", weights("-1"), ["bad.csv, line 3", "weight", "-1", "--unweighted"]),
    ("nan weight", "bad.csv", weights("NaN"), ["bad.csv, line 3", "weight", "nan", "--unweighted"]),
    ("infinite weight", "bad.csv", weights("inf"), ["bad.csv, line 3", "weight", "inf", "--unweighted"]),
    ("empty weight", "bad.csv", weights(""), ["bad.csv, line 3", "weight is empty"]),
    ("empty id", "bad.csv", text("source,target\nann,\n"), ["bad.csv, line 2", "target is empty"]),
    ("header only", "bad.csv", text("source,target\n"), ["bad.csv", "no rows"]),
    ("comments only", "bad.txt", text("# source target\n"), ["bad.txt", "no rows"]),
    ("latin-1", "bad.csv", lambda path: path.write_bytes(b"a,b\nz\xe9,c\n"), ["bad.csv, line 2", "UTF-8"]),
    ("truncated gzip", "bad.csv.gz", truncated, ["bad.csv.gz is truncated", "copy it again"]),
    ("truncated zstandard", "bad.csv.zst", truncated, ["bad.csv.zst is truncated", "copy it again"]),
    ("truncated parquet", "bad.parquet", truncated, ["bad.parquet", "Parquet", "write it again"]),
    ("truncated arrow", "bad.arrow", truncated, ["bad.arrow", "Arrow", "write it again"]),
    ("unknown suffix", "bad.docx", text("a,b\n"), ["bad.docx", "or set --format"]),
    (
        "unclear columns",
        "bad.csv",
        text("when,x,y,z\n1,ann,bob,a\n2,cat,gus,b\n"),
        ["bad.csv has 4 columns", "do not say which nodes an edge joins", "--source x --target y\n"],
    ),
    (
        "two pairs of columns",
        "bad.csv",
        text("from bank,from account,to bank,to account\na,ann,b,bob\na,bob,b,gus\n"),
        ["bad.csv has 4 columns", "--source 'from bank' --target 'to bank'\n"],
    ),
    (
        "repeated column",
        "bad.csv",
        text("source,target,source\nann,bob,gus\n"),
        ["several columns named 'source', number 1 and 3; give the number of one of them to --source"],
    ),
    ("many columns", "bad.csv", text(",".join(map(str, range(10**5))) + "\n"), ["100,000 columns", ".mtx or .npz"]),
    ("half a node", "bad.npz", lambda path: np.savez(path, row=[0], col=[1], n=2.7), ["bad.npz: n is 2.7", "whole"]),
    ("no edges", "bad.jsonl", text('{"source": "ann"}\n'), ["bad.jsonl", "edges are read from"]),
    ("not symmetric", "bad.npz", arc, ["bad.npz", "not symmetric", "pass --directed"]),
    ("edges and arcs", "bad.gexf", text(MIXED), ["bad.gexf", "decide with --directed or --undirected"]),
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
    assert not PYTHON.search(outcome.err), "an option is not called by the name of its parameter"
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
    ("two labels", "node,label\nann,tea\ngus,coffee\nann,coffee\n", ["bad.csv", "'ann'", "line 2", "line 4"]),
    (
        "unknown node",
        "node,label\nann,tea\ngus,coffee\nzoe,tea\n",
        ["bad.csv: 1 seed is not in the graph: 'zoe'; correct it, or leave it out with --ignore-missing-seeds\n"],
    ),
    (
        "unknown nodes",
        "node,label\nzoe,tea\nyan,coffee\n",
        [
            "bad.csv: none of the 2 seeds is in the graph: col 1 (node) has ids such as 'zoe', but col 1 (source) and "
            "col 2 (target) of edges.csv have ids such as 'ann'; choose other columns with --node, --source and "
            "--target\n"
        ],
    ),
    ("one column", "node\nann\ngus\n", ["bad.csv", "one column", "change --labels-delimiter"]),
    ("short row", "node,label\nann,tea\ngus\n", ["bad.csv, line 3"]),
]


@pytest.mark.parametrize(("content", "words"), [case[1:] for case in BAD_SEEDS], ids=[case[0] for case in BAD_SEEDS])
def test_bad_seeds(run: Run, content: str, words: list[str]) -> None:
    Path("bad.csv").write_text(content)
    sentence = refused(run, "edges.csv", "bad.csv", "-o", "old.csv", "--force")
    assert [word for word in words if word not in sentence] == []


@pytest.mark.parametrize("arguments", [[], ["--ignore-missing-seeds"]])
def test_seeds_of_which_none_is_in_the_graph(run: Run, arguments: list[str]) -> None:
    Path("bad.csv").write_text("account,fraud\n7,yes\n8,no\n")
    sentence = refused(run, "edges.csv", "bad.csv", *arguments)
    assert "none of the 2 seeds is in the graph: col 1 (account) has ids such as '7', but col 1 (source)" in sentence


@pytest.mark.parametrize(
    ("name", "seeds", "words"),
    [
        (
            "g.mtx",
            "0,a\n3,b\n",
            "s.csv has the node 0, but the 4 nodes of g.mtx are counted from 1 on; add 1 to the ids",
        ),
        (
            "g.npz",
            "1,a\n4,b\n",
            "s.csv has the node 4, but the 4 nodes of g.npz are counted from 0 on; subtract 1 from",
        ),
    ],
)
@pytest.mark.parametrize("arguments", [[], ["--ignore-missing-seeds"]])
def test_seeds_that_count_from_another_number(
    run: Run, name: str, seeds: str, words: str, arguments: list[str]
) -> None:
    chain = csr_array(np.eye(4, k=1) + np.eye(4, k=-1))
    (mmwrite if name == "g.mtx" else save_npz)(name, chain)
    Path("s.csv").write_text(f"node,label\n{seeds}")
    assert words in refused(run, name, "s.csv", *arguments)
    Path("s.csv").write_text("node,label\n1,a\n3,b\n")
    outcome = run("classify", name, "s.csv")
    assert outcome.status == 0
    assert f"{name}: format={name[2:]}, ids=counted from {1 if name == 'g.mtx' else 0}\n" in outcome.err


def test_a_header_that_only_the_graph_shows(run: Run) -> None:
    Path("odd.csv").write_text("acct,kind\nann,tea\nbob,tea\ngus,coffee\nfay,coffee\n")
    outcome = run("classify", "edges.csv", "odd.csv", "-o", "l.csv")
    assert outcome.status == 0, outcome.err
    assert "odd.csv: the first row (acct, kind) is read as a header, since 'acct' is not in the graph; " in outcome.err
    assert "odd.csv: node=col 1 (acct), label=col 2 (kind), header=yes" in outcome.err
    assert "acct" not in run("classify", "edges.csv", "odd.csv", "--labels-header").err.split("odd.csv: node")[0]
    assert "'acct'" in refused(run, "edges.csv", "odd.csv", "--no-labels-header")


def test_missing_seeds_can_be_ignored(run: Run) -> None:
    Path("more.csv").write_text("node,label\nann,tea\nzoe,tea\ngus,coffee\n")
    outcome = run("classify", "edges.csv", "more.csv", "--ignore-missing-seeds")
    assert outcome.status == 0
    assert "warning: more.csv: 1 of 3 labelled nodes are not in the graph" in outcome.err
    assert outcome.out == run("classify", "edges.csv", "seeds.csv").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["edges.csv"], ["SEEDS is missing; see isotherm classify --help"]),
        (["edges.csv", "seeds.csv", "more.csv"], ["more.csv is one argument too many"]),
        (["edges.csv", "seeds.csv", "-o"], ["-o needs a value"]),
        (["edges.csv", "seeds.csv", "--tol", "x"], ["--tol is x: give a number"]),
        (["edges.csv", "seeds.csv", "--max-iter", "ten"], ["--max-iter is ten: give a whole number"]),
        (["edges.csv", "seeds.csv", "--max-iter", "1.5"], ["--max-iter is 1.5: give a whole number"]),
        (["edges.csv", "seeds.csv", "--max-iter", "0"], ["--max-iter is 0: it must be at least 1"]),
        (["edges.csv", "seeds.csv", "--tol", "0"], ["--tol is 0"]),
        (["edges.csv", "seeds.csv", "--rule", "best"], ["--rule is best: choose from balanced, probable"]),
        (["edges.csv", "seeds.csv", "--min-confidence", "2"], ["--min-confidence is 2"]),
        (["edges.csv", "seeds.csv", "--nothing"], ["--nothing"]),
        (["edges.csv", "seeds.csv", "--max-memory", "much"], ["--max-memory is much: give a size such as"]),
        (["-", "-"], ["standard input"]),
        (["edges.csv", "seeds.csv", "--weight", "cost"], ["edges.csv", "'cost'", "'weight'"]),
        (["edges.csv", "seeds.csv", "--weight", "source"], ["edges.csv", "different columns"]),
        (["edges.csv", "seeds.csv", "--weight", "3", "--unweighted"], ["--unweighted and --weight 3 contradict"]),
        (["edges.csv", "seeds.csv", "--delimiter", ";"], ["edges.csv", "one column", "--delimiter"]),
        (["edges.csv", "seeds.csv", "--delimiter", "ab"], ["--delimiter ab cannot be used"]),
        (["edges.csv", "seeds.csv", "--labels-delimiter", "tab"], ["seeds.csv", "one column", "--labels-delimiter"]),
        (["edges.csv", "seeds.csv", "--labels-delimiter", "ab"], ["--labels-delimiter ab cannot be used"]),
        (["edges.csv", "seeds.csv", "--source", "9"], ["edges.csv", "no column 9"]),
        (["edges.csv", "seeds.csv", "--format", "docx"], ["--format docx is not a format", "parquet"]),
        (["edges.csv", "seeds.csv", "--labels-format", "docx"], ["--labels-format docx is not a format", "parquet"]),
        (["edges.csv", "seeds.csv", "--output-format", "npz"], ["csv, tsv, jsonl, parquet, arrow, xlsx, not as 'npz'"]),
        (["edges.csv", "seeds.csv", "-o", "none/x.csv"], ["none/x.csv", "does not exist; create it"]),
        (["edges.csv", "seeds.csv", "-o", "."], [". is a directory"]),
        (["edges.csv", "seeds.csv", "-o", "x.mtx"], ["x.mtx", ".csv", "or set --output-format"]),
        (["edges.csv", "seeds.csv", "-o", "old.csv"], ["old.csv exists", "overwrite it with --force"]),
        (["edges.csv", "seeds.csv", "-o", "edges.csv", "--force"], ["edges.csv is also an input"]),
        (["edges.csv", "seeds.csv", "-o", "x.csv", "--json-summary", "x.csv"], ["both x.csv"]),
        (["edges.csv", "seeds.csv", "--json"], ["--json", "name a file with --output"]),
        (["edges.csv", "seeds.csv", "-o", "x.csv", "--json-summary", "-"], ["--json-summary - is now --json"]),
        (
            ["edges.csv", "seeds.csv", "--max-graph-memory", "1KB"],
            [
                "edges.csv: a graph of 7 nodes",
                "needs about 2 KB of memory, but only 1 KB are allowed; raise --max-graph-memory",
            ],
        ),
        (
            ["edges.csv", "seeds.csv", "--undirected", "--directed"],
            ["given twice, or together with its opposite: leave"],
        ),
        (
            ["edges.csv", "seeds.csv", "--side", "both"],
            ["--side both is for directed graphs: add --directed, or leave"],
        ),
        (
            ["edges.csv", "seeds.csv", "--safe-cells", "-o", "x.parquet"],
            ["--safe-cells is for csv and tsv, not for parqu"],
        ),
        (["edges.csv", "seeds.csv", "--max-graph-memory", "much"], ["--max-graph-memory is much: give a size such as"]),
        (["edges.csv", "seeds.csv", "--json-summary", "old.csv"], ["old.csv exists", "--force"]),
        (["edges.csv", "seeds.csv", "--json-summary", "none/s.json"], ["none/s.json", "does not exist"]),
    ],
)
def test_bad_usage(run: Run, arguments: list[str], words: list[str]) -> None:
    sentence = refused(run, *arguments)
    assert [word for word in words if word not in sentence] == []


def test_a_header_can_be_taken_for_data_and_data_for_a_header(run: Run) -> None:
    Path("bare.csv").write_text("ann,bob\nbob,gus\n")
    assert run("classify", "bare.csv", "seeds.csv", "--no-header").out.splitlines()[1].startswith("ann,tea")
    sentence = refused(run, "bare.csv", "seeds.csv", "--header")  # "ann" is then the name of a column
    assert "'ann'" in sentence
    assert "with --no-header" in sentence
    sentence = refused(run, "edges.csv", "seeds.csv", "--no-header")
    assert "edges.csv, line 1: the weight is 'weight'" in sentence
    assert "or --header if this row is a header" in sentence
    sentence = refused(run, "edges.csv", "seeds.csv", "--no-labels-header")
    assert "'node'" in sentence
    assert "with --labels-header" in sentence


def test_a_header_that_was_not_found_is_seen(run: Run) -> None:
    Path("odd.csv").write_text("package,needs\nann,bob\nbob,gus\n")
    outcome = run("classify", "odd.csv", "seeds.csv")
    assert (
        "odd.csv: source=col 1, target=col 2, weight=none, header=no, delimiter=comma, first=package\n" in outcome.err
    )


def test_a_process_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text(OLD)
    outcome = command("classify", "none.csv", "none.csv", "-o", "old.csv", "--force", folder=tmp_path)
    assert outcome == (2, "", "isotherm: none.csv does not exist; check its name\n")
    assert (tmp_path / "old.csv").read_text() == OLD


def test_an_unknown_command_is_refused(run: Run) -> None:
    outcome = run("clasify")
    assert outcome.status == 2
    assert "classify" in outcome.err
    assert outcome.err.count("\n") == 1


def test_bad_settings_in_the_environment_are_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTHERM_TOL", "small")
    assert "ISOTHERM_TOL" in refused(run, "edges.csv", "seeds.csv")
    monkeypatch.setenv("ISOTHERM_THREADS", "many")
    assert "ISOTHERM_THREADS is 'many'; it must be a number" in refused(run, "edges.csv", "seeds.csv", "--tol", "0.1")


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
    result = subprocess.run(shell, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 2
    assert result.stderr.startswith("isotherm: standard output cannot be written: the disk is full")
    assert result.stderr.count("\n") == 1
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
