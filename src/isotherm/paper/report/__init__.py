"""The report: results come in, ``report.html``, ``report.md`` and the pictures go out.

`sections/` makes the tables and pictures of each experiment; its words are written by hand, in texts.md. `verdicts.py`
compares what was measured with what `published.py` holds, and `page/` writes the document down. Read this file first,
then `sections/figures.py`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from isotherm.files import writing
from isotherm.paper.experiments import EXPERIMENTS
from isotherm.paper.report.page.document import Document, Section
from isotherm.paper.report.page.html import to_html
from isotherm.paper.report.page.markdown import to_markdown
from isotherm.paper.report.page.pictures import svg
from isotherm.paper.report.published import CURVES
from isotherm.paper.report.sections import chance, figures, panel, sbm, summary, tables
from isotherm.paper.report.sections.summary import Conditions
from isotherm.paper.report.texts import words
from isotherm.paper.running.results import Results

__all__ = ["FIGURES", "Conditions", "build_report", "write_report"]

FIGURES = "figures"

SECTIONS: dict[str, Callable[[str, Results], Section]] = {
    "figure1": figures.figure1_section,
    **{name: partial(figures.block_section, name) for name in CURVES},
    "table1": tables.table1_section,
    "table2": partial(tables.table_section, "table2"),
    "table3": partial(tables.table_section, "table3"),
    "table4": tables.table4_section,
    "figure4": figures.figure4_section,
    "panel": panel.panel_section,
    "sbm": sbm.sbm_section,
}


def build_report(results: Mapping[str, Results], conditions: Conditions) -> Document:
    """The document, from the results of some or all experiments."""
    known = {name: each for name, each in results.items() if each.finished}
    makers: dict[str, Callable[[str, Results], Section]] = {
        **SECTIONS,
        "draws": partial(chance.chance_section, tables=known),
    }
    sections = [summary.summary_section(known), Section("The two protocols", words("protocols"))]
    for name, experiment in EXPERIMENTS.items():
        if name == "panel":  # here the paper's own experiments end
            sections += [*tables.lost_section(known), *panel.not_helping_section(known)]
        if name in known:
            sections.append(makers[name](experiment.title, known[name]))
        elif name in results:
            sections.append(Section(experiment.title, words("no graphs")))
    return Document("The paper, reproduced", [*sections, summary.run_section(conditions)])


def write_report(document: Document, folder: Path) -> Path:
    """Write ``report.html``, ``report.md`` and the pictures; return the path of the page."""
    pictures = {picture.name: svg(picture.figure) for picture in document.pictures}
    page = folder / "report.html"
    contents = {folder / FIGURES / f"{name}.svg": content for name, content in pictures.items()}
    contents[folder / "report.md"] = to_markdown(document, FIGURES).encode()
    contents[page] = to_html(document, pictures).encode()
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    for path, content in contents.items():
        with writing(str(path), force=True) as file:
            file.write(content)
    return page
