"""Soft seeds: temperatures against dense solves of the penalised problem, the limits of trust, and what is refused."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from problems import Problem, dense, problems
from scipy.sparse.csgraph import connected_components

import isotherm as iso
from isotherm.choices import RuleName, SideName, SolverName
from isotherm.equilibrium.lifting import lift
from isotherm.equilibrium.solvers import SOLVERS
from isotherm.labelling.rules import RULES
from isotherm.seeds.known import soft_seeds

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")  # two seeds are enough here

quiet = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning")
sides = pytest.mark.parametrize("side", ["both", "source"])
WEIGHTS = st.lists(st.sampled_from([0.01, 0.3, 1.0, 7.0, 200.0, np.inf]), min_size=1, max_size=8)


def penalised(
    graph: iso.Graph, nodes: NDArray[np.int64], values: NDArray[np.float64], weights: NDArray[np.float64], side: str
) -> NDArray[np.float64]:
    """The minimum of ``sum a_ij (T_i - T_j)^2 / 2 + sum g_i (T_i - y_i)^2`` by a dense solve; NaN where unreached."""
    n, heat = graph.n_nodes, dense(graph.heat)
    copies = range(0, len(heat), n) if side == "both" else [0]
    degree = heat.sum(axis=1)
    laplacian = np.diag(degree) - heat
    source = np.zeros((len(heat), values.shape[1]))
    touched = np.zeros(len(heat), bool)
    held = {}
    for node, value, weight in zip(nodes.tolist(), values, weights.tolist(), strict=True):
        alone = not any(degree[node + copy] for copy in copies)
        for copy in copies:
            conductance = weight * (1 if alone else degree[node + copy]) if np.isfinite(weight) else np.inf
            touched[node + copy] = conductance > 0
            if np.isinf(conductance):
                held[node + copy] = value
            else:
                laplacian[node + copy, node + copy] += conductance
                source[node + copy] += conductance * value
    for place, value in held.items():
        laplacian[place] = 0
        laplacian[place, place] = 1
        source[place] = value
    _, component = connected_components(heat, directed=False)
    reached = np.isin(component, component[touched])
    found = np.full(source.shape, np.nan)
    found[reached] = np.linalg.solve(laplacian[np.ix_(reached, reached)], source[reached])
    means = np.stack([found[copy : copy + n] for copy in copies])
    known = ~np.isnan(means)
    total = known.sum(axis=0)
    return np.divide(np.where(known, means, 0).sum(axis=0), total, out=np.full(total.shape, np.nan), where=total > 0)


def trust(problem: Problem, weights: list[float]) -> NDArray[np.float64]:
    """A weight for each seed."""
    return np.resize(np.array(weights), len(problem.nodes))


def by_node(problem: Problem, weights: NDArray[np.float64]) -> dict[Any, float]:
    return dict(zip(problem.graph.nodes[problem.nodes].tolist(), weights.tolist(), strict=True))


@quiet
@sides
@given(problem=problems(), weights=WEIGHTS)
def test_temperatures_solve_the_penalised_problem(problem: Problem, weights: list[float], side: SideName) -> None:
    each = trust(problem, weights)
    clf = iso.DirichletClassifier(side=side, tol=1e-9)
    clf.fit(problem.graph, problem.labels, seed_weight=by_node(problem, each))
    exact = penalised(problem.graph, problem.nodes, problem.values, each, side)
    np.testing.assert_allclose(clf.temperatures_, exact, atol=1e-7)
    np.testing.assert_allclose(clf.temperatures_[clf.reached_].sum(axis=1), 1, atol=1e-9)
    assert np.nanmin(clf.temperatures_) >= -1e-9  # the maximum principle
    assert np.nanmax(clf.temperatures_) <= 1 + 1e-9


@quiet
@sides
@given(problem=problems(), weights=WEIGHTS)
def test_shares_add_up_to_the_temperatures(problem: Problem, weights: list[float], side: SideName) -> None:
    clf = iso.DirichletClassifier(side=side, tol=1e-6)
    clf.fit(problem.graph, problem.labels, seed_weight=by_node(problem, trust(problem, weights)))
    nodes = problem.graph.nodes[clf.reached_]
    found = [list(each.classes.values()) for each in clf.explain_many(nodes)]
    np.testing.assert_allclose(found, clf.temperatures_[clf.reached_], atol=5e-6)
    assert all(each.share.sum() == pytest.approx(1) for each in clf.explain_many(nodes))


@quiet
@sides
@given(problem=problems(), weights=WEIGHTS)
def test_certified_labels_are_those_of_the_exact_temperatures(
    problem: Problem, weights: list[float], side: SideName
) -> None:
    each = trust(problem, weights)
    clf = iso.DirichletClassifier(rule="vanilla", side=side)
    clf.fit(problem.graph, problem.labels, seed_weight=by_node(problem, each))
    exact = penalised(problem.graph, problem.nodes, problem.values, each, side)
    best = np.where(np.isnan(exact[:, 0]), -1, np.nan_to_num(exact).argmax(axis=1))
    np.testing.assert_array_equal(clf.labels_[clf.certified_], best[clf.certified_])
    ahead = -np.diff(np.sort(np.nan_to_num(exact), axis=1)[:, -2:])[:, 0]
    assert clf.certified_[-ahead > 0.01].all()


@quiet
@sides
@given(problem=problems(), rule=st.sampled_from(list(RULES)))
def test_infinite_trust_is_no_change_at_all(problem: Problem, rule: RuleName, side: SideName) -> None:
    plain = iso.DirichletClassifier(rule, side=side).fit(problem.graph, problem.labels)
    for weight in (np.inf, 1e16):
        held = iso.DirichletClassifier(rule, side=side).fit(problem.graph, problem.labels, seed_weight=weight)
        np.testing.assert_array_equal(held.temperatures_, plain.temperatures_)
        np.testing.assert_array_equal(held.labels_, plain.labels_)
        np.testing.assert_array_equal(held.predict_proba(), plain.predict_proba())


@quiet
def test_labels_can_be_certified_until_enough_are() -> None:
    graph = iso.Graph.from_networkx(nx.barabasi_albert_graph(2000, 3, seed=1))
    labels = {node: node % 2 for node in range(100, 160)}
    clf = iso.DirichletClassifier("vanilla", stop="labels", open_share=0.02).fit(graph, labels, seed_weight=0.5)
    exact = penalised(graph, np.arange(100, 160), np.eye(2)[np.arange(60) % 2], np.full(60, 0.5), "both")
    assert clf.certified_.mean() >= 0.98
    np.testing.assert_array_equal(clf.labels_[clf.certified_], exact.argmax(axis=1)[clf.certified_])


@quiet
@given(problem=problems())
def test_great_trust_is_nearly_the_same(problem: Problem) -> None:
    plain, soft = (
        iso.DirichletClassifier(tol=1e-9).fit(problem.graph, problem.labels, seed_weight=weight).temperatures_
        for weight in (None, 1e9)
    )
    np.testing.assert_allclose(soft, plain, atol=1e-6)


def test_without_trust_it_is_no_seed() -> None:
    club = nx.karate_club_graph()
    without = iso.DirichletClassifier().fit(club, {0: "a", 33: "b"})
    clf = iso.DirichletClassifier().fit(club, {0: "a", 33: "b", 5: "c", 7: "b"}, seed_weight={5: 0, 7: 0})
    assert clf.classes_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(clf.temperatures_, without.temperatures_)


@quiet
def test_little_trust_is_nearly_no_seed() -> None:
    club = nx.karate_club_graph()
    without = iso.DirichletClassifier(tol=1e-9).fit(club, {0: 0, 33: 1})
    clf = iso.DirichletClassifier(tol=1e-9).fit(club, {0: 0, 33: 1, 5: 1}, seed_weight={5: 1e-9})
    np.testing.assert_allclose(clf.temperatures_, without.temperatures_, atol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_weak_seeds_keep_the_tolerance(solver: SolverName) -> None:
    """The grounds are far from all other nodes then, and must not count in the spread of the temperatures."""
    graph = iso.Graph.from_networkx(nx.barabasi_albert_graph(2000, 3, seed=1))
    labels = {node: node % 3 for node in range(100, 160)}
    clf = iso.DirichletClassifier(solver=solver, tol=1e-3, max_iter=20_000).fit(graph, labels, seed_weight=0.02)
    weights, values = np.full(60, 0.02), np.eye(3)[np.arange(100, 160) % 3]
    exact = penalised(graph, np.arange(100, 160), values, weights, "both")
    worst = np.abs(clf.temperatures_ - exact).max(axis=0) / exact.std(axis=0)
    assert clf.solution_.converged
    assert worst.max() <= 1e-3


def test_a_soft_seed_is_as_warm_as_its_neighbours_and_its_label() -> None:
    star = nx.star_graph(4)
    labels = {0: "a", 1: "a", 2: "a", 3: "b", 4: "b"}
    clf = iso.DirichletClassifier().fit(star, labels, seed_weight={0: 3})
    assert clf.temperatures_[0] == pytest.approx([(0.5 + 3) / 4, 0.5 / 4])
    heated = clf.explain(0)
    assert dict(zip(heated.seed.tolist(), heated.share, strict=True))[0] == pytest.approx(3 / 4)
    assert heated.path(0) == [0]
    assert clf.explain(3).path(4) == []  # it is held, so no walk leaves it


def test_a_wrong_label_gives_way_if_it_is_not_trusted() -> None:
    group = [(i, j) for i in range(6) for j in range(i)]
    graph = nx.Graph([*group, *((i + 6, j + 6) for i, j in group), (0, 6)])
    labels = {1: "low", 2: "low", 7: "high", 8: "high", 3: "high"}  # 3 is low, in truth
    believed = iso.DirichletClassifier().fit(graph, labels)
    doubted = iso.DirichletClassifier().fit(graph, labels, seed_weight={3: 0.2})
    assert believed.labels_[3] == "high"
    assert doubted.labels_[3] == "low"
    assert doubted.predict_proba()[3].max() < 1


def test_the_weight_of_a_seed_counts_in_the_shares_of_classes() -> None:
    seeds = soft_seeds({0: "a", 1: "b"}, iso.Graph.from_edges([0, 1], [1, 2]), {1: 1.0})
    assert seeds.shares.tolist() == pytest.approx([2 / 3, 1 / 3])
    assert seeds.counts.tolist() == [1, 1]


@quiet
@given(problem=problems(), chance=st.floats(0.01, 0.99))
def test_a_distribution_is_the_temperature_of_its_seed(problem: Problem, chance: float) -> None:
    graph, values = problem.graph, problem.values.copy()
    values[0] = chance * values[0] + (1 - chance) * values[1]
    ids = graph.nodes[problem.nodes].tolist()
    mixed = {node: dict(enumerate(row.tolist())) for node, row in zip(ids, values, strict=True)}
    clf = iso.DirichletClassifier(tol=1e-9, side="both").fit(graph, mixed)
    exact = penalised(graph, problem.nodes, values, np.full(len(ids), np.inf), "both")
    np.testing.assert_allclose(clf.temperatures_, exact, atol=1e-7)
    np.testing.assert_allclose(clf.predict_proba()[problem.nodes], values)
    assert clf.labels_[problem.nodes[0]] == values[0].argmax()
    found = [list(each.classes.values()) for each in clf.explain_many(graph.nodes[clf.reached_])]
    np.testing.assert_allclose(found, clf.temperatures_[clf.reached_], atol=1e-6)


@quiet
def test_distributions_and_labels_side_by_side() -> None:
    rod = iso.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    clf = iso.DirichletClassifier().fit(rod, {0: {"a": 0.5, "b": 0.5}, 2: None, 4: "a"})
    np.testing.assert_allclose(clf.temperatures_[:, 0], [0.5, 0.625, 0.75, 0.875, 1])
    assert clf.confidence_[0] == 0.5


def test_a_certain_distribution_is_a_label() -> None:
    club = nx.karate_club_graph()
    plain = iso.DirichletClassifier().fit(club, {0: "a", 33: "b"})
    clf = iso.DirichletClassifier().fit(club, {0: {"a": 1.0}, 33: {"b": 1, "c": 0}})
    assert clf.classes_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(clf.temperatures_, plain.temperatures_)


@quiet
def test_classes_solved_in_blocks_are_the_same() -> None:
    graph = iso.Graph.from_networkx(nx.barabasi_albert_graph(200, 2, seed=3))
    labels: dict[int, Any] = {node: {f"c{node % 20}": 0.75, f"c{(node + 1) % 20}": 0.25} for node in range(40)}
    whole = iso.DirichletClassifier(rule="relative", tol=1e-9)
    whole.fit(graph, labels, seed_weight=dict.fromkeys(range(20), 2.0))
    parts = iso.DirichletClassifier(rule="relative", tol=1e-9, max_memory=1)
    parts.fit(graph, labels, seed_weight=dict.fromkeys(range(20), 2.0))
    np.testing.assert_array_equal(parts.labels_, whole.labels_)
    np.testing.assert_allclose(parts.best_scores_[:, 0], np.sort(whole.scores_, axis=1)[:, -1], atol=1e-6)
    assert parts.confidence_[30] == 0.75


def test_rare_classes_are_counted_by_seeds_that_may_have_them() -> None:
    club = nx.karate_club_graph()
    with pytest.warns(iso.RareClassWarning, match="the class 'c' has a single seed"):
        iso.DirichletClassifier().fit(club, {0: {"a": 0.6, "b": 0.4}, 1: {"b": 0.6, "a": 0.4}, 2: "c"})


def test_grounds_of_a_directed_graph_are_joined_to_the_copy_that_has_arcs() -> None:
    arc = iso.Graph.from_edges(["a"], ["b"], directed=True)
    lifting = lift(arc, np.array([0]), np.array([2.0]), "both")
    assert lifting.held.tolist() == [2]
    np.testing.assert_array_equal(lifting.conductance.to_scipy().toarray()[:3, 3:], [[0, 1, 2], [0, 0, 0], [0, 0, 0]])
    assert lift(arc, np.array([0])).conductance is arc.heat


@pytest.mark.parametrize(
    ("labels", "weight", "message"),
    [
        ({0: "a", 1: "b"}, -1, "the seed_weight of the node 0 is -1: it must be at least 0"),
        ({0: "a", 1: "b"}, {1: float("nan")}, "the seed_weight of the node 1 is nan: it must be at least 0"),
        ({0: "a", 1: "b"}, {5: 1.0}, "the node 5 has a seed_weight but no label"),
        ({0: "a", 1: "b"}, {"x": 1.0}, "1 node is not in the graph: 'x'"),
        ({0: "a", 1: "b"}, [1.0, 2.0], r"seed_weight has the shape \(2,\): give one weight for each of 34 nodes"),
        ({0: "a", 1: "b"}, 0, "there are no seeds"),
        ({0: {"a": 0.5, "b": 0.4}}, None, "the probabilities of the seed 0 add up to 0.9, not to 1"),
        ({0: {"a": 1.5, "b": -0.5}}, None, "the probabilities of the seed 0 must be at least 0"),
        ({0: {}}, None, "the probabilities of the seed 0 add up to 0, not to 1"),
    ],
)
def test_what_is_refused(labels: Any, weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        iso.DirichletClassifier().fit(nx.karate_club_graph(), labels, seed_weight=weight)


def test_an_array_of_weights_counts_at_seeds_only() -> None:
    weights = np.full(34, -5.0)
    weights[[0, 33]] = 2, np.inf
    seeds = soft_seeds({0: "a", 33: "b"}, iso.Graph.from_networkx(nx.karate_club_graph()), weights)
    assert seeds.weights is not None
    assert seeds.weights.tolist() == [2, np.inf]
