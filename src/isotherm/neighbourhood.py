"""What is around a node: how many neighbours it has, and how much of its heat comes straight from seeds.

A temperature alone does not tell a node beside a seed from one whose neighbours are all a little warm. The first is
warm through that seed alone, whatever its other neighbours say; so what comes straight from seeds is weighed by itself.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.graph import Graph
from isotherm.seeds import Seeds
from isotherm.solvers.base import Floats

__all__ = ["Array", "Field", "Warmth", "count_neighbours", "direct_heat", "effective_number", "held_values"]

Array: TypeAlias = NDArray[np.float64]


class Warmth(NamedTuple):
    """What is known about some nodes.

    Attributes
    ----------
    temperatures
        (n, K), NaN rows where unreached.
    direct
        (n, K) share of the weight of each node that goes to the seeds of each class.
    neighbours
        (n,) how many neighbours each node has.
    """

    temperatures: Floats
    direct: Floats
    neighbours: Array

    def every(self, step: int, first: int) -> "Warmth":
        """The same about every ``step``-th node."""
        part = slice(first, None, step)
        return Warmth(self.temperatures[part], self.direct[part], self.neighbours[part])


class Field(NamedTuple):
    """The same about all nodes, with ``direct`` as a sparse matrix."""

    temperatures: Floats
    direct: csr_array
    neighbours: Array

    def at(self, nodes: NDArray[np.integer] | slice) -> Warmth:
        """What is known about some of the nodes."""
        return Warmth(self.temperatures[nodes], self.direct[nodes].toarray(), self.neighbours[nodes])


def count_neighbours(graph: Graph, side: str) -> Array:
    """How many neighbours each node has; for a directed graph, along arcs out, or those in as well.

    Where weights differ it is the number of equal weights that would vary as much: their sum squared over the sum of
    their squares.
    """
    indptr, _, weights = graph.heat
    counts = effective_number(indptr, weights)
    if not graph.directed:
        return counts
    source, destination = np.split(counts, 2)
    return source + destination if side == "both" else source


def effective_number(indptr: NDArray[np.integer], weights: Floats | None) -> Array:
    """The effective number of entries in each row of a compressed matrix.

    >>> effective_number(np.array([0, 2, 3, 3]), np.array([1.0, 3.0, 5.0]))
    array([1.6, 1. , 0. ])
    """
    if weights is None:
        return np.diff(indptr).astype(np.float64)
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    sums, squares = (np.bincount(rows, weights**power, minlength=len(indptr) - 1) for power in (1, 2))
    return np.divide(sums**2, squares, out=np.zeros(len(sums)), where=squares > 0)


def held_values(seeds: Seeds, n_nodes: int) -> csr_array:
    """(n, K) the temperatures at which seeds are held, nothing at all other nodes."""
    held = seeds.take(seeds.held)
    values = csr_array(held.values())
    indptr = np.zeros(n_nodes + 1, values.indptr.dtype)
    indptr[held.nodes + 1] = np.diff(values.indptr)
    return csr_array((values.data, values.indices, indptr.cumsum()), shape=(n_nodes, seeds.n_classes))


def direct_heat(graph: Graph, seeds: Seeds, side: str) -> csr_array:
    """(n, K) the share of the weight of each node that goes to the seeds of each class.

    For a directed graph it is the mean over the two copies of a node; on the side of sources alone, no neighbour of a
    node is a seed. Only the rows of seeds are read, since heat flows both ways.
    """
    n, heat = graph.n_nodes, graph.heat
    if graph.directed and side == "source":
        return csr_array((n, seeds.n_classes))
    copies = 2 if graph.directed else 1
    held = seeds.take(seeds.held)
    places = np.concatenate([held.nodes + copy * n for copy in range(copies)])
    owner, ends, weights = heat.entries_at(places)
    touching = csr_array((weights, (ends, owner)), shape=(copies * n, len(places)), dtype=np.float64)
    received = touching @ csr_array(np.concatenate([held.values()] * copies))
    degrees = heat.sums.reshape(copies, n)
    scales = 1 / np.where(degrees > 0, degrees, np.inf) / np.maximum(np.count_nonzero(degrees, axis=0), 1)
    shares = received.multiply(scales.reshape(-1, 1)).tocsr()
    return csr_array(sum(shares[copy * n : (copy + 1) * n] for copy in range(copies)))
