"""Ten sweeps, and equilibrium, against scikit-network's ten sweeps, end to end from the same matrix."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sknetwork.classification import DiffusionClassifier

import isotherm as iso
from benchmarks.graphs import dense_world, small_world
from benchmarks.harness import Contestant, refuse_unless_equal
from benchmarks.results import Result

__all__ = ["races"]


def races(scale: float = 1.0, rounds: int = 5) -> Iterator[Result]:
    """Two races on each of two graphs; as many seeds in each class, so that the two starts give equal labels."""
    warnings.simplefilter("ignore", iso.UnreachedWarning)
    yield from _on("power-law graph", *small_world(scale), goals=(10, 6), rounds=rounds)
    yield from _on("denser graph", *dense_world(scale), goals=(8, 4), rounds=rounds)


def _on(
    name: str, matrix: csr_matrix, labels: NDArray[np.int64], *, goals: tuple[float, float], rounds: int
) -> Iterator[Result]:
    """Three contestants in turns: the peer counts in both races."""
    sweeps = iso.DirichletClassifier(rule="centered", solver="sweeps", tol=None, max_iter=10)
    equilibrium = iso.DirichletClassifier(rule="centered")
    peer = Contestant("scikit-network, ten sweeps", lambda: DiffusionClassifier(n_iter=10).fit(matrix, labels).labels_)
    ours = [
        Contestant("ten sweeps", lambda: sweeps.fit(matrix, labels).labels_),
        Contestant("equilibrium", lambda: equilibrium.fit(matrix, labels).labels_),
    ]
    for _ in range(rounds):
        for contestant in (peer, *ours):
            contestant.turn()
    for each, goal in zip(ours, goals, strict=True):
        yield Result(f"{each.name}, {name}", peer.name, peer.seconds, each.name, each.seconds, goal)
    known = sweeps.reached_
    refuse_unless_equal(sweeps.labels_[known], peer.result[known], sweeps.scores_[known], f"ten sweeps, {name}")
    _compare(matrix, labels, equilibrium, sweeps)


def _compare(matrix: csr_matrix, labels: NDArray[Any], equilibrium: Any, sweeps: Any) -> None:
    """Print how many labels are those of the exact equilibrium."""
    exact = iso.DirichletClassifier(rule="centered", tol=1e-8).fit(matrix, labels)
    after_cg, after_sweeps = (np.mean(clf.labels_ == exact.labels_) for clf in (equilibrium, sweeps))
    print(f"labels equal to those at tol=1e-8: {after_cg:.5f} at equilibrium, {after_sweeps:.5f} after ten sweeps;")
    print(f"equilibrium took {equilibrium.solution_.iterations} iterations of {equilibrium.solution_.solver}")
