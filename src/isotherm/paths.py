"""The most probable way of a random walk from a node to a boundary node.

It is the shortest one if a step is as long as minus the logarithm of its probability (Dijkstra 1959). Most are short,
and found by a search around the node. Where that takes long, as on roads and grids, SciPy searches the whole graph,
which answers for all boundary nodes at once.
"""

from functools import cached_property
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from isotherm.solvers import System

__all__ = ["Paths"]

PATIENCE = 1000  # nodes of the first search
STEP = 1e-12  # in length: of two ways that are as probable, the one of fewer steps


class Paths:
    """Answers for one system.

    Parameters
    ----------
    system : System
        The Dirichlet problem. Walks end on its boundary.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self._last: tuple[list[int], NDArray[Any], NDArray[np.int32]] = [], np.empty(0), np.empty(0, dtype=np.int32)

    def most_probable(self, starts: list[int], goals: list[int]) -> list[int]:
        """The nodes from one of the starts to one of the goals; none if no way leads there."""
        near = self._nearby(starts, goals)
        if near is not None:
            return near
        if self._last[0] != starts:
            lengths, before, _ = dijkstra(self._steps, indices=starts, min_only=True, return_predecessors=True)
            self._last = starts, lengths, before
        _, lengths, before = self._last
        goal = min(goals, key=lambda node: float(lengths[node]))
        way = [goal] if np.isfinite(lengths[goal]) else []
        while way and before[way[-1]] >= 0:
            way.append(int(before[way[-1]]))
        return way[::-1]

    def _nearby(self, starts: list[int], goals: list[int]) -> list[int] | None:
        """The same by a search that gives up in time."""
        search = _Search(self.system, starts, goals)
        for _ in range(PATIENCE):
            if not search.queue:
                return []
            found = search.advance()
            if found:
                return found
        return None

    @cached_property
    def _steps(self) -> csr_array:
        """The length of each step, none from the boundary, shape (n, n)."""
        (indptr, indices, weights), degree = self.system.heat, self.system.degree
        counts = np.where(self.system.interior, np.diff(indptr), 0)
        leaving = np.repeat(self.system.interior, np.diff(indptr))
        chance = (1.0 if weights is None else weights[leaving]) / np.repeat(degree, counts)
        ends = np.concatenate([[0], np.cumsum(counts)])
        return csr_array((STEP - np.log(chance), indices[leaving], ends), shape=(len(degree), len(degree)))


class _Search:
    """From the starts outwards, the nearest node first."""

    def __init__(self, system: System, starts: list[int], goals: list[int]) -> None:
        self.system, self.goals = system, np.array(goals)
        self.queue = [(0.0, start) for start in sorted(starts)]
        self._before: dict[int, int] = {}
        self._length = np.full(len(system.degree), np.inf)
        self._length[starts] = 0
        self._passable = system.interior.copy()
        self._passable[goals] = True

    def advance(self) -> list[int]:
        """Look around from the next node; the way to it if it is a goal."""
        length, node = heappop(self.queue)
        if node in self.goals:
            return self._way(node)
        if length <= self._length[node] and self.system.interior[node]:
            self._look_around(node, length)
        return []

    def _look_around(self, node: int, length: float) -> None:
        indptr, indices, weights = self.system.heat
        row = slice(indptr[node], indptr[node + 1])
        ends, edges = indices[row], 1.0 if weights is None else weights[row]
        lengths = np.broadcast_to(length + STEP + np.log(self.system.degree[node] / edges), len(ends))
        at_goal = np.isin(ends, self.goals)
        bound = min(self._length[self.goals].min(), lengths[at_goal].min(initial=np.inf))  # what is longer is no use
        better = (lengths < self._length[ends]) & self._passable[ends] & ((lengths < bound) | at_goal)
        self._length[ends[better]] = lengths[better]
        for end, total in zip(ends[better].tolist(), lengths[better].tolist(), strict=True):
            self._before[end] = node
            heappush(self.queue, (total, end))

    def _way(self, goal: int) -> list[int]:
        way = [goal]
        while way[-1] in self._before:
            way.append(self._before[way[-1]])
        return way[::-1]
