"""Seeds with sets of labels: several labels each, or none."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from isotherm.arrays import Ints
from isotherm.graphs import Graph
from isotherm.seeds.advice import warn_about_minus_one
from isotherm.seeds.encoding import Labels, encode_labels
from isotherm.seeds.known import Seeds
from isotherm.seeds.series import index_of_nodes
from isotherm.seeds.soft import seed_weights

__all__ = ["has_label_sets", "label_sets"]


def has_label_sets(labels: Any) -> bool:
    """Whether these labels are sets, to be read by `label_sets`, rather than one label for each node."""
    if isinstance(labels, Mapping):
        return any(isinstance(each, Set | list | tuple) for each in labels.values())
    return issparse(labels) or (getattr(labels, "ndim", 1) == 2 and labels.shape[1] > 1)


def label_sets(labels: Any, graph: Graph, weight: Any = None, *, known: Labels | None = None) -> Seeds:
    """Read seeds with several labels each.

    Parameters
    ----------
    labels
        ``{node: {label, ...}}``, where an empty set means that the node is known to have no label; or an indicator
        matrix of shape (n, L), sparse or dense, where an empty row means that the node is unknown.
    graph
        The graph of these nodes.
    weight
        How far the seeds are trusted, see `isotherm.seeds.soft`.
    known
        Labels to include among the classes, even if no node of a mapping has them.

    Examples
    --------
    >>> seeds = label_sets({"a": {"red", "round"}, "b": set()}, Graph.from_edges(["a", "b"], ["b", "c"]))
    >>> seeds.classes, seeds.values()
    (array(['red', 'round'], dtype=object), array([[1., 1.],
           [0., 0.]]))
    """
    if isinstance(labels, Mapping):
        nodes, table, classes = _of_mapping(labels, graph, () if known is None else known.tolist())
    else:
        nodes, table, classes = _of_matrix(labels, graph)
    first = np.where(table.sum(axis=1) > 0, table.argmax(axis=1), -1) if table.shape[1] else np.full(len(nodes), -1)
    seeds = Seeds(nodes, first, classes, table, several=True).take(np.argsort(nodes))
    if weight is not None and len(nodes):
        weights = seed_weights(weight, seeds.nodes, graph)
        seeds = replace(seeds, weights=None if np.isinf(weights).all() else weights).take(weights > 0)
    if not seeds.indicator.nnz:
        raise ValueError("no seed has a label: give at least one node a label")
    return seeds


def _of_mapping(labels: Mapping[Any, Any], graph: Graph, more: Iterable[Any]) -> tuple[Ints, csr_array, Labels]:
    given = {node: each for node, each in labels.items() if each is not None}
    sets = [set(each) if isinstance(each, Set | list | tuple) else {each} for each in given.values()]
    rows = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    warn_about_minus_one(label for each in sets for label in each)
    codes, classes = encode_labels([*(label for each in sets for label in each), *more])
    codes = codes[: len(rows)]
    rows = rows[codes >= 0]
    ones = np.ones(len(rows))
    return graph.index(list(given)), csr_array((ones, (rows, codes[codes >= 0])), (len(sets), len(classes))), classes


def _of_matrix(labels: Any, graph: Graph) -> tuple[Ints, csr_array, Labels]:
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
