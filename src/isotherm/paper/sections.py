"""The sections of the report: figures, tables, the studies beyond the paper, and what tables and panel show together.

The last are the cost of the authors' mapping of columns to classes, and the graphs on which centering does not help.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from scipy.stats import rankdata

from isotherm.arrays import Doubles
from isotherm.paper import figure1, pictures, verdicts
from isotherm.paper import graph_experiments as graphs
from isotherm.paper.block_experiments import DEGREES, ERROR, NODES, PREDICTED, SHARES
from isotherm.paper.document import Block, Picture, Section, Table, percent, plus_minus, signed, words
from isotherm.paper.experiment import AUTHORS, CORRECTED, PROTOCOLS, Results, Summary
from isotherm.paper.graph_experiments import BOTH_SIDES, column, long_column, stands_in
from isotherm.paper.scoring import ALL, LOST, OTHERS, REACHED, SHIFTED, UNREACHED
from isotherm.paper.verdicts import CURVES, DATASETS, ENDS, TABLES, TOLERANCES, Verdict, entries
from isotherm.study.datasets.catalogue import CATALOGUE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXES = {"a": "s₁/s₂: seeds of block 1 over another's", "b": "n₁/n₂: nodes of block 1 over another's"}  # by part
_, GROWING = DEGREES
LARGEST = str(NODES[-1])
SHOWN = (SHARES[0], SHARES[2], SHARES[-1])
FLOOR = 1e-5  # where an error of zero is drawn
CONSISTENT = ("centered", "relative")

UNUSUAL = 0.05  # share below which a published mean is unusual
SWEPT, SETTLED = graphs.PANEL_OPTIONS
TESTED = "p of Wilcoxon's signed-rank test, corrected after Holm"
Scores: TypeAlias = dict[str, Doubles]  # by rule, the mean over runs on each graph


def figure1_section(title: str, results: Results) -> Section:
    """The Karate Club."""
    published = {figure1.WRONG_NODES: "1"}
    rows = [
        [measure, f"{results.mean('two seeds', 'Karate Club', 'centered', measure):.3g}", published.get(measure, "")]
        for measure in (figure1.WRONG_NODES, figure1.FARTHEST, figure1.CLOSER)
    ]
    picture = Picture("figure1", figure1.picture(figure1.classify()), f"{title}.")
    return Section(title, [*words("figure1"), picture, Table("Wrong nodes", ["", "measured", "published"], rows)])


def block_section(name: str, title: str, results: Results) -> Section:
    """One of figures 2 and 3: the verdicts, the picture and the numbers."""
    authors, corrected = results.cases(AUTHORS), results.cases(CORRECTED)
    hollow = "; hollow markers are the published means" if authors else ""
    caption = f"{title}. Mean and standard deviation of all runs{hollow}."
    picture = Picture(name, _block_picture(name, results), caption)
    blocks: list[Block] = [*words(name)]
    blocks += [_verdict_table(name, results), picture, _comparison(name, results)] if authors else [picture]
    if corrected:
        blocks += [*words(f"{name}, corrected"), *(_corrected_curves(results, case) for case in corrected)]
    return Section(title, blocks)


def figure4_section(title: str, results: Results) -> Section:
    """A picture for each protocol, and the ends of the curves."""
    blocks: list[Block] = [*words("figure4")]
    captions = {
        AUTHORS: "authors' protocol; hollow: the ends of the published curves",
        CORRECTED: "corrected protocol, macro-F1 over non-seed nodes",
    }
    for protocol, caption in captions.items():
        if cases := [case for case in results.cases(protocol) if not case.endswith(BOTH_SIDES)]:
            figure = _graphs_picture(results, protocol, cases)
            blocks.append(Picture(f"figure4-{protocol}", figure, f"{title}: {caption}."))
    if results.cases(AUTHORS):
        blocks.append(_ends_table(results))
    return Section(title, blocks)


def _block_picture(name: str, results: Results) -> "Figure":
    shown = [(protocol, case) for protocol in PROTOCOLS for case in results.cases(protocol)]
    figure, axes = pictures.panels(len(shown))
    for each, (protocol, case) in zip(axes, shown, strict=True):
        _draw_curves(each, results, (protocol, case, ALL), CURVES[name] if protocol == AUTHORS else {})
        label = "authors' protocol" if protocol == AUTHORS else "corrected protocol"
        each.set_title(f"{label}, {case}" if len(shown) > 2 else label, fontsize=9)
        each.set_ylim(0, 1.02)
        each.set_xlabel(AXES[name[-1]], fontsize=8.5)
    axes[0].set_ylabel("macro-F1 over all nodes", fontsize=8.5)
    pictures.keys(figure, axes[0], published=bool(results.cases(AUTHORS)))
    return figure


def _graphs_picture(results: Results, protocol: str, cases: list[str]) -> "Figure":
    figure, axes = pictures.panels(len(cases), columns=2, height=2.7)
    for each, case in zip(axes, cases, strict=True):
        published = {rule: points for (name, rule), points in ENDS.items() if name == column(case).rstrip("*")}
        measure, hollow = (SHIFTED, published) if protocol == AUTHORS else (OTHERS, {})
        _draw_curves(each, results, (protocol, case, measure), hollow)
        each.set_title(long_column(case), fontsize=9.5)
        each.set_ylim(0, 0.75)
    for each in axes[-2:]:
        each.set_xlabel("x: seeds of the dominant class", fontsize=8.5)
    for each in axes[::2]:
        each.set_ylabel("macro-F1", fontsize=8.5)
    pictures.keys(figure, axes[0], published=protocol == AUTHORS)
    return figure


def _draw_curves(
    axes: "Axes", results: Results, what: tuple[str, str, str], published: Mapping[str, Sequence[float]]
) -> None:
    """The curves of all rules for a protocol, case and measure; published ones have all points or the two ends."""
    protocol, case, measure = what
    for rule in pictures.ORDER:
        pictures.curve(axes, rule, results.curve(protocol, case, rule, measure))
        if points := published.get(rule):
            pictures.hollow(axes, rule, range(1, 11) if len(points) == 10 else (1, 10), points)
    axes.set_xticks(range(1, 11))


def _verdict_table(name: str, results: Results) -> Table:
    rows = []
    for rule, each in verdicts.curve_verdicts(name, results).items():
        verdict = each.verdict.removesuffix(" one published deviation")
        rows.append([rule, f"{each.distance:.3f}", f"{each.x:g}", f"{each.tolerance:.2f}", verdict])
    header = ["rule", "distance", "at x", "allowed", "verdict"]
    return Table("Largest distance from the published curve, authors' protocol", header, rows)


def _comparison(name: str, results: Results) -> Table:
    (case,) = results.cases(AUTHORS)
    curves = {rule: results.curve(AUTHORS, case, rule, SHIFTED) for rule in TOLERANCES}
    rows = []
    for place, x in enumerate(results.axis(AUTHORS, case)):
        row = [f"{x:g}"]
        for rule, curve in curves.items():
            measured, published = curve[place][1], CURVES[name][rule][place]
            row += [plus_minus(measured), f"{published:.3f}", signed(measured.mean - published)]
        rows.append(row)
    header = ["x", *(f"{rule}, {part}" for rule in curves for part in ("measured", "published", "difference"))]
    return Table("Measured, published and difference, authors' protocol", header, rows)


def _corrected_curves(results: Results, case: str) -> Table:
    shown = [(rule, measure) for rule in pictures.ORDER for measure in (ALL, OTHERS)]
    rows = [
        [f"{x:g}", *(f"{results.mean(CORRECTED, case, *which, x):.3f}" for which in shown)]
        for x in results.axis(CORRECTED, case)
    ]
    header = ["x", *(f"{rule}, {'all' if measure == ALL else 'no seeds'}" for rule, measure in shown)]
    caption = f"All numbers of the corrected protocol, {case}: macro-F1 with and without seeds"
    return Table(caption, header, rows, folded=True)


def _ends_table(results: Results) -> Table:
    rows = []
    for end in verdicts.ends(results):
        numbers = plus_minus(end.measured), f"{end.published:.3f}", signed(end.measured.mean - end.published)
        verdict = end.verdict.replace("published deviation", "deviation of the runs")
        rows.append([f"{column(end.case)}, {end.rule}", str(end.x), *numbers, verdict])
    header = ["graph and rule", "x", "measured", "published", "difference", "verdict"]
    return Table("The ends of the curves, authors' protocol", header, rows)


def sbm_section(title: str, results: Results) -> Section:
    """Error against the number of nodes and against the share of seeds."""
    growth = f"{title}: mean error as n grows. No error in any run is drawn at the bottom."
    share = f"{title}: mean error against the share of seeds, n = {NODES[-1]:,}. Grey: the condition of section 4.3."
    nodes = Picture("sbm-nodes", _growth_picture(results), growth)
    seeds = Picture("sbm-seeds", _shares_picture(results), share)
    return Section(title, [*words("sbm"), nodes, seeds, _errors_table(results)])


def sbm_summary(results: Results) -> list[str]:
    """The errors on the largest graphs, with logarithmic degree."""
    errors = [percent(results.mean(GROWING, LARGEST, rule, ERROR, SHOWN[1])) for rule in pictures.ORDER]
    return [f"Block models, wrong labels, {GROWING}, {percent(SHOWN[1])} seeds, n = {NODES[-1]:,}", *errors]


def _growth_picture(results: Results) -> "Figure":
    figure, axes = pictures.panels(6, columns=3, height=2.6)
    places = [(regime, share) for regime in DEGREES for share in SHOWN]
    for each, (regime, share) in zip(axes, places, strict=True):
        for rule in pictures.ORDER:
            errors = [max(results.mean(regime, str(n), rule, ERROR, share), FLOOR) for n in NODES]
            each.plot(NODES, errors, label=rule, **pictures.style(rule))
        _log_axes(each, "nodes n")
        each.set_title(f"{regime}, {100 * share:g} % seeds", fontsize=9)
        each.set_xticks((1000, 10_000, 100_000), ["1,000", "10,000", "100,000"])
    for each in axes[::3]:
        each.set_ylabel("share of wrong labels", fontsize=8.5)
    pictures.keys(figure, axes[0])
    return figure


def _shares_picture(results: Results) -> "Figure":
    figure, axes = pictures.panels(2)
    for each, regime in zip(axes, DEGREES, strict=True):
        for rule in pictures.ORDER:
            errors = [max(results.mean(regime, LARGEST, rule, ERROR, share), FLOOR) for share in SHARES]
            each.plot(SHARES, errors, label=rule, **pictures.style(rule))
        predicted = [results.mean(regime, LARGEST, "vanilla", PREDICTED, share) for share in SHARES]
        each.plot(SHARES, predicted, color="0.45", linewidth=0.9, marker="_", label="vanilla, predicted")
        _log_axes(each, "share of seeds")
        each.set_title(regime, fontsize=9.5)
        each.set_xticks(SHARES, [f"{100 * share:g} %" for share in SHARES])
    axes[0].set_ylabel("share of wrong labels", fontsize=8.5)
    pictures.keys(figure, axes[0])
    return figure


def _log_axes(axes: "Axes", label: str) -> None:
    axes.set(xscale="log", yscale="log", ylim=(FLOOR * 0.7, 1))
    axes.set_yticks((FLOOR, 1e-4, 1e-3, 1e-2, 1e-1, 1), ["none", "0.01 %", "0.1 %", "1 %", "10 %", "100 %"])
    axes.minorticks_off()
    axes.set_xlabel(label, fontsize=8.5)


def _errors_table(results: Results) -> Table:
    shown = [*((rule, ERROR) for rule in pictures.ORDER), ("vanilla", PREDICTED), ("", UNREACHED)]
    rows = []
    for regime, share in product(DEGREES, SHARES):
        means = [percent(results.mean(regime, LARGEST, *which, share)) for which in shown]
        errors = [results.values(regime, LARGEST, rule, ERROR, share) for rule in CONSISTENT]
        exact = [f"{np.count_nonzero(own == 0)} of {len(own)}" for own in errors]
        rows.append([f"{regime}, {100 * share:g} %", *means, *exact])
    header = ["degree and seeds", *(f"error, {rule}" for rule in pictures.ORDER), "vanilla predicted", "unreached"]
    header += [f"exact runs, {rule}" for rule in CONSISTENT]
    return Table(f"Mean error at n = {NODES[-1]:,}, and the runs without any error", header, rows)


def table1_section(title: str, results: Results) -> Section:
    """The datasets, as published and as loaded."""
    rows = []
    for asked, entry in CATALOGUE.items():
        case = next((case for case in results.cases(graphs.LOADED) if asked in (case, stands_in(case))), None)
        published = [f"{number:,}" for number in DATASETS[entry.short]]
        loaded = [f"{results.mean(graphs.LOADED, case, '', m):,.0f}" if case else "" for m in graphs.COUNTS]
        pairs = [number for pair in zip(published, loaded, strict=True) for number in pair]
        which = f"stand-in: {case}" if case else "not at hand"
        if case == asked:
            which = "the paper's" if loaded == published else "other counts than the paper's"
        rows.append([f"{entry.short}: {entry.title}", *pairs, which])
    measures = ("nodes", "edges", "classes", "% labelled")
    header = ["graph", *(f"{name}, {part}" for name in measures for part in ("published", "loaded")), "which graph"]
    caption = "The datasets; the edges of undirected graphs count twice, as in the paper"
    return Section(title, [Table(caption, header, rows), *words("table1")])


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
    rows = []
    for entry in entries(name, results):
        case, rule, measured, published = entry
        numbers = [plus_minus(measured), plus_minus(published, 2), signed(measured.mean - published.mean)]
        errors, note = f"{verdicts.standard_errors(measured, published):.1f}", published.note
        if entry.verdict is Verdict.ELSEWHERE:
            errors, note = "", f"{case} stands in for it"
        rows.append([f"{column(case)}, {rule}", *numbers, errors, entry.verdict, note])
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
    """Centered in the corrected protocol on cases with the prefix: graph, measured, published, gain, unreached."""
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
        [f"{column(case)}, {way}", *_called(results, way, case)] for way in PROTOCOLS for case in results.cases(way)
    ]
    caption = "Nodes called members, for each true member (1 would be right)"
    header = ["graph and protocol", *pictures.ORDER, "edges that leave", "mean above its start"]
    return Table(caption, header, rows)


def _called(results: Results, protocol: str, case: str) -> list[str]:
    called = [results.summary(protocol, case, rule, graphs.CALLED) for rule in pictures.ORDER]
    leaving, warmth = (
        np.concatenate([results.values(protocol, case, "", measure, x) for x in range(1, graphs.COMMUNITIES + 1)])
        for measure in (graphs.LEAVING, graphs.WARMTH)
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
    entry: verdicts.Entry
    many: Doubles
    lost: Doubles  # number of lost classes in each draw; empty for table 4

    @property
    def share(self) -> float:
        """The share of means of ten draws that are as far off as the published mean."""
        return verdicts.as_far(self.many, self.entry.published)


def chance_section(title: str, draws: Results, tables: Mapping[str, Results]) -> Section:
    """Every entry on the paper's own graphs, and how usual the published mean of ten draws is."""
    blocks: list[Block] = [*words("chance")]
    if found := drawn_often(draws, tables):
        header = ["entry", "ten draws", "many draws", "those that lose no class", "published", "as far off"]
        caption = f"Authors' protocol: ten draws, {len(found[0].many)} draws, and the published mean of ten"
        rows = []
        for drawn in found:
            table, entry, many, lost = drawn
            whole = many[lost == 0] if len(lost) else lost
            spreads = [plus_minus(Summary.of(many)), plus_minus(Summary.of(whole)), plus_minus(entry.published, 2)]
            name = f"{table}, {column(entry.case)}, {entry.rule}"
            rows.append([name, f"{entry.measured.mean:.3f}", *spreads, percent(drawn.share)])
        blocks.append(Table(caption, header, rows))
    gains = [
        [f"{name}, {graph}", *numbers]
        for name in ("table2", "table3")
        for graph, *numbers in gain_rows(name, draws, f"{name} ")
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
            case = f"{name} {entry.case}"
            many = draws.values(AUTHORS, case, entry.rule, verdicts.measure_of(name))
            if len(many):
                found.append(Drawn(name, entry, many, draws.values(AUTHORS, case, "", LOST)))
    return found


def panel_section(title: str, results: Results) -> Section:
    """Means and ranks, a picture, tests, and the numbers of every graph."""
    cases = results.cases(SETTLED)
    families = [case.partition("_")[0] for case in cases]
    scores = {way: _panel_scores(results, way) for way in graphs.PANEL_OPTIONS}
    pairs = {
        way: verdicts.compare_all({f"{a} against {b}": (own[a], own[b]) for a, b in combinations(own, 2)}, families)
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
            _tests_table("Equilibrium against ten sweeps", "rule", verdicts.compare_all(ways, families)),
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


def _tests_table(caption: str, what: str, compared: dict[str, verdicts.Comparison]) -> Table:
    rows = []
    for name, (wins, ties, losses, difference, *p_values) in compared.items():
        tests = ["p < 0.001" if p < 0.001 else f"p = {p:.3f}" for p in p_values]
        rows.append([name, str(wins), str(ties), str(losses), signed(difference), *tests])
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
