"""The section of the panel, and where centering does not help."""

from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.stats import rankdata

from isotherm.experiments.panel import OPTIONS
from isotherm.experiments.report import plots
from isotherm.experiments.report.comparison import Comparison, Floats, compare, holm, p_words
from isotherm.experiments.report.document import Picture, Section, Table, Text
from isotherm.experiments.report.words import plus_minus, signed
from isotherm.experiments.results import Results
from isotherm.experiments.scoring import OTHERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["helpless_section", "panel_section"]

Scores: TypeAlias = dict[str, Floats]  # of each rule, its mean over runs on each graph
SWEPT, SETTLED = OPTIONS


def panel_section(title: str, results: Results) -> Section:
    """Means, ranks, wins, tests, a picture, a conclusion and every graph's numbers."""
    cases = results.cases(SETTLED)
    families = [case.partition("_")[0] for case in cases]
    scores = {way: _scores(results, way) for way in OPTIONS}
    settled = scores[SETTLED]
    words = (
        f"{len(cases)} graphs of {len(set(families))} families, all with one label for each node and below 50,000 "
        "nodes; 1 % of the nodes as seeds, drawn uniformly, and at least two of each class; directed graphs with seeds "
        "on both copies of a node. Scores are macro-F1 over nodes that are no seeds, means of "
        f"{len(results.values(SETTLED, cases[0], 'centered', OTHERS))} draws, the same for all rules."
    )
    pairs = {f"{a} against {b}": compare(settled[a], settled[b], families) for a, b in combinations(plots.ORDER, 2)}
    ways = {rule: compare(settled[rule], scores[SWEPT][rule], families) for rule in plots.ORDER}
    return Section(
        title,
        [
            Text(words),
            _means_table(scores),
            Picture("panel", _picture(settled), f"{title}, at equilibrium: each point is a graph."),
            _tests_table("At equilibrium: each pair of rules (p over graphs corrected after Holm)", "pair", pairs),
            _tests_table("Equilibrium against ten sweeps (p over graphs corrected after Holm)", "rule", ways),
            Text(_conclusion(settled, scores[SWEPT], families)),
            _graphs_table(cases, settled),
        ],
    )


def _scores(results: Results, way: str) -> Scores:
    cases = results.cases(way)
    return {rule: np.array([results.values(way, case, rule, OTHERS).mean() for case in cases]) for rule in plots.ORDER}


def _means_table(scores: dict[str, Scores]) -> Table:
    rows = []
    for way, columns in scores.items():
        ranks = rankdata(-np.stack([columns[rule] for rule in plots.ORDER]), axis=0).mean(axis=1)
        for rule, rank in zip(plots.ORDER, ranks, strict=True):
            rows.append([f"{rule}, {way}", f"{columns[rule].mean():.3f}", f"{rank:.2f}"])
    return Table("Mean over graphs, and mean rank among the four rules (1 is best)", ["rule", "macro-F1", "rank"], rows)


def _tests_table(caption: str, what: str, compared: dict[str, Comparison]) -> Table:
    corrected = holm([each.p for each in compared.values()])
    rows = [
        [name, f"{each.wins} : {each.losses}", signed(each.difference), p_words(p), p_words(each.p_families)]
        for (name, each), p in zip(compared.items(), corrected, strict=True)
    ]
    return Table(caption, [what, "graphs won", "mean difference", "over graphs", "over families"], rows)


def _conclusion(settled: Scores, swept: Scores, families: list[str]) -> str:
    gain = compare(settled["centered"], settled["vanilla"], families)
    close = compare(settled["relative"], settled["centered"], families)
    ways = compare(settled["centered"], swept["centered"], families)
    ahead = close.difference > 0 and max(close.p, close.p_families) < 0.05
    return (
        "**Conclusion.** Comparing temperatures with their mean is what matters: centered beats vanilla on "
        f"{gain.wins} of {gain.wins + gain.losses} graphs, by {gain.difference:.2f} on average. Dividing by the mean "
        f"rather than subtracting it changes the score by {signed(close.difference)}, and wins {close.wins} : "
        f"{close.losses} at equilibrium ({p_words(close.p)} over graphs, {p_words(close.p_families)} where each family "
        f"counts once): {'relative is ahead, by little' if ahead else 'the two are not told apart'}. With two classes "
        f"they are one rule. Going on from ten sweeps to equilibrium changes centered by {signed(ways.difference)} on "
        f"average ({ways.wins} : {ways.losses}): where graphs are small and dense, ten sweeps are enough for that rule."
    )


def _picture(scores: Scores) -> "Figure":
    figure, axes = plots.panels(2, height=3.7)
    for each, (x, y) in zip(axes, (("vanilla", "centered"), ("centered", "relative")), strict=True):
        each.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
        each.plot(scores[x], scores[y], markerfacecolor="none", **(plots.style(y) | {"linestyle": "none"}))
        each.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        each.set_xlabel(f"macro-F1, {x}", fontsize=8.5)
        each.set_ylabel(f"macro-F1, {y}", fontsize=8.5)
        each.grid(color="0.9", linewidth=0.6)
    return figure


def _graphs_table(cases: list[str], scores: Scores) -> Table:
    best = np.max(list(scores.values()), axis=0)
    rows = [
        [case, *(f"**{s:.3f}**" if (s := scores[rule][i]) == best[i] else f"{s:.3f}" for rule in plots.ORDER)]
        for i, case in enumerate(cases)
    ]
    return Table("Every graph, at equilibrium; the best in bold", ["graph", *plots.ORDER], rows)


def helpless_section(results: Results) -> Section:
    """Where centering does not help: words on the paper's experiments, and the graphs of the panel."""
    words = (
        "On **Amazon** (table 4) centering calls far too many nodes members of a small community that hardly any edge "
        "leaves; the plain threshold of 0.5 is right there, once heat has settled. On **DBLP** it is equilibrium that "
        "costs, not centering. In **figure 2b** centered falls as block 2 shrinks. And where the edges of a graph say "
        "little of its classes, as in some of the panel, no rule helps."
    )
    rows = [
        row
        for case in results.cases(SETTLED)
        for rule in ("vanilla", "weighted")
        for row in _ahead(results, case, rule)
    ]
    header = ["graph", "rule ahead", "its macro-F1", "centered", "difference"]
    caption = "Graphs of the panel where another rule is ahead by more than two standard errors, at equilibrium"
    none = "On no graph of the panel is vanilla or weighted ahead by more than two standard errors."
    return Section("Where centering does not help", [Text(words), Table(caption, header, rows) if rows else Text(none)])


def _ahead(results: Results, case: str, rule: str) -> list[list[str]]:
    """The line of a graph on which a rule is ahead of centered for sure, draw by draw."""
    gap = results.values(SETTLED, case, rule, OTHERS) - results.values(SETTLED, case, "centered", OTHERS)
    if len(gap) < 2 or gap.mean() <= 2 * gap.std(ddof=1) / np.sqrt(len(gap)):
        return []
    numbers = [plus_minus(results.summary(SETTLED, case, each, OTHERS)) for each in (rule, "centered")]
    return [[case, rule, *numbers, signed(float(gap.mean()))]]
