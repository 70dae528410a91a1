"""The table of accuracy, on small graphs: it is kept, resumed, extended, and turned into figures."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import Normalizer

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.accuracy import command, graphs, vectors
from benchmarks.accuracy import page as pages
from benchmarks.accuracy.graphs import MASKS, PUBLIC, TWENTY, Facts, facts, load_item
from benchmarks.accuracy.halves import HALVES, WITH_FEATURES
from benchmarks.accuracy.losses import reason
from benchmarks.accuracy.methods import METHODS, VARIANTS, best_variants
from benchmarks.accuracy.picture import draw_differences
from benchmarks.accuracy.runs import SLOW, Row, add_rows, pack, read_rows, run_method, unpack
from benchmarks.accuracy.statistics import Panel, estimate, mean_difference
from benchmarks.accuracy.tables import difference_table, method_table, wins_table
from small_data import write_graph

import isotherm as iso
from isotherm.study import peers
from isotherm.study.methods import Method
from isotherm.study.scores import Answer


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two small graphs under names of the split, one of them with features and a public split."""
    monkeypatch.setenv("ISOTHERM_DATA", str(tmp_path))
    graphs._features.cache_clear()
    for name in ("cora", "polblogs"):
        write_graph(tmp_path, name, [40, 40])
    (tmp_path / "features").mkdir()
    rows = {"indices": np.arange(80) % 4, "indptr": np.arange(81), "shape": np.array([80, 4])}
    split = {"train": np.array([0, 1, 60, 61]), "test": np.array([5, 6, 7, 70])}
    np.savez(tmp_path / "features" / "cora.npz", **rows, **split)  # type: ignore[arg-type]
    return tmp_path


