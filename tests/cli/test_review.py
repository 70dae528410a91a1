"""The review loop: label, suggest, fill in the sheet, label again."""

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest
from commands import EDGES, Run, runner

import isotherm as iso
from isotherm.labelling.rules import RULES

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning", "ignore::isotherm.RareClassWarning")


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(tmp_path, capfd, monkeypatch)


def fill_in(path: str, answers: dict[str, str], label: str = "label", node: str = "node") -> None:
    """What a person does with a sheet."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row[label] = answers.get(row[node], "")
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def labels(text: str) -> dict[str, str]:
    return {row["node"]: row["label"] for row in csv.DictReader(io.StringIO(text))}


def of_the_library(seeds: dict[str, str]) -> dict[str, str]:
    graph = iso.read_graph("edges.csv")
    clf = iso.NodeClassifier().fit(graph, seeds)
    return dict(zip(graph.nodes.tolist(), clf.labels_.tolist(), strict=True))


def of_an_update(model: str, answers: dict[str, str]) -> dict[str, str]:
    clf = iso.load(model).update(answers)
    return dict(zip(clf.graph_.nodes.tolist(), clf.labels_.tolist(), strict=True))


@pytest.mark.parametrize("names", ["account,verdict", "verdict,account", "node,label", "id;class", "who,value"])
def test_a_filled_in_sheet_goes_straight_back(run: Run, names: str) -> None:
    delimiter = ";" if ";" in names else ","
    node, label = names.split(delimiter)
    swapped = node == "verdict"
    rows = [("tea", "ann"), ("coffee", "gus")] if swapped else [("ann", "tea"), ("gus", "coffee")]
    Path("seeds.csv").write_text("\n".join([names, *map(delimiter.join, rows)]) + "\n")
    columns = ["--node", "account", "--label", "verdict"] if swapped else ["--labels-header"]
    assert run("suggest", "edges.csv", "seeds.csv", *columns, "-n", "4", "-o", "sheet.csv", "-q").status == 0
    header = Path("sheet.csv").read_text().splitlines()[0].split(",")
    assert header[:2] == [node, label]
    assert header[2:] == [name for name in ("guess", "confidence", "value") if name != label]
    fill_in("sheet.csv", {"dan": "tea", "bob": "coffee"}, *("account", "verdict")[::-1] if swapped else (label, node))
    again = run("classify", "edges.csv", "seeds.csv", *columns, "--more-seeds", "sheet.csv", "-q")
    assert again.status == 0, again.err
    wanted = {"ann": "tea", "gus": "coffee", "dan": "tea"}
    assert labels(again.out) == of_the_library(wanted)
    alone = run("classify", "edges.csv", "seeds.csv", *columns, "-q", "-o", "first.csv", "--save", "model.npz")
    assert alone.status == 0, alone.err
    updated = run("update", "model.npz", "sheet.csv", "-q", "--save", "newer.npz")
    assert updated.status == 0, updated.err
    assert labels(updated.out) == of_an_update("model.npz", {"dan": "tea"})
    for model in ("model.npz", "newer.npz"):  # the model knows the columns of the seeds, also after an update
        assert run("suggest", model, "-n", "2", "-q").out.splitlines()[0].split(",") == header


def test_columns_that_are_given_win_over_those_of_the_model(run: Run) -> None:
    Path("seeds.csv").write_text("account,verdict\nann,tea\ngus,coffee\n")
    assert run("classify", "edges.csv", "seeds.csv", "-o", "first.csv", "--save", "model.npz", "-q").status == 0
    Path("answers.csv").write_text("verdict,account,second\ncoffee,dan,tea\n")
    for columns, label in (([], "coffee"), (["--node", "account", "--label", "second"], "tea")):
        updated = run("update", "model.npz", "answers.csv", "-q", *columns)
        assert updated.status == 0, updated.err
        assert labels(updated.out)["dan"] == label


def test_a_header_that_only_the_graph_shows_names_the_columns(run: Run) -> None:
    Path("seeds.csv").write_text("who,drinks\nann,tea\ngus,coffee\nbob,tea\n")
    outcome = run("suggest", "edges.csv", "seeds.csv", "-n", "2")
    assert "(who, drinks) is read as a header" in outcome.err
    assert outcome.out.splitlines()[0] == "who,drinks,guess,confidence,value"


def test_a_sheet_may_have_remarks_and_other_formats(run: Run) -> None:
    Path("seeds.csv").write_text("account,verdict\nann,tea\ngus,coffee\n")
    assert run("suggest", "edges.csv", "seeds.csv", "--labels-header", "-o", "sheet.parquet", "-q").status == 0
    sheet = pl.read_parquet("sheet.parquet")
    filled = sheet.with_columns(pl.when(pl.col("account") == "dan").then(pl.lit("tea")).alias("verdict"))
    filled.with_columns(remark=pl.lit("by phone")).write_parquet("sheet.parquet")
    again = run("classify", "edges.csv", "seeds.csv", "--labels-header", "--more-seeds", "sheet.parquet", "-q")
    assert again.status == 0, again.err
    assert labels(again.out) == of_the_library({"ann": "tea", "gus": "coffee", "dan": "tea"})


def test_later_files_win(run: Run) -> None:
    Path("one.csv").write_text("node,label\ncat,coffee\ndan,coffee\n")
    Path("two.tsv").write_text("label\tnode\ntea\tcat\ntea\tann\n")
    outcome = run("classify", "edges.csv", "seeds.csv", "--more-seeds", "one.csv", "--more-seeds", "two.tsv")
    assert outcome.status == 0, outcome.err
    found = labels(outcome.out)
    assert {node: found[node] for node in ("ann", "cat", "dan", "gus")} == {
        "ann": "tea",
        "cat": "tea",
        "dan": "coffee",
        "gus": "coffee",
    }
    assert "seeds        4" in outcome.err
    assert "two.tsv: node=col 2 (node), label=col 1 (label)" in outcome.err


def test_files_without_a_header_are_read_by_the_same_numbers(run: Run) -> None:
    Path("seeds.csv").write_text("x,tea,ann\nx,coffee,gus\n")
    Path("more.csv").write_text("y,tea,dan\n")
    numbers = ["--node", "3", "--label", "2", "--no-labels-header"]
    outcome = run("classify", "edges.csv", "seeds.csv", *numbers, "--more-seeds", "more.csv", "-q")
    assert outcome.status == 0, outcome.err
    assert labels(outcome.out) == of_the_library({"ann": "tea", "gus": "coffee", "dan": "tea"})


def test_the_labels_of_a_text_file_are_integers_where_others_are(run: Run) -> None:
    pl.DataFrame({"node": ["ann", "gus"], "label": [1, 0]}).write_parquet("seeds.parquet")
    Path("more.csv").write_text("node,label\ndan,1\neve,7\n")
    saved = ["-q", "-o", "first.csv", "--save", "model.npz"]
    assert run("classify", "edges.csv", "seeds.parquet", *saved).status == 0
    both = run("classify", "edges.csv", "seeds.parquet", "--more-seeds", "more.csv", "-q")
    updated = run("update", "model.npz", "more.csv", "-q")
    assert (both.status, updated.status) == (0, 0), both.err + updated.err
    for found in (labels(both.out), labels(updated.out)):
        known = {"ann": "1", "dan": "1", "eve": "7", "gus": "0"}
        assert {node: found[node] for node in known} == known
    likely = run("suggest", "model.npz", "--class", "1", "-q")
    assert likely.status == 0, likely.err


def test_nodes_that_no_seed_reaches_are_told_in_words_of_the_command_line(run: Run) -> None:
    with Path("edges.csv").open("a") as edges:
        edges.write("x,y,1\n")
    outcome = run("classify", "edges.csv", "seeds.csv")
    assert "2 of 9 nodes are not connected to any seed and have no temperature; their labels are empty" in outcome.err
    assert "predict(" not in outcome.err


def test_a_new_label_without_a_weight_is_certain(run: Run) -> None:
    Path("seeds.csv").write_text("node,label,trust\nann,tea,0.1\ngus,coffee,\n")
    Path("more.csv").write_text("node,label\nann,coffee\nbob,tea\n")
    weak = ["classify", "edges.csv", "seeds.csv", "--seed-weight", "trust", "-q"]
    found = list(csv.DictReader(io.StringIO(run(*weak, "--more-seeds", "more.csv").out)))
    assert (found[0]["node"], found[0]["label"], float(found[0]["confidence"])) == ("ann", "coffee", 1.0)
    assert next(csv.DictReader(io.StringIO(run(*weak).out)))["confidence"] != "1.0"


def test_an_update_is_that_of_the_library_and_can_be_saved(run: Run) -> None:
    assert run("classify", "edges.csv", "seeds.csv", "-o", "first.csv", "--save", "model.npz", "-q").status == 0
    Path("answers.csv").write_text("node,label\ndan,tea\n")
    outcome = run("update", "model.npz", "answers.csv", "-o", "labels.csv", "--save", "newer.npz")
    assert outcome.status == 0, outcome.err
    assert "1 answer added" in outcome.err
    assert "seeds        3" in outcome.err
    assert labels(Path("labels.csv").read_text()) == of_an_update("model.npz", {"dan": "tea"})
    Path("answers.csv").write_text("node,label\ndan,coffee\n")
    assert run("update", "newer.npz", "answers.csv", "-o", "labels.csv", "--force", "-q").status == 0
    assert labels(Path("labels.csv").read_text())["dan"] == "coffee"
    summary = run("update", "newer.npz", "answers.csv", "-o", "again.csv", "--json", "-q")
    assert json.loads(summary.out)["seeds"] == 3


def test_an_update_of_several_labels(run: Run) -> None:
    Path("seeds.csv").write_text("node,label\nann,tea\nann,cake\ngus,coffee\n")
    files = ["edges.csv", "seeds.csv", "--multi-label", "-o", "first.csv", "--save", "model.npz", "-q"]
    assert run("classify", *files).status == 0
    Path("answers.csv").write_text("node,label\ndan,tea\ndan,coffee\n")
    outcome = run("update", "model.npz", "answers.csv", "-q")
    assert outcome.status == 0, outcome.err
    assert {row["label"] for row in csv.DictReader(io.StringIO(outcome.out)) if row["node"] == "dan"} == {
        "tea",
        "coffee",
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["update", "model.npz", "empty.csv"], "empty.csv has no seeds: every label is empty; fill some in"),
        (
            ["update", "model.npz", "strange.csv"],
            "strange.csv: the only seed is not in the graph: col 1 (node) has ids",
        ),
        (["update", "none.npz", "seeds.csv"], "none.npz"),
        (["update", "edges.csv", "seeds.csv"], "edges.csv"),
        (["update", "model.npz"], "SEEDS is missing"),
        (["update", "model.npz", "more.csv", "-o", "more.csv", "--force"], "more.csv is also an input"),
        (["update", "model.npz", "partly.csv"], "partly.csv: 1 seed is not in the graph: 'zoe'; correct it, or leave"),
        (["classify", "edges.csv", "seeds.csv", "--more-seeds", "none.csv"], "none.csv"),
        (
            ["classify", "edges.csv", "seeds.csv", "--more-seeds", "more.csv", "-o", "more.csv", "--force"],
            "is also an input",
        ),
        (["classify", "-", "seeds.csv", "--more-seeds", "-"], "both files cannot be standard input"),
        (["suggest", "model.npz", "--more-seeds", "more.csv"], "model.npz is fitted already: leave out --more-seeds"),
    ],
)
def test_bad_usage_is_one_sentence(run: Run, arguments: list[str], words: str) -> None:
    assert run("classify", "edges.csv", "seeds.csv", "-o", "first.csv", "--save", "model.npz", "-q").status == 0
    Path("empty.csv").write_text("node,label,guess,confidence,value\ndan,,tea,0.5,0.1\n")
    Path("strange.csv").write_text("node,label\nzoe,tea\n")
    Path("partly.csv").write_text("node,label\nzoe,tea\ndan,tea\n")
    Path("more.csv").write_text("node,label\ndan,tea\n")
    outcome = run(*arguments, "-q")
    assert outcome.status == 2
    assert words in outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""


def test_answers_that_are_not_in_the_graph_can_be_left_out(run: Run) -> None:
    assert run("classify", "edges.csv", "seeds.csv", "-o", "first.csv", "--save", "model.npz", "-q").status == 0
    Path("partly.csv").write_text("node,label\nzoe,tea\ndan,tea\n")
    outcome = run("update", "model.npz", "partly.csv", "--ignore-missing-seeds")
    assert outcome.status == 0, outcome.err
    assert "1 of 2 labelled nodes are not in the graph" in outcome.err


KARATE = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="name" attr.type="string"/>
<key id="d1" for="node" attr.name="club" attr.type="string"/>
<key id="d2" for="edge" attr.name="weight" attr.type="double"><default>1</default></key>
<graph edgedefault="undirected">{nodes}{edges}</graph></graphml>"""


