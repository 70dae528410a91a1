"""No option of any command is dropped silently: on every path it is honoured, or refused in one sentence.

The options are those that the command line itself lists, so a new option without an entry in `PROBES` fails. A probe is
given to a command that works without it. Then something must change: the text, the files or what the library is asked
for. Or the command must end with status 2 and a sentence that names the option or its value.
"""

import hashlib
import re
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from commands import options_of

import isotherm.cli.inputs
import isotherm.page.open_page
import isotherm.paper
import isotherm.study.datasets
from isotherm import kernels
from isotherm.cli import main
from isotherm.cli.app import app
from isotherm.cli.terminal.job import Job
from isotherm.engines import LocalEngine
from isotherm.engines.cluster import disconnect

pytestmark = pytest.mark.filterwarnings("ignore")

ADDRESS = "ADDRESS"  # stands for the address of a cluster


class Way(NamedTuple):
    """One way through a command: its name, and arguments with which it works."""

    command: str
    arguments: tuple[str, ...]
    needs_cluster: bool = False


class Probe(NamedTuple):
    """An option with a value, and how its effect is seen.

    Attributes
    ----------
    others
        Arguments that the option needs; they are also given without it.
    instead
        Arguments in place of the usual ones of the path.
    says
        What the sentence says if the option, on the way to its effect, ends the command.
    """

    option: tuple[str, ...]
    others: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    says: str = ""


def probe(*option: str, others: str = "", instead: str = "", says: str = "") -> Probe:
    return Probe(option, tuple(others.split()), tuple(instead.split()), says)


DASK = ("--engine", "dask", "--scheduler", ADDRESS)
PATHS = {
    "classify files": Way("classify", ("edges.csv", "seeds.csv")),
    "classify vectors": Way("classify", ("table.csv", "seeds.csv", "--vectors")),
    "classify packed": Way("classify", ("graph.iso", "seeds.csv")),
    "classify dask to a file": Way("classify", ("graph.iso", "seeds.csv", "-o", "out/labels.csv", *DASK), True),
    "classify dask to a folder": Way("classify", ("graph.iso", "seeds.csv", "-o", "out/labels/", *DASK), True),
    "classify estimate": Way("classify", ("edges.csv", "seeds.csv", "--estimate")),
    "explain files": Way("explain", ("edges.csv", "seeds.csv", "n1", "=n7")),
    "explain model": Way("explain", ("model.npz", "n1", "=n7")),
    "suggest files": Way("suggest", ("edges.csv", "seeds.csv", "-n", "50")),
    "suggest model": Way("suggest", ("model.npz", "-n", "50")),
    "suggest without seeds": Way("suggest", ("edges.csv", "-n", "50")),
    "check files": Way("check", ("edges.csv", "seeds.csv", "-n", "50")),
    "check model": Way("check", ("model.npz", "-n", "50")),
    "update model": Way("update", ("model.npz", "answers.csv")),
    "explore files": Way("explore", ("edges.csv", "seeds.csv")),
    "explore without seeds": Way("explore", ("edges.csv",)),
    "plot files": Way("plot", ("edges.csv", "seeds.csv", "-o", "out/map.html")),
    "evaluate files": Way("evaluate", ("edges.csv", "labels.csv", "--fraction", "0.4", "--runs", "1", "--json")),
    "compare files": Way("compare", ("edges.csv", "labels.csv", "--runs", "1", "--no-peers", "--json")),
    "pack files": Way("pack", ("edges.csv", "-o", "out/graph.iso")),
    "datasets list": Way("datasets list", ()),
    "datasets fetch": Way("datasets fetch", ("karate",)),
    "demo": Way("demo", ()),
    "reproduce": Way("reproduce", ("figure1",)),
}

