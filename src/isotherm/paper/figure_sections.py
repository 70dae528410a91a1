"""The sections on figures 1 to 4, and on stochastic block models."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from isotherm.arrays import Doubles
from isotherm.paper import figure1, pictures
from isotherm.paper.block_experiments import DEGREES, ERROR, NODES, PREDICTED, SHARES
from isotherm.paper.document import Block, Picture, Section, Table, percent, plus_minus, signed, words
from isotherm.paper.experiment import AUTHORS, CORRECTED, PROTOCOLS, Results
from isotherm.paper.graph_experiments import BOTH_SIDES, column, long_column
from isotherm.paper.published import CURVES, ENDS
from isotherm.paper.scoring import ALL, OTHERS, SHIFTED, UNREACHED
from isotherm.paper.verdicts import TOLERANCES, curve_verdicts, ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXES = {"a": "s₁/s₂: seeds of block 1 over another's", "b": "n₁/n₂: nodes of block 1 over another's"}  # by part
CAPTIONS = {
    AUTHORS: "authors' protocol; hollow: the ends of the published curves",
    CORRECTED: "corrected protocol, macro-F1 over non-seed nodes",
}
FIXED, GROWING = DEGREES
LARGEST = str(NODES[-1])
SHOWN = (SHARES[0], SHARES[2], SHARES[-1])
FLOOR = 1e-5  # where an error of zero is drawn
CONSISTENT = ("centered", "relative")


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
        blocks += [*words(f"{name}, corrected"), *(_corrected_table(results, case) for case in corrected)]
    return Section(title, blocks)


def figure4_section(title: str, results: Results) -> Section:
    """A picture for each protocol, and the ends of the curves."""
    blocks: list[Block] = [*words("figure4")]
    for protocol, caption in CAPTIONS.items():
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
    rows = [
        [
            rule,
            f"{each.distance:.3f}",
            f"{each.x:g}",
            f"{each.tolerance:.2f}",
            each.verdict.removesuffix(" one published deviation"),
        ]
        for rule, each in curve_verdicts(name, results).items()
    ]
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


def _corrected_table(results: Results, case: str) -> Table:
    shown = [(rule, measure) for rule in pictures.ORDER for measure in (ALL, OTHERS)]
    rows = [
        [f"{x:g}", *(f"{results.mean(CORRECTED, case, *which, x):.3f}" for which in shown)]
        for x in results.axis(CORRECTED, case)
    ]
    header = ["x", *(f"{rule}, {'all' if measure == ALL else 'no seeds'}" for rule, measure in shown)]
    caption = f"All numbers of the corrected protocol, {case}: macro-F1 with and without seeds"
    return Table(caption, header, rows, folded=True)


def _ends_table(results: Results) -> Table:
    rows = [
        [
            f"{column(end.case)}, {end.rule}",
            str(end.x),
            plus_minus(end.measured),
            f"{end.published:.3f}",
            signed(end.measured.mean - end.published),
            end.verdict.replace("published deviation", "deviation of the runs"),
        ]
        for end in ends(results)
    ]
    header = ["graph and rule", "x", "measured", "published", "difference", "verdict"]
    return Table("The ends of the curves, authors' protocol", header, rows)


def sbm_section(title: str, results: Results) -> Section:
    """Error against the number of nodes and against the share of seeds."""
    growth = f"{title}: mean error as n grows. No error in any run is drawn at the bottom."
    share = f"{title}: mean error against the share of seeds, n = {NODES[-1]:,}. Grey: the condition of section 4.3."
    nodes, seeds = (
        Picture("sbm-nodes", _growth_picture(results), growth),
        Picture("sbm-seeds", _shares_picture(results), share),
    )
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
    rows = [
        [
            f"{regime}, {100 * share:g} %",
            *(percent(results.mean(regime, LARGEST, *column, share)) for column in shown),
            *(_exact(results.values(regime, LARGEST, rule, ERROR, share)) for rule in CONSISTENT),
        ]
        for regime in DEGREES
        for share in SHARES
    ]
    header = ["degree and seeds", *(f"error, {rule}" for rule in pictures.ORDER), "vanilla predicted", "unreached"]
    header += [f"exact runs, {rule}" for rule in CONSISTENT]
    return Table(f"Mean error at n = {NODES[-1]:,}, and the runs without any error", header, rows)


def _exact(errors: Doubles) -> str:
    return f"{np.count_nonzero(errors == 0)} of {len(errors)}"
