"""What figures 2 to 4 and tables 2 and 3 have in common: graphs with seeds, scored in either protocol."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from isotherm.experiments.base import AUTHORS, Data, Draw, Measurement, Setting
from isotherm.experiments.scoring import Ints, score_authors, score_corrected
from isotherm.graph import Graph

__all__ = ["Point", "balanced", "of_class", "scored"]


class Point(NamedTuple):
    """A graph with seeds, at a place on the axis."""

    x: float
    graph: Graph
    labels: Ints  # of the nodes, or in the authors' protocol of the nodes of ``graph.heat``
    seeds: Ints
    side: str = "source"


def scored(
    points: Callable[[Setting, Draw, Data], Iterable[Point]],
) -> Callable[[Setting, Draw, Data], Iterator[Measurement]]:
    """The run of an experiment, from the points of such a run."""

    def run(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
        for point in points(setting, draw, data):
            if setting.protocol == AUTHORS:
                scores = score_authors(point.graph.heat, point.labels, point.seeds)
            else:
                scores = score_corrected(point.graph, point.labels, point.seeds, side=point.side)
            for score in scores:
                yield Measurement(point.x, *score)

    return run


def of_class(labels: Ints, number: int, count: int, rng: np.random.Generator) -> Ints:
    """So many nodes of a class, uniformly at random."""
    return rng.permutation(np.flatnonzero(labels == number))[:count]


def balanced(labels: Ints, fraction: float, rng: np.random.Generator) -> Ints:
    """The same fraction of each class, rounded down as in the authors' programs; ascending."""
    sizes = np.bincount(labels)
    return np.sort(np.concatenate([of_class(labels, k, int(fraction * n), rng) for k, n in enumerate(sizes)]))
