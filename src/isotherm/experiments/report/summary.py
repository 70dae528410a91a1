"""The first section: what came out, in short."""

from collections import Counter
from collections.abc import Mapping

from isotherm.datasets.catalogue import CATALOGUE
from isotherm.experiments import figure1
from isotherm.experiments.base import AUTHORS, CORRECTED
from isotherm.experiments.catalogue import EXPERIMENTS
from isotherm.experiments.real_graphs import column, stands_in
from isotherm.experiments.report import chance, panel, sbm
from isotherm.experiments.report.curves import curve_verdicts
from isotherm.experiments.report.document import Block, Section, Table, Text
from isotherm.experiments.report.entries import entries
from isotherm.experiments.report.figure4 import ends
from isotherm.experiments.report.published import CURVES, TABLES
from isotherm.experiments.report.verdicts import CHANCE, ELSEWHERE, OUTSIDE, WITHIN, marked
from isotherm.experiments.report.words import listed, mean_of, numbered, signed
from isotherm.experiments.results import Results
from isotherm.experiments.scoring import ALL, REACHED

__all__ = ["short_section"]


def short_section(results: Mapping[str, Results]) -> Section:
    """Verdicts, counted, and what else there is to know before all numbers."""
    blocks: list[Block] = [
        Text(
            "Every figure and table of N. de Lara and T. Bonald, “A Consistent Diffusion-Based Algorithm for "
            "Semi-Supervised Classification on Graphs” (2020), computed anew: each measured number beside the "
            "published one, with a verdict that is computed from both."
        )
    ]
    rows = [row for name in results for row in _verdicts(name, results)]
    if rows:
        header = ["experiment", "compared", "verdicts"]
        blocks.append(Table("The authors' protocol against the published numbers", header, rows))
    return Section("In short", [*blocks, *map(Text, _findings(results))])


def _verdicts(name: str, results: Mapping[str, Results]) -> list[list[str]]:
    """The line of an experiment, if there is anything to compare."""
    own, label = results[name], EXPERIMENTS[name].title.partition(":")[0]
    if name == "figure1":
        wrong = own.summary("two seeds", "Karate Club", "centered", figure1.WRONG_NODES)
        verdict = marked(WITHIN if wrong and wrong.mean == 1 else OUTSIDE).split()[0]
        return [["Figure 1", "wrong nodes, published: 1", f"{verdict} {wrong.mean:.0f}" if wrong else ""]]
    if not own.cases(AUTHORS):
        return []
    if name in CURVES:
        curves = curve_verdicts(name, own)
        kept = sum(verdict.kept for verdict in curves.values())
        worst = max(verdict.distance for verdict in curves.values())
        counts = Counter({WITHIN: kept, OUTSIDE: len(curves) - kept})
        words = _counted(counts).replace("one published deviation", f"their tolerance, at most {worst:.3f} off")
        return [[label, numbered(len(curves), "curve"), words]]
    if name in TABLES:
        counts = Counter(entry.verdict for entry in entries(name, own))
        return [[label, _compared(counts, "entry"), _counted(counts)]]
    if name == "figure4":
        counts = Counter(end.verdict for end in ends(own))
        words = _counted(counts).replace("published deviation", "deviation of the runs")
        return [[label, _compared(counts, "end"), words]]
    return []


def _compared(counts: Counter[str], word: str) -> str:
    stands = counts[ELSEWHERE]
    return numbered(counts.total() - stands, word) + (f", and {stands} on stand-ins" if stands else "")


def _counted(counts: Counter[str]) -> str:
    """How often each verdict was given.

    >>> _counted(Counter({WITHIN: 5, OUTSIDE: 1}))
    '✓ 5 within one published deviation, ✗ 1 outside'
    """
    words = [marked(kind).replace(" ", f" {counts[kind]} ", 1) for kind in (WITHIN, CHANCE, OUTSIDE) if counts[kind]]
    return ", ".join(words)


def _findings(results: Mapping[str, Results]) -> list[str]:
    """Plain statements, each from the results."""
    found = [_stand_ins(results)]
    table2, table4 = results.get("table2"), results.get("table4")
    if any(each.cases(AUTHORS) for each in results.values()):
        found.append(
            "**Slips.** The authors' program takes column numbers for class numbers, so that right answers count as "
            "wrong where a class drew no seed; its weighted rule normalises over some of the seeds; and in figure 3b "
            "the first block is larger by one unit than the axis says. The authors' protocol repeats all three."
        )
    if table2 and table2.cases(CORRECTED):
        found.append(_gain(table2))
    if table4 and table4.cases(CORRECTED):
        parts = [_both(table4, case) for case in table4.cases(CORRECTED)]
        found.append(f"**Communities.** At equilibrium centered and vanilla have in table 4 {listed(parts)}.")
    if "draws" in results:
        found.append(f"**Chance.** {chance.in_short(results['draws'], results)}")
    if "panel" in results:
        found.append(panel.in_short(results["panel"]))
    if "sbm" in results:
        found.append(sbm.in_short(results["sbm"]))
    return list(filter(None, found))


def _stand_ins(results: Mapping[str, Results]) -> str:
    known = {name for asked, entry in CATALOGUE.items() for name in (asked, *entry.stand_ins)}
    tables = [each for name, each in results.items() if name in TABLES or name == "figure4"]
    cases = sorted({case for each in tables for case in each.cases(AUTHORS) if case in known})
    stands = [f"{column(case)} ({case})" for case in cases if stands_in(case)]
    if not stands:
        return ""
    verb = "is another graph" if len(stands) == 1 else "are other graphs"
    words = (
        f"**Stand-ins.** {listed(stands)} {verb} than the paper's, which could not be had. A star marks them, and "
        "there is no verdict on them."
    )
    return words if "wikilinks" in cases else f"{words} WL, with three million articles, was not at hand either."


def _gain(table2: Results) -> str:
    """The corrected protocol against the published means, on the paper's own graphs."""
    parts = []
    for case in table2.cases(CORRECTED):
        published = TABLES["table2"].get((column(case), "centered"))
        if published:
            mean, reached = (mean_of(table2, CORRECTED, case, "centered", measure) for measure in (ALL, REACHED))
            parts.append(
                f"{column(case)} {mean:.2f} ({signed(mean - published.mean)} against the published mean; {reached:.2f} "
                "on the nodes that a seed reaches)"
            )
    if not parts:
        return ""
    how = "at equilibrium and with every class in its place"
    return f"**As the text has it**, {how}, centered has in table 2 on {listed(parts)}."


def _both(table4: Results, case: str) -> str:
    centered, vanilla = (mean_of(table4, CORRECTED, case, rule, ALL) for rule in ("centered", "vanilla"))
    return f"{centered:.2f} against {vanilla:.2f} on {column(case)}"
