"""Files that are not a saved classifier, or no longer: each is refused with a sentence."""

import json
import shutil
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from saved_models import assert_same

import isotherm as iso
from isotherm.io.matrices import MODEL
from isotherm.io.models import is_model, read_model, write_model

quiet = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning")

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")  # two seeds are enough here


def test_a_classifier_saved_in_an_older_form_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    told = json.dumps({"version": 1, "release": "0.1.0", "content": {}})
    np.savez(path, allow_pickle=False, **{MODEL: np.frombuffer(told.encode(), dtype=np.uint8)})
    with pytest.raises(iso.FileError, match=r"m.npz was saved by Isotherm 0.1.0, in an older form: .* fit it again"):
        iso.load(path)


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
        ("graph.indices", lambda indices: indices + 1000),
        ("graph.indices", lambda indices: indices[1:]),
        ("graph.indptr", lambda indptr: indptr[::-1]),
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
    _, content, arrays = read_model(str(model))
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
        ("graph.weights", np.zeros_like, "edges without weight"),
        ("graph.weights", np.negative, "must be finite and not negative"),
        ("graph.weights", with_value(0, np.nan), "must be finite and not negative"),
        ("graph.weights", with_value(0, np.inf), "must be finite and not negative"),
        ("graph.weights", with_value(0, 7), "not symmetric"),
        ("graph.weights", lambda weights: weights.astype(np.float16), "of the wrong type"),
        ("graph.weights", lambda weights: weights[1:], "of other lengths"),
        ("graph.indices", lambda indices: indices[::-1].copy(), ""),
        ("graph.indices", with_value(0, -1), ""),
        ("graph.indices", with_value(0, 33), ""),
        ("graph.indptr", with_value(-1, 10**9), ""),
        ("graph.nodes", with_value(0, 1), "more than once"),
        ("seeds.nodes", lambda nodes: nodes + 34, "not in the graph"),
        ("seeds.nodes", lambda nodes: nodes[::-1].copy(), "not in the graph"),
        ("seeds.nodes", np.negative, "out of range"),
        ("seeds.codes", lambda codes: codes + 1, "classes that do not exist"),
        ("seeds.codes", np.zeros_like, "classes without seeds"),
        ("solution.temperatures", lambda values: values[:, :1].copy(), "has the shape"),
        ("solution.temperatures", lambda values: values[1:].copy(), "has the shape"),
        ("solution.temperatures", with_value(3, np.inf), "infinite temperatures"),
        ("solution.temperatures", with_value(3, np.nan), "temperatures of a node are missing"),
        ("", lambda content: content["settings"]["fields"].update(side="left"), "side='left'"),
        ("", lambda content: content["parameters"]["fields"].update(rule="best"), "rule='best'"),
        ("", lambda content: content.pop("seeds"), ""),
        ("", lambda content: content["settings"]["fields"].update(n_threads=1e300), "another type"),
        ("", lambda content: content["parameters"]["fields"].update(max_iter=True), "another type"),
        ("", lambda content: content["parameters"]["fields"].update(class_weight=None), ""),
        ("", lambda content: content["parameters"]["fields"].update(decision="balanced"), "of another classifier"),
        ("", lambda content: content["solution"]["fields"].update(iterations=10**18), "out of range"),
        ("", lambda content: content["solution"]["fields"].update(converged=1), "of type int"),
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


@pytest.fixture(scope="session")
def taught_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("taught") / "m.npz"
    seeds = {node: "ab"[node % 2] for node in range(0, 34, 3)}
    iso.NodeClassifier().fit(nx.karate_club_graph(), seeds).save(path)
    return path


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("outcome.chances", with_value(3, 1.5), "its chances is out of range"),
        ("outcome.chances", with_value(3, np.nan), "its chances is out of range"),
        ("outcome.mean", lambda mean: mean[1:], "its mean has the shape"),
        ("experts.odds", lambda odds: odds[:, 1:].copy(), "its odds has the shape"),
        ("experts.odds", lambda odds: odds.astype(np.float64), "its odds is of type float64"),
        ("experts.weights", np.negative, "its weights is out of range"),
        ("learnt.calibration.slopes", lambda slopes: np.tile(slopes, 3), "its slopes has the shape"),
        ("learnt.calibration.covariance", lambda table: table[:3], "its covariance has the shape"),
        ("learnt.calibration.bias", with_value(0, np.inf), "its bias is out of range"),
        ("learnt.trial.codes", with_value(0, 2), "its codes is out of range"),
        ("learnt.trial.nodes", with_value(0, 34), "its nodes is out of range"),
        ("learnt.trial.fold", with_value(0, 10**9), "its fold is out of range"),
        ("learnt.trial.probabilities", lambda table: table[1:], "its probabilities has the shape"),
        ("", lambda content: _inside(content, "learnt", "trial").update(n_lone=10**6), "are never hidden"),
        ("", lambda content: _inside(content, "learnt", "calibration").update(lapse=2.0), "its lapse is out of range"),
        ("", lambda content: _inside(content, "experts").update(names={"tuple": ["a"]}), "its weights has the shape"),
        ("", lambda content: _inside(content, "experts").update(names={"tuple": [1, 2, 3]}), "have no names"),
        ("", lambda content: content["outcome"].update(fields={}), "its experts have no names"),
        ("", lambda content: _inside(content, "settings").update(decision=None, rule="centered"), "another classifier"),
        ("", lambda content: _inside(content, "parameters").update(stop="error"), ""),
    ],
)
def test_crafted_findings_are_refused(taught_model: Path, tmp_path: Path, name: str, change: Any, words: str) -> None:
    model = Path(shutil.copy(taught_model, tmp_path))
    crafted(model, name, change)
    with pytest.raises(iso.FileError, match=r"m\.npz is damaged") as refused:
        iso.load(model)
    assert words in str(refused.value)


def _inside(content: Any, *names: str) -> Any:
    for name in names:
        content = content[name]["fields"]
    return content


@quiet
def test_a_matrix_that_points_outside_of_itself(tmp_path: Path) -> None:
    """SciPy takes a last row that ends before it begins, and crashes later."""
    path = tmp_path / "m.npz"
    iso.DirichletClassifier().fit(nx.karate_club_graph(), {0: {"a", "b"}, 33: {"b"}, 5: {"a"}}).save(path)
    for value in (-(2**63), 10**9, 0):
        crafted(path, "seeds.table.indptr", with_value(-1, value))
        with pytest.raises(iso.FileError, match=r"indptr does not rise|in none of its rows"):
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

    crafted(model, "graph.weights", exchanged)
    with pytest.raises(iso.FileError, match="not symmetric"):
        iso.load(model)


def test_any_change_of_the_content_is_noticed_by_the_checksum(model: Path) -> None:
    _, content, arrays = read_model(str(model))
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
