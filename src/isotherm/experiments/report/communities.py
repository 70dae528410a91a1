"""The section of table 4."""

import numpy as np

from isotherm.experiments.base import AUTHORS, CORRECTED
from isotherm.experiments.real_graphs import column
from isotherm.experiments.report import plots
from isotherm.experiments.report.document import Block, Section, Table, Text
from isotherm.experiments.report.tables import compared, corrected_table
from isotherm.experiments.report.words import mean_of, percent
from isotherm.experiments.results import Results, Summary
from isotherm.experiments.scoring import ALL
from isotherm.experiments.table4 import CALLED, COMMUNITIES, LEAVING, WARMTH

__all__ = ["table4_section"]

NUMBERS = range(1, COMMUNITIES + 1)
SMALL = (
    "With two classes centered and relative are one rule: a node is a member if its temperature is above the mean. "
    "That is a low threshold where a community is a small part of the graph, and 0.5, that of vanilla, is a high one "
    "unless the community keeps its heat."
)


def table4_section(title: str, results: Results, draws: Results | None) -> Section:
    """Table 4: one community against the rest."""
    blocks: list[Block] = []
    if results.cases(AUTHORS):
        caption = "Authors' protocol: F1 of the community over all nodes, mean of three communities"
        blocks += compared("table4", title, caption, results, draws)
    if results.cases(CORRECTED):
        blocks.append(corrected_table(results, "F1 of the community"))
    blocks += [_called_table(results), Text(SMALL)]
    if results.cases(AUTHORS) and results.cases(CORRECTED):
        blocks += [Text(_words(results, case)) for case in results.cases(CORRECTED)]
    return Section(title, [*blocks, *map(Text, _luck(results))])


def _called_table(results: Results) -> Table:
    rows = [
        [
            f"{column(case)}, {protocol}",
            *(_times(results.summary(protocol, case, rule, CALLED)) for rule in plots.ORDER),
        ]
        for protocol in (AUTHORS, CORRECTED)
        for case in results.cases(protocol)
    ]
    caption = "How many nodes each rule calls members, for each true member (1 would be right)"
    return Table(caption, ["graph and protocol", *plots.ORDER], rows)


def _times(summary: Summary | None) -> str:
    if summary is None:
        return ""
    digits = 0 if summary.mean >= 100 else 1 if summary.mean >= 1 else 2
    return f"{summary.mean:.{digits}f} ± {summary.std:.{digits}f}"


def _words(results: Results, case: str) -> str:
    """What equilibrium does to both thresholds, and how far the communities are cut off from the rest."""
    leaving = np.mean([results.values(CORRECTED, case, "", LEAVING, number).mean() for number in NUMBERS])
    scores = {
        rule: [mean_of(results, protocol, case, rule, ALL) for protocol in (AUTHORS, CORRECTED)]
        for rule in ("centered", "vanilla")
    }
    called = {rule: mean_of(results, CORRECTED, case, rule, CALLED) for rule in scores}
    return (
        f"**{column(case)}.** {percent(float(leaving))} of the edge ends at members lead out of their community. From "
        f"ten sweeps to equilibrium centered goes from {scores['centered'][0]:.2f} to {scores['centered'][1]:.2f}, and "
        f"vanilla from {scores['vanilla'][0]:.2f} to {scores['vanilla'][1]:.2f}. Centered then calls "
        f"{called['centered']:.1f} nodes members for each true one, vanilla {called['vanilla']:.2f}."
    )


def _luck(results: Results) -> list[str]:
    """After ten sweeps, on which side of its beginning the mean temperature is."""
    words = []
    for case in results.cases(AUTHORS):
        warmth, called = (
            np.concatenate([results.values(AUTHORS, case, rule, measure, number) for number in NUMBERS])
            for rule, measure in (("", WARMTH), ("centered", CALLED))
        )
        above = warmth > 1
        if above.any() and not above.all():
            words.append(
                f"After ten sweeps centering is a matter of luck on {column(case)}. Nodes begin at the mean "
                "temperature of the seeds, and those far from all seeds are still there. In "
                f"{np.count_nonzero(above)} of {len(above)} problems the mean over all nodes has risen above that, and "
                f"centered calls {called[above].mean():.3g} nodes members for each true one; in the others it has "
                f"fallen below, the nodes that have not moved count as warm, and it calls {called[~above].mean():.3g}. "
                "Hence the large deviation."
            )
    return words
