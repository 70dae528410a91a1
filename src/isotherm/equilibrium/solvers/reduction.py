"""Fewer nodes for many columns: nodes with few neighbours are eliminated exactly, once for all columns.

An interior node f has the mean temperature of its neighbours. So it can be left out, if each pair of its neighbours i
and j is joined by an edge of weight ``w_fi w_fj / d_f`` instead: the temperatures of all other nodes stay the same (the
Schur complement of a Laplacian is a Laplacian). What is left, the core, is a smaller problem of the same kind. cg
takes fewer iterations on it, because chains and dangling trees are gone. On a power-law graph of mean degree 7, a
third of the nodes and a third of the iterations are left; on the coauthors of DBLP, a sixth of the nodes.

Nodes are eliminated in rounds, each an independent set. A round is taken back if the next iterations would cost more.
One more independent set stays in the core, as its last nodes: cg eliminates them at no cost (`System.half`). That saves
a sixth of the iterations on the power-law graph. All this pays only if there are many columns: the rounds take as long
as solving about a hundred.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array, diags_array

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.equilibrium.solvers.system import Memory, Request, Rows, Solution, Solver, System, largest_ratio
from isotherm.graphs import Csr
from isotherm.kernels import Report

ROW_COST = 8  # cost of a row in an iteration, in entries
DEGREES = (2, 3, 4, 6, 8, 12)  # most neighbours of the nodes eliminated in each round
LEAST_GAIN = 0.01  # share of the cost that a round must save
ORDER_SEED = 0  # random seed of the order in which neighbours are considered


class Reduced:
    """A solver that eliminates nodes, and solves for the other nodes by the solver that ``make`` makes."""

    def __init__(self, system: System, make: Callable[[System], Solver], n_threads: int | None = None) -> None:
        self._system, self._make = system, make
        self.core = Core(system, kernels.thread_count(n_threads))
        self._solver = make(self.core.system)

    def solve(self, request: Request) -> Solution:
        """Find the equilibrium; see :class:`isotherm.equilibrium.solvers.system.Solver`."""
        if request.source is not None:  # heat may enter at nodes that were eliminated
            return self._make(self._system).solve(request)
        begin = None if request.start is None else request.start[self.core.nodes]
        solution = self._solver.solve(replace(request, start=begin))
        temperatures, rounding = self.core.everywhere(solution.temperatures[: self.core.half], request.values)
        bound = solution.error_bound + rounding
        return replace(solution, temperatures=temperatures, error_bound=bound, times=None)


class Core:
    """The smaller system that is left after elimination, with the same boundary in the same order."""

    def __init__(self, whole: System, threads: int) -> None:
        self._whole, self._threads = whole, threads
        matrix, self.nodes, rounds = _eliminated(whole)
        # nodes of the core, as numbers of the whole system; from node ``half`` on, no two are neighbours
        matrix, self.nodes, self.half = _apart_last(matrix, self.nodes, whole.interior[self.nodes])
        rounds.append(_Round.of(matrix, self.nodes, slice(self.half, None)))
        self._numbering = np.concatenate([self.nodes[: self.half], *(part.nodes for part in reversed(rounds))])
        place = np.full(whole.conductance.n, -1)
        place[self._numbering] = np.arange(len(self._numbering))
        self._rounds = {np.dtype(np.float64): [part.renumbered(place) for part in reversed(rounds)]}
        component = None if whole.component is None else whole.component[self.nodes]
        conductance = Csr(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)
        reached, boundary = np.ones(len(self.nodes), bool), place[whole.boundary]
        self._memory, degree = Memory(), conductance.sums
        self.system = System(conductance, boundary, degree, reached, self.half, self, component, self._memory)

    def everywhere(self, temperatures: Floats, values: Doubles) -> tuple[Floats, float]:
        """Temperatures of all nodes, from the core (half, k), and a bound on rounding over the spread."""
        columns, dtype = temperatures.shape[1], temperatures.dtype
        offset = self._whole.balance(values).astype(dtype)  # so that constant columns stay constant
        full = self._extended(temperatures, -offset)
        report = self._report(full, np.zeros(full.shape[1], dtype))
        means = sum(2 + int(np.diff(part.indptr).max(initial=0)) for part in self._rounds_of(dtype))
        rounding = float(np.finfo(dtype).eps) * means * report.size[:columns]
        found: Floats = np.empty((len(self._whole.degree), columns), dtype)
        found[~self._whole.reached] = np.nan
        kernels.active.place_rows(full[:, :columns], offset, self._numbering, found, self._threads)
        found[self._whole.boundary] = values
        return found, float(largest_ratio(rounding, report.spread(len(full))[:columns]))

    def spread(self, rows: Rows, reached: Mask, *, closed: bool = False) -> Doubles:
        """The spread of each column over the whole system, given deviations of the core; see `Spread`."""
        x = rows(slice(0, self.half))
        columns, full = x.shape[1], self._extended(x, np.zeros(x.shape[1], x.dtype))
        closing = np.zeros(full.shape[1], x.dtype)
        closing[:columns] = closed
        watched = np.append(np.arange(columns), [full.shape[1]] if closed else []).astype(np.intp)
        every = self._report(full, closing).spread(len(full))[watched]
        if self._whole.output is None:
            return every
        found = np.zeros((len(self._whole.degree), columns), x.dtype)
        found[self._numbering] = full[:, :columns]
        return self._whole.output_spread(lambda rows: found[rows], every, x.dtype, closed=closed).read

    def _report(self, full: Floats, closing: Floats) -> Report:
        return Report(*kernels.active.moments(closing, full, self._threads))

    def _extended(self, x: Floats, shift: Floats) -> Floats:
        """A block with all rows: the core plus a shift, then the rounds of elimination, from the last to the first."""
        full = self._memory.take("full", len(self._numbering), kernels.width(x.shape[1]), x.dtype)
        kernels.active.place_rows(x, shift, None, full, self._threads)
        first = len(x)
        for part in self._rounds_of(x.dtype):
            rows = slice(first, first := first + len(part.scale))
            kernels.active.average(*part, full, full[rows], self._threads)
        return full

    def _rounds_of(self, dtype: np.dtype[Any]) -> "list[_Rows]":
        if dtype not in self._rounds:
            self._rounds[dtype] = [part.of_type(dtype) for part in self._rounds[np.dtype(np.float64)]]
        return self._rounds[dtype]


class _Rows(NamedTuple):
    """The entries of eliminated nodes, and their inverse degrees."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: Floats
    scale: Floats

    def of_type(self, dtype: DTypeLike) -> "_Rows":
        return self._replace(weights=self.weights.astype(dtype), scale=self.scale.astype(dtype))


