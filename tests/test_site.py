"""The documentation site: the home page leads to every page, and links lead somewhere; `make docs` builds it."""

import re
import runpy
from pathlib import Path

import pytest

import isotherm
from isotherm.cli.app import app

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if page.parent.name != "reproduction")


def listed(page: str) -> set[str]:
    """The pages in the tables of contents of a page, and of these."""
    file = DOCS / f"{page}.md"
    parts = re.findall(r"```{toctree}\n(.*?)```", file.read_text(encoding="utf-8"), re.DOTALL) if file.exists() else []
    inside = file.parent.relative_to(DOCS)
    names = {(inside / line).as_posix() for part in parts for line in part.split()}
    return names.union(*map(listed, names))


def test_the_home_page_lists_every_page() -> None:
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES} - {"index"}
    assert pages <= listed("index"), "add it to a table of contents, such as that of docs/index.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not missing


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
