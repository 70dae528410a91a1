"""The section of the panel."""

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from scipy.stats import rankdata

from isotherm.experiments.panel import OPTIONS
from isotherm.experiments.report import plots
from isotherm.experiments.report.comparison import Comparison, Floats, compare_all, p_words
from isotherm.experiments.report.document import Picture, Section, Table, Text
from isotherm.experiments.report.words import listed, signed
from isotherm.experiments.results import Results
from isotherm.experiments.scoring import OTHERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["in_short", "panel_section"]

Scores: TypeAlias = dict[str, Floats]  # of each rule, its mean over runs on each graph
SWEPT, SETTLED = OPTIONS
LEVEL = 0.05
TESTED = "p of Wilcoxon's signed-rank test, corrected after Holm"


class Panel(NamedTuple):
    """The scores on all graphs, and all comparisons that the report makes."""

    cases: list[str]
    families: list[str]
    scores: dict[str, Scores]  # by the way to solve
    pairs: dict[str, dict[str, Comparison]]  # of rules, by the way to solve
    ways: dict[str, Comparison]  # equilibrium against ten sweeps, for each rule

    @classmethod
    def of(cls, results: Results) -> "Panel":
        """Compare the rules with each other, and both ways to solve."""
        cases = results.cases(SETTLED)
        families = [case.partition("_")[0] for case in cases]
        scores = {way: _scores(results, way, cases) for way in OPTIONS}
        pairs = {
            way: compare_all({f"{a} against {b}": (own[a], own[b]) for a, b in combinations(plots.ORDER, 2)}, families)
            for way, own in scores.items()
        }
        ways = {rule: (scores[SETTLED][rule], scores[SWEPT][rule]) for rule in plots.ORDER}
        return cls(cases, families, scores, pairs, compare_all(ways, families))


def panel_section(title: str, results: Results) -> Section:
    """Means, ranks, wins, tests, a picture, a conclusion and every graph's numbers."""
    panel = Panel.of(results)
    runs = len(results.values(SETTLED, panel.cases[0], "centered", OTHERS))
    words = (
        f"{len(panel.cases)} graphs of {len(set(panel.families))} families, all with one label for each node and "
        "below 50,000 nodes; 1 % of the nodes as seeds, drawn uniformly, and at least two of each class; directed "
        "graphs with seeds on both copies of a node. Scores are macro-F1 over nodes that are no seeds, means of "
        f"{runs} draws, the same for all rules. Graphs of one source, such as the social networks of several "
        "colleges, are a family; tests are made over graphs, and over families, each counted once by its mean."
    )
    tables = [
        _tests_table(f"Each pair of rules, {way} ({TESTED})", "pair", compared) for way, compared in panel.pairs.items()
    ]
    caption = f"{title}, at equilibrium: each point is a graph; above the line the rule of the upright axis is ahead."
    return Section(
        title,
        [
            Text(words),
            Text(_conclusion(panel)),
            _means_table(panel.scores),
            Picture("panel", _picture(panel.scores[SETTLED]), caption),
            *reversed(tables),
            _tests_table(f"Equilibrium against ten sweeps ({TESTED})", "rule", panel.ways),
            _graphs_table(panel),
        ],
    )


def _scores(results: Results, way: str, cases: list[str]) -> Scores:
    return {rule: np.array([results.values(way, case, rule, OTHERS).mean() for case in cases]) for rule in plots.ORDER}


def _means_table(scores: dict[str, Scores]) -> Table:
    ranks = {
        way: rankdata(-np.stack([own[rule] for rule in plots.ORDER]), axis=0).mean(axis=1)
        for way, own in scores.items()
    }
    rows = [
        [rule, *(f"{number:#.3g}" for way, own in scores.items() for number in (own[rule].mean(), ranks[way][place]))]
        for place, rule in enumerate(plots.ORDER)
    ]
    header = ["rule", *(f"{way}, {what}" for way in scores for what in ("macro-F1", "rank"))]
    return Table("Mean over graphs, and mean rank among the four rules (1 is best)", header, rows)


def _tests_table(caption: str, what: str, compared: dict[str, Comparison]) -> Table:
    rows = [
        [
            name,
            str(each.wins),
            str(each.ties),
            str(each.losses),
            signed(each.difference),
            p_words(each.p),
            p_words(each.p_families),
        ]
        for name, each in compared.items()
    ]
    header = [what, "graphs, won", "graphs, tied", "graphs, lost", "mean difference", "over graphs", "over families"]
    return Table(caption, header, rows)


def _conclusion(panel: Panel) -> str:
    """What the numbers carry."""
    settled, swept = panel.pairs[SETTLED], panel.pairs[SWEPT]
    gain, way = settled["centered against vanilla"], panel.ways["centered"]
    return (
        f"**Conclusion.** At equilibrium centered beats vanilla on {gain.wins} of {len(panel.cases)} graphs, by "
        f"{gain.difference:.2f} on average ({p_words(gain.p_families)} over families). Dividing by the mean (relative) "
        f"rather than subtracting it (centered): {_either(settled['centered against relative'])} at equilibrium, "
        f"{_either(swept['centered against relative'])} after ten sweeps; with two classes they are one rule. From ten "
        f"sweeps to equilibrium the mean of centered changes by {signed(way.difference)}, "
        f"{'which is more than chance' if way.sure(LEVEL) else 'which may be chance'} ({p_words(way.p)} over graphs, "
        f"{p_words(way.p_families)} over families)."
    )


def in_short(results: Results) -> str:
    """The means, in one sentence."""
    panel = Panel.of(results)
    means = {rule: own.mean() for rule, own in panel.scores[SETTLED].items()}
    ranked = sorted(means, key=lambda rule: -means[rule])
    return (
        f"**Many graphs.** On {len(panel.cases)} graphs the mean macro-F1 at equilibrium is "
        f"{listed([f'{means[rule]:.2f} for {rule}' for rule in ranked])}."
    )


def _either(pair: Comparison) -> str:
    """Whether the second of a pair is ahead of the first."""
    numbers = f"by {abs(pair.difference):.3f}, on {pair.losses} graphs against {pair.wins}, {p_words(pair.p_families)}"
    if not pair.sure(LEVEL):
        return f"the two are not told apart ({numbers})"
    return f"relative is {'ahead' if pair.difference < 0 else 'behind'} ({numbers})"


def _picture(scores: Scores) -> "Figure":
    figure, axes = plots.panels(2, height=3.7)
    for each, (x, y) in zip(axes, (("vanilla", "centered"), ("centered", "relative")), strict=True):
        each.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
        look = plots.style(y) | {"linestyle": "none", "markersize": 4.5, "markerfacecolor": "none"}
        each.plot(scores[x], scores[y], **look)
        each.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        each.set_xlabel(f"macro-F1, {x}", fontsize=8.5)
        each.set_ylabel(f"macro-F1, {y}", fontsize=8.5)
        each.grid(color="0.9", linewidth=0.6)
    return figure


def _graphs_table(panel: Panel) -> Table:
    columns = [panel.scores[way][rule] for way in OPTIONS for rule in plots.ORDER]
    best = np.max(columns, axis=0)
    rows = [
        [case, *(f"**{own[i]:.3f}**" if own[i] == best[i] else f"{own[i]:.3f}" for own in columns)]
        for i, case in enumerate(panel.cases)
    ]
    header = ["graph", *(f"{way}, {rule}" for way in OPTIONS for rule in plots.ORDER)]
    return Table("Every graph of the panel, macro-F1; the best in bold", header, rows, folded=True)
