"""The seeds of a graph: which nodes, their classes, and the temperatures at which they are held.

`as_seeds` reads labels of all kinds into `Seeds`.

*Distributions.* The label of a seed may be ``{label: probability}``. These probabilities are its temperatures.

*Sets.* A seed may have several labels, or none: its temperature is 1 for each label in its set. Sets are given as
``{node: {label, ...}}``, where an empty set means that the node is known to have no label, or as an indicator matrix of
shape (n, L), sparse or dense, where an empty row means that the node is unknown.

*Weights of trust.* A seed of weight ``w`` counts ``w`` times as much as all its neighbours together: a random walk that
arrives at the seed ends there with probability ``w / (1 + w)``. An infinite weight means that the seed is held at its
temperatures, as in the paper. A node of weight 0 is not a seed. The lifting of ``equilibrium/`` implements this.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from isotherm.arrays import Doubles, Ints
from isotherm.errors import Option, ParameterError, first_few, warn
from isotherm.graphs import Graph
from isotherm.graphs.untrusted import checked_sparse
from isotherm.seeds.encoding import (
    Labels,
    decode_labels,
    encode_labels,
    index_of_nodes,
    warn_about_classes,
    warn_about_minus_one,
)

LARGEST_WEIGHT = 1e15  # larger weights count as infinite: the difference is below rounding
SUM_TOLERANCE = 1e-6  # how far a sum of probabilities may be from 1


class RareClassWarning(UserWarning):
    """Some classes have only one seed, while others have more."""


@dataclass(frozen=True, eq=False)
class Seeds:
    """Known labels: which nodes, and the class of each.

    The class of a seed with a distribution is the most probable one. The class of a set is its first label, or -1 if it
    is empty.
    """

    nodes: Ints  # (s,) positions in the graph, ascending
    codes: Ints  # (s,) class number of each seed
    classes: Labels  # (K,) sorted labels that have a seed
    table: csr_array | None = None  # (s, K) temperatures; None if each seed has one certain label
    weights: Doubles | None = None  # (s,) trust, see above: infinite for held seeds; None if all are held
    several: bool = False  # whether each seed has a set of labels

    @classmethod
    def from_labels(cls, labels: Mapping[Any, Any] | Iterable[Any], graph: Graph) -> "Seeds":
        """Read certain labels by node id (a mapping, or a Series with node ids as its index), or one for each node.

        For a graph made from a biadjacency matrix, there may also be one label for each row of the matrix.
        """
        ids = None if isinstance(labels, Mapping) else index_of_nodes(labels, graph, "labels")
        if isinstance(labels, Mapping):
            ids, labels = list(labels), list(labels.values())
            warn_about_minus_one(labels)
        codes, classes = encode_labels(labels)
        nodes = known = np.flatnonzero(codes >= 0)
        if ids is None:
            _check_length(len(codes), graph)
        else:
            nodes = _positions(ids, known, graph)
        check_any(len(known))
        warn_about_classes(classes, len(known), labels=labels)
        order = np.argsort(nodes)
        return cls(nodes[order], codes[known][order], classes)

    def take(self, places: NDArray[Any]) -> Self:
        """The seeds at these positions, or under this mask; all classes are kept."""
        return replace(
            self,
            nodes=self.nodes[places],
            codes=self.codes[places],
            table=None if self.table is None else self.table[places],
            weights=None if self.weights is None else self.weights[places],
        )

    def without(self, places: Ints) -> Self:
        """The seeds without those at these positions; all classes are kept."""
        return self.take(np.delete(np.arange(len(self.codes)), places))

    def others(self, n_nodes: int) -> Ints:
        """Positions of the non-seed nodes, ascending."""
        marked = np.ones(n_nodes, bool)
        marked[self.nodes] = False
        return np.flatnonzero(marked)

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self.classes)

    @property
    def counts(self) -> Ints:
        """(K,) number of seeds of each class; a seed with a distribution counts for its most probable class."""
        members = self.codes if self.table is None or not self.several else self.table.indices
        return np.bincount(members, minlength=self.n_classes)

    @property
    def trust(self) -> Doubles:
        """(s,) the probability that a random walk which arrives at the seed ends there: ``w / (1 + w)``."""
        return np.ones(len(self.nodes)) if self.weights is None else 1 / (1 + 1 / self.weights)

    @property
    def smoothed_shares(self) -> Doubles:
        """(K,) the share of each class among the seeds, smoothed by one pseudo-seed per class."""
        return (self.counts + 1) / (len(self.codes) + self.n_classes)

    @property
    def shares(self) -> Doubles:
        """(K,) the share of each class among the seeds, each seed weighted by its `trust`."""
        return self.by_class(self.trust) / self.trust.sum()

    @property
    def certainty(self) -> Doubles:
        """(s,) the probability of the most probable class of each seed."""
        return np.ones(len(self.nodes)) if self.table is None else self.table.max(axis=1).toarray()

    @property
    def held(self) -> Self:
        """The seeds of infinite weight, which are held at their temperatures."""
        return self if self.weights is None else self.take(np.isinf(self.weights))

    @property
    def indicator(self) -> csr_array:
        """(s, K) the temperatures of the seeds as a sparse matrix: ones where a seed has a certain label."""
        if self.table is not None:
            return self.table
        n = len(self.codes)
        return csr_array((np.ones(n), (np.arange(n), self.codes)), (n, self.n_classes))

    @property
    def unknown(self) -> int | None:
        """The label that means unknown: -1 for int labels, None for str and bool."""
        return -1 if self.classes.dtype.kind == "i" else None

    def values(self, columns: slice = slice(None)) -> Doubles:
        """(s, K) temperatures of the boundary, or some of the columns."""
        if self.table is not None:
            return self.table[:, columns].toarray()
        return (self.codes[:, None] == np.arange(self.n_classes)[columns]).astype(np.float64)

    def by_class(self, amounts: Doubles) -> Doubles:
        """(K,) the amounts (s,) of the seeds, summed by class; a distribution divides the amount of its seed."""
        if self.table is None:
            return np.bincount(self.codes, amounts, minlength=self.n_classes).astype(np.float64, copy=False)
        return np.asarray(amounts @ self.table)

    def numbers(self, name: str, by_label: Mapping[Any, float], missing: float) -> Doubles:
        """(K,) the numbers that a parameter of this name gives for labels.

        Raises `ParameterError` for a label that no seed has.
        """
        places = {label: place for place, label in enumerate(self.classes.tolist())}
        found = np.full(self.n_classes, missing, np.float64)
        for label, number in by_label.items():
            if label not in places:
                message = "{given} has the label {label!r}, which no seed has: use labels of seeds"
                raise ParameterError(message, given=Option(name), label=label)
            found[places[label]] = number
        return found

    def names(self, places: Ints) -> Labels:
        """The labels of some seeds; for sets of labels, a tuple for each seed."""
        if not self.several:
            return self.decode(self.codes[places])
        table, names = self.indicator[places], self.classes.tolist()
        found = np.empty(len(places), dtype=object)
        found[:] = [tuple(names[code] for code in np.sort(table.indices[a:b])) for a, b in pairwise(table.indptr)]
        return found

    def decode(self, codes: Ints) -> Labels:
        """Labels of these class numbers; -1 becomes `unknown`."""
        return decode_labels(codes, self.classes)

    def warn_about_rare(self) -> None:
        """Give one warning for all classes with a single seed, if other classes have more."""
        counts = self.counts if self.table is None else np.diff(self.table.tocsc().indptr)
        rare = self.classes[counts == 1].tolist()
        if rare and len(rare) < self.n_classes:
            names = first_few(rare, 3)
            subject = f"the class {names} has" if len(rare) == 1 else f"{len(rare)} classes ({names}) have"
            warn(f"{subject} a single seed", RareClassWarning)


def _positions(ids: list[Any], known: Ints, graph: Graph) -> Ints:
    """Positions in the graph of the ids whose label is known."""
    try:
        return graph.index([ids[place] for place in known.tolist()])
    except ValueError as error:
        raise ValueError(f"in the seeds, {error}; correct or remove what is no node") from None


def _check_length(length: int, graph: Graph) -> None:
    if length not in (graph.n_nodes, graph.n_rows):
        rows = "" if graph.n_rows is None else f" ({graph.n_rows} of them rows)"
        nodes = f"the graph has {graph.n_nodes} nodes{rows}"
        raise ValueError(f"there are {length} labels, but {nodes}: give one label per node, or {{node: label}}")


def check_any(n_seeds: int) -> None:
    """Raise an error if there are no seeds."""
    if n_seeds == 0:
        raise ValueError("there are no seeds: label some nodes of at least two classes")


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
    """The same seeds, with classes that have no seed dropped."""
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
    ids = index_of_nodes(labels, graph, "labels")
    table = csr_array(checked_sparse(labels) if issparse(labels) else labels)
    if ids is None and table.shape[0] not in (graph.n_nodes, graph.n_rows):
        raise ValueError(f"the labels have {table.shape[0]} rows, but the graph has {graph.n_nodes} nodes")
    table.eliminate_zeros()
    if not (table.data == 1).all():
        raise ValueError("a matrix of labels must hold only zeros and ones: for other labels pass {node: {label, ...}}")
    rows = np.flatnonzero(np.diff(table.indptr))
    nodes = rows if ids is None else graph.index([ids[row] for row in rows.tolist()])
    return nodes, csr_array(table[rows], dtype=np.float64), np.arange(table.shape[1])


def changed_seeds(seeds: Seeds, add: Mapping[Any, Any], remove: Iterable[Any], graph: Graph) -> Seeds:
    """Add and remove seeds; a node that is already a seed takes its new label or set of labels.

    A class without seeds is dropped. If seeds have sets of labels, all labels are kept, so that columns do not move.
    """
    if not isinstance(add, Mapping):
        raise TypeError(f"seeds to add must be a mapping of nodes to labels, not {type(add).__name__}")
    added, removed = graph.index(list(add)), _removed(seeds, remove, graph)
    for node in graph.nodes[np.intersect1d(added, removed)].tolist():
        raise ValueError(f"the node {node!r} is both added and removed: decide on one")
    kept = seeds.take(~np.isin(seeds.nodes, np.concatenate([added, removed])))
    if (alike := _of_known_classes(kept, added, list(add.values()))) is not None:
        return alike
    ids = graph.nodes[kept.nodes].tolist()
    weights = None if kept.weights is None else dict(zip(ids, kept.weights.tolist(), strict=True))
    if kept.several:
        sets = dict(zip(ids, kept.names(np.arange(len(ids))), strict=True))
        return label_sets(sets | dict(add), graph, weights, known=kept.classes)
    return soft_seeds(dict(zip(ids, _labels(kept), strict=True)) | dict(add), graph, weights)


def _of_known_classes(kept: Seeds, added: Ints, labels: list[Any]) -> Seeds | None:
    """The seeds with these added, without reading labels again; None unless all labels are certain and known."""
    number = {label: code for code, label in enumerate(kept.classes.tolist())}
    plain = kept.table is None and kept.weights is None and not kept.several and kept.classes.dtype != bool
    if not plain or not all(type(label) in (int, str) and label in number for label in labels):
        return None
    nodes, codes = np.concatenate([kept.nodes, added]), np.array([number[label] for label in labels], np.int64)
    order, codes = np.argsort(nodes), np.concatenate([kept.codes, codes])
    changed = replace(kept, nodes=nodes[order], codes=codes[order])
    return changed if changed.n_classes > 1 and changed.counts.all() else None


def _removed(seeds: Seeds, remove: Iterable[Any], graph: Graph) -> Ints:
    if isinstance(remove, (str, bytes)):
        raise TypeError(f"seeds to remove must be a list of nodes, not {remove!r}: put it in brackets")
    removed = graph.index(list(remove))
    for node in graph.nodes[removed[~np.isin(removed, seeds.nodes)]].tolist():
        raise ValueError(f"the node {node!r} cannot be removed: it is not a seed")
    return removed


def _labels(seeds: Seeds) -> list[Any]:
    """The label of each seed, or its distribution."""
    if seeds.table is None:
        return seeds.decode(seeds.codes).tolist()
    table = seeds.table
    rows = (slice(*table.indptr[row : row + 2]) for row in range(len(seeds.nodes)))
    return [dict(zip(seeds.classes[table.indices[r]].tolist(), table.data[r].tolist(), strict=True)) for r in rows]
