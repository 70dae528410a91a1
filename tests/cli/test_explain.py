"""``isotherm explain`` and ``isotherm classify --save``: what is printed is what the library says."""

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import ISOTHERM, SEEDS, Run, command, leftovers, rounded, runner
from scipy.sparse import csr_array, save_npz

import isotherm as iso
from isotherm.cli.reports.explanations import explained_nodes, matching_nodes

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")  # two seeds are enough here

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(tmp_path, capfd, monkeypatch)


@pytest.fixture
def fitted() -> iso.NodeClassifier:
    graph = iso.read_graph("edges.csv")
    return iso.NodeClassifier().fit(graph, {"ann": "tea", "gus": "coffee"})


def test_what_people_see(run: Run, fitted: iso.NodeClassifier) -> None:
    outcome = run("explain", "edges.csv", "seeds.csv", "bob")
    assert outcome.status == 0, outcome.err
    heat = fitted.temperatures_[fitted.graph_.index(["bob"])[0]]  # of coffee, tea
    assert re.search(rf"^tea +{heat[1]:.3f} ", outcome.out, re.MULTILINE)
    assert re.search(rf"^ann +tea +{heat[1]:.1%} +\S+ +bob → ann$", outcome.out, re.MULTILINE)
    assert re.search(rf"^gus +coffee +{heat[0]:.1%} +\S+ +bob → cat → dan → fay → gus$", outcome.out, re.MULTILINE)
    assert outcome.out.startswith(f"bob: tea (confidence {fitted.confidence_[1]:.3f})\n")
    assert "edges.csv: source=col 1" in outcome.err


def test_a_model_is_explained_as_its_files_are(run: Run) -> None:
    assert run("classify", "edges.csv", "seeds.csv", "-o", "l.csv", "--save", "model.npz").status == 0
    printed = [run("explain", *source, "bob").out for source in (["edges.csv", "seeds.csv"], ["model.npz"])]
    assert printed[0] == printed[1] != ""


def test_what_machines_get(run: Run, fitted: iso.NodeClassifier) -> None:
    outcome = run("explain", "edges.csv", "seeds.csv", "bob", "dan", "bob", "--json", "-q")
    assert (outcome.status, outcome.err) == (0, "")
    bob, dan = json.loads(outcome.out)
    assert [bob["node"], bob["label"], dan["node"]] == ["bob", "tea", "dan"]
    explained = fitted.explain("dan")
    assert [seed["share"] for seed in dan["seeds"]] == pytest.approx(explained.share.tolist(), rel=1e-12)
    assert [seed["path"] for seed in dan["seeds"]] == [explained.path(seed) for seed in explained.seed]
    place = fitted.graph_.index(["dan"])[0]
    heat = {each["class"]: each["temperature"] for each in dan["classes"]}
    assert heat == pytest.approx(dict(zip(fitted.classes_, fitted.temperatures_[place], strict=True)))
    assert dan["confidence"] == pytest.approx(fitted.confidence_[place])


@pytest.mark.parametrize("name", ["shares.csv", "shares.parquet", "shares.jsonl.gz"])
def test_a_table_of_shares(run: Run, fitted: iso.NodeClassifier, name: str) -> None:
    outcome = run("explain", "edges.csv", "seeds.csv", "bob", "dan", "-o", name)
    assert (outcome.status, outcome.out) == (0, "")
    assert f"4 rows to {name}" in outcome.err
    readers: dict[str, Callable[[str], pl.DataFrame]]
    readers = {".csv": pl.read_csv, ".parquet": pl.read_parquet, ".gz": pl.read_ndjson}
    frame = readers[Path(name).suffix](name)
    assert frame.columns == ["node", "seed", "label", "share"]
    assert frame["node"].to_list() == ["bob", "bob", "dan", "dan"]
    expected = np.concatenate([fitted.explain(node).share for node in ("bob", "dan")])
    np.testing.assert_allclose(frame["share"], expected, rtol=1e-12)
    assert "confidence" not in outcome.err  # which is not asked for, and takes time
    again = run("explain", "edges.csv", "seeds.csv", "bob", "-o", name)
    assert again.status == 2
    assert "--force" in again.err