# By default, for all commands.
PROBES = {
    "--class": probe("--class", "b"),
    "--class-sizes": probe("--class-sizes", "a=0.1"),
    "--class-weight": probe("--class-weight", "a=50"),
    "--confusion": probe("--confusion"),
    "--data": probe("--data", "nowhere"),
    "--decimal": probe("--decimal", ",", others="--more-edges commas.csv"),
    "--delimiter": probe("--delimiter", ";"),
    "--directed": probe("--directed", others="--side source"),
    "--edge-kind": probe("--edge-kind", "weight"),
    "--more-edges": probe("--more-edges", "more-edges.csv"),
    "--encoding": probe("--encoding", "utf-16"),
    "--engine": probe("--engine", "dask"),
    "--estimate": probe("--estimate"),
    "--evidence": probe("--evidence", "none"),
    "--feature-columns": probe("--feature-columns", "x", others="--features items.csv"),
    "--features": probe("--features", "items.csv"),
    "--force": probe("--force", others="-o old.csv"),
    "--format": probe("--format", "docx"),
    "--fraction": probe("--fraction", "0.6"),
    "--header": probe("--no-header"),
    "--id": probe("--id", "nothing"),
    "--ignore-columns": probe("--ignore-columns", "x", others="--features items.csv"),
    "--ignore-missing-seeds": probe("--ignore-missing-seeds", others="--more-seeds strange.csv"),
    "--json": probe("--json", others="-o out/x.csv"),
    "--json-summary": probe("--json-summary", "out/s.json"),
    "--k": probe("--k", "2"),
    "--label": probe("--label", "nothing"),
    "--label-probability": probe("--label-probability", "nothing"),
    "--labels-delimiter": probe("--labels-delimiter", ";"),
    "--labels-encoding": probe("--labels-encoding", "utf-16"),
    "--labels-format": probe("--labels-format", "docx"),
    "--labels-header": probe("--no-labels-header"),
    "--latex": probe("--latex"),
    "--log": probe("--log", "out/log"),
    "--max-graph-memory": probe("--max-graph-memory", "1KB"),
    "--max-iter": probe("--max-iter", "1", others="--solver sweeps"),
    "--max-memory": probe("--max-memory", "100B"),
    "--metric": probe("--metric", "cosine"),
    "--min-confidence": probe("--min-confidence", "0.9"),
    "--multi-label": probe("--multi-label", says="one label each"),
    "--names": probe("--names", "nothing"),
    "--neighbors-key": probe("--neighbors-key", "nothing"),
    "--no-browser": probe("--no-browser"),
    "--no-confidence": probe("--no-confidence"),
    "--no-peers": probe("--no-peers"),
    "--node": probe("--node", "nothing"),
    "--nodes": probe("--nodes", "more-nodes.csv"),
    "--normalise-labels": probe("--normalise-labels", others="--more-seeds typed.csv"),
    "--number": probe("--number", "3"),
    "--only-unlabelled": probe("--only-unlabelled"),
    "--open-share": probe("--open-share", "0.9", others="--stop labels --solver cg --tol 1e-9"),
    "--output": probe("--output", "out/other.csv"),
    "--output-format": probe("--output-format", "jsonl"),
    "--paths": probe("--paths", "0"),
    "--per-class": probe("--per-class"),
    "--plot": probe("--plot", "out/x.png"),
    "--policy": probe("--policy", "margin"),
    "--port": probe("--port", "4711"),
    "--probabilities": probe("--probabilities"),
    "--processes": probe("--processes", "1"),
    "--protocol": probe("--protocol", "authors"),
    "--quiet": probe("--quiet"),
    "--random-state": probe("--random-state", "7"),
    "--rule": probe("--rule", "vanilla"),
    "--runs": probe("--runs", "3"),
    "--safe-cells": probe("--safe-cells"),
    "--save": probe("--save", "out/m.npz"),
    "--scale": probe("--scale"),
    "--scheduler": probe("--scheduler", "tcp://127.0.0.1:9"),
    "--seed-weight": probe("--seed-weight", "nothing"),
    "--more-seeds": probe("--more-seeds", "more-seeds.csv"),
    "--side": probe("--side", "source", others="--directed"),
    "--simple": probe("--simple"),
    "--solver": probe("--solver", "sweeps"),
    "--source": probe("--source", "nothing"),
    "--strategy": probe("--strategy", "margin"),
    "--stop": probe("--stop", "labels", others="--solver cg"),
    "--strict": probe("--strict"),
    "--target": probe("--target", "nothing"),
    "--temperatures": probe("--temperatures"),
    "--text": probe("--text", "nothing"),
    "--thousands": probe("--thousands", others="--more-edges thousands.csv"),
    "--threads": probe("--threads", "3"),
    "--threshold": probe("--threshold", "0.3", others="--multi-label"),
    "--title": probe("--title", "Tea"),
    "--tol": probe("--tol", "0.5", others="--solver cg"),
    "--unknown": probe("--unknown", "LATER", others="--more-seeds typed.csv"),
    "--unweighted": probe("--unweighted"),
    "--vectors": probe("--vectors", says="edges.csv has ids such as 0"),  # the rows of a table are counted
    "--weight": probe("--weight", "nothing"),
}

