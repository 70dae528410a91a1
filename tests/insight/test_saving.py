"""Saved classifiers: they answer as before, and a file that is not one of them is refused in one sentence."""

import json
import signal
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from problems import Problem, problems

import isotherm as iso
from isotherm import engines
from isotherm.io.graph_formats.npz import MODEL
from isotherm.io.writing.models import is_model, read_model, write_model
from isotherm.labelling.rules import TEMPERATURE_RULES
from isotherm.paper.block_model import stochastic_block_model

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")  # two seeds are enough here

quiet = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning")


def again(clf: iso.DirichletClassifier, path: Path) -> iso.DirichletClassifier:
    clf.save(path, force=True)
    return iso.load(path)


def assert_same(one: iso.DirichletClassifier, other: iso.DirichletClassifier) -> None:
    assert one.get_params() == other.get_params()
    for name in ("labels_", "classes_", "reached_", "confidence_"):
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    for name in ("solver", "iterations", "residual", "error", "error_bound", "converged", "seconds"):
        assert getattr(one.solution_, name) == getattr(other.solution_, name)
    for name in ("nodes", "directed", "n_rows"):
        np.testing.assert_array_equal(getattr(one.graph_, name), getattr(other.graph_, name))
    assert {*vars(one)} == {*vars(other)}


