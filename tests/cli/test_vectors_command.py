"""``isotherm classify --vectors``: a table in, labels out."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import Run, runner

import isotherm as iso

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning", "ignore::isotherm.RareClassWarning")


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(tmp_path, capfd, monkeypatch)


@pytest.fixture
def table(tmp_path: Path) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    sides = np.arange(60) % 2
    X = rng.standard_normal((60, 3)) + 6 * sides[:, None]
    frame = pl.DataFrame({"id": [f"r{i}" for i in range(60)], "x": X[:, 0], "y": X[:, 1], "z": X[:, 2]})
    frame.write_csv(tmp_path / "table.csv")
    seeds = pl.DataFrame(
        {"node": [f"r{i}" for i in range(12)], "label": ["left" if i % 2 else "right" for i in range(12)]}
    )
    seeds.write_csv(tmp_path / "known.csv")
    return frame


def test_rows_get_the_labels_of_the_classifier(run: Run, table: pl.DataFrame) -> None:
    outcome = run("classify", "--vectors", "table.csv", "known.csv", "--k", "5", "-o", "out.csv")
    assert outcome.status == 0, outcome.err
    found = pl.read_csv("out.csv")
    y = np.array(["left" if i % 2 else "right" for i in range(12)] + [None] * 48, dtype=object)
    clf = iso.VectorClassifier(k=5).fit(table.select("x", "y", "z").to_numpy(), y)
    assert found["node"].to_list() == table["id"].to_list()
    assert found["label"].to_list() == clf.labels_.tolist()
    assert (found["label"] == pl.Series(["left" if i % 2 else "right" for i in range(60)])).all()


@pytest.mark.parametrize("command", ["classify", "suggest", "check"])
def test_an_array_has_none_of_the_seeds(run: Run, table: pl.DataFrame, command: str) -> None:
    np.save("table.npy", table.select("x", "y", "z").to_numpy())
    outcome = run(command, "--vectors", "table.npy", "known.csv")
    assert outcome.status == 2
    assert outcome.err.startswith(
        "isotherm: known.csv: none of the 12 seeds is in the graph: col 1 (node) has ids such"
    )
    assert "choose other columns with --node" in outcome.err


def test_the_accuracy_on_hidden_seeds_stands_beside_that_of_logistic_regression(run: Run, table: pl.DataFrame) -> None:
    outcome = run("classify", "--vectors", "table.csv", "known.csv", "-o", "out.csv")
    assert "accuracy 1.000, by logistic regression alone at its best 1.000 (12 seeds hidden in turn)" in outcome.err
    assert "hidden in turn" not in run("classify", "edges.csv", "seeds.csv", "-o", "plain.csv").err


def test_texts_are_classified_by_their_words(run: Run, tmp_path: Path) -> None:
    fruit, tools = "apple pear plum cherry juice", "hammer saw nail drill wood"
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice((fruit if i % 2 else tools).split(), 3)) for i in range(40)]
    pl.DataFrame({"id": range(40), "body": texts}).write_parquet(tmp_path / "texts.parquet")
    (tmp_path / "known.csv").write_text("node,label\n0,tools\n1,fruit\n2,tools\n3,fruit\n")
    outcome = run("classify", "texts.parquet", "known.csv", "--text", "body", "--k", "8", "-o", "out.csv")
    assert outcome.status == 0, outcome.err
    assert pl.read_csv("out.csv")["label"].to_list() == ["fruit" if i % 2 else "tools" for i in range(40)]


def test_columns_of_other_scales_are_told_in_options(run: Run, table: pl.DataFrame) -> None:
    table.with_columns(pl.col("x") * 1000).write_csv("table.csv")
    outcome = run("classify", "--vectors", "table.csv", "known.csv", "-o", "out.csv")
    assert "column 'x' of the table holds 100.0% of its variance" in outcome.err
    assert "pass --scale" in outcome.err
    assert "variance" not in run("classify", "--vectors", "table.csv", "known.csv", "--scale", "-o", "b.csv").err


def test_bad_tables_end_with_one_sentence(run: Run, table: pl.DataFrame, tmp_path: Path) -> None:
    table.with_columns(pl.when(pl.col("id") == "r3").then(None).otherwise(pl.col("y")).alias("y")).write_csv("gap.csv")
    outcome = run("classify", "--vectors", "gap.csv", "known.csv", "-o", "out.csv")
    assert outcome.status == 2
    assert "gap.csv, line 5: the column 'y' has NaN; replace such values" in outcome.err
    assert not (tmp_path / "out.csv").exists()
    (tmp_path / "strangers.csv").write_text("node,label\nq1,left\nq2,right\n")
    outcome = run("classify", "--vectors", "table.csv", "strangers.csv", "-o", "out.csv")
    assert outcome.status == 2
    assert "none of the 2 seeds is in the graph" in outcome.err


def test_the_summary_says_whether_seeds_found_the_weights(run: Run, table: pl.DataFrame, tmp_path: Path) -> None:
    assert "(weights found by held-out seeds)" in run("classify", "--vectors", "table.csv", "known.csv").err
    (tmp_path / "two.csv").write_text("node,label\nr0,right\nr1,left\n")
    outcome = run("classify", "--vectors", "table.csv", "two.csv")
    assert "majority 1.00" in outcome.err
    assert "(usual weights: no seed can be hidden)" in outcome.err


def test_the_known_labels_tell_which_column_has_the_ids(run: Run, table: pl.DataFrame) -> None:
    plain = run("classify", "--vectors", "table.csv", "known.csv", "-q")
    table.rename({"id": "Kunde"}).write_csv("table.csv")
    assert run("classify", "--vectors", "table.csv", "known.csv", "-q").out == plain.out
    pl.concat([table, table[:1]]).write_csv("table.csv")
    outcome = run("classify", "--vectors", "table.csv", "known.csv")
    assert outcome.status == 2
    assert "table.csv, line 62: the id 'r0' in 'id' occurs twice, first in line 2; keep one of the rows" in outcome.err
    assert outcome.err.rstrip().endswith("--id")


def test_ids_that_may_be_numbers_of_rows_are_a_question(run: Run) -> None:
    pl.DataFrame({"Kunde": [3, 0, 2, 1], "x": [0.5, 0.1, 5.5, 5.1]}).write_csv("t.csv")
    Path("known.csv").write_text("node,label\n0,left\n1,right\n")
    outcome = run("classify", "--vectors", "t.csv", "known.csv")
    assert outcome.status == 2
    assert outcome.err.rstrip().endswith("as in isotherm classify --vectors t.csv known.csv --id Kunde")


def test_decimal_commas_and_thousands(run: Run, table: pl.DataFrame) -> None:
    table.with_columns(pl.col("x") * 1000).write_csv("point.csv", float_precision=3)
    plain = run("classify", "--vectors", "point.csv", "known.csv", "--scale", "-q")
    assert plain.status == 0, plain.err
    Path("comma.csv").write_text(Path("point.csv").read_text().replace(",", ";").replace(".", ","))
    for options in ([], ["--decimal", ","]):
        assert run("classify", "--vectors", "comma.csv", "known.csv", "--scale", "-q", *options).out == plain.out
    grouped = pl.read_csv("point.csv").with_columns(pl.col("x").map_elements("{:,.3f}".format, pl.String))
    grouped.write_csv("grouped.csv")
    assert run("classify", "--vectors", "grouped.csv", "known.csv", "--scale", "-q", "--thousands").out == plain.out


def test_how_the_table_is_written_can_be_said(run: Run, table: pl.DataFrame) -> None:
    plain = run("classify", "--vectors", "table.csv", "known.csv", "-q")
    assert plain.status == 0, plain.err
    body = table.write_csv(separator="|", include_header=False).replace("r", "\xe9")
    Path("odd.data").write_text(body, encoding="latin-1")
    known = Path("known.csv").read_text().replace("\nr", "\n\xe9")
    Path("odd.csv").write_text(known, encoding="latin-1")
    options = ["--format", "csv", "--delimiter", "|", "--no-header", "--encoding", "latin-1", "--id", "1"]
    odd = run("classify", "--vectors", "odd.data", "odd.csv", *options, "-q")
    assert odd.status == 0, odd.err
    assert odd.out.replace("\xe9", "r") == plain.out


@pytest.mark.parametrize(
    "options",
    [
        ["--source", "x"],
        ["--weight", "x"],
        ["--more-edges", "more.csv"],
        ["--directed"],
        ["--undirected"],
        ["--unweighted"],
    ],
    ids=lambda options: options[0],
)
def test_options_about_edges_are_refused(run: Run, table: pl.DataFrame, options: list[str]) -> None:
    outcome = run("classify", "--vectors", "table.csv", "known.csv", *options)
    assert outcome.status == 2
    assert f"{options[0]} is for files of edges, not for a table of vectors: leave out {options[0]}" in outcome.err


def test_rules_on_temperatures_and_several_labels_go_by_the_graph_alone(run: Run, table: pl.DataFrame) -> None:
    by_heat = run("classify", "--vectors", "table.csv", "known.csv", "--rule", "centered")
    assert by_heat.status == 0, by_heat.err
    assert "classifier    DirichletClassifier, rule centered\n" in by_heat.err
    assert "seeds hidden in turn" in by_heat.err
    several = run("classify", "--vectors", "table.csv", "known.csv", "--multi-label", "-q")
    assert several.status == 0, several.err
    labels = dict(pl.read_csv(several.out.encode()).select("node", "label").iter_rows())
    assert (labels["r20"], labels["r21"]) == ("right", "left")
