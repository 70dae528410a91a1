"""``isotherm classify`` of labels that are not certain, or several for a node."""

import json
from pathlib import Path

import polars as pl
import pytest
from commands import Run, runner

import isotherm as iso
from isotherm import read_graph, write_labels


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(tmp_path, capfd, monkeypatch)


def rows(text: str) -> list[tuple[str, str | None, float]]:
    return pl.read_csv(text.encode()).select("node", "label", "confidence").rows()


def test_weights_of_trust_are_those_of_fit(run: Run) -> None:
    Path("doubt.csv").write_text("node,label,trust\nann,tea,\ngus,coffee,\ncat,coffee,0.25\n")
    outcome = run("classify", "edges.csv", "doubt.csv", "--seed-weight", "trust", "--temperatures")
    assert outcome.status == 0, outcome.err
    assert "seed_weight=col 3 (trust)" in outcome.err
    with pytest.warns(iso.RareClassWarning):
        clf = iso.NodeClassifier().fit(
            read_graph("edges.csv"), {"ann": "tea", "gus": "coffee", "cat": "coffee"}, seed_weight={"cat": 0.25}
        )
    found = pl.read_csv(outcome.out.encode())
    assert found["t_tea"].to_list() == pytest.approx(clf.temperatures_[:, 1].tolist())
    assert found["label"].to_list() == clf.labels_.tolist()


def test_probabilities_of_labels(run: Run) -> None:
    Path("p.csv").write_text("node,label,p\nann,tea,0.75\nann,coffee,0.25\ngus,coffee,1\n")
    outcome = run("classify", "edges.csv", "p.csv", "--label-probability", "p", "--temperatures", "-q")
    assert outcome.status == 0, outcome.err
    first = pl.read_csv(outcome.out.encode()).row(0, named=True)
    assert (first["node"], first["label"]) == ("ann", "tea")
    assert (first["confidence"], first["t_tea"]) == pytest.approx((0.75, 0.75))
    Path("p.csv").write_text("node,label,p\nann,tea,0.75\nann,coffee,0.75\ngus,coffee,1\n")
    wrong = run("classify", "edges.csv", "p.csv", "--label-probability", "p")
    assert wrong.status == 2
    assert "p.csv: the probabilities of the seed 'ann' add up to 1.5, not to 1" in wrong.err


TOPICS = "node,label\nann,tea\nann,cake\ngus,coffee\ngus,cake\n"


def test_several_labels_are_several_rows(run: Run) -> None:
    Path("topics.csv").write_text(TOPICS)
    outcome = run("classify", "edges.csv", "topics.csv", "--multi-label", "--json-summary", "s.json")
    assert outcome.status == 0, outcome.err
    with pytest.warns(iso.RareClassWarning):
        clf = iso.NodeClassifier().fit(read_graph("edges.csv"), {"ann": ["tea", "cake"], "gus": ["coffee", "cake"]})
    with pytest.warns(iso.CalibrationWarning, match="with 0 labels o[fn] hidden seeds"):
        confidence = clf.confidence_
    expected = {
        (node, label): confidence[[i], [j]][0]
        for i, node in enumerate(clf.graph_.nodes)
        for j, label in enumerate(clf.classes_)
        if clf.labels_[[i], [j]][0]
    }
    found = rows(outcome.out)
    assert {(node, label): confidence for node, label, confidence in found} == pytest.approx(expected)
    assert [node for node, _, _ in found] == sorted((node for node, _, _ in found), key=clf.graph_.nodes.tolist().index)
    assert [label for node, label, _ in found if node == "ann"] == ["cake", "tea"]
    counts = json.loads(Path("s.json").read_text())["counts"]
    assert counts["cake"] == {"seeds": 2, "result": 7}
    assert "cake        2" in outcome.err


def test_the_threshold_can_be_given(run: Run) -> None:
    Path("topics.csv").write_text(TOPICS)
    low, high = (
        rows(run("classify", "edges.csv", "topics.csv", "--multi-label", "-q", "--threshold", each).out)
        for each in ("0", "0.9")
    )
    assert len(low) == 3 * 7 - 2  # a seed does not have the label that it was not given
    assert sorted(row[:2] for row in high if row[1] != "cake") == [("ann", "tea"), ("gus", "coffee")]


