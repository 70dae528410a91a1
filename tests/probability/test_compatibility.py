"""Compatibilities: path counts against enumeration, and planted ones against the true matrix."""

from itertools import product
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import triu

import isotherm as iso
from isotherm.equilibrium.options import SolveOptions
from isotherm.probability.evidence import Evidence
from isotherm.probability.experts.compatibility import FEW, LONGEST, Compatibility, estimated
from isotherm.probability.experts.expert import Knowledge, Question
from isotherm.seeds import Seeds, as_seeds


def expert(graph: iso.Graph, seeds: Seeds) -> Compatibility:
    return Compatibility(Knowledge(Evidence(), graph, seeds, SolveOptions()))


def walks(graph: nx.Graph, start: int, length: int) -> list[list[int]]:
    """All walks from a node that never go straight back."""
    found = [[start]]
    for _ in range(length):
        found = [[*walk, end] for walk in found for end in graph[walk[-1]] if len(walk) < 2 or end != walk[-2]]
    return found


def test_paths_are_those_that_enumeration_finds() -> None:
    graph = nx.gnp_random_graph(14, 0.3, seed=2)
    labels = {0: 0, 3: 1, 5: 0, 8: 1, 11: 2, 13: 2}
    seeds = as_seeds(labels, iso.Graph.from_networkx(graph))
    found = expert(iso.Graph.from_networkx(graph), seeds).ratios(seeds)
    for length, ratios in enumerate(found, start=1):
        counts, pairs = np.zeros((3, 3)), np.zeros((3, 3))
        for one, other in product(labels, repeat=2):
            if one != other:
                ends = [walk[-1] for walk in walks(graph, one, length)]
                counts[labels[one], labels[other]] += ends.count(other)
                pairs[labels[one], labels[other]] += graph.degree[one] * graph.degree[other]
        np.testing.assert_allclose(ratios, counts / (pairs * counts.sum() / pairs.sum()), rtol=1e-5)
    assert length == LONGEST


@pytest.mark.parametrize("signs", [(0.7, 0.4), (-0.7, 0.4), (-0.6, -0.3)])
def test_exact_powers_give_their_matrix_back(signs: tuple[float, float]) -> None:
    shares = np.array([0.5, 0.3, 0.2])
    root = np.sqrt(shares)
    axes = np.linalg.svd(root[:, None])[0][:, 1:]
    true = (axes * signs) @ axes.T
    ratios = [1 + np.linalg.matrix_power(true, length) / np.outer(root, root) for length in range(1, LONGEST + 1)]
    np.testing.assert_allclose(estimated(ratios, shares), true, atol=1e-6)
    for each in ratios:
        each[0, 0] = np.nan  # a class without a pair of seeds
    np.testing.assert_allclose(estimated(ratios, shares), true, atol=1e-3)


def planted(n: int, degree: int, seed: int) -> tuple[iso.Graph, NDArray[np.int64], NDArray[np.float64]]:
    """Classes 0 and 1 are neighbours of each other, and class 2 of itself."""
    matrix = np.array([[1, 8, 1], [8, 1, 1], [1, 1, 8]]) / 10
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    source = rng.integers(0, n, n * degree // 2)
    ends = (rng.random(len(source))[:, None] > np.cumsum(matrix[truth[source]], axis=1)).sum(axis=1)
    target = 3 * rng.integers(0, n // 3, len(source)) + ends
    return iso.Graph.from_edges(source, target, nodes=np.arange(n)), truth, matrix - 1 / 3


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.CalibrationWarning")
def test_planted_compatibilities_are_found_from_one_seed_in_a_thousand() -> None:
    """With twelve seeds, labels are within two points of those by the true matrix, and far above those by heat."""
    graph, truth, matrix = planted(9_999, 20, 0)
    nodes = np.random.default_rng(1).permutation(3_333)[:4]
    labels = {int(3 * node + code): code for node in nodes for code in range(3)}
    seeds = as_seeds(labels, graph)
    beliefs = expert(graph, seeds)
    question = Question(seeds, np.arange(len(seeds.nodes)), np.empty(0, np.int32))
    found = (beliefs.logits(question).argmax(axis=1) == truth).mean()
    assert found > (beliefs.beliefs(seeds, matrix).argmax(axis=1) == truth).mean() - 0.02
    assert found > 0.8
    assert (iso.DirichletClassifier().fit(graph, labels).labels_ == truth).mean() < 0.6


def test_hidden_seeds_are_answered_as_if_they_were_no_seeds() -> None:
    graph, truth, _ = planted(600, 10, 3)
    labels = {node: int(truth[node]) for node in range(0, 600, 7)}
    assert len(labels) <= FEW
    seeds = as_seeds(labels, graph)
    hidden, visible = np.arange(0, len(labels), 3), np.setdiff1d(np.arange(len(labels)), np.arange(0, len(labels), 3))
    some = expert(graph, seeds).logits(Question(seeds, visible, np.empty(0, np.int32), hidden))
    fewer = seeds.take(visible)
    alone = expert(graph, fewer).logits(Question(fewer, np.arange(len(visible)), np.empty(0, np.int32)))
    np.testing.assert_allclose(some, alone[seeds.nodes[hidden]], rtol=1e-5)


def test_neither_the_numbering_of_nodes_nor_of_classes_matters() -> None:
    graph, truth, _ = planted(600, 10, 3)
    order = np.random.default_rng(0).permutation(600)
    edges = triu(graph.adjacency).tocoo()
    shuffled = iso.Graph.from_edges(order[edges.row], order[edges.col], edges.data, nodes=np.arange(600))
    labels = {node: int(truth[node]) for node in range(0, 600, 7)}
    renamed = {int(order[node]): (label + 1) % 3 for node, label in labels.items()}
    found = []
    for network, known in ((graph, labels), (shuffled, renamed)):
        seeds = as_seeds(known, network)
        question = Question(seeds, np.arange(len(seeds.nodes)), np.empty(0, np.int32))
        found.append(expert(network, seeds).logits(question))
    np.testing.assert_allclose(found[1][order][:, [1, 2, 0]], found[0], atol=1e-3)


@pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.CalibrationWarning")
def test_a_fit_takes_it_on_request_and_keeps_it(tmp_path: Path) -> None:
    graph, truth, _ = planted(3_000, 14, 5)
    labels = {node: int(truth[node]) for node in range(0, 3_000, 50)}
    plain = iso.NodeClassifier().fit(graph, labels)
    clf = iso.NodeClassifier().fit(graph, labels, evidence="compatibility")
    assert "compatibility" not in plain.experts_
    assert clf.experts_["compatibility"] > 0
    assert (clf.labels_ == truth).mean() > (plain.labels_ == truth).mean() + 0.05
    clf.save(tmp_path / "model.npz")
    again = iso.load(tmp_path / "model.npz").update(add={7: int(truth[7])})
    clf.update(add={7: int(truth[7])})
    np.testing.assert_allclose(again.predict_proba(), clf.predict_proba(), atol=1e-6)
