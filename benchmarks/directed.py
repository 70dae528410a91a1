"""Equilibrium on a directed graph against scikit-network's ten sweeps: time, and peak memory.

Each turn is a process of its own. A directed graph is a bipartite one of twice the nodes, as in section 2.3 of the
paper; scikit-network does the same if asked to (``force_bipartite``), and otherwise follows the arcs one way, which is
another definition and half the work. Both are raced.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.graphs import FOLDER, keep
from benchmarks.process import Measure, measure, reported
from benchmarks.results import Result

__all__ = ["races"]

OURS = "equilibrium"
PEERS = {"arcs": "scikit-network, ten sweeps along the arcs", "bipartite": "scikit-network, ten sweeps, bipartite"}
ROOM = 14  # GB that a race at full size needs


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Result]:
    """Time and peak memory against each peer; left out where memory does not allow it."""
    if _free_memory() < ROOM * scale:
        print(f"directed graph left out: it needs {ROOM * scale:.0f} GB of free memory, there are {_free_memory():.0f}")
        return
    path = FOLDER / f"web_like_{scale:g}.npz"
    if not path.exists():
        measure(__name__, "make", path, scale)
    turns: dict[str, list[Measure]] = {name: [] for name in (OURS, *PEERS)}
    for _ in range(rounds):
        for name, measures in turns.items():
            measures.append(measure(__name__, name, path))
    for name, peer in PEERS.items():
        for what, goal, unit in (("seconds", 4.0, "s"), ("peak", 2.0, "GB")):
            theirs, ours = ([getattr(turn, what) for turn in turns[who]] for who in (name, OURS))
            work = "directed graph" if unit == "s" else "directed graph, peak memory"
            yield Result(work, peer, theirs, OURS, ours, goal, unit)


def make(path: Path, scale: float) -> None:
    """Write a web-like graph, and the labels of 1% of its nodes."""
    from benchmarks.classify import ARCS, CLASSES, NODES, SEED_SHARE, web_like  # loads what would count as memory

    n = int(NODES * scale)
    source, target = web_like(n, int(ARCS * scale))
    labels = np.full(n, -1)
    chosen = np.random.default_rng(2).choice(n, int(SEED_SHARE * n), replace=False)
    labels[chosen] = chosen % CLASSES
    indptr = np.searchsorted(source, np.arange(n + 1)).astype(np.int32)
    keep(path, indptr=indptr, indices=target.astype(np.int32), labels=labels)
    print(f"web-like graph: {n} nodes, {len(target)} arcs, {CLASSES} classes, {len(chosen)} seeds")


def read(path: Path) -> tuple[csr_matrix, NDArray[np.int64]]:
    stored = np.load(path, allow_pickle=False)
    indices, indptr = stored["indices"], stored["indptr"]
    n = len(indptr) - 1
    return csr_matrix((np.ones(len(indices)), indices, indptr), shape=(n, n)), stored["labels"]


def ten_sweeps(matrix: csr_matrix, labels: NDArray[np.int64], *, bipartite: bool) -> None:
    from sknetwork.classification import DiffusionClassifier

    with reported():
        if bipartite:
            DiffusionClassifier(n_iter=10).fit(matrix, labels_row=labels, labels_col=labels, force_bipartite=True)
        else:
            DiffusionClassifier(n_iter=10).fit(matrix, labels)


def equilibrium(matrix: csr_matrix, labels: NDArray[np.int64]) -> None:
    from isotherm import DirichletClassifier, Graph

    with reported():
        DirichletClassifier(side="both").fit(Graph.from_scipy(matrix, directed=True), labels)


def main(what: str, path: Path, scale: str = "1") -> None:
    """Make the graph, or take one turn."""
    if what == "make":
        with reported():
            make(path, float(scale))
    elif what == OURS:
        equilibrium(*read(path))
    else:
        ten_sweeps(*read(path), bipartite=what == "bipartite")


def _free_memory() -> float:
    """Memory that a new process could have, in GB; without limit where the system does not tell."""
    info = Path("/proc/meminfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((int(line.split()[1]) / 2**20 for line in lines if line.startswith("MemAvailable")), np.inf)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
