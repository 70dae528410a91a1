"""The points of figures 2 to 4 and tables 2 and 3: a graph with seeds, scored in either protocol."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from isotherm.arrays import Ints
from isotherm.graphs import Graph
from isotherm.paper.running.experiment import AUTHORS, Data, Draw, Measurement, Setting
from isotherm.paper.running.scoring import score_authors, score_corrected

__all__ = ["Point", "balanced", "of_class", "scored"]


class Point(NamedTuple):
    """A graph with seeds, at a position on the axis."""

    x: float
    graph: Graph
    labels: Ints  # of the nodes; in the authors' protocol, of the nodes of ``graph.heat``
    seeds: Ints
    side: str = "source"


def scored(
    points: Callable[[Setting, Draw, Data], Iterable[Point]],
) -> Callable[[Setting, Draw, Data], Iterator[Measurement]]:
    """Make the `run` of an experiment from a function that gives its points."""

    def run(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
        for point in points(setting, draw, data):
            if setting.protocol == AUTHORS:
                scores = score_authors(point.graph.heat, point.labels, point.seeds)
            else:
                scores = score_corrected(point.graph, point.labels, point.seeds, side=point.side)
            for score in scores:
                yield score._replace(x=point.x)

    return run


def of_class(labels: Ints, number: int, count: int, rng: np.random.Generator) -> Ints:
    """`count` nodes of a class, uniformly at random, or all if there are fewer."""
    return rng.permutation(np.flatnonzero(labels == number))[:count]


def balanced(labels: Ints, fraction: float, rng: np.random.Generator) -> Ints:
    """The same fraction of each class, rounded down as in the authors' programs; in ascending order."""
    sizes = np.bincount(labels)
    return np.sort(np.concatenate([of_class(labels, k, int(fraction * n), rng) for k, n in enumerate(sizes)]))
