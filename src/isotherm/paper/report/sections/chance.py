"""The section on chance: the entries of tables 2 to 4 over many draws."""

from collections.abc import Mapping
from typing import NamedTuple

from isotherm.arrays import Doubles
from isotherm.paper.experiments.draws import case_of
from isotherm.paper.report.numbers import percent, plus_minus
from isotherm.paper.report.page.document import Block, Section, Table
from isotherm.paper.report.published import TABLES
from isotherm.paper.report.sections.tables import gain_rows
from isotherm.paper.report.statistics import as_far
from isotherm.paper.report.texts import words
from isotherm.paper.report.verdicts import Entry, entries, measure_of
from isotherm.paper.running.experiment import AUTHORS
from isotherm.paper.running.real_graphs import column
from isotherm.paper.running.results import Results, Summary
from isotherm.paper.running.scoring import LOST

__all__ = ["UNUSUAL", "Drawn", "chance_section", "drawn_often"]

UNUSUAL = 0.05  # share below which a published mean is unusual


class Drawn(NamedTuple):
    """An entry of a table with its scores over many draws."""

    table: str
    entry: Entry
    many: Doubles
    lost: Doubles  # number of lost classes in each draw; empty for table 4

    @property
    def share(self) -> float:
        """How often a mean of ten draws is as far off as the published one."""
        return as_far(self.many, self.entry.published)


def chance_section(title: str, draws: Results, tables: Mapping[str, Results]) -> Section:
    """Every entry on the paper's own graphs, and how usual the published mean of ten draws is."""
    blocks: list[Block] = [*words("chance")]
    if found := drawn_often(draws, tables):
        header = ["entry", "ten draws", "many draws", "those that lose no class", "published", "as far off"]
        caption = f"Authors' protocol: ten draws, {len(found[0].many)} draws, and the published mean of ten"
        blocks.append(Table(caption, header, [_row(drawn) for drawn in found]))
    gains = [
        [f"{name}, {graph}", *numbers]
        for name in ("table2", "table3")
        for graph, *numbers in gain_rows(name, draws, case_of(name, ""))
    ]
    if gains:
        header = ["table and graph", "many draws", "published", "difference", "unreached nodes"]
        caption = "Centered in the corrected protocol, over all nodes; an unreached node counts as wrong"
        blocks.append(Table(caption, header, gains))
    return Section(title, blocks)


def drawn_often(draws: Results, tables: Mapping[str, Results]) -> list[Drawn]:
    """All entries that were drawn many times."""
    found = []
    for name in TABLES:
        for entry in entries(name, tables.get(name, Results())):
            case = case_of(name, entry.case)
            many = draws.values(AUTHORS, case, entry.rule, measure_of(name))
            if len(many):
                found.append(Drawn(name, entry, many, draws.values(AUTHORS, case, "", LOST)))
    return found


def _row(drawn: Drawn) -> list[str]:
    whole = drawn.many[drawn.lost == 0] if len(drawn.lost) else drawn.lost
    return [
        f"{drawn.table}, {column(drawn.entry.case)}, {drawn.entry.rule}",
        f"{drawn.entry.measured.mean:.3f}",
        plus_minus(Summary.of(drawn.many)),
        plus_minus(Summary.of(whole)),
        plus_minus(drawn.entry.published, 2),
        percent(drawn.share),
    ]
