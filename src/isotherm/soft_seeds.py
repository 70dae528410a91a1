"""Soft seeds: labels that are not certain.

*A distribution.* A seed whose label is ``{label: probability}`` has these probabilities as its temperatures.

*A weight of trust.* A seed of weight ``w`` is not held at its temperatures. It is joined to a ground that is, by an
edge of ``w`` times the degree of the seed: it is as warm as its neighbours on average, the ground counting ``w`` times
as much as all others together. A random walk that comes to the seed ends there with probability ``w / (1 + w)``. With
an infinite weight that is certain: the seed itself is held, as in the paper. With weight 0 it is no seed.

The grounds are further nodes of the graph. So a problem with soft seeds is a Dirichlet problem like any other.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.csr import Csr, check_size
from isotherm.graph import Graph
from isotherm.labels import Ints, encode_labels
from isotherm.seeds import Floats, Seeds, check_classes

__all__ = ["ground", "seed_weights", "soft_seeds"]

MOST = 1e15  # a larger weight is no different from an infinite one, up to rounding
TOTAL = 1e-6  # by how much a sum of probabilities may miss 1


def soft_seeds(labels: Any, graph: Graph, weight: Any = None) -> Seeds:
    """Read seeds of which some may be soft.

    Parameters
    ----------
    labels
        As in `Seeds.from_labels`; in a mapping a label may also be a distribution, ``{node: {label: probability}}``.
    graph
        The graph of these nodes.
    weight
        ``{node: weight}`` (the others are held), or a weight for each node of the graph, or one for all seeds; None for
        an infinite one. A seed of weight 0 is none.

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
    return _without_classes(replace(seeds, weights=None if np.isinf(weights).all() else weights).take(weights > 0))


def _of_distributions(labels: Mapping[Any, Any], graph: Graph) -> Seeds:
    entries = [
        (row, each, share)
        for row, label in enumerate(labels.values())
        for each, share in (label.items() if isinstance(label, Mapping) else [(label, 1)])
    ]
    codes, classes = encode_labels([label for _, label, _ in entries])
    places = np.array([row for row, _, _ in entries], dtype=np.int64)
    probabilities = np.array([share for _, _, share in entries], dtype=np.float64)
    known, ids = codes >= 0, list(labels)
    for row in places[known & ~(probabilities >= 0)].tolist():
        raise ValueError(f"a probability of the seed {ids[row]!r} is not 0 or more: {labels[ids[row]]}")
    table = csr_array((probabilities[known], (places[known], codes[known])), shape=(len(ids), len(classes)))
    table.eliminate_zeros()
    total = table.sum(axis=1)
    told = np.array([isinstance(label, Mapping) for label in labels.values()]) | (total > 0)
    for row in np.flatnonzero(told & ~(np.abs(total - 1) <= TOTAL)).tolist():
        raise ValueError(f"the probabilities of the seed {ids[row]!r} add up to {total[row]:g}, not to 1: scale them")
    table = csr_array(table[told] / total[told, None])
    nodes = graph.index([node for node, keep in zip(ids, told.tolist(), strict=True) if keep])
    seeds = Seeds(nodes, table.argmax(axis=1), classes, table).take(np.argsort(nodes))
    return _without_classes(seeds)


def _without_classes(seeds: Seeds) -> Seeds:
    """The seeds without the classes that none of them has."""
    columns = np.flatnonzero(seeds.shares > 0) if len(seeds.nodes) else np.empty(0, np.int64)
    check_classes(seeds.classes[columns], len(seeds.nodes))
    distribution = None if seeds.distribution is None else csr_array(seeds.distribution[:, columns])
    codes = np.searchsorted(columns, seeds.codes)
    return replace(seeds, codes=codes, classes=seeds.classes[columns], distribution=distribution)


