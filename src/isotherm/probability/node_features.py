"""Features of a node: its temperatures, its number of neighbours, and the heat that comes directly from seeds.

A temperature alone cannot distinguish a node next to a seed from one whose neighbours are all slightly warm. The first
is warm through that seed alone, whatever its other neighbours indicate. So heat that comes directly from seeds is a
separate feature.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from isotherm.arrays import Doubles, Floats
from isotherm.equilibrium.averages import reached_moments
from isotherm.equilibrium.lifting import lift
from isotherm.equilibrium.options import ALONG
from isotherm.graphs import Csr, Graph
from isotherm.graphs.csr import row_sums
from isotherm.seeds import Seeds


class NodeFeatures(NamedTuple):
    """Features of some nodes."""

    temperatures: Floats  # (n, K), NaN rows where unreached
    direct: Floats  # (n, K) share of the edge weight of each node that leads to seeds of each class
    neighbours: Doubles  # (n,) effective number of neighbours of each node

    def at(self, places: NDArray[np.int64]) -> "NodeFeatures":
        """Features of some of these nodes."""
        return NodeFeatures(self.temperatures[places], self.direct[places], self.neighbours[places])


class Features(Protocol):
    """Features of all nodes, held in this process by a `FeatureField` or by the workers of a cluster."""

    @property
    def mean(self) -> Doubles:
        """(K,) mean temperature of each class over reached nodes."""
        ...

    def at(self, nodes: NDArray[np.int64]) -> NodeFeatures:
        """Features of some of the nodes."""
        ...


class FeatureField(NamedTuple):
    """Features of all nodes; ``direct`` is a sparse matrix."""

    temperatures: Floats
    direct: csr_array
    neighbours: Doubles

    @classmethod
    def of(
        cls, graph: Graph, seeds: Seeds, temperatures: Floats, side: str, neighbours: Doubles | None = None
    ) -> "FeatureField":
        """Features of the nodes of a graph, given their temperatures (n, K)."""
        if neighbours is None:
            neighbours = _count_neighbours(graph, side)
        return cls(temperatures, _direct_heat(graph, seeds, side), neighbours)

    @classmethod
    def of_new_nodes(cls, weights: csr_array, seeds: Seeds, temperatures: Floats) -> "FeatureField":
        """Features of m new nodes with edge weights (m, n) to nodes of these temperatures (n, K)."""
        totals = weights.sum(axis=1)
        scales = diags_array(1 / np.where(totals > 0, totals, 1))
        direct = csr_array(scales @ weights @ _held_values(seeds, weights.shape[1]))
        return cls(over_neighbours(weights, temperatures), direct, effective_number(weights.indptr, weights.data))

    @property
    def mean(self) -> Doubles:
        """(K,) mean temperature of each class over reached nodes."""
        return reached_moments(self.temperatures).mean

    @property
    def reached(self) -> NDArray[np.bool_]:
        """(n,) nodes that are connected to a seed."""
        return ~np.isnan(self.temperatures[:, 0])

    def at(self, nodes: NDArray[np.integer] | slice) -> NodeFeatures:
        """Features of some of the nodes."""
        return NodeFeatures(self.temperatures[nodes], self.direct[nodes].toarray(), self.neighbours[nodes])

    def warmest(self) -> NDArray[np.int32]:
        """(n,) the class with the highest temperature relative to its mean; -1 where unreached."""
        with np.errstate(invalid="ignore", divide="ignore"):  # a class that no visible seed has
            relative = self.temperatures / self.mean.astype(self.temperatures.dtype)
        return np.where(self.reached, np.nan_to_num(relative, nan=-np.inf).argmax(axis=1), -1).astype(np.int32)


def over_neighbours(weights: csr_array, values: Floats) -> Doubles:
    """Weighted means of values (n, k) over the neighbours of m new nodes; NaN for a node without neighbours."""
    with np.errstate(invalid="ignore"):
        return (weights @ np.nan_to_num(values)) / weights.sum(axis=1)[:, None]


def _count_neighbours(graph: Graph, side: str) -> Doubles:
    """Effective number of neighbours of each node; in a directed graph, along outgoing arcs, or on both sides."""
    if side == ALONG and graph.directed:
        return effective_number(graph.csr.indptr, graph.csr.weights)
    lifting = lift(graph, np.empty(0, np.int64), side=side)
    indptr, _, weights = lifting.conductance
    return lifting.copies(effective_number(indptr, weights)).sum(axis=0)


def effective_number(indptr: NDArray[np.integer], weights: Floats | None) -> Doubles:
    """Effective number of entries in each row of a CSR matrix: squared sum over sum of squares of the weights.

    >>> effective_number(np.array([0, 2, 3, 3]), np.array([1.0, 3.0, 5.0]))
    array([1.6, 1. , 0. ])
    """
    if weights is None:
        return np.diff(indptr).astype(np.float64)
    sums, squares = (row_sums(indptr, weights, power) for power in (1, 2))
    return np.divide(sums**2, squares, out=np.zeros(len(sums)), where=squares > 0)


def _held_values(seeds: Seeds, n_nodes: int) -> csr_array:
    """(n, K) the temperatures at which seeds are held, 0 at all other nodes."""
    held = seeds.held
    values = csr_array(held.values())
    indptr = np.zeros(n_nodes + 1, values.indptr.dtype)
    indptr[held.nodes + 1] = np.diff(values.indptr)
    return csr_array((values.data, values.indices, indptr.cumsum()), shape=(n_nodes, seeds.n_classes))


def _direct_heat(graph: Graph, seeds: Seeds, side: str) -> csr_array:
    """(n, K) share of the edge weight of each node that leads to held seeds of each class.

    In a directed graph, this is the mean over the copies of a node that have edges. (With ``side="source"``, no
    neighbour of a source copy is a seed.) The matrix is symmetric, so only the rows of seeds are read.
    """
    held = seeds.held
    if side == ALONG and graph.directed:
        sums = graph.csr.sums
        steps = diags_array(1 / np.where(sums > 0, sums, np.inf)) @ graph.csr.to_scipy()
        return csr_array(steps @ _held_values(seeds, graph.n_nodes))
    lifting = lift(graph, held.nodes, side=side)
    heat, n = lifting.conductance, lifting.n
    values = csr_array(lifting.values(held.values()))
    owner, ends, weights = heat.entries_at(lifting.boundary)
    which, classes, parts = Csr(values.indptr, values.indices, values.data).entries_at(owner)
    rows, degrees = ends[which], heat.sums
    shares = weights[which] * parts / degrees[rows]
    inside = [(rows >= offset) & (rows < offset + n) for offset in lifting.offsets]
    nodes = np.concatenate([rows[read] - offset for read, offset in zip(inside, lifting.offsets, strict=True)])
    copies = np.sum([degrees[nodes + offset] > 0 for offset in lifting.offsets], axis=0)
    shares, classes = (np.concatenate([each[read] for read in inside]) for each in (shares, classes))
    return csr_array((shares / copies, (nodes, classes)), shape=(n, seeds.n_classes))