def test_a_node_without_labels_has_an_empty_row(run: Run) -> None:
    Path("more.csv").write_text("source,target\nann,bob\nbob,gus\nxen,yan\n")
    Path("topics.csv").write_text(TOPICS)
    outcome = run("classify", "more.csv", "topics.csv", "--multi-label", "-q")
    assert rows(outcome.out)[-2:] == [("xen", None, 0.0), ("yan", None, 0.0)]
    certain = run("classify", "more.csv", "topics.csv", "--multi-label", "-q", "--min-confidence", "0.9")
    assert rows(certain.out) == [
        *[("ann", "cake", 1.0), ("ann", "tea", 1.0), ("bob", "cake", pytest.approx(0.999))],
        *[("gus", "cake", 1.0), ("gus", "coffee", 1.0)],
    ]
    others = run("classify", "more.csv", "topics.csv", "--multi-label", "-q", "--only-unlabelled")
    assert {node for node, _, _ in rows(others.out)} == {"bob", "xen", "yan"}


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_what_was_found_can_be_the_seeds_of_the_next_job(run: Run, suffix: str) -> None:
    Path("topics.csv").write_text(TOPICS)
    assert run("classify", "edges.csv", "topics.csv", "--multi-label", "-o", f"found.{suffix}").status == 0
    again = run("classify", "edges.csv", f"found.{suffix}", "--multi-label", "-q", "--output-format", "csv")
    first = run("classify", "edges.csv", "topics.csv", "--multi-label", "-q")
    assert {row[:2] for row in rows(again.out)} == {row[:2] for row in rows(first.out)}


def test_several_labels_are_saved(run: Run) -> None:
    Path("topics.csv").write_text(TOPICS)
    assert run("classify", "edges.csv", "topics.csv", "--multi-label", "--save", "m.npz").status == 0
    assert iso.load("m.npz").classes_.tolist() == ["cake", "coffee", "tea"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--multi-label", "--label-probability", "p"], "--multi-label and --label-probability exclude each other"),
        (["--multi-label", "--temperatures"], "--multi-label excludes --probabilities and --temperatures"),
        (["--multi-label", "--threshold", "2"], "--threshold is 2: give auto, rule, or a number from 0 to 1"),
        ([], "the node 'ann' has two labels, 'tea' (line 2) and 'cake' (line 3); keep one of them"),
    ],
)
def test_what_is_refused(run: Run, options: list[str], message: str) -> None:
    Path("topics.csv").write_text(TOPICS)
    outcome = run("classify", "edges.csv", "topics.csv", *options)
    assert outcome.status == 2
    assert message in outcome.err


def test_the_library_refuses_columns_of_classes(tmp_path: Path) -> None:
    graph = iso.Graph.from_edges([0, 1], [1, 2])
    clf = iso.DirichletClassifier().fit(graph, {0: {"a", "b"}, 2: {"a", "b"}})
    with pytest.raises(ValueError, match="probabilities and temperatures are for one label per node"):
        write_labels(tmp_path / "x.csv", graph, clf, temperatures=True)
    with pytest.warns(iso.CalibrationWarning):
        assert write_labels(tmp_path / "x.csv", graph, clf) == 6


def test_explanations_know_of_trust_and_of_several_labels(run: Run) -> None:
    Path("doubt.csv").write_text("node,label,trust\nann,tea,\ngus,coffee,\ncat,coffee,1\n")
    outcome = run("explain", "edges.csv", "doubt.csv", "cat", "--seed-weight", "trust", "-o", "x.csv", "-q")
    assert outcome.status == 0, outcome.err
    shares = dict(pl.read_csv("x.csv").select("seed", "share").iter_rows())
    assert shares["cat"] > 0.5  # and passes the rest on to the others
    assert sum(shares.values()) == pytest.approx(1)
    assert len(shares) == 3
    Path("topics.csv").write_text(TOPICS)
    assert run("explain", "edges.csv", "topics.csv", "cat", "--multi-label").status == 0
    suggested = run("suggest", "edges.csv", "topics.csv", "-n", "2", "--multi-label", "-q")
    first = pl.read_csv(suggested.out.encode()).row(0, named=True)
    assert (first["node"], first["label"], first["guess"]) == ("dan", None, "cake, coffee")
