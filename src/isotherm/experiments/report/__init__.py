"""The report: one HTML page that needs nothing beside it, and a Markdown twin with its pictures in a folder."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from isotherm.experiments.base import AUTHORS
from isotherm.experiments.catalogue import EXPERIMENTS
from isotherm.experiments.report import (
    chance,
    communities,
    curves,
    figure4,
    helpless,
    opening,
    panel,
    sbm,
    summary,
    tables,
)
from isotherm.experiments.report.document import Document, Section, Text
from isotherm.experiments.report.html import to_html
from isotherm.experiments.report.markdown import to_markdown
from isotherm.experiments.report.opening import Conditions
from isotherm.experiments.report.plots import svg
from isotherm.experiments.report.published import TABLES
from isotherm.experiments.results import Results

__all__ = ["Conditions", "build_report", "write_report"]

FIGURES = "figures"
NOTHING = "None of its graphs is at hand. `isotherm datasets list` says where they come from."


def build_report(results: Mapping[str, Results], conditions: Conditions) -> Document:
    """The document, from the results of some or all experiments."""
    known = {name: each for name, each in results.items() if each.finished}
    sections = [summary.short_section(known), opening.protocols_section()]
    for name, build in _sections(known).items():
        if name == "panel":  # what follows goes beyond the paper
            sections += _between(known)
        if name in results:
            title = EXPERIMENTS[name].title
            sections.append(build(title, known[name]) if name in known else Section(title, [Text(NOTHING)]))
    return Document("The paper, reproduced", [*sections, opening.run_section(conditions)])


def _sections(known: Mapping[str, Results]) -> dict[str, Callable[[str, Results], Section]]:
    """What makes the section of each experiment, in the order of the report."""
    draws, own = known.get("draws"), {name: known[name] for name in TABLES if name in known}
    return {
        "figure1": opening.figure1_section,
        **{name: partial(curves.block_section, name) for name in ("figure2a", "figure2b", "figure3a", "figure3b")},
        "table1": tables.table1_section,
        "table2": partial(tables.table_section, "table2", draws=draws),
        "table3": partial(tables.table_section, "table3", draws=draws),
        "table4": partial(communities.table4_section, draws=draws),
        "figure4": figure4.figure4_section,
        "draws": partial(chance.chance_section, tables=own),
        "panel": panel.panel_section,
        "sbm": sbm.sbm_section,
    }


def _between(known: Mapping[str, Results]) -> list[Section]:
    """What several experiments tell together."""
    lost = {name: known[name] for name in ("table2", "table3") if name in known and known[name].cases(AUTHORS)}
    helps_not = helpless.helpless_section(known)
    return [*([tables.lost_section(lost)] if lost else []), *([helps_not] if helps_not else [])]


def write_report(document: Document, folder: Path) -> Path:
    """Write ``report.html``, ``report.md`` and the pictures; gives the path of the page."""
    pictures = {picture.name: svg(picture.figure) for picture in document.pictures}
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    for name, content in pictures.items():
        _write(folder / FIGURES / f"{name}.svg", content)
    _write(folder / "report.md", to_markdown(document, FIGURES).encode())
    page = folder / "report.html"
    _write(page, to_html(document, pictures).encode())
    return page


def _write(path: Path, content: bytes) -> None:
    """Beside the target, then renamed: a reader never sees half a file."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)
