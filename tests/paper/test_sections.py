"""The tables of the report follow from the results: other numbers, other rows."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from isotherm.labelling.rules import RULES
from isotherm.paper.block_experiments import DEGREES, ERROR, NODES, PREDICTED, SHARES
from isotherm.paper.document import Section, Table
from isotherm.paper.experiment import AUTHORS, CORRECTED, Measurement, Results, Setting
from isotherm.paper.graph_experiments import CALLED, LEAVING, WARMTH
from isotherm.paper.graph_experiments import PANEL_OPTIONS as OPTIONS
from isotherm.paper.report import summary_section
from isotherm.paper.scoring import ALL, LOST, OTHERS, REACHED, SHIFTED, UNREACHED
from isotherm.paper.sections import (
    chance_section,
    not_helping_section,
    panel_section,
    sbm_section,
    sbm_summary,
    table4_section,
    table_section,
)
from isotherm.paper.verdicts import Verdict, ends


def rows(section: Section, caption: str) -> list[list[str]]:
    (table,) = (b for b in section.blocks if isinstance(b, Table) and caption in b.caption)
    return [list(row) for row in table.rows]


def block_models(error: Callable[[str, str, int, float], float]) -> Results:
    """Made-up errors, by regime, rule, number of nodes and share of seeds."""
    results = Results()
    for regime, n, run in product(DEGREES, NODES, range(2)):
        measured = [Measurement(s, rule, ERROR, error(regime, rule, n, s)) for s in SHARES for rule in RULES]
        measured += [Measurement(s, "vanilla", PREDICTED, 0.4) for s in SHARES]
        measured += [Measurement(s, "", UNREACHED, 0.0) for s in SHARES]
        results.add(Setting(regime, str(n)), run, measured)
    return results


class TestBlockModels:
    def consistent(self, regime: str, rule: str, n: int, share: float) -> float:
        if rule in ("vanilla", "weighted"):
            return 0.5 - share
        if regime == "fixed degree":
            return 0.1 if rule == "centered" else 0.2
        return 0.0 if share > 0.1 else 10 / n

    def test_errors_and_exact_runs_of_the_largest_graphs(self) -> None:
        found = rows(sbm_section("", block_models(self.consistent)), "Mean error at n = 100,000")
        assert found[0][1:] == ["10 %", "20 %", "49 %", "49 %", "40 %", "0 %", "0 of 2", "0 of 2"]
        assert found[-1][:3] == ["logarithmic degree, 20 %", "0 %", "0 %"]
        assert found[-1][-2:] == ["2 of 2", "2 of 2"]

    def test_the_summary_has_the_errors(self) -> None:
        assert sbm_summary(block_models(self.consistent))[1:] == ["0.01 %", "0.01 %", "45 %", "45 %"]


def panel_results(score: Callable[[str, str, int], float], graphs: int = 12) -> Results:
    """Made-up scores, by the way to solve, the rule and the graph, with a little noise from run to run."""
    results = Results()
    for way, graph, run in product(OPTIONS, range(graphs), range(3)):
        measured = [Measurement(0, rule, OTHERS, score(way, rule, graph) + 1e-4 * run) for rule in RULES]
        results.add(Setting(way, f"{'abcdefghijklmnop'[graph]}_graph"), run, measured)
    return results


SCORES = {"centered": 0.5, "relative": 0.6, "vanilla": 0.2, "weighted": 0.3}


def grown(way: str, rule: str, graph: int) -> float:
    """A score that grows from graph to graph, and with it the gap between any two rules."""
    return SCORES[rule] * (1 + 0.02 * graph)


class TestPanel:
    def test_means_ranks_and_wins(self) -> None:
        section = panel_section("", panel_results(grown))
        assert rows(section, "Mean over 12 graphs")[1] == ["relative", "0.666", "1.00", "0.666", "1.00"]
        pair, wins, ties, losses, gap, p, p_families = rows(section, "Each pair of rules, equilibrium")[0]
        assert (pair, wins, ties, losses) == ("centered against relative", "0", "0", "12")
        assert gap == "\N{MINUS SIGN}0.111"
        assert p == p_families == "p = 0.003"
        assert rows(section, "Equilibrium against ten sweeps")[0][1:6] == ["0", "12", "0", "0.000", "p = 1.000"]

    def test_a_single_family_cannot_be_tested(self) -> None:
        results = Results()
        for way, graph, run in product(OPTIONS, range(12), range(2)):
            measured = [Measurement(0, rule, OTHERS, grown(way, rule, graph)) for rule in RULES]
            results.add(Setting(way, f"one_{graph}"), run, measured)
        section = panel_section("", results)
        assert rows(section, "Each pair of rules, equilibrium")[0][-1] == "p = 1.000"
        assert rows(section, "Mean over 12 graphs of 1 families")


class TestNotHelping:
    def test_graphs_on_which_another_rule_is_clearly_ahead(self) -> None:
        def score(way: str, rule: str, graph: int) -> float:
            return 0.4 if graph == 0 and rule == "weighted" else 0.2 if graph == 1 else SCORES[rule] * 0.7

        (section,) = not_helping_section({"panel": panel_results(score)})
        assert [row[:2] for row in rows(section, "ahead")] == [["panel, a_graph", "weighted"]]

    def test_graphs_of_table_4(self) -> None:
        results = Results()
        for (case, vanilla), run in product((("dblp", 0.1), ("amazon", 0.8)), range(2)):
            scores = {"centered": 0.2, "relative": 0.2, "vanilla": vanilla, "weighted": 0.1}
            results.add(Setting(CORRECTED, case), run, [Measurement(0, rule, ALL, v) for rule, v in scores.items()])
        (section,) = not_helping_section({"table4": results})
        assert rows(section, "ahead") == [
            ["table4, Amazon", "vanilla", "0.800 ± 0.000", "0.200 ± 0.000", "+0.600"],
        ]

    def test_nothing_run_is_nothing_said(self) -> None:
        assert not_helping_section({}) == []


class TestTables:
    def test_the_gain_over_the_published_mean(self) -> None:
        results = Results()
        for measure, value in ((ALL, 0.38), (OTHERS, 0.38), (REACHED, 0.58)):
            measured = [Measurement(0, rule, measure, value) for rule in RULES]
            results.add(Setting(CORRECTED, "citeseer"), 0, [*measured, Measurement(0, "", UNREACHED, 0.34)])
        gains = rows(table_section("table2", "", results), "gain over the published mean")
        assert gains == [["CS", "0.380 ± 0.000", "0.36", "+0.020", "34 %"]]
        scores = rows(summary_section({"table2": results}), "Each rule at equilibrium")
        assert scores == [["Table 2, CS", *["0.380"] * 4]]

    def test_members_called_and_the_side_of_the_mean(self) -> None:
        results = Results()
        for protocol, run in product((AUTHORS, CORRECTED), range(2)):
            measured = [Measurement(0, rule, m, 0.5) for rule in RULES for m in (ALL, OTHERS, CALLED)]
            for number in (1, 2, 3):
                measured.append(Measurement(number, "", WARMTH, 1.2 if number == 1 else 0.9))
                measured.append(Measurement(number, "", LEAVING, 0.03))
            results.add(Setting(protocol, "amazon"), run, measured)
        authors, corrected = rows(table4_section("", results), "called members")
        assert authors == ["Amazon, authors", *["0.50 ± 0.00"] * 4, "3 %", "2 of 6"]
        assert corrected[-2:] == ["3 %", ""]


class TestChance:
    def results(self, shift: float) -> tuple[Results, Results]:
        """Table 2 on CiteSeer with the published mean, and many draws whose mean is shifted."""
        rng = np.random.default_rng(0)
        few, many = Results(), Results()
        for run in range(10):
            few.add(Setting(AUTHORS, "citeseer"), run, [Measurement(0, "centered", SHIFTED, 0.36)])
        for run in range(100):
            measured = [Measurement(0, "centered", SHIFTED, rng.normal(0.36 + shift, 0.05))]
            setting = Setting(AUTHORS, "table2 citeseer")
            many.add(setting, run, [*measured, Measurement(0, "", LOST, float(run < 5))])
        return few, many

    @pytest.mark.parametrize(("shift", "unusual"), [(0.0, 0), (0.1, 1)])
    def test_the_published_mean_is_judged_by_many_draws(self, shift: float, unusual: int) -> None:
        few, many = self.results(shift)
        (row,) = rows(chance_section("", many, {"table2": few}), "Authors' protocol")
        assert row[:2] == ["table2, CS, centered", "0.360"]
        assert (row[-1] == "0 %") == bool(unusual)
        verdicts = rows(summary_section({"table2": few, "draws": many}), "against the published")
        assert verdicts[0][2] == Verdict.WITHIN.replace(" ", " 1 ", 1)
        assert verdicts[1][2] == f"{unusual} of the published means unusual"

    def test_an_entry_that_is_off_says_by_how_many_standard_errors(self) -> None:
        far = Results()
        for run in range(10):
            far.add(Setting(AUTHORS, "citeseer"), run, [Measurement(0, "centered", SHIFTED, 0.46 + 1e-3 * run)])
        (row,) = rows(table_section("table2", "", far), "Authors' protocol")
        assert row[5] == Verdict.OUTSIDE
        assert float(row[4]) == pytest.approx((0.1045 - 0.005) / (0.04 / np.sqrt(10)), abs=0.1)


def test_ends_of_figure_4_are_judged_by_the_deviation_of_the_runs() -> None:
    results = Results()
    for case, run in product(("cora", "wikispeedia"), range(4)):
        spread = 0.05 * (run % 2)
        measured = [Measurement(x, "centered", SHIFTED, 0.48 + spread) for x in (1, 10)]
        measured += [Measurement(x, "vanilla", SHIFTED, 0.4 + spread) for x in (1, 10)]
        results.add(Setting(AUTHORS, case), run, measured)
    verdicts = {(end.case, end.rule, end.x): end.verdict for end in ends(results)}
    assert verdicts["cora", "centered", 1] == Verdict.WITHIN
    assert verdicts["cora", "vanilla", 10] == Verdict.OUTSIDE
    assert verdicts["wikispeedia", "vanilla", 10] == Verdict.ELSEWHERE
