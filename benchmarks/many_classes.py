"""All 5000 communities of DBLP as classes, within 2 GB.

Each node has the class of its largest community. Seeds are 1% of the labelled nodes, and one node of each class that
has none by then. A matrix of n x K doubles, of which scikit-network would hold several, does not fit.
"""

import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.process import measure, reported
from benchmarks.results import Result

__all__ = ["draw_seeds", "races"]

LIMIT = 2.0  # GB
BUDGET = 2**29  # bytes that temperatures and scores may take


def races(scale: float = 1.0, rounds: int = 1) -> Iterator[Result]:
    """Peak memory of a process that labels the graph, at `scale` of its classes."""
    turns = [measure(__name__, scale) for _ in range(rounds)]
    peaks = [turn.peak for turn in turns]
    print(f"many classes: {np.median([turn.seconds for turn in turns]):.1f} s")
    name = "equilibrium, best scores kept"
    yield Result("5000 classes on DBLP, peak memory", "limit", [LIMIT] * rounds, name, peaks, goal=1, unit="GB")


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


def main(scale: float) -> None:
    """Label the graph once."""
    import isotherm as iso
    from isotherm.study.datasets import load

    dblp = load("dblp")
    labels = np.where(dblp.labels < 5000 * scale, dblp.labels, -1)
    known = draw_seeds(labels)
    classes = len(np.unique(known)) - 1
    size = dblp.graph.n_nodes * classes * 8 / 1e9
    print(f"DBLP: {dblp.graph.n_nodes} nodes, {classes} classes, {np.count_nonzero(known >= 0)} seeds", end="; ")
    print(f"a matrix of doubles would take {size:.1f} GB")
    with reported():
        clf = iso.DirichletClassifier(max_memory=BUDGET).fit(dblp.graph, known)
        hidden = (labels >= 0) & (known < 0)
        print(f"{np.mean(clf.labels_[hidden] == labels[hidden]):.3f} of the hidden labels found")


if __name__ == "__main__":
    main(float(sys.argv[1]))