class _Round(NamedTuple):
    """Nodes that were eliminated together, with their entries; all as numbers of the whole system."""

    nodes: Ints
    matrix: csr_array

    @classmethod
    def of(cls, matrix: csr_array, nodes: Ints, out: Mask | slice) -> "_Round":
        """Some rows of a matrix, given the numbers of its nodes in the whole system."""
        rows = matrix[out]
        return cls(nodes[out], csr_array((rows.data, nodes[rows.indices], rows.indptr), rows.shape))

    def renumbered(self, place: Ints) -> _Rows:
        """The same, with the nodes at the far ends renumbered."""
        matrix = self.matrix
        indptr, indices = matrix.indptr.astype(np.int64), place[matrix.indices].astype(np.int32)
        return _Rows(indptr, indices, matrix.data, 1 / matrix.sum(axis=1))


def _eliminated(system: System) -> tuple[csr_array, Ints, list[_Round]]:
    """The matrix of the core, its nodes, and the rounds in which all others were eliminated."""
    nodes, rounds = np.flatnonzero(system.reached), list[_Round]()
    matrix, free = system.conductance.to_scipy().astype(np.float64), system.interior[nodes]
    if len(nodes) < system.conductance.n:
        matrix = matrix[nodes][:, nodes]
    for most in DEGREES:
        while True:
            out = _independent(matrix, free & (np.diff(matrix.indptr) <= most))
            smaller = _without(matrix, out)
            saved = _cost(matrix) - _cost(smaller)
            if saved < LEAST_GAIN * _cost(matrix):
                break
            rounds.append(_Round.of(matrix, nodes, out))
            matrix, nodes, free = smaller, nodes[~out], free[~out]
    return matrix, nodes, rounds


def _apart_last(matrix: csr_array, nodes: Ints, free: Mask) -> tuple[csr_array, Ints, int]:
    """The matrix and nodes, reordered so that a maximal independent set comes last; and the number of the others."""
    apart, candidates = np.zeros(len(nodes), bool), free
    while (more := _independent(matrix, candidates)).any():
        apart |= more
        candidates = candidates & ~more & (matrix @ more == 0)
    order = np.argsort(apart, kind="stable")
    matrix = csr_array(matrix[order][:, order])
    matrix.sort_indices()
    return matrix, nodes[order], len(nodes) - int(np.count_nonzero(apart))


def _cost(matrix: csr_array) -> int:
    return int(matrix.nnz + ROW_COST * matrix.shape[0])


def _independent(matrix: csr_array, candidates: Mask) -> Mask:
    """Candidates of which no two are neighbours: those that come before all their neighbours in a random order."""
    degree = np.diff(matrix.indptr)
    order = degree + np.random.default_rng(ORDER_SEED).random(len(degree))  # few neighbours first
    order[~candidates] = np.inf
    first = np.full(len(order), np.inf)
    filled = np.flatnonzero(degree)
    first[filled] = np.minimum.reduceat(order[matrix.indices], matrix.indptr[filled])
    return candidates & (order < first) & (degree > 0)


def _without(matrix: csr_array, out: Mask) -> csr_array:
    """The matrix after an independent set of nodes was eliminated."""
    rows = matrix[out][:, ~out]
    shares: NDArray[np.float64] = 1 / rows.sum(axis=1)
    rest = csr_array(matrix[~out][:, ~out] + rows.T @ (diags_array(shares) @ rows))
    rest.data[rest.indices == np.repeat(np.arange(rest.shape[0]), np.diff(rest.indptr))] = 0  # a node and itself
    rest.eliminate_zeros()
    rest.sort_indices()
    return rest
