"""What comes after a fit, explain, suggest and update, against the fit itself, from the same matrix."""

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

import isotherm as iso
from benchmarks.graphs import CLASSES, dense_world, small_world
from benchmarks.harness import Contestant, Race

__all__ = ["races"]


def races(scale: float = 1.0, rounds: int = 5) -> Iterator[Race]:
    """Each answer against the fit, on the power-law graph; then updates where the graph has several components."""
    warnings.simplefilter("ignore")
    world = _World("power-law graph", *small_world(scale))
    few, many = world.nodes // 10_000, world.nodes // 100
    for ours, goal in (
        (Contestant("explain a node", world.explain), 20),
        (Contestant("suggest 10 nodes", world.suggest), 3),
        (Contestant("update with 1 seed more", lambda: world.update(1)), 5),
        (Contestant("update with 8 seeds more", lambda: world.update(8)), 5),
        (Contestant("update with 1 seed less", lambda: world.remove(1)), 5),
        (Contestant("update with 1% of the seeds more", lambda: world.update(few)), 4),
        (Contestant("update with 1% of the nodes more", lambda: world.update(many)), 4),
    ):
        yield world.race(ours, goal, rounds)
    apart = _World("denser graph", *dense_world(scale))
    yield apart.race(Contestant("update with 1 seed more", lambda: apart.update(1)), 5, rounds)
    yield apart.race(Contestant("update with 1 seed less", lambda: apart.remove(1)), 5, rounds)


class _World:
    """A graph, and a classifier on it."""

    def __init__(self, name: str, matrix: csr_matrix, labels: NDArray[np.int64]) -> None:
        self.name, self.matrix, self.labels, self.nodes = name, matrix, labels, len(labels)
        self.clf, self.rng = iso.DirichletClassifier(rule="centered"), np.random.default_rng(2)
        self.free, self.seeds = np.flatnonzero(labels < 0), np.flatnonzero(labels >= 0)

    def race(self, ours: Contestant, goal: float, rounds: int) -> Race:
        """Race against the fit, each turn of which forgets the updates."""
        race = Race(f"{ours.name}, {self.name}", Contestant("fit", self.fit), ours, goal)
        race.run(rounds)
        return race

    def fit(self) -> object:
        return self.clf.fit(self.matrix, self.labels).labels_

    def explain(self) -> object:
        return self.clf.explain(int(self.rng.choice(self.free)))

    def suggest(self) -> object:
        return self.clf.suggest(10)

    def update(self, count: int) -> object:
        more = self.rng.choice(self.free, count, replace=False).tolist()
        return self.clf.update({node: node % CLASSES for node in more}).labels_

    def remove(self, count: int) -> object:
        return self.clf.update(remove=self.rng.choice(self.seeds, count, replace=False).tolist()).labels_
