"""The documentation site: the home page leads to every page, and links lead somewhere; `make docs` builds it."""

import re
import runpy
import warnings
from fnmatch import fnmatch
from pathlib import Path

import pytest
from commands import EDGES, SEEDS
from tools.pages import examples

import isotherm
from isotherm.cli.app import app

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if page.parent.name != "reproduction")


def test_the_home_page_lists_every_page() -> None:
    listed = [
        (page.parent / line).relative_to(DOCS).as_posix()
        for page in PAGES
        for part in re.findall(r"```{toctree}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        for line in part.split()
    ]
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES} - {"index"}
    missing = [page for page in pages if not any(fnmatch(page, each) for each in listed)]
    assert not missing, "add it to the table of contents in docs/index.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("page", [*PAGES, *DOCS.parent.glob("*.md")], ids=lambda page: page.stem)
def test_no_page_has_both_sides_of_a_merge(page: Path) -> None:
    assert not re.search(r"^(<{7}|>{7}|={7}$)", page.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_files_of_the_project_exist(page: Path) -> None:
    named = re.findall(r"`((?:src|tests|native|benchmarks|tools)/[\w/.-]+)`", page.read_text(encoding="utf-8"))
    missing = [path for path in named if not (DOCS.parent / path).exists()]
    assert not missing


def test_the_reference_has_the_help_of_every_command() -> None:
    names = runpy.run_path(str(DOCS / "conf.py"))["command_names"]()
    assert names == sorted(name for name in app if not name.startswith("-"))


@pytest.mark.parametrize("name", isotherm.__all__)
def test_the_reference_has_every_public_name(name: str) -> None:
    reference = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    assert re.search(rf"^\.\. auto\w+:: {name}$", reference, re.MULTILINE)


@pytest.mark.parametrize("name", isotherm.__all__)
def test_the_example_of_a_public_name_works(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    example = re.findall(rf"^\| \[`{name}`\]\(#isotherm\.{name}\) \| .+ \| `(.+)` \|$", reference, re.MULTILINE)
    assert len(example) == 1
    monkeypatch.chdir(tmp_path)
    Path("edges.csv").write_text(EDGES)
    Path("seeds.csv").write_text(SEEDS)
    monkeypatch.setattr(isotherm, "explore", lambda *_: None)  # would open a browser
    names: dict[str, object] = {"warnings": warnings}
    with warnings.catch_warnings():
        exec(examples(reference)[0].code + example[0], names)