@pytest.mark.parametrize("rule", ["centered", "balanced"])
@given(problem=problems(), side=st.sampled_from(["both", "source"]), tol=st.sampled_from([1e-3, 1e-8]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@quiet
def test_a_loaded_classifier_answers_as_the_saved_one(
    tmp_path: Path, problem: Problem, rule: str, side: str, tol: float
) -> None:
    clf = iso.DirichletClassifier(rule, side=side, tol=tol).fit(problem.graph, problem.labels)
    loaded = again(clf, tmp_path / "m.npz")
    assert_same(clf, loaded)
    for name in ("temperatures_", "scores_", *["certified_"] * (clf.rule_ in TEMPERATURE_RULES)):
        np.testing.assert_array_equal(getattr(clf, name), getattr(loaded, name))
    np.testing.assert_array_equal(clf.predict_proba(), loaded.predict_proba())
    new = np.eye(3, problem.graph.n_nodes)
    np.testing.assert_array_equal(clf.predict(new), loaded.predict(new))
    nodes = problem.graph.nodes[:4]
    for a, b in zip(clf.explain_many(nodes), loaded.explain_many(nodes), strict=True):
        for column in ("seed", "label", "share"):
            np.testing.assert_array_equal(a[column], b[column])


def test_nothing_is_solved_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clf = iso.DirichletClassifier().fit(nx.karate_club_graph(), {0: "a", 33: "b"})
    clf.save(tmp_path / "m.npz")
    monkeypatch.setattr(engines, "solve", None)
    loaded = iso.load(tmp_path / "m.npz")
    assert_same(clf, loaded)
    assert str(loaded.explain(16)) == str(clf.explain(16))


def test_the_best_scores_of_many_classes(tmp_path: Path) -> None:
    graph = nx.random_regular_graph(3, 200, seed=1)
    clf = iso.DirichletClassifier(max_memory=1000).fit(graph, {node: f"class {node}" for node in range(40)})
    loaded = again(clf, tmp_path / "m.npz")
    assert_same(clf, loaded)
    np.testing.assert_array_equal(clf.best_classes_, loaded.best_classes_)
    np.testing.assert_array_equal(clf.best_scores_, loaded.best_scores_)
    assert clf.explain(100).classes == loaded.explain(100).classes
    with pytest.raises(AttributeError, match="raise max_memory"):
        loaded.temperatures_  # noqa: B018


def test_a_certificate_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clf = iso.DirichletClassifier(stop="labels").fit(nx.karate_club_graph(), {0: "a", 33: "b"})
    loaded = again(clf, tmp_path / "m.npz")
    monkeypatch.setattr(engines, "certify", None)
    np.testing.assert_array_equal(clf.certified_, loaded.certified_)
    assert loaded.fitted_.certificate is not None
    assert loaded.temperatures_ is loaded.fitted_.certificate.temperatures  # saved once


IDS: Any = st.one_of(
    st.integers(-(2**70), 2**70),
    st.text(),
    st.floats(allow_nan=False),
    st.tuples(st.integers(), st.text()),
    st.tuples(st.tuples(st.booleans(), st.none())),
)


@given(ids=st.lists(IDS, min_size=3, unique=True))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@quiet
def test_ids_stay_what_they_are(tmp_path: Path, ids: list[Any]) -> None:
    graph = iso.Graph.from_edges(ids[:-1], ids[1:])
    clf = iso.DirichletClassifier().fit(graph, {ids[0]: "\ud800", ids[-1]: "b,\n\0"})
    loaded = again(clf, tmp_path / "m.npz")
    found = loaded.graph_.nodes.tolist()
    assert found == graph.nodes.tolist()
    assert list(map(type, found)) == list(map(type, graph.nodes.tolist()))
    assert loaded.labels_.tolist() == clf.labels_.tolist()
    assert loaded.explain(ids[1]).seed.tolist() == clf.explain(ids[1]).seed.tolist()


def test_numbers_of_numpy_are_ids_too(tmp_path: Path) -> None:
    ids = [np.int32(1), np.float64(2.5), np.str_("three")]
    clf = iso.DirichletClassifier().fit(iso.Graph.from_edges(ids[:-1], ids[1:]), {1: 0, "three": 1})
    assert again(clf, tmp_path / "m.npz").graph_.nodes.tolist() == [1, 2.5, "three"]


def test_ids_that_cannot_be_saved(tmp_path: Path) -> None:
    ids = ["a", frozenset({1}), "c"]
    clf = iso.DirichletClassifier().fit(iso.Graph.from_edges(ids[:-1], ids[1:]), {"a": 0, "c": 1})
    with pytest.raises(
        TypeError, match=r"^graph\.nodes cannot be saved: frozenset\(\{1\}\) is neither .* make it a str"
    ):
        clf.save(tmp_path / "m.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_classifier_saved_in_an_older_form_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    told = json.dumps({"version": 1, "release": "0.1.0", "content": {}})
    np.savez(path, allow_pickle=False, **{MODEL: np.frombuffer(told.encode(), dtype=np.uint8)})
    with pytest.raises(iso.FileError, match=r"m.npz was saved by Isotherm 0.1.0, in an older form: .* fit it again"):
        iso.load(path)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.npz"
    iso.DirichletClassifier().fit(nx.karate_club_graph(), {0: "a", 33: "b"}).save(path)
    return path


def rewritten(model: Path, name: str, change: Any) -> None:
    """The same file with another content of one array."""
    with np.load(model) as arrays:
        content = dict(arrays)
    content[name] = change(content[name])
    np.savez(model, **content)


def test_there_are_no_pickles_in_it(model: Path) -> None:
    with np.load(model, allow_pickle=False) as arrays:
        assert {array.dtype.kind for array in map(arrays.__getitem__, arrays.files)} <= set("iufb")
    assert is_model(str(model))


def test_a_newer_file(model: Path) -> None:
    def newer(text: np.ndarray) -> np.ndarray:
        told = {**json.loads(text.tobytes()), "version": 99, "release": "9.1.0"}
        return np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)

    rewritten(model, "isotherm", newer)
    with pytest.raises(iso.FileError, match=r"m\.npz was saved by Isotherm 9\.1\.0, .* pip install --upgrade"):
        iso.load(model)


@pytest.mark.parametrize("part", [0.01, 0.3, 0.9, 0.999])
def test_a_truncated_file(model: Path, part: float) -> None:
    content = model.read_bytes()
    model.write_bytes(content[: int(part * len(content))])
    with pytest.raises(iso.FileError, match=r"m\.npz is damaged or truncated: copy it again"):
        iso.load(model)


def test_any_byte_that_is_wrong(model: Path) -> None:
    content = model.read_bytes()
    expected = iso.load(model)
    rng = np.random.default_rng(0)
    for place in rng.choice(len(content), 300, replace=False).tolist():
        model.write_bytes(content[:place] + bytes([content[place] ^ 64]) + content[place + 1 :])
        with suppress(iso.FileError):
            assert_same(iso.load(model), expected)  # a byte of the archive that nobody reads


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("graph.csr.indices", lambda indices: indices + 1000),
        ("graph.csr.indices", lambda indices: indices[1:]),
        ("graph.csr.indptr", lambda indptr: indptr[::-1]),
        ("graph.nodes", lambda nodes: nodes[1:]),
        ("isotherm", lambda text: text[1:]),
    ],
)
def test_arrays_that_do_not_fit(model: Path, name: str, change: Any) -> None:
    rewritten(model, name, change)
    with pytest.raises(iso.FileError, match="is damaged"):
        iso.load(model)


def crafted(model: Path, name: str, change: Any) -> None:
    """The same file with another content of one array or of the description, and a checksum that fits."""
    content, arrays = read_model(str(model))
    if name in arrays:
        arrays[name] = change(arrays[name])
    else:
        change(content)
    write_model(str(model), content, arrays, force=True)


