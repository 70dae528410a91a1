"""The section on chance: what the entries of tables 2 to 4 are over many draws."""

from collections.abc import Mapping

import numpy as np

from isotherm.experiments.base import AUTHORS, CORRECTED
from isotherm.experiments.draws import case_of
from isotherm.experiments.real_graphs import column
from isotherm.experiments.report.document import Block, Section, Table, Text
from isotherm.experiments.report.entries import Entry, as_far, entries
from isotherm.experiments.report.published import TABLES
from isotherm.experiments.report.words import numbered, percent, plus_minus, signed
from isotherm.experiments.results import Results, Summary
from isotherm.experiments.scoring import ALL, LOST, UNREACHED

__all__ = ["chance_section", "in_short"]

UNLIKELY = 0.05


def chance_section(title: str, draws: Results, tables: Mapping[str, Results]) -> Section:
    """Every entry on the paper's own graphs, and how likely the published mean of ten is."""
    found = _drawn(draws, tables)
    blocks: list[Block] = [
        Text(
            "A mean of ten draws is itself a matter of chance. Here the same programs make ten times as many draws, on "
            "the paper's own graphs. The last column says in how many cases the mean of ten of them is as far from the "
            "mean of all as the published one (by bootstrap)."
        )
    ]
    if found:
        blocks += [_table(draws, found), Text(in_short(draws, tables))]
    gains = [row for name in ("table2", "table3") for row in _gains(name, draws)]
    if gains:
        header = ["table and graph", "many draws", "published", "difference", "unreached nodes"]
        caption = "Centered in the corrected protocol, over all nodes; an unreached node counts as wrong"
        blocks.append(Table(caption, header, gains))
    return Section(title, blocks)


def _table(draws: Results, found: list[tuple[str, Entry]]) -> Table:
    rows = []
    for name, entry in found:
        lost = draws.values(AUTHORS, case_of(name, entry.case), "", LOST)
        whole = entry.many[lost == 0] if len(lost) else lost
        rows.append(
            [
                f"{name}, {column(entry.case)}, {entry.rule}",
                f"{entry.measured.mean:.3f}",
                plus_minus(_summary(entry.many)),
                plus_minus(_summary(whole)),
                f"{entry.published.mean:.2f} ± {entry.published.std:.2f}",
                percent(as_far(entry.many, entry.published)),
            ]
        )
    header = ["entry", "ten draws", "many draws", "those that lose no class", "published", "as far off"]
    runs = numbered(len(found[0][1].many), "draw")
    return Table(f"Authors' protocol: ten draws, {runs}, and the published mean of ten", header, rows)


def in_short(draws: Results, tables: Mapping[str, Results]) -> str:
    """How many of the published means are unlikely."""
    found = _drawn(draws, tables)
    shares = [(name, entry, as_far(entry.many, entry.published)) for name, entry in found]
    unlikely = [
        f"{name}, {column(entry.case)}, {entry.rule} ({percent(share)})"
        for name, entry, share in shares
        if share < UNLIKELY
    ]
    how_many = f"{len(unlikely)} ({'; '.join(unlikely)})" if unlikely else "none"
    return (
        f"Of the {len(found)} published means of tables 2 to 4 on the paper's own graphs, {how_many} is further off "
        f"than 95 % of means of ten draws would be; by chance alone, {UNLIKELY * len(found):.0f} would."
    )


def _drawn(draws: Results, tables: Mapping[str, Results]) -> list[tuple[str, Entry]]:
    """All entries that were drawn many times, with the names of their tables."""
    known = {name: tables[name] for name in TABLES if name in tables}
    return [(name, entry) for name, own in known.items() for entry in entries(name, own, draws) if len(entry.many)]


def _gains(name: str, draws: Results) -> list[list[str]]:
    """The lines of a table in the corrected protocol."""
    rows = []
    for case in draws.cases(CORRECTED):
        graph = case.removeprefix(f"{name} ")
        published = TABLES[name].get((column(graph), "centered")) if graph != case else None
        summary = draws.summary(CORRECTED, case, "centered", ALL)
        if published and summary:
            unreached = percent(float(draws.values(CORRECTED, case, "", UNREACHED).mean()))
            numbers = [plus_minus(summary), f"{published.mean:.2f}", signed(summary.mean - published.mean), unreached]
            rows.append([f"{name}, {column(graph)}", *numbers])
    return rows


def _summary(values: np.ndarray) -> Summary | None:
    return Summary(float(values.mean()), float(values.std()), len(values)) if len(values) else None
