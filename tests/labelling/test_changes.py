"""A change of the seeds: the temperatures are those of dense elimination, whatever they were before."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from problems import Problem, dense, harmonic, problems

import isotherm as iso
from isotherm.choices import SideName, SolverName
from isotherm.equilibrium.solvers import SOLVERS
from isotherm.labelling.fit import warm_start
from isotherm.seeds import Seeds
from isotherm.seeds.known import changed_seeds

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")  # two seeds are enough here

quiet = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning")


def other_labels(problem: Problem, rng: np.random.Generator) -> Any:
    """Labels of some nodes, with at least two of the classes 0 to 5 and perhaps other nodes than before."""
    labels = problem.labels.copy()
    for node in rng.choice(len(labels), rng.integers(1, len(labels) + 1), replace=False):
        labels[node] = rng.choice([-1, *range(6)])
    labels[:2] = rng.permutation(6)[:2]
    return labels


def changes(before: Any, after: Any, graph: iso.Graph) -> dict[str, Any]:
    added = np.flatnonzero((after >= 0) & (after != before))
    gone = np.flatnonzero((after < 0) & (before >= 0))
    add = dict(zip(graph.nodes[added].tolist(), after[added].tolist(), strict=True))
    return {"add": add, "remove": graph.nodes[gone].tolist()}


@settings(max_examples=30)
@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
@quiet
@pytest.mark.filterwarnings("ignore::isotherm.ConvergenceWarning")  # sweeps may take too long
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("side", ["both", "source"])
def test_temperatures_after_an_update_equal_those_of_dense_elimination(
    problem: Problem, seed: int, solver: SolverName, side: SideName
) -> None:
    graph, n = problem.graph, problem.graph.n_nodes
    labels = other_labels(problem, np.random.default_rng(seed))
    kind = iso.NodeClassifier if solver == "auto" else iso.DirichletClassifier  # learnt once is enough
    clf = kind(solver=solver, side=side, tol=1e-6)
    clf.fit(graph, problem.labels)
    assert clf.update(**changes(problem.labels, labels, graph)) is clf
    assume(clf.solution_.converged or solver != "sweeps")
    held = np.flatnonzero(labels >= 0)
    classes, codes = np.unique(labels[held], return_inverse=True)
    values = np.eye(len(classes))[codes]
    if graph.directed and side == "both":
        held, values = np.concatenate([held, held + n]), np.concatenate([values, values])
    exact = harmonic(dense(graph.heat), held, values)
    copies = exact.reshape(-1, n, len(classes))[: 2 if side == "both" else 1]
    with np.errstate(invalid="ignore"):
        known = ~np.isnan(copies)
        expected = np.where(known, copies, 0).sum(axis=0) / known.sum(axis=0)
    assert clf.classes_.tolist() == classes.tolist()
    np.testing.assert_allclose(clf.temperatures_, expected, atol=1e-5)
    np.testing.assert_array_equal(clf.reached_, ~np.isnan(expected[:, 0]))


ROD = iso.Graph.from_edges(list("abcdefg"), list("bcdefgh"))


def test_labels_and_confidence_are_those_of_a_new_fit() -> None:
    clf = iso.DirichletClassifier().fit(ROD, {"a": "hot", "h": "cold"})
    before = clf.confidence_.copy()
    clf.explain("b")
    clf.update({"e": "warm", "d": "hot"}, ["a"])
    fresh = iso.DirichletClassifier().fit(ROD, {"d": "hot", "e": "warm", "h": "cold"})
    assert clf.labels_.tolist() == fresh.labels_.tolist() == ["hot"] * 4 + ["warm"] * 2 + ["cold"] * 2
    np.testing.assert_allclose(clf.confidence_, fresh.confidence_)
    assert not np.allclose(clf.confidence_, before)
    assert clf.explain("b")["seed"].tolist() == ["d"]


@quiet
def test_soft_seeds_stay_soft() -> None:
    clf = iso.DirichletClassifier().fit(ROD, {"a": {"hot": 0.5, "cold": 0.5}, "h": "cold"}, seed_weight={"h": 0.5})
    clf.update({"d": {"hot": 0.25, "warm": 0.75}, "a": "hot"})
    wanted = {"a": "hot", "d": {"hot": 0.25, "warm": 0.75}, "h": "cold"}
    fresh = iso.DirichletClassifier().fit(ROD, wanted, seed_weight={"h": 0.5})
    assert clf.classes_.tolist() == ["cold", "hot", "warm"]
    np.testing.assert_allclose(np.asarray(clf.temperatures_), np.asarray(fresh.temperatures_))


def test_nothing_changes_without_changes() -> None:
    clf = iso.DirichletClassifier().fit(ROD, {"a": "hot", "h": "cold"})
    before = clf.temperatures_.copy()
    np.testing.assert_allclose(clf.update().temperatures_, before)


@quiet
def test_a_fixed_number_of_sweeps_is_that_of_a_new_fit() -> None:
    clf = iso.DirichletClassifier(solver="sweeps", tol=None, max_iter=3)
    fresh = clf.fit(ROD, {"a": "hot", "d": "hot", "h": "cold"}).temperatures_
    np.testing.assert_array_equal(clf.fit(ROD, {"a": "hot", "h": "cold"}).update({"d": "hot"}).temperatures_, fresh)


@quiet
def test_best_scores_are_those_of_a_new_fit() -> None:
    clf = iso.DirichletClassifier(max_memory=1)
    fresh = clf.fit(ROD, {"a": "hot", "d": "hot", "h": "cold"}).best_scores_
    np.testing.assert_array_equal(clf.fit(ROD, {"a": "hot", "h": "cold"}).update({"d": "hot"}).best_scores_, fresh)


@pytest.mark.parametrize(
    ("add", "remove", "error", "words"),
    [
        ({"z": "hot"}, [], ValueError, "'z'"),
        ({}, ["b"], ValueError, "the node 'b' cannot be removed: it is not a seed"),
        ({"a": "cold"}, ["a"], ValueError, "the node 'a' is both added and removed: decide on one"),
        ({}, ["a", "h"], ValueError, "there are no seeds"),
        ({"b": 3}, [], TypeError, "all int or all str"),
        (["b"], [], TypeError, "a mapping of nodes to labels, not list"),
        ({}, "a", TypeError, "a list of nodes, not 'a'"),
    ],
)
def test_bad_changes_are_refused_and_change_nothing(add: Any, remove: Any, error: Any, words: str) -> None:
    clf = iso.DirichletClassifier().fit(ROD, {"a": "hot", "h": "cold"})
    with pytest.raises(error, match=words):
        clf.update(add, remove)
    assert clf.seeds_.nodes.tolist() == [0, 7]


def test_one_class_is_left() -> None:
    clf = iso.DirichletClassifier().fit(ROD, {"a": "hot", "h": "cold"})
    with pytest.warns(iso.LabelWarning, match="the only seed has the label 'cold', so all reached nodes get it"):
        clf.update(remove=["a"])
    assert set(clf.labels_) == {"cold"}


def test_where_an_update_begins() -> None:
    graph = iso.Graph.from_edges(["a", "b", "x"], ["b", "c", "y"])
    before = Seeds.from_labels({"a": "hot", "c": "cold"}, graph)
    after = changed_seeds(before, {"y": "new"}, [], graph)
    assert after.classes.tolist() == ["cold", "hot", "new"]
    temperatures = np.array([[0, 1], [0.25, 0.75], [1, 0], [np.nan, np.nan], [np.nan, np.nan]])
    expected = np.array([[0, 1, 0], [0.25, 0.75, 0], [1, 0, 0], [1 / 3] * 3, [1 / 3] * 3])
    np.testing.assert_allclose(np.asarray(warm_start(temperatures, before, after)), expected)
    without = changed_seeds(after, {}, ["c"], graph)  # in the row of "c" nothing is left
    expected = np.array([[1, 0], [1, 0], [0.5, 0.5]])
    np.testing.assert_allclose(np.asarray(warm_start(temperatures, before, without)[:3]), expected)


@quiet
@pytest.mark.parametrize("classes", [15, 16, 17, 31, 32, 33])
def test_updates_with_as_many_classes_as_fill_a_block(classes: int) -> None:
    """With 16, a start that did not sum to one made a block one column too wide."""
    for seed in range(12 if classes == 16 else 2):
        rng, n = np.random.default_rng(seed), 4 * classes
        source, target = rng.integers(n, size=(2, 2 * n))
        graph = iso.Graph.from_edges(source, target, 10.0 ** rng.uniform(-3, 3, 2 * n), nodes=range(n))
        seeds = {int(node): place % classes for place, node in enumerate(rng.permutation(n)[: 2 * classes])}
        clf = iso.DirichletClassifier(solver="cg").fit(graph, seeds)
        for _ in range(8):
            node = int(rng.integers(n))
            if node in seeds and list(seeds.values()).count(seeds[node]) > 1:
                del seeds[node]
                clf.update(remove=[node])
            else:
                seeds[node] = int(rng.integers(classes))
                clf.update({node: seeds[node]})
        held = np.sort(list(seeds))
        values = np.array([[float(seeds[node] == label) for label in clf.classes_] for node in held.tolist()])
        exact = harmonic(dense(graph.heat), held, values)
        reached = ~np.isnan(exact[:, 0])
        np.testing.assert_array_equal(reached, clf.reached_)
        errors = np.abs(clf.temperatures_ - exact)[reached].max(axis=0) / exact[reached].std(axis=0)
        assert errors.max() <= 3e-3
