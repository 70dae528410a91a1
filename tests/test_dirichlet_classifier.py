"""The classifier of the paper: Algorithm 1 against dense linear algebra, and how it reads directed graphs."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray
from problems import Problem, dense, harmonic, problems
from scipy.sparse import csr_array
from sklearn.metrics import f1_score

import isotherm as iso
from isotherm.choices import RuleName
from isotherm.labelling.rules import DECISIONS
from isotherm.paper.graph_experiments import largest
from isotherm.seeds.hiding import sample, show
from isotherm.study.datasets import load

LEADERS = {0: "Mr. Hi", 33: "Officer"}
quiet = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning")


def bipartite(graph: iso.Graph) -> NDArray[np.float64]:
    """The weights of an undirected graph, or of the bipartite graph of sources and targets of a directed one."""
    weights = graph.adjacency.toarray().astype(float)
    if not graph.directed:
        return weights
    nothing = np.zeros_like(weights)
    return np.block([[nothing, weights], [weights.T, nothing]])


def algorithm_1(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Temperatures and scores of Algorithm 1 by dense elimination; labels of a directed graph are on source copies."""
    n = problem.graph.n_nodes
    exact = harmonic(bipartite(problem.graph), problem.nodes, problem.values)[:n]
    return exact, exact - np.nanmean(exact, axis=0)


@given(problem=problems())
@settings(max_examples=200)
@quiet
def test_by_default_it_is_algorithm_1(problem: Problem) -> None:
    clf = iso.DirichletClassifier(tol=1e-9).fit(problem.graph, problem.labels)
    exact, scores = algorithm_1(problem)
    np.testing.assert_allclose(clf.temperatures_, exact, atol=1e-7)
    np.testing.assert_allclose(clf.scores_, scores, atol=1e-6)
    best = np.sort(scores, axis=1)
    clear = best[:, -1] - best[:, -2] > 1e-6
    np.testing.assert_array_equal(clf.labels_[clear], scores[clear].argmax(axis=1))
    np.testing.assert_array_equal(clf.labels_ == -1, np.isnan(exact[:, 0]))
    np.testing.assert_array_equal(clf.labels_[problem.nodes], problem.codes)
    assert (clf.rule_, clf.side) == ("centered", "source")


@given(problem=problems())
@quiet
def test_ten_sweeps_are_those_of_equation_5(problem: Problem) -> None:
    """X <- QX + RY from the mean temperature of the seeds, on the bipartite graph of a directed one."""
    clf = iso.DirichletClassifier(solver="sweeps", tol=None, max_iter=10).fit(problem.graph, problem.labels)
    weights, n = bipartite(problem.graph), problem.graph.n_nodes
    degrees = weights.sum(axis=1, keepdims=True)
    walk = np.divide(weights, degrees, out=np.zeros_like(weights), where=degrees > 0)
    found = np.tile(problem.values.mean(axis=0), (len(weights), 1))
    for _ in range(10):
        found[problem.nodes] = problem.values
        found = walk @ found
    found[problem.nodes] = problem.values
    reached = clf.reached_
    np.testing.assert_allclose(clf.temperatures_[reached], found[:n][reached], atol=1e-6)


@given(problem=problems())
@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning")
def test_labels_equal_the_exact_ones_wherever_the_margin_exceeds_the_error(problem: Problem) -> None:
    clf = iso.DirichletClassifier(side="source", rule="vanilla").fit(problem.graph, problem.labels)
    exact = harmonic(dense(problem.graph.heat), problem.nodes, problem.values)[: problem.graph.n_nodes]
    spread = np.nanstd(exact, axis=0).max()
    best = np.sort(exact, axis=1)
    clear = best[:, -1] - best[:, -2] > 6e-3 * spread
    np.testing.assert_array_equal(clf.labels_[clear], exact[clear].argmax(axis=1))
    np.testing.assert_array_equal(clf.labels_ == -1, np.isnan(exact[:, 0]))