def with_value(place: int, value: Any) -> Any:
    def change(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array.flat[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("graph.csr.weights", np.zeros_like, "edges without weight"),
        ("graph.csr.weights", np.negative, "must be finite and not negative"),
        ("graph.csr.weights", with_value(0, np.nan), "must be finite and not negative"),
        ("graph.csr.weights", with_value(0, np.inf), "must be finite and not negative"),
        ("graph.csr.weights", with_value(0, 7), "not symmetric"),
        ("graph.csr.weights", lambda weights: weights.astype(np.float16), "of the wrong type"),
        ("graph.csr.weights", lambda weights: weights[1:], "of other lengths"),
        ("graph.csr.indices", lambda indices: indices[::-1].copy(), ""),
        ("graph.csr.indices", with_value(0, -1), ""),
        ("graph.csr.indices", with_value(0, 33), ""),
        ("graph.csr.indptr", with_value(-1, 10**9), ""),
        ("graph.nodes", with_value(0, 1), "more than once"),
        ("seeds.nodes", lambda nodes: nodes + 34, "not in the graph"),
        ("seeds.nodes", lambda nodes: nodes[::-1].copy(), "not in the graph"),
        ("seeds.nodes", np.negative, "out of range"),
        ("seeds.codes", lambda codes: codes + 1, "classes that do not exist"),
        ("seeds.codes", np.zeros_like, "classes without seeds"),
        ("outcome.solution.temperatures", lambda values: values[:, :1].copy(), "has the shape"),
        ("outcome.solution.temperatures", lambda values: values[1:].copy(), "has the shape"),
        ("outcome.solution.temperatures", with_value(3, np.inf), "infinite temperatures"),
        ("outcome.solution.temperatures", with_value(3, np.nan), "temperatures of a node are missing"),
        ("", lambda content: content["settings"]["fields"].update(side="left"), "side='left'"),
        ("", lambda content: content["parameters"].update(dict=[["rule", "best"]]), ""),
        ("", lambda content: content.pop("seeds"), ""),
        ("", lambda content: content["settings"]["fields"]["solving"]["fields"].update(threads=1e300), "another type"),
        ("", lambda content: content.update(graph=content["seeds"]), "it has no graph"),
        ("", lambda content: content.update(seeds={"list": []}), "it has no seeds"),
        ("", lambda content: content["graph"]["fields"].update(directed=2), "neither directed nor undirected"),
        ("", lambda content: content["graph"]["fields"].update(n_rows=10), "not bipartite"),
    ],
)
def test_a_crafted_model_is_refused(model: Path, name: str, change: Any, words: str) -> None:
    crafted(model, name, change)
    with pytest.raises(
        iso.FileError, match=rf"m\.npz is damaged.*{words}.*; copy it again|m\.npz is damaged or trunc"
    ) as told:
        iso.load(model)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


@quiet
def test_a_matrix_that_points_outside_of_itself(tmp_path: Path) -> None:
    """SciPy takes a last row that ends before it begins, and crashes later."""
    path = tmp_path / "m.npz"
    iso.DirichletClassifier().fit(nx.karate_club_graph(), {0: {"a", "b"}, 33: {"b"}, 5: {"a"}}).save(path)
    for value in (-(2**63), 10**9, 0):
        crafted(path, "seeds.table.indptr", with_value(-1, value))
        with pytest.raises(iso.FileError, match="the rows of a matrix are out of order"):
            iso.load(path)


def test_classes_that_are_not_distinct(model: Path) -> None:
    for classes in (["a", "a"], ["b", "a"], ["a", 1], [["a"], ["b"]]):
        text = np.frombuffer(json.dumps(classes).encode(), dtype=np.uint8)
        crafted(model, "seeds.classes", lambda _, text=text: text)
        with pytest.raises(iso.FileError, match="is damaged"):
            iso.load(model)


def test_symmetry_is_compared_exactly(model: Path) -> None:
    """Two weights in one row are exchanged: a change that sums and counts would not show."""

    def exchanged(weights: np.ndarray) -> np.ndarray:
        weights = weights.copy()
        other = int(np.flatnonzero(weights != weights[0])[0])
        weights[[0, other]] = weights[[other, 0]]
        return weights

    crafted(model, "graph.csr.weights", exchanged)
    with pytest.raises(iso.FileError, match="not symmetric"):
        iso.load(model)


def test_any_change_of_the_content_is_noticed_by_the_checksum(model: Path) -> None:
    content, arrays = read_model(str(model))
    for name in arrays:
        rewritten(model, name, lambda array: array[::-1].copy() if len(array) > 1 else array + 1)
        with pytest.raises(iso.FileError, match="its SHA-256 is not that of its content"):
            iso.load(model)
        write_model(str(model), content, arrays, force=True)


