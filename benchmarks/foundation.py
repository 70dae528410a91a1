"""Ten sweeps, and equilibrium, against scikit-network's ten sweeps, end to end from the same matrix."""

import warnings

import numpy as np
from sknetwork.classification import DiffusionClassifier

import isotherm as iso
from benchmarks.graphs import small_world
from benchmarks.harness import Contestant, Race, refuse_unless_equal

__all__ = ["races"]


def races(scale: float = 1.0, rounds: int = 5) -> list[Race]:
    """Two races; as many seeds in each class, so that the two starts give equal labels."""
    matrix, labels = small_world(scale)
    warnings.simplefilter("ignore", iso.UnreachedWarning)
    sweeps = iso.DirichletClassifier(solver="sweeps", tol=None, max_iter=10)
    equilibrium = iso.DirichletClassifier()

    def peer() -> object:
        return DiffusionClassifier(n_iter=10).fit(matrix, labels).labels_

    result = [
        Race(
            "ten sweeps, power-law graph",
            Contestant("scikit-network, ten sweeps", peer),
            Contestant("ten sweeps", lambda: sweeps.fit(matrix, labels).labels_),
            goal=8,
        ),
        Race(
            "equilibrium, power-law graph",
            Contestant("scikit-network, ten sweeps", peer),
            Contestant("equilibrium", lambda: equilibrium.fit(matrix, labels).labels_),
            goal=4,
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