def test_runs_are_kept_and_only_what_is_missing_is_run(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = data / "out" / "rows.csv"
    wanted = ["--half", "all", "--results", str(results), "--draws", "2", "--stored", str(data / "none.csv.gz")]
    command.main([*wanted, "--methods", "label spreading", "regression on X"])
    first = read_rows(results)
    assert {(row.graph, row.protocol) for row in first.values()} == {
        (name, protocol) for name in ("cora", "polblogs") for protocol in ("1%", "5%", "3 per class")
    } | {("cora", TWENTY), ("cora", PUBLIC)}
    assert {row.method for row in first.values() if row.graph == "polblogs"} == {"label spreading"}
    printed = capsys.readouterr().out
    assert "2 graphs, links only" in printed
    assert "| label spreading |" in printed
    command.main([*wanted, "--methods", "label spreading", "rule relative"])
    again = read_rows(results)
    assert "draw 0, label spreading:" not in capsys.readouterr().out
    assert {key: again[key] for key in first} == first
    assert {row.method for row in again.values()} - {row.method for row in first.values()} == {
        "Isotherm, rule relative"
    }
    assert len((data / "out" / "rows.graphs.csv").read_text().splitlines()) > 2
    command.main([*wanted[:-3], "3", *wanted[-2:], "--graphs", "polblogs", "--methods", "label spreading"])
    printed = capsys.readouterr().out
    assert "draw 2, label spreading:" in printed
    assert "draw 1, label spreading:" not in printed


def test_stored_rows_of_peers_are_not_run_again_and_those_of_isotherm_are(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored, results = data / "stored.csv.gz", data / "rows.csv"
    known = [Row("polblogs", "5%", 0, name, accuracy=0.5) for name in ("Isotherm", "label spreading")]
    known.append(Row("polblogs", "5%", 0, "GraphLearning poisson", status=SLOW))
    stored.write_bytes(pack({row.key: row for row in known}))
    wanted = ["--graphs", "polblogs", "--protocols", "5%", "--draws", "1", "--stored", str(stored)]
    pytest.importorskip("graphlearning", reason="a peer of the benchmarks")
    methods = ["Isotherm", "label spreading", "GraphLearning poisson"]
    command.main([*wanted, "--methods", *methods, "--results", str(results)])
    assert [row.method for row in read_rows(results).values()] == ["Isotherm", "GraphLearning poisson"]
    assert "| label spreading | .500" in capsys.readouterr().out


def test_isotherm_now_is_compared_with_stored_rows_of_the_same_draws(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored, now = data / "stored.csv.gz", data / "now.csv"
    known = [
        Row(graph, "5%", draw, name, accuracy=value, macro_f1=value)
        for graph in ("cora", "polblogs")
        for name, value in (("Isotherm", 0.25), ("label spreading", 0.5))
        for draw in range(3)
    ]
    known[2] = replace(known[2], accuracy=0.99)  # the third draw, which is not compared
    stored.write_bytes(pack({row.key: row for row in known}))
    wanted = ["--half", "all", "--protocols", "5%", "--draws", "2", "--stored", str(stored)]
    command.main([*wanted, "--now", str(now)])
    found = read_rows(now)
    assert {row.method for row in found.values()} == {"Isotherm", "Isotherm, features"}
    mean = 100 * np.mean([row.accuracy for row in found.values() if row.method == "Isotherm"])
    printed = capsys.readouterr().out
    assert "Isotherm, accuracy in percent, 2 graphs" in printed
    assert f"| minus Isotherm, stored | {mean - 25:+.1f} ± " in printed
    assert f"| minus label spreading | {mean - 50:+.1f} ± " in printed
    command.main([*wanted, "--now", str(data / "again.csv"), "--against", str(now)])
    assert "| minus Isotherm, stored | +0.0 ± 0.0 |" in capsys.readouterr().out


def test_official_masks_are_scored_on_their_test_nodes(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (data / "heterophilous").mkdir()
    write_graph(data / "heterophilous", "actor", [40, 40])
    with np.load(data / "heterophilous" / "actor.npz") as stored:
        arrays = {name: stored[name] for name in stored.files}
    train, test = np.zeros((2, 10, 80), dtype=bool)
    train[:, ::2], test[:, 1::4] = True, True
    features = np.eye(80, 5, dtype=np.float32)
    masks = {"train_masks": train, "test_masks": test, "features": features}
    np.savez(data / "heterophilous" / "actor.npz", **arrays, **masks)  # type: ignore[arg-type]
    item = load_item("heterophilous/actor")
    assert len(item.draws(MASKS, 3)) == 3
    assert item.draws(PUBLIC, 3) == []
    (draw,) = item.draws(MASKS, 1)
    np.testing.assert_array_equal(draw.seeds, np.arange(0, 80, 2))
    np.testing.assert_array_equal(np.flatnonzero(draw.scored), np.arange(1, 80, 4))
    wanted = ["--official", "--draws", "1", "--results", str(data / "r.csv"), "--stored", str(data / "none.csv.gz")]
    command.main([*wanted, "--methods", "regression on X"])
    (row,) = read_rows(data / "r.csv").values()
    assert (row.graph, row.protocol) == ("heterophilous/actor", MASKS)
    labels = peers.feature_regression(item.task, draw)
    assert labels.confidence is not None
    chance = np.where(labels.labels == 1, labels.confidence, 1 - labels.confidence)
    ones, zeros = (chance[draw.scored & (item.task.truth == code)] for code in (1, 0))
    gaps = ones[:, None] - zeros  # the AUC is the share of pairs in the right order
    assert row.auc == pytest.approx(np.mean((gaps > 0) + 0.5 * (gaps == 0)), abs=1e-4)


def test_tables_are_run_with_as_many_labels_of_each_class(data: Path) -> None:
    results = data / "rows.csv"
    wanted = ["--tables", "--graphs", "table/wine", "--draws", "1", "--results", str(results)]
    command.main([*wanted, "--stored", str(data / "none.csv.gz")])
    found = read_rows(results)
    assert {row.protocol for row in found.values()} == {"5 per class", TWENTY}  # too few rows for 100
    assert {row.method for row in found.values()} == set(vectors.TABLE_METHODS)
    assert all(row.accuracy > 0.85 for row in found.values())
    item = load_item("table/wine")
    (draw,) = item.draws("5 per class", 1)
    assert np.bincount(item.task.truth[draw.seeds]).tolist() == [5, 5, 5]
    clf = iso.VectorClassifier().fit(np.asarray(item.task.features), draw.known)
    np.testing.assert_array_equal(vectors.by_neighbours(item.task, draw).labels, clf.labels_)


def test_regression_on_tables_chooses_its_scaling_by_folds() -> None:
    rng = np.random.default_rng(0)
    angles = np.repeat([0.0, 0.3, 0.6], 60) + 0.05 * rng.standard_normal(180)
    rows = np.exp(3 * rng.standard_normal(180))[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    labels = np.repeat([0, 1, 2], 60)
    seeds = np.arange(0, 180, 6)
    model = vectors.cross_validated(rows, seeds, labels[seeds])
    assert isinstance(model.best_params_["scale"], Normalizer)  # only the direction of a row tells its class
    assert np.mean(model.predict(vectors.unit_variance(rows)) == labels) > 0.95


def test_isotherm_is_renewed_on_everything_and_the_page_is_made(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored, facts = data / "accuracy.csv.gz", data / "accuracy.graphs.csv"
    peer = Row("cora", "1%", 0, "label spreading", accuracy=0.12345, macro_f1=0.1)
    before = Row("cora", "1%", 0, "Isotherm", accuracy=0.54321)
    stored.write_bytes(pack({row.key: row for row in (peer, before, replace(peer, graph="polblogs"))}))
    for module in (command, pages):
        monkeypatch.setattr(module, "ROWS", stored)
        monkeypatch.setattr(module, "FACTS", facts)
    command.main(["--renew", str(data / "new.csv"), "--stored", str(stored), "--draws", "2"])
    found = pages.kept_results()
    assert found[peer.key] == replace(found[peer.key], accuracy=0.12345)
    assert found[before.key].accuracy != before.accuracy
    protocols = {row.protocol for row in found.values() if row.method == "Isotherm, features"}
    assert any(row.method == "Isotherm, table" for row in found.values())
    assert protocols == {"1%", "5%", "3 per class", TWENTY, PUBLIC, *graphs.BY_CLASS}
    page = (data / "accuracy.md").read_text(encoding="utf-8")
    assert page == pages.page(found, pages.kept_facts())
    assert (data / "maintainers" / "accuracy.md").exists()
    assert (data / "accuracy.png").exists()


def test_the_same_draws_for_all(data: Path) -> None:
    for protocol in ("1%", "5%", "3 per class"):
        one, other = (load_item("cora").draws(protocol, 2) for _ in range(2))
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a.seeds, b.seeds)
        assert not np.array_equal(one[0].seeds, one[1].seeds)


def test_the_public_split_is_scored_on_its_test_nodes(data: Path) -> None:
    (draw,) = load_item("cora").draws(PUBLIC, 3)
    assert draw.seeds.tolist() == [0, 1, 60, 61]
    assert np.flatnonzero(draw.scored).tolist() == [5, 6, 7, 70]
    assert load_item("polblogs").draws(PUBLIC, 3) == []


def test_one_class_against_the_rest(data: Path) -> None:
    both, one = load_item("cora").task.truth, load_item("cora/1").task.truth
    np.testing.assert_array_equal(one, both == 1)


def test_a_slow_method_is_shown_as_such(data: Path) -> None:
    item = load_item("polblogs")
    draws = item.draws("5%", 3)
    answers = Answer(item.task.truth)

    def busy(task: object, draw: object) -> Answer:
        item.task.shared("work", lambda: sum(range(10**6)))
        return answers

    rows = list(run_method(item, Method("busy", busy), "5%", enumerate(draws), budget=0.0))
    assert [row.status for row in rows] == ["", SLOW, SLOW]
    assert rows[0].seconds > 0
    more = list(run_method(item, Method("busy", busy), "5%", enumerate(draws), budget=100.0))
    assert all(row.seconds >= item.task.costs["work"] for row in more)


def test_a_method_that_fails_is_shown_as_such(data: Path) -> None:
    def fail(task: object, draw: object) -> Answer:
        raise ValueError("no luck")

    item = load_item("polblogs")
    rows = list(run_method(item, Method("bad", fail), "5%", enumerate(item.draws("5%", 2)), budget=9))
    assert [row.status for row in rows] == ["ValueError: no luck"] * 2
    panel = Panel({row.key: row for row in rows}, ["polblogs"], "5%")
    assert panel.unfinished("bad") == {"polblogs": "failed"}


def test_facts_about_a_graph(data: Path) -> None:
    item = load_item("polblogs")
    found, dense, truth = facts(item), item.task.matrix.toarray(), item.task.truth
    same = truth[:, None] == truth
    assert found.alike == pytest.approx(dense[same].sum() / dense.sum())
    volumes = np.array([dense[truth == code].sum() for code in range(item.task.n_classes)]) / dense.sum()
    assert found.chance == pytest.approx((volumes**2).sum())


def test_unknown_names_are_refused(data: Path) -> None:
    with pytest.raises(SystemExit, match="nothing is not in the folder"):
        command.main(["--graphs", "nothing"])
    with pytest.raises(SystemExit, match="no method 'magic'"):
        command.main(["--methods", "magic"])


def test_a_part_of_a_name_chooses_methods() -> None:
    assert [method.name for method in command.chosen_methods(["Isotherm"])] == ["Isotherm"]
    assert {"Isotherm, rule centered", "Isotherm, rule probable"} <= {m.name for m in command.chosen_methods(["rule"])}
    assert len(command.chosen_methods(None)) == sum(method.installed for method in METHODS.values())


ROWS = [
    Row(graph, "1%", draw, method, accuracy=value, macro_f1=value / 2, seconds=1.0)
    for method, graph, values in (
        ("Isotherm", "a", [0.8, 0.6]),
        ("Isotherm", "b", [0.5, 0.5]),
        ("peer", "a", [0.6, 0.6]),
        ("peer", "b", [0.5, 0.3]),
    )
    for draw, value in enumerate(values)
]
RESULTS = {row.key: row for row in ROWS}


def test_means_ranks_and_paired_differences() -> None:
    panel = Panel(RESULTS, ["a", "b"], "1%")
    np.testing.assert_allclose(panel.by_graph("Isotherm", "accuracy"), [0.7, 0.5])
    difference = panel.difference("Isotherm", "peer", "accuracy")
    assert difference.mean == pytest.approx(0.1)
    assert difference.error == pytest.approx(0)
    assert difference.graphs == 2
    assert panel.ranks(["peer", "Isotherm"], "accuracy") == {"peer": 2, "Isotherm": 1}
    assert estimate(np.array([0.0, 1.0])).error == pytest.approx(0.5)
    table = method_table(RESULTS, ["a", "b"], ["1%"], ["Isotherm", "peer"])
    assert "| Isotherm | **.600**/**.300** (1.0/1.0) | 1.00 |" in table
    assert "| peer | **+10.0 ± 0.0** | **+5.0 ± 0.0** |" in difference_table(
        RESULTS, ["a", "b"], ["1%"], ["peer"], "Isotherm"
    )


def test_the_mean_of_protocols_is_paired_by_graph() -> None:
    other = [replace(row, protocol="5%", accuracy=row.accuracy + 0.1 * (row.method == "peer")) for row in ROWS[:-1]]
    results = RESULTS | {row.key: row for row in other}
    panels = [Panel(results, ["a", "b"], protocol) for protocol in ("1%", "5%")]
    found = mean_difference(panels, "Isotherm", "peer", "accuracy")
    assert found.mean == pytest.approx((0.1 + 0.1 + 0.0 - 0.1) / 4)
    half = {key: row for key, row in results.items() if key[:2] != ("b", "5%")}
    assert "| **+10.0 ± 0.0** | **+5.0 ± 0.0** |" in difference_table(half, ["a", "b"], ["1%"], ["peer"], "Isotherm")
    assert "| +5.0 (1 graphs) |" in difference_table(half, ["a", "b"], ["1%", "5%"], ["peer"], "Isotherm")


def test_a_difference_is_taken_on_the_draws_that_both_have() -> None:
    fewer = {key: row for key, row in RESULTS.items() if key != ("a", "1%", 1, "peer")}
    panel = Panel(fewer, ["a", "b"], "1%")
    np.testing.assert_allclose(panel.gaps("Isotherm", "peer", "accuracy"), [0.2, 0.1])


def test_on_how_many_graphs_a_method_is_best() -> None:
    tied = RESULTS | {
        ("b", "1%", draw, "peer"): Row("b", "1%", draw, "peer", accuracy=0.5, macro_f1=0.9) for draw in (0, 1)
    }
    table = wins_table(tied, ["a", "b"], ["1%"], ["peer", "Isotherm"])
    assert table.splitlines()[2:] == ["| Isotherm | 2/1 | 2/1 |", "| peer | 1/1 | 1/1 |"]
    lucky = tied | {("a", "1%", 0, "other"): Row("a", "1%", 0, "other", accuracy=0.75, macro_f1=0.1)}  # the easier draw
    assert "| other | 0/0 | 0/0 |" in wins_table(lucky, ["a", "b"], ["1%"], ["peer", "Isotherm", "other"])


def test_a_network_has_its_best_variant_on_each_graph() -> None:
    def rows(graph: str, variant: str, values: list[float], status: str = "") -> list[Row]:
        return [Row(graph, "1%", draw, f"GCN, {variant}", value, status=status) for draw, value in enumerate(values)]

    every = [
        *rows("a", "rows of sum 1", [0.5, 0.9]),
        *rows("a", "rows of length 1", [0.8, 0.5]),
        *rows("b", "rows of sum 1", [0.1, 0.1]),
        *rows("b", "rows of length 1", [0.2, 0.2]),
        *rows("c", "rows of sum 1", [np.nan], status=SLOW),
        *rows("d", "rows of sum 1", [0.5, 0.1]),
        *rows("d", "rows of length 1", [0.4]),  # not chosen: on the draw that both have it is behind
        *ROWS,
    ]
    found = best_variants({row.key: row for row in every})
    assert {row.method for row in found.values()} == {"GCN", "Isotherm", "peer"}
    assert [found[graph, "1%", draw, "GCN"].accuracy for graph in "ab" for draw in (0, 1)] == [0.5, 0.9, 0.2, 0.2]
    assert found["c", "1%", 0, "GCN"].status == SLOW
    assert [found["d", "1%", draw, "GCN"].accuracy for draw in (0, 1)] == [0.5, 0.1]


def test_variants_are_chosen_by_the_name_of_their_network() -> None:
    if METHODS["GAT, rows of sum 1"].installed:
        assert [method.name for method in command.chosen_methods(["GAT"])] == VARIANTS["GAT"]


def test_a_method_that_lacks_a_graph_is_last_there() -> None:
    slow = RESULTS | {("b", "1%", 1, "peer"): Row("b", "1%", 1, "peer", status=SLOW)}
    panel = Panel(slow, ["a", "b"], "1%")
    assert panel.mean("peer", "accuracy").graphs == 1
    assert panel.ranks(["peer", "Isotherm"], "accuracy") == {"peer": 2, "Isotherm": 1}
    assert "1 lacking" in method_table(slow, ["a", "b"], ["1%"], ["Isotherm", "peer"])


def test_the_options_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--help"])
    assert "1% of each class" in " ".join(capsys.readouterr().out.split())


def test_a_share_of_each_class_has_a_seed_of_each() -> None:
    truth = np.repeat([0, 1, 2, -1], [300, 90, 3, 50])
    seeds = graphs.BY_CLASS["1% of each class"](truth, rng=np.random.default_rng(0))
    assert np.bincount(truth[seeds]).tolist() == [3, 1, 1]


def test_losses_have_reasons() -> None:
    clear = Facts("clear", 3000, 9000, 4, 0, 0.9, 0.3, 0.4, 0.0)
    assert reason(clear, "3 per class").startswith("12 seeds in all, too few to calibrate by")
    assert reason(clear, "5%") == "90% of links join a class to itself, 30% by chance"
    assert reason(replace(clear, alike=0.35), "3 per class").startswith("classes hardly follow links")
    assert reason(replace(clear, edges=90_000), "5%").startswith("dense: 60 neighbours")
    assert reason(replace(clear, alike=np.nan), "5%") == "no link joins two labelled nodes"


def test_rows_survive_the_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "rows.csv"
    add_rows(path, ROWS[:2])
    add_rows(path, [*ROWS[2:], Row("a", "1%", 0, "Isotherm", accuracy=0.9, status=""), Row("c", "1%", 0, "x")])
    found = read_rows(path)
    assert found["a", "1%", 0, "Isotherm"].accuracy == 0.9  # the later one counts
    assert found[ROWS[5].key] == ROWS[5] or np.isnan(found[ROWS[5].key].coverage)
    assert pack(unpack(pack(found))) == pack(found)


def test_the_page_is_made_of_the_rows_in_the_repository() -> None:
    for make, name in ((pages.page, "accuracy.md"), (pages.maintainers_page, "maintainers/accuracy.md")):
        made = make(pages.kept_results(), pages.kept_facts())
        wanted = (pages.DOCS / name).read_text(encoding="utf-8")
        assert made == wanted, "run: python -m benchmarks accuracy --page docs/accuracy.md"
    assert all(half in HALVES.values() for half in pages.measured_halves(pages.kept_results()))


def test_a_page_of_two_halves_has_tables_losses_goals_and_a_picture(tmp_path: Path) -> None:
    rows = [
        Row(graph, protocol, draw, method, 0.6 + gain, 0.5 + gain, 0.6, 0.0, 0.03, 0.9, 1.5, 0.04, 0.1)
        for graph in HALVES
        for protocol in ("1%", "5%", "3 per class")
        for draw in range(3)
        for method, gain in (
            ("Isotherm", 0.1),
            ("spectral + regression", 0.0),
            ("label spreading", 0.2 * (graph == "acm")),
            ("Isotherm, features", 0.2 if HALVES[graph] == "confirmation" else 0.31),
        )
        if not METHODS[method].features or graph in WITH_FEATURES
    ]
    results = {row.key: row for row in rows}
    facts = {graph: Facts(graph, 1000, 5000, 3, 0, 0.4, 0.35, 0.5, 0.0) for graph in HALVES}
    page = pages.page(results, facts)
    assert "the half for confirmation, which was run\nafterwards" in page
    assert "## Links only: 28 graphs for confirmation" in page
    assert "| Isotherm | 27/27 | 27/27 | 27/27 | 81/81 |" in page
    assert "goal" not in page.split("## How it was measured")[0].replace("shows the goals", "")
    assert "| acm | 1% | label spreading | 10.0 | classes hardly follow links: 40% of links" in page
    page = pages.maintainers_page(results, facts)
    assert "## Links only: 28 graphs for development" in page
    assert "| ahead of every peer in accuracy and macro-F1, 1%, links only | accuracy 0.700, " in page
    assert "| in 6 of 6 | yes |" in page
    assert "| 80.0%, 70.0% on 6 graphs; with those for development 85.0%, 75.0% on 11 graphs | **no** |" in page
    assert "| calibration error, 1%, mean of graphs: at most 0.055 | 0.030 | yes |" in page
    assert "| with features, mean of four protocols: ahead of GCN by two standard errors |  | not run |" in page
    assert "| calibration error at 5%, mean of graphs: at most 0.045 | 0.030 | yes |" in page
    assert "| public split of cora: accuracy 81.5% |  | not run |" in page
    draw_differences(results, pages.bands(results, "confirmation"), tmp_path / "p.png", "confirmation")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
