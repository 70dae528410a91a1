"""Boosted trees: what they see against dense sums, what they say against scikit-learn, and that no order matters."""

from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.ensemble import HistGradientBoostingClassifier

import isotherm as iso
from isotherm.equilibrium.options import SolveOptions
from isotherm.paper.block_model import stochastic_block_model
from isotherm.probability.evidence import Evidence
from isotherm.probability.experts import Knowledge, Question, boosting
from isotherm.probability.experts.boosting import LEAST_SEEDS, MOST_COLUMNS, Trees, boosted_trees
from isotherm.seeds import Seeds

N, NONE = 400, np.empty(0, np.int32)


def knowledge(graph: iso.Graph, features: Any, nodes: Any, codes: Any, n_classes: int = 2) -> Knowledge:
    return Knowledge(Evidence(features), graph, Seeds(nodes, codes, np.arange(n_classes)), SolveOptions(), features)


@pytest.fixture(scope="module")
def chessboard() -> tuple[iso.Graph, Any, Any]:
    """Links tell nothing, and the class is whether two coordinates have the same sign."""
    rng = np.random.default_rng(0)
    graph = stochastic_block_model([N], 0.02, 0.0, rng=rng)
    features = rng.uniform(-1, 1, (N, 2))
    return graph, features, (features.prod(axis=1) > 0).astype(np.int64)


def test_a_chessboard_which_no_line_divides(chessboard: Any) -> None:
    graph, features, truth = chessboard
    known = np.where(np.arange(N) % 2 == 0, truth, -1)
    clf = iso.NodeClassifier().fit(graph, known, features=features)
    hidden = known < 0
    assert np.mean(clf.labels_[hidden] == truth[hidden]) > 0.9
    assert clf.experts_["trees"] > max(weight for name, weight in clf.experts_.items() if name != "trees")


def test_the_shares_of_classes_leave_out_the_node_itself(chessboard: Any) -> None:
    graph, features, truth = chessboard
    nodes = np.arange(0, N, 3)
    expert = Trees(knowledge(graph, features, nodes, truth[nodes]))
    A, Y = graph.adjacency.toarray(), np.zeros((N, 2))
    Y[nodes, truth[nodes]] = 1
    twice = A @ A
    np.fill_diagonal(twice, 0)
    pseudo = Y.sum(axis=0) / len(nodes)
    wanted = [(counts @ Y + pseudo) / (counts @ Y.sum(axis=1) + 1)[:, None] for counts in (A, twice)]
    np.testing.assert_allclose(expert.class_shares(nodes, truth[nodes], 2), np.hstack(wanted), atol=1e-6)


def test_they_are_those_of_scikit_learn(chessboard: Any) -> None:
    graph, features, truth = chessboard
    nodes = np.arange(0, N, 2)
    seeds = knowledge(graph, features, nodes, truth[nodes])
    expert, visible = Trees(seeds), np.arange(10, 200)
    found = expert.logits(Question(seeds.seeds, visible, NONE))
    columns = np.hstack([expert.columns, expert.class_shares(nodes[visible], truth[nodes[visible]], 2)])
    # The order of the rows decides between splits that are equally good.
    theirs = HistGradientBoostingClassifier(max_leaf_nodes=15, learning_rate=0.05, early_stopping=False)
    theirs.fit(columns[nodes[visible]], truth[nodes[visible]])
    counts = np.bincount(truth[nodes[visible]])
    shares = theirs.predict_proba(columns) / counts * seeds.seeds.smoothed_shares
    np.testing.assert_allclose(softmax(found, axis=1), shares / shares.sum(axis=1, keepdims=True), atol=0.02)
    some = Question(seeds.seeds, visible, NONE, hidden=np.arange(10))
    np.testing.assert_array_equal(expert.logits(some), found[nodes[:10]])


def test_neither_the_numbering_of_nodes_nor_of_classes_matters() -> None:
    rng, classes = np.random.default_rng(1), 3
    graph = stochastic_block_model([N // 2, N // 2], 0.03, 0.02, rng=rng)
    features = rng.integers(0, 4, (N, 3)).astype(float)  # many rows are equal
    truth = (features.sum(axis=1) + rng.integers(0, 2, N)).astype(int) % classes
    order, renamed = rng.permutation(N), np.array([2, 0, 1])
    A = graph.adjacency.tocoo()
    weight = 1 / (1 + A.row + A.col)  # sums of these are rounded
    place = np.argsort(order)
    graphs = [
        iso.Graph.from_scipy(type(A)((weight, ends), (N, N)).tocsr())
        for ends in ((A.row, A.col), place[[A.row, A.col]])
    ]
    nodes = np.sort(rng.choice(N, 250, replace=False))
    found = []
    for each, rows, known, labels in (
        (graphs[0], features, nodes, truth[nodes]),
        (graphs[1], features[order], np.sort(place[nodes]), renamed[truth[order][np.sort(place[nodes])]]),
    ):
        seeds = knowledge(each, rows, known, labels, classes)
        found.append(Trees(seeds).logits(Question(seeds.seeds, np.arange(len(known)), NONE)))
    np.testing.assert_allclose(found[1][place][:, renamed], found[0], atol=1e-6)


def test_a_class_without_a_seed_is_impossible(chessboard: Any) -> None:
    graph, features, truth = chessboard
    nodes = np.arange(200)
    seeds = knowledge(graph, features, nodes, truth[nodes], 3)
    chances = softmax(Trees(seeds).logits(Question(seeds.seeds, nodes, NONE)), axis=1)
    assert (chances[:, 2] == 0).all()
    assert (chances[:, :2] > 0).all()
    one = Trees(seeds).logits(Question(seeds.seeds, np.flatnonzero(truth[:200] == 1), NONE))
    np.testing.assert_array_equal(softmax(one, axis=1), np.tile([0.0, 1.0, 0.0], (N, 1)))


def test_they_are_for_tables_of_attributes_and_many_seeds(chessboard: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, features, truth = chessboard
    nodes = np.arange(LEAST_SEEDS)
    wide = np.random.default_rng(2).random((N, MOST_COLUMNS + 1))
    assert boosted_trees(knowledge(graph, features, nodes, truth[nodes])) is not None
    assert boosted_trees(knowledge(graph, features, nodes[1:], truth[nodes[1:]])) is None
    assert boosted_trees(knowledge(graph, wide, nodes, truth[nodes])) is None
    assert boosted_trees(knowledge(graph, wide[:, 1:], nodes, truth[nodes] + 40, 60)) is None  # would take long
    assert boosted_trees(knowledge(graph, features, nodes, truth[nodes] + 3, 5)) is None  # so would many small trees
    # the columns are two features, three times, the degree and the shares of two classes, twice
    monkeypatch.setattr(boosting, "MOST_NUMBERS", N * 11 - 1)
    assert boosted_trees(knowledge(graph, features, nodes, truth[nodes])) is None