def seed_weights(weight: Any, nodes: Ints, graph: Graph) -> Floats:
    """(s,) the weights of the seeds; infinite where so large that it makes no difference."""
    everywhere = np.full(graph.n_nodes, np.inf)
    if isinstance(weight, Mapping):
        places = graph.index(list(weight))
        for node in graph.nodes[places[~np.isin(places, nodes)]].tolist():
            raise ValueError(f"the node {node!r} has a seed_weight but no label: give it one, or neither")
        everywhere[places] = list(weight.values())
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
        raise ValueError(f"the seed_weight of the node {node!r} is {value:g}: give 0 or more, up to infinity")
    return np.where(weights < MOST, weights, np.inf)


def ground(
    graph: Graph, nodes: NDArray[np.int64], weights: NDArray[np.float64] | None, side: str
) -> tuple[Graph, NDArray[np.int64]]:
    """The graph with a ground for each soft seed, after its own nodes, and where each seed is held.

    Parameters
    ----------
    graph
        The graph.
    nodes
        (s,) positions of the seeds, ascending.
    weights
        (s,) positive weights of the seeds, infinite where the seed itself is held; None if all are.
    side
        For a directed graph "both" or "source", as in `isotherm.dirichlet.solve_graph`.

    Examples
    --------
    >>> pair = Graph.from_edges(["a"], ["b"], [3.0])
    >>> graph, held = ground(pair, np.array([0, 1]), np.array([np.inf, 2]), "both")
    >>> held
    array([0, 2])
    >>> print(graph.adjacency.toarray())
    [[0. 3. 0.]
     [3. 0. 6.]
     [0. 6. 0.]]
    """
    if weights is None:
        return graph, nodes
    soft = np.flatnonzero(np.isfinite(weights))
    n, at = graph.n_nodes, nodes[soft]
    check_size(n + len(soft), graph.directed)
    grounds = np.arange(n, n + len(soft))
    out, back = _conductances(graph, at, weights[soft], side)
    ends = grounds if graph.directed and side == "source" else at
    held = nodes.copy()
    held[soft] = grounds
    return Graph(_extended(graph.csr, at, out, ends, back), np.arange(n + len(soft)), graph.directed), held


def _conductances(
    graph: Graph, at: NDArray[np.int64], weights: NDArray[np.float64], side: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of the edge from each seed to its ground, and of the edge back.

    As a source, a node of a directed graph is joined to the destination copy of the ground, and the other way round. If
    only sources are held, the ground is held as a source, and joined to its own copy: two edges in a row, each of twice
    the conductance. A seed without edges has those of degree one, for it is as warm as its ground.
    """
    if not graph.directed:
        degree = graph.degrees[at]
        one_way = weights * np.where(degree > 0, degree, 1)
        return one_way, one_way
    leaving, arriving = (
        np.bincount(ends, graph.csr.weights, minlength=graph.n_nodes)[at].astype(np.float64)
        for ends in (graph.csr.rows, graph.csr.indices)
    )
    if side == "source":
        one_way = 2 * weights * np.where(leaving > 0, leaving, 1)
        return one_way, one_way
    alone = leaving + arriving == 0
    return weights * np.where(alone, 1, leaving), weights * np.where(alone, 1, arriving)


def _extended(
    csr: Csr, at: NDArray[np.int64], out: NDArray[np.float64], ends: NDArray[np.int64], back: NDArray[np.float64]
) -> Csr:
    """The matrix with one more row and column for each seed: from the seed to it, and from it to an end."""
    n, goes, returns = csr.n, out > 0, back > 0
    grounds = np.arange(n, n + len(at))
    places = csr.indptr[at[goes] + 1]  # the ends of rows, where the largest index belongs
    weights = np.ones(csr.entries) if csr.weights is None else csr.weights
    counts = np.concatenate([np.diff(csr.indptr), returns])
    counts[at[goes]] += 1
    return Csr(
        np.concatenate([[0], np.cumsum(counts)]).astype(csr.indptr.dtype),
        np.concatenate([np.insert(csr.indices, places, grounds[goes]), ends[returns]]).astype(csr.indices.dtype),
        np.concatenate([np.insert(weights, places, out[goes]), back[returns]]).astype(weights.dtype),
    )
