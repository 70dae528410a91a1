"""Suggestions: values against dense inverses, and batches on graphs where it is clear what to ask."""

from typing import Any, Literal

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from problems import Problem, dense, problems
from scipy.sparse import csr_array

import isotherm as iso
from isotherm.choices import SideName, SuggestPolicy
from isotherm.insight.suggestion import DAMPING, LIKELY, POLICIES, Reach, choose

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.CalibrationWarning")  # two seeds are enough here

SPREADING = [policy for policy in POLICIES if policy != LIKELY]
quiet = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning")


def cliques(sizes: list[int]) -> nx.Graph:
    """Cliques, each joined to the next by an edge; a node (c, i) is the i-th of clique c."""
    graph = nx.Graph()
    for c, size in enumerate(sizes):
        graph.add_edges_from(((c, i), (c, j)) for i in range(size) for j in range(i))
        if c:
            graph.add_edge((c - 1, 0), (c, 1))
    return graph


@given(problem=problems(kinds=("undirected",)))
@quiet
def test_heat_and_cold_are_those_of_a_dense_inverse(problem: Problem) -> None:
    errors = np.random.default_rng(0).random(problem.graph.n_nodes)
    reach = Reach(problem.graph, problem.nodes, errors)
    weights, degree = dense(problem.graph.heat), problem.graph.degrees
    free = np.setdiff1d(np.flatnonzero(degree > 0), problem.nodes)
    inverse = np.linalg.inv((np.diag(degree) - DAMPING * weights)[np.ix_(free, free)])
    known = inverse @ (DAMPING * weights[np.ix_(free, problem.nodes)].sum(axis=1))
    heat = inverse @ errors[free]  # what the sweeps leave is small beside the heat of the neighbours
    np.testing.assert_allclose(reach.x[free, 0], heat, rtol=0.06, atol=1e-3 * heat.max(initial=0))
    np.testing.assert_allclose(reach.x[free, 1], 1 - known, atol=0.03)
    np.testing.assert_array_less(reach.peak[free], 1.3 * np.diag(inverse) + 1e-9)


def test_rare_classes_get_their_share() -> None:
    graph = iso.Graph.from_networkx(nx.disjoint_union_all([nx.star_graph(9)] * 10))
    hubs, star = np.arange(0, 100, 10), np.arange(100) // 10
    common, rare = 0, 1
    groups = np.where(np.isin(star, [4, 5, 9]), rare, common)
    seeds = hubs[6:]  # three of the common class, one of the rare one
    chosen, values = choose(graph, seeds, 4, np.ones(100), groups=groups)
    assert sorted(star[chosen[:2]]) == [4, 5]
    assert groups[chosen].tolist() == [rare, rare, common, common]
    np.testing.assert_allclose(values[0] / values[1:], [3 / 2, 4 / 2, 5 / 2], rtol=1e-5)  # one more than the seeds
    np.testing.assert_allclose(choose(graph, seeds, 4, np.ones(100))[1] * [5, 6, 7, 8], values[0] * 2, rtol=1e-5)


def test_values_come_close_to_those_of_a_dense_inverse() -> None:
    graph = iso.Graph.from_networkx(nx.powerlaw_cluster_graph(400, 3, 0.5, seed=1))
    seeds = np.arange(0, 400, 40)
    free = np.setdiff1d(np.arange(400), seeds)
    weights = dense(graph.heat)
    inverse = np.linalg.inv((np.diag(graph.degrees) - DAMPING * weights)[np.ix_(free, free)])
    cold = 1 - inverse @ (DAMPING * weights[np.ix_(free, seeds)].sum(axis=1))
    exact = cold**4 * inverse.sum(axis=1) / np.diag(inverse)
    found = Reach(graph, seeds, np.ones(400)).values(free)
    connected = np.ones(400, bool)
    np.testing.assert_array_equal(Reach(graph, seeds, np.ones(400), reached=connected).values(free), found)
    assert np.corrcoef(exact, found)[0, 1] > 0.98
    assert len(set(np.argsort(-exact)[:20]) & set(np.argsort(-found)[:20])) >= 17


