"""The sections of figures 2, 3 and 4."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isotherm.experiments.base import AUTHORS, CORRECTED
from isotherm.experiments.real_graphs import BOTH_SIDES, column, stands_in
from isotherm.experiments.report import plots
from isotherm.experiments.report.document import Block, Picture, Section, Table, Text
from isotherm.experiments.report.published import CURVES, ENDS
from isotherm.experiments.report.verdicts import TOLERANCES, CurveVerdict, judge_curve
from isotherm.experiments.report.words import along, listed, mean_only, plus_minus, signed
from isotherm.experiments.results import Results
from isotherm.experiments.scoring import ALL, OTHERS, SHIFTED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CurveStory", "block_section", "curve_verdicts", "figure4_section"]

SEEDS_AXIS, SIZES_AXIS = "seeds of block 1 / of another, s₁/s₂", "size of block 1 / of another, n₁/n₂"


@dataclass(frozen=True)
class CurveStory:
    """What is particular to one of figures 2 and 3: its axis, and what to know about its two protocols."""

    axis: str
    authors: str
    corrected: str


STORIES = {
    "figure2a": CurveStory(
        SEEDS_AXIS,
        "In the authors' program the seeds are a uniform sample of a tenth of all nodes, to which (x - 1) tenths of "
        "block 1 are added, some of which are seeds already. The text says instead that block 2 has 250 seeds and "
        "block 1 has x times as many.",
        "With the text's 250 seeds in block 2, where the program has about 500, vanilla and weighted fall further than "
        "in the published figure. Scores over all nodes flatter them: seeds are always right.",
    ),
    "figure2b": CurveStory(
        SIZES_AXIS,
        "The authors draw one graph for each ratio and only the seeds anew in each of the ten runs, so that the "
        "published deviations leave out the randomness of the graph.",
        "At n₁/n₂ = 10 a node of block 2 has no more neighbours in its own block than in the other (0.9 of each on "
        "average), and no rule can do well. Ten sweeps end closer to the seeds and do better there than equilibrium, "
        "at which centered comes down to weighted.",
    ),
    "figure3a": CurveStory(
        SEEDS_AXIS,
        "The text says p = 0.05; the authors' program has p = 50/n = 0.005 and q = 1/n. As in figure 2a, a reference "
        "sample (here a tenth of each block) is topped up with (x - 1) tenths of block 1.",
        "With p as printed in the text, 0.05, a node has about fifty neighbours of its own block and one of all "
        "others, and every rule is right everywhere: the printed figure cannot come from that value.",
    ),
    "figure3b": CurveStory(
        SIZES_AXIS,
        "In the authors' program block 1 has 1000 (x + 1) nodes, one block more than the axis says, and p = 50/n and "
        "q = 1/n shrink as n grows. With 1000 x nodes, as the text has it, vanilla would begin at the same height as "
        "centered; the published curve begins 0.015 lower, as measured here with x + 1.",
        "With x as printed and fixed probabilities block 1 grows denser as it grows larger, so that all rules gain but "
        "vanilla. With p = 0.05 all are right everywhere.",
    ),
}


def block_section(name: str, title: str, results: Results) -> Section:
    """One of figures 2 and 3: the picture, the verdicts and the numbers."""
    story = STORIES[name]
    blocks: list[Block] = [
        Text(story.authors),
        Picture(name, _picture(name, results), f"{title}. Mean and standard deviation of all runs."),
    ]
    if results.cases(AUTHORS):
        blocks += [_verdict_table(name, results), _comparison(name, results)]
    blocks.append(Text(story.corrected))
    blocks += [_corrected_table(results, case) for case in results.cases(CORRECTED)]
    return Section(title, blocks)


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
        label = "authors' protocol" if protocol == AUTHORS else "corrected"
        each.set_title(f"{label}, {case}" if len(shown) > 2 else label, fontsize=9.5)
        each.set(ylim=(0, 1.02), xticks=range(1, 11))
        each.set_xlabel(STORIES[name].axis, fontsize=8.5)
    axes[0].set_ylabel("macro-F1 over all nodes", fontsize=8.5)
    plots.keys(figure, axes[0], published=bool(results.cases(AUTHORS)))
    return figure


def _verdict_table(name: str, results: Results) -> Table:
    rows = [
        [rule, f"{v.distance:.3f}", f"{v.x:g}", f"{v.tolerance:.2f}", "kept" if v.kept else "not kept"]
        for rule, v in curve_verdicts(name, results).items()
    ]
    return Table(
        "Largest distance from the published curve, authors' protocol",
        ["rule", "distance", "at x", "allowed", ""],
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
    return Table(
        f"Corrected protocol, {case}: mean macro-F1 over all nodes and over those that are no seeds", header, rows
    )


def figure4_section(title: str, results: Results) -> Section:
    """Figure 4: a picture for each protocol, and the ends of the curves."""
    blocks: list[Block] = [
        Text(
            "To 1 % uniform seeds ever more of the dominant class are added: in the authors' program (x - 1) percent "
            "of that class, in the corrected protocol until it has x times as many seeds as at first. The paper draws "
            "centered and vanilla only; of its curves the first and the last point were read off."
        )
    ]
    captions = {
        AUTHORS: "authors' protocol; hollow: the published curves' ends",
        CORRECTED: "corrected protocol, macro-F1 over nodes that are no seeds",
    }
    for protocol, caption in captions.items():
        cases = [case for case in results.cases(protocol) if not case.endswith(BOTH_SIDES)]
        if cases:
            name = f"figure4-{protocol}"
            blocks.append(Picture(name, _real_picture(results, protocol, cases), f"{title}: {caption}."))
    if results.cases(AUTHORS):
        blocks += [_ends_table(results), Text(_figure4_words(results))]
    return Section(title, blocks)


def _real_picture(results: Results, protocol: str, cases: list[str]) -> "Figure":
    figure, axes = plots.panels(len(cases), columns=2, height=2.7)
    measure = SHIFTED if protocol == AUTHORS else OTHERS
    for each, case in zip(axes, cases, strict=True):
        for rule in plots.ORDER:
            plots.curve(each, rule, along(results, protocol, case, rule, measure))
            ends = ENDS.get((column(case).rstrip("*"), rule))
            if protocol == AUTHORS and ends:
                plots.hollow(each, rule, (1, 10), ends)
        each.set_title(f"{column(case)} ({case})" if stands_in(case) else column(case), fontsize=9.5)
        each.set(ylim=(0, 0.75), xticks=range(1, 11))
        each.set_xlabel("s₁/s₂", fontsize=8.5)
        each.set_ylabel("macro-F1", fontsize=8.5)
    plots.keys(figure, axes[0], published=protocol == AUTHORS)
    return figure


def _ends_table(results: Results) -> Table:
    rows = []
    for case in results.cases(AUTHORS):
        for rule in ("centered", "vanilla"):
            for x, published in zip((1, 10), ENDS[column(case).rstrip("*"), rule], strict=True):
                summary = results.summary(AUTHORS, case, rule, SHIFTED, x)
                if summary:
                    verdict = _end_verdict(case, abs(summary.mean - published), summary.std)
                    numbers = [plus_minus(summary), f"{published:.3f}", signed(summary.mean - published)]
                    rows.append([f"{column(case)}, {rule}", str(x), *numbers, verdict])
    header = ["graph and rule", "x", "measured", "published", "difference", "verdict"]
    return Table("The ends of the curves, authors' protocol", header, rows)


def _end_verdict(case: str, distance: float, std: float) -> str:
    if stands_in(case):
        return "another graph"
    return "within one deviation of the runs" if distance <= max(std, 0.02) else "outside"


def _figure4_words(results: Results) -> str:
    """Whether centered stays level, in numbers."""
    parts, falls = [], {"centered": 0.0, "vanilla": 0.0}
    for case in results.cases(AUTHORS):
        words = []
        for rule in falls:
            first, last = (float(results.values(AUTHORS, case, rule, SHIFTED, x).mean()) for x in (1, 10))
            words.append(f"{first:.2f} to {last:.2f}")
            falls[rule] = falls[rule] if stands_in(case) else max(falls[rule], 1 - last / first)
        parts.append(f"{column(case)} {words[0]} ({words[1]})")
    return (
        f"From x = 1 to x = 10 centered goes, with vanilla in brackets: {listed(parts)}. On the paper's own graphs "
        f"centered loses at most {100 * falls['centered']:.0f} % of its score, vanilla {100 * falls['vanilla']:.0f} %."
    )
