"""``isotherm check``: the tables hold what the library says."""

import json
from pathlib import Path

import networkx as nx
import polars as pl
import pytest
from commands import Run, runner

import isotherm as iso

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """In a folder with the Karate Club, whose member 3 has a wrong label."""
    run = runner(tmp_path, capfd, monkeypatch)
    club = nx.karate_club_graph()
    members = {node: club.nodes[node]["club"] for node in range(0, 34, 2)} | {3: "Officer"}
    Path("club.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in club.edges))
    Path("members.csv").write_text("member,side\n" + "".join(f"{node},{side}\n" for node, side in members.items()))
    nx.set_node_attributes(club, members, "side")
    nx.write_graphml(club, "club.graphml")
    return run


def doubtful(k: int | None = None) -> iso.DoubtfulSeeds:
    graph, seeds = iso.read_labelled("club.csv", "members.csv")
    return iso.NodeClassifier().fit(graph, seeds).doubtful_seeds(k)


def test_the_table_for_people_is_that_of_the_library(run: Run) -> None:
    outcome = run("check", "club.csv", "members.csv")
    assert outcome.status == 0, outcome.err
    assert outcome.out == f"{doubtful()}\n"
    assert outcome.out.splitlines()[3].split()[:3] == ["3", "Officer", "Mr."]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "arrow", "xlsx"])
def test_the_file_holds_what_the_library_says(run: Run, suffix: str) -> None:
    outcome = run("check", "club.csv", "members.csv", "-n", "5", "-o", f"sheet.{suffix}")
    assert outcome.status == 0, outcome.err
    assert f"5 rows to sheet.{suffix}" in outcome.err
    assert outcome.out == ""
    if suffix in ("csv", "tsv"):
        table = pl.read_csv("sheet." + suffix, separator="\t" if suffix == "tsv" else ",")
        expected = doubtful(5)
        assert table.columns == ["member", "side", "guess", "confidence", "doubt"]
        assert table["member"].cast(str).to_list() == expected.seed.tolist()
        assert table["side"].to_list() == expected.label.tolist()
        assert table["doubt"].to_list() == pytest.approx(expected.doubt)


def test_a_corrected_sheet_is_a_file_of_seeds(run: Run) -> None:
    assert run("check", "club.csv", "members.csv", "-o", "sheet.csv", "-q").status == 0
    rows = Path("sheet.csv").read_text().replace("3,Officer", "3,Mr. Hi", 1)
    Path("sheet.csv").write_text(rows)
    outcome = run("check", "club.csv", "members.csv", "--more-seeds", "sheet.csv", "--json", "-q")
    assert outcome.status == 0, outcome.err
    assert "3" not in [row["seed"] for row in json.loads(outcome.out)]


def test_json_has_all_digits(run: Run) -> None:
    outcome = run("check", "club.csv", "members.csv", "--json", "-n", "4")
    found = doubtful(4)
    assert json.loads(outcome.out) == found.rows()


def test_labels_inside_a_graph_and_saved_models_are_checked_too(run: Run) -> None:
    expected = run("check", "club.csv", "members.csv", "-q", "--json")
    assert run("classify", "club.csv", "members.csv", "-o", "x.csv", "--save", "model.npz", "-q").status == 0
    saved = run("check", "model.npz", "-q", "--json")
    inside = run("check", "club.graphml", "--label", "side", "-q", "--unweighted", "--json")
    for outcome in (saved, inside):
        assert outcome.status == 0, outcome.err
        assert [row["seed"] for row in json.loads(outcome.out)] == [row["seed"] for row in json.loads(expected.out)]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("club.csv",), "SEEDS is missing"),
        (("club.csv", "members.csv", "3"), "leave it out"),
        (("club.csv", "members.csv", "--rule", "centered", "--no-confidence"), "hidden seeds, but --no-confidence"),
        (("club.csv", "members.csv", "--multi-label"), "one label each"),
        (("club.csv", "members.csv", "--safe-cells"), "--safe-cells is for a table"),
        (("club.csv", "members.csv", "--json", "-o", "-"), "both for standard output"),
        (("club.csv", "members.csv", "-o", "members.csv"), "is also an input"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(run: Run, arguments: tuple[str, ...], sentence: str) -> None:
    outcome = run("check", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert sentence in outcome.err.splitlines()[-1]


def test_seeds_with_several_labels_are_refused(run: Run) -> None:
    outcome = run("check", "club.csv", "members.csv", "--multi-label")
    assert outcome.status == 2
    assert "isotherm: isotherm check is for seeds with one label each" in outcome.err
