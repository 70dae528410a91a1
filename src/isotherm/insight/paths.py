"""The most probable path of a random walk from a node to a boundary node.

It is the shortest path if the length of a step is minus the logarithm of its probability (Dijkstra 1959). Most paths
are short and are found by a search around the node. If that takes too long, as on roads and grids, SciPy searches the
whole graph, which finds the paths to all boundary nodes at once.
"""

from functools import cached_property
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from isotherm.equilibrium.solvers import System

NEARBY = 1000  # nodes visited by the local search before it gives up
STEP = 1e-12  # added to the length of each step: of equally probable paths, the one with fewer steps wins


class Paths:
    """Finds paths in one Dirichlet problem; they end on its boundary."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._last: tuple[list[int], NDArray[Any], NDArray[np.int32]] = [], np.empty(0), np.empty(0, dtype=np.int32)

    def most_probable(self, starts: list[int], goals: list[int]) -> list[int]:
        """The nodes of the path from one of the starts to one of the goals; empty if there is none."""
        near = self._nearby(starts, goals)
        if near is not None:
            return near
        last = self._last  # read once, because another thread may replace it
        if last[0] != starts:
            lengths, before, _ = dijkstra(self._steps, indices=starts, min_only=True, return_predecessors=True)
            last = self._last = starts, lengths, before
        _, lengths, before = last
        goal = min(goals, key=lambda node: float(lengths[node]))
        path = [goal] if np.isfinite(lengths[goal]) else []
        while path and before[path[-1]] >= 0:
            path.append(int(before[path[-1]]))
        return path[::-1]

    def _nearby(self, starts: list[int], goals: list[int]) -> list[int] | None:
        """The path by local search; None if the search gives up."""
        search = _Search(self.system, starts, goals)
        for _ in range(NEARBY):
            if not search.queue:
                return []
            found = search.advance()
            if found:
                return found
        return None

    @cached_property
    def _steps(self) -> csr_array:
        """The length of each step, without steps from the boundary, shape (n, n)."""
        (indptr, indices, weights), degree = self.system.conductance, self.system.degree
        counts = np.where(self.system.interior, np.diff(indptr), 0)
        leaving = np.repeat(self.system.interior, np.diff(indptr))
        probability = (1.0 if weights is None else weights[leaving]) / np.repeat(degree, counts)
        ends = np.concatenate([[0], np.cumsum(counts)])
        return csr_array((STEP - np.log(probability), indices[leaving], ends), shape=(len(degree), len(degree)))


class _Search:
    """Dijkstra's algorithm from the starts outwards, nearest node first."""

    def __init__(self, system: System, starts: list[int], goals: list[int]) -> None:
        self.system, self.goals = system, np.array(goals)
        self.queue = [(0.0, start) for start in sorted(starts)]
        self._before: dict[int, int] = {}
        self._length = np.full(len(system.degree), np.inf)
        self._length[starts] = 0
        self._passable = system.interior.copy()
        self._passable[goals] = True

    def advance(self) -> list[int]:
        """Visit the next node. If it is a goal, return the path to it."""
        length, node = heappop(self.queue)
        if node in self.goals:
            return self._path_to(node)
        if length <= self._length[node] and self.system.interior[node]:
            self._expand(node, length)
        return []

    def _expand(self, node: int, length: float) -> None:
        """Queue the neighbours of a node that are now nearer than before."""
        indptr, indices, weights = self.system.conductance
        row = slice(indptr[node], indptr[node + 1])
        ends, edges = indices[row], 1.0 if weights is None else weights[row]
        lengths = np.broadcast_to(length + STEP + np.log(self.system.degree[node] / edges), len(ends))
        at_goal = np.isin(ends, self.goals)
        bound = min(self._length[self.goals].min(), lengths[at_goal].min(initial=np.inf))  # best path to a goal so far
        better = (lengths < self._length[ends]) & self._passable[ends] & ((lengths < bound) | at_goal)
        self._length[ends[better]] = lengths[better]
        for end, total in zip(ends[better].tolist(), lengths[better].tolist(), strict=True):
            self._before[end] = node
            heappush(self.queue, (total, end))

    def _path_to(self, goal: int) -> list[int]:
        path = [goal]
        while path[-1] in self._before:
            path.append(self._before[path[-1]])
        return path[::-1]
