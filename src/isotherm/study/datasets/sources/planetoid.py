"""The Planetoid files of Cora, CiteSeer and PubMed: Python 2 pickles, read without executing them.

Z. Yang, W. Cohen and R. Salakhutdinov, "Revisiting Semi-Supervised Learning with Graph Embeddings", ICML 2016.
"""

from pathlib import Path

import numpy as np

from isotherm.graphs import Graph
from isotherm.study.datasets.base import Dataset, Nodes
from isotherm.study.datasets.pickles import load_pickle

__all__ = ["PARTS", "read_planetoid"]

PARTS = ("ally", "ty", "graph", "test.index")  # the others hold features


def read_planetoid(files: dict[str, Path], *, name: str) -> Dataset:
    """The graph and labels of the files ``ind.<name>.<part>``, given by part.

    Nodes without a label are dropped, then those without an edge: CiteSeer keeps 3264 nodes of 3327.
    """
    one_hot, test_rows, neighbours = (
        load_pickle(files[part].read_bytes(), files[part].name) for part in ("ally", "ty", "graph")
    )
    order = np.loadtxt(files["test.index"], dtype=np.int64, ndmin=1)
    labels = _labels(np.asarray(one_hot), np.asarray(test_rows), order)
    ends = np.array([(node, other) for node, others in neighbours.items() for other in others], dtype=np.int64)
    ends = np.unique(np.sort(ends.reshape(-1, 2), axis=1), axis=0)
    ends = ends[(ends[:, 0] != ends[:, 1]) & (labels[ends] >= 0).all(axis=1)]
    kept = np.unique(ends)
    place = np.cumsum(np.isin(np.arange(len(labels)), kept)) - 1
    graph = Graph.from_edges(place[ends[:, 0]], place[ends[:, 1]], nodes=np.arange(len(kept)))
    return Dataset(name, graph, labels[kept])


def _labels(one_hot: Nodes, test_rows: Nodes, order: Nodes) -> Nodes:
    """Class of each node: first the training nodes in order, then the test nodes in the given order, with gaps."""
    labels = np.full(max(len(one_hot), int(order.max(initial=-1)) + 1), -1, dtype=np.int64)
    labels[: len(one_hot)] = _classes(one_hot)
    labels[order] = _classes(test_rows)
    return labels


def _classes(one_hot: Nodes) -> Nodes:
    return np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1)
