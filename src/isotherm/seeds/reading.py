"""Labels of all kinds, read into `Seeds`: certain labels, distributions, sets of labels, weights of trust.

*Distributions.* The label of a seed may be ``{label: probability}``. These probabilities are its temperatures.

*Sets.* A seed may have several labels, or none: its temperature is 1 for each label in its set. Sets are given as
``{node: {label, ...}}``, where an empty set means that the node is known to have no label, or as an indicator matrix of
shape (n, L), sparse or dense, where an empty row means that the node is unknown.

*Weights of trust.* A seed of weight ``w`` counts ``w`` times as much as all its neighbours together: a random walk that
arrives at the seed ends there with probability ``w / (1 + w)``. An infinite weight means that the seed is held at its
temperatures, as in the paper. A node of weight 0 is not a seed. The lifting of ``equilibrium/`` implements this.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from isotherm.arrays import Doubles, Ints
from isotherm.graphs import Graph
from isotherm.seeds.encoding import Labels, encode_labels, index_of_nodes, warn_about_classes, warn_about_minus_one
from isotherm.seeds.known import Seeds, check_any

LARGEST_WEIGHT = 1e15  # larger weights count as infinite: the difference is below rounding
SUM_TOLERANCE = 1e-6  # how far a sum of probabilities may be from 1


def as_seeds(labels: Any, graph: Graph, weight: Any = None) -> Seeds:
    """Seeds from labels of any kind, and weights as `seed_weights` reads them."""
    if isinstance(labels, Seeds):
        return labels
    return (label_sets if has_label_sets(labels) else soft_seeds)(labels, graph, weight)


def soft_seeds(labels: Any, graph: Graph, weight: Any = None) -> Seeds:
    """Seeds from labels as in `Seeds.from_labels`, or from ``{node: {label: probability}}``.

    >>> rod = Graph.from_edges(list("abc"), list("bcd"))
    >>> seeds = soft_seeds({"a": {"hot": 0.75, "cold": 0.25}, "d": "cold"}, rod, {"d": 2.5})
    >>> seeds.values(), seeds.weights
    (array([[0.25, 0.75],
           [1.  , 0.  ]]), array([inf, 2.5]))
    """
    spread = isinstance(labels, Mapping) and any(isinstance(label, Mapping) for label in labels.values())
    seeds = _from_distributions(labels, graph) if spread else Seeds.from_labels(labels, graph)
    if weight is None:
        return seeds
    weights = seed_weights(weight, seeds.nodes, graph)
    soft = replace(seeds, weights=None if np.isinf(weights).all() else weights)
    trusted = _without_empty_classes(soft.take(weights > 0))
    if trusted.n_classes < seeds.n_classes:
        warn_about_classes(trusted.classes, len(trusted.nodes))
    return trusted


def _from_distributions(labels: Mapping[Any, Any], graph: Graph) -> Seeds:
    entries = [
        (row, each, share)
        for row, label in enumerate(labels.values())
        for each, share in (label.items() if isinstance(label, Mapping) else [(label, 1)])
    ]
    warn_about_minus_one([label for _, label, _ in entries])
    codes, classes = encode_labels([label for _, label, _ in entries])
    places = np.array([row for row, _, _ in entries], dtype=np.int64)
    probabilities = np.array([share for _, _, share in entries], dtype=np.float64)
    known, ids = codes >= 0, list(labels)
    for row in places[known & ~(probabilities >= 0)].tolist():
        raise ValueError(f"the probabilities of the seed {ids[row]!r} must be at least 0: {labels[ids[row]]}")
    table = csr_array((probabilities[known], (places[known], codes[known])), shape=(len(ids), len(classes)))
    table.eliminate_zeros()
    total = table.sum(axis=1)
    labelled = np.array([isinstance(label, Mapping) for label in labels.values()]) | (total > 0)
    for row in np.flatnonzero(labelled & ~(np.abs(total - 1) <= SUM_TOLERANCE)).tolist():
        raise ValueError(f"the probabilities of the seed {ids[row]!r} add up to {total[row]:g}, not to 1: scale them")
    table = csr_array(table[labelled] / total[labelled, None])
    nodes = graph.index([node for node, keep in zip(ids, labelled.tolist(), strict=True) if keep])
    seeds = _without_empty_classes(Seeds(nodes, table.argmax(axis=1), classes, table).take(np.argsort(nodes)))
    warn_about_classes(seeds.classes, len(nodes))
    return seeds


def _without_empty_classes(seeds: Seeds) -> Seeds:
    """The same seeds, without classes that have no seed."""
    columns = np.flatnonzero(seeds.shares > 0) if len(seeds.nodes) else np.empty(0, np.int64)
    check_any(len(seeds.nodes))
    table = None if seeds.table is None else csr_array(seeds.table[:, columns])
    codes = np.searchsorted(columns, seeds.codes)
    return replace(seeds, codes=codes, classes=seeds.classes[columns], table=table)


def seed_weights(weight: Any, nodes: Ints, graph: Graph) -> Doubles:
    """(s,) the weights of the seeds, from weights by node id (infinite if left out), for each node, or one for all."""
    everywhere = np.full(graph.n_nodes, np.inf)
    if isinstance(weight, Mapping):
        places = graph.index(list(weight))
        for node in graph.nodes[places[~np.isin(places, nodes)]].tolist():
            raise ValueError(f"the node {node!r} has a seed_weight but no label: add a label or remove the weight")
        everywhere[places] = list(weight.values())
    elif (ids := index_of_nodes(weight, graph, "seed_weight")) is not None:
        everywhere[graph.index(ids)] = weight.to_numpy(dtype=np.float64)
    else:
        given = np.asarray(weight, dtype=np.float64)
        if given.ndim and given.shape != everywhere.shape:
            raise ValueError(
                f"seed_weight has the shape {given.shape}: give one weight for each of {len(everywhere)} nodes"
            )
        everywhere[:] = given
    weights = everywhere[nodes]
    bad = ~(weights >= 0)
    for node, value in zip(graph.nodes[nodes[bad]].tolist(), weights[bad].tolist(), strict=True):
        raise ValueError(f"the seed_weight of the node {node!r} is {value:g}: it must be at least 0")
    return np.where(weights < LARGEST_WEIGHT, weights, np.inf)


def has_label_sets(labels: Any) -> bool:
    """Whether these labels are sets, which `label_sets` reads, rather than one label for each node."""
    if isinstance(labels, Mapping):
        return any(isinstance(each, Set | list | tuple) for each in labels.values())
    return issparse(labels) or (getattr(labels, "ndim", 1) == 2 and labels.shape[1] > 1)


def label_sets(labels: Any, graph: Graph, weight: Any = None, *, known: Labels | None = None) -> Seeds:
    """Read sets of labels; the labels in ``known`` are classes even if no node of a mapping has them.

    >>> seeds = label_sets({"a": {"red", "round"}, "b": set()}, Graph.from_edges(["a", "b"], ["b", "c"]))
    >>> seeds.classes, seeds.values()
    (array(['red', 'round'], dtype=object), array([[1., 1.],
           [0., 0.]]))
    """
    if isinstance(labels, Mapping):
        nodes, table, classes = _sets_from_mapping(labels, graph, () if known is None else known.tolist())
    else:
        nodes, table, classes = _sets_from_matrix(labels, graph)
    first = np.where(table.sum(axis=1) > 0, table.argmax(axis=1), -1) if table.shape[1] else np.full(len(nodes), -1)
    seeds = Seeds(nodes, first, classes, table, several=True).take(np.argsort(nodes))
    if weight is not None and len(nodes):
        weights = seed_weights(weight, seeds.nodes, graph)
        seeds = replace(seeds, weights=None if np.isinf(weights).all() else weights).take(weights > 0)
    if not seeds.indicator.nnz:
        raise ValueError("no seed has a label: give at least one node a label")
    return seeds


def _sets_from_mapping(labels: Mapping[Any, Any], graph: Graph, more: Iterable[Any]) -> tuple[Ints, csr_array, Labels]:
    given = {node: each for node, each in labels.items() if each is not None}
    sets = [set(each) if isinstance(each, Set | list | tuple) else {each} for each in given.values()]
    rows = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    warn_about_minus_one(label for each in sets for label in each)
    codes, classes = encode_labels([*(label for each in sets for label in each), *more])
    known = codes[: len(rows)] >= 0
    places = rows[known], codes[: len(rows)][known]
    return graph.index(list(given)), csr_array((np.ones(known.sum()), places), (len(sets), len(classes))), classes


def _sets_from_matrix(labels: Any, graph: Graph) -> tuple[Ints, csr_array, Labels]:
    if not issparse(labels) and np.asarray(labels).dtype.kind not in "biuf":
        raise TypeError(
            "labels has several columns that are not all numbers: pass {node: label}, or one column whose index holds "
            'node ids, such as table.set_index("node")["label"]'
        )
    ids, table = index_of_nodes(labels, graph, "labels"), csr_array(labels)
    if ids is None and table.shape[0] not in (graph.n_nodes, graph.n_rows):
        raise ValueError(f"the labels have {table.shape[0]} rows, but the graph has {graph.n_nodes} nodes")
    table.eliminate_zeros()
    if not (table.data == 1).all():
        raise ValueError("a matrix of labels must hold only zeros and ones: for other labels pass {node: {label, ...}}")
    rows = np.flatnonzero(np.diff(table.indptr))
    nodes = rows if ids is None else graph.index([ids[row] for row in rows.tolist()])
    return nodes, csr_array(table[rows], dtype=np.float64), np.arange(table.shape[1])
