"""The first section, with the verdicts counted and the mean score of each rule, and the last, on how it was run."""

from collections import Counter
from collections.abc import Mapping
from importlib.metadata import version
from typing import NamedTuple

from isotherm import kernels
from isotherm.paper import figure1
from isotherm.paper.experiments import EXPERIMENTS
from isotherm.paper.report.page.document import Block, Section, Table
from isotherm.paper.report.page.pictures import ORDER
from isotherm.paper.report.published import CURVES, TABLES
from isotherm.paper.report.sections import chance, panel, sbm
from isotherm.paper.report.texts import words
from isotherm.paper.report.verdicts import Verdict, curve_verdicts, ends, entries
from isotherm.paper.running.experiment import AUTHORS, CORRECTED
from isotherm.paper.running.real_graphs import BOTH_SIDES, column, stands_in
from isotherm.paper.running.results import Results
from isotherm.paper.running.scoring import ALL

__all__ = ["Conditions", "run_section", "summary_section"]


class Conditions(NamedTuple):
    """How the runs were made."""

    runs: int
    seed: int
    processes: int


def summary_section(results: Mapping[str, Results]) -> Section:
    """What a reader should know before all the numbers."""
    blocks: list[Block] = [*words("in short")]
    if rows := [row for name in results for row in _verdict_rows(name, results)]:
        header = ["experiment", "compared", "verdicts"]
        blocks.append(Table("The authors' protocol against the published numbers", header, rows))
    cases = {case for name, each in results.items() for case in each.cases(AUTHORS) if name != "draws"}
    if any(stands_in(case) for case in cases):
        blocks += words("stand-ins")
    if cases:
        blocks += words("mistakes")
    if scores := _score_rows(results):
        caption = "Each rule at equilibrium; F1 or macro-F1 over all nodes, unless it says otherwise"
        blocks += [*words("equilibrium"), Table(caption, ["experiment", *ORDER], scores)]
    return Section("In short", blocks)


def _verdict_rows(name: str, results: Mapping[str, Results]) -> list[list[str]]:
    """The row of an experiment, if there is anything to compare."""
    own, label = results[name], EXPERIMENTS[name].title.partition(":")[0]
    if name == "figure1":
        wrong = own.mean("two seeds", "Karate Club", "centered", figure1.WRONG_NODES)
        mark = (Verdict.WITHIN if wrong == 1 else Verdict.OUTSIDE)[0]
        return [[label, "wrong nodes, published: 1", f"{mark} {wrong:.0f}"]]
    if not own.cases(AUTHORS):
        return []
    if name in CURVES:
        curves = curve_verdicts(name, own).values()
        tolerance = f"their tolerance, at most {max(curve.distance for curve in curves):.3f} off"
        compared, verdicts = _counted([curve.verdict for curve in curves], "curves")
        return [[label, compared, verdicts.replace("one published deviation", tolerance)]]
    if name in TABLES:
        return [[label, *_counted([entry.verdict for entry in entries(name, own)], "entries")]]
    if name == "figure4":
        compared, verdicts = _counted([end.verdict for end in ends(own)], "ends of curves")
        return [[label, compared, verdicts.replace("published deviation", "deviation of the runs")]]
    if name == "draws" and (shares := [drawn.share for drawn in chance.drawn_often(own, results)]):
        unusual = sum(share < chance.UNUSUAL for share in shares)
        return [[label, f"{len(shares)} entries over many draws", f"{unusual} of the published means unusual"]]
    return []


def _counted(verdicts: list[Verdict], things: str) -> list[str]:
    """How many things were compared, and how often each verdict was given.

    >>> _counted([Verdict.WITHIN, Verdict.OUTSIDE, Verdict.WITHIN], "entries")
    ['3 entries', '✓ 2 within one published deviation, ✗ 1 outside']
    """
    counts = Counter(verdicts)
    stand_ins = counts.pop(Verdict.ELSEWHERE, 0)
    given = [each.replace(" ", f" {counts[each]} ", 1) for each in Verdict if counts[each]]
    return [f"{counts.total()} {things}{f', and {stand_ins} on stand-ins' if stand_ins else ''}", ", ".join(given)]


def _score_rows(results: Mapping[str, Results]) -> list[list[str]]:
    """The mean score of each rule in the corrected protocol, and beyond the paper."""
    rows = [
        [f"{EXPERIMENTS[name].title.partition(':')[0]}, {column(case)}", *_means(results[name], case)]
        for name in TABLES
        if name in results
        for case in results[name].cases(CORRECTED)
        if not stands_in(case) and not case.endswith(BOTH_SIDES)
    ]
    if "panel" in results:
        rows.append(panel.summary_row(results["panel"]))
    if "sbm" in results:
        rows.append(sbm.summary_row(results["sbm"]))
    return rows


def _means(results: Results, case: str) -> list[str]:
    return [f"{results.mean(CORRECTED, case, rule, ALL):.3f}" for rule in ORDER]


def run_section(conditions: Conditions) -> Section:
    """How to get the same numbers again."""
    rows = [
        ["isotherm", version("isotherm")],
        ["kernels", kernels.description().partition(",")[0]],
        ["runs of each setting", str(conditions.runs)],
        ["random state", str(conditions.seed)],
        ["processes, of one thread each", str(conditions.processes)],
    ]
    return Section("How it was run", [Table("The conditions", ["", "this report"], rows), *words("run")])
