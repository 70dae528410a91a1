"""Methods of other packages: scikit-network, GraphLearning, and label propagation of PyTorch Geometric.

They get edges without direction and classes numbered from 0 to k-1. scikit-network is asked with its own defaults, and
so is GraphLearning. The latter gives NaN where a part of the graph has no seed, so it gets the nodes that are reached;
Poisson learning also fails where parts are not connected, so it gets each connected part that has seeds of two classes,
and where all seeds of a part are of one class, that is its answer.
"""

import contextlib
import io

import numpy as np

from isotherm.arrays import Doubles, Ints
from isotherm.study.comparison.scores import Answer, answer
from isotherm.study.comparison.tasks import Draw, Task

__all__ = ["graph_learning", "network_classifier", "torch_propagation"]

PROPAGATION_LAYERS, PROPAGATION_ALPHA = 50, 0.9


def network_classifier(task: Task, draw: Draw, name: str) -> Answer:
    """A classifier of scikit-network."""
    import sknetwork.classification as theirs

    classes, codes = _numbered(draw)
    model = getattr(theirs, name)().fit(task.matrix, codes)
    labels = np.asarray(model.labels_)
    found = np.where(labels >= 0, classes[np.maximum(labels, 0)], -1)
    return Answer(found, np.asarray(model.predict_proba().max(axis=1)).ravel())


def graph_learning(task: Task, draw: Draw, name: str) -> Answer:
    """Laplace learning, Poisson learning or random walks of GraphLearning."""
    classes, codes = _numbered(draw)
    values = np.full((len(codes), len(classes)), -np.inf)
    if name != "poisson":
        _learn(task, name, np.flatnonzero(draw.reached), codes, values)
    else:
        for part in _parts(task, draw):
            _learn(task, name, part, codes, values)
    return answer(classes, values, proper=False)


def torch_propagation(task: Task, draw: Draw) -> Answer:
    """Label propagation of PyTorch Geometric."""
    import torch
    from torch_geometric.nn import LabelPropagation

    classes, codes = _numbered(draw)
    edges = task.matrix.tocoo()
    ends = torch.from_numpy(np.stack([edges.row, edges.col]).astype(np.int64))
    model = LabelPropagation(num_layers=PROPAGATION_LAYERS, alpha=PROPAGATION_ALPHA)
    mask, labels = torch.from_numpy(codes >= 0), torch.from_numpy(np.maximum(codes, 0))
    found = model(labels, ends, mask=mask, edge_weight=torch.from_numpy(edges.data.astype(np.float32)))
    values = found.numpy().astype(np.float64)[:, : len(classes)]
    return answer(classes, values, proper=False)


def _numbered(draw: Draw) -> tuple[Ints, Ints]:
    """The classes of the seeds, and (n,) the seeds' places among them, -1 elsewhere."""
    classes, places = np.unique(draw.known[draw.seeds], return_inverse=True)
    codes = np.full(len(draw.known), -1, dtype=np.int64)
    codes[draw.seeds] = places
    return classes, codes


def _parts(task: Task, draw: Draw) -> list[Ints]:
    """The nodes of each connected part that has a seed."""
    nodes = np.flatnonzero(draw.reached)
    nodes = nodes[np.argsort(task.components[nodes], kind="stable")]
    return np.split(nodes, np.flatnonzero(np.diff(task.components[nodes])) + 1)


def _learn(task: Task, name: str, nodes: Ints, codes: Ints, values: Doubles) -> None:
    """Set the values (n, k) of these nodes."""
    import graphlearning

    inside = codes[nodes]
    seeds = np.flatnonzero(inside >= 0)
    present, places = np.unique(inside[seeds], return_inverse=True)
    if len(present) == 1:
        values[nodes, present[0]] = 1
        return
    model = getattr(graphlearning.ssl, name)(task.matrix[nodes][:, nodes])
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        found = model.fit(seeds, places)
    values[np.ix_(nodes, present)] = found