def graphml(known: dict[str, str]) -> str:
    rows = [line.split(",") for line in EDGES.splitlines()[1:]]
    names = list(dict.fromkeys(end for row in rows for end in row[:2]))
    club = {name: f'<data key="d1">{known[name]}</data>' if name in known else "" for name in names}
    nodes = "".join(
        f'<node id="n{place}"><data key="d0">{name}</data>{club[name]}</node>' for place, name in enumerate(names)
    )
    ends = {name: f"n{place}" for place, name in enumerate(names)}
    edges = "".join(
        f'<edge source="{ends[one]}" target="{ends[other]}"><data key="d2">{weight}</data></edge>'
        for one, other, weight in rows
    )
    return KARATE.format(nodes=nodes, edges=edges)


def test_labels_inside_graphml(run: Run) -> None:
    Path("graph.graphml").write_text(graphml({"ann": "tea", "gus": "coffee"}))
    inside = run("classify", "graph.graphml", "--id", "name", "--label", "club")
    assert inside.status == 0, inside.err
    assert "format=graphml, label=club" in inside.err
    assert inside.out == run("classify", "edges.csv", "seeds.csv", "-q").out
    beside = run("classify", "graph.graphml", "seeds.csv", "--id", "name", "-q")
    assert beside.out == inside.out
    unclear = run("classify", "graph.graphml", "-q")
    assert unclear.status == 2
    assert "nodes have the attributes 'name', 'club', and none is clearly a label; choose one, as in --label name" in (
        unclear.err
    )
    lost = run("classify", "graph.graphml", "seeds.csv", "-q")
    assert lost.status == 2
    assert "or the attribute of nodes in graph.graphml that has their ids with --id" in lost.err