def test_top_and_paths(run: Run) -> None:
    outcome = run("explain", "edges.csv", "seeds.csv", "bob", "--number", "1", "--paths", "0", "-q")
    assert "gus" not in outcome.out
    assert "→" not in outcome.out
    assert re.search(r"^and 1 more, [\d.]+% together$", outcome.out, re.MULTILINE)
    rows = run("explain", "edges.csv", "seeds.csv", "bob", "dan", "-n", "1", "-o", "-", "-q").out.splitlines()
    assert [row.split(",")[0] for row in rows] == ["node", "bob", "dan"]


def test_a_saved_classifier_says_the_same(run: Run) -> None:
    saved = run("classify", "edges.csv", "seeds.csv", "-o", "l.csv", "--save", "m.npz", "--rule", "vanilla")
    assert saved.status == 0, saved.err
    assert re.search(r"^saved +m\.npz$", saved.err, re.MULTILINE)
    loaded = run("explain", "m.npz", "bob", "cat", "--json")
    fitted = run("explain", "edges.csv", "seeds.csv", "bob", "cat", "--json", "--rule", "vanilla")
    assert rounded(loaded.out) == rounded(fitted.out)
    assert iso.load("m.npz").rule == "vanilla"
    assert run("explain", "m.npz", "bob", "--threads", "1").status == 0
    assert leftovers(Path()) == []


def test_in_a_process_of_its_own(tmp_path: Path, run: Run) -> None:
    assert command("classify", "edges.csv", "seeds.csv", "--save", "m m.npz", folder=tmp_path).status == 0
    outcome = command("explain", "m m.npz", "dan", "-q", folder=tmp_path, PYTHONUTF8="1")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith("dan: ")
    ascii_only = command("explain", "m m.npz", "dan", folder=tmp_path, PYTHONIOENCODING="ascii")
    assert " > fay > gus" in ascii_only.out
    assert ascii_only.out.isascii()
    fresh = command("explain", "edges.csv", "seeds.csv", "dan", "-q", folder=tmp_path, PYTHONUTF8="1")
    assert (fresh.out, fresh.err) == (outcome.out, "")
    refused = command("explain", "m m.npz", "don", folder=tmp_path)
    assert (refused.status, refused.out) == (2, "")
    assert refused.err == "isotherm: 'don' is not in the graph; did you mean 'dan'?\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["m.npz", "Bob"], "'Bob' is not in the graph; did you mean 'bob'?"),
        (["m.npz", "x", "y"], "'x' and 1 more node are not in the graph; it has 7 nodes, such as 'ann', 'bob', 'cat'"),
        (["m.npz"], "isotherm explain needs EDGES SEEDS NODE, or MODEL NODE"),
        (["edges.csv", "seeds.csv"], "isotherm explain needs EDGES SEEDS NODE, or MODEL NODE"),
        ([], "isotherm explain needs EDGES SEEDS NODE, or MODEL NODE"),
        (["m.npz", "bob", "--rule", "vanilla"], "m.npz is fitted already: leave out --rule, or give the edges"),
        (["m.npz", "bob", "--max-iter", "3"], "m.npz is fitted already: leave out --max-iter"),
        (["m.npz", "bob", "--labels-header"], "m.npz is fitted already: leave out --labels-header"),
        (["broken.npz", "bob", "cat"], "broken.npz is damaged or truncated: copy it again"),
        (["none.npz", "bob"], "none.npz does not exist; check its name"),
        (["m.npz", "bob", "-o", "x.docx"], "x.docx: labels are written as"),
        (["m.npz", "bob", "--number", "0"], "--number"),
        (["m.npz", "bob", "--bogus"], "--bogus is neither an option nor a node; see isotherm explain --help"),
        (["m.npz", "bob", "-o", "-", "--json"], "--output and --json are both for standard output"),
        (["edges.csv", "seeds.csv", "bob", "-o", "./seeds.csv", "--force"], "./seeds.csv is also an input"),
    ],
)
def test_what_is_refused(run: Run, arguments: list[str], sentence: str) -> None:
    assert run("classify", "edges.csv", "seeds.csv", "-o", "l.csv", "--save", "m.npz").status == 0
    Path("broken.npz").write_bytes(Path("m.npz").read_bytes()[:-20])
    outcome = run("explain", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert sentence in outcome.err
    assert outcome.err.count("\n") == 1
    assert Path("seeds.csv").read_text() == SEEDS


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--save", "m.pkl"], "m.pkl: a classifier is saved as .npz; end the name in that"),
        (["--save", "none/m.npz"], "does not exist; create it"),
        (
            ["--save", "old.npz"],
            "old.npz exists already, and is kept; choose another name, or overwrite it with --force",
        ),
        (["--save", "x.npz", "--json-summary", "x.npz"], "--json-summary and --save are both x.npz"),
    ],
)
def test_what_is_not_saved(run: Run, arguments: list[str], sentence: str) -> None:
    Path("old.npz").write_bytes(b"precious")
    outcome = run("classify", "edges.csv", "seeds.csv", "-o", "l.csv", *arguments)
    assert outcome.status == 2
    assert sentence in outcome.err
    assert Path("old.npz").read_bytes() == b"precious"
    assert not Path("l.csv").exists()


