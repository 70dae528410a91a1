"""The sections on tables 1 to 4, on chance, on the panel of graphs, and on what the tables and the panel show.

What they show: the cost of the authors' mapping of columns to classes, and where centering does not help.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from scipy.stats import rankdata

from isotherm.arrays import Doubles
from isotherm.paper import pictures
from isotherm.paper.document import Block, Picture, Section, Table, percent, plus_minus, signed, words
from isotherm.paper.experiment import AUTHORS, CORRECTED, Results, Summary
from isotherm.paper.graph_experiments import (
    BOTH_SIDES,
    CALLED,
    COMMUNITIES,
    COUNTS,
    LEAVING,
    LOADED,
    PANEL_OPTIONS,
    WARMTH,
    case_of,
    column,
    long_column,
    stands_in,
)
from isotherm.paper.published import DATASETS, TABLES
from isotherm.paper.scoring import ALL, LOST, OTHERS, REACHED, SHIFTED, UNREACHED
from isotherm.paper.verdicts import (
    TOLERANCES,
    Comparison,
    Entry,
    Verdict,
    as_far,
    compare_all,
    entries,
    measure_of,
    standard_errors,
)
from isotherm.study.datasets.catalogue import CATALOGUE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNUSUAL = 0.05  # share below which a published mean is unusual
SWEPT, SETTLED = PANEL_OPTIONS
TESTED = "p of Wilcoxon's signed-rank test, corrected after Holm"

Scores: TypeAlias = dict[str, Doubles]  # by rule, the mean over runs on each graph


def table1_section(title: str, results: Results) -> Section:
    """The datasets, as published and as loaded."""
    rows = []
    for asked, entry in CATALOGUE.items():
        case = next((case for case in results.cases(LOADED) if asked in (case, stands_in(case))), None)
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
    return [f"{results.mean(LOADED, case, '', measure):,.0f}" for measure in COUNTS]


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
    """Measured and published numbers, as a table and as a picture."""
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
    shown = f"{title}, authors' protocol: mean and standard deviation of all runs, and the published mean."
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
    called = [results.summary(protocol, case, rule, CALLED) for rule in pictures.ORDER]
    leaving, warmth = (
        np.concatenate([results.values(protocol, case, "", measure, x) for x in range(1, COMMUNITIES + 1)])
        for measure in (LEAVING, WARMTH)
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
        blocks.append(Table(caption, header, [_drawn_row(drawn) for drawn in found]))
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


def _drawn_row(drawn: Drawn) -> list[str]:
    whole = drawn.many[drawn.lost == 0] if len(drawn.lost) else drawn.lost
    return [
        f"{drawn.table}, {column(drawn.entry.case)}, {drawn.entry.rule}",
        f"{drawn.entry.measured.mean:.3f}",
        plus_minus(Summary.of(drawn.many)),
        plus_minus(Summary.of(whole)),
        plus_minus(drawn.entry.published, 2),
        percent(drawn.share),
    ]


def panel_section(title: str, results: Results) -> Section:
    """Means and ranks, a picture, tests, and the numbers of every graph."""
    cases = results.cases(SETTLED)
    families = [case.partition("_")[0] for case in cases]
    scores = {way: _panel_scores(results, way) for way in PANEL_OPTIONS}
    pairs = {
        way: compare_all({f"{a} against {b}": (own[a], own[b]) for a, b in combinations(own, 2)}, families)
        for way, own in scores.items()
    }
    ways = {rule: (scores[SETTLED][rule], scores[SWEPT][rule]) for rule in pictures.ORDER}
    caption = f"{title}, at equilibrium: each point is a graph; above the line the rule of the upright axis is ahead."
    return Section(
        title,
        [
            *words("panel"),
            _means_table(f"Mean over {len(cases)} graphs of {len(set(families))} families", scores),
            Picture("panel", _panel_picture(scores[SETTLED]), caption),
            *(_tests_table(f"Each pair of rules, {way}", "pair", pairs[way]) for way in (SETTLED, SWEPT)),
            _tests_table("Equilibrium against ten sweeps", "rule", compare_all(ways, families)),
            _graphs_table(cases, scores),
        ],
    )


def panel_summary(results: Results) -> list[str]:
    """The mean of each rule at equilibrium."""
    means = [f"{own.mean():.3f}" for own in _panel_scores(results, SETTLED).values()]
    return [f"Panel, mean of {len(results.cases(SETTLED))} graphs, non-seed nodes", *means]


def _panel_scores(results: Results, way: str) -> Scores:
    cases = results.cases(SETTLED)
    return {rule: np.array([results.mean(way, case, rule, OTHERS) for case in cases]) for rule in pictures.ORDER}


def _means_table(caption: str, scores: dict[str, Scores]) -> Table:
    ranks = {way: rankdata(-np.stack(list(own.values())), axis=0).mean(axis=1) for way, own in scores.items()}
    rows = [
        [rule, *(f"{number:#.3g}" for way, own in scores.items() for number in (own[rule].mean(), ranks[way][place]))]
        for place, rule in enumerate(pictures.ORDER)
    ]
    header = ["rule", *(f"{way}, {what}" for way in scores for what in ("macro-F1", "rank"))]
    return Table(f"{caption}, and mean rank among the four rules (1 is best)", header, rows)


def _tests_table(caption: str, what: str, compared: dict[str, Comparison]) -> Table:
    rows = [
        [
            name,
            *map(str, (each.wins, each.ties, each.losses)),
            signed(each.difference),
            *("p < 0.001" if p < 0.001 else f"p = {p:.3f}" for p in (each.p, each.p_families)),
        ]
        for name, each in compared.items()
    ]
    header = [what, "graphs, won", "graphs, tied", "graphs, lost", "mean difference", "over graphs", "over families"]
    return Table(f"{caption} ({TESTED})", header, rows)


def _panel_picture(scores: Scores) -> "Figure":
    figure, axes = pictures.panels(2, height=3.7)
    for each, (x, y) in zip(axes, (("vanilla", "centered"), ("centered", "relative")), strict=True):
        each.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
        look = pictures.style(y) | {"linestyle": "none", "markersize": 4.5, "markerfacecolor": "none"}
        each.plot(scores[x], scores[y], **look)
        each.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        each.set_xlabel(f"macro-F1, {x}", fontsize=8.5)
        each.set_ylabel(f"macro-F1, {y}", fontsize=8.5)
        each.grid(color="0.9", linewidth=0.6)
    return figure


def _graphs_table(cases: list[str], scores: dict[str, Scores]) -> Table:
    columns = {f"{way}, {rule}": column for way, own in scores.items() for rule, column in own.items()}
    best = np.max(list(columns.values()), axis=0)
    rows = [
        [case, *(f"**{own[i]:.3f}**" if own[i] == best[i] else f"{own[i]:.3f}" for own in columns.values())]
        for i, case in enumerate(cases)
    ]
    return Table("Every graph of the panel, macro-F1; the best in bold", ["graph", *columns], rows, folded=True)


def not_helping_section(results: Mapping[str, Results]) -> list[Section]:
    """Where another rule of the paper is clearly ahead of centered; no section if nothing was run that could tell."""
    tried = [
        (name, protocol, case, measure)
        for name, protocol, measure in (("table4", CORRECTED, ALL), ("panel", SETTLED, OTHERS))
        if name in results
        for case in results[name].cases(protocol)
    ]
    rows = [
        [f"{name}, {column(case) if name == 'table4' else case}", rule, *numbers]
        for name, protocol, case, measure in tried
        for rule in ("vanilla", "weighted")
        if (numbers := _ahead(results[name], protocol, case, rule, measure))
    ]
    header = ["where", "rule ahead", "its score", "centered", "difference"]
    table = Table("Rules ahead of centered at equilibrium, by more than two standard errors", header, rows)
    return [Section("Where centering does not help", [*words("not helping"), table])] if tried else []


def _ahead(results: Results, protocol: str, case: str, rule: str, measure: str) -> list[str]:
    """The scores of a rule and of centered, and their difference, if the rule is clearly ahead."""
    own, centered = (results.values(protocol, case, each, measure) for each in (rule, "centered"))
    gap = own - centered
    if len(gap) < 2 or gap.mean() <= 2 * gap.std(ddof=1) / np.sqrt(len(gap)):
        return []
    return [plus_minus(Summary.of(own)), plus_minus(Summary.of(centered)), signed(float(gap.mean()))]
