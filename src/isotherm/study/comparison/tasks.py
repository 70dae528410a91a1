"""A task: find the hidden labels of a graph from a draw of seeds."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
from scipy.sparse import csr_array, csr_matrix
from scipy.sparse.csgraph import connected_components

from isotherm.arrays import Ints, Mask
from isotherm.graphs import Graph

__all__ = ["PROTOCOLS", "Draw", "Protocol", "Task", "draw_seeds", "per_class", "share_of_classes", "share_of_labels"]

T = TypeVar("T")
Protocol: TypeAlias = Callable[[Ints, np.random.Generator], Ints]  # from (n,) classes to positions of seeds


@dataclass(eq=False)
class Task:
    """A graph with known labels.

    Attributes
    ----------
    graph
        The graph, as Isotherm gets it.
    truth
        (n,) the class of each node, 0 to K-1; -1 where it is unknown.
    features
        (n, d) features of the nodes, if there are any.
    costs
        CPU seconds that it took to make what `shared` keeps.
    used
        What was asked of `shared` since this set was last emptied.
    """

    graph: Graph
    truth: Ints
    features: csr_array | None = None
    costs: dict[str, float] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    _kept: dict[str, Any] = field(default_factory=dict)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.truth.max()) + 1

    @cached_property
    def matrix(self) -> csr_matrix:
        """The weights of edges without their direction, in the type that scikit-network wants."""
        adjacency = self.graph.adjacency
        both = adjacency + adjacency.T if self.graph.directed else adjacency
        return csr_matrix(both, dtype=np.float64)

    @cached_property
    def components(self) -> Ints:
        """(n,) the connected component of each node, without regard to directions."""
        return np.asarray(connected_components(self.matrix, directed=False)[1], dtype=np.int64)

    def shared(self, key: str, make: Callable[[], T]) -> T:
        """What does not depend on the seeds is made once; its CPU seconds are kept, to be charged to each use."""
        self.used.add(key)
        if key not in self._kept:
            began = time.process_time()
            self._kept[key] = make()
            self.costs[key] = time.process_time() - began
        kept: T = self._kept[key]
        return kept


@dataclass(frozen=True, eq=False)
class Draw:
    """What a method sees of a task, and where it is scored.

    Attributes
    ----------
    seeds
        Positions of the seeds.
    known
        (n,) the class of each seed, -1 elsewhere.
    scored
        (n,) labelled nodes that are not seeds.
    reached
        (n,) nodes that are connected to a seed, without regard to directions.
    """

    seeds: Ints
    known: Ints
    scored: Mask
    reached: Mask

    @classmethod
    def of(cls, task: Task, seeds: Ints, scored: Mask | None = None) -> "Draw":
        """The draw with these seeds; all other labels are scored, or those given."""
        known = np.full(len(task.truth), -1, dtype=np.int64)
        known[seeds] = task.truth[seeds]
        others = (task.truth >= 0) & (known < 0)
        reached = np.isin(task.components, task.components[seeds])
        return cls(seeds, known, others if scored is None else others & scored, reached)


def share_of_labels(share: float) -> Protocol:
    """So many of the labels, drawn uniformly; a few more, if these are of one class only."""

    def protocol(truth: Ints, rng: np.random.Generator) -> Ints:
        order = rng.permutation(np.flatnonzero(truth >= 0))
        second = int(np.argmax(truth[order] != truth[order[0]]))  # the first seed of another class
        return np.sort(order[: max(round(share * len(order)), second + 1)])

    return protocol


def share_of_classes(share: float) -> Protocol:
    """So many of the labels of each class, and at least one."""

    def protocol(truth: Ints, rng: np.random.Generator) -> Ints:
        members = [rng.permutation(np.flatnonzero(truth == code)) for code in range(truth.max() + 1)]
        return np.sort(np.concatenate([part[: max(1, round(share * len(part)))] for part in members]))

    return protocol


def per_class(count: int) -> Protocol:
    """So many labels of each class, or all that it has but one."""

    def protocol(truth: Ints, rng: np.random.Generator) -> Ints:
        members = [rng.permutation(np.flatnonzero(truth == code)) for code in range(truth.max() + 1)]
        return np.sort(np.concatenate([part[: max(1, min(count, len(part) - 1))] for part in members]))

    return protocol


PROTOCOLS: dict[str, Protocol] = {
    "1%": share_of_labels(0.01),
    "5%": share_of_labels(0.05),
    "3 per class": per_class(3),
}


def draw_seeds(task: Task, protocol: Protocol, key: list[int]) -> Draw:
    """One draw; the same key gives the same seeds to every method."""
    return Draw.of(task, protocol(task.truth, np.random.default_rng(key)))
