"""What comes after a fit, explain, suggest and update, against the fit itself, from the same matrix."""

import warnings
from collections.abc import Iterator

import numpy as np

import isotherm as iso
from benchmarks.graphs import CLASSES, small_world
from benchmarks.harness import Contestant, Race

__all__ = ["races"]


def races(scale: float = 1.0, rounds: int = 5) -> Iterator[Race]:
    """Each answer against the fit; each turn of the fit forgets the updates."""
    warnings.simplefilter("ignore")
    matrix, labels = small_world(scale)
    clf, rng, free = iso.DirichletClassifier(rule="centered"), np.random.default_rng(2), np.flatnonzero(labels < 0)

    def fitted() -> object:
        return clf.fit(matrix, labels).labels_

    def updated(count: int) -> object:
        more = rng.choice(free, count, replace=False).tolist()
        return clf.update({node: node % CLASSES for node in more}).labels_

    def without(count: int) -> object:
        fewer = rng.choice(np.flatnonzero(labels >= 0), count, replace=False).tolist()
        return clf.update(remove=fewer).labels_

    few, many = len(labels) // 10_000, len(labels) // 100
    for ours, goal in (
        (Contestant("explain a node", lambda: clf.explain(int(rng.choice(free)))), 20),
        (Contestant("suggest 10 nodes", lambda: clf.suggest(10)), 3),
        (Contestant("update with 1 seed more", lambda: updated(1)), 5),
        (Contestant("update with 8 seeds more", lambda: updated(8)), 5),
        (Contestant("update with 1 seed less", lambda: without(1)), 5),
        (Contestant("update with 1% of the seeds more", lambda: updated(few)), 4),
        (Contestant("update with 1% of the nodes more", lambda: updated(many)), 4),
    ):
        race = Race(f"{ours.name}, power-law graph", Contestant("fit", fitted), ours, goal)
        race.run(rounds)
        yield race