@pytest.mark.parametrize("policy", ["diverse", "uncertainty"])
@quiet
def test_a_large_unreached_component_comes_first_and_single_nodes_last(policy: SuggestPolicy) -> None:
    graph = cliques([6, 6])
    graph.add_edges_from(nx.relabel_nodes(nx.star_graph(20), {i: ("star", i) for i in range(21)}).edges)
    graph.add_nodes_from(["alone", "lost"])
    clf = iso.DirichletClassifier().fit(graph, {(0, 2): "a", (1, 2): "b"})
    asked = clf.suggest(100, policy=policy).tolist()
    assert asked[0] == ("star", 0)
    assert set(asked[-2:]) == {"alone", "lost"}
    assert len(asked) == len(set(asked)) == len(graph) - 2


@quiet
def test_a_batch_is_spread_over_the_graph() -> None:
    graph = cliques([8, 8, 12, 13, 14, 15, 16])
    clf = iso.DirichletClassifier().fit(graph, {(0, 2): "a", (1, 2): "b"})
    batch = clf.suggest(5)
    assert {clique for clique, _ in batch.tolist()} == {2, 3, 4, 5, 6}
    alone = clf.suggest(5, policy="uncertainty")
    assert len({clique for clique, _ in alone.tolist()}) < 5
    clf.update(dict.fromkeys(batch.tolist(), "a"))
    assert not set(batch.tolist()) & set(clf.suggest(20).tolist())


@pytest.mark.parametrize("calibration", ["auto", None])
@quiet
def test_likely_members_of_a_class_come_first(calibration: Literal["auto"] | None) -> None:
    graph = nx.karate_club_graph()
    clf = iso.DirichletClassifier(calibration=calibration).fit(graph, {0: "a", 1: "a", 33: "b", 32: "b", 5: "c"})
    nodes, values = clf.suggest(40, policy="likely", label="b", return_values=True)
    chance = dict(zip(graph.nodes, clf.predict_proba()[:, 1].tolist(), strict=True))
    assert values.tolist() == [chance[node] for node in nodes.tolist()]
    assert sorted(nodes.tolist()) == sorted(set(graph) - {0, 1, 33, 32, 5})
    assert values.tolist() == sorted(values.tolist(), reverse=True)
    few = clf.suggest(2, policy="likely", label="b", among=[1, 2, 3, 33])
    assert set(few.tolist()) == {2, 3}


def test_a_node_that_no_seed_reaches_is_no_likely_member() -> None:
    graph = iso.Graph.from_edges(["a", "b", "x"], ["b", "c", "y"])
    with pytest.warns(iso.UnreachedWarning):
        clf = iso.DirichletClassifier(calibration=None).fit(graph, {"a": 0, "c": 1})
    assert clf.suggest(5, policy="likely", label=1).tolist() == ["b"]


@quiet
def test_likely_members_where_nodes_have_several_labels() -> None:
    clf = iso.DirichletClassifier(calibration=None).fit(nx.path_graph(5), {0: {"a", "b"}, 4: {"b"}})
    assert clf.suggest(3, policy="likely", label="a").tolist() == [1, 2, 3]


@quiet
def test_the_best_candidate_of_a_batch_is_that_of_a_new_fit() -> None:
    graph = iso.Graph.from_networkx(nx.powerlaw_cluster_graph(300, 2, 0.3, seed=2))
    clf = iso.DirichletClassifier().fit(graph, {0: "a", 100: "b", 5: "a", 50: "b"})
    batch = clf.suggest(3).tolist()
    clf.update({batch[0]: "a", batch[1]: "b"})
    assert batch[2] in clf.suggest(3)


@given(problem=problems())
@quiet
@pytest.mark.parametrize("policy", SPREADING)
@pytest.mark.parametrize("side", ["both", "source"])
def test_all_nodes_but_the_seeds_are_suggested_once(problem: Problem, policy: SuggestPolicy, side: SideName) -> None:
    clf = iso.DirichletClassifier(side=side).fit(problem.graph, problem.labels)
    nodes, values = clf.suggest(problem.graph.n_nodes, policy=policy, return_values=True)
    free = np.setdiff1d(np.arange(problem.graph.n_nodes), problem.nodes)
    assert np.sort(problem.graph.index(nodes)).tolist() == free.tolist()
    assert np.isfinite(values).all()
    assert (np.diff(values) <= 1e-9 * np.abs(values[:-1])).all()
    few = clf.suggest(3, policy=policy, among=problem.graph.nodes[free[:5]])
    assert set(few.tolist()) <= set(problem.graph.nodes[free[:5]].tolist())
    np.testing.assert_array_equal(few, clf.suggest(3, policy=policy, among=problem.graph.nodes[free[:5]]))


