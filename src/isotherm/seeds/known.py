"""The seeds of a graph: which nodes, their classes, and the temperatures at which they are held."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Ints
from isotherm.errors import warn
from isotherm.graphs import Graph
from isotherm.seeds.encoding import (
    Labels,
    decode_labels,
    encode_labels,
    index_of_nodes,
    warn_about_classes,
    warn_about_minus_one,
)


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
    weights: Doubles | None = None  # (s,) trust, see ``reading.py``: infinite for held seeds; None if all are held
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
        """The seeds that are not at these positions; all classes are kept."""
        return self.take(np.delete(np.arange(len(self.codes)), places))

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
            names = ", ".join(map(repr, rare[:3])) + (", ..." if len(rare) > 3 else "")
            subject = f"the class {names} has" if len(rare) == 1 else f"{len(rare)} classes ({names}) have"
            warn(f"{subject} a single seed", RareClassWarning)


def _positions(ids: list[Any], known: Ints, graph: Graph) -> Ints:
    """Positions in the graph of the ids whose label is known."""
    try:
        return graph.index([ids[place] for place in known.tolist()])
    except ValueError as error:
        raise ValueError(f"in the seeds, {error}") from None


def _check_length(length: int, graph: Graph) -> None:
    if length not in (graph.n_nodes, graph.n_rows):
        rows = "" if graph.n_rows is None else f" ({graph.n_rows} of them rows)"
        nodes = f"the graph has {graph.n_nodes} nodes{rows}"
        raise ValueError(f"there are {length} labels, but {nodes}: give one label per node, or {{node: label}}")


def check_any(n_seeds: int) -> None:
    """Raise an error if there are no seeds."""
    if n_seeds == 0:
        raise ValueError("there are no seeds: label some nodes of at least two classes")
