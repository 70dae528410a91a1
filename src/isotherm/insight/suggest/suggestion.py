"""Suggestions: which nodes to label next.

*The policy "uncertainty".* A new seed is worth the sum of the doubts that its heat reaches, if no other seed is near.
Let heat be damped on each edge, so that it reaches only so far: a walk goes on with probability ``a`` at each step.
From a node it arrives at a seed with probability ``q``; call ``c = 1 - q`` the coldness of the node. With the seeds
held at 0, let

    G = (D - a A)^-1        h(u, v) = G(u, v) / G(v, v)

G(u, v) is the temperature at u if a unit of heat enters at v, and h(u, v) that if v is held at 1. With doubts e,

    value(v) = c(v)^4 sum_u e(u) h(u, v) = c(v)^4 (G e)(v) / G(v, v)

(Ji and Han 2012, and Ma et al. 2013, choose by similar ratios). Without the fourth power hubs would be preferred, since
they are near everything. ``G e`` and ``c`` are computed to about a percent; ``G(v, v)`` is approximated by returns to v
within two steps. Unreached components have the largest coldness, so large ones come first; isolated nodes come last.

*The policy "diverse".* On dense graphs the value above is roughly the degree, because heat spreads everywhere at once.
So "diverse" takes its square root and multiplies it by the number of nodes that are more like v than like any seed; see
:mod:`isotherm.insight.suggest.likeness`. Nodes are chosen one by one, each as if the earlier ones were seeds. The
product is divided by one plus the number of seeds of v's predicted class. Otherwise large classes would get all the
seeds, and rare classes would never be learnt.

*The policies "margin" and "likely"* rank nodes one by one: by how close the two best scores are, and by how probable
one class is. "likely" is for review queues, where members of a class are to be found, not errors to be corrected.
"""

from heapq import heapify, heappop, heappush
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.arrays import Doubles, Ints, Mask
from isotherm.equilibrium.averages import average_neighbours
from isotherm.equilibrium.lifting import lift
from isotherm.equilibrium.options import SolveOptions
from isotherm.errors import Option, ParameterError
from isotherm.graphs import Graph
from isotherm.insight.suggest.damped import damped_heat
from isotherm.insight.suggest.likeness import Cover

__all__ = ["LIKELY", "POLICIES", "Reach", "check_request", "suggest"]

LIKELY = "likely"
POLICIES = ("diverse", "uncertainty", "margin", LIKELY)

DAMPING = 0.95  # a: the share of heat that is passed on at each step
SHORTLIST_FACTOR = 64  # candidates for each requested node,
SHORTEST_SHORTLIST = 1000  # but at least this many


def check_request(k: Any, policy: str, label: Any = None) -> None:
    """Refuse an invalid number of nodes or an unknown policy, and a label that goes with another policy."""
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise TypeError(f"k={k!r}, but it must be an integer")
    if k < 1:
        raise ParameterError("{given}, but it must be at least 1", given=Option("k", k))
    if policy not in POLICIES:
        known = ", ".join(map(repr, POLICIES))
        raise ParameterError("{given}, but it must be one of {known}", given=Option("policy", policy), known=known)
    if (label is None) == (policy == LIKELY):
        message = "{given} needs the class to look for: set {label}"
        if label is not None:
            message = "{label} goes with {likely}, not with {given}: leave one of them out"
        given, likely = Option("policy", policy), Option("policy", LIKELY)
        raise ParameterError(message, given=given, likely=likely, label=Option("label"))


def suggest(
    graph: Graph,
    seeds: Ints,
    k: int,
    doubt: Doubles,
    *,
    policy: str = "diverse",
    among: Ints | None = None,
    groups: Ints | None = None,
    side: str = "both",
    reached: Mask | None = None,
    options: SolveOptions = SolveOptions(),  # noqa: B008 - frozen
) -> tuple[Ints, Doubles]:
    """Positions of the k nodes most worth labelling, best first, and the value of each.

    Parameters
    ----------
    graph, seeds
        The graph, and the positions of its seeds, which are never chosen.
    k
        Number of nodes; fewer are returned if there are not enough candidates.
    doubt
        (n,) how doubtful the label of each node is; for "likely", how probable the class is that is looked for.
    policy
        "margin" and "likely" use doubt alone, and "uncertainty" the doubt that the heat of a node reaches. "diverse"
        also counts the nodes that are like it, but not like any seed or any earlier node of the batch.
    among
        Positions of the nodes to choose from; by default all.
    groups
        (n,) predicted class number of each node; "diverse" spreads the suggestions over the classes.
    side, reached, options
        As in `Reach`.
    """
    allowed = np.full(graph.n_nodes, among is None)
    allowed[[] if among is None else among] = True
    allowed[seeds] = False
    free = np.flatnonzero(allowed)
    if policy == LIKELY:
        free = free[doubt[free] > 0]
    if policy in ("margin", LIKELY):
        linked = (graph.degrees > 0) | (policy == LIKELY)  # features may speak for a node without links
        values, degree = np.where(linked, doubt, 0)[free], graph.degrees[free]
        order = np.lexsort((-degree, -values))[:k]
        return free[order], values[order]
    reach = Reach(graph, seeds, doubt, side=side, reached=reached, options=options)
    values = reach.values(free)
    if policy == "diverse":
        return _spread_out(reach, free, values, k, np.zeros(graph.n_nodes, np.int64) if groups is None else groups)
    order = largest(values, k)
    return free[order], values[order]


