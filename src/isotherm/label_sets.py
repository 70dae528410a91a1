"""Seeds that have several labels each, or none."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from isotherm.graph import Graph
from isotherm.labels import Ints, Labels, encode_labels
from isotherm.seeds import Seeds
from isotherm.soft_seeds import seed_weights, soft_seeds

__all__ = ["LabelSets", "any_seeds", "has_label_sets", "label_sets"]


@dataclass(frozen=True, eq=False)
class LabelSets(Seeds):
    """Seeds that have any number of labels each.

    ``distribution`` is the indicator matrix, (s, L), and ``codes`` has the first label of each seed, -1 if it has none.
    """

    @property
    def indicator(self) -> csr_array:
        """(s, L) which seeds have which labels."""
        assert self.distribution is not None
        return self.distribution

    @property
    def counts(self) -> Ints:
        """(L,) number of seeds that have each label."""
        return np.bincount(self.indicator.indices, minlength=self.n_classes)

    def names(self, places: Ints) -> NDArray[Any]:
        """The labels of some seeds, a tuple for each."""
        table, names = self.indicator[places], self.classes.tolist()
        found = np.empty(len(places), dtype=object)
        found[:] = [
            tuple(names[code] for code in np.sort(table.indices[first:last]))
            for first, last in zip(table.indptr[:-1], table.indptr[1:], strict=True)
        ]
        return found


def any_seeds(labels: Any, graph: Graph, weight: Any = None) -> Seeds:
    """Seeds of any kind: by `label_sets`, or else by `isotherm.soft_seeds.soft_seeds`."""
    return (label_sets if has_label_sets(labels) else soft_seeds)(labels, graph, weight)


def has_label_sets(labels: Any) -> bool:
    """Whether these are labels for `label_sets`, rather than one label for each node."""
    if isinstance(labels, Mapping):
        return any(isinstance(each, Set | list | tuple) for each in labels.values())
    return issparse(labels) or (getattr(labels, "ndim", 1) == 2 and labels.shape[1] > 1)


def label_sets(labels: Any, graph: Graph, weight: Any = None, *, known: Labels | None = None) -> LabelSets:
    """Read seeds with several labels each.

    Parameters
    ----------
    labels
        ``{node: {label, ...}}``, in which a node with an empty set is known to have none; or an indicator matrix of
        shape (n, L), sparse or dense, in which a row without entries is that of an unknown node.
    graph
        The graph of these nodes.
    weight
        How far the seeds are trusted, see `isotherm.soft_seeds`.
    known
        Labels that there are, even if no node of a mapping has them.

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
    seeds = LabelSets(nodes, first, classes, table).take(np.argsort(nodes))
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
    codes, classes = encode_labels([*(label for each in sets for label in each), *more])
    codes = codes[: len(rows)]
    rows = rows[codes >= 0]
    ones = np.ones(len(rows))
    return graph.index(list(given)), csr_array((ones, (rows, codes[codes >= 0])), (len(sets), len(classes))), classes


def _of_matrix(labels: Any, graph: Graph) -> tuple[Ints, csr_array, Labels]:
    table = csr_array(labels)
    if table.shape[0] not in (graph.n_nodes, graph.n_rows):
        raise ValueError(f"the labels have {table.shape[0]} rows, but the graph has {graph.n_nodes} nodes")
    table.eliminate_zeros()
    if not (table.data == 1).all():
        raise ValueError("a matrix of labels holds ones where a node has a label: give labels of another kind by node")
    nodes = np.flatnonzero(np.diff(table.indptr))
    return nodes, csr_array(table[nodes], dtype=np.float64), np.arange(table.shape[1])
