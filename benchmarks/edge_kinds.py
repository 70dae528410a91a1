"""Graphs with two kinds of edges: what a useless kind costs, and what a second useful one brings.

The useless kind has as many edges as the graph, between random nodes. The useful one joins each node to the ten nodes
whose features are nearest. Both are added to graphs of the development half, on which the levels were chosen.
The figures are means over the graphs of the share of wrong labels among nodes that are not seeds.
"""

import warnings
import zlib
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

import isotherm as iso
from benchmarks.accuracy.graphs import Item, at_hand, load_item
from benchmarks.accuracy.halves import HALVES
from benchmarks.results import Result
from isotherm.study.tasks import PROTOCOLS, Draw

__all__ = ["races", "shortfalls"]

MOST_ENTRIES = 150_000  # of a graph
ALLOWED = 0.005  # what a useless kind may cost
ALONE, OTHER, ALIKE, OURS = "first kind alone", "second kind alone", "all kinds alike", "weights by hidden seeds"


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Result]:
    """All figures, on graphs of at most ``scale`` times as many entries, with so many draws of seeds on each."""
    warnings.simplefilter("ignore")  # few seeds, and many classes
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for name in at_hand():
        item = load_item(name)
        if HALVES[name] != "development" or item.task.graph.csr.entries > scale * MOST_ENTRIES:
            continue
        for second in ("useless", "useful") if item.task.features is not None else ("useless",):
            for protocol in PROTOCOLS:
                means = shortfalls(item, second, item.draws(protocol, rounds))
                print(f"{name}, {second}, {protocol}: {means}", flush=True)
                for each, mean in means.items():
                    found[second, protocol, each].append(mean)
    for second, protocol, each in found:
        if each != OURS:
            theirs, ours = (float(np.mean(found[second, protocol, key])) for key in (each, OURS))
            allowed = ALLOWED if (second, each) == ("useless", ALONE) else 0
            peer = f"{each}, and {100 * allowed:g} points" if allowed else each
            work = f"wrong labels, a second kind of edges that is {second}, {protocol}"
            yield Result(work, peer, [theirs + allowed], OURS, [ours], 1.0, unit="of 1")


def shortfalls(item: Item, second: str, draws: list[Draw]) -> dict[str, float]:
    """The share of wrong labels with each way to weigh the kinds, a mean over draws."""
    first, other = item.task.graph, (_useful if second == "useful" else _useless)(item)
    arcs = [each.edges_only.adjacency.tocoo() for each in (first, other)]
    source, target, weight = (np.concatenate([getattr(a, part) for a in arcs]) for part in ("row", "col", "data"))
    kind = np.repeat(["first", "second"], [arcs[0].nnz, arcs[1].nnz])
    both = iso.Graph.from_edges(source, target, weight, nodes=np.arange(first.n_nodes), kind=kind)
    graphs = {ALONE: first.edges_only, OTHER: other, ALIKE: both.weigh_kinds(), OURS: both}
    return {name: float(np.mean([_wrong(graph, draw) for draw in draws])) for name, graph in graphs.items()}


def _wrong(graph: iso.Graph, draw: Draw) -> float:
    labels = iso.NodeClassifier().fit(graph, draw.known).labels_
    return float(np.mean(labels[draw.scored] != draw.task.truth[draw.scored]))


def _useless(item: Item) -> iso.Graph:
    """As many edges between random nodes, of the mean weight."""
    links, rng = item.task.graph.edges_only, np.random.default_rng(zlib.crc32(item.name.encode()))
    source, target = rng.integers(0, links.n_nodes, (2, links.n_edges))
    weight = np.full(links.n_edges, links.degrees.sum() / max(links.csr.entries, 1))
    return iso.Graph.from_edges(source, target, weight, nodes=np.arange(links.n_nodes))


def _useful(item: Item) -> iso.Graph:
    """Edges to the nodes whose features are nearest."""
    return iso.Graph.from_vectors(item.task.features, k=10, metric="cosine", weights=None)
