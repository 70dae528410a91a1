"""The other commands, and the promise that each is documented and works as printed."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest
from commands import Run, command, runner

import isotherm
from isotherm import kernels
from isotherm.cli import classify, evaluate
from isotherm.cli.app import app

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [name for name in app if not name.startswith("-")]
LABELS = "node,label\nann,tea\nbob,tea\ncat,tea\ndan,coffee\neve,coffee\nfay,coffee\ngus,coffee\n"


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    run = runner(tmp_path, capfd, monkeypatch)
    Path("labels.csv").write_text(LABELS)
    return run


def test_evaluate_prints_the_scores_of_all_rules(run: Run) -> None:
    outcome = run("evaluate", "edges.csv", "labels.csv", "--fraction", "0.4", "--policy", "balanced", "--runs", "3")
    assert outcome.status == 0, outcome.err
    rows = [line.split() for line in outcome.out.splitlines()]
    assert ["rule", "macro-F1", "micro-F1", "accuracy"] in rows
    assert {row[0] for row in rows if len(row) == 10} == {"centered", "relative", "vanilla", "weighted"}
    assert "3 seeds (balanced), 4 hidden labels (0 unreached), 2 classes, 3 runs" in outcome.out
    assert "source=col 1" in outcome.err


def test_evaluate_prints_classes_and_confusion_and_draws(run: Run) -> None:
    wanted = ["--per-class", "--confusion", "--plot", "rules.png", "-q"]
    outcome = run("evaluate", "edges.csv", "labels.csv", "--fraction", "0.4", "--policy", "balanced", *wanted)
    assert outcome.status == 0, outcome.err
    assert re.search(r"class +nodes +precision +recall +F1\ncoffee +\d+ ", outcome.out)
    assert re.search(r"coffee +tea +unreached\ncoffee +\d+ +\d+ +0\n", outcome.out)
    assert Path("rules.png").read_bytes().startswith(b"\x89PNG")
    again = run("evaluate", "edges.csv", "labels.csv", *wanted)
    assert again.status == 2
    assert "rules.png exists" in again.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--fraction", "2"], "--fraction"),
        (["--fraction", "0.01"], "labels.csv: a draw of 1 seeds has one class of 2 only: raise the fraction"),
        (["--policy", "random"], "uniform"),
        (["--plot", "x.docx"], "x.docx must end in .png"),
        (["--runs", "0"], "--runs"),
    ],
)
def test_evaluate_refuses(run: Run, arguments: list[str], words: str) -> None:
    outcome = run("evaluate", "edges.csv", "labels.csv", "-q", *arguments)
    assert outcome.status == 2
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


def test_the_demo(run: Run) -> None:
    outcome = run("demo", "--out", "pictures")
    assert outcome.status == 0, outcome.err
    assert "1 of 34 labels wrong" in outcome.out
    assert Path("pictures/figure1.png").read_bytes().startswith(b"\x89PNG")
    assert "nodes        63,436" in outcome.out
    assert re.search(r"\nperl +4,\d+ ", outcome.out)
    accuracy = re.search(r"accuracy ([\d.]+) of the 62,802 packages .*?, ([\d.]+) of the", outcome.out)
    assert accuracy
    assert float(accuracy[1]) > 0.35
    assert float(accuracy[2]) > 0.4
    assert "most certain:" in outcome.out
    assert "least certain:" in outcome.out
    seconds = re.search(r"All this took ([\d.]+) seconds", outcome.out)
    assert seconds
    assert float(seconds[1]) < 40


def test_the_demo_says_where_it_cannot_write(run: Run) -> None:
    Path("file").write_text("")
    outcome = run("demo", "--out", "file")
    assert outcome.status == 2
    assert "--out" in outcome.err


def test_datasets(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOTHERM_DATA", raising=False)
    outcome = run("datasets", "list")
    assert outcome.status == 0
    assert re.search(r"^karate +built in$", outcome.out, re.MULTILINE)
    assert run("datasets").out == outcome.out
    for arguments, words in ((["fetch", "nothing"], "no dataset"), (["fetch"], "needs the name"), (["x"], "x")):
        refused = run("datasets", *arguments)
        assert (refused.status, refused.out) == (2, "")
        assert words in refused.err
    assert "none is not a folder" in run("datasets", "list", "--data", "none").err


def test_reproduce(run: Run) -> None:
    outcome = run("reproduce", "figure1", "--out", "report", "-q")
    assert outcome.status == 0, outcome.err
    assert Path("report/report.html").is_file()
    assert outcome.out.strip().endswith("report.html")
    refused = run("reproduce", "figure9", "--out", "report")
    assert refused.status == 2
    assert "figure1" in refused.err


def test_the_version(tmp_path: Path) -> None:
    outcome = command("--version", folder=tmp_path)
    assert outcome.status == 0
    assert isotherm.__version__ in outcome.out
    assert kernels.description() in outcome.out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(run: Run, name: str) -> None:
    outcome = run(name, "--help")
    assert outcome.status == 0
    assert "Examples:" in outcome.out
    assert f"isotherm {name}" in outcome.out.split("Examples:")[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_documented(name: str) -> None:
    assert f"\n## isotherm {name}\n" in GUIDE
    assert f"isotherm {name}" in README


def test_every_option_of_classify_is_documented(run: Run) -> None:
    options = set(re.findall(r"(?<![\w-])--[a-z-]+", run("classify", "--help").out)) - {"--help"}
    assert len(options) > 25
    assert {option for option in options if f"`{option}" not in GUIDE} == set()


def work_as_printed(run: Run, lines: Iterable[str]) -> None:
    """Run commands: in this process if they begin with isotherm, in a shell if they need one."""
    for line in filter(None, map(str.strip, lines)):
        if line.startswith("isotherm "):
            outcome = run(*shlex.split(line)[1:])
            assert outcome.status == 0, f"{line}: {outcome.err}"
        else:
            in_a_shell(line)


def in_a_shell(line: str) -> None:
    launcher = Path("bin/isotherm")
    if not launcher.exists():
        launcher.parent.mkdir()
        launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m isotherm "$@"\n')
        launcher.chmod(0o755)
    path = f"{launcher.parent.resolve()}:{os.environ['PATH']}"
    subprocess.run(["bash", "-c", line], env={**os.environ, "PATH": path}, capture_output=True, check=True, timeout=60)


@pytest.mark.parametrize("document", ["README.md", "docs/cli.md"])
def test_the_commands_of_a_document_work_as_printed(run: Run, document: str) -> None:
    for path in Path().iterdir():
        path.unlink()
    text = (ROOT / document).read_text(encoding="utf-8")
    lines = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).splitlines()
    assert sum("isotherm" in line for line in lines) >= 1
    work_as_printed(run, lines)


def test_the_results_in_the_guide_are_what_comes_out(run: Run) -> None:
    Path("edges.csv").write_text(
        "source,target\nann,bob\nann,cat\nbob,cat\ncat,dan\ndan,eve\ndan,fay\neve,fay\nfay,gus\n"
    )
    code = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    assert len(code) == 1
    exec(compile(code[0], "cli.md", "exec"), {})
    printed = re.findall(r"\n(node,label,confidence\n.*?)\.\.\.", GUIDE, re.DOTALL)
    assert Path("python.csv").read_text().startswith(printed[0])
    assert run("classify", "edges.csv", "seeds.csv", "-q").out == Path("python.csv").read_text()


@pytest.mark.parametrize("module", [classify, evaluate], ids=["classify", "evaluate"])
def test_the_examples_of_the_help_work_as_printed(run: Run, module: ModuleType) -> None:
    Path("labels.csv").rename("truth.csv")
    lines = module.EXAMPLES.splitlines()[2:]
    work_as_printed(run, (line.replace("labels.csv", "truth.csv") if "evaluate" in line else line for line in lines))
