"""The map: time, memory, and whether neighbours on it are of the same class; against igraph, and against fixed goals.

The goals in seconds are for two cores of about 3 GHz. igraph's UMAP and DrL layouts are the nearest peers: they were
made for the same look. They are raced on Cora only; they need minutes on the others.
"""

import gzip
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

import isotherm as iso
from benchmarks.graphs import EDGES, NODES, kept_power_law
from benchmarks.harness import Contestant, Race
from benchmarks.process import measure, reported
from benchmarks.results import Result

__all__ = ["races", "same_class"]


class Goal(NamedTuple):
    """What is asked of the map of a graph."""

    graph: str
    seconds: float
    gigabytes: float | None = None
    same_class: float | None = None


GOALS = (
    Goal("cora", 1, same_class=0.72),
    Goal("debian_bookworm", 6, same_class=0.52),
    Goal("com-amazon", 30),
    Goal("power-law", 60, gigabytes=2),
)


def same_class(positions: NDArray[Any], labels: NDArray[Any]) -> float:
    """Of the ten nearest points of each labelled node, how many have its label."""
    known = labels >= 0
    _, near = KDTree(positions[known]).query(positions[known], 11)
    labels = labels[known]
    return float((labels[near[:, 1:]] == labels[:, None]).mean())


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Race | Result]:
    """The goals, each turn in a process of its own; then igraph on Cora, turn by turn."""
    for goal in GOALS:
        if not _at_hand(goal.graph):
            continue
        turns = [measure("benchmarks.layout", goal.graph, scale) for _ in range(rounds)]
        yield _against("seconds", goal, goal.seconds, [turn.seconds for turn in turns], "s")
        if goal.gigabytes is not None:
            yield _against("peak memory", goal, goal.gigabytes, [turn.peak for turn in turns], "GB")
        if goal.same_class is not None:
            graph, labels = load(goal.graph, scale)
            missed = [1 - same_class(graph.layout(seed=seed, cache=False), labels) for seed in range(rounds)]
            yield _against("other classes among the ten nearest", goal, 1 - goal.same_class, missed, "share")
    if _at_hand("cora"):
        race = _against_igraph(*load("cora", scale))
        race.run(rounds)
        yield race


def _against(what: str, goal: Goal, most: float, found: list[float], unit: str) -> Result:
    return Result(f"map of {goal.graph}: {what}", "goal", [most] * len(found), "layout", found, 1, unit)


def _against_igraph(graph: iso.Graph, labels: NDArray[np.int64]) -> Race:
    import igraph

    rows, columns = graph.adjacency.nonzero()
    once = rows < columns
    peer = igraph.Graph(n=graph.n_nodes, edges=np.stack([rows[once], columns[once]], axis=1).tolist())
    share = same_class(np.array(peer.layout_umap(seed=np.random.default_rng(0).random((graph.n_nodes, 2)))), labels)
    ours = same_class(graph.layout(cache=False), labels)
    return Race(
        f"map of cora: {ours:.2f} of the ten nearest of the same class, igraph {share:.2f}",
        Contestant("igraph UMAP", peer.layout_umap),
        Contestant("layout", lambda: graph.layout(cache=False)),
        goal=1,
    )


def load(name: str, scale: float) -> tuple[iso.Graph, NDArray[np.int64]]:
    """A graph, and the class numbers of its nodes, -1 where unknown."""
    if name == "power-law":
        graph = iso.Graph.from_scipy(kept_power_law(int(NODES * scale), int(EDGES * scale)))
        return graph, np.full(graph.n_nodes, -1)
    if name.startswith("com-"):
        with gzip.open(_file(name)) as lines:
            ends = np.loadtxt(lines, dtype=np.int64, comments="#")
        graph = iso.Graph.from_edges(ends[:, 0], ends[:, 1])
        return graph, np.full(graph.n_nodes, -1)
    stored = np.load(_file(name), allow_pickle=False)
    graph = iso.Graph.from_edges(stored["row"], stored["col"], nodes=np.arange(int(stored["n"])))
    return graph, stored["labels"]


def _file(name: str) -> Path:
    suffix = ".ungraph.txt.gz" if name.startswith("com-") else ".npz"
    return Path(os.environ.get("ISOTHERM_DATA", "../shared/data")) / f"{name}{suffix}"


def _at_hand(name: str) -> bool:
    return name == "power-law" or _file(name).exists()


def main() -> None:
    """One turn, in a process of its own."""
    graph, _ = load(sys.argv[1], float(sys.argv[2]))
    with reported():
        graph.layout(cache=False)


if __name__ == "__main__":
    main()