PACKED = {
    "--more-edges": probe("--more-edges", "more-edges.csv", says="only tables can be read together"),
    "--text": probe("--text", "nothing", says="graph.iso is a directory"),
    "--vectors": probe("--vectors", says="graph.iso is a directory"),
}

# Where a path needs another probe.
ON_PATH = {
    "classify vectors": {
        "--delimiter": probe("--delimiter", ";", says="no numeric columns"),
        "--decimal": probe("--decimal", ",", instead="points.csv seeds.csv --vectors"),
        "--thousands": probe("--thousands", instead="grouped.csv seeds.csv --vectors"),
    },
    "classify packed": {**PACKED, "--side": probe("--side", "source", instead="arcs.iso seeds.csv")},
    "classify dask to a file": {
        **PACKED,
        "--engine": probe("--engine", "local"),
        "--force": probe("--force", instead=f"graph.iso seeds.csv -o old.csv {' '.join(DASK)}"),
    },
    "classify dask to a folder": {
        "--evidence": probe("--evidence", "spectral"),
        "--force": probe("--force", instead=f"graph.iso seeds.csv -o old-labels/ {' '.join(DASK)}"),
        "--multi-label": probe("--multi-label", says="several labels"),
    },
    "explore files": {"--multi-label": probe("--multi-label", says="several labels")},
    "plot files": {"--force": probe("--force", instead="edges.csv seeds.csv -o old.html")},
    "suggest without seeds": {"--label": probe("--label", "nothing", says="hold no labels")},
    "evaluate files": {
        "--json": probe("--json", instead="edges.csv labels.csv --fraction 0.4"),
    },
    "compare files": {
        "--json": probe("--json", instead="edges.csv labels.csv --runs 1 --no-peers"),
    },
    "demo": {"--output": probe("--output", "old.csv")},
    "pack files": {
        "--force": probe("--force", instead="edges.csv -o old.iso"),
        "--max-memory": probe("--max-memory", "much"),
        "--decimal": probe("--decimal", ",", instead="commas.csv -o out/graph.iso"),
        "--thousands": probe("--thousands", instead="thousands.csv -o out/graph.iso"),
    },
}


def commands() -> set[str]:
    names = [name for name in app if not name.startswith("-")]
    inner = {name: [each for each in app[name] if not each.startswith("-")] for name in names}
    return {f"{name} {each}".strip() for name in names for each in inner[name] or [""]}


SLOW = {f"{name} files" for name in ("explain", "suggest", "check", "explore", "plot", "evaluate", "compare")}
CASES = [
    pytest.param(
        path,
        option,
        marks=[pytest.mark.slow] * (path in SLOW or each.needs_cluster),
        id=f"{path} {option}",
    )
    for path, each in PATHS.items()
    for option in options_of(each.command)
]


