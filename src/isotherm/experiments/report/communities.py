"""The section of table 4."""

from isotherm.experiments.base import AUTHORS, CORRECTED
from isotherm.experiments.real_graphs import column
from isotherm.experiments.report import plots
from isotherm.experiments.report.document import Block, Section, Table, Text
from isotherm.experiments.report.tables import compared, corrected_table
from isotherm.experiments.results import Results, Summary
from isotherm.experiments.scoring import ALL
from isotherm.experiments.table4 import CALLED

__all__ = ["table4_section"]


def table4_section(title: str, results: Results) -> Section:
    """Table 4: one community against the rest."""
    blocks: list[Block] = []
    if results.cases(AUTHORS):
        caption = "Authors' protocol: F1 of the community over all nodes, mean of three communities"
        blocks += compared("table4", title, caption, results)
    if results.cases(CORRECTED):
        blocks.append(corrected_table(results))
    return Section(title, [*blocks, _called_table(results), *map(Text, _words(results))])


def _called_table(results: Results) -> Table:
    rows = [
        [
            f"{column(case)}, {protocol}",
            *(_times(results.summary(protocol, case, rule, CALLED)) for rule in plots.ORDER),
        ]
        for protocol in (AUTHORS, CORRECTED)
        for case in results.cases(protocol)
    ]
    caption = "How many nodes each rule calls members, for each true member"
    return Table(caption, ["graph and protocol", *plots.ORDER], rows)


def _times(summary: Summary | None) -> str:
    if summary is None:
        return ""
    digits = 0 if summary.mean >= 100 else 1 if summary.mean >= 1 else 2
    return f"{summary.mean:.{digits}f} ± {summary.std:.{digits}f}"


def _words(results: Results) -> list[str]:
    parts = [
        "With two classes centered and relative are one rule: a node is a member if its temperature is above the mean. "
        "A community here is between a fortieth and a thousandth of the graph, so that the mean is close to 0, and "
        "every node that is a little warmer is called a member: that is too many."
    ]
    vanilla, centered = (results.summary(CORRECTED, "amazon", rule, ALL) for rule in ("vanilla", "centered"))
    if vanilla and centered:
        parts.append(
            "**Amazon.** Its communities are nearly cut off from the rest, so that at equilibrium 0.5 is the right "
            f"threshold: vanilla has {vanilla.mean:.2f} and centered {centered.mean:.2f}. After ten sweeps centering "
            "is a matter of luck. Most of the graph is then still within a tenth of the temperature at which it began, "
            "the mean of the seeds. If the mean over all nodes is above that, only the community and what is near it "
            "are called members; if it is below, up to half of the graph is. Hence the large deviation, in the "
            "authors' run as here."
        )
    swept, settled = (results.summary(protocol, "dblp", "centered", ALL) for protocol in (AUTHORS, CORRECTED))
    if swept and settled:
        parts.append(
            f"**DBLP.** Its communities are not cut off. Centered falls from {swept.mean:.2f} after ten sweeps to "
            f"{settled.mean:.2f} at equilibrium, because heat then goes far beyond the community; vanilla finds next "
            "to nobody either way."
        )
    return parts
