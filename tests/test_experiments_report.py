"""The parts of the report: verdicts, words, tests over graphs, and the section on block models."""

import re
from itertools import product

import numpy as np
import pytest
from scipy.stats import wilcoxon

from isotherm.experiments.base import AUTHORS, Measurement, Setting
from isotherm.experiments.report import plots, sbm
from isotherm.experiments.report.comparison import compare, holm
from isotherm.experiments.report.curves import curve_verdicts
from isotherm.experiments.report.document import Block, Document, Picture, Section, Table, Text
from isotherm.experiments.report.entries import ELSEWHERE, entries
from isotherm.experiments.report.html import to_html
from isotherm.experiments.report.markdown import to_markdown
from isotherm.experiments.report.published import CURVES, TABLES, Published
from isotherm.experiments.report.verdicts import CHANCE, OUTSIDE, WITHIN, judge, judge_curve
from isotherm.experiments.results import Results, Summary
from isotherm.experiments.sbm import DEGREES, ERROR, NODES, PREDICTED, SHARES
from isotherm.experiments.scoring import LOST, SHIFTED, UNREACHED


class TestVerdicts:
    @pytest.mark.parametrize(
        ("mean", "std", "verdict"),
        [
            (0.36, 0.1, WITHIN),
            (0.316, 0.1, WITHIN),  # 0.04 and 0.005 for rounding
            (0.404, 0.0, WITHIN),
            (0.314, 0.0, OUTSIDE),
            (0.314, 0.1, CHANCE),
            (0.20, 0.1, OUTSIDE),
        ],
    )
    def test_tables(self, mean: float, std: float, verdict: str) -> None:
        assert judge(Summary(mean, std, 10), Published(0.36, 0.04)) == verdict

    def test_fewer_runs_are_given_more_room(self) -> None:
        assert judge(Summary(0.2, 0.1, 2), Published(0.36, 0.04)) == OUTSIDE
        assert judge(Summary(0.25, 0.1, 2), Published(0.36, 0.04)) == CHANCE

    def test_curves(self) -> None:
        verdict = judge_curve("centered", [1, 2, 3], [0.9, 0.8, 0.7], [0.91, 0.84, 0.7])
        assert (round(verdict.distance, 6), verdict.x, verdict.kept) == (0.04, 2, False)
        assert judge_curve("vanilla", [1, 2, 3], [0.9, 0.8, 0.7], [0.91, 0.84, 0.7]).kept

    def test_published_curves_agree_with_themselves(self) -> None:
        for name, curves in CURVES.items():
            results = Results()
            for rule, curve in curves.items():
                points = [Measurement(x, rule, SHIFTED, y) for x, y in enumerate(curve, start=1)]
                results.add(Setting(AUTHORS, "case"), 0, points)
            assert all(verdict.distance == 0 for verdict in curve_verdicts(name, results).values())

    def test_entries_say_why(self) -> None:
        results = Results()
        for run, (value, lost) in enumerate([(0.36, 0)] * 5 + [(0.16, 1)] * 5):
            measured = [Measurement(0, "centered", SHIFTED, value), Measurement(0, "", LOST, lost)]
            results.add(Setting(AUTHORS, "citeseer"), run, measured)
            results.add(Setting(AUTHORS, "wikispeedia"), run, measured)
        real, stand_in = entries("table2", results)
        assert real.verdict == CHANCE or real.verdict == OUTSIDE
        assert "5 of 10 draws lost a class; the others have 0.36" in real.why
        assert (stand_in.verdict, stand_in.why) == (ELSEWHERE, "wikispeedia stands in for it")

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

    def test_a_family_counts_once(self) -> None:
        first, second = np.arange(12.0), np.arange(12.0) - 1
        assert compare(first, second, ["a"] * 12).p_families == 1
        assert compare(first, second, list("abcdefghijkl")).p_families < 0.001

    def test_holm_keeps_the_order_and_never_exceeds_one(self) -> None:
        assert holm([0.5, 0.001, 0.4]) == [0.8, 0.003, 0.8]


class TestDocument:
    def document(self) -> Document:
        figure, (axes,) = plots.panels(1)
        plots.curve(axes, "centered", plots.Curve([1, 2], [0.5, 0.25], [0.1, 0.1]))
        plots.hollow(axes, "centered", [1, 2], [0.5, 0.25])
        axes.set_title("p = 0.005 & <q>")
        blocks: list[Block] = [
            Text("1 < 2 & `code` and **bold**"),
            Table("a | b", ["x", "<y>"], [["1", "a phrase that is long enough to be broken"], ["2", ""]]),
            Picture("picture", figure, 'said of "it"'),
        ]
        return Document("T & T", [Section("Table 1: one, two", blocks)])

    def test_html_escapes_all_text(self) -> None:
        document = self.document()
        text = to_html(document, {"picture": b"<svg/>"})
        assert "<title>T &amp; T</title>" in text
        assert "<p>1 &lt; 2 &amp; <code>code</code> and <strong>bold</strong></p>" in text
        assert '<th class="words">&lt;y&gt;</th>' in text
        assert 'alt="said of &quot;it&quot;"' in text
        assert 'id="table-1-one-two"' in text

    def test_markdown_escapes_bars(self) -> None:
        text = to_markdown(self.document(), "figures")
        assert '![said of "it"](figures/picture.svg)' in text
        assert "| x | <y> |\n| --- | ---: |\n| 1 | a phrase" in text

    def test_pictures_are_rounded_but_not_their_words(self) -> None:
        (picture,) = self.document().pictures
        text = plots.svg(picture.figure).decode()
        assert "p = 0.005 &amp; &lt;q&gt;" in text
        assert text == plots.svg(picture.figure).decode()
        assert not re.search(r'="[^"]*\d\.\d{3,}', text)
        assert 'style="fill: #0072b2"' in text  # measured
        assert 'style="fill-opacity: 0"' in text  # published


def test_the_section_on_block_models_concludes_from_its_numbers() -> None:
    """Errors made up so that centered falls with n where the degree grows, and is exact with many seeds."""
    results = Results()
    for regime, n, run in product(DEGREES, NODES, range(2)):
        measured = []
        for share in SHARES:
            falling = 0.0 if share > 0.1 else 10 / n
            error = 0.1 if regime == "fixed degree" else falling
            measured += [Measurement(share, rule, ERROR, error) for rule in ("centered", "relative")]
            measured += [Measurement(share, rule, ERROR, 0.5) for rule in ("vanilla", "weighted")]
            measured += [Measurement(share, "vanilla", PREDICTED, 0.5), Measurement(share, "", UNREACHED, 0.0)]
        results.add(Setting(regime, str(n)), run, measured)
    section = sbm.sbm_section("Block models", results)
    words = section.blocks[-1]
    assert isinstance(words, Text)
    assert "errs on 0.100 of the nodes at n = 1,000 and on 0.100 at n = 100,000" in words.text
    assert "1 % seeds from 1 % to 0.01 %" in words.text
    assert "With 20 % seeds most runs at n = 100,000 have not a single wrong label" in words.text
    assert "20 % seeds from" not in words.text
