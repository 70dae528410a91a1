"""Ten sweeps, and equilibrium, against scikit-network's ten sweeps, end to end from the same matrix."""

import warnings

import numpy as np
from sknetwork.classification import DiffusionClassifier

import isotherm as iso
from benchmarks.graphs import balanced_seeds, power_law
from benchmarks.harness import Contestant, Race, refuse_unless_equal

__all__ = ["races"]


def races(n: int = 1_000_000, edges: int = 11_500_000, classes: int = 10, rounds: int = 5) -> list[Race]:
    """Two races on a power-law graph with 1% seeds, as many in each class, so that the two starts give equal labels."""
    matrix = power_law(n, edges)
    labels = balanced_seeds(n, n // 100, classes)
    print(f"power-law graph: {n} nodes, {matrix.nnz} entries, {classes} classes, {n // 100} seeds", flush=True)
    warnings.simplefilter("ignore", iso.UnreachedWarning)
    sweeps = iso.DirichletClassifier(solver="sweeps", tol=None, max_iter=10)
    equilibrium = iso.DirichletClassifier()

    def peer() -> object:
        return DiffusionClassifier(n_iter=10).fit(matrix, labels).labels_

    result = [
        Race(
            "ten sweeps",
            Contestant("scikit-network, ten sweeps", peer),
            Contestant("ten sweeps", lambda: sweeps.fit(matrix, labels).labels_),
            goal=6,
        ),
        Race(
            "equilibrium, tol 1e-3",
            Contestant("scikit-network, ten sweeps", peer),
            Contestant("equilibrium", lambda: equilibrium.fit(matrix, labels).labels_),
            goal=3,
        ),
    ]
    for race in result:
        race.run(rounds)
    known = sweeps.reached_
    refuse_unless_equal(sweeps.labels_[known], result[0].peer.result[known], sweeps.scores_[known], "ten sweeps")
    exact = iso.DirichletClassifier(tol=1e-8).fit(matrix, labels)
    after_cg, after_sweeps = (np.mean(clf.labels_ == exact.labels_) for clf in (equilibrium, sweeps))
    print(f"labels equal to those at tol=1e-8: {after_cg:.5f} at equilibrium, {after_sweeps:.5f} after ten sweeps;")
    print(f"equilibrium took {equilibrium.solution_.iterations} iterations of {equilibrium.solution_.solver}")
    return result
