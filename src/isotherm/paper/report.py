"""The report: results come in, ``report.html``, ``report.md`` and the pictures go out.

`sections.py` makes the tables and pictures of each experiment. Here are the first section, with the verdicts counted
and the mean score of each rule, and the last, on how it was run.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, TypeAlias

from isotherm import kernels
from isotherm.files import writing
from isotherm.paper import figure1, sections
from isotherm.paper.document import FIGURES, Block, Document, Section, Table, to_html, words
from isotherm.paper.experiment import AUTHORS, CORRECTED, Results
from isotherm.paper.graph_experiments import BOTH_SIDES, column, stands_in
from isotherm.paper.pictures import ORDER, svg
from isotherm.paper.runner import EXPERIMENTS
from isotherm.paper.scoring import ALL
from isotherm.paper.verdicts import CURVES, TABLES, Verdict, curve_verdicts, ends, entries

Sections: TypeAlias = dict[str, Callable[[str, Results], Section]]  # by experiment

SECTIONS: Sections = {
    "figure1": sections.figure1_section,
    **{name: partial(sections.block_section, name) for name in CURVES},
    "table1": sections.table1_section,
    "table2": partial(sections.table_section, "table2"),
    "table3": partial(sections.table_section, "table3"),
    "table4": sections.table4_section,
    "figure4": sections.figure4_section,
    "panel": sections.panel_section,
    "sbm": sections.sbm_section,
}


class Conditions(NamedTuple):
    """How the runs were made."""

    runs: int
    seed: int
    processes: int


def build_report(results: Mapping[str, Results], conditions: Conditions) -> Document:
    """The document, from the results of some or all experiments."""
    known = {name: each for name, each in results.items() if each.finished}
    makers: Sections = {**SECTIONS, "draws": partial(sections.chance_section, tables=known)}
    parts = [summary_section(known), Section("The two protocols", words("protocols"))]
    for name, experiment in EXPERIMENTS.items():
        if name == "panel":  # here the paper's own experiments end
            parts += [*sections.lost_section(known), *sections.not_helping_section(known)]
        if name in known:
            parts.append(makers[name](experiment.title, known[name]))
        elif name in results:
            parts.append(Section(experiment.title, words("no graphs")))
    rows = [
        ["isotherm", version("isotherm")],
        ["kernels", kernels.description().partition(",")[0]],
        ["runs of each setting", str(conditions.runs)],
        ["random state", str(conditions.seed)],
        ["processes, of one thread each", str(conditions.processes)],
    ]
    last = Section("How it was run", [Table("The conditions", ["", "this report"], rows), *words("run")])
    return Document("The paper, reproduced", [*parts, last])


def write_report(document: Document, folder: Path) -> Path:
    """Write ``report.html``, ``report.md`` and the pictures; return the path of the page."""
    pictures = {picture.name: svg(picture.figure) for picture in document.pictures}
    page = folder / "report.html"
    contents = {folder / FIGURES / f"{name}.svg": content for name, content in pictures.items()}
    contents[folder / "report.md"] = str(document).encode()
    contents[page] = to_html(str(document), pictures).encode()
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    for path, content in contents.items():
        with writing(str(path), force=True) as file:
            file.write(content)
    return page


def summary_section(results: Mapping[str, Results]) -> Section:
    """What a reader should know before all the numbers."""
    blocks: list[Block] = [*words("in short")]
    if rows := [row for name in results for row in _verdict_rows(name, results)]:
        header = ["experiment", "compared", "verdicts"]
        blocks.append(Table("The authors' protocol against the published numbers", header, rows))
    cases = {case for name, each in results.items() for case in each.cases(AUTHORS) if name != "draws"}
    if any(stands_in(case) for case in cases):
        blocks += words("stand-ins")
    if cases:
        blocks += words("mistakes")
    if scores := _score_rows(results):
        caption = "Each rule at equilibrium; F1 or macro-F1 over all nodes, unless it says otherwise"
        blocks += [*words("equilibrium"), Table(caption, ["experiment", *ORDER], scores)]
    return Section("In short", blocks)


def _verdict_rows(name: str, results: Mapping[str, Results]) -> list[list[str]]:
    """The row of an experiment, if there is anything to compare."""
    own, label = results[name], EXPERIMENTS[name].title.partition(":")[0]
    if name == "figure1":
        wrong = own.mean("two seeds", "Karate Club", "centered", figure1.WRONG_NODES)
        mark = (Verdict.WITHIN if wrong == 1 else Verdict.OUTSIDE)[0]
        return [[label, "wrong nodes, published: 1", f"{mark} {wrong:.0f}"]]
    if not own.cases(AUTHORS):
        return []
    if name in CURVES:
        curves = curve_verdicts(name, own).values()
        tolerance = f"their tolerance, at most {max(curve.distance for curve in curves):.3f} off"
        compared, verdicts = _counted([curve.verdict for curve in curves], "curves")
        return [[label, compared, verdicts.replace("one published deviation", tolerance)]]
    if name in TABLES:
        return [[label, *_counted([entry.verdict for entry in entries(name, own)], "entries")]]
    if name == "figure4":
        compared, verdicts = _counted([end.verdict for end in ends(own)], "ends of curves")
        return [[label, compared, verdicts.replace("published deviation", "deviation of the runs")]]
    if name == "draws" and (shares := [drawn.share for drawn in sections.drawn_often(own, results)]):
        unusual = sum(share < sections.UNUSUAL for share in shares)
        return [[label, f"{len(shares)} entries over many draws", f"{unusual} of the published means unusual"]]
    return []


def _counted(verdicts: list[Verdict], things: str) -> list[str]:
    """How many things were compared, and how often each verdict was given.

    >>> _counted([Verdict.WITHIN, Verdict.OUTSIDE, Verdict.WITHIN], "entries")
    ['3 entries', '✓ 2 within one published deviation, ✗ 1 outside']
    """
    counts = Counter(verdicts)
    stand_ins = counts.pop(Verdict.ELSEWHERE, 0)
    given = [each.replace(" ", f" {counts[each]} ", 1) for each in Verdict if counts[each]]
    return [f"{counts.total()} {things}{f', and {stand_ins} on stand-ins' if stand_ins else ''}", ", ".join(given)]


def _score_rows(results: Mapping[str, Results]) -> list[list[str]]:
    """The mean score of each rule in the corrected protocol, and beyond the paper."""
    rows = []
    for name in filter(results.__contains__, TABLES):
        for case in results[name].cases(CORRECTED):
            if not stands_in(case) and not case.endswith(BOTH_SIDES):
                means = [f"{results[name].mean(CORRECTED, case, rule, ALL):.3f}" for rule in ORDER]
                rows.append([f"{EXPERIMENTS[name].title.partition(':')[0]}, {column(case)}", *means])
    if "panel" in results:
        rows.append(sections.panel_summary(results["panel"]))
    if "sbm" in results:
        rows.append(sections.sbm_summary(results["sbm"]))
    return rows
