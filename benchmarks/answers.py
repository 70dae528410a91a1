"""What comes after a fit of the default, explain, suggest and update, against the fit itself, from the same matrix."""

import warnings
from collections.abc import Callable, Iterator

import numpy as np

import isotherm as iso
from benchmarks.graphs import EDGES, NODES, block_world
from benchmarks.harness import Contestant, Race

__all__ = ["races"]


def races(scale: float = 1.0, rounds: int = 5) -> Iterator[Race]:
    """Each answer against the fit, on a block model of a million nodes at full size; labels come with confidence."""
    warnings.simplefilter("ignore")
    world = _World(scale)
    answers: list[tuple[str, Callable[[], object], float | None]] = [
        ("explain a node", world.explain, 20),
        ("suggest 10 nodes", world.suggest, 3),
        ("update with 1 seed more", lambda: world.update(1), 5),
        ("update with 8 seeds more", lambda: world.update(8), 3),
        ("update with 1 seed less", world.remove, 5),
        ("update with 1% of the seeds more", lambda: world.update(len(world.seeds) // 100), None),
    ]
    for name, answer, goal in answers:
        race = Race(name, Contestant("fit", world.fit), Contestant(name, answer), goal)
        race.run(rounds)
        yield race


class _World:
    """A graph, and a classifier on it."""

    def __init__(self, scale: float) -> None:
        self.matrix, self.classes, self.known = block_world(int(NODES * scale), int(EDGES * scale))
        self.clf, self.rng = iso.NodeClassifier(), np.random.default_rng(2)
        self.free, self.seeds = np.flatnonzero(self.known < 0), np.flatnonzero(self.known >= 0)

    def fit(self) -> object:
        """Forgets the updates."""
        clf = self.clf.fit(self.matrix, self.known)
        return clf.labels_, clf.confidence_

    def explain(self) -> object:
        return self.clf.explain(int(self.rng.choice(self.free)))

    def suggest(self) -> object:
        return self.clf.suggest(10)

    def update(self, count: int) -> object:
        more = self.rng.choice(self.free, max(count, 1), replace=False)
        clf = self.clf.update(dict(zip(more.tolist(), self.classes[more].tolist(), strict=True)))
        return clf.labels_, clf.confidence_

    def remove(self) -> object:
        clf = self.clf.update(remove=[int(self.rng.choice(self.seeds))])
        return clf.labels_, clf.confidence_