def test_every_command_has_a_path() -> None:
    assert commands() - {each.command for each in PATHS.values()} == {"cite"}  # which has no options
    assert options_of("cite") == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files for all paths: a ring of 60 nodes with chords and weights, its seeds, and a table with the same ids."""
    folder = tmp_path_factory.mktemp("options")
    rng = np.random.default_rng(0)
    names = [f"{'=' * (i == 7)}n{i}" for i in range(60)]
    ends = [(i, (i + step) % 60) for i in range(60) for step in (1, 2, 20)]
    edges = "".join(f"{names[i]},{names[j]},{1 + (i * j) % 5}\n" for i, j in ends)
    (folder / "edges.csv").write_text(f"source,target,weight\n{edges}n0,n1,2\nx,y,1\n")
    (folder / "more-edges.csv").write_text("source,target,weight\nn3,n44,7\nn4,n45,7\n")
    (folder / "thousands.csv").write_text('source,target,weight\nn3,n44,"1,000"\n')
    classes = ["ab"[i // 30] for i in range(60)]
    known = {f"n{i}": classes[i] for i in range(0, 60, 5)}
    rows = "".join(f"{node},{label},{1 + place},0.5\n" for place, (node, label) in enumerate(known.items()))
    (folder / "seeds.csv").write_text(f"node,label,trust,p\n{rows}")
    (folder / "more-seeds.csv").write_text("node,label\nn12,b\nn13,b\n")
    (folder / "typed.csv").write_text("node,label\nn12,A \nn13,A\nn14,b\nn16,later\n")
    (folder / "more-nodes.csv").write_text("node\nn1\nlonely\n")
    (folder / "commas.csv").write_text("source;target;weight\nn3;n44;1.000,5\n")
    (folder / "strange.csv").write_text("node,label\nnobody,a\nn14,b\n")
    (folder / "answers.csv").write_text("node,label\nn31,b\nn3,a\n")
    (folder / "labels.csv").write_text("node,label\n" + "".join(f"n{i},{classes[i]}\n" for i in range(60) if i != 7))
    sides = np.array([classes[i] == "b" for i in range(60)])
    values = rng.normal(size=(60, 3)) + 2 * sides[:, None]
    table = pl.DataFrame({"id": names, "x": values[:, 0], "y": 9 * values[:, 1], "z": values[:, 2]})
    table.write_csv(folder / "table.csv")
    table.write_csv(folder / "items.csv")
    amounts = table.select("id", x=(pl.col("x").abs() + 1).round(3), y=pl.col("y").round().cast(int))
    points = amounts.write_csv(separator=";", float_precision=3)
    (folder / "points.csv").write_text(points)
    (folder / "grouped.csv").write_text(points.replace(".", ","))
    (folder / "old.html").write_text("old\n")
    (folder / "old-labels").mkdir()
    table.write_parquet(folder / "old-labels" / "part.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in ("graph.iso", "old.iso"):
            assert main(["pack", "edges.csv", "-o", name, "-q"]) == 0
        assert main(["pack", "edges.csv", "-o", "arcs.iso", "-q", "--directed"]) == 0
        saved = ["-o", "first.csv", "--save", "model.npz", "--solver", "cg", "-q"]
        assert main(["classify", "edges.csv", "seeds.csv", *saved]) == 0
    return folder


class Run:
    """Runs commands in the folder, and tells what came of them."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.folder, self.capture, self.patch = folder, capture, patch
        patch.chdir(folder)

    def __call__(self, arguments: tuple[str, ...], *, spy: bool, warns: bool) -> tuple[int, dict[str, Any]]:
        """The status of a command, and everything that can be seen of it; ``warns`` makes sure of a warning."""
        shutil.rmtree("out", ignore_errors=True)
        Path("out").mkdir()
        Path("old.csv").write_text("old\n")
        asked: list[str] = []
        with pytest.MonkeyPatch.context() as patch:
            _record(patch, asked, classifiers=spy)
            if warns:
                patch.setattr(Job, "stage", _warn_at_stage)
            self.capture.readouterr()
            status = main(list(arguments))
        out, err = self.capture.readouterr()
        files = sorted(path for path in (*Path("out").rglob("*"), *Path().glob("old.*")) if path.is_file())
        content = {str(path): hashlib.sha1(_steady(path.read_bytes())).hexdigest() for path in files}
        return status, {"out": out, "err": _steady(err.encode()), "files": content, "asked": sorted(set(asked))}


STAGE = Job.stage


def _warn_at_stage(job: Job, name: str) -> Any:
    warnings.warn(name, stacklevel=1)
    return STAGE(job, name)


def _steady(text: bytes) -> bytes:
    """Text without what differs each time: times, memory, and names of files."""
    lines = rb"(?m)^(seconds|peak memory) .*$|^\s*\"(seconds|peak_memory_bytes)\":.*$|\d+\.\d s$"
    return re.sub(
        rb"\"(reading|solving|calibrating|writing|saving|total)\": [\d.e-]+|part-\w+", b"", re.sub(lines, b"", text)
    )