def test_an_entry_that_would_fill_the_memory(model: Path) -> None:
    with zipfile.ZipFile(model, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", bytes(10**7))
    with pytest.raises(iso.FileError, match="is damaged"):
        iso.load(model)


def test_files_that_are_something_else(tmp_path: Path, model: Path) -> None:
    np.savez(tmp_path / "arrays.npz", a=np.arange(3))
    (tmp_path / "text.npz").write_text("a,b\n")
    (tmp_path / "empty.npz").touch()
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as archive:
        archive.writestr("a.txt", "a")
    for name, words in {
        "arrays.npz": "holds arrays, but no saved classifier; give one that",
        "zip.npz": "holds arrays, but no saved classifier",
        "text.npz": "is no saved classifier; give one that",
        "empty.npz": "is empty",
        "n.npz": "does not exist",
        ".": "is a directory",
    }.items():
        with pytest.raises(iso.FileError, match=words):
            iso.load(tmp_path / name)
        assert not is_model(str(tmp_path / name))


def test_targets_that_are_refused(tmp_path: Path, model: Path) -> None:
    clf = iso.load(model)
    before = model.read_bytes()
    for name, words in {
        "m.npz": "exists already, and is kept; .* force=True",
        "m.pkl": r"a classifier is saved as \.npz; end the name in that",
        "none/m.npz": "does not exist; create it",
    }.items():
        with pytest.raises(iso.FileError, match=words):
            clf.save(tmp_path / name)
    assert model.read_bytes() == before
    with pytest.raises(ValueError, match="not fitted"):
        iso.DirichletClassifier().save(tmp_path / "new.npz")


SLOW = """
import sys, time
import numpy as np
import isotherm as iso
write = np.lib.format.write_array
def slowly(*arguments, **options):
    write(*arguments, **options)
    print("saving", flush=True)
    time.sleep(0.5)
np.lib.format.write_array = slowly
iso.DirichletClassifier().fit(iso.Graph.from_edges([1, 2], [2, 3]), {1: 0, 3: 1}).save(sys.argv[1], force=True)
"""


def test_a_process_that_is_killed_leaves_the_old_file(model: Path) -> None:
    before = model.read_bytes()
    process = subprocess.Popen([sys.executable, "-c", SLOW, str(model)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert [process.stdout.readline() for _ in range(3)] == ["saving\n"] * 3
    assert len(list(model.parent.iterdir())) == 2
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert model.read_bytes() == before
    assert iso.load(model).graph_.n_nodes == 34


@quiet
def test_soft_seeds_are_saved(tmp_path: Path) -> None:
    labels = {0: {"a": 0.7, "b": 0.3}, 33: "b", 5: "c"}
    clf = iso.DirichletClassifier().fit(nx.karate_club_graph(), labels, seed_weight={5: 0.5})
    loaded = again(clf, tmp_path / "m.npz")
    assert_same(clf, loaded)
    np.testing.assert_array_equal(clf.predict_proba(), loaded.predict_proba())
    assert clf.explain(7).classes == loaded.explain(7).classes


@quiet
@pytest.mark.parametrize("policy", ["diverse", "uncertainty", "margin"])
def test_a_loaded_classifier_suggests_and_takes_new_seeds(tmp_path: Path, policy: str) -> None:
    clf = iso.DirichletClassifier().fit(nx.karate_club_graph(), {0: "a", 33: "b"})
    loaded = again(clf, tmp_path / "m.npz")
    np.testing.assert_array_equal(clf.suggest(5, policy=policy), loaded.suggest(5, policy=policy))
    new = {int(clf.suggest(1, policy=policy)[0]): "b", 5: "a"}
    clf.update(add=new, remove=[0])
    loaded.update(add=new, remove=[0])
    np.testing.assert_array_equal(clf.labels_, loaded.labels_)
    np.testing.assert_array_equal(clf.temperatures_, loaded.temperatures_)


@pytest.mark.filterwarnings("error")
def test_what_held_out_seeds_have_told_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, labels = stochastic_block_model([100, 200, 100], 0.08, 0.01, 0), np.repeat([0, 1, 2], [100, 200, 100])
    known = np.where(np.random.default_rng(1).random(len(labels)) < 0.2, labels, -1)
    clf = iso.DirichletClassifier(rule="auto").fit(graph, known)
    sets = clf.predict_set(coverage=0.9)
    loaded = again(clf, tmp_path / "m.npz")
    monkeypatch.setattr(engines, "solve", None)
    assert_same(clf, loaded)
    assert loaded.rule_ == clf.rule_
    assert loaded.rule_report_ == clf.rule_report_
    np.testing.assert_array_equal(loaded.predict_proba(), clf.predict_proba())
    np.testing.assert_array_equal(np.asarray(loaded.predict_set(coverage=0.9)), np.asarray(sets))


@pytest.mark.filterwarnings("ignore::isotherm.LabelWarning")
@pytest.mark.parametrize("seeds", [{0: True, 33: False}, {0: "a", 33: "a"}], ids=["bool", "one class"])
def test_labels_of_other_kinds(tmp_path: Path, seeds: dict[int, Any]) -> None:
    clf = iso.DirichletClassifier().fit(nx.karate_club_graph(), seeds)
    assert_same(clf, again(clf, tmp_path / "m.npz"))
