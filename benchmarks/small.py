"""What is felt on a small graph: importing the classifier, and a fit of a citation graph of 2700 nodes.

Imports are timed in a process each, by the interpreter itself. The graph is Cora if it is at hand, otherwise a
power-law graph with as many nodes and edges; the seeds are twenty of each of seven classes.
"""

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator

import numpy as np

import isotherm as iso
from benchmarks.graphs import balanced_seeds, power_law
from benchmarks.harness import Contestant
from benchmarks.results import Result
from isotherm.study.datasets import available, load

__all__ = ["races"]

NODES, EDGES, CLASSES, SEEDS = 2708, 5278, 7, 140
FIT, CALIBRATED = 5.0, 40.0  # milliseconds
PEER, OURS = "from sklearn.base import BaseEstimator", "import isotherm; isotherm.DirichletClassifier"


def races(scale: float = 1.0, rounds: int = 5) -> Iterator[Result]:
    """Importing against scikit-learn's base class, then a fit without and with calibration against limits."""
    turns = [(_seconds(PEER), _seconds(OURS)) for _ in range(rounds)]
    theirs, ours = ([turn[who] for turn in turns] for who in (0, 1))
    yield Result("import the classifier", "BaseEstimator of scikit-learn", theirs, "isotherm", ours, goal=1 / 1.2)
    warnings.simplefilter("ignore")
    graph, seeds = _graph(), balanced_seeds(NODES, SEEDS, CLASSES)
    clf = iso.DirichletClassifier(rule="centered")
    runs: dict[str, tuple[float, Callable[[], object]]] = {
        "fit of Cora": (FIT, lambda: clf.fit(graph, seeds).labels_),
        "fit of Cora with confidence": (CALIBRATED, lambda: clf.fit(graph, seeds).confidence_),
    }
    for work, (limit, run) in runs.items():
        contestant = Contestant(work, run, factor=1000)
        run()
        for _ in range(rounds):
            contestant.turn()
        yield Result(work, "limit", [limit] * rounds, "isotherm", contestant.seconds, goal=1, unit="ms")


def _seconds(statement: str) -> float:
    """How long a statement takes in a new interpreter that is already running."""
    code = f"import time; began = time.perf_counter(); {statement}; print(time.perf_counter() - began)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def _graph() -> iso.Graph:
    if os.environ.get("ISOTHERM_DATA") and "cora" in available():
        return load("cora").graph
    matrix = power_law(NODES, EDGES)
    matrix.data = np.ones(matrix.nnz)
    return iso.Graph.from_scipy(matrix)
