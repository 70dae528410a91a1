"""Saved classifiers: they answer as before."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from problems import Problem, problems
from saved_models import again, assert_same, dense

import isotherm as iso
from isotherm.choices import SuggestPolicy
from isotherm.engines import LocalEngine
from isotherm.errors import ParameterError
from isotherm.graph_classifier import GraphClassifier
from isotherm.io.models import read_model
from isotherm.node_classifier import classifier_by
from isotherm.paper.block_model import stochastic_block_model

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")  # two seeds are enough here

quiet = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning")


@pytest.mark.parametrize("rule", ["centered", "balanced"])
@given(problem=problems(), side=st.sampled_from(["both", "source"]), tol=st.sampled_from([1e-3, 1e-8]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@quiet
def test_a_loaded_classifier_answers_as_the_saved_one(
    tmp_path: Path, problem: Problem, rule: str, side: str, tol: float
) -> None:
    clf = classifier_by(rule, side=side, tol=tol).fit(problem.graph, problem.labels)
    loaded = again(clf, tmp_path / "m.npz")
    assert_same(clf, loaded)
    for name in ("temperatures_", "scores_", *["certified_"] * (rule == "centered")):
        np.testing.assert_array_equal(getattr(clf, name), getattr(loaded, name))
    np.testing.assert_array_equal(clf.predict_proba(), loaded.predict_proba())
    new = np.eye(3, problem.graph.n_nodes)
    np.testing.assert_array_equal(clf.predict(new), loaded.predict(new))
    nodes = problem.graph.nodes[:4]
    for a, b in zip(clf.explain_many(nodes), loaded.explain_many(nodes), strict=True):
        for column in ("seed", "label", "share"):
            np.testing.assert_array_equal(a[column], b[column])


@pytest.mark.parametrize("rule", ["centered", "balanced"])
def test_nothing_is_solved_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    clf = classifier_by(rule).fit(nx.karate_club_graph(), {0: "a", 33: "b"})
    clf.save(tmp_path / "m.npz")
    monkeypatch.setattr(LocalEngine, "solve", None)
    loaded = iso.load(tmp_path / "m.npz")
    assert_same(clf, loaded)
    assert str(loaded.explain(16)) == str(clf.explain(16))


@pytest.mark.parametrize("rule", ["centered", "balanced"])
def test_a_loaded_classifier_updates_as_the_saved_one(tmp_path: Path, rule: str) -> None:
    """Once after the fit, and once after an update that kept what the fit had learnt from held-out seeds."""
    graph = stochastic_block_model([150, 150], 0.04, 0.015, 0)
    known = {node: node // 150 for node in range(0, 300, 4)}
    clf = classifier_by(rule).fit(graph, known)
    fresh = classifier_by(rule).fit(graph, known | {1: 0, 299: 1})
    assert clf.confidence_.shape == (300,)  # learns from held-out seeds
    for more in ({1: 0, 299: 1}, {5: 0}):
        loaded = again(clf, tmp_path / "m.npz").update(more)
        clf.update(more)
        np.testing.assert_array_equal(clf.labels_, loaded.labels_)
        np.testing.assert_allclose(clf.confidence_, loaded.confidence_, atol=1e-6)
        if 5 not in more:  # a new fit would have learnt something else
            assert np.abs(clf.confidence_ - fresh.confidence_).max() > 1e-3


@pytest.mark.filterwarnings("ignore::isotherm.EvidenceWarning")
@pytest.mark.parametrize("rule", ["centered", "balanced"])
def test_the_best_scores_of_many_classes(tmp_path: Path, rule: str) -> None:
    graph = nx.random_regular_graph(3, 200, seed=1)
    clf = classifier_by(rule, max_memory=1000).fit(graph, {node: f"class {node}" for node in range(40)})
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
    monkeypatch.setattr(LocalEngine, "certify", None)
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
@pytest.mark.parametrize("rule", ["centered", "balanced"])
def test_soft_seeds_are_saved(tmp_path: Path, rule: str) -> None:
    labels = {0: {"a": 0.7, "b": 0.3}, 33: "b", 5: "c"}
    clf = classifier_by(rule).fit(nx.karate_club_graph(), labels, seed_weight={5: 0.5})
    loaded = again(clf, tmp_path / "m.npz")
    assert_same(clf, loaded)
    np.testing.assert_array_equal(clf.predict_proba(), loaded.predict_proba())
    assert clf.explain(7).classes == loaded.explain(7).classes


@quiet
@pytest.mark.parametrize("rule", ["centered", "balanced"])
@pytest.mark.parametrize("policy", ["diverse", "uncertainty", "margin"])
def test_a_loaded_classifier_suggests_and_takes_new_seeds(tmp_path: Path, policy: SuggestPolicy, rule: str) -> None:
    clf = classifier_by(rule).fit(nx.karate_club_graph(), {0: "a", 33: "b"})
    loaded = again(clf, tmp_path / "m.npz")
    np.testing.assert_array_equal(clf.suggest(5, policy=policy), loaded.suggest(5, policy=policy))
    new = {int(clf.suggest(1, policy=policy)[0]): "b", 5: "a"}
    clf.update(add=new, remove=[0])
    loaded.update(add=new, remove=[0])
    np.testing.assert_array_equal(clf.labels_, loaded.labels_)
    np.testing.assert_array_equal(clf.temperatures_, loaded.temperatures_)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rule", ["relative", "balanced", "probable"])
def test_what_hidden_seeds_taught_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    graph, labels = stochastic_block_model([100, 200, 100], 0.08, 0.01, 0), np.repeat([0, 1, 2], [100, 200, 100])
    known = np.where(np.random.default_rng(1).random(len(labels)) < 0.2, labels, -1)
    clf = classifier_by(rule).fit(graph, known)
    sets, new = clf.predict_set(coverage=0.9), np.eye(3, 400)
    loaded = again(clf, tmp_path / "m.npz")
    monkeypatch.setattr(LocalEngine, "solve", None)
    assert_same(clf, loaded)
    assert loaded.rule_ == clf.rule_
    assert isinstance(loaded, iso.DirichletClassifier) or loaded.experts_ == clf.experts_
    for name in ("error", "misfits"):
        np.testing.assert_array_equal(getattr(loaded.calibration_, name), getattr(clf.calibration_, name))
    np.testing.assert_array_equal(loaded.predict_proba(), clf.predict_proba())
    np.testing.assert_array_equal(loaded.predict_proba(new), clf.predict_proba(new))
    np.testing.assert_array_equal(np.asarray(loaded.predict_set(coverage=0.9)), np.asarray(sets))


def test_what_was_not_computed_is_not_saved(tmp_path: Path) -> None:
    """The paper's classifier learns from hidden seeds on first use; saving a classifier does not count as a use."""
    graph = stochastic_block_model([60, 60], 0.1, 0.02, 0)
    clf = iso.DirichletClassifier().fit(graph, {node: node // 60 for node in range(0, 120, 4)})
    assert again(clf, tmp_path / "m.npz").fitted_.taught is None
    assert clf.confidence_.shape == (120,)
    assert again(clf, tmp_path / "m.npz").fitted_.taught is not None


def test_an_update_hands_on_what_was_learnt_on_first_use() -> None:
    graph = stochastic_block_model([60, 60], 0.1, 0.02, 0)
    clf = iso.DirichletClassifier().fit(graph, {node: node // 60 for node in range(0, 120, 4)})
    assert clf.update({1: 0}).fitted_.taught is None
    learnt = clf.fitted_.learnt
    clf.update(remove=[1])
    taught = clf.fitted_.taught
    assert taught is not None
    np.testing.assert_array_equal(taught.calibration.slopes, learnt.calibration.slopes)
    np.testing.assert_allclose(taught.calibration.mean, clf.temperatures_.mean(axis=0), rtol=1e-5)
    assert clf.update(dict.fromkeys(range(1, 20, 4), 0)).fitted_.taught is None  # five of thirty are too many


@pytest.mark.filterwarnings("error", "ignore::isotherm.RareClassWarning", "ignore::isotherm.LabelWarning")
@pytest.mark.parametrize("seeds", [{0: "a", 33: "b"}, {0: {"a"}, 33: {"b"}}], ids=["one label", "sets"])
def test_that_hidden_seeds_are_few_is_said_once(tmp_path: Path, seeds: Any) -> None:
    """Before the model is saved or while it is, but not by those who load it."""
    clf = iso.NodeClassifier().fit(nx.karate_club_graph(), seeds)
    with pytest.warns(iso.CalibrationWarning, match="hidden seeds"):
        clf.save(tmp_path / "m.npz")
    clf.save(tmp_path / "m.npz", force=True)
    loaded = iso.load(tmp_path / "m.npz")
    np.testing.assert_array_equal(dense(loaded.confidence_), dense(clf.confidence_))
    loaded.save(tmp_path / "m.npz", force=True)


def test_a_model_is_loaded_for_a_number_of_threads(tmp_path: Path) -> None:
    clf = iso.NodeClassifier(n_threads=3).fit(nx.karate_club_graph(), {0: "a", 33: "b"})
    clf.set_params(tol=1e-8).save(tmp_path / "m.npz")
    loaded = iso.load(tmp_path / "m.npz", n_threads=2)
    assert (loaded.n_threads, loaded.tol) == (2, 1e-8)
    assert (loaded.fitted_.options.threads, loaded.fitted_.options.tol) == (2, 1e-3)
    assert iso.load(tmp_path / "m.npz").fitted_.options.threads == 3
    with pytest.raises(ParameterError, match="n_threads=0"):
        iso.load(tmp_path / "m.npz", n_threads=0)


@quiet
@pytest.mark.parametrize("threshold", ["auto", None])
def test_sets_of_labels_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threshold: Literal["auto"] | None
) -> None:
    sets = {node: {"a", "b"} if node % 3 else {"a"} for node in range(0, 34, 2)} | {1: set(), 33: {"c"}}
    clf = iso.NodeClassifier(threshold=threshold).fit(nx.karate_club_graph(), sets)
    if threshold is None:  # seeds are hidden on first use
        assert again(clf, tmp_path / "m.npz").fitted_.taught_odds is None
        assert clf.confidence_.shape == (34, 3)
    loaded = again(clf, tmp_path / "m.npz")
    monkeypatch.setattr(LocalEngine, "solve_in_blocks", None)
    for name in ("labels_", "confidence_", "thresholds_", "reached_", "temperatures_"):
        a, b = (getattr(each, name) for each in (clf, loaded))
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(dense(a), dense(b))
    np.testing.assert_array_equal(clf.predict_proba(), loaded.predict_proba())


def test_parameters_that_were_set_after_the_fit(tmp_path: Path) -> None:
    clf = iso.DirichletClassifier("vanilla").fit(nx.karate_club_graph(), {0: "a", 33: "b"})
    loaded = again(clf.set_params(rule="weighted", tol=1e-8), tmp_path / "m.npz")
    assert_same(clf, loaded)
    assert (loaded.rule, loaded.rule_, loaded.fitted_.settings) == ("weighted", "vanilla", clf.fitted_.settings)


@pytest.mark.filterwarnings("ignore::isotherm.LabelWarning")
@pytest.mark.parametrize("seeds", [{0: True, 33: False}, {0: "a", 33: "a"}], ids=["bool", "one class"])
def test_labels_of_other_kinds(tmp_path: Path, seeds: dict[int, Any]) -> None:
    clf = iso.DirichletClassifier().fit(nx.karate_club_graph(), seeds)
    assert_same(clf, again(clf, tmp_path / "m.npz"))


def test_the_columns_of_the_file_of_seeds_are_kept(tmp_path: Path) -> None:
    clf = iso.DirichletClassifier().fit(nx.karate_club_graph(), {0: "a", 33: "b"})
    assert "seed_columns" not in read_model(_saved(clf, tmp_path / "older.npz"))[1]  # as in older files
    assert iso.load(tmp_path / "older.npz").seed_columns_ == clf.seed_columns_ == {}
    clf.seed_columns_ = {"label": "verdict", "node": "account"}
    loaded = again(clf, tmp_path / "m.npz")
    assert list(loaded.seed_columns_.items()) == [("label", "verdict"), ("node", "account")]
    assert loaded.update({5: "a", 32: "b"}).seed_columns_ == clf.seed_columns_
    assert loaded.fit(nx.karate_club_graph(), {0: "a", 33: "b"}).seed_columns_ == {}


@pytest.mark.parametrize("columns", [{"node": "account"}, {"node": "x", "label": "x"}, {"node": "x", "label": 1}])
def test_impossible_columns_of_seeds_are_refused(tmp_path: Path, columns: dict[str, Any]) -> None:
    clf = iso.DirichletClassifier().fit(nx.karate_club_graph(), {0: "a", 33: "b"})
    clf.seed_columns_ = columns
    with pytest.raises(iso.FileError, match=r"m.npz is damaged: .*columns of its seeds|its seeds have other columns"):
        again(clf, tmp_path / "m.npz")


def _saved(clf: GraphClassifier, path: Path) -> str:
    clf.save(path)
    return str(path)
