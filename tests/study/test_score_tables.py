import re
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

import isotherm as iso
from isotherm.probability.trial import reliability
from isotherm.study import score_tables
from isotherm.study.datasets import karate_club
from isotherm.study.score_tables import ScoreTable, confusion_table, score_cell
from isotherm.study.scores import Scores


def test_a_confusion_matrix_that_is_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = csr_array(np.array([[5, 3, 0], [1, 9, 2]]))
    classes = np.array(["tea", "coffee"])
    monkeypatch.setenv("COLUMNS", "20")
    whole = ["        tea  coffee  unreached", "tea       5       3          0", "coffee    1       9          2"]
    assert confusion_table(classes, counts).splitlines() == whole
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    mistakes = [line.split() for line in confusion_table(classes, counts).splitlines()[3:]]
    assert mistakes == [
        ["tea", "coffee", "3", "0.38"],
        ["coffee", "unreached", "2", "0.17"],
        ["coffee", "tea", "1", "0.08"],
    ]
    monkeypatch.setenv("COLUMNS", "80")
    assert confusion_table(classes, counts).splitlines() == whole
    monkeypatch.setattr(score_tables, "MOST_COLUMNS", 1)
    assert [line.split() for line in confusion_table(classes, counts).splitlines()[3:]] == mistakes


def test_scores_in_latex() -> None:
    some, counts = np.array([0.5, 0.75]), csr_array((2, 3))
    low, high = (Scores(some, some, some * np.nan, some, counts, reliability(some, some == 1)) for _ in range(2))
    table = ScoreTable("rule", {"mean_rule": low, "best": high}, "best", ("accuracy", "calibration_error"))
    assert table.latex().splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"rule & accuracy \\",
        r"\midrule",
        r"mean\_rule & $0.625 \pm 0.125$ \\",
        r"\textbf{best} & $\boldsymbol{0.625 \pm 0.125}$ \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_one_draw_has_no_deviation() -> None:
    assert score_cell(np.array([0.5])) == "0.500"
    assert score_cell(np.array([0.5, 0.7])).endswith("0.100")
    club = karate_club()
    found = iso.evaluate(club.graph, club.labels, fraction=0.3, runs=1, rules=["centered"])
    assert "0.000" not in found.to_latex()
    assert "\N{PLUS-MINUS SIGN}" not in str(found)


def test_an_evaluation_shows_itself() -> None:
    club = karate_club()
    found = iso.evaluate(club.graph, club.labels, fraction=0.3, runs=3, rules=["centered", "balanced"])
    title, names, *rows = [line for line in str(found).splitlines() if line][1:]
    assert title.startswith("the largest class has")
    assert names.split() == ["rule", "macro-F1", "micro-F1", "accuracy", "ECE"]
    shown = {row.split()[0]: float(row.split()[7]) for row in rows}  # macro-F1 and micro-F1 are mean, sign, deviation
    assert shown == {name: pytest.approx(each.accuracy.mean(), abs=6e-4) for name, each in found.rules.items()}
    assert repr(found) == f"<Evaluation: 2 rules, best {found.best}>"
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", found._repr_html_())
    assert [cells[0], cells[6]] == ["centered", "balanced"]
    draws = found.to_pandas()
    means = draws.groupby("rule")["accuracy"].mean()
    assert means["balanced"] == pytest.approx(found.rules["balanced"].accuracy.mean())


def test_a_comparison_shows_itself() -> None:
    club = karate_club()
    found = iso.compare(club.graph, club.labels, fraction=0.3, runs=2, peers=False)
    assert str(found).splitlines()[0].startswith("10 labels shown, 24 hidden labels, 2 classes, 2 draws")
    assert repr(found) == f"<Comparison: {len(found.methods)} methods, best {found.best}>"
    assert [line.split("  ")[0] for line in str(found).splitlines()[3 : 3 + len(found.methods)]] == list(found.ranked)
    assert set(found.to_pandas()["method"]) == set(found.methods)
