"""A change of the seeds, and what it makes of the temperatures: where to begin from, to be there soon."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from isotherm.graph import Graph
from isotherm.label_sets import LabelSets, label_sets
from isotherm.labels import Ints
from isotherm.seeds import Seeds
from isotherm.soft_seeds import soft_seeds
from isotherm.solvers.base import Floats

__all__ = ["changed_seeds", "warm_start"]


def changed_seeds(seeds: Seeds, add: Mapping[Any, Any], remove: Iterable[Any], graph: Graph) -> Seeds:
    """The seeds without some and with others; a node that is a seed already takes its new label, or set of labels.

    A class without seeds is dropped. Where seeds have sets of labels, all labels stay, so that columns do.

    Raises
    ------
    ValueError
        If a node is to be removed that is no seed, or is to be added too, or as in `soft_seeds`.
    TypeError
        If ``add`` is no mapping, ``remove`` is a single text, or as in `soft_seeds`.
    """
    if not isinstance(add, Mapping):
        raise TypeError(f"seeds to add are a mapping of nodes to labels, not {type(add).__name__}")
    added, gone = graph.index(list(add)), _removed(seeds, remove, graph)
    for node in graph.nodes[np.intersect1d(added, gone)].tolist():
        raise ValueError(f"the node {node!r} is both added and removed: decide on one")
    kept = seeds.take(~np.isin(seeds.nodes, np.concatenate([added, gone])))
    ids = graph.nodes[kept.nodes].tolist()
    weights = None if kept.weights is None else dict(zip(ids, kept.weights.tolist(), strict=True))
    if isinstance(kept, LabelSets):
        sets = dict(zip(ids, kept.names(np.arange(len(ids))), strict=True))
        return label_sets(sets | dict(add), graph, weights, known=kept.classes)
    return soft_seeds(dict(zip(ids, _labels(kept), strict=True)) | dict(add), graph, weights)


def _removed(seeds: Seeds, remove: Iterable[Any], graph: Graph) -> Ints:
    if isinstance(remove, (str, bytes)):
        raise TypeError(f"seeds to remove are a list of nodes, not {remove!r}: put it in brackets")
    gone = graph.index(list(remove))
    for node in graph.nodes[gone[~np.isin(gone, seeds.nodes)]].tolist():
        raise ValueError(f"the node {node!r} is no seed: it cannot be removed")
    return gone


def _labels(seeds: Seeds) -> list[Any]:
    """The label of each seed, or its distribution."""
    if seeds.distribution is None:
        return seeds.decode(seeds.codes).tolist()
    table = seeds.distribution
    rows = (slice(*table.indptr[row : row + 2]) for row in range(len(seeds.nodes)))
    return [dict(zip(seeds.classes[table.indices[r]].tolist(), table.data[r].tolist(), strict=True)) for r in rows]


def warm_start(temperatures: Floats, before: Seeds, after: Seeds) -> Floats:
    """Temperatures for the classes after a change, shape (n, K), whose rows sum to one.

    What a class that is no more had is shared out in proportion. A new class begins at 0. A node that was unreached
    begins at the shares of the classes among the seeds. Of sets of labels, each stands for itself, and a new one begins
    at its share.
    """
    if np.array_equal(before.classes, after.classes):
        start = temperatures.copy()
        start[np.isnan(start[:, 0])] = after.shares
        return start
    start = np.zeros((len(temperatures), after.n_classes), temperatures.dtype)
    place = {label: column for column, label in enumerate(before.classes.tolist())}
    for column, label in enumerate(after.classes.tolist()):
        if label in place:
            start[:, column] = temperatures[:, place[label]]
        elif isinstance(after, LabelSets):
            start[:, column] = after.shares[column]
    if isinstance(after, LabelSets):
        return np.where(np.isnan(start), after.shares, start)
    total = start.sum(axis=1)
    empty = ~(total > 0)
    start[empty], total[empty] = after.shares, 1
    return start / total[:, None]
