"""Suggestions: which nodes to label next.

A new seed is worth as much as the doubts that its heat reaches, if no other seed is near. Let heat lose a share on each
edge, so that it comes to an end: on the way from a node it reaches the seeds with probability ``q``, and the node is
cold by ``c = 1 - q``. With ``a`` the share that goes on and the seeds held at 0,

    G = (D - a A)^-1        h(u, v) = G(u, v) / G(v, v)

are the heat that a unit at v sends to u, and the temperature of u where v is held at 1. With e the doubts,

    value(v) = c(v)^4 sum_u e(u) h(u, v) = c(v)^4 (G e)(v) / G(v, v)

(Ji and Han 2012, and Ma et al. 2013, choose by similar quotients). Without the fourth power, seeds are drawn to hubs,
which are near everything. ``G e`` and ``c`` come from a few sweeps; of ``G(v, v)`` the returns to v within two steps
are counted. A node of an unreached component is as cold as can be, so that large components come first and single
nodes last.

That is the policy "uncertainty". On dense graphs it is no more than the degree, since heat from anywhere is soon
everywhere. So "diverse" takes its square root, and multiplies it by the number of nodes that are more like v than like
any seed, in the sense of :mod:`isotherm.likeness`; the next node is chosen as if the ones before were seeds. And that
is divided by the number of seeds, and one, of the class that v is taken for now. Otherwise large classes get all the
seeds, and rare ones are never learnt.
"""

from heapq import heapify, heappop, heappush
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from isotherm import kernels
from isotherm.graph import Csr, Graph
from isotherm.likeness import Cover, profiles

__all__ = ["POLICIES", "Reach", "check_wish", "suggest"]

POLICIES = ("diverse", "uncertainty", "margin")

ON = 0.95  # the share of heat that goes on at each step
COLDNESS = 4  # the power with which it counts that a node is far from the seeds
SWEEPS = 15  # after which no more than a percent is missing
SHORTLIST = 64  # nodes that are considered for each that is wanted
FEWEST = 1000  # but no fewer than these


def check_wish(k: Any, policy: str) -> None:
    """Refuse a number or a policy that makes no sense."""
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise TypeError(f"k={k!r}, but it must be a number of nodes")
    if k < 1:
        raise ValueError(f"k={k!r}, but it must be at least 1")
    if policy not in POLICIES:
        raise ValueError(f"policy={policy!r}, but it must be one of {', '.join(map(repr, POLICIES))}")


