"""``isotherm classify --features``: a graph, and what else is known about its nodes."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import Run, runner

import isotherm as iso
from isotherm.paper.block_model import stochastic_block_model

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.CalibrationWarning")
TRUTH = np.repeat(["fruit", "tools"], 60)
WORDS = {"fruit": ["apple", "pear", "plum", "cherry", "juice"], "tools": ["hammer", "saw", "nail", "drill", "wood"]}


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Links that tell nothing, and in another order numbers and texts that tell the class."""
    run = runner(tmp_path, capfd, monkeypatch)
    row, col = stochastic_block_model([60, 60], 0.1, 0.1, 0).adjacency.nonzero()
    rng = np.random.default_rng(0)
    order = rng.permutation(120)
    texts = [" ".join([*rng.choice(WORDS[TRUTH[i]], 3), "and"]) for i in order]
    sizes = np.where(TRUTH[order] == "fruit", 0.0, 3.0) + rng.normal(size=120)
    pl.DataFrame({"source": [f"n{i}" for i in row], "target": [f"n{i}" for i in col]}).write_csv("edges.csv")
    pl.DataFrame(
        {"item": [f"n{i}" for i in order], "size": sizes, "noise": 1000 * rng.random(120), "body": texts}
    ).write_csv("items.csv")
    pl.DataFrame({"node": [f"n{i}" for i in range(0, 120, 4)], "label": TRUTH[::4]}).write_csv("seeds.csv")
    return run


def share_right() -> float:
    found = pl.read_csv("out.csv")
    truth = {f"n{i}": label for i, label in enumerate(TRUTH)}
    return float(np.mean([truth[node] == label for node, label in found.select("node", "label").iter_rows()]))


def test_numbers_and_texts_beside_the_links(run: Run) -> None:
    assert run("classify", "edges.csv", "seeds.csv", "-o", "out.csv").status == 0
    assert share_right() < 0.8, "links alone cannot tell"
    columns = ["--features", "items.csv", "--id", "item", "--force", "-o", "out.csv"]
    outcome = run("classify", "edges.csv", "seeds.csv", *columns)
    assert outcome.status == 0, outcome.err
    assert "neighbours" in outcome.err, "the summary says how much each expert counted"
    assert share_right() > 0.9, "columns are in units of their own"
    outcome = run("classify", "edges.csv", "seeds.csv", "--text", "body", *columns, "--json")
    assert outcome.status == 0, outcome.err
    assert share_right() == 1
    regressions = ["features", "neighbours", "convolution", "diffusion"]
    experts = list(json.loads(outcome.out)["experts"])
    assert experts == ["heat", *regressions, "spectrum", "degree", "second round"]


def test_the_same_as_in_python(run: Run) -> None:
    run("classify", "edges.csv", "seeds.csv", "--features", "items.csv", "--id", "item", "-o", "out.csv")
    graph = iso.read_graph("edges.csv")
    items = pl.read_csv("items.csv").rename({"item": "id"})
    clf = iso.NodeClassifier().fit(graph, iso.read_seeds("seeds.csv"), features=items)
    assert pl.read_csv("out.csv")["label"].to_list() == clf.labels_.tolist()


def test_ids_in_a_parquet_file_are_found_as_in_csv(run: Run) -> None:
    """Though they are integers there, under a name that does not tell."""
    ends = pl.read_csv("edges.csv").select(pl.all().str.strip_prefix("n"))
    ends.write_csv("links.csv")
    pl.read_csv("seeds.csv").with_columns(pl.col("node").str.strip_prefix("n")).write_csv("known.csv")
    table = pl.read_csv("items.csv").select("size", no=pl.col("item").str.strip_prefix("n").cast(int))
    table.rename({"no": "Kunde"}).write_parquet("items.parquet")
    outcome = run("classify", "links.csv", "known.csv", "--features", "items.parquet", "-o", "out.csv")
    assert outcome.status == 0, outcome.err
    assert "items.parquet: id=col 2 (Kunde)" in outcome.err
    table.with_columns(no=pl.col("no") + 5000).rename({"no": "id"}).write_parquet("items.parquet")
    outcome = run("classify", "links.csv", "known.csv", "--features", "items.parquet", "-o", "newer.csv")
    assert outcome.status == 2
    assert "choose another column of ids with --id" in outcome.err


