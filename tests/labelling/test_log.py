"""What the logger "isotherm" is told, and that nothing is printed unless someone listens."""

import logging
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

import isotherm as iso
from isotherm.labelling.report import Report

CLUB = nx.karate_club_graph()
KNOWN = {node: CLUB.nodes[node]["club"] for node in range(0, 34, 2)}


def test_a_fit_says_what_it_found(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "isotherm"):
        clf = iso.NodeClassifier().fit(CLUB, KNOWN, features={"age": list(range(34)), "kind": ["a", "b"] * 17})
    (record,) = caplog.records
    found = record.getMessage()
    assert record.name == "isotherm"
    assert "nodes 34; edges 78 (weighted); classes 2; seeds 17 (50.0% of the nodes); unreached 0; " in found
    numbers = vars(record)["isotherm"]
    total = numbers["seconds"]["total"]
    assert f"classifier NodeClassifier, decision balanced; seconds total {total:.2f}; " in found
    assert "column age left out: identifier; column kind category, 2 values" in found
    assert numbers["experts"] == clf.experts_
    labels = clf.labels_.tolist()
    assert {name: count["result"] for name, count in numbers["counts"].items()} == {
        name: labels.count(name) for name in ("Mr. Hi", "Officer")
    }


def test_an_update_says_it_too(caplog: pytest.LogCaptureFixture) -> None:
    clf = iso.DirichletClassifier().fit(CLUB, KNOWN)
    with caplog.at_level(logging.INFO, "isotherm"):
        clf.update({1: "Mr. Hi"})
    assert "seeds 18 (52.9% of the nodes)" in caplog.text
    assert "DirichletClassifier, rule centered" in caplog.text


@pytest.mark.filterwarnings("ignore")
def test_sets_of_labels_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    sets = {node: {"a", "b"} if node % 3 else {"a"} for node in range(0, 34, 2)} | {33: set()}
    with caplog.at_level(logging.INFO, "isotherm"):
        clf = iso.DirichletClassifier().fit(CLUB, sets)
    counts = vars(caplog.records[0])["isotherm"]["counts"]
    assert [count["result"] for count in counts.values()] == clf.labels_.sum(axis=0).tolist()


def test_readers_say_what_they_read(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    edges, seeds = tmp_path / "edges.csv", tmp_path / "seeds.csv"
    edges.write_text("from,to\na,b\nb,c\n")
    seeds.write_text("node,label\na,x\nc,y\n")
    with caplog.at_level(logging.INFO, "isotherm"):
        iso.read_graph(edges)
        iso.read_seeds(seeds)
        iso.read_labelled(edges, seeds)
    columns = "source=col 1 (from), target=col 2 (to), weight=none, header=yes, delimiter=comma"
    graph = f"{edges}: {columns}; <Graph: 3 nodes, 2 edges>"
    labels = f"{seeds}: node=col 1 (node), label=col 2 (label), header=yes, delimiter=comma; 2 seeds"
    assert caplog.messages == [graph, labels, graph, labels]


def test_nothing_is_printed_unless_someone_listens() -> None:
    code = "import isotherm as iso; iso.DirichletClassifier().fit(iso.Graph.from_edges([0, 1], [1, 2]), {0: 0, 2: 1})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning", "ignore::isotherm.LabelWarning")
def test_confidence_is_called_what_the_warning_calls_it() -> None:
    graph = iso.Graph.from_edges(range(60), [*range(1, 60), 0])

    def confidence(seeds: dict[int, str]) -> str:
        return Report.of(iso.NodeClassifier().fit(graph, seeds).fitted_, "NodeClassifier", {}).facts()["confidence"]

    assert confidence({node: "ab"[node > 30] for node in range(0, 60, 8)}).startswith(
        "hardly more than a guess, from 8"
    )
    assert confidence({node: "ab"[node > 30] for node in range(0, 60, 2)}).startswith("calibrated on 30 held-out seeds")
    assert confidence(dict.fromkeys(range(0, 60, 2), "a")) == "unknown: the seeds have one class only"
