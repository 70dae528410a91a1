"""The sections of the paper's figures."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from isotherm.paper import figure1
from isotherm.paper.report.numbers import plus_minus, signed
from isotherm.paper.report.page import pictures
from isotherm.paper.report.page.document import Block, Picture, Section, Table
from isotherm.paper.report.published import CURVES, ENDS
from isotherm.paper.report.texts import words
from isotherm.paper.report.verdicts import TOLERANCES, curve_verdicts, ends
from isotherm.paper.running.experiment import AUTHORS, CORRECTED, PROTOCOLS
from isotherm.paper.running.real_graphs import BOTH_SIDES, column, long_column
from isotherm.paper.running.results import Results
from isotherm.paper.running.scoring import ALL, OTHERS, SHIFTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["block_section", "figure1_section", "figure4_section"]

AXES = {"a": "s₁/s₂: seeds of block 1 over another's", "b": "n₁/n₂: nodes of block 1 over another's"}  # by part
CAPTIONS = {
    AUTHORS: "authors' protocol; hollow: the ends of the published curves",
    CORRECTED: "corrected protocol, macro-F1 over non-seed nodes",
}


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