class Reach:
    """How many errors a seed at each node could correct.

    Parameters
    ----------
    graph : Graph
        The graph.
    seeds : ndarray of int
        Positions of the seeds.
    errors : ndarray of shape (n,)
        Probability that the label of each node is wrong, or the cost of that.
    side : {"both", "source", "edges"}
        For a directed graph: the copies of a node on which seeds are held and labels are read.
    reached : ndarray of bool, shape (n,), optional
        The nodes that are connected to a seed, if they are known.
    options : SolveOptions
        Where to compute.
    """

    def __init__(
        self,
        graph: Graph,
        seeds: Ints,
        errors: Doubles,
        *,
        side: str = "both",
        reached: Mask | None = None,
        options: SolveOptions = SolveOptions(),  # noqa: B008 - frozen
    ) -> None:
        self.lifting, self.seeds, self.options = lift(graph, seeds, side=side), seeds, options
        self.heat = self.lifting.conductance
        self.held = np.zeros(self.heat.n, bool)
        self.held[self.lifting.boundary] = True
        self.degree = self.heat.sums
        source = np.zeros(self.heat.n)
        for offset in self.lifting.offsets:
            source[offset : offset + graph.n_nodes] = errors
        source[self.held] = 0
        self.x = self._relaxed(source)  # (copies n, 2): G e, and c
        self.peak = self._peaks(None if self.lifting.directed else reached)

    def values(self, nodes: Ints) -> Doubles:
        """The value of a seed at each of these nodes."""
        worth = self.x[:, 0] * np.square(np.square(self.x[:, 1]))
        worth = np.divide(worth, self.peak, out=np.zeros_like(worth), where=self.peak > 0)
        return np.sum([worth[nodes + offset] for offset in self.lifting.offsets], axis=0)

    def _relaxed(self, source: Doubles) -> Doubles:
        """G e and c, to about one percent."""
        free = ~self.held & (self.degree > 0)
        sources = np.stack([source, (1 - DAMPING) * self.degree], axis=1)
        x = damped_heat(self.heat, self.degree, free, sources, DAMPING, kernels.thread_count(self.options.threads))
        x[~self.held & (self.degree == 0)] = 0, 1
        return np.maximum(x, 0, dtype=np.float64)

    def _peaks(self, reached: Mask | None) -> Doubles:
        """About G(v, v): zero steps, returns after two steps and, in unreached components, the stationary share."""
        free = ~self.held & (self.degree > 0)
        inverse = np.divide(1, self.degree, out=np.zeros_like(self.degree), where=free).astype(np.float32)
        squared = None if self.heat.weights is None else self.heat.weights.astype(np.float32) ** 2
        back = kernels.block(self.heat.n, 1, np.float32)
        average_neighbours(self.heat._replace(weights=squared), inverse, inverse[:, None], back, self.options.threads)
        peaks = inverse * (1 + DAMPING**2 * back[:, 0].astype(np.float64))
        return peaks + free * DAMPING**3 / (1 - DAMPING) / self._volumes(reached)

    def _volumes(self, reached: Mask | None) -> Doubles:
        """The sum of the degrees in the component of each node; infinite for reached nodes."""
        if reached is None:
            marks = self.held.astype(np.uint8)
            kernels.active.reach(self.heat.indptr, self.heat.indices, marks)
            reached = marks > 0
        if not self.degree[~reached].any():
            return np.full(self.heat.n, np.inf)
        component = kernels.active.components(self.heat.indptr, self.heat.indices)
        volume = np.bincount(component, self.degree)
        volume[component[self.held]] = np.inf
        return np.where(volume > 0, volume, np.inf)[component]


def _spread_out(reach: Reach, free: Ints, values: Doubles, k: int, groups: Ints) -> tuple[Ints, Doubles]:
    """The best nodes, chosen greedily, each as if the earlier ones were seeds; and the value of each.

    Values only decrease as nodes are chosen. So they are updated lazily: if the top of the queue is still the largest
    after its value was updated, it is the best of all.
    """
    known = 1.0 + np.bincount(groups[reach.seeds], minlength=int(groups.max()) + 1)
    listed = largest(values / known[groups[free]], max(SHORTEST_SHORTLIST, SHORTLIST_FACTOR * k))
    nodes = free[listed]
    cover = Cover(reach.lifting, nodes, reach.seeds, k, reach.options)
    weight = np.sqrt(values[listed])
    worth = weight * cover.gains(nodes) / known[groups[nodes]]
    queue = list(zip((-worth).tolist(), nodes.tolist(), weight.tolist(), strict=True))
    heapify(queue)
    chosen: list[tuple[int, float]] = []
    while queue and len(chosen) < k:
        before, node, heavy = heappop(queue)
        now = heavy * float(cover.gains(np.array([node]))[0]) / known[groups[node]]
        value = min(now, -before)  # never increases, despite rounding
        if queue and -value > queue[0][0]:
            heappush(queue, (-value, node, heavy))
            continue
        chosen.append((node, value))
        cover.add(np.array([node]))
        known[groups[node]] += 1
    return np.array([node for node, _ in chosen], np.int64), np.array([value for _, value in chosen])


def largest(values: Doubles, k: int) -> NDArray[np.intp]:
    """Indices of the k largest values, in descending order; ties go to the smaller index."""
    if k < len(values):
        least = np.partition(values, len(values) - k)[len(values) - k]
        places = np.flatnonzero(values >= least)
    else:
        places = np.arange(len(values))
    return places[np.argsort(-values[places], kind="stable")][:k]
