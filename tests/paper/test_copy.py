"""The report in docs/reproduction is what the code makes of the scores stored next to it."""

import importlib.util
import re
from base64 import b64decode
from functools import cache
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from isotherm.paper.document import FIGURES, Document, Table, to_html
from isotherm.paper.pictures import svg
from isotherm.paper.runner import EXPERIMENTS

COPY = Path(__file__).parents[2] / "docs" / "reproduction"
LAST = "How it was run"  # the one section that depends on the machine


@cache
def refresh() -> ModuleType:
    spec = importlib.util.spec_from_file_location("refresh", COPY / "refresh.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def document() -> Document:
    return refresh().report()


@pytest.fixture(scope="module")
def pictures(document: Document) -> dict[str, bytes]:
    return {picture.name: svg(picture.figure) for picture in document.pictures}


def words(picture: bytes) -> list[str]:
    """All text of a picture, in order."""
    return [
        "".join(text.itertext()) for text in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")
    ]


def without_pictures(page: str) -> str:
    return re.sub(r"base64,[^\"]*", "", page).rpartition("<h2")[0]


def test_the_markdown_is_current(document: Document) -> None:
    said = (COPY / "report.md").read_text(encoding="utf-8").partition(f"## {LAST}")[0]
    assert said == str(document).partition(f"## {LAST}")[0]
    assert len(said) > 30_000


def test_the_page_is_current(document: Document, pictures: dict[str, bytes]) -> None:
    page = (COPY / "report.html").read_text(encoding="utf-8")
    assert without_pictures(page) == without_pictures(to_html(str(document), pictures))
    embedded = [b64decode(code) for code in re.findall(r'base64,([^"]*)"', page)]
    assert embedded == [(COPY / FIGURES / f"{name}.svg").read_bytes() for name in pictures]


def test_the_pictures_are_current(pictures: dict[str, bytes]) -> None:
    assert {path.stem for path in (COPY / FIGURES).iterdir()} == set(pictures)
    for name, picture in pictures.items():
        assert words((COPY / FIGURES / f"{name}.svg").read_bytes()) == words(picture), name


def test_the_first_picture_is_current() -> None:
    drawn = words(refresh().summary_picture(refresh().kept()))
    assert words((COPY / "summary.svg").read_bytes()) == drawn
    assert "tables 2 to 4: 18 entries" in drawn


def test_all_ten_runs_of_all_experiments_are_kept() -> None:
    kept = refresh().kept()
    assert set(kept) == set(EXPERIMENTS)
    for name, results in kept.items():
        experiment = EXPERIMENTS[name]
        runs = {setting: 0 for setting, _ in results.finished}
        for setting, _ in results.finished:
            runs[setting] += 1
        assert set(runs.values()) == {10 * experiment.times if experiment.repeated else 1}, name


def test_packing_keeps_six_digits_and_whole_counts_and_gives_the_same_bytes() -> None:
    text = "protocol,case,run,value\nauthors,cora,0,0.123456789\nauthors,cora,0,12345678.0\n"
    packed = refresh().pack(text)
    assert packed == refresh().pack(text)
    assert refresh().gzip.decompress(packed).splitlines()[1:] == [
        b"authors,cora,0,0.123457",
        b"authors,cora,0,12345678",
    ]


def test_the_papers_own_graphs_have_its_counts(document: Document) -> None:
    rows = [row for section in document.sections for t in section.blocks if isinstance(t, Table) for row in t.rows]
    own = [row for row in rows if row[-1] == "the paper's"]
    assert [row[0].partition(":")[0] for row in own] == ["CO", "CS", "DBLP", "Amazon"]
    assert all(row[1:-1:2] == row[2:-1:2] for row in own)


def test_the_copy_is_small() -> None:
    files = [path for path in COPY.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in files) < 2_000_000
