"""Both protocols against plain dense programs, and scores against those of scikit-learn."""

import warnings

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray
from problems import Problem
from sklearn.metrics import f1_score

from isotherm import DirichletClassifier, Graph
from isotherm.choices import RuleName
from isotherm.equilibrium.options import SolveOptions
from isotherm.labelling.rules import RULES
from isotherm.paper.scoring import (
    ALL,
    LOST,
    OTHERS,
    REACHED,
    SHIFTED,
    UNREACHED,
    class_f1,
    score_authors,
    score_corrected,
)
from isotherm.study.scores import macro_f1

Ints = NDArray[np.int64]


def problem(seed: int, *, directed: bool = False) -> tuple[Graph, Ints, Ints]:
    """A graph with isolated nodes, small components and a class without seeds; its labels and its seeds."""
    rng = np.random.default_rng(seed)
    G = nx.disjoint_union_all([nx.gnp_random_graph(60, 0.08, seed=seed), nx.path_graph(5), nx.empty_graph(3)])
    n = G.number_of_nodes()
    labels = rng.integers(0, 4, n)
    allowed = np.flatnonzero(labels != 1)
    seeds = np.sort(rng.choice(allowed[allowed < 60], 9, replace=False))
    ends = np.array(G.edges)
    return Graph.from_edges(*ends.T, directed=directed, nodes=range(n)), labels, seeds


def dense_sweeps(A: NDArray[np.float64], seeds: Ints, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ten sweeps from the mean temperature of the seeds; a node without edges goes to zero."""
    degree = A.sum(axis=1, keepdims=True)
    P = np.divide(A, degree, out=np.zeros_like(A), where=degree > 0)
    T = np.tile(values.mean(axis=0), (len(A), 1))
    T[seeds] = values
    for _ in range(10):
        T = P @ T
        T[seeds] = values
    return T


def authors_predictions(T: NDArray[np.float64], labels: Ints, seeds: Ints) -> dict[str, Ints]:
    """Column numbers; the weighted rule normalises over nodes whose known class is <= 0, where -1 means unknown."""
    known = np.full(len(labels), -1)
    known[seeds] = labels[seeds]
    counted = known <= 0
    _, counts = np.unique(labels[seeds], return_counts=True)
    weighted = T.copy()
    weighted[counted] *= counts / T[counted].sum(axis=0)
    scores = {"vanilla": T, "weighted": weighted, "centered": T - T.mean(axis=0), "relative": T / T.mean(axis=0)}
    return {rule: score.argmax(axis=1) for rule, score in scores.items()}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_authors_protocol_is_kept_to_the_letter(seed: int, directed: bool) -> None:
    graph, labels, seeds = problem(seed, directed=directed)
    A = graph.adjacency.toarray()
    if directed:
        A = np.block([[np.zeros_like(A), A], [A.T, np.zeros_like(A)]])
        labels = np.concatenate([labels, labels])
        seeds = np.sort(np.concatenate([seeds, seeds[:3] + graph.n_nodes]))
    classes, codes = np.unique(labels[seeds], return_inverse=True)
    assert len(classes) == 3  # class 1 is lost
    predicted = authors_predictions(dense_sweeps(A, seeds, np.eye(3)[codes]), labels, seeds)
    scores = {(score.rule, score.measure): score.value for score in score_authors(graph.heat, labels, seeds)}
    for rule in RULES:
        assert scores[rule, SHIFTED] == pytest.approx(f1_score(labels, predicted[rule], average="macro"), abs=1e-12)
        right = f1_score(labels, classes[predicted[rule]], average="macro")
        assert scores[rule, ALL] == pytest.approx(right, abs=1e-12)
    assert scores["", LOST] == 1


def test_the_mistake_in_the_weighted_rule_needs_seeds_of_class_zero() -> None:
    """If class 0 has no seeds the authors' weighted rule is right; otherwise it is not."""
    graph = Graph.from_edges([0, 1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8])
    labels = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])
    seeds = np.array([0, 1, 2, 8])
    shifted = {s.rule: s.value for s in score_authors(graph.heat, labels, seeds) if s.measure == SHIFTED}
    swapped = {s.rule: s.value for s in score_authors(graph.heat, 2 - labels, seeds) if s.measure == ALL}
    right = {s.rule: s.value for s in score_authors(graph.heat, 1 + labels, seeds) if s.measure == ALL}
    assert swapped["weighted"] == pytest.approx(right["weighted"])
    assert shifted["weighted"] != pytest.approx(right["weighted"])
    assert shifted["centered"] == pytest.approx(right["centered"])


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_the_corrected_protocol_is_that_of_the_classifier(rule: RuleName, directed: bool) -> None:
    graph, labels, seeds = problem(0, directed=directed)
    options = SolveOptions(tol=1e-8, threads=1)  # ties are ties only where both solves are exact
    clf = DirichletClassifier(rule=rule, side="source", tol=options.tol)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = clf.fit(graph, dict(zip(seeds.tolist(), labels[seeds].tolist(), strict=True))).labels_
    scores = {
        (score.rule, score.measure): score.value for score in score_corrected(graph, labels, seeds, options=options)
    }
    others = np.setdiff1d(np.arange(graph.n_nodes), seeds)
    reached = others[clf.reached_[others]]
    for measure, nodes in ((ALL, np.arange(graph.n_nodes)), (OTHERS, others), (REACHED, reached)):
        known = f1_score(labels[nodes], predicted[nodes], average="macro", labels=range(4), zero_division=0)
        assert scores[rule, measure] == pytest.approx(known, abs=1e-12)
    assert scores["", UNREACHED] == pytest.approx(1 - clf.reached_.mean())
    assert scores["", UNREACHED] > 0


def test_nodes_without_a_label_are_not_counted() -> None:
    graph, labels, seeds = problem(1)
    hidden = np.setdiff1d(np.arange(graph.n_nodes), seeds)[::3]
    partly = labels.copy()
    partly[hidden] = -1
    for scores in (score_authors(graph.heat, partly, seeds), score_corrected(graph, partly, seeds)):
        assert all(0 <= score.value <= 4 for score in scores)
    assert {s.rule: s.value for s in score_authors(graph.heat, partly, seeds) if s.measure == ALL} != {
        s.rule: s.value for s in score_authors(graph.heat, labels, seeds) if s.measure == ALL
    }


def test_f1_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        truth, predicted = rng.integers(0, rng.integers(1, 6), (2, 30))
        assert macro_f1(truth, predicted) == pytest.approx(f1_score(truth, predicted, average="macro"))
        assert class_f1(truth == 0, predicted == 0) == pytest.approx(
            f1_score(truth == 0, predicted == 0, zero_division=0)
        )
    assert class_f1(np.zeros(3, dtype=bool), np.zeros(3, dtype=bool)) == 0


def test_problem_has_what_it_claims() -> None:
    graph, labels, seeds = problem(0)
    codes = np.unique(labels[seeds], return_inverse=True)[1]
    heat = Problem(graph, seeds, codes).graph.heat
    assert (np.diff(heat.indptr) == 0).sum() >= 3
