"""The other commands, and the promise that each is documented and works as printed."""

import os
import re
import shlex
import subprocess
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from commands import Run, command, runner
from scipy.sparse import csr_array
from tools.pages import alike, examples, launchers

import isotherm
from isotherm import kernels
from isotherm.cli.app import app
from isotherm.cli.commands import classify, evaluate, explain, pack, suggest, update
from isotherm.node_classifier import RULE_NAMES
from isotherm.study.datasets import debian_packages

ROOT = Path(__file__).parents[2]
GUIDE = "".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "commands").glob("*.md")))
SHEET = (ROOT / "docs" / "cheat-sheet.md").read_text(encoding="utf-8")
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
    assert ["rule", "macro-F1", "micro-F1", "accuracy", "ECE"] in rows
    scores = {row[0]: float(row[1]) for row in rows if row[2:3] == ["\N{PLUS-MINUS SIGN}"]}
    assert scores.keys() == set(RULE_NAMES)
    (best,) = [row[0] for row in rows if row[-1:] == ["best"]]
    assert scores[best] == max(scores.values())
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
        (
            ["--fraction", "0.01"],
            "labels.csv: a draw of 1 seed has only one class of 2: raise --fraction, or set --policy balanced",
        ),
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
    outcome = run("demo", "--output", "pictures")
    assert outcome.status == 0, outcome.err
    assert "1 of 34 labels wrong" in outcome.out
    assert Path("pictures/figure1.png").read_bytes().startswith(b"\x89PNG")
    assert "nodes        63,436" in outcome.out
    assert re.search(r"\nclasses +58\n", outcome.out)
    assert re.search(r"\n +0\.4  8!\n", outcome.out)  # the one that is wrong
    shares = dict(re.findall(r"^(rule balanced|rule vanilla|always libs) +(0\.\d\d) ", outcome.out, re.MULTILINE))
    assert 0.5 < float(shares["rule balanced"]) < 0.65
    assert float(shares["always libs"]) < float(shares["rule vanilla"]) < float(shares["rule balanced"]) - 0.1
    bins = re.findall(r"^0\.\d to [01]\.\d +([\d,]+) +(\d\.\d\d)", outcome.out, re.MULTILINE)
    right = [float(share) for _, share in bins]
    assert len(right) >= 5
    assert right == sorted(right), "more of the certain labels are right"
    assert "isotherm map" in Path("pictures/debian-map.html").read_text()
    assert max(map(len, outcome.out.splitlines())) <= 88
    every = re.search(r"Accuracy on the ([\d,]+) packages", outcome.out)
    assert every
    table = re.findall(r"(?:^|  )([a-z][\w-]+) +([\d,]+) +\d\.\d\d", outcome.out, re.MULTILINE)
    packages = {name: int(count.replace(",", "")) for name, count in table}
    assert set(packages) == set(debian_packages().labels)
    assert sum(packages.values()) == int(every[1].replace(",", ""))
    assert re.search(r"All this took [\d.]+ seconds", outcome.out)


@pytest.mark.parametrize("out", ["file", "file/inside", "/proc/none"])
def test_the_demo_says_at_once_where_it_cannot_write(run: Run, out: str) -> None:
    Path("file").write_text("")
    outcome = run("demo", "--output", out)
    assert outcome.status == 2
    assert "choose another folder with --output" in outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.out == "" or out.startswith("/proc")  # root may try to write there


