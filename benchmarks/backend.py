"""networkx' own node classification, and the same calls with ``backend="isotherm"``, which give the same labels.

networkx keeps the converted graph with the original one. So a second call is raced as well as the first one: the first
includes the conversion of a graph of dictionaries into a matrix, which is networkx' own code in both cases.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from benchmarks.graphs import CLASSES, balanced_seeds, power_law
from benchmarks.harness import Contestant, Race

__all__ = ["races"]

NODES, EDGES = 100_000, 500_000
GOAL = 50
FUNCTIONS = ("harmonic_function", "local_and_global_consistency")


def races(scale: float = 1.0, rounds: int = 5) -> Iterator[Race]:
    """Each function on a graph of 100,000 nodes, on a graph that was converted before and on one that was not."""
    warnings.simplefilter("ignore")  # networkx warns that it uses what it has kept
    G = _graph(int(NODES * scale), int(EDGES * scale))
    for name in FUNCTIONS:
        function: Callable[..., list[Any]] = getattr(nx.node_classification, name)
        for first in (False, True):
            yield _race(G, name, function, rounds, first=first)


def _race(G: nx.Graph, name: str, function: Callable[..., list[Any]], rounds: int, *, first: bool) -> Race:
    def ours() -> list[Any]:
        if first:
            G.__networkx_cache__.clear()
        return function(G, backend="isotherm")

    work = f"{name}, {len(G):,} nodes, {'first' if first else 'later'} call"
    peer, mine = Contestant("networkx", lambda: function(G)), Contestant("isotherm", ours)
    race = Race(work, peer, mine, goal=1 if first else GOAL)
    ours()
    race.run(rounds)
    _refuse_unless_equal(mine.result, peer.result, name)
    return race


def _refuse_unless_equal(ours: list[Any], theirs: list[Any], name: str) -> None:
    """Stop unless labels are the same, but for ties that rounding decides."""
    wrong = np.count_nonzero(np.array(ours) != np.array(theirs))
    if wrong > len(ours) // 10_000:
        raise SystemExit(f"{name}: {wrong} of {len(ours)} labels differ: these are two definitions, no race")


def _graph(n: int, edges: int) -> nx.Graph:
    """A power-law graph with 1% of its nodes labelled."""
    G = nx.from_scipy_sparse_array(power_law(n, edges))
    seeds = balanced_seeds(n, n // 100, CLASSES)
    nx.set_node_attributes(G, {node: int(seeds[node]) for node in np.flatnonzero(seeds >= 0).tolist()}, "label")
    return G
