"""The section of the panel, and the one on where centering does not help."""

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.stats import rankdata

from isotherm.arrays import Doubles
from isotherm.paper.experiments.panel import OPTIONS
from isotherm.paper.report.numbers import plus_minus, signed
from isotherm.paper.report.page import pictures
from isotherm.paper.report.page.document import Picture, Section, Table
from isotherm.paper.report.statistics import Comparison, compare_all
from isotherm.paper.report.texts import words
from isotherm.paper.running.experiment import CORRECTED
from isotherm.paper.running.real_graphs import column
from isotherm.paper.running.results import Results, Summary
from isotherm.paper.running.scoring import ALL, OTHERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["not_helping_section", "panel_section", "summary_row"]

Scores: TypeAlias = dict[str, Doubles]  # by rule, the mean over runs on each graph
SWEPT, SETTLED = OPTIONS
TESTED = "p of Wilcoxon's signed-rank test, corrected after Holm"


def panel_section(title: str, results: Results) -> Section:
    """Means and ranks, a picture, tests, and the numbers of every graph."""
    cases = results.cases(SETTLED)
    families = [case.partition("_")[0] for case in cases]
    scores = {way: _scores(results, way) for way in OPTIONS}
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
            Picture("panel", _picture(scores[SETTLED]), caption),
            *(_tests_table(f"Each pair of rules, {way}", "pair", pairs[way]) for way in (SETTLED, SWEPT)),
            _tests_table("Equilibrium against ten sweeps", "rule", compare_all(ways, families)),
            _graphs_table(cases, scores),
        ],
    )


def summary_row(results: Results) -> list[str]:
    """The mean of each rule at equilibrium."""
    means = [f"{own.mean():.3f}" for own in _scores(results, SETTLED).values()]
    return [f"Panel, mean of {len(results.cases(SETTLED))} graphs, non-seed nodes", *means]


def _scores(results: Results, way: str) -> Scores:
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


def _picture(scores: Scores) -> "Figure":
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
