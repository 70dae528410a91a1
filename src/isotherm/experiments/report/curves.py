"""The sections of figures 2 and 3."""

from typing import TYPE_CHECKING

from isotherm.experiments.base import AUTHORS, CORRECTED
from isotherm.experiments.report import plots
from isotherm.experiments.report.document import Block, Picture, Section, Table, Text
from isotherm.experiments.report.published import CURVES
from isotherm.experiments.report.stories import STORIES
from isotherm.experiments.report.verdicts import TOLERANCES, CurveVerdict, judge_curve
from isotherm.experiments.report.words import along, mean_of, mean_only, plus_minus, signed
from isotherm.experiments.results import Results
from isotherm.experiments.scoring import ALL, OTHERS, SHIFTED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["block_section", "curve_verdicts"]


def block_section(name: str, title: str, results: Results) -> Section:
    """One of figures 2 and 3: the picture, the verdicts and the numbers."""
    story = STORIES[name]
    caption = f"{title}. Mean and standard deviation of all runs"
    blocks: list[Block] = [Text(story.settings)]
    if results.cases(AUTHORS):
        caption += "; hollow markers are the published means"
        blocks.append(_verdict_table(name, results))
    blocks.append(Picture(name, _picture(name, results), f"{caption}."))
    if results.cases(AUTHORS):
        blocks.append(_comparison(name, results))
    if results.cases(CORRECTED):
        blocks += [Text(words) for words in story.outcome(results)]
        blocks += [_corrected_table(results, case) for case in results.cases(CORRECTED) if _telling(results, case)]
    return Section(title, blocks)


def _telling(results: Results, case: str) -> bool:
    """Whether a table would show anything but ones."""
    scores = [
        mean_of(results, CORRECTED, case, r, OTHERS, x) for r in plots.ORDER for x in results.axis(CORRECTED, case)
    ]
    return min(scores) < 0.9995


def curve_verdicts(name: str, results: Results) -> dict[str, CurveVerdict]:
    """How far each rule's curve is from the published one, in the authors' protocol."""
    verdicts = {}
    for rule, published in CURVES[name].items():
        for case in results.cases(AUTHORS):
            points = along(results, AUTHORS, case, rule, SHIFTED)
            verdicts[rule] = judge_curve(rule, list(points.x), list(points.mean), published)
    return verdicts


def _picture(name: str, results: Results) -> "Figure":
    shown = [(AUTHORS, case) for case in results.cases(AUTHORS)]
    shown += [(CORRECTED, case) for case in results.cases(CORRECTED)]
    figure, axes = plots.panels(len(shown))
    for each, (protocol, case) in zip(axes, shown, strict=True):
        for rule in plots.ORDER:
            plots.curve(each, rule, along(results, protocol, case, rule, ALL))
            if protocol == AUTHORS and rule in CURVES[name]:
                plots.hollow(each, rule, range(1, 11), CURVES[name][rule])
        label = "authors' protocol" if protocol == AUTHORS else "corrected protocol"
        each.set_title(f"{label}, {case}" if len(shown) > 2 else label, fontsize=9)
        each.set(ylim=(0, 1.02), xticks=range(1, 11))
        each.set_xlabel(STORIES[name].axis, fontsize=8.5)
    axes[0].set_ylabel("macro-F1 over all nodes", fontsize=8.5)
    plots.keys(figure, axes[0], published=bool(results.cases(AUTHORS)))
    return figure


def _verdict_table(name: str, results: Results) -> Table:
    rows = [
        [rule, f"{v.distance:.3f}", f"{v.x:g}", f"{v.tolerance:.2f}", v.words]
        for rule, v in curve_verdicts(name, results).items()
    ]
    return Table(
        "Largest distance from the published curve, authors' protocol",
        ["rule", "distance", "at x", "allowed", "verdict"],
        rows,
    )


def _comparison(name: str, results: Results) -> Table:
    (case,) = results.cases(AUTHORS)
    header = ["x", *(f"{rule}{part}" for rule in TOLERANCES for part in (", measured", ", published", ", difference"))]
    rows = []
    for place, x in enumerate(results.axis(AUTHORS, case)):
        row = [f"{x:g}"]
        for rule in TOLERANCES:
            summary = results.summary(AUTHORS, case, rule, SHIFTED, x)
            published = CURVES[name][rule][place]
            difference = signed(summary.mean - published) if summary else ""
            row += [plus_minus(summary), f"{published:.3f}", difference]
        rows.append(row)
    return Table("Measured, published and difference, authors' protocol", header, rows)


def _corrected_table(results: Results, case: str) -> Table:
    header = ["x", *(f"{rule}, {part}" for rule in plots.ORDER for part in ("all", "no seeds"))]
    rows = [
        [f"{x:g}"] + [mean_only(results.summary(CORRECTED, case, r, m, x)) for r in plots.ORDER for m in (ALL, OTHERS)]
        for x in results.axis(CORRECTED, case)
    ]
    caption = f"All numbers of the corrected protocol, {case}: macro-F1 with and without seeds"
    return Table(caption, header, rows, folded=True)