@quiet
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("directed", [False, True])
def test_the_order_of_the_nodes_does_not_matter(policy: SuggestPolicy, directed: bool) -> None:
    rng = np.random.default_rng(4)
    ends = rng.integers(80, size=(2, 300))
    weights = csr_array((rng.random(300) + 0.1, ends), shape=(80, 80))
    matrix = weights if directed else csr_array(weights + weights.T)
    order = rng.permutation(80)
    labels = np.full(80, -1)
    labels[:6] = [0, 1, 2, 0, 1, 2]
    found = []
    for m, y, names in ((matrix, labels, np.arange(80)), (csr_array(matrix[order][:, order]), labels[order], order)):
        clf = iso.DirichletClassifier(tol=1e-8).fit(iso.Graph.from_scipy(m, directed=directed), y)
        label = 1 if policy == "likely" else None
        found.append(names[clf.suggest(12, policy=policy, label=label)].tolist())
    assert found[0] == found[1]


def test_margins_are_differences_of_the_two_best_scores() -> None:
    clf = iso.DirichletClassifier().fit(nx.karate_club_graph(), {0: "a", 33: "b", 5: "c"})
    best = np.sort(clf.scores_, axis=1)
    margin = best[:, -1] - best[:, -2]
    margin[[0, 5, 33]] = np.inf
    nodes, values = clf.suggest(31, policy="margin", return_values=True)
    np.testing.assert_allclose(1 - values, np.sort(margin)[:31], atol=1e-6)
    np.testing.assert_allclose(margin[nodes], np.sort(margin)[:31], atol=1e-6)


@pytest.mark.parametrize("policy", SPREADING)
def test_best_scores_are_enough(policy: SuggestPolicy) -> None:
    seeds = {0: "a", 33: "b", 5: "c"}
    few = iso.DirichletClassifier(max_memory=1).fit(nx.karate_club_graph(), seeds)
    every = iso.DirichletClassifier(calibration=None).fit(nx.karate_club_graph(), seeds)  # as with too many classes
    assert few.suggest(5, policy=policy).tolist() == every.suggest(5, policy=policy).tolist()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"k": 0}, ValueError, "k=0, but it must be at least 1"),
        ({"k": 1.5}, TypeError, "k=1.5, but it must be an integer"),
        ({"policy": "best"}, ValueError, "policy='best', but it must be one of 'diverse', 'uncertainty', 'margin'"),
        ({"among": [99]}, ValueError, "99"),
        ({"policy": "likely"}, ValueError, "policy='likely' needs the class to look for: set label"),
        (
            {"policy": "likely", "label": "c"},
            ValueError,
            "label='c', but no seed has this label: choose one of 'a', 'b'",
        ),
        ({"label": "a"}, ValueError, "label goes with policy='likely', not with policy='diverse'"),
    ],
)
def test_wishes_that_make_no_sense(arguments: dict[str, Any], error: Any, words: str) -> None:
    clf = iso.DirichletClassifier().fit(nx.karate_club_graph(), {0: "a", 33: "b"})
    with pytest.raises(error, match=words):
        clf.suggest(**arguments)


def test_the_first_nodes_are_those_that_a_fit_of_one_class_would_suggest_next() -> None:
    """With one class, every label is equally doubtful, and a known node is a seed."""
    graph = nx.karate_club_graph()
    clf = iso.DirichletClassifier()
    with pytest.warns(iso.LabelWarning, match="have the label"):
        clf.fit(graph, {0: "a", 5: "a"})
    wanted, values = clf.suggest(6, return_values=True)
    found, worth = iso.suggest(graph, 6, known=[5, 0], return_values=True)
    assert found.tolist() == wanted.tolist()
    assert worth / worth[0] == pytest.approx(values / values[0], rel=1e-4)


def test_the_first_nodes_are_in_different_parts_of_the_graph() -> None:
    cliques = nx.ring_of_cliques(4, 8)
    first = iso.suggest(cliques, 4)
    assert {node // 8 for node in first.tolist()} == {0, 1, 2, 3}
    among = [1, 2, 9, 10]
    assert {node // 8 for node in iso.suggest(cliques, 2, among=among).tolist()} == {0, 1}


def test_policies_that_need_a_fit_are_refused_before_it() -> None:
    for policy in ("margin", "likely"):
        with pytest.raises(ValueError, match=f"policy='{policy}' goes by the labels of a fit"):
            iso.suggest(nx.path_graph(4), policy=policy)
    with pytest.raises(ValueError, match="k=0, but it must be at least 1"):
        iso.suggest(nx.path_graph(4), 0)