def test_a_matrix_of_edges_is_no_model(run: Run) -> None:
    save_npz("graph.npz", csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])))
    Path("known.csv").write_text("node,label\n0,a\n2,b\n")
    outcome = run("explain", "graph.npz", "known.csv", "1", "--json", "-q")
    assert outcome.status == 0, outcome.err
    assert [seed["seed"] for seed in json.loads(outcome.out)[0]["seeds"]] == [0, 2]
    assert "knwn.csv does not exist; did you mean known.csv?" in run("explain", "graph.npz", "knwn.csv", "1").err


def test_a_node_that_no_seed_reaches(run: Run) -> None:
    Path("edges.csv").write_text("ann,bob\nbob,gus\nx,-5\n")
    outcome = run("explain", "edges.csv", "seeds.csv", "-5", "-q")
    assert outcome.out == "-5: no label, since no path joins it to a seed\n"
    assert json.loads(run("explain", "edges.csv", "seeds.csv", "x", "--json", "-q").out)[0]["label"] is None


def test_many_classes_and_a_long_way() -> None:
    graph = iso.Graph.from_edges(range(59), range(1, 60))
    seeds = {node: f"class {node}" for node in [0, *range(50, 60)]}
    clf = iso.DirichletClassifier(rule="vanilla", max_memory=100).fit(graph, seeds)
    account = explained_nodes(clf, [clf.explain(20)], top=2, paths=3)[0]
    assert "20 → 19 → 18 → 17 → (13 more) → 3 → 2 → 1 → 0" in account.text()
    classes = account.plain()["classes"]
    assert [each["class"] for each in classes[:2]] == ["class 0", "class 50"]
    np.testing.assert_allclose([each["temperature"] for each in classes[:2]], [0.6, 0.4])
    clf = iso.DirichletClassifier().fit(graph, seeds)
    assert "and 6 more of lower scores" in explained_nodes(clf, [clf.explain(20)], top=2, paths=0)[0].text()


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")
def test_features_may_label_a_node_that_no_seed_reaches() -> None:
    graph = iso.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 5])
    features = np.array([[0.0], [0.1], [5.0], [5.1], [0.1], [5.0]])
    clf = iso.NodeClassifier().fit(graph, {0: 0, 1: 0, 2: 1, 3: 1}, features=features)
    far, near = explained_nodes(clf, clf.explain_many([4, 1]), top=None, paths=0, confidence=False)
    head, table = far.text().split("\n\n")
    assert head == "4: 0, although no path joins it to a seed"
    assert [line.split("  ")[0] for line in table.splitlines()] == ["evidence", *clf.experts_]
    assert near.text() == clf.explain(1).text(paths=0, title="1: 0 (a seed)")


def test_nodes_are_found_by_their_text() -> None:
    graph = iso.Graph.from_edges([1, 2], [2, "2 "])
    assert matching_nodes(["2 ", "1"], graph) == ["2 ", 1]


