"""The section of figure 4."""

from typing import TYPE_CHECKING, NamedTuple

from isotherm.experiments.base import AUTHORS, CORRECTED
from isotherm.experiments.real_graphs import BOTH_SIDES, column, stands_in
from isotherm.experiments.report import plots
from isotherm.experiments.report.document import Block, Picture, Section, Table, Text
from isotherm.experiments.report.published import ENDS
from isotherm.experiments.report.verdicts import ELSEWHERE, OUTSIDE, WITHIN, marked
from isotherm.experiments.report.words import along, listed, plus_minus, signed
from isotherm.experiments.results import Results, Summary
from isotherm.experiments.scoring import OTHERS, SHIFTED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["End", "ends", "figure4_section"]

READ_OFF = 0.01  # how well a point can be read off a figure
AXIS = "x: seeds of the dominant class"


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
            blocks.append(Picture(name, _picture(results, protocol, cases), f"{title}: {caption}."))
    if results.cases(AUTHORS):
        blocks += [_ends_table(results), Text(_words(results))]
    return Section(title, blocks)


def _picture(results: Results, protocol: str, cases: list[str]) -> "Figure":
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
    for each in axes[-2:]:
        each.set_xlabel(AXIS, fontsize=8.5)
    for each in axes[::2]:
        each.set_ylabel("macro-F1", fontsize=8.5)
    plots.keys(figure, axes[0], published=protocol == AUTHORS)
    return figure


class End(NamedTuple):
    """The first or the last point of a curve."""

    case: str
    rule: str
    x: int
    measured: Summary
    published: float

    @property
    def verdict(self) -> str:
        """Whether it is within one deviation of the runs, which the paper's figure does not give."""
        if stands_in(self.case):
            return ELSEWHERE
        return WITHIN if abs(self.measured.mean - self.published) <= self.measured.std + READ_OFF else OUTSIDE


def ends(results: Results) -> list[End]:
    """The ends of all curves that were measured and published."""
    return [
        End(case, rule, x, measured, published)
        for case in results.cases(AUTHORS)
        for rule in ("centered", "vanilla")
        for x, published in zip((1, 10), ENDS[column(case).rstrip("*"), rule], strict=True)
        if (measured := results.summary(AUTHORS, case, rule, SHIFTED, x))
    ]


def _ends_table(results: Results) -> Table:
    rows = [
        [
            f"{column(end.case)}, {end.rule}",
            str(end.x),
            plus_minus(end.measured),
            f"{end.published:.3f}",
            signed(end.measured.mean - end.published),
            marked(end.verdict).replace("published deviation", "deviation of the runs"),
        ]
        for end in ends(results)
    ]
    header = ["graph and rule", "x", "measured", "published", "difference", "verdict"]
    return Table("The ends of the curves, authors' protocol", header, rows)


def _words(results: Results) -> str:
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
