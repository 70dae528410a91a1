"""Where other libraries compute the same thing, the answers are the same."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sknetwork.classification import DiffusionClassifier

import isotherm as iso
from isotherm.choices import RuleName
from isotherm.paper.block_model import stochastic_block_model

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning", "ignore::isotherm.RareClassWarning")


def clear_cut(scores: Any) -> Any:
    """Nodes whose two best scores differ by more than rounding."""
    ordered = np.sort(scores, axis=1)
    return ordered[:, -1] - ordered[:, -2] > 1e-6


def balanced_seeds(labels: Any, per_class: int, rng: np.random.Generator) -> Any:
    known = np.full(len(labels), -1)
    for label in np.unique(labels):
        chosen = rng.choice(np.flatnonzero(labels == label), per_class, replace=False)
        known[chosen] = label
    return known


class TestNetworkx:
    """``harmonic_function`` starts at 0 in all columns, where the paper starts at the mean temperature of the seeds.

    Its answer to an unreached node is the first class, where ours is no label: those nodes are left out.
    """

    @pytest.mark.parametrize("sweeps", [1, 5, 30])
    @pytest.mark.parametrize("weight", [None, "weight"])
    def test_the_same_number_of_sweeps_from_the_same_start(self, sweeps: int, weight: str | None) -> None:
        G = nx.les_miserables_graph()
        if weight is None:
            for _, _, attributes in G.edges(data=True):
                attributes["weight"] = 1
        seeds = {"Valjean": "a", "Marius": "b", "Myriel": "c", "Fantine": "a"}
        nx.set_node_attributes(G, seeds, "label")
        theirs = np.array(nx.node_classification.harmonic_function(G, max_iter=sweeps + 1))
        graph = iso.Graph.from_networkx(G)
        values = {node: np.eye(3)["abc".index(label)] for node, label in seeds.items()}
        ours = iso.solve_dirichlet(
            graph, values, solver="sweeps", tol=None, max_iter=sweeps, start=np.zeros((graph.n_nodes, 3))
        )
        clear = clear_cut(ours)
        assert clear.sum() > 3
        np.testing.assert_array_equal(np.array(list("abc"))[ours.argmax(axis=1)][clear], theirs[clear])

    def test_many_sweeps_are_equilibrium_with_the_vanilla_rule(self) -> None:
        G = nx.connected_caveman_graph(6, 8)
        seeds = {0: "a", 13: "b", 30: "c", 41: "a"}
        nx.set_node_attributes(G, seeds, "label")
        theirs = np.array(nx.node_classification.harmonic_function(G, max_iter=5000))
        clf = iso.DirichletClassifier(rule="vanilla", tol=1e-8).fit(G, seeds)
        clear = clear_cut(clf.temperatures_)
        np.testing.assert_array_equal(clf.labels_[clear], theirs[clear])


class TestScikitNetwork:
    """``DiffusionClassifier`` starts at 0.5 in all columns, the paper at the mean temperature of the seeds.

    With as many seeds in each class the two starts differ by the same constant in all columns, which changes no label.
    Its probabilities are a softmax of five times the scores, ours of the scores: they are not compared.
    """

    @pytest.mark.parametrize("sweeps", [1, 3, 10])
    @pytest.mark.parametrize("rule", ["vanilla", "centered"])
    def test_labels_after_the_same_number_of_sweeps(self, sweeps: int, rule: RuleName) -> None:
        rng = np.random.default_rng(0)
        graph = stochastic_block_model([300, 200, 100], 0.05, 0.01, rng)
        known = balanced_seeds(np.repeat([0, 1, 2], [300, 200, 100]), 5, rng)
        theirs = DiffusionClassifier(n_iter=sweeps, centering=rule == "centered").fit(
            csr_matrix(graph.adjacency), known
        )
        ours = iso.DirichletClassifier(rule=rule, solver="sweeps", tol=None, max_iter=sweeps).fit(graph, known)
        clear = clear_cut(ours.scores_)
        assert clear.mean() > 0.2  # after one sweep most nodes have heard of no seed
        np.testing.assert_array_equal(ours.labels_[clear], theirs.labels_[clear])

    @pytest.mark.parametrize("sweeps", [1, 10])
    def test_the_same_start_for_any_seeds(self, sweeps: int) -> None:
        rng = np.random.default_rng(1)
        graph = stochastic_block_model([200, 100], 0.05, 0.02, rng)
        known = np.full(300, -1)
        known[[3, 10, 50, 210]] = 0, 0, 0, 1
        theirs = DiffusionClassifier(n_iter=sweeps).fit(csr_matrix(graph.adjacency), known)
        values = {node: np.eye(2)[known[node]] for node in np.flatnonzero(known >= 0)}
        start = np.full((300, 2), 0.5)
        ours = iso.solve_dirichlet(graph, values, solver="sweeps", tol=None, max_iter=sweeps, start=start)
        scores = ours - ours.mean(axis=0)
        clear = clear_cut(scores)
        np.testing.assert_array_equal(scores.argmax(axis=1)[clear], theirs.labels_[clear])

    def test_unreached_nodes_agree(self, data_folder: Path) -> None:
        stored = np.load(data_folder / "cora.npz", allow_pickle=False)
        graph = iso.Graph.from_edges(stored["row"], stored["col"], nodes=np.arange(int(stored["n"])))
        known = balanced_seeds(stored["labels"], 4, np.random.default_rng(0))
        theirs = DiffusionClassifier(n_iter=10).fit(csr_matrix(graph.adjacency), known)
        ours = iso.DirichletClassifier(solver="sweeps", tol=None, max_iter=10).fit(graph, known)
        np.testing.assert_array_equal(ours.labels_ == -1, theirs.labels_ == -1)
        assert not ours.reached_.all()