def test_evaluate_with_labels_inside_the_graph(run: Run) -> None:
    teas = dict.fromkeys(("ann", "bob", "cat"), "tea")
    truth = teas | dict.fromkeys(("dan", "eve", "fay", "gus"), "coffee")
    Path("graph.graphml").write_text(graphml(truth))
    Path("labels.csv").write_text("node,label\n" + "".join(f"{node},{label}\n" for node, label in truth.items()))
    drawn = ["--fraction", "0.4", "--policy", "balanced", "--runs", "3", "-q", "--json"]
    inside = run("evaluate", "graph.graphml", "--label", "club", "--id", "name", *drawn)
    assert inside.status == 0, inside.err
    beside = run("evaluate", "edges.csv", "labels.csv", *drawn)
    assert json.loads(inside.out) == json.loads(beside.out)
    missing = run("evaluate", "edges.csv", *drawn)
    assert missing.status == 2
    assert (
        "LABELS is missing; see isotherm evaluate --help, since csv files hold no labels beside the graph, as npz"
        in missing.err
    )


def test_evaluate_scores_the_rules_that_were_asked_for(run: Run) -> None:
    Path("labels.csv").write_text(
        "node,label\nann,tea\nbob,tea\ncat,tea\ndan,coffee\neve,coffee\nfay,coffee\nzoe,tea\n"
    )
    drawn = ["--fraction", "0.5", "--policy", "balanced", "--runs", "2", "-q"]
    refused = run("evaluate", "edges.csv", "labels.csv", *drawn)
    assert refused.status == 2
    assert "1 seed is not in the graph: 'zoe'" in refused.err
    assert "--ignore-missing-seeds" in refused.err
    drawn += ["--ignore-missing-seeds", "--rule", "vanilla", "--rule", "balanced"]
    outcome = run("evaluate", "edges.csv", "labels.csv", *drawn, "--json", "-o", "draws.csv")
    assert outcome.status == 0, outcome.err
    found = json.loads(outcome.out)
    assert list(found["rules"]) == ["vanilla", "balanced"]
    table = pl.read_csv("draws.csv")
    assert table.columns == ["rule", "draw", "macro_f1", "micro_f1", "accuracy", "calibration_error"]
    for rule, scores in found["rules"].items():
        mine = table.filter(pl.col("rule") == rule)
        assert mine["draw"].to_list() == [0, 1]
        assert mine["accuracy"].to_list() == pytest.approx(scores["accuracy"])
    both = run("evaluate", "edges.csv", "labels.csv", *drawn, "--json", "-o", "-")
    assert both.status == 2
    against = run("evaluate", "edges.csv", "labels.csv", *drawn, "--no-confidence")
    assert "--no-confidence and --rule balanced contradict each other" in against.err


