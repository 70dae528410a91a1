"""Colours: hashes of what surrounds each node, the same however nodes are numbered and lines are ordered.

Where something has to be drawn at random, such as folds of seeds or the start of an iteration, it is drawn by colour.
Then labels do not depend on the numbering of the nodes. Colours are refined as in the test of Weisfeiler and Leman:
each round hashes the colour of a node with the colours and weights around it. Where few nodes have a colour of their
own, as in a grid, `distinct_colours` tells nodes apart by their ids.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.arrays import Ints
from isotherm.graphs.csr import Csr
from isotherm.kernels.numbering import Words, mixed

if TYPE_CHECKING:
    from isotherm.graphs.graph import Graph

ROUNDS = 16
MANY_ENTRIES = 50_000_000  # in larger graphs, nodes are coloured only where needed, by the degrees around them
GROWTH = 1.05  # rounds go on while each multiplies the number of colours by at least this
OWN = 0.1
SAMPLE = 1 << 14  # nodes among which colours are counted
FEWER = 8  # nodes sorted for each node drawn: those with the lowest colours
AT_ONCE = 1 << 20  # entries that are read at once


def colour_nodes(graph: "Graph") -> Words:
    """(n,) the colour of each node."""
    heat = graph.heat
    unit = 1.0 if heat.weights is None or not heat.entries else float(heat.weights.mean(dtype=np.float64))
    colours, kinds = np.zeros(graph.n_nodes, np.uint64), 1
    for _ in range(ROUNDS):
        ends = np.concatenate([colours, ~colours]) if graph.directed else colours  # arcs join two copies of the nodes
        refined = np.empty_like(ends)
        kernels.active.mix_colours(*heat, unit, ends, refined, kernels.thread_count())
        colours = mixed(refined[: len(colours)] + np.uint64(3) * refined[len(colours) :]) if graph.directed else refined
        some = np.sort(colours[_drawn(colours)])
        before, kinds = kinds, 1 + int(np.count_nonzero(some[1:] != some[:-1]))
        if kinds < GROWTH * before:
            break
    return colours


def distinct_colours(graph: "Graph") -> Words:
    """(n,) the colours; mixed with ids, if nodes that have a colour of their own have less than `OWN` of the edges."""
    some = _drawn(graph.colours)
    _, kinds, counts = np.unique(graph.colours[some], return_inverse=True, return_counts=True)
    degrees = graph.degrees[some]
    if degrees @ (counts[kinds] == 1) >= OWN * degrees.sum():
        return graph.colours
    return mixed(graph.colours ^ id_ranks(graph, np.arange(graph.n_nodes)))


def _drawn(colours: Words) -> Ints:
    """Positions of about `SAMPLE` nodes, drawn by colour: of two nodes with one colour, both are drawn or none."""
    share = SAMPLE / max(len(colours), 1)
    return np.flatnonzero(colours < np.uint64(share * 2.0**64)) if share < 1 else np.arange(len(colours))


def id_ranks(graph: "Graph", nodes: Ints) -> Words:
    """The rank of the id of each of these nodes among them."""
    return ranked(graph.nodes[nodes])


def ranked(ids: NDArray[np.generic]) -> Words:
    """The rank of each id: integers as numbers, others as texts."""
    keys: NDArray[np.generic] = ids if ids.dtype == np.int64 else np.array(list(map(str, ids)), dtype=np.str_)
    ranks = np.empty(len(ids), np.uint64)
    ranks[np.argsort(keys, kind="stable")] = np.arange(len(ids))
    return ranks


def colours_at(graph: "Graph", nodes: Ints) -> Words:
    """The colours of some nodes; in a large graph, ranks by the degrees around them and their ids."""
    if graph.csr.entries <= MANY_ENTRIES:
        return graph.colours[nodes]
    ranks = np.empty(len(nodes), np.uint64)
    ranks[np.lexsort((id_ranks(graph, nodes), _degrees_around(graph.csr, nodes)))] = np.arange(len(nodes))
    return ranks


def _degrees_around(csr: Csr, nodes: Ints) -> Words:
    """A hash of the degrees of some nodes and of their neighbours."""
    counts = csr.counts(nodes)
    found = mixed(counts.astype(np.uint64))
    for some in np.array_split(np.arange(len(nodes)), 1 + int(counts.sum()) // AT_ONCE):
        owner, near, _ = csr.entries_at(nodes[some])
        np.add.at(found, some[owner], mixed(csr.counts(near).astype(np.uint64)))
    return mixed(found)


def spaced(graph: "Graph", nodes: Ints, count: int) -> Ints:
    """At most ``count`` of these nodes, ascending: evenly spaced by colour and id, or in a large graph by position."""
    if len(nodes) <= count:
        return nodes
    if graph.csr.entries > MANY_ENTRIES:
        return np.sort(nodes[np.linspace(0, len(nodes) - 1, count).astype(np.int64)])
    if len(nodes) > FEWER * count:  # most need not be sorted
        low = nodes[graph.colours[nodes] < np.uint64(FEWER * count / len(nodes) * 2.0**64)]
        nodes = low if len(low) >= count else nodes
    colours, places = graph.colours[nodes], np.linspace(0, len(nodes) - 1, count).astype(np.int64)
    order = np.argsort(colours, kind="stable")
    nodes, colours = nodes[order], colours[order]
    alike = np.flatnonzero(np.isin(colours, colours[places]))  # ids are slow to sort: only those that matter
    ranks = id_ranks(graph, nodes[alike])
    nodes[alike] = nodes[alike][np.lexsort((ranks, colours[alike]))]
    return np.sort(nodes[places])