def test_structure_is_chosen_by_name(run: Run) -> None:
    found = {}
    for name in ("auto", "spectral", "none"):
        outcome = run("classify", "edges.csv", "seeds.csv", "--evidence", name, "--json", "--force", "-o", "out.csv")
        found[name] = list(json.loads(outcome.out)["experts"])
    assert found == {"auto": ["heat", "spectrum", "degree"], "spectral": ["heat", "spectrum", "degree"], "none": []}


@pytest.mark.parametrize(
    ("command", "arguments", "words"),
    [
        ("classify", ["--features", "items.csv", "--vectors"], "--features is for the nodes of a graph"),
        ("classify", ["--features", "lost.csv"], "lost.csv"),
        (
            "classify",
            ["--features", "items.csv", "--multi-label"],
            "--features and --evidence cannot be used here, since nodes may have several labels",
        ),
        (
            "classify",
            ["--features", "items.csv", "--text", "title"],
            "items.csv has no column named 'title' for --text",
        ),
        (
            "classify",
            ["--features", "items.csv", "--rule", "centered"],
            "--features is for probabilities, and --rule centered goes by temperatures alone: leave out",
        ),
        (
            "classify",
            ["--ignore-columns", "size"],
            "--ignore-columns is about features: name their file with --features",
        ),
        ("classify", ["--features", "items.csv", "--feature-columns", "sise"], "no column named 'sise'"),
    ],
)
def test_refusals(run: Run, command: str, arguments: list[str], words: str) -> None:
    outcome = run(command, "edges.csv", "seeds.csv", *arguments)
    assert outcome.status == 2
    assert words in outcome.err
    assert "Traceback" not in outcome.err


def test_a_model_asks_for_its_features(run: Run) -> None:
    options = ["--features", "items.csv", "-o", "out.csv", "-q", "--save", "model.npz"]
    assert run("classify", "edges.csv", "seeds.csv", *options).status == 0
    outcome = run("update", "model.npz", "seeds.csv", "-o", "newer.csv")
    assert outcome.status == 2
    assert outcome.err.splitlines()[-1] == (
        "isotherm: a saved model does not hold the features size, noise, body of items.csv that it was fitted on: "
        "give them again with --features items.csv"
    )
    assert not Path("newer.csv").exists()
    more = ["--features", "items.csv", "-o", "newer.csv"]
    assert run("update", "model.npz", "seeds.csv", *more).status == 0
    assert Path("newer.csv").read_text() == Path("out.csv").read_text(), "the same seeds and features"
    pl.read_csv("items.csv").drop("size").write_csv("short.csv")
    outcome = run("update", "model.npz", "seeds.csv", "--features", "short.csv", "--force", "-o", "newer.csv")
    assert outcome.status == 2
    assert "short.csv: the table has no column named 'size'" in outcome.err


def test_evaluate_and_compare_take_the_same_table(run: Run) -> None:
    pl.DataFrame({"node": [f"n{i}" for i in range(120)], "label": TRUTH}).write_csv("labels.csv")
    scores = {}
    for name, more in {"links": [], "features": ["--features", "items.csv"]}.items():
        usual = ["--fraction", "0.3", "--runs", "2", "--json", "--rule", "balanced", *more]
        outcome = run("evaluate", "edges.csv", "labels.csv", *usual)
        assert outcome.status == 0, outcome.err
        scores[name] = json.loads(outcome.out)["rules"]["balanced"]["accuracy"]
    assert np.mean(scores["features"]) > 0.9 > np.mean(scores["links"]) + 0.1
    outcome = run(
        "compare", "edges.csv", "labels.csv", "--runs", "1", "--no-peers", "--json", "--features", "items.csv"
    )
    found = json.loads(outcome.out)["methods"]
    assert found["Isotherm, features"]["accuracy"][0] > found["Isotherm"]["accuracy"][0] + 0.1


def test_the_page_goes_by_features(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    monkeypatch.setattr("isotherm.page.open_page.open_page", lambda *given: opened.append(given))
    assert run("explore", "edges.csv", "seeds.csv", "--features", "items.csv", "--no-browser").status == 0
    graph, known, clf, options = opened[0]
    clf.fit(graph, known, **options.known)
    assert np.mean([label == TRUTH[int(node[1:])] for node, label in zip(graph.nodes, clf.labels_, strict=True)]) > 0.9
