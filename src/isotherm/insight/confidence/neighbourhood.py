"""Features of a node: its temperatures, its number of neighbours, and the heat that comes directly from seeds.

A temperature alone cannot distinguish a node beside a seed from one whose neighbours are all slightly warm. The first
is warm through that seed alone, whatever its other neighbours indicate. So heat that comes directly from seeds is a
separate feature.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm import kernels
from isotherm.arrays import Doubles, Floats
from isotherm.equilibrium.lifting import lift
from isotherm.graphs import Graph
from isotherm.graphs.csr import row_sums
from isotherm.labelling.rules import TemperatureRule
from isotherm.seeds import Seeds

__all__ = ["Features", "Field", "Warmth", "count_neighbours", "direct_heat", "effective_number", "held_values"]


class Warmth(NamedTuple):
    """Features of some nodes.

    Attributes
    ----------
    temperatures
        (n, K), NaN rows where unreached.
    direct
        (n, K) share of the edge weight of each node that leads to seeds of each class.
    neighbours
        (n,) effective number of neighbours of each node.
    """

    temperatures: Floats
    direct: Floats
    neighbours: Doubles

    def every(self, step: int, first: int) -> "Warmth":
        """Features of every ``step``-th node, from ``first`` on."""
        part = slice(first, None, step)
        return Warmth(self.temperatures[part], self.direct[part], self.neighbours[part])


class Field(NamedTuple):
    """Features of all nodes; ``direct`` is a sparse matrix."""

    temperatures: Floats
    direct: csr_array
    neighbours: Doubles

    @property
    def mean(self) -> Doubles:
        """(K,) mean temperature of each class over reached nodes."""
        count, *sums = kernels.active.table_moments(np.ascontiguousarray(self.temperatures), kernels.thread_count())
        return np.array(sums[: self.temperatures.shape[1]]) / max(count, 1)

    def at(self, nodes: NDArray[np.integer] | slice) -> Warmth:
        """Features of some of the nodes."""
        return Warmth(self.temperatures[nodes], self.direct[nodes].toarray(), self.neighbours[nodes])

    def scores(self, rule: TemperatureRule, seeds: Seeds, nodes: NDArray[np.integer]) -> Floats:
        """(m, K) the scores of a rule at some of the nodes."""
        return rule.scored(self.temperatures[nodes], rule.totals(self.temperatures, seeds.nodes), seeds.shares)

    def labels(self, rule: TemperatureRule, seeds: Seeds) -> NDArray[np.int32]:
        """(n,) the class numbers that a rule gives to all nodes; -1 where unreached."""
        with np.errstate(invalid="ignore"):  # a class that no visible seed has
            scores = np.nan_to_num(rule.scores(self.temperatures, seeds), nan=-np.inf)
        return np.where(np.isnan(self.temperatures[:, 0]), -1, scores.argmax(axis=1)).astype(np.int32)


class Features(Protocol):
    """Features of all nodes, wherever they are: here in a `Field`, or with the workers of a cluster."""

    @property
    def mean(self) -> Doubles:
        """(K,) mean temperature of each class over reached nodes."""
        ...

    def at(self, nodes: NDArray[np.int64]) -> Warmth:
        """Features of some of the nodes."""
        ...

    def scores(self, rule: TemperatureRule, seeds: Seeds, nodes: NDArray[np.int64]) -> Floats:
        """(m, K) the scores of a rule at some of the nodes."""
        ...

    def labels(self, rule: TemperatureRule, seeds: Seeds) -> NDArray[np.int32]:
        """(n,) the class numbers that a rule gives to all nodes; empty if there are too many for this process."""
        ...


def count_neighbours(graph: Graph, side: str) -> Doubles:
    """Effective number of neighbours of each node; in a directed graph, along outgoing arcs, or on both sides."""
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


def held_values(seeds: Seeds, n_nodes: int) -> csr_array:
    """(n, K) the temperatures at which seeds are held, 0 at all other nodes."""
    held = seeds.held
    values = csr_array(held.values())
    indptr = np.zeros(n_nodes + 1, values.indptr.dtype)
    indptr[held.nodes + 1] = np.diff(values.indptr)
    return csr_array((values.data, values.indices, indptr.cumsum()), shape=(n_nodes, seeds.n_classes))


def direct_heat(graph: Graph, seeds: Seeds, side: str) -> csr_array:
    """(n, K) the share of the edge weight of each node that leads to held seeds of each class.

    In a directed graph it is the mean over the copies of a node that have edges. (With ``side="source"`` no neighbour
    of a source copy is a seed.) The matrix is symmetric, so only the rows of seeds are read.
    """
    held = seeds.held
    lifting = lift(graph, held.nodes, side=side)
    heat, n = lifting.conductance, lifting.n
    owner, ends, weights = heat.entries_at(lifting.boundary)
    touching = csr_array((weights, (ends, owner)), shape=(heat.n, len(lifting.boundary)), dtype=np.float64)
    received = touching @ csr_array(lifting.values(held.values()))
    degrees = heat.sums
    shares = received.multiply((1 / np.where(degrees > 0, degrees, np.inf)).reshape(-1, 1)).tocsr()
    copies = np.maximum(np.count_nonzero(lifting.copies(degrees), axis=0), 1)
    total = sum(shares[offset : offset + n] for offset in lifting.offsets)
    return csr_array(total.multiply((1 / copies).reshape(-1, 1)))