@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
def test_several_labels(run: Run) -> None:
    graph = iso.read_graph("edges.csv")
    clf = iso.DirichletClassifier(threshold=0.4).fit(graph, {"ann": {"tea", "milk"}, "gus": {"coffee"}, "eve": set()})
    clf.save("m.npz")
    outcome = run("explain", "m.npz", "bob", "eve", "--paths", "0")
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith("bob: milk, tea\n")
    assert re.search(r"^ann +milk, tea +\d", outcome.out, re.MULTILINE)
    assert "\neve: no label (a seed)\n" in outcome.out
    bob = json.loads(run("explain", "m.npz", "bob", "--json").out)[0]
    place = graph.index(["bob"])[0]
    assert bob["label"] == ["milk", "tea"]
    assert bob["confidence"] == pytest.approx(clf.temperatures_[place, [1, 2]].tolist())
    rows = run("explain", "m.npz", "bob", "-o", "-", "-q").out.splitlines()
    assert rows[1].startswith('bob,ann,"milk, tea",')
    suggested = run("suggest", "m.npz", "-n", "6", "-q").out.splitlines()
    least = f'bob,"milk, tea",{min(bob["confidence"])}'
    assert rounded(least.replace(",", ",,", 1)) in {rounded(row).rpartition(",")[0] for row in suggested}


@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
def test_labels_that_are_not_certain(run: Run) -> None:
    Path("doubt.csv").write_text("node,label,trust\nann,tea,\ngus,coffee,\ncat,coffee,0.5\n")
    outcome = run("explain", "edges.csv", "doubt.csv", "cat", "--seed-weight", "trust", "--json", "-q")
    assert outcome.status == 0, outcome.err
    known = {"ann": "tea", "gus": "coffee", "cat": "coffee"}
    clf = iso.NodeClassifier().fit(iso.read_graph("edges.csv"), known, seed_weight={"cat": 0.5})
    shares = [seed["share"] for seed in json.loads(outcome.out)[0]["seeds"]]
    assert shares == pytest.approx(clf.explain("cat").share.tolist())
    Path("several.csv").write_text("node,label\nann,tea\nann,cake\ngus,coffee\ngus,cake\n")
    several = run("explain", "edges.csv", "several.csv", "bob", "--multi-label", "-q")
    assert "\nann   cake, tea " in several.out
    assert run("suggest", "edges.csv", "several.csv", "--multi-label", "-q").status == 0


def test_without_confidence(run: Run) -> None:
    by_heat = ["--rule", "centered", "--no-confidence"]
    outcome = run("explain", "edges.csv", "seeds.csv", "bob", "ann", *by_heat, "-q")
    assert outcome.out.startswith("bob: tea\n")
    assert "\nann: tea (a seed)\n" in outcome.out
    assert json.loads(run("explain", "edges.csv", "seeds.csv", "bob", *by_heat, "--json").out)[0]["confidence"] is None
    assert run("classify", "edges.csv", "seeds.csv", "-o", "l.csv", "--save", "m.npz", "-q").status == 0
    assert run("explain", "m.npz", "bob", "--no-confidence").out.startswith("bob: tea\n")


def test_a_variable_that_comes_too_late(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("classify", "edges.csv", "seeds.csv", "-o", "l.csv", "--save", "m.npz", "-q").status == 0
    monkeypatch.setenv("ISOTHERM_RULE", "vanilla")
    assert "m.npz is fitted already: unset ISOTHERM_RULE, or give the edges" in run("explain", "m.npz", "bob").err
    monkeypatch.delenv("ISOTHERM_RULE")
    monkeypatch.setenv("ISOTHERM_THREADS", "1")
    assert run("explain", "m.npz", "bob").status == 0


def test_edges_from_a_pipe(run: Run, tmp_path: Path) -> None:
    line = f"{shlex.join(ISOTHERM)} explain <(cat edges.csv) seeds.csv bob -q"
    piped = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True)
    assert piped.stdout == run("explain", "edges.csv", "seeds.csv", "bob", "-q").out
