"""The lifting: from any graph with seeds of any kind to one symmetric matrix with a boundary.

*Directed graphs* (section 2.3 of the paper). A directed graph of n nodes becomes a bipartite graph of 2n nodes: each
node has a copy as source and a copy as destination, and an arc joins the source copy of its start to the destination
copy of its end. With ``side="source"`` seeds are held, and temperatures read, on source copies only. With
``side="both"`` they are held on both copies, and the temperature of a node is the mean of its two. With
``side="edges"`` there are no copies: arcs are read as edges. With ``side="along"`` walks follow the arcs, which no
symmetric matrix describes; see ``along.py``.

*Soft seeds.* A seed of finite weight ``w`` is not held at its temperatures. It is joined to an additional node, its
ground, which is held instead. The weight of this edge is ``w`` times the degree of the seed, so that a random
walk which arrives at the seed ends there with probability ``w / (1 + w)``.

So every problem becomes a Dirichlet problem on an undirected graph, and only this file knows about directions and soft
seeds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.equilibrium.options import ALONG
from isotherm.equilibrium.solvers.system import OutputRows
from isotherm.errors import Option, ParameterError
from isotherm.graphs import Csr, Graph
from isotherm.graphs.csr import check_size

USUAL = 2.0**20  # weights are rescaled if their median is above this or below its inverse
FARTHEST = 2.0**400  # weights are clipped at this and at its inverse
SAMPLE = 100_000  # weights drawn for the median


@dataclass(frozen=True, eq=False)
class Lifting:
    """A symmetric matrix, and the positions of the graph's nodes in it."""

    conductance: Csr  # weights between lifted nodes; each copy has the graph's own nodes first, then the grounds
    component: NDArray[np.int32]  # the connected component of each lifted node
    n: int  # nodes of the graph
    size: int  # nodes of one copy, including grounds
    offsets: tuple[int, ...]  # first row of each copy on which seeds are held and temperatures are read: one or two
    held: Ints  # (s,) for each seed, the node of the first copy that is held: the seed itself or its ground
    directed: bool  # the matrix is the bipartite graph of a directed one
    factor: float = 1.0  # what the weights of the graph were multiplied by, so that they are near one

    @property
    def boundary(self) -> Ints:
        """The held nodes of the first copy, then of the second."""
        return np.concatenate([self.held + offset for offset in self.offsets])

    @property
    def half(self) -> int | None:
        """The number of source copies in a bipartite graph."""
        return self.size if self.directed else None

    @property
    def output(self) -> OutputRows | None:
        """The rows that are read; None for all rows."""
        return None if self.conductance.n == self.n else OutputRows(self.n, self.offsets)

    def values(self, given: Doubles) -> Doubles:
        """Temperatures of the boundary, from the temperatures (s, k) of the seeds."""
        return given if len(self.offsets) == 1 else np.concatenate([given] * 2)

    def start(self, temperatures: Floats) -> Floats:
        """Starting temperatures of all lifted nodes, from temperatures (n, k) of the graph's nodes; NaN at grounds."""
        if self.conductance.n == self.n:
            return temperatures
        unknown = np.full((self.size - self.n, temperatures.shape[1]), np.nan, temperatures.dtype)
        return np.concatenate([temperatures, unknown] * (self.conductance.n // self.size))

    def copies(self, lifted: Floats) -> Floats:
        """The rows of the copies that are read, shape (copies, n, ...)."""
        return np.stack([lifted[offset : offset + self.n] for offset in self.offsets])

    def lowered(self, lifted: Floats) -> Floats:
        """Temperatures of the graph's nodes: the mean over the reached copies among the lifted nodes."""
        source, *others = (lifted[offset : offset + self.n] for offset in self.offsets)
        if not others:
            return source
        (other,) = others
        return np.where(np.isnan(source), other, np.where(np.isnan(other), source, (source + other) / 2))

    def walks(self, nodes: Ints, reached: Mask) -> csr_array:
        """Starting distributions (k, lifted nodes) of random walks from k nodes: uniform over reached copies."""
        copies = np.add.outer(nodes, self.offsets)  # (k, copies)
        known = reached[copies]
        row, column = np.nonzero(known)
        probability = 1 / known.sum(axis=1)[row]
        return csr_array((probability, (row, copies[row, column])), shape=(len(nodes), self.conductance.n))

    def by_seed(self, shares: Doubles) -> Doubles:
        """Sums over the copies of each seed, (k, boundary) -> (k, s)."""
        return shares.reshape(len(shares), len(self.offsets), -1).sum(axis=1)


def lift(
    graph: Graph,
    seeds: Ints,  # (s,) positions, ascending
    weights: Doubles | None = None,  # (s,) positive, infinite where the seed itself is held; None if all are
    side: str = "both",
) -> Lifting:
    """Reduce a graph with seeds, hard or soft, to a symmetric matrix with a boundary.

    >>> pair = Graph.from_edges(["a"], ["b"], [3.0])
    >>> lifted = lift(pair, np.array([0, 1]), np.array([np.inf, 2]))
    >>> lifted.held
    array([0, 2])
    >>> print(lifted.conductance.to_scipy().toarray())
    [[0. 3. 0.]
     [3. 0. 6.]
     [0. 6. 0.]]
    """
    if side == ALONG and graph.directed:
        message = "{along} has no explanations, suggestions and certificates: use {edges} for them"
        raise ParameterError(message, along=Option("side", ALONG), edges=Option("side", "edges"))
    graph = graph.edges_only if side == "edges" else graph
    whole, held = (graph, seeds) if weights is None else _grounded(graph, seeds, weights, side)
    both = graph.directed and side == "both"
    offsets = (0, whole.n_nodes) if both else (0,)
    conductance, factor = in_good_unit(whole.heat)
    return Lifting(conductance, whole.components, graph.n_nodes, whole.n_nodes, offsets, held, graph.directed, factor)


def _grounded(graph: Graph, seeds: Ints, weights: Doubles, side: str) -> tuple[Graph, Ints]:
    """The graph with a ground for each soft seed, appended to its nodes; and for each seed the node that is held."""
    soft = np.flatnonzero(np.isfinite(weights))
    n, at = graph.n_nodes, seeds[soft]
    check_size(n + len(soft), graph.directed)
    grounds = np.arange(n, n + len(soft))
    out, back = _ground_weights(graph, at, weights[soft], side)
    ends = grounds if graph.directed and side == "source" else at
    held = seeds.copy()
    held[soft] = grounds
    return Graph(_extended(graph.csr, at, out, ends, back), np.arange(n + len(soft)), graph.directed), held


def _ground_weights(graph: Graph, at: Ints, weights: Doubles, side: str) -> tuple[Doubles, Doubles]:
    """Weights of the edges from each seed to its ground, and back; a seed without edges is taken to have degree 1."""
    if not graph.directed:
        degree = graph.degrees[at]
        one_way = weights * np.where(degree > 0, degree, 1)
        return one_way, one_way
    leaving, arriving = (
        np.bincount(ends, graph.csr.weights, minlength=graph.n_nodes)[at].astype(np.float64)
        for ends in (graph.csr.rows, graph.csr.indices)
    )
    if (
        side == "source"
    ):  # the ground's two copies are joined to each other: two edges in series, each of twice the weight
        one_way = 2 * weights * np.where(leaving > 0, leaving, 1)
        return one_way, one_way
    alone = leaving + arriving == 0
    return weights * np.where(alone, 1, leaving), weights * np.where(alone, 1, arriving)


def _extended(csr: Csr, at: Ints, out: Doubles, ends: Ints, back: Doubles) -> Csr:
    """The matrix with a ground for each seed: an entry from seed to ground, and one from ground to its end."""
    n, goes, returns = csr.n, out > 0, back > 0
    grounds = np.arange(n, n + len(at))
    places = csr.indptr[at[goes] + 1]  # ends of rows: grounds have the largest indices
    weights = np.ones(csr.entries) if csr.weights is None else csr.weights
    counts = np.concatenate([np.diff(csr.indptr), returns])
    counts[at[goes]] += 1
    return Csr(
        np.concatenate([[0], np.cumsum(counts)]).astype(csr.indptr.dtype),
        np.concatenate([np.insert(csr.indices, places, grounds[goes]), ends[returns]]).astype(csr.indices.dtype),
        np.concatenate([np.insert(weights.astype(np.float64), places, out[goes]), back[returns]]),
    )


def in_good_unit(conductance: Csr) -> tuple[Csr, float]:
    """The matrix with weights near one, and what they were multiplied by; the same object if they are near one."""
    weights = conductance.weights
    if weights is None or not len(weights):
        return conductance, 1.0
    single = weights.dtype == np.float32  # all positive float32 numbers are within the limits
    low, high = (1.0, 1.0) if single else (float(weights.min()), float(weights.max()))
    middle = float(np.median(weights[:: max(1, len(weights) // SAMPLE)]))
    if 1 / USUAL <= middle <= USUAL and low >= 1 / FARTHEST and high <= FARTHEST:
        return conductance, 1.0
    # Multiplying all weights by one power of two rounds nothing. Weights that are still too large or too small to be
    # summed and divided by are clipped.
    exponent = min(-int(np.frexp(middle)[1]), 1023)  # the largest whose power of two is finite
    moved = np.clip(np.ldexp(weights.astype(np.float64), exponent), 1 / FARTHEST, FARTHEST)
    return conductance._replace(weights=moved), float(np.ldexp(1.0, exponent))
