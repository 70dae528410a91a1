"""The report: one HTML page that needs nothing beside it, and a Markdown twin with its pictures in a folder."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from isotherm.experiments.base import AUTHORS
from isotherm.experiments.catalogue import EXPERIMENTS
from isotherm.experiments.report import communities, curves, opening, panel, sbm, tables
from isotherm.experiments.report.document import Document, Section, Text
from isotherm.experiments.report.html import to_html
from isotherm.experiments.report.markdown import to_markdown
from isotherm.experiments.report.opening import Conditions
from isotherm.experiments.report.plots import svg
from isotherm.experiments.results import Results

__all__ = ["Conditions", "build_report", "write_report"]

FIGURES = "figures"
NOTHING = "None of its graphs is at hand. `isotherm datasets list` says where they come from."

SECTIONS: dict[str, Callable[[str, Results], Section]] = {
    "figure1": opening.figure1_section,
    **{name: partial(curves.block_section, name) for name in ("figure2a", "figure2b", "figure3a", "figure3b")},
    "table1": tables.table1_section,
    "table2": partial(tables.table_section, "table2"),
    "table3": partial(tables.table_section, "table3"),
    "table4": communities.table4_section,
    "figure4": curves.figure4_section,
    "panel": panel.panel_section,
    "sbm": sbm.sbm_section,
}


def build_report(results: Mapping[str, Results], conditions: Conditions) -> Document:
    """The document, from the results of some or all experiments."""
    sections = [opening.short_section(results), opening.protocols_section()]
    known = {name: each for name, each in results.items() if each.finished}
    lost = {name: each for name, each in known.items() if name in ("table2", "table3") and each.cases(AUTHORS)}
    for name, build in SECTIONS.items():
        if name == "panel":  # what follows goes beyond the paper
            sections += [tables.lost_section(lost)] if lost else []
            sections += [panel.helpless_section(known["panel"])] if "panel" in known else []
        if name in results:
            title = EXPERIMENTS[name].title
            sections.append(build(title, known[name]) if name in known else Section(title, [Text(NOTHING)]))
    return Document("The paper, reproduced", [*sections, opening.run_section(conditions)])


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
