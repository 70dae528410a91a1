"""The Dirichlet problem on a graph: section 2 of the paper.

A graph with adjacency matrix ``A`` has degrees ``d = A 1``, Laplacian ``L = D - A`` and transition matrix
``P = D^-1 A``. On the boundary S (the seeds) temperatures are given. Heat flows along the edges until, at
equilibrium, ``L T = 0`` off the boundary (eq. 2): each node is as warm as its neighbours on average, ``T = P T``
(eq. 3). With the interior first and the boundary last,

    T = [X]    P = [Q R]    X = Q X + R Y  (eq. 4)    X = (I - Q)^-1 R Y  (eq. 5)
        [Y]        [. .]

Nodes that are not connected to the boundary have no temperature. On all others the solution is unique. Beyond the
paper, heat may also enter at interior nodes: ``L T = F`` there, so that ``X = Q X + R Y + D^-1 F``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints
from isotherm.equilibrium.columns import column_blocks, joined, solve_block
from isotherm.equilibrium.lifting import Lifting, lift
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers import Solution, Solver, Source, System, prepare
from isotherm.equilibrium.solvers.accuracy.reading import Reading
from isotherm.equilibrium.solvers.reduction import Reduced
from isotherm.graphs import Csr, Graph

__all__ = ["Prepare", "Problem", "Values", "interior_system", "solve", "solve_in_blocks", "usual_solver"]

MANY = 150  # columns, for which it pays to eliminate nodes with few neighbours
REDUCIBLE = ("auto", "cg")  # solvers that are faster on a smaller system, and free to solve it

Values: TypeAlias = Callable[[slice], Doubles]  # temperatures of the boundary, in these columns


@dataclass(frozen=True, eq=False)
class Problem:
    """A Dirichlet problem: given the temperatures of some nodes, find those of all others, in one or many columns.

    Attributes
    ----------
    graph : Graph
        Where the heat flows: weighted or not, directed or not.
    nodes : ndarray of shape (s,)
        The boundary S: positions of the nodes whose temperatures are given, ascending.
    values : callable
        Returns the temperatures Y of the boundary in a slice of columns, shape (s, k). It is a function because all
        columns together may take too much memory.
    columns : int
        Number of columns.
    weights : ndarray of shape (s,), optional
        How far the given temperatures are trusted; infinite where a node is held, which is the default.
    side : {"both", "source", "edges"}
        For a directed graph: the copies of a node on which temperatures are given and read.
    source : ndarray of shape (n, columns), optional
        Heat F that enters at each node, 0 by default. At the boundary it has no effect.
    """

    graph: Graph
    nodes: Ints
    values: Values
    columns: int
    weights: Doubles | None = None
    side: str = "both"
    source: Doubles | None = None

    @classmethod
    def of(
        cls,
        graph: Graph,
        nodes: Ints,
        values: Doubles,
        *,
        weights: Doubles | None = None,
        side: str = "both",
        source: Doubles | None = None,
    ) -> "Problem":
        """A problem whose temperatures are all in one array, shape (s, k)."""
        return cls(graph, nodes, _Array(values), values.shape[1], weights, side, source)

    @cached_property
    def lifting(self) -> Lifting:
        """The undirected graph with a boundary to which this problem is reduced (section 2.3)."""
        return lift(self.graph, self.nodes, self.weights, self.side)

    @cached_property
    def system(self) -> System:
        """Eq. 4 on the lifted graph."""
        return interior_system(
            self.lifting.heat, self.lifting.boundary, half=self.lifting.half, reading=self.lifting.reading
        )

    def take_over(self, system: System) -> None:
        """Use a system that is already known, instead of finding out again which nodes are reached."""
        object.__setattr__(self, "system", system)  # the cached property

    def entering(self, part: slice) -> Source | None:
        """The heat that enters the interior of the lifted graph in some columns."""
        if self.source is None:
            return None
        nodes = np.flatnonzero(self.source[:, part].any(axis=1))
        walks = self.lifting.walks(nodes, self.system.reached)  # heat is split evenly between reached copies
        places = np.unique(walks.indices)
        places = places[self.system.interior[places]]
        return Source(places, self.lifting.factor * (walks[:, places].T @ self.source[nodes, part]))

    def __reduce__(self) -> tuple[Any, ...]:  # derived properties are not pickled
        return type(self), tuple(getattr(self, field.name) for field in fields(self))


@dataclass(frozen=True)
class _Array:
    values: Doubles

    def __call__(self, part: slice) -> Doubles:
        return self.values[:, part]


def interior_system(heat: Csr, boundary: Ints, *, half: int | None = None, reading: Reading | None = None) -> System:
    """Eq. 4 for a symmetric matrix of conductivities and the nodes whose temperature is given."""
    component = kernels.active.components(heat.indptr, heat.indices)
    with_seed = np.zeros(int(component.max(initial=0)) + 1, bool)
    with_seed[component[boundary]] = True
    return System(heat, boundary, heat.sums, with_seed[component], half, reading, component)


class Prepare(Protocol):
    """Makes a solver."""

    def __call__(self, system: System, options: SolveOptions, columns: int = 1) -> Solver:
        """A solver for a system, given about how many columns it will be asked for."""
        ...


def usual_solver(system: System, options: SolveOptions, columns: int = 1) -> Solver:
    """The solver that the options name, on this machine; for many columns, on a smaller system."""

    def make(system: System) -> Solver:
        return prepare(system, options.solver, n_threads=options.threads)

    reducible = options.solver in REDUCIBLE and options.tol is not None and system.half is None and not system.wide
    return Reduced(system, make, options.threads) if columns >= MANY and reducible else make(system)


def solve(
    problem: Problem,
    options: SolveOptions = SolveOptions(),  # noqa: B008 - frozen
    *,
    start: Floats | None = None,
    prepare: Prepare = usual_solver,
) -> Solution:
    """Solve eq. 4 for the temperatures ``T`` of all nodes of a graph, shape (n, columns).

    Parameters
    ----------
    problem
        What is given.
    options
        How to solve. A solve that misses its tolerance warns.
    start
        Temperatures to start from, shape (n, columns), NaN where unknown.
    prepare
        Makes the solver.
    """
    blocks = solve_in_blocks(problem, options, start=start, prepare=prepare)
    return joined([part for _, part in blocks], options.tol)


def solve_in_blocks(
    problem: Problem, options: SolveOptions, *, start: Floats | None = None, prepare: Prepare = usual_solver
) -> Iterator[tuple[slice, Solution]]:
    """The same block by block, for when all columns together would take too much memory."""
    lifting, system = problem.lifting, problem.system
    solver = prepare(system, options, 1 if problem.source is not None else problem.columns)
    begin = None if start is None else lifting.start(start)
    for part in column_blocks(problem.columns):
        values, source = lifting.values(problem.values(part)), problem.entering(part)
        guess = None if begin is None else begin[:, part]
        solution = solve_block(solver, system, values, options, source=source, start=guess)
        yield part, replace(solution, temperatures=lifting.lowered(solution.temperatures))
