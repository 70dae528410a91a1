"""The part of a system on one worker: its rows of the matrix, and conjugate gradient over all workers.

A worker owns the rows of a range of nodes. Its entries also refer to nodes of other workers, the *halo*. Inside a
worker its own nodes come first, then the nodes of the halo in ascending order, so that nodes of one owner are adjacent.

The solver is the local one, `isotherm.equilibrium.solvers.cg`: the same steps, precision and stopping rule. Only sums
are all-reduced over workers, and the rows of the halo are updated before each product.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.engines.mailbox import Team, folded
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers.cg import ConjugateGradient, Descent, Pace
from isotherm.equilibrium.solvers.interior import Block, Interior
from isotherm.equilibrium.solvers.iterative import Convergence, Iteration
from isotherm.equilibrium.solvers.system import WIDE, Source, System
from isotherm.graphs import Csr
from isotherm.kernels import Report

PIECE = 1 << 18  # entries that are renumbered at once, because indexing copies them as int64

Rows: TypeAlias = Callable[[], Csr]  # loads some rows of a square matrix, with the nodes of the whole graph as columns


def balanced_bounds(indptr: NDArray[np.int64], parts: int) -> list[int]:
    """Bounds of ranges of rows with about as many entries each; some ranges may be empty.

    >>> balanced_bounds(np.array([0, 6, 7, 8, 9, 12]), 2)
    [0, 1, 5]
    """
    wanted = np.linspace(0, int(indptr[-1]), parts + 1)[1:-1]
    inner = np.searchsorted(indptr, wanted)
    return [0, *np.minimum(inner, len(indptr) - 1).tolist(), len(indptr) - 1]


@dataclass(frozen=True, eq=False)
class RowBlock:
    """The rows of one worker, in its own numbering."""

    csr: Csr  # rows of the own nodes, then empty rows for the halo
    own: int  # number of own nodes
    bounds: list[int]  # the ranges of nodes of all workers
    rank: int
    halo: Ints  # (h,) nodes of the halo, in the numbering of the whole graph
    wanted: dict[int, slice]  # for each owner, the places of its nodes in the halo
    given: dict[int, NDArray[np.int32]]  # for each worker that needs rows of this one, these rows

    @property
    def first(self) -> int:
        """The first own node, in the numbering of the whole graph."""
        return self.bounds[self.rank]

    @property
    def size(self) -> int:
        """The number of own nodes and nodes of the halo."""
        return self.csr.n

    def fill_halo(self, team: Team, flags: NDArray[np.uint8]) -> None:
        """Set the flag of each node of the halo that has one at its owner."""
        found = team.exchange({rank: flags[rows] for rank, rows in self.given.items()}, self.wanted)
        for rank, part in self.wanted.items():
            flags[self.own :][part] |= found[rank]


def is_wide(weights: NDArray[np.floating], team: Team) -> bool:
    """Whether the weights of all workers have too wide a range for float32."""
    own = (-float(weights.min()), float(weights.max())) if len(weights) else (-np.inf, -np.inf)
    low, high = team.largest(np.array(own)).tolist()
    return high > WIDE * -low


def open_rows(rows: Rows, bounds: list[int], team: Team, *, single: bool = False) -> RowBlock:
    """Load rows, renumber their entries, and agree with the other workers on who sends what to whom."""
    indptr, indices, weights = rows()  # if all solves may be in single precision, weights are kept in it
    if single and weights is not None and not is_wide(weights, team):
        weights = weights.astype(np.float32, copy=False)
    first, last = bounds[team.rank], bounds[team.rank + 1]
    halo = _outside(indices, first, last, bounds[-1])
    local = _renumbered(indices, halo, first, last, bounds[-1])
    ends = np.searchsorted(halo, bounds)
    wanted = {rank: slice(*ends[rank : rank + 2].tolist()) for rank in team.others if ends[rank] < ends[rank + 1]}
    lists = {
        rank: (halo[wanted[rank]] - bounds[rank]).astype(np.int32) if rank in wanted else None for rank in team.others
    }
    asked = team.exchange(lists, team.others)
    given = {rank: nodes for rank, nodes in asked.items() if nodes is not None}
    padded = np.concatenate([indptr, np.full(len(halo), indptr[-1])])
    return RowBlock(Csr(padded, local, weights), last - first, bounds, team.rank, halo, wanted, given)


def _outside(indices: NDArray[np.int32], first: int, last: int, n: int) -> Ints:
    """The nodes outside a range that entries refer to, ascending."""
    named = np.zeros(n, bool)
    for start in range(0, len(indices), PIECE):
        named[indices[start : start + PIECE]] = True
    named[first:last] = False
    return np.flatnonzero(named)


def _renumbered(indices: NDArray[np.int32], halo: Ints, first: int, last: int, n: int) -> NDArray[np.int32]:
    """The entries in the numbering of a worker; done in place if the array is writeable."""
    places = np.zeros(n, np.int32)
    places[first:last] = np.arange(last - first)
    places[halo] = np.arange(last - first, last - first + len(halo))
    local = indices if indices.flags.writeable else np.empty_like(indices)
    for start in range(0, len(indices), PIECE):
        local[start : start + PIECE] = places[indices[start : start + PIECE]]
    return local


@dataclass(frozen=True)
class PartSystem(System):
    """The part of a system that one worker has; global quantities are all-reduced over workers."""

    # Nodes are in the numbering of this worker. The boundary includes nodes of the halo, so that their rows need not be
    # sent. The degree of a node of the halo is 1.
    rows: RowBlock = field(kw_only=True)
    team: Team = field(kw_only=True)
    wide: bool = False  # computed beforehand: on first use, workers in threads would lock each other out
    least_horizon: float = 0.0

    @cached_property
    def sending(self) -> dict[int, NDArray[np.int32]]:
        """Rows of the interior that others need."""
        return {rank: rows[self.interior[rows]] for rank, rows in self.rows.given.items()}

    @cached_property
    def receiving(self) -> dict[int, Ints]:
        """Places of the interior of the halo, by owner."""
        inside = self.interior[self.rows.own :]
        return {
            rank: self.rows.own + part.start + np.flatnonzero(inside[part]) for rank, part in self.rows.wanted.items()
        }


def part_system(rows: RowBlock, boundary: Ints, values: Doubles, team: Team) -> tuple[PartSystem, Doubles]:
    """The part of a system on this worker, and the temperatures of its boundary, including the halo."""
    own, held = rows.own, np.zeros(rows.size, np.uint8)
    held[boundary] = 1  # own nodes, in the numbering of this worker
    rows.fill_halo(team, held)
    everywhere = np.flatnonzero(held)
    degree = np.ones(rows.size)
    degree[:own] = rows.csr.sums[:own]
    arrays = rows.csr, everywhere, degree, _reached(rows, everywhere, team)
    wide = rows.csr.weights is not None and is_wide(rows.csr.weights, team)
    horizon = _least_horizon(System(*arrays), own, team)
    system = PartSystem(*arrays, rows=rows, team=team, wide=wide, least_horizon=horizon)
    return system, _with_halo(rows, boundary, values, held, team)


def _with_halo(rows: RowBlock, boundary: Ints, values: Doubles, held: NDArray[np.uint8], team: Team) -> Doubles:
    """The temperatures of the boundary: own nodes first, then nodes of the halo in their order."""
    place = np.zeros(rows.own, np.int64)
    place[boundary] = np.arange(len(boundary))
    ordered = values[place[np.flatnonzero(held[: rows.own])]]
    asked = {rank: values[place[nodes[held[nodes] > 0]]] for rank, nodes in rows.given.items()}
    found = team.exchange(asked, rows.wanted)
    return np.concatenate([ordered, *(found[rank] for rank in sorted(rows.wanted))])


def _least_horizon(system: System, own: int, team: Team) -> float:
    """Lower bound on the longest expected time to absorption: sum of interior degrees over boundary flux."""
    inside = system.degree[:own][system.interior[:own]].sum()
    degrees, flux = team.added(np.array([inside, system.flux.sum()])).tolist()
    return degrees / flux if flux > 0 else 0.0


def _reached(rows: RowBlock, boundary: Ints, team: Team) -> Mask:
    """Nodes that are connected to the boundary: each worker searches its rows until no halo changes any more."""
    reached = np.zeros(rows.size, np.uint8)
    reached[boundary] = 1
    indptr, indices, _ = rows.csr
    halo = reached[rows.own :]
    while True:
        before = np.count_nonzero(halo)
        kernels.active.reach(indptr, indices, reached)  # may mark nodes of the halo, whose own rows are elsewhere
        rows.fill_halo(team, reached)
        if not team.added(np.array([np.count_nonzero(halo) - before], np.float64))[0]:
            return reached.astype(bool)


class PartInterior(Interior):
    """The interior of a part: own rows are iterated on, the rows of the halo are received."""

    system: PartSystem
    reads_all = False

    def __init__(self, system: PartSystem, dtype: DTypeLike, threads: int, columns: int) -> None:
        super().__init__(system, dtype, threads)
        self.rows, self._is_complete = slice(system.rows.own), False
        self.columns = columns  # columns of a block that are in use, and so are sent
        self.outflow = self.find_outflow()  # not on first use: workers in threads would lock each other out

    def added(self, sums: Doubles) -> Doubles:
        """Sums over all workers."""
        return self.system.team.added(sums)

    def largest(self, values: Doubles) -> Doubles:
        """Maxima over all workers."""
        return self.system.team.largest(values)

    def joined(self, report: Report) -> Report:
        """Measurements of all workers."""
        return self.system.team.joined(report)

    def turn(self, beta: Floats, r: Floats, p: Floats) -> Doubles:
        """The next directions; the rows of the halo travel in the same messages as the sums of the outflow."""
        arrays = self.scale[self.rows], self.outflow.each, beta, r, p[self.rows]
        leaving = kernels.active.cg_turn(*arrays, self.threads)[0, :-1]
        return self._exchange(p, leaving)

    def complete(self, x: Floats, source: Source | None = None) -> None:
        """Receive the interior rows of the halo, unless they have just come with the sums."""
        if not self._is_complete:
            self._exchange(x, np.zeros(0))
        self._is_complete = False

    def _exchange(self, x: Floats, sums: Doubles) -> Doubles:
        """Send rows and sums, receive the rows of the halo, and add the sums of all workers."""
        team, system, columns = self.system.team, self.system, self.columns
        rows = {
            rank: np.ascontiguousarray(x.take(nodes, axis=0)[:, :columns]) for rank, nodes in system.sending.items()
        }
        found = team.exchange({rank: (rows.get(rank), sums) for rank in team.others}, team.others)
        for rank, places in system.receiving.items():
            x[places, :columns] = found[rank][0]
        team.counted(rows=sum(each.nbytes for each in rows.values()), sums=sums.nbytes * len(found))
        self._is_complete = True
        return folded(np.add, [sums if rank == team.rank else found[rank][1] for rank in range(len(team.addresses))])


@dataclass(frozen=True, eq=False)
class Resumed:
    """The state from which a solve continues."""

    iterations: int  # so far, in all precisions
    pace: Pace
    path: Doubles  # (iterations + 1, k) cumulative sums of the steps in this precision, by which the error is estimated
    temperatures: Floats  # (own rows, columns) in the current precision; when saved, a view that the next step changes
    directions: Floats  # the same


class PartCG(ConjugateGradient):
    """Conjugate gradient on all workers at once."""

    system: PartSystem

    def __init__(
        self,
        system: PartSystem,
        threads: int,
        columns: int,
        save: Callable[[Resumed], None] = lambda state: None,  # saves a checkpoint
        every: int = 0,  # iterations between checkpoints; 0 for none
        resumed: Resumed | None = None,
    ) -> None:
        super().__init__(system, threads)
        self._used = columns + 1  # with the absorption column
        self._save, self._every, self._resumed = save, every, resumed
        self._done = 0  # iterations
        self._follows: Convergence

    def offset(self, values: Doubles, source: Source | None) -> Doubles:
        """The temperature at which as much heat enters the interior as leaves it."""
        system, columns = self.system, values.shape[1]
        own = system.boundary < system.rows.own
        entering = system.flux @ values
        if source is not None:
            entering = entering + source.inflow.sum(axis=0, dtype=np.float64)
        counts = [system.flux.sum(), np.count_nonzero(own)]
        found = system.team.added(np.concatenate([entering, values[own].sum(axis=0), counts]))
        total, count = found[-2:]
        return found[:columns] / total if total > 0 else found[columns : 2 * columns] / max(count, 1)

    def iterate(self, block: Block) -> Iterator[Iteration]:
        """Iterate until rounding prevents further progress, and save the state every few steps."""
        descent, saved = Descent(block), self._resumed
        self._resumed = None
        if saved is None:
            descent.begin()
        else:
            directions = np.zeros_like(block.x)
            block.x[:, : self._used], directions[:, : self._used] = saved.temperatures, saved.directions
            descent.resume(saved.pace, directions)
        self._missing = np.inf
        while True:
            descent.step()
            self._done += 1
            yield Iteration(descent.report, descent.horizon)
            if descent.exhausted:
                return
            if self._every and self._done % self._every == 0:
                state = block.x[:, : self._used], descent.p[: len(block.x), : self._used]
                self._save(Resumed(self._done, descent.pace, self._follows.path, *state))

    def _run(self, block: Block, convergence: Convergence, options: SolveOptions, iterations: int) -> tuple[int, bool]:
        if self._resumed is not None:
            iterations = self._resumed.iterations
            convergence.go_on(self._resumed.path)
        self._done, self._follows = iterations, convergence
        return super()._run(block, convergence, options, iterations)

    def _interior(self, dtype: type[np.floating]) -> Interior:
        if dtype not in self._interiors:
            self._interiors[dtype] = PartInterior(self.system, dtype, self.threads, self._used)
        return self._interiors[dtype]

    def _precisions(self, tol: float | None) -> list[type[np.floating]]:
        usual = super()._precisions(tol)
        least = 0 if self._resumed is None else self._resumed.temperatures.itemsize
        return [dtype for dtype in usual if np.dtype(dtype).itemsize >= least]
