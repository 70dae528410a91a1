"""The sections of tables 1 to 4, and the cost of the authors' mapping of columns to classes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from isotherm.paper.experiments import table1, table4
from isotherm.paper.report.numbers import percent, plus_minus, signed
from isotherm.paper.report.page import pictures
from isotherm.paper.report.page.document import Block, Picture, Section, Table
from isotherm.paper.report.published import DATASETS, TABLES
from isotherm.paper.report.texts import words
from isotherm.paper.report.verdicts import TOLERANCES, Verdict, entries, standard_errors
from isotherm.paper.running.experiment import AUTHORS, CORRECTED
from isotherm.paper.running.real_graphs import BOTH_SIDES, column, long_column, stands_in
from isotherm.paper.running.results import Results, Summary
from isotherm.paper.running.scoring import ALL, LOST, OTHERS, REACHED, SHIFTED, UNREACHED
from isotherm.study.datasets.catalogue import CATALOGUE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["gain_rows", "lost_section", "table1_section", "table4_section", "table_section"]


def table1_section(title: str, results: Results) -> Section:
    """The datasets, as published and as loaded."""
    rows = []
    for asked, entry in CATALOGUE.items():
        case = next((case for case in results.cases(table1.LOADED) if asked in (case, stands_in(case))), None)
        published = [f"{number:,}" for number in DATASETS[entry.short]]
        loaded = _counts(results, case) if case else [""] * len(published)
        pairs = [number for pair in zip(published, loaded, strict=True) for number in pair]
        which = f"stand-in: {case}" if case else "not at hand"
        if case == asked:
            which = "the paper's" if loaded == published else "other counts than the paper's"
        rows.append([f"{entry.short}: {entry.title}", *pairs, which])
    measures = ("nodes", "edges", "classes", "% labelled")
    header = ["graph", *(f"{name}, {part}" for name in measures for part in ("published", "loaded")), "which graph"]
    caption = "The datasets; the edges of undirected graphs count twice, as in the paper"
    return Section(title, [Table(caption, header, rows), *words("table1")])


def _counts(results: Results, case: str) -> list[str]:
    measures = (table1.NODES, table1.EDGES, table1.CLASSES, table1.LABELLED)
    return [f"{results.mean(table1.LOADED, case, '', measure):,.0f}" for measure in measures]


def table_section(name: str, title: str, results: Results) -> Section:
    """Table 2 or 3."""
    blocks: list[Block] = []
    if results.cases(AUTHORS):
        blocks += _compared(name, title, "macro-F1 over all nodes, columns taken for classes", results)
    if results.cases(CORRECTED):
        blocks.append(_corrected_table("macro-F1", results))
        if gains := gain_rows(name, results):
            header = ["graph", "centered, all nodes", "published", "difference", "unreached nodes"]
            caption = "What equilibrium and the right mapping gain over the published mean"
            blocks += [Table(caption, header, gains), *words("gain")]
    return Section(title, blocks)


def table4_section(title: str, results: Results) -> Section:
    """Table 4: one community against the rest."""
    blocks: list[Block] = []
    if results.cases(AUTHORS):
        blocks += _compared("table4", title, "F1 of the community over all nodes, mean of three communities", results)
    if results.cases(CORRECTED):
        blocks.append(_corrected_table("F1 of the community", results))
    return Section(title, [*blocks, _called_table(results), *words("table4")])


def _compared(name: str, title: str, score: str, results: Results) -> list[Block]:
    """Measured beside published, as a table and as a picture."""
    rows = [
        [
            f"{column(entry.case)}, {entry.rule}",
            plus_minus(entry.measured),
            plus_minus(entry.published, 2),
            signed(entry.measured.mean - entry.published.mean),
            "" if entry.verdict is Verdict.ELSEWHERE else f"{standard_errors(entry.measured, entry.published):.1f}",
            entry.verdict,
            f"{entry.case} stands in for it" if entry.verdict is Verdict.ELSEWHERE else entry.published.note,
        ]
        for entry in entries(name, results)
    ]
    header = ["graph and rule", "measured", "published", "difference", "standard errors", "verdict", "note"]
    shown = f"{title}, authors' protocol: mean and standard deviation of all runs, and the published mean beside it."
    table = Table(f"Authors' protocol: {score}", header, rows)
    return [table, *words("tables 2 to 4"), Picture(name, _dots(name, results), shown)]


def _dots(name: str, results: Results) -> "Figure":
    figure, (axes,) = pictures.panels(1, width=6.6)
    cases = results.cases(AUTHORS)
    for shift, rule in zip((-0.2, 0, 0.2), TOLERANCES, strict=True):
        own = [(cases.index(entry.case) + shift, entry) for entry in entries(name, results) if entry.rule == rule]
        pictures.curve(axes, rule, [(x, entry.measured) for x, entry in own], linestyle="none")
        pictures.hollow(axes, rule, [x + 0.08 for x, _ in own], [entry.published.mean for _, entry in own])
    axes.set_xticks(range(len(cases)), [long_column(case) for case in cases], fontsize=8.5)
    axes.set_ylabel("F1" if name == "table4" else "macro-F1", fontsize=8.5)
    axes.set_ylim(bottom=0)
    pictures.keys(figure, axes, published=True)
    return figure


def _corrected_table(score: str, results: Results) -> Table:
    """All rules on all graphs, over all nodes and over some."""
    rows = []
    for case in results.cases(CORRECTED):
        name = column(case) + (BOTH_SIDES if case.endswith(BOTH_SIDES) else "")
        for measure in (ALL, OTHERS, REACHED):
            scores = [results.summary(CORRECTED, case, rule, measure) for rule in pictures.ORDER]
            if any(scores):
                rows.append([name, measure, *map(plus_minus, scores)])
                name = ""
    caption = f"Corrected protocol: {score} at equilibrium, every class in its place"
    return Table(caption, ["graph", "over", *pictures.ORDER], rows)


def gain_rows(name: str, results: Results, prefix: str = "") -> list[list[str]]:
    """Centered in the corrected protocol against the published mean, on those cases with the prefix.

    Columns are the graph, the measured and the published mean, their difference and the share of unreached nodes.
    """
    rows = []
    for case in results.cases(CORRECTED):
        graph = case.removeprefix(prefix)
        published = TABLES[name].get((column(graph), "centered")) if case.startswith(prefix) else None
        measured = results.summary(CORRECTED, case, "centered", ALL)
        if published and measured:
            gain = signed(measured.mean - published.mean)
            unreached = percent(results.mean(CORRECTED, case, "", UNREACHED))
            rows.append([column(graph), plus_minus(measured), f"{published.mean:.2f}", gain, unreached])
    return rows


def _called_table(results: Results) -> Table:
    """How many nodes each rule calls members, and two facts that explain it."""
    rows = [
        [f"{column(case)}, {protocol}", *_called(results, protocol, case)]
        for protocol in (AUTHORS, CORRECTED)
        for case in results.cases(protocol)
    ]
    caption = "Nodes called members, for each true member (1 would be right)"
    header = ["graph and protocol", *pictures.ORDER, "edges that leave", "mean above its start"]
    return Table(caption, header, rows)


def _called(results: Results, protocol: str, case: str) -> list[str]:
    called = [results.summary(protocol, case, rule, table4.CALLED) for rule in pictures.ORDER]
    leaving, warmth = (
        np.concatenate([results.values(protocol, case, "", measure, x) for x in range(1, table4.COMMUNITIES + 1)])
        for measure in (table4.LEAVING, table4.WARMTH)
    )
    above = f"{np.count_nonzero(warmth > 1)} of {len(warmth)}" if protocol == AUTHORS else ""
    return [*map(_times, called), percent(float(leaving.mean())), above]


def _times(summary: Summary | None) -> str:
    return plus_minus(summary, 0 if summary and summary.mean >= 100 else 1 if summary and summary.mean >= 1 else 2)


def lost_section(results: Mapping[str, Results]) -> list[Section]:
    """The cost of the authors' mapping on each graph; no section if tables 2 and 3 were not run."""
    rows = [
        [f"{name}, {long_column(case)}", *_cost(results[name], case)]
        for name in ("table2", "table3")
        if name in results
        for case in results[name].cases(AUTHORS)
    ]
    header = ["table and graph", "draws that lose a class", "classes lost", "as published", "right mapping", "cost"]
    caption = "Macro-F1 of the centered rule, authors' protocol, with their mapping and with the right one"
    title = "The lost classes, and what they cost"
    return [Section(title, [*words("lost classes"), Table(caption, header, rows)])] if rows else []


def _cost(results: Results, case: str) -> list[str]:
    lost = results.values(AUTHORS, case, "", LOST)
    shifted, right = (results.summary(AUTHORS, case, "centered", measure) for measure in (SHIFTED, ALL))
    gap = shifted.mean - right.mean if shifted and right else 0.0
    counts = [f"{np.count_nonzero(lost)} of {len(lost)}", f"{lost.mean():.1f}"]
    return [*counts, plus_minus(shifted), plus_minus(right), signed(gap)]
