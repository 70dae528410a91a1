"""``isotherm suggest``: the table holds what the library says."""

import io
from pathlib import Path

import networkx as nx
import polars as pl
import pytest
from commands import Run, command, rounded, runner

import isotherm as iso
from isotherm.choices import SuggestPolicy
from isotherm.insight.suggestion import POLICIES

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")  # two seeds are enough here


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(tmp_path, capfd, monkeypatch)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_table_holds_what_the_library_says(run: Run, policy: SuggestPolicy) -> None:
    label = "tea" if policy == "likely" else None
    more = [] if label is None else ["--class", label]
    outcome = run("suggest", "edges.csv", "seeds.csv", "-n", "3", "--strategy", policy, *more)
    assert outcome.status == 0, outcome.err
    table = pl.read_csv(io.StringIO(outcome.out))
    clf = iso.NodeClassifier().fit(iso.read_graph("edges.csv"), {"ann": "tea", "gus": "coffee"})
    nodes, values = clf.suggest(3, policy=policy, label=label, return_values=True)
    places = clf.graph_.index(nodes)
    assert table.columns == ["node", "label", "guess", "confidence", "value"]
    assert table["node"].to_list() == nodes.tolist()
    assert table["label"].null_count() == 3
    assert table["guess"].to_list() == clf.labels_[places].tolist()
    assert table["confidence"].to_list() == pytest.approx(clf.confidence_[places])
    assert table["value"].to_list() == pytest.approx(values)
    assert "edges.csv: source=col 1" in outcome.err
    assert "3 rows to standard output" in outcome.err


def test_a_saved_classifier_suggests_the_same(run: Run) -> None:
    assert run("classify", "edges.csv", "seeds.csv", "-o", "labels.csv", "--save", "model.npz", "-q").status == 0
    fresh, saved = run("suggest", "edges.csv", "seeds.csv", "-q"), run("suggest", "model.npz", "-q")
    assert (saved.status, saved.err) == (0, "")
    assert rounded(saved.out) == rounded(fresh.out)
    assert saved.out.count("\n") == 6


def test_an_unreached_node_has_no_label(run: Run) -> None:
    with Path("edges.csv").open("a") as edges:
        edges.write("x,y,1\ny,z,1\n")
    outcome = run("suggest", "edges.csv", "seeds.csv", "-n", "1", "-q")
    node, label, guess, confidence, value = outcome.out.splitlines()[1].split(",")
    assert (node, label, guess, float(confidence)) == ("y", "", "", 0)
    assert 4 * 2**0.5 < float(value) < 4 * 3**0.5  # three nodes that are alike, and of which most of the heat stays


def test_no_guess_is_written_as_classify_writes_no_label(run: Run) -> None:
    with Path("edges.csv").open("a") as edges:
        edges.write("x,y,1\ny,z,1\n")
    assert run("classify", "edges.csv", "seeds.csv", "-q", "-o", "labels.parquet").status == 0
    assert run("suggest", "edges.csv", "seeds.csv", "-n", "100", "-q", "-o", "todo.parquet").status == 0
    todo, labels = pl.read_parquet("todo.parquet"), pl.read_parquet("labels.parquet")
    assert todo["guess"].dtype == todo["label"].dtype == labels["label"].dtype
    both = todo.join(labels, on="node", suffix="_written")
    assert both["guess"].to_list() == both["label_written"].to_list()
    assert both["guess"].null_count() == 3


def test_the_table_goes_to_a_file_that_is_not_there_yet(run: Run) -> None:
    assert run("suggest", "edges.csv", "seeds.csv", "-o", "todo.parquet").status == 0
    assert pl.read_parquet("todo.parquet").height == 5
    again = run("suggest", "edges.csv", "seeds.csv", "-o", "todo.parquet")
    assert again.status == 2
    assert "todo.parquet exists already" in again.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "isotherm suggest needs EDGES SEEDS, or MODEL with what classify --save wrote"),
        (["edges.csv", "seeds.csv", "more.csv"], "no 'more.csv': leave it out"),
        (["edges.csv", "seeds.csv", "-n", "0"], "-n is 0"),
        (["edges.csv", "seeds.csv", "--strategy", "best"], "diverse"),
        (
            ["edges.csv", "seeds.csv", "--strategy", "likely"],
            "--strategy likely needs the class to look for: set --class",
        ),
        (["edges.csv", "seeds.csv", "--class", "te"], "--class te, but no seed has this label: choose one of 'coffee'"),
        (
            ["edges.csv", "seeds.csv", "--strategy", "margin", "--class", "tea"],
            "--class goes with --strategy likely, not",
        ),
        (["edges.csv", "none.csv"], "none.csv"),
        (["edges.csv", "seeds.csv", "-o", "seeds.csv", "--force"], "seeds.csv is also an input"),
    ],
)
def test_bad_usage_is_one_sentence(run: Run, arguments: list[str], words: str) -> None:
    outcome = run("suggest", "-q", *arguments)
    assert outcome.status == 2
    assert words in outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""