@pytest.mark.parametrize("name", DECISIONS)
def test_a_decision_on_probabilities_is_that_of_another_classifier(name: Any) -> None:
    sentence = f"rule='{name}' decides by probabilities: use NodeClassifier\\(decision='{name}'\\)"
    with pytest.raises(ValueError, match=sentence):
        iso.DirichletClassifier(name).fit(nx.karate_club_graph(), LEADERS)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rule": "centred"}, "rule='centred', but it must be one of 'centered', 'relative', 'vanilla', 'weighted'"),
        ({"rule": "auto"}, "rule='auto', but it must be one of 'centered', 'relative', 'vanilla', 'weighted'"),
        ({"calibration": "platt"}, "calibration='platt', but it must be one of 'auto', None"),
        ({"stop": "soon"}, "stop='soon', but it must be one of 'error', 'labels'"),
        ({"open_share": 1}, "open_share=1, but it must be at least 0 and below 1"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        iso.DirichletClassifier(**parameters).fit(nx.karate_club_graph(), LEADERS)


@pytest.mark.parametrize("given", [{"features": np.ones((34, 1))}, {"evidence": "spectral"}])
def test_nothing_but_links_counts(given: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        iso.DirichletClassifier().fit(nx.karate_club_graph(), LEADERS, **given)


def test_probabilities_without_calibration_are_the_softmax_of_the_scores() -> None:
    graph = iso.Graph.from_networkx(nx.les_miserables_graph())
    labels = {"Valjean": "a", "Marius": "b", "Myriel": "c"}
    clf = iso.DirichletClassifier(calibration=None).fit(graph, labels)
    assert clf.calibration_ is None
    probabilities = clf.predict_proba()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(clf.classes_[probabilities.argmax(axis=1)], clf.labels_)
    others = np.delete(np.arange(graph.n_nodes), graph.index(list(labels)))
    softmax = np.exp(clf.scores_) / np.exp(clf.scores_).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probabilities[others], softmax[others], rtol=1e-6)
    np.testing.assert_array_equal(clf.confidence_, probabilities.max(axis=1))
    np.testing.assert_array_equal(clf.confidence_[graph.index(list(labels))], 1)


@quiet
def test_arcs_as_edges() -> None:
    rng = np.random.default_rng(0)
    arcs = csr_array(rng.random((60, 60)) < 0.08, dtype=np.float64)
    directed, edges = iso.Graph.from_scipy(arcs, directed=True), arcs + arcs.T
    edges.setdiag(0)
    known = np.full(60, -1)
    known[:20] = np.arange(20) % 3
    by_arcs = iso.DirichletClassifier(side="edges").fit(directed, known)
    by_edges = iso.DirichletClassifier().fit(iso.Graph.from_scipy(csr_array(edges)), known)
    np.testing.assert_allclose(by_arcs.temperatures_, by_edges.temperatures_, atol=1e-3)
    paper = iso.DirichletClassifier().fit(directed, known)
    source = iso.DirichletClassifier(side="source").fit(directed, known)
    np.testing.assert_array_equal(paper.temperatures_, source.temperatures_)


def test_directed_graphs_by_both_sides() -> None:
    arcs = csr_array(np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]))
    graph = iso.Graph.from_scipy(arcs, directed=True)
    with pytest.warns(iso.UnreachedWarning):
        source = iso.DirichletClassifier(side="source").fit(graph, {0: 0, 2: 1})
    assert source.labels_.tolist() == [0, -1, 1, -1]  # no path of the bipartite graph joins 1 or 3 to a seed
    both = iso.DirichletClassifier(side="both").fit(graph, {0: 0, 2: 1})
    assert both.labels_.tolist() == [0, -1 if not both.reached_[1] else both.labels_[1], 1, 1]


def test_weights_decide() -> None:
    edges = [0, 1], [1, 2]
    for weight, label in (([3, 1], 0), ([1, 3], 1)):
        clf = iso.DirichletClassifier(rule="vanilla").fit(iso.Graph.from_edges(*edges, weight=weight), {0: 0, 2: 1})
        assert clf.labels_[1] == label


@quiet
def test_rare_classes_on_amazon(data_folder: Path) -> None:
    """Some hundred members of a community among 334,863 nodes: vanilla finds them at equilibrium, centered does not."""
    amazon = load("amazon", data=data_folder)
    scores: dict[RuleName, list[float]] = {"centered": [], "vanilla": []}
    for number, members in enumerate(largest(amazon.communities or (), 3)):
        truth = np.zeros(amazon.graph.n_nodes, dtype=np.int64)
        truth[members] = 1
        known = show(truth, sample("balanced", truth, 0.01, np.random.default_rng(number)))
        for rule, found in scores.items():
            clf = iso.DirichletClassifier(rule).fit(amazon.graph, known)
            found.append(f1_score(truth[known < 0], clf.labels_[known < 0], average="macro"))
    centered, vanilla = (np.mean(found) for found in scores.values())
    assert vanilla > centered + 0.2
