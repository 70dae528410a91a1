"""isotherm compare: tables, files, pictures and refusals."""

import json
from pathlib import Path

import numpy as np
import pytest
from commands import Run, runner

from isotherm.node_classifier import RULE_NAMES
from isotherm.paper.block_model import stochastic_block_model


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Two blocks of 30 nodes, n0 to n59, with their labels and features."""
    run = runner(tmp_path, capfd, monkeypatch)
    row, col = stochastic_block_model([30, 30], 0.3, 0.02, 0).adjacency.nonzero()
    rng = np.random.default_rng(0)
    Path("edges.csv").write_text("source,target\n" + "".join(f"n{i},n{j}\n" for i, j in zip(row, col, strict=True)))
    Path("labels.csv").write_text("node,label\n" + "".join(f"n{i},{'ab'[i // 30]}\n" for i in range(60)))
    rows = (f"n{i},{i // 30 + rng.normal(0, 0.3):.3f},{rng.random():.3f}\n" for i in reversed(range(60)))
    Path("features.csv").write_text("id,height,noise\n" + "".join(rows))
    return run


def test_a_table_a_curve_and_advice(run: Run) -> None:
    outcome = run("compare", "edges.csv", "labels.csv", "--runs", "2", "--plot", "methods.png")
    assert outcome.status == 0, outcome.err
    assert "30 labels shown, 30 hidden labels, 2 classes, 2 draws" in outcome.out
    for name in (
        *(f"Isotherm, rule {rule}" for rule in RULE_NAMES if rule != "balanced"),
        "label spreading",
        "scikit-network PageRank",
    ):
        assert f"\n{name} " in outcome.out
    assert "rule balanced" not in outcome.out, "it is the default, which has a row already"
    assert "finds hidden labels best on this graph" in outcome.out
    assert "Isotherm, with fewer labels:" in outcome.out
    assert "regression on X (needs features)" in outcome.out
    assert "The picture is in methods.png" in outcome.err
    assert Path("methods.png").read_bytes().startswith(b"\x89PNG")


def test_scores_as_json_and_as_a_table(run: Run) -> None:
    more = ["--no-peers", "--json", "-o", "draws.csv", "-q", "--fraction", "0.4"]
    outcome = run("compare", "edges.csv", "labels.csv", "--runs", "2", *more)
    assert outcome.status == 0, outcome.err
    told = json.loads(outcome.out)
    assert told["seeds"] == 24
    assert len(told["methods"]["Isotherm"]["accuracy"]) == 2
    assert all(name.startswith("Isotherm") for name in told["methods"])
    assert told["learning_curve"]["seeds"][-1] == 24
    lines = Path("draws.csv").read_text().splitlines()
    assert lines[0] == "method,draw,accuracy,macro_f1,calibration_error"
    assert len(lines) == 1 + 2 * len(told["methods"])
    first = told["methods"]["Isotherm"]["accuracy"][0]
    assert float(lines[1].split(",")[2]) == pytest.approx(first)


def test_draws_to_standard_output(run: Run) -> None:
    outcome = run(
        "compare", "edges.csv", "labels.csv", "--runs", "1", "--no-peers", "-o", "-", "--output-format", "jsonl"
    )
    assert outcome.status == 0, outcome.err
    assert all(json.loads(line)["draw"] == 0 for line in outcome.out.splitlines()), "and no text besides"
    assert "All draws are in" not in outcome.err


def test_features_take_part_whatever_their_order(run: Run) -> None:
    outcome = run("compare", "edges.csv", "labels.csv", "--features", "features.csv", "--runs", "2", "--json", "-q")
    assert outcome.status == 0, outcome.err
    told = json.loads(outcome.out)["methods"]
    assert np.mean(told["regression on X"]["accuracy"]) > 0.7
    assert np.mean(told["Correct and Smooth"]["accuracy"]) > 0.8


def test_nodes_without_features_are_counted(run: Run) -> None:
    lines = Path("features.csv").read_text().splitlines()
    Path("features.csv").write_text("\n".join(lines[:31]) + "\n")
    outcome = run("compare", "edges.csv", "labels.csv", "--features", "features.csv", "--runs", "1")
    assert outcome.status == 0, outcome.err
    assert "30 of 60 nodes have no features" in outcome.err


@pytest.mark.parametrize(
    ("features", "labels", "arguments", "words"),
    [
        ("", "", ["--text", "id"], "--text is about features: name their file with --features"),
        ("", "", ["--id", "id"], "--id is for files whose nodes have attributes"),
        ("", "", ["-o", "-", "--json"], "--json, --latex and --output - are all for standard output"),
        ("", "", ["--output-format", "csv"], "--output-format is for a table: name its file with --output"),
        ("", "", ["--plot", "x.gif"], "--plot: x.gif must end in"),
        ("", "", ["-o", "labels.csv", "--force"], "labels.csv is also an input"),
        ("", "node,label\nn0,a\nn1,a\n", [], "labels.csv: all labels are the same"),
        ("", "node,label\nn0,a\nn1,b\n", [], "2 labels are too few to show some and hide others: give more\n"),
        ("id,x\nq,1\nr,2\n", "", ["--features", "features.csv"], "none of the 2 rows is a node of the graph"),
        ("id,x\nn0,1\nn0,2\n", "", ["--features", "features.csv", "--id", "id"], "features.csv: "),
        ("id,x\nn0,red\nn1,red\n", "", ["--features", "features.csv"], "features.csv: no column of the table can be"),
    ],
)
def test_refusals(run: Run, features: str, labels: str, arguments: list[str], words: str) -> None:
    for name, content in (("features.csv", features), ("labels.csv", labels)):
        if content:
            Path(name).write_text(content)
    outcome = run("compare", "edges.csv", "labels.csv", "-q", *arguments)
    assert outcome.status == 2
    assert words in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1
    assert outcome.out == ""