def test_in_a_process_of_its_own(run: Run, tmp_path: Path) -> None:
    outcome = command("suggest", "edges.csv", "seeds.csv", "-n", "1", folder=tmp_path)
    assert outcome.status == 0
    assert outcome.out.splitlines()[1].startswith("dan,")
    quiet = command("suggest", "edges.csv", "seeds.csv", "-n", "1", "-q", folder=tmp_path)
    assert (quiet.out, quiet.err) == (outcome.out, "")


@pytest.mark.parametrize("policy", ["diverse", "uncertainty"])
def test_without_seeds_the_library_says_where_to_begin(run: Run, policy: SuggestPolicy) -> None:
    outcome = run("suggest", "edges.csv", "-n", "3", "--strategy", policy)
    assert outcome.status == 0, outcome.err
    table = pl.read_csv(io.StringIO(outcome.out))
    nodes, values = iso.suggest(iso.read_graph("edges.csv"), 3, policy=policy, return_values=True)
    assert table.columns == ["node", "label", "guess", "confidence", "value"]
    assert table["node"].to_list() == nodes.tolist()
    assert table["value"].to_list() == pytest.approx(values)
    assert table["label"].null_count() == table["guess"].null_count() == 3
    assert table["confidence"].to_list() == [0, 0, 0]
    assert "edges.csv: source=col 1" in outcome.err
    assert "no seeds: these nodes are the best to begin with" in outcome.err


def test_labels_inside_the_file_of_the_graph_are_seeds_if_they_are_named(run: Run) -> None:
    club = nx.path_graph(6)
    club.nodes[0]["side"], club.nodes[5]["side"] = "left", "right"
    nx.write_graphml(club, "club.graphml")
    inside, beside = run("suggest", "club.graphml", "--label", "side", "-q"), run("suggest", "club.graphml", "-q")
    assert {line.split(",")[0] for line in inside.out.splitlines()[1:]} == {"1", "2", "3", "4"}
    assert {line.split(",")[0] for line in beside.out.splitlines()[1:]} == {"0", "1", "2", "3", "4", "5"}
    refused = run("suggest", "edges.csv", "--label", "side")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.startswith("isotherm: SEEDS is missing")


def test_the_first_sheet_filled_in_is_a_file_of_seeds(run: Run) -> None:
    assert run("suggest", "edges.csv", "-n", "3", "-o", "sheet.csv", "-q").status == 0
    sheet = pl.read_csv("sheet.csv")
    answers = dict(zip(sheet["node"].to_list()[:2], ["tea", "coffee"], strict=True))
    sheet.with_columns(label=pl.Series(["tea", "coffee", None])).write_csv("sheet.csv")
    assert iso.read_seeds("sheet.csv") == answers
    assert run("classify", "edges.csv", "sheet.csv", "-q").status == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--strategy", "margin"], "--strategy margin goes by the labels of a fit, and without seeds there is none"),
        (["--class", "tea"], "--class needs seeds that show what the class is"),
        (["--more-seeds", "seeds.csv"], "--more-seeds adds to a file of seeds: name that file after edges.csv"),
        (["--features", "seeds.csv"], "without seeds, suggestions go by links alone: leave out --features"),
    ],
)
def test_what_needs_seeds_is_refused_without_them(run: Run, options: list[str], sentence: str) -> None:
    outcome = run("suggest", "edges.csv", *options)
    assert outcome.status == 2
    assert outcome.err.startswith(f"isotherm: {sentence}")
    assert outcome.err.count("\n") == 1
