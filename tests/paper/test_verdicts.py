"""Verdicts on measured numbers, and tests over many graphs."""

import numpy as np
import pytest
from scipy.stats import norm, wilcoxon

from isotherm.paper.document import words
from isotherm.paper.experiment import AUTHORS, Measurement, Results, Setting, Summary
from isotherm.paper.scoring import SHIFTED
from isotherm.paper.verdicts import (
    CURVES,
    TABLES,
    Published,
    Verdict,
    as_far,
    compare,
    compare_all,
    curve_verdicts,
    entries,
    holm,
    judge,
    judge_curve,
)


class TestVerdicts:
    @pytest.mark.parametrize(
        ("mean", "std", "verdict"),
        [
            (0.36, 0.1, Verdict.WITHIN),
            (0.316, 0.1, Verdict.WITHIN),  # 0.04 and 0.005 for rounding
            (0.404, 0.0, Verdict.WITHIN),
            (0.314, 0.0, Verdict.OUTSIDE),
            (0.314, 0.1, Verdict.CHANCE),
            (0.20, 0.1, Verdict.OUTSIDE),
        ],
    )
    def test_tables(self, mean: float, std: float, verdict: str) -> None:
        assert judge(Summary(mean, std, 10), Published(0.36, 0.04)) == verdict

    def test_the_output_of_the_authors_program_counts_too(self) -> None:
        assert judge(Summary(0.25, 0.1, 10), Published(0.16, 0.01)) == Verdict.OUTSIDE
        assert judge(Summary(0.25, 0.1, 10), Published(0.16, 0.01, program=(0.21, 0.05))) == Verdict.WITHIN

    def test_fewer_runs_are_given_more_room(self) -> None:
        assert judge(Summary(0.2, 0.1, 2), Published(0.36, 0.04)) == Verdict.OUTSIDE
        assert judge(Summary(0.25, 0.1, 2), Published(0.36, 0.04)) == Verdict.CHANCE

    def test_curves(self) -> None:
        verdict = judge_curve("centered", [1, 2, 3], [0.9, 0.8, 0.7], [0.91, 0.84, 0.7])
        assert (round(verdict.distance, 6), verdict.x, verdict.verdict) == (0.04, 2, Verdict.OUTSIDE)
        assert judge_curve("vanilla", [1, 2, 3], [0.9, 0.8, 0.7], [0.91, 0.84, 0.7]).verdict is Verdict.WITHIN

    def test_published_curves_agree_with_themselves(self) -> None:
        for name, curves in CURVES.items():
            results = Results()
            for rule, curve in curves.items():
                points = [Measurement(x, rule, SHIFTED, y) for x, y in enumerate(curve, start=1)]
                results.add(Setting(AUTHORS, "case"), 0, points)
            assert all(verdict.distance == 0 for verdict in curve_verdicts(name, results).values())

    def test_a_stand_in_gets_no_verdict(self) -> None:
        results = Results()
        for run, value in enumerate([0.36] * 5 + [0.16] * 5):
            measured = [Measurement(0, "centered", SHIFTED, value)]
            results.add(Setting(AUTHORS, "citeseer"), run, measured)
            results.add(Setting(AUTHORS, "wikispeedia"), run, measured)
        assert [entry.verdict for entry in entries("table2", results)] == [Verdict.OUTSIDE, Verdict.ELSEWHERE]

    def test_the_report_says_what_each_verdict_means(self) -> None:
        *_, caption, table = map(str, words("protocols"))
        assert caption == "*What the verdicts mean*"
        assert [row.split(" | ")[0] for row in table.splitlines()[2:]] == [f"| {verdict}" for verdict in Verdict]

    def test_many_draws_tell_chance(self) -> None:
        """A mean of ten is normal here: its deviation is 0.1 / sqrt(10), that of the mean of all is small."""
        many = np.random.default_rng(1).normal(0.3, 0.1, 400)
        for published in (0.3, 0.34, 0.38):
            distance = max(abs(published - many.mean()) - 0.005, 0)
            expected = 2 * norm.sf(distance / (many.std() * np.sqrt(1 / 10 + 1 / 400)))
            assert as_far(many, Published(published, 0.1)) == pytest.approx(expected, abs=0.03)
        assert as_far(many, Published(0.9, 0.1, program=(0.3, 0.1))) > 0.9

    def test_tables_have_all_columns_of_the_paper(self) -> None:
        assert {column for column, _ in TABLES["table2"]} == {"CO", "CS", "WS", "WV", "WL"}
        assert {column for column, _ in TABLES["table4"]} == {"DBLP", "Amazon"}


class TestComparison:
    def test_against_scipy(self) -> None:
        rng = np.random.default_rng(0)
        first, second = rng.random((2, 20))
        found = compare(first, second, [str(i) for i in range(20)])
        assert found.p == found.p_families == pytest.approx(wilcoxon(first, second).pvalue)
        assert found.wins + found.losses == 20

    def test_ties_are_counted_and_say_nothing(self) -> None:
        gap = np.array([0, 0, 1, 2, -3, 4, 5, 6, 7.0])
        found = compare(gap, np.zeros(9), list("abcdefghi"))
        assert (found.wins, found.ties, found.losses) == (6, 2, 1)
        assert found.p == pytest.approx(wilcoxon(gap[2:]).pvalue)

    def test_several_pairs_are_corrected_for_their_number(self) -> None:
        rng = np.random.default_rng(0)
        base = rng.random(20)
        pairs = {"a": (base + 1, base), "b": (base + rng.normal(0.2, 1, 20), base)}
        families = [str(i // 2) for i in range(20)]
        single = {name: compare(*pair, families) for name, pair in pairs.items()}
        both = compare_all(pairs, families)
        assert both["a"].p == pytest.approx(2 * single["a"].p)
        assert both["b"].p == pytest.approx(single["b"].p)
        assert both["a"].p_families == pytest.approx(2 * single["a"].p_families)

    def test_a_family_counts_once(self) -> None:
        first, second = 2 * np.arange(1.0, 13), np.arange(12.0)
        assert compare(first, second, ["a"] * 12).p_families == 1
        assert compare(first, second, list("abcdefghijkl")).p_families < 0.001

    def test_holm_keeps_the_order_and_never_exceeds_one(self) -> None:
        assert holm([0.5, 0.001, 0.4]) == [0.8, 0.003, 0.8]
