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
:mod:`isotherm.insight.likeness`. Nodes are chosen one by one, each as if the earlier ones were seeds. The
product is divided by one plus the number of seeds of v's predicted class. Otherwise large classes would get all the
seeds, and rare classes would never be learnt.

*The policies "margin" and "likely"* rank nodes one by one: by how close the two best scores are, and by how probable
one class is. "likely" is for review queues, where members of a class are to be found, not errors to be corrected.
"""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from numbers import Integral
from typing import Any, Literal, get_args, overload

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.arrays import Doubles, Ints, Mask
from isotherm.choices import SuggestPolicy
from isotherm.equilibrium.averages import average_neighbours
from isotherm.equilibrium.lifting import lift
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers.cg import GroupDescent
from isotherm.equilibrium.solvers.interior import Groups
from isotherm.errors import Option, ParameterError, check_choice, first_few
from isotherm.graphs import Csr, Graph, as_graph
from isotherm.insight.likeness import Cover
from isotherm.labelling.fit import Fit

LIKELY = "likely"
POLICIES = get_args(SuggestPolicy)
WITHOUT_FIT = ("diverse", "uncertainty")

DAMPING = 0.95  # a: the share of heat that is passed on at each step
DAMPED_TOL = 0.0005  # root mean square residual of damped heat, relative to the source
MOST_DAMPED_STEPS = 25  # enough for an error of at most 0.1 % at this damping
SHORTLIST_FACTOR = 64  # candidates for each requested node
SHORTEST_SHORTLIST = 1000  # least number of candidates


@overload
def suggest(
    graph: Any,
    k: int = 10,
    *,
    known: Iterable[Any] = (),
    policy: SuggestPolicy = "diverse",
    among: Iterable[Any] | None = None,
    return_values: Literal[False] = False,
    n_threads: int | None = None,
) -> NDArray[Any]: ...
@overload
def suggest(
    graph: Any,
    k: int = 10,
    *,
    known: Iterable[Any] = (),
    policy: SuggestPolicy = "diverse",
    among: Iterable[Any] | None = None,
    return_values: Literal[True],
    n_threads: int | None = None,
) -> tuple[NDArray[Any], Doubles]: ...
def suggest(
    graph: Any,
    k: int = 10,
    *,
    known: Iterable[Any] = (),
    policy: SuggestPolicy = "diverse",
    among: Iterable[Any] | None = None,
    return_values: bool = False,
    n_threads: int | None = None,
) -> Any:
    """The k nodes to label first, the best first, in a graph without labels. See docs/labelling.md.

    With labels of two or more classes, fit a classifier: its method ``suggest`` knows more.

    Parameters
    ----------
    graph : Graph, sparse or dense adjacency matrix, networkx or igraph graph
        The graph.
    k : int
        How many.
    known : iterable, optional
        Nodes that have a label already, of whatever class; they are not suggested, nor nodes like them.
    policy : {"diverse", "uncertainty"}
        "diverse" takes nodes that are like many others, each unlike the earlier ones; "uncertainty" those whose heat
        reaches most nodes.
    among : iterable, optional
        The nodes that can be labelled; by default all.
    return_values : bool
        Whether to give also what each is worth, to be compared with others of the same call.
    n_threads : int, optional
        Number of threads; by default ``ISOTHERM_THREADS``, or all cores.

    Examples
    --------
    Two stars that are joined at their hubs:

    >>> import isotherm as iso
    >>> stars = iso.Graph.from_edges(["a"] * 5 + ["b"] * 3, ["b", "a1", "a2", "a3", "a4", "b1", "b2", "b3"])
    >>> iso.suggest(stars, 2).tolist()
    ['a', 'b']
    """
    if policy in POLICIES and policy not in WITHOUT_FIT:
        message = "{given} goes by the labels of a fit, and without seeds there is none: use {instead}"
        raise ParameterError(message, given=Option("policy", policy), instead=Option("policy", WITHOUT_FIT[0]))
    _check_request(k, policy)
    network = as_graph(graph)
    chosen, values = choose(
        network,
        np.sort(network.index(list(known))),
        k,
        np.ones(network.n_nodes),
        policy=policy,
        among=None if among is None else network.index(among),
        options=SolveOptions(threads=n_threads),
    )
    nodes = network.nodes[chosen]
    return (nodes, values) if return_values else nodes


def suggest_next(
    fit: Fit, k: int, *, policy: str = "diverse", label: Any = None, among: Iterable[Any] | None = None
) -> tuple[Ints, Doubles]:
    """Positions of the nodes most worth labelling after a fit, and the value of each; see `choose`."""
    _check_request(k, policy, label)
    return choose(
        fit.graph,
        fit.seeds.nodes,
        k,
        _chance(fit, label) if policy == LIKELY else _doubt(fit, policy),
        policy=policy,
        among=None if among is None else fit.graph.index(among),
        groups=fit.outcome.groups,
        side=fit.settings.side,
        reached=fit.outcome.reached,
        options=fit.options,
    )


def _chance(fit: Fit, label: Any) -> Doubles:
    """(n,) how probable a class is at each node."""
    classes = fit.seeds.classes.tolist()
    if label not in classes:
        message = "{label}, but no seed has this label: choose one of {known}"
        raise ParameterError(message, label=Option("label", label), known=first_few(classes, 5))
    return fit.probabilities()[:, classes.index(label)]


def _doubt(fit: Fit, policy: str) -> Doubles:
    """(n,) how doubtful each label is by a policy; unreached nodes are the most doubtful."""
    if policy == "diverse":
        return np.ones(fit.graph.n_nodes)
    if policy == "margin":
        return 1 - fit.outcome.margins()
    if fit.outcome.several:
        raise ParameterError(
            "{given} is for seeds with one label each: use {instead}",
            given=Option("policy", policy),
            instead=Option("policy", "diverse"),
        )
    return np.asarray(1 - fit.confidence)


def _check_request(k: Any, policy: str, label: Any = None) -> None:
    """Refuse an invalid number of nodes or an unknown policy, and a label that goes with another policy."""
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise TypeError(f"k={k!r}, but it must be an integer")
    if k < 1:
        raise ParameterError("{given}, but it must be at least 1", given=Option("k", k))
    check_choice("policy", policy, POLICIES)
    if (label is None) == (policy == LIKELY):
        message = "{given} needs the class to look for: set {label}"
        if label is not None:
            message = "{label} goes with {likely}, not with {given}: leave one of them out"
        given, likely = Option("policy", policy), Option("policy", LIKELY)
        raise ParameterError(message, given=given, likely=likely, label=Option("label"))


def choose(
    graph: Graph,
    seeds: Ints,  # positions, never chosen
    k: int,
    doubt: Doubles,  # (n,) doubt about each label; for "likely", the probability of the class
    *,
    policy: str = "diverse",
    among: Ints | None = None,  # positions of the nodes to choose from, by default all
    groups: Ints | None = None,  # (n,) predicted class number; "diverse" spreads suggestions over the classes
    side: str = "both",
    reached: Mask | None = None,
    options: SolveOptions = SolveOptions(),  # noqa: B008 - frozen
) -> tuple[Ints, Doubles]:
    """Positions of the k nodes most worth labelling, best first, and the value of each; fewer if nodes are short."""
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
    """The expected number of errors that a seed at each node could correct."""

    def __init__(
        self,
        graph: Graph,
        seeds: Ints,
        errors: Doubles,  # (n,) probability that the label of each node is wrong, or the cost of that
        *,
        side: str = "both",
        reached: Mask | None = None,  # (n,) nodes that are connected to a seed, if known
        options: SolveOptions = SolveOptions(),  # noqa: B008 - frozen
    ) -> None:
        self.lifting, self.seeds, self.options = lift(graph, seeds, side=side), seeds, options
        self.conductance = self.lifting.conductance
        self.held = np.zeros(self.conductance.n, bool)
        self.held[self.lifting.boundary] = True
        self.degree = self.conductance.sums
        source = np.zeros(self.conductance.n)
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
        """Reached doubt and coldness of each node, to about 1 %."""
        free = ~self.held & (self.degree > 0)
        sources = np.stack([source, (1 - DAMPING) * self.degree], axis=1)
        x = _damped_heat(
            self.conductance, self.degree, free, sources, DAMPING, kernels.thread_count(self.options.threads)
        )
        x[~self.held & (self.degree == 0)] = 0, 1
        return np.maximum(x, 0, dtype=np.float64)

    def _peaks(self, reached: Mask | None) -> Doubles:
        """Approximate G(v, v): walks of no step, returns after two steps and, if unreached, the stationary share."""
        free = ~self.held & (self.degree > 0)
        inverse = np.divide(1, self.degree, out=np.zeros_like(self.degree), where=free).astype(np.float32)
        squared = None if self.conductance.weights is None else self.conductance.weights.astype(np.float32) ** 2
        back = kernels.block(self.conductance.n, 1, np.float32)
        average_neighbours(
            self.conductance._replace(weights=squared), inverse, inverse[:, None], back, self.options.threads
        )
        peaks = inverse * (1 + DAMPING**2 * back[:, 0].astype(np.float64))
        return peaks + free * DAMPING**3 / (1 - DAMPING) / self._volumes(reached)

    def _volumes(self, reached: Mask | None) -> Doubles:
        """The sum of the degrees in the component of each node; infinite for reached nodes."""
        if reached is None:
            marks = self.held.astype(np.uint8)
            kernels.active.reach(self.conductance.indptr, self.conductance.indices, marks)
            reached = marks > 0
        if not self.degree[~reached].any():
            return np.full(self.conductance.n, np.inf)
        component = kernels.active.components(self.conductance.indptr, self.conductance.indices)
        volume = np.bincount(component, self.degree)
        volume[component[self.held]] = np.inf
        return np.where(volume > 0, volume, np.inf)[component]


def _damped_heat(
    conductance: Csr, degree: Doubles, free: Mask, sources: Doubles, share: float, threads: int
) -> NDArray[np.float32]:
    """(n, 2) temperatures of free nodes, 0 elsewhere: the solution of ``(D - share A) x = sources`` by cg.

    As in the solver `cg`, conjugate gradient is deflated by the constant: each direction is shifted so that as much
    heat leaves as enters. Where walks mix fast, three or four iterations are then enough.
    """
    graph = conductance.of_type(np.float32)
    diagonal = np.where(free, degree / share, 0).astype(np.float32)
    leaving, group = _leaving(conductance, diagonal, degree, free), np.where(free, 0, -1).astype(np.int32)
    x, r = (kernels.block(len(free), 2, np.float32) for _ in range(2))
    np.multiply(sources, np.where(free, 1 / share, 0)[:, None], out=r, casting="same_kind")
    descent = GroupDescent(graph, diagonal, Groups(leaving, group, diagonal, threads), x, r, threads)
    descent.least = DAMPED_TOL**2 * descent.report.dot[:-1]
    descent.balance()
    for _ in range(MOST_DAMPED_STEPS):
        if not (descent.report.dot[:-1] > descent.least).any():
            break
        descent.step()
    return x


def _leaving(conductance: Csr, diagonal: NDArray[np.float32], degree: Doubles, free: Mask) -> NDArray[np.float32]:
    """The heat that leaves each node if all free nodes are at temperature 1."""
    _, ends, weights = conductance.entries_at(np.flatnonzero(~free))
    to_held = np.bincount(ends, weights, minlength=len(free))
    return np.where(free, diagonal - degree + to_held, 0).astype(np.float32)


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
