"""A task, to find the hidden labels of a graph, and the draws of seeds that methods may see."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from numbers import Integral
from typing import Any, TypeAlias, TypeVar

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from isotherm.arrays import Ints, Mask
from isotherm.errors import Option, ParameterError
from isotherm.graphs import Graph
from isotherm.seeds.hiding import sample_per_class, sample_two_classes, show

T = TypeVar("T")
Protocol: TypeAlias = Callable[..., Ints]  # called with (n,) classes and rng=..., gives positions of seeds

PROTOCOLS: dict[str, Protocol] = {
    "1%": partial(sample_two_classes, size=0.01),
    "5%": partial(sample_two_classes, size=0.05),
    "3 per class": partial(sample_per_class, size=3),
}


@dataclass(eq=False)
class Task:
    """A graph with known labels."""

    graph: Graph
    truth: Ints  # (n,) class of each node, 0 to K-1; -1 where unknown
    features: Any = None  # (n, d), a matrix or a sparse one
    costs: dict[str, float] = field(default_factory=dict)  # CPU seconds to make what `shared` keeps, by key
    used: set[str] = field(default_factory=set)  # keys passed to `shared` since this set was last emptied
    _kept: dict[str, Any] = field(default_factory=dict)

    @cached_property
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
        """Compute once what does not depend on the seeds; its CPU seconds are kept and charged to each use."""
        self.used.add(key)
        if key not in self._kept:
            began = time.process_time()
            self._kept[key] = make()
            self.costs[key] = time.process_time() - began
        kept: T = self._kept[key]
        return kept


@dataclass(frozen=True, eq=False)
class Draw:
    """What a method sees of a task, and where it is scored."""

    task: Task
    seeds: Ints  # positions
    known: Ints  # (n,) class of each seed, -1 elsewhere
    scored: Mask  # (n,) labelled nodes that are not seeds

    @classmethod
    def of(cls, task: Task, seeds: Ints, scored: Mask | None = None) -> "Draw":
        """The draw with these seeds; all other labels are scored, or some of them."""
        known = show(task.truth, seeds)
        others = (task.truth >= 0) & (known < 0)
        return cls(task, seeds, known, others if scored is None else others & scored)

    @cached_property
    def reached(self) -> Mask:
        """(n,) nodes that are connected to a seed, without regard to directions."""
        return np.isin(self.task.components, self.task.components[self.seeds])


def check_runs(runs: Any) -> None:
    """Refuse a number of draws that is not at least one."""
    if isinstance(runs, bool) or not isinstance(runs, Integral) or runs < 1:
        raise ParameterError("{given}, but it must be a whole number of at least 1", given=Option("runs", runs))


def draw_seeds(task: Task, protocol: Protocol, key: list[int]) -> Draw:
    """One draw; the same key gives the same seeds to every method."""
    return Draw.of(task, protocol(task.truth, rng=np.random.default_rng(key)))