def test_evaluate_without_confidence_and_with_certain_labels(run: Run) -> None:
    Path("labels.csv").write_text("node,label\nann,tea\nbob,tea\ncat,tea\ndan,coffee\neve,coffee\nfay,coffee\n")
    drawn = ["edges.csv", "labels.csv", "--fraction", "0.5", "--policy", "balanced", "--runs", "2", "-q", "--json"]
    Path("features.csv").write_text("node,age\nann,7\n")
    unused = run("evaluate", *drawn, "--rule", "centered", "--features", "features.csv")
    assert "--features is for probabilities, and --rule centered goes by temperatures alone" in unused.err
    outcome = run("evaluate", *drawn, "--no-confidence")
    assert outcome.status == 0, outcome.err
    rules = json.loads(outcome.out)["rules"]
    assert list(rules) == [*RULES]
    assert rules["centered"]["calibration_error"] == [None, None]
    for more in (["--no-confidence"], ["--stop", "labels", "--solver", "cg"]):
        outcome = run("evaluate", *drawn, "--rule", "centered", *more)
        assert outcome.status == 0, outcome.err
        assert list(json.loads(outcome.out)["rules"]) == ["centered"]
    assert "name it, such as --rule centered" in run("evaluate", *drawn, "--stop", "labels").err
    assert (
        "--rule balanced goes by probabilities" in run("evaluate", *drawn, "--stop", "labels", "--rule", "balanced").err
    )