def _record(patch: pytest.MonkeyPatch, asked: list[str], *, classifiers: bool) -> None:
    """Note what the library is asked for where no output shows it: threads, parameters, a page, a report."""
    count, make, solve = kernels.thread_count, isotherm.cli.inputs.classifier_of, LocalEngine.solve

    def solved(problem: Any, options: Any, **more: Any) -> Any:
        asked.append(f"{options.threads} threads of a solver")
        return solve(problem, options, **more)

    def thread_count(threads: Any = None) -> int:
        asked.append(f"{threads} threads")
        return count(threads)

    def classifier_of(*arguments: Any) -> Any:
        made = make(*arguments)
        asked.append(str(made.get_params()) if classifiers else f"{made.n_threads} threads of workers")
        return made

    def open_page(graph: Any, seeds: Any, clf: Any, opening: Any) -> None:
        asked.append(
            f"{graph} {graph.csr.weights} {seeds} {opening.port} {opening.browser} {opening.log} {opening.name}"
        )

    def fetched(name: str, **options: Any) -> list[str]:
        asked.append(f"{name} {options['data']}")
        return ["path"]

    def reproduced(*arguments: Any, **options: Any) -> str:
        asked.append(f"{arguments} {options['out']} {options['data']} {options['runs']} {options['protocols']}")
        asked.append(f"{options['processes']} {options['seed']}")
        return "report.html"

    patch.setattr(kernels, "thread_count", thread_count)
    patch.setattr(LocalEngine, "solve", staticmethod(solved))
    patch.setattr(isotherm.cli.inputs, "classifier_of", classifier_of)
    patch.setattr(isotherm.cli.commands.explore, "classifier_of", classifier_of)
    patch.setattr(isotherm.page.open_page, "open_page", open_page)
    patch.setattr(isotherm.paper, "reproduce", reproduced)
    patch.setattr(isotherm.study.datasets, "fetch", fetched)


@pytest.fixture
def run(folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return Run(folder, capfd, monkeypatch)


BEFORE: dict[tuple[str, ...], tuple[int, dict[str, Any]]] = {}  # what commands do without the probe


@pytest.mark.parametrize(("path", "option"), CASES)
def test_an_option_is_honoured_or_refused(run: Run, path: str, option: str, request: pytest.FixtureRequest) -> None:
    way = PATHS[path]
    probe = ON_PATH.get(path, {}).get(option) or PROBES[option]
    address = request.getfixturevalue("address") if way.needs_cluster else ""

    def given(words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(address if word == ADDRESS else word for word in words)

    watched = {
        "spy": path != "classify dask to a folder",  # where workers may not use all parameters
        "warns": option in ("--quiet", "--strict"),
    }

    def outcomes(others: tuple[str, ...]) -> tuple[tuple[int, dict[str, Any]], tuple[int, dict[str, Any]]]:
        """Without the option, and with it."""
        usual = given((*way.command.split(), *(probe.instead or way.arguments), *others))
        key = (*usual, *map(str, watched.values()))
        if key not in BEFORE:
            BEFORE[key] = run(usual, **watched)
        return BEFORE[key], run((*usual, *given(probe.option)), **watched)

    before, after = outcomes(probe.others)
    if before == after and probe.others:  # the others are refused here; then the option must be too
        before, after = outcomes(())
    if option == "--engine":
        disconnect()  # the workers that were started here
    status, seen = after
    assert after != before, f"{option} is dropped"
    sentence = seen["err"].decode()
    assert "Traceback" not in sentence
    if status == 2 and before[0] == 0:
        named = {
            option,
            *probe.option,
            option.replace("--", "ISOTHERM_").replace("-", "_").upper(),
            probe.says or option,
        }
        assert any(name in sentence for name in named), sentence
    else:
        assert status in (0, 2, 3), sentence


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A cluster of two threads: what a command asks of it is the same with processes, which take six times as long."""
    distributed = pytest.importorskip("distributed", reason="needs isotherm[dask]")
    threads = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**threads) as started:
        yield started.scheduler_address
        disconnect()