def test_datasets(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOTHERM_DATA", raising=False)
    outcome = run("datasets", "list")
    assert outcome.status == 0
    assert re.search(r"^karate +built in$", outcome.out, re.MULTILINE)
    assert run("datasets").out == outcome.out
    for arguments, words in (
        (["fetch", "nothing"], "no dataset 'nothing'; isotherm datasets list prints"),
        (["fetch", "karat"], "did you mean karate?"),
        (["fetch"], "needs the name"),
        (["x"], "x"),
        (["list", "--data", "none"], "none is not a folder: point --data or"),
    ):
        refused = run("datasets", *arguments)
        assert (refused.status, refused.out) == (2, "")
        assert words in refused.err
        assert refused.err.count("\n") == 1


def test_reproduce(run: Run) -> None:
    outcome = run("reproduce", "figure1", "--output", "report", "-q")
    assert outcome.status == 0, outcome.err
    assert Path("report/report.html").is_file()
    assert outcome.out.strip().endswith("report.html")
    refused = run("reproduce", "figure9", "--output", "report")
    assert refused.status == 2
    assert "figure1" in refused.err
    Path("file").write_text("")
    refused = run("reproduce", "figure1", "--output", "file")
    assert refused.status == 2
    assert "choose another folder with --output" in refused.err


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


@pytest.mark.parametrize("flag", ["--help", "--help-all"])
@pytest.mark.parametrize("name", ["", *COMMANDS, "datasets list", "datasets fetch"])
def test_help_fits_into_a_terminal(run: Run, name: str, flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(*name.split(), flag).out.splitlines()
    assert lines[0].startswith("Usage: isotherm")
    assert [line for line in lines if len(line) > 80 or line != line.rstrip()] == []
    assert not any("default ()" in line for line in lines)
    assert [pair for pair in pairwise(lines) if pair == ("", "")] == []


def test_an_unknown_command_is_answered_with_the_others(run: Run) -> None:
    outcome = run("clasify")
    assert outcome.status == 2
    assert "did you mean classify; available commands: classify, " in outcome.err
    assert " and others; see isotherm --help" in outcome.err


def test_the_page_of_shared_options_says_which_evaluate_has_not(run: Run) -> None:
    page = (ROOT / "docs" / "commands" / "shared.md").read_text(encoding="utf-8")
    start, tables = page.split("## Writing")[0].split("## Reading the graph")
    lines = re.findall(r"^  ((?:-\w, )?--.*?)(?:  |$)", run("evaluate", "--help-all").out, re.MULTILINE)
    taken = {option for line in lines for option in re.findall(r"--[\w-]+", line)}
    (listed,) = re.findall(r"Not in `evaluate`: (.*?)\. It takes", start, re.DOTALL)
    rows = [row.split("|")[1] for row in tables.splitlines() if row.startswith("| `")]
    shared = {option for row in rows for option in re.findall(r"--[\w-]+", row)}
    assert shared - taken == set(re.findall(r"--[\w-]+", listed))


def test_completion_is_installed(tmp_path: Path) -> None:
    outcome = command("--install-completion", folder=tmp_path, HOME=str(tmp_path), SHELL="/bin/bash")
    assert outcome.status == 0, outcome.err
    scripts = [path for path in tmp_path.rglob("*") if path.is_file() and "isotherm" in path.read_text()]
    assert scripts
    asked = 'source "$1"; COMP_WORDS=(isotherm classify --prob); COMP_CWORD=2; _isotherm; echo "${COMPREPLY[@]}"'
    script = max(scripts, key=lambda path: path.stat().st_size)
    shell = subprocess.run(["bash", "-c", asked, "bash", script], capture_output=True, text=True, timeout=300)
    assert shell.stdout.strip() == "--probabilities", shell.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_the_usage_names_every_argument(run: Run, name: str) -> None:
    assert "ARGS" not in run(name, "--help").out.partition("\n\n")[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_documented(name: str) -> None:
    assert f"# isotherm {name}\n" in (ROOT / "docs" / "commands" / f"{name}.md").read_text(encoding="utf-8")
    assert f"isotherm {name}" in SHEET


@pytest.mark.parametrize(
    ("name", "least"),
    [
        *[(name, 30) for name in ("classify", "explain", "suggest", "explore", "plot", "evaluate")],
        ("demo", 1),
        ("reproduce", 7),
        ("pack", 12),
        ("compare", 20),
        ("update", 15),
    ],
)
def test_every_option_is_documented(run: Run, name: str, least: int) -> None:
    options = set(re.findall(r"(?<![\w-])--[a-z-]+", run(name, "--help-all").out))
    options -= {"--help-all", "--out"}
    assert len(options) >= least
    assert {option for option in options if f"`{option}" not in GUIDE} == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_lists_ten_options_and_the_page_too(run: Run, name: str) -> None:
    usual, every = (_listed(run(name, flag).out) for flag in ("--help", "--help-all"))
    assert usual <= every
    assert len(usual) <= 10
    assert len(usual) >= 9 or usual == every
    page = (ROOT / "docs" / "commands" / f"{name}.md").read_text(encoding="utf-8")
    assert {option for option in usual if f"`{option}" not in page} == set()


def _listed(text: str) -> set[str]:
    """The options that some help lists, each by its first long name."""
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.MULTILINE))


def work_as_printed(run: Run, lines: Iterable[str]) -> str:
    """Run commands: in this process if they begin with isotherm, in a shell if they need one; what they print."""
    said, printed = "", ""
    for line in filter(None, map(str.strip, lines)):
        if line.startswith("isotherm ") and ">" not in line:
            outcome = run(*shlex.split(line)[1:])
            assert outcome.status == 0, f"{line}: {outcome.err}"
            said, printed = said + outcome.err, printed + outcome.out
        else:
            printed += in_a_shell(line)
    return said + printed


def in_a_shell(line: str) -> str:
    environment = {**os.environ, "PATH": launchers(Path("bin"))}
    return subprocess.run(
        ["bash", "-c", line], env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=300
    ).stdout


PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
WITH_COMMANDS = [page.relative_to(ROOT).as_posix() for page in PAGES if "```sh\n" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("document", WITH_COMMANDS)
def test_the_commands_of_a_document_work_as_printed(run: Run, document: str) -> None:
    for path in filter(Path.is_file, Path().iterdir()):
        path.unlink()
    blocks = [each for each in examples((ROOT / document).read_text(encoding="utf-8")) if each.language == "sh"]
    assert any("isotherm" in each.code for each in blocks)
    if any("import scanpy" in each.code for each in blocks):
        pytest.importorskip("scanpy")
    for block in blocks:
        lines = re.findall(r"^.* <<'EOF'\n(?:.*\n)*?EOF$|^.+$", block.code, re.MULTILINE)
        printed = work_as_printed(run, lines)
        assert block.text is None or alike(block.text, printed), f"run: python -m tools.pages {document}\n{printed}"


@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")
def test_the_command_does_what_python_does(run: Run) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    exec(compile(code, "guide", "exec"), {})
    assert run("classify", "edges.csv", "seeds.csv", "-q").out == Path("python.csv").read_text()


@pytest.mark.parametrize(
    "module",
    [classify, evaluate, explain, pack, suggest, update],
    ids=["classify", "evaluate", "explain", "pack", "suggest", "update"],
)
def test_the_examples_of_the_help_work_as_printed(run: Run, module: ModuleType) -> None:
    Path("labels.csv").rename("truth.csv")
    Path("answers.csv").write_text("node,label,guess,confidence,value\ndan,tea,coffee,0.5,1\neve,,coffee,0.6,1\n")
    lines = module.EXAMPLES.split("Examples:")[1].splitlines()
    if module is classify:
        assert run("pack", "edges.csv", "-o", "graph.iso", "-q").status == 0
        _write_cells("cells.h5ad")
    work_as_printed(run, (line.replace("labels.csv", "truth.csv") if "evaluate" in line else line for line in lines))


def _write_cells(name: str) -> None:
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    obs = pd.DataFrame({"cell_type": ["B", None, None, "T"]}, index=list("abcd"))
    path = csr_array(np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1))
    anndata.AnnData(obs=obs, obsp={"connectivities": path}).write_h5ad(name)
