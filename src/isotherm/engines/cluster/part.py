"""A part of a Dirichlet problem on one worker, and the conjugate gradient that all workers run together.

The solver is the one of this machine, `isotherm.equilibrium.solvers.cg`: the same steps, precision and stopping rule.
Only sums go over all workers, and before each product the rows of the halo are brought up to date.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike, NDArray

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.engines.cluster.post import Team, folded
from isotherm.engines.cluster.rows import RowBlock, is_wide, take_rows
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers.accuracy.convergence import Convergence
from isotherm.equilibrium.solvers.base import Source, System
from isotherm.equilibrium.solvers.cg import ConjugateGradient, Descent, Pace
from isotherm.equilibrium.solvers.interior import Block, Interior
from isotherm.equilibrium.solvers.iterative import Iteration
from isotherm.kernels import Report

__all__ = ["PartCG", "PartSystem", "Resumed", "part_system"]


@dataclass(frozen=True)
class PartSystem(System):
    """The part of a system that one worker has; what it says about the whole system, all workers find together.

    Attributes
    ----------
    rows : RowBlock
        The rows, with the halo. Boundary, degrees and reached nodes are in the numbering of this worker; the boundary
        includes nodes of the halo, so that their rows need not be sent. The degree of a node of the halo is 1.
    team : Team
        All workers.
    """

    rows: RowBlock = field(kw_only=True)
    team: Team = field(kw_only=True)
    wide: bool = False  # found beforehand: workers in threads would lock each other out
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
    """The part of a system, and the temperatures of its boundary with that of the halo.

    Parameters
    ----------
    rows
        The rows of this worker.
    boundary, values
        The own nodes whose temperature is given, in the numbering of this worker, and their temperatures (s, k).
    team
        All workers.
    """
    own = rows.own
    held = np.zeros(rows.size, np.uint8)
    held[boundary] = 1
    rows.fill_halo(team, held)
    everywhere = np.flatnonzero(held)
    degree = np.ones(rows.size)
    degree[:own] = rows.csr.sums[:own]
    local = System(rows.csr, everywhere, degree, _reached(rows, everywhere, team))
    system = PartSystem(
        *(local.heat, local.boundary, local.degree, local.reached),
        rows=rows,
        team=team,
        wide=rows.csr.weights is not None and is_wide(rows.csr.weights, team),
        least_horizon=_least_horizon(local, own, team),
    )
    return system, _with_halo(rows, boundary, values, held, team)


def _with_halo(rows: RowBlock, boundary: Ints, values: Doubles, held: NDArray[np.uint8], team: Team) -> Doubles:
    """The temperatures of the boundary, own nodes first, then those of the halo in their order."""
    place = np.zeros(rows.own, np.int64)
    place[boundary] = np.arange(len(boundary))
    ordered = values[place[np.flatnonzero(held[: rows.own])]]
    letters = {rank: values[place[nodes[held[nodes] > 0]]] for rank, nodes in rows.given.items()}
    found = team.exchange(letters, rows.wanted)
    return np.concatenate([ordered, *(found[rank] for rank in sorted(rows.wanted))])


def _least_horizon(system: System, own: int, team: Team) -> float:
    """Lower bound on the longest expected time to absorption: sum of interior degrees over boundary flux."""
    inside = system.degree[:own][system.interior[:own]].sum()
    degrees, flux = team.added(np.array([inside, system.flux.sum()])).tolist()
    return degrees / flux if flux > 0 else 0.0


def _reached(rows: RowBlock, boundary: Ints, team: Team) -> Mask:
    """Nodes that are connected to the boundary: each worker looks along its rows until no halo changes any more."""
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
    """The interior of a part: own rows are iterated on, the rows of the halo are received.

    Parameters
    ----------
    system, dtype, threads
        As for `Interior`.
    columns : int
        Columns of a block that are in use, and so are sent.
    """

    system: PartSystem
    reads_all = False

    def __init__(self, system: PartSystem, dtype: DTypeLike, threads: int, columns: int) -> None:
        super().__init__(system, dtype, threads)
        self.rows, self.columns, self._is_complete = slice(system.rows.own), columns, False
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
        """The next directions; what leaves them is summed, and the rows of the halo travel with the sums."""
        arrays = self.scale[self.rows], self.outflow.each, beta, r, p[self.rows]
        leaving = kernels.active.cg_turn(*arrays, self.threads)[0, :-1]
        return self._exchange(p, leaving)

    def complete(self, x: Floats, source: Source | None = None) -> None:
        """Receive the rows of the halo that are not on the boundary, unless they came with sums before."""
        if not self._is_complete:
            self._exchange(x, np.zeros(0))
        self._is_complete = False

    def _exchange(self, x: Floats, sums: Doubles) -> Doubles:
        """Send rows and sums, receive the rows of the halo, and add the sums of all workers."""
        team, system, columns = self.system.team, self.system, self.columns
        rows = {rank: take_rows(x, nodes, columns) for rank, nodes in system.sending.items()}
        found = team.exchange({rank: (rows.get(rank), sums) for rank in team.others}, team.others)
        for rank, places in system.receiving.items():
            x[places, :columns] = found[rank][0]
        team.counted(rows=sum(each.nbytes for each in rows.values()), sums=sums.nbytes * len(found))
        self._is_complete = True
        return folded(np.add, [sums if rank == team.rank else found[rank][1] for rank in range(len(team.addresses))])


@dataclass(frozen=True, eq=False)
class Resumed:
    """Where a solve goes on.

    Attributes
    ----------
    iterations : int
        Iterations so far, in all precisions.
    pace : Pace
        The state of the descent.
    path : ndarray of shape (iterations + 1, k)
        Cumulative sums of the steps in this precision, by which the error is estimated.
    temperatures, directions : ndarrays of shape (rows, columns)
        Own rows, in the precision that was reached; when saved, they are views that the next step changes.
    """

    iterations: int
    pace: Pace
    path: Doubles
    temperatures: Floats
    directions: Floats


class PartCG(ConjugateGradient):
    """Conjugate gradient on all workers at once.

    Parameters
    ----------
    system : PartSystem
        The part of this worker.
    threads : int
        Number of threads of this worker.
    columns : int
        Number of columns of each solve.
    save : callable
        Called with a `Resumed` after each iteration that is to be saved.
    every : int
        Iterations between these.
    resumed : Resumed, optional
        Where to go on.
    """

    system: PartSystem

    def __init__(
        self,
        system: PartSystem,
        threads: int,
        columns: int,
        save: Callable[[Resumed], None] = lambda state: None,
        every: int = 0,
        resumed: Resumed | None = None,
    ) -> None:
        super().__init__(system, threads)
        self._used = columns + 1  # with the clock
        self._save, self._every, self._resumed = save, every, resumed
        self._done = 0  # iterations
        self._follows: Convergence

    def offset(self, values: Doubles, source: Source | None) -> Doubles:
        """The temperature at which as much heat enters the interior as leaves it."""
        system, columns = self.system, values.shape[1]
        own = system.boundary < system.rows.own
        entering = system.flux @ values
        if source is not None:
            entering = entering + source.heat.sum(axis=0, dtype=np.float64)
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
