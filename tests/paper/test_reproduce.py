"""`reproduce` as a whole: repeatable, parallel, resumed after a kill, and with a readable report."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from small_data import write_small_data

from isotherm import paper
from isotherm.cli import main
from isotherm.paper import reproduce, runner
from isotherm.paper.experiment import Experiment, Measurement, Setting
from isotherm.paper.runner import EXPERIMENTS

QUICK = ["figure1", "figure2a", "table1", "table2", "table3", "table4", "figure4", "draws", "panel"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def page(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return reproduce(QUICK, out=tmp_path_factory.mktemp("out"), data=data, runs=2, processes=1)


def contents(folder: Path) -> dict[str, list[str]]:
    """The lines of all files of results, sorted, since runs end in any order."""
    return {path.name: sorted(path.read_text().splitlines()) for path in (folder / "runs").glob("*.csv")}


def test_names_are_those_of_the_paper_and_beyond() -> None:
    figures = ["figure1", "figure2a", "figure2b", "figure3a", "figure3b", "figure4"]
    assert set(paper.names()) == {*figures, "table1", "table2", "table3", "table4", "draws", "panel", "sbm"}


def test_every_score_is_kept(page: Path) -> None:
    files = contents(page.parent)
    assert sorted(files) == sorted(f"{name}.csv" for name in QUICK)
    runs = {line.split(",")[2] for line in files["table2.csv"] if line.startswith("authors,cora")}
    assert runs == {"0", "1"}
    many = {line.split(",")[2] for line in files["draws.csv"] if line.startswith("authors,table2 cora")}
    assert len(many) == 20


def test_again_gives_the_same_bits_in_any_number_of_processes(page: Path, data: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    again = reproduce(QUICK, out=tmp_path, data=data, runs=2, processes=2, progress=lambda *state: seen.append(state))
    assert contents(again.parent) == contents(page.parent)
    assert [done for done, _, _ in seen] == list(range(1, len(seen) + 1))
    assert {total for _, total, _ in seen} == {len(seen)}
    assert "table2 authors cora run 1" in {name for _, _, name in seen}


def test_another_seed_gives_other_numbers(page: Path, data: Path, tmp_path: Path) -> None:
    other = reproduce("table2", out=tmp_path, data=data, runs=2, processes=1, seed=1)
    assert contents(other.parent)["table2.csv"] != contents(page.parent)["table2.csv"]


@pytest.mark.parametrize("protocol", ["authors", "corrected"])
def test_one_protocol_and_one_run_make_a_report(data: Path, tmp_path: Path, protocol: str) -> None:
    page = reproduce(QUICK[2:], out=tmp_path, data=data, runs=1, processes=1, protocols=[protocol])
    other = "corrected" if protocol == "authors" else "authors"
    assert not any(line.startswith(f"{other},") for lines in contents(tmp_path).values() for line in lines)
    assert "nan" not in page.read_text().replace("dominant", "")


def test_a_second_call_runs_nothing_and_more_runs_add_to_the_first(data: Path, tmp_path: Path) -> None:
    reproduce("table3", out=tmp_path, data=data, runs=2, processes=1)
    before = contents(tmp_path)["table3.csv"]
    seen: list[int] = []
    reproduce("table3", out=tmp_path, data=data, runs=2, processes=1, progress=lambda done, *_: seen.append(done))
    assert not seen
    assert contents(tmp_path)["table3.csv"] == before
    reproduce("table3", out=tmp_path, data=data, runs=3, processes=1, progress=lambda done, *_: seen.append(done))
    assert len(seen) == 10  # one more for each setting: 4 graphs, and 2 of them both ways
    assert set(before) < set(contents(tmp_path)["table3.csv"])


def test_after_a_kill_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from isotherm.paper import reproduce; "
        "kill = lambda done, *_: done == 3 and os.kill(os.getpid(), signal.SIGKILL); "
        "reproduce('figure2a', out=sys.argv[1], runs=3, processes=1, progress=kill)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path / "killed")])
    assert killed.returncode == -signal.SIGKILL
    seen: list[int] = []
    reproduce("figure2a", out=tmp_path / "killed", runs=3, processes=1, progress=lambda done, *_: seen.append(done))
    assert seen == [4, 5, 6]
    whole = reproduce("figure2a", out=tmp_path / "whole", runs=3, processes=1)
    assert contents(tmp_path / "killed") == contents(whole.parent)


def test_a_worker_that_dies_says_so_and_keeps_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def submit(pool: Any, function: Callable[..., Any], name: str, setting: Setting, run: int, *others: Any) -> Any:
        target, arguments = (os._exit, (9,)) if run == 3 else (function, (name, setting, run, *others))
        return real(pool, target, *arguments)

    real = ProcessPoolExecutor.submit
    monkeypatch.setattr(ProcessPoolExecutor, "submit", submit)
    monkeypatch.setattr(runner, "AHEAD", 1)
    with pytest.raises(RuntimeError, match=r"a process ended before its run.*run the same command again"):
        reproduce("figure2a", out=tmp_path, runs=5, processes=2, protocols=["authors"])
    assert len(contents(tmp_path)["figure2a.csv"]) > 1


def test_experiments_that_fail_leave_the_finished_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(setting: Setting, draw: object, data: object) -> list[Measurement]:
        if setting.case == "b":
            raise ValueError("no such thing")
        return [Measurement(0, "", "x", 1.0)]

    broken = Experiment("figure2a", "", lambda protocol, data: [Setting(protocol, c) for c in "ab"], run)
    monkeypatch.setitem(EXPERIMENTS, "figure2a", broken)
    with pytest.raises(ValueError, match="no such thing"):
        reproduce("figure2a", out=tmp_path, runs=2, processes=1)
    assert len(contents(tmp_path)["figure2a.csv"]) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wanted": "figure9"}, "there is no experiment 'figure9': choose all, or some of figure1"),
        ({"protocols": ["mine"]}, "there is no protocol 'mine': choose authors, corrected or both"),
        ({"runs": 0}, "runs=0, but at least one is needed"),
    ],
)
def test_bad_arguments_are_named(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        reproduce(**{"wanted": "figure1", "out": tmp_path, **options})
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'isotherm\[plot\]'"):
        reproduce("figure2a", out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_without_graphs_what_cannot_be_had_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ISOTHERM_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    names = ["table1", "table2", "table3", "table4", "figure4", "panel"]
    page = reproduce(names, out=tmp_path / "out", runs=1, processes=1)
    assert page.read_text().count("None of its graphs is at hand") == len(names)
    assert not (tmp_path / "out" / "runs").exists()


class TestCommand:
    def test_it_writes_a_report(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["reproduce", "figure1", "--out", str(tmp_path)]) == 0
        assert capsys.readouterr().out == f"The report is in {tmp_path / 'report.html'}\n"

    def test_an_error_is_one_sentence(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["reproduce", "figure9", "--out", str(tmp_path)]) == 2
        assert capsys.readouterr().err.startswith("isotherm: there is no experiment 'figure9'")

    def test_without_matplotlib_it_says_what_to_install(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        assert main(["reproduce", "figure2a", "--out", str(tmp_path)]) == 2
        assert capsys.readouterr().err == "isotherm: the report needs matplotlib: pip install 'isotherm[plot]'\n"

    def test_an_interruption_says_how_to_go_on(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(paper, "reproduce", interrupted)
        assert main(["reproduce", "--out", str(tmp_path)]) == 130
        assert "the same command" in capsys.readouterr().err


class Tags(HTMLParser):
    """Checks that tags nest, and collects links, anchors and pictures."""

    VOID = frozenset({"meta", "img"})

    def __init__(self) -> None:
        super().__init__()
        self.nested: list[str] = []
        self.links: list[str] = []
        self.anchors: list[str] = []
        self.images: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.links += [str(found["href"])] if "href" in found else []
        self.anchors += [str(found["id"])] if "id" in found else []
        self.images += [found] if tag == "img" else []
        if tag not in self.VOID:
            self.nested.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.nested.pop() == tag


@pytest.fixture
def tags(page: Path) -> Tags:
    tags = Tags()
    tags.feed(page.read_text())
    assert not tags.nested
    return tags


class TestReport:
    def test_the_page_needs_nothing_beside_it(self, page: Path, tags: Tags) -> None:
        text = page.read_text()
        assert "<script" not in text
        assert "url(" not in text
        assert all(str(image["src"]).startswith("data:image/svg+xml;base64,") for image in tags.images)
        assert all(image["alt"] for image in tags.images)

    def test_all_links_lead_to_a_section(self, tags: Tags) -> None:
        assert len(set(tags.anchors)) == len(tags.anchors)
        assert tags.links == [f"#{anchor}" for anchor in tags.anchors]

    def test_every_experiment_has_its_section(self, page: Path) -> None:
        text = page.read_text()
        assert all(EXPERIMENTS[name].title in text for name in QUICK)

    def test_the_markdown_has_the_same_sections_and_pictures(self, page: Path, tags: Tags) -> None:
        twin = (page.parent / "report.md").read_text()
        assert twin.count("\n## ") == len(tags.anchors)
        assert twin.count("![") == len(tags.images)
        for line in twin.splitlines():
            if line.startswith("!["):
                assert (page.parent / line.rpartition("(")[2].rstrip(")")).is_file()

    def test_tables_are_rectangles(self, page: Path) -> None:
        for block in (page.parent / "report.md").read_text().split("\n\n"):
            widths = {line.count(" | ") for line in block.splitlines() if line.startswith("| ")}
            assert len(widths) <= 1

    def test_pictures_are_well_formed_and_keep_their_words(self, page: Path) -> None:
        pictures = sorted((page.parent / "figures").iterdir())
        assert [p.stem for p in pictures] == sorted(
            ["figure1", "figure2a", "figure4-authors", "figure4-corrected", "panel", "table2", "table3", "table4"]
        )
        for picture in pictures:
            root = ElementTree.fromstring(picture.read_bytes())
            words = "".join(root.itertext())
            assert "temperature" in words if picture.stem == "figure1" else "F1" in words

    def test_stand_ins_and_verdicts_are_said(self, page: Path) -> None:
        twin = (page.parent / "report.md").read_text()
        assert "**Stand-ins.** A star marks" in twin
        assert "| stand-in: wikispeedia |" in twin
        assert "| WS*, centered |" in twin
        assert "| wikispeedia stands in for it |" in twin
        assert "within one published deviation" in twin
        assert "The lost classes, and what they cost" in twin
        assert "Where centering does not help" in twin

    def test_the_same_results_give_the_same_files(self, page: Path, data: Path) -> None:
        before = {path: path.read_bytes() for path in (page.parent / "figures").iterdir()}
        reproduce(QUICK, out=page.parent, data=data, runs=2, processes=1)
        assert {path: path.read_bytes() for path in (page.parent / "figures").iterdir()} == before