def suggest(
    graph: Graph,
    seeds: NDArray[np.int64],
    k: int,
    doubt: NDArray[np.float64],
    *,
    policy: str = "diverse",
    among: NDArray[np.int64] | None = None,
    groups: NDArray[np.int64] | None = None,
    **options: Any,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Positions of the k nodes most worth labelling, the best first, and the value of each.

    Parameters
    ----------
    graph, seeds
        The graph, and the positions of its seeds, which are never chosen.
    k
        How many; fewer if there are no more.
    doubt
        (n,) how doubtful the label of each node is.
    policy
        "margin" goes by doubt alone, "uncertainty" by the doubt that the heat of a node reaches, and "diverse" also by
        how many nodes are like it and like no seed, nor any node before it in the batch.
    among
        Positions of the nodes to choose from; by default all.
    groups
        (n,) what each node is taken for now, as numbers from 0: "diverse" gives all of them their share of the seeds.
    options
        Of `Reach`.
    """
    allowed = np.full(graph.n_nodes, among is None)
    allowed[[] if among is None else among] = True
    allowed[seeds] = False
    free = np.flatnonzero(allowed)
    if policy == "margin":
        values, degree = np.where(graph.degrees > 0, doubt, 0)[free], graph.degrees[free]
        order = np.lexsort((-degree, -values))[:k]
        return free[order], values[order]
    reach = Reach(graph, seeds, doubt, **options)
    values = reach.values(free)
    if policy == "diverse":
        return _spread_out(reach, free, values, k, np.zeros(graph.n_nodes, np.int64) if groups is None else groups)
    order = first(values, k)
    return free[order], values[order]


class Reach:
    """How many errors a seed at each node could mend.

    Parameters
    ----------
    graph : Graph
        The graph.
    seeds : ndarray of int
        Positions of the seeds.
    errors : ndarray of shape (n,)
        How likely the label of each node is wrong, or what it would cost.
    side : {"both", "source"}
        For a directed graph: on which copies of a node seeds are held and labels read.
    n_threads : int, optional
        Number of threads.
    """

    def __init__(
        self,
        graph: Graph,
        seeds: NDArray[np.int64],
        errors: NDArray[np.float64],
        *,
        side: str = "both",
        n_threads: int | None = None,
    ) -> None:
        self.heat, self.n = graph.heat, graph.n_nodes
        self.copies = 2 if graph.directed and side == "both" else 1
        self.places = self.n * np.arange(self.copies)  # of the copies of node 0
        self.seeds = seeds
        self.held = np.zeros(self.heat.n, bool)
        self.held[np.add.outer(self.places, seeds)] = True
        self.degree = _degrees(self.heat)
        source = np.zeros(self.heat.n)
        source[: self.n * self.copies] = np.tile(errors, self.copies)
        source[self.held] = 0
        self.threads = kernels.thread_count(n_threads)
        self.x = self._relaxed(source)  # (copies n, 2): G e, and c
        self.peak = self._peaks()

    def values(self, nodes: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.float64]:
        """What a seed at each node, or at some, is worth."""
        parts = [(self.x[each, 0] * self.x[each, 1] ** COLDNESS, self.peak[each]) for each in self._copies(nodes)]
        return np.sum([np.divide(a, b, out=np.zeros_like(a), where=b > 0) for a, b in parts], axis=0)

    def _copies(self, nodes: Any) -> list[Any]:
        if isinstance(nodes, slice):
            return [slice(place, place + self.n) for place in self.places.tolist()]
        return [nodes + place for place in self.places.tolist()]

    def _relaxed(self, source: NDArray[np.float64]) -> NDArray[np.float64]:
        """Both columns by sweeps with Chebyshev's weights, for a spectrum between -ON and ON."""
        (indptr, indices, weights), free = self.heat, ~self.held & (self.degree > 0)
        scale = np.divide(1, self.degree, out=np.zeros_like(self.degree), where=free).astype(np.float32)
        weights = None if weights is None else weights.astype(np.float32, copy=False)
        given = np.stack([source * scale, (1 - ON) * (scale > 0)], axis=1).astype(np.float32)
        x, before, swept = (kernels.block(self.heat.n, 2, np.float32) for _ in range(3))
        x[:] = given
        omega = 2.0
        for _ in range(SWEEPS):
            omega = 1 / (1 - ON**2 * omega / 4)
            kernels.active.average(indptr, indices, weights, scale, x, swept, self.threads)
            swept *= ON
            swept += given
            swept -= before
            swept *= omega
            before += swept
            x, before = before, x
        x[~self.held & (self.degree == 0)] = 0, 1
        return np.maximum(x, 0, dtype=np.float64)

    def _peaks(self) -> NDArray[np.float64]:
        """About G(v, v): what stays, what comes back after two steps and, of a component without seeds, its share."""
        free = ~self.held & (self.degree > 0)
        inverse = np.divide(1, self.degree, out=np.zeros_like(self.degree), where=free)
        square = None if self.heat.weights is None else self.heat.weights.astype(np.float64) ** 2
        x, back = (kernels.block(self.heat.n, 2, np.float64) for _ in range(2))
        x[:, 0] = inverse
        kernels.active.average(self.heat.indptr, self.heat.indices, square, inverse, x, back, self.threads)
        return inverse * (1 + ON**2 * back[:, 0]) + free * ON**3 / (1 - ON) / self._volumes()

    def _volumes(self) -> NDArray[np.float64]:
        """The sum of the degrees of the component of each node; infinite where a seed reaches it."""
        reached = self.held.astype(np.uint8)
        kernels.active.reach(self.heat.indptr, self.heat.indices, reached)
        volumes, lost = np.full(self.heat.n, np.inf), np.flatnonzero(reached == 0)
        if len(lost):
            matrix = Csr(*kernels.active.renumber(*self.heat, lost.astype(np.int32))).to_scipy()
            _, component = connected_components(matrix, directed=False)
            volumes[lost] = np.bincount(component, self.degree[lost])[component]
        return np.where(volumes > 0, volumes, np.inf)


def _spread_out(
    reach: Reach, free: NDArray[np.int64], values: NDArray[np.float64], k: int, groups: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The best nodes, one after the other, each as if those before were seeds; and what each is worth.

    What a node is worth only falls, so one that is still the first after it was looked up again is the first of all.
    """
    known = 1.0 + np.bincount(groups[reach.seeds], minlength=groups.max() + 1)
    listed = first(values / known[groups[free]], max(FEWEST, SHORTLIST * k))
    rows = profiles(reach.heat, reach.degree, n=reach.n, copies=reach.copies, threads=reach.threads)
    nodes, cover = free[listed], Cover(rows, reach.seeds, k)
    weight = np.sqrt(values[listed])
    worth = weight * cover.gains(nodes) / known[groups[nodes]]
    queue = list(zip((-worth).tolist(), nodes.tolist(), weight.tolist(), strict=True))
    heapify(queue)
    chosen: list[tuple[int, float]] = []
    while queue and len(chosen) < k:
        before, node, heavy = heappop(queue)
        now = heavy * float(cover.gains(np.array([node]))[0]) / known[groups[node]]
        value = min(now, -before)  # whatever the rounding
        if queue and -value > queue[0][0]:
            heappush(queue, (-value, node, heavy))
            continue
        chosen.append((node, value))
        cover.add(np.array([node]))
        known[groups[node]] += 1
    return np.array([node for node, _ in chosen], np.int64), np.array([value for _, value in chosen])


def first(values: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """The places of the k largest values, these first; among equal ones the first."""
    if k < len(values):
        least = np.partition(values, len(values) - k)[len(values) - k]
        places = np.flatnonzero(values >= least)
    else:
        places = np.arange(len(values))
    return places[np.argsort(-values[places], kind="stable")][:k]


def _degrees(heat: Csr) -> NDArray[np.float64]:
    if heat.weights is None:
        return np.diff(heat.indptr).astype(np.float64)
    return np.bincount(heat.rows, heat.weights, minlength=heat.n).astype(np.float64)
