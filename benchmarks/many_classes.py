"""Thousands of classes: all 5000 communities of DBLP, and 3000 classes on a power-law graph of 300,000 nodes.

On DBLP each node has the class of its largest community. Seeds are 1% of the labelled nodes, and one node of each class
that has none by then. On the power-law graph each class has two seeds. A matrix of n x K doubles, of which
scikit-network would hold several, does not fit, so there is no peer: the limits are those that were set.
"""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmarks.graphs import balanced_seeds, kept_power_law
from benchmarks.process import measure, reported
from benchmarks.results import Result

if TYPE_CHECKING:
    from isotherm import Graph

__all__ = ["draw_seeds", "races"]

LIMIT = 2.0  # GB
SECONDS = {"dblp": 120.0, "power law": 27.8}  # limits; the second is a tenth of what it once took
NODES, EDGES, CLASSES = 300_000, 1_010_000, 3000
BUDGET = 2**29  # bytes that temperatures and scores may take


def races(scale: float = 1.0, rounds: int = 1) -> Iterator[Result]:
    """Time and peak memory of a process that labels each graph, at `scale` of its classes, and of the made-up nodes."""
    for graph, work in (("dblp", "5000 classes on DBLP"), ("power law", "3000 classes on a power-law graph")):
        turns = [measure(__name__, graph, scale) for _ in range(rounds)]
        peaks, seconds = [turn.peak for turn in turns], [turn.seconds for turn in turns]
        name = "equilibrium, best scores kept"
        yield Result(f"{work}, peak memory", "limit", [LIMIT] * rounds, name, peaks, goal=1, unit="GB")
        yield Result(f"{work}, time", "limit", [SECONDS[graph]] * rounds, name, seconds, goal=1, unit="s")


def draw_seeds(labels: NDArray[np.int64], share: float = 0.01, *, seed: int = 0) -> NDArray[np.int64]:
    """Labels of seeds, -1 elsewhere: a share of the labelled nodes, and one at least of each class."""
    rng = np.random.default_rng(seed)
    labelled = rng.permutation(np.flatnonzero(labels >= 0))
    drawn = labelled[: int(share * len(labelled))]
    _, first = np.unique(labels[labelled], return_index=True)
    drawn = np.union1d(drawn, labelled[first])
    known = np.full(len(labels), -1)
    known[drawn] = labels[drawn]
    return known


def main(name: str, scale: float) -> None:
    """Label a graph once."""
    import isotherm as iso

    graph, labels, known = dblp(scale) if name == "dblp" else small_classes(scale)
    classes = len(np.unique(known)) - 1
    size = graph.n_nodes * classes * 8 / 1e9
    print(f"{name}: {graph.n_nodes} nodes, {classes} classes, {np.count_nonzero(known >= 0)} seeds", end="; ")
    print(f"a matrix of doubles would take {size:.1f} GB")
    with reported():
        clf = iso.DirichletClassifier("relative", max_memory=BUDGET).fit(graph, known)
        hidden = (labels >= 0) & (known < 0)
        if hidden.any():
            print(f"{np.mean(clf.labels_[hidden] == labels[hidden]):.3f} of the hidden labels found")


def dblp(scale: float) -> "tuple[Graph, NDArray[np.int64], NDArray[np.int64]]":
    """The graph, the class of each node and those of the seeds."""
    from isotherm.study.datasets import load

    dataset = load("dblp")
    labels = np.where(dataset.labels < 5000 * scale, dataset.labels, -1)
    return dataset.graph, labels, draw_seeds(labels)


def small_classes(scale: float) -> "tuple[Graph, NDArray[np.int64], NDArray[np.int64]]":
    """The same for a graph without communities: only the seeds have a class."""
    import isotherm as iso

    nodes, edges, classes = (int(count * scale) for count in (NODES, EDGES, CLASSES))
    known = balanced_seeds(nodes, 2 * classes, classes)
    return iso.Graph.from_scipy(kept_power_law(nodes, edges)), known, known


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
