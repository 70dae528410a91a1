"""Soft seeds: labels that are not certain.

*Distributions.* The label of a seed may be ``{label: probability}``. These probabilities are its temperatures.

*Weights of trust.* A seed of weight ``w`` counts ``w`` times as much as all its neighbours together: a random walk that
arrives at the seed ends there with probability ``w / (1 + w)``. An infinite weight means that the seed is held at its
temperatures, as in the paper. A node of weight 0 is not a seed. `isotherm.equilibrium.lifting` implements this.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Ints
from isotherm.graphs import Graph
from isotherm.seeds.advice import warn_about_classes, warn_about_minus_one
from isotherm.seeds.encoding import encode_labels
from isotherm.seeds.known import Seeds, check_any
from isotherm.seeds.series import index_of_nodes

__all__ = ["seed_weights", "soft_seeds"]

LARGEST_WEIGHT = 1e15  # larger weights count as infinite: the difference is below rounding
SUM_TOLERANCE = 1e-6  # how far a sum of probabilities may be from 1


def soft_seeds(labels: Any, graph: Graph, weight: Any = None) -> Seeds:
    """Read seeds, some of which may be soft.

    Parameters
    ----------
    labels
        As in `Seeds.from_labels`; in a mapping a label may also be a distribution, ``{node: {label: probability}}``.
    graph
        The graph of these nodes.
    weight
        ``{node: weight}`` or a pandas Series with node ids as its index (seeds that are not named have infinite
        weight), an array with a weight for each node of the graph, or one weight for all seeds. None means infinite. A
        node of weight 0 is not a seed.

    Raises
    ------
    ValueError
        As in `Seeds.from_labels`, and if probabilities are negative or do not add up to 1, or a weight is negative.

    Examples
    --------
    >>> rod = Graph.from_edges(list("abc"), list("bcd"))
    >>> seeds = soft_seeds({"a": {"hot": 0.75, "cold": 0.25}, "d": "cold"}, rod, {"d": 2.5})
    >>> seeds.values(), seeds.weights
    (array([[0.25, 0.75],
           [1.  , 0.  ]]), array([inf, 2.5]))
    """
    spread = isinstance(labels, Mapping) and any(isinstance(label, Mapping) for label in labels.values())
    seeds = _of_distributions(labels, graph) if spread else Seeds.from_labels(labels, graph)
    if weight is None:
        return seeds
    weights = seed_weights(weight, seeds.nodes, graph)
    soft = replace(seeds, weights=None if np.isinf(weights).all() else weights)
    trusted = _without_empty_classes(soft.take(weights > 0))
    if trusted.n_classes < seeds.n_classes:
        warn_about_classes(trusted.classes, len(trusted.nodes))
    return trusted


def _of_distributions(labels: Mapping[Any, Any], graph: Graph) -> Seeds:
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
    """The same seeds, without the classes that no seed has."""
    columns = np.flatnonzero(seeds.shares > 0) if len(seeds.nodes) else np.empty(0, np.int64)
    check_any(len(seeds.nodes))
    table = None if seeds.table is None else csr_array(seeds.table[:, columns])
    codes = np.searchsorted(columns, seeds.codes)
    return replace(seeds, codes=codes, classes=seeds.classes[columns], table=table)


def seed_weights(weight: Any, nodes: Ints, graph: Graph) -> Doubles:
    """(s,) the weights of the seeds; very large ones become infinite."""
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
