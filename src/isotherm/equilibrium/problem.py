"""A Dirichlet problem on a graph of any kind, and its solution in blocks of columns.

`Problem` says what is given. Its `lifting` reduces directed graphs and soft seeds to the symmetric case of
``harmonic.py``, and its `system` is eq. 4 there. Beyond the paper, heat may also enter at interior nodes: then
``L T = F``, so that ``X = Q X + R Y + D^-1 F``. Solvers take up to 15 columns at a time. If the columns sum to one, as
the temperatures of K classes do, one of them follows from the others and is not solved for.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints
from isotherm.equilibrium.lifting import Lifting, lift
from isotherm.equilibrium.options import ALONG, SolveOptions
from isotherm.equilibrium.solvers import MOST_COLUMNS, Request, Solution, Solver, Source, System, prepare
from isotherm.equilibrium.solvers.system import OutputRows, keep_components_within, keep_within, of_true_spread
from isotherm.errors import Option, Worded, warn
from isotherm.graphs import Csr, Graph
from isotherm.seeds import Seeds

MANY = 150  # columns from which on it pays to eliminate nodes with few neighbours
REDUCIBLE = ("auto", "cg")  # solvers that are faster on a smaller system, and free to solve it
ROUNDING = 1e-14  # rounding error of a sum of probabilities
CLOSED_START = 1e-5  # the same for temperatures to start from, which may be in float32

Prepare: TypeAlias = Callable[[System, SolveOptions, int], Solver]  # takes about how many columns will be solved for
Values: TypeAlias = Callable[[slice], Doubles]  # temperatures Y (s, k) of the boundary, in these columns


class UnreachedWarning(Worded, UserWarning):
    """Some nodes are not connected to any seed and have no temperature."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A Dirichlet problem: some nodes have given temperatures, the others are to be found, in one or many columns."""

    graph: Graph
    nodes: Ints  # (s,) positions of the boundary S, ascending
    values: Values  # a function, because all columns together may take too much memory
    columns: int
    weights: Doubles | None = None  # (s,) how far the values are trusted; infinite (the default) where a node is held
    side: str = "both"  # how a directed graph is read: see ``lifting.py``, and ``along.py`` for "along"
    source: Doubles | None = None  # (n, columns) inflow F of heat at each node, without effect at the boundary

    def __post_init__(self) -> None:
        self.graph.check_one_kind()

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
        return cls(graph, nodes, partial(_columns, values), values.shape[1], weights, side, source)

    @classmethod
    def of_seeds(cls, graph: Graph, seeds: Seeds, side: str) -> "Problem":
        """One column for each class: its seeds are held at 1, all others at 0."""
        return cls(graph, seeds.nodes, seeds.values, seeds.n_classes, weights=seeds.weights, side=side)

    @property
    def along(self) -> bool:
        """Whether walks follow arcs, so that the system is not symmetric."""
        return self.side == ALONG and self.graph.directed

    @cached_property
    def lifting(self) -> Lifting:
        """The undirected graph with a boundary to which this problem is reduced (section 2.3)."""
        return lift(self.graph, self.nodes, self.weights, self.side)

    @cached_property
    def system(self) -> System:
        """Eq. 4 on the lifted graph."""
        lifting = self.lifting
        return interior_system(
            lifting.conductance,
            lifting.boundary,
            half=lifting.half,
            output=lifting.output,
            component=lifting.component,
        )

    def take_over(self, system: System) -> None:
        """Use a known system instead of finding out again which nodes are reached."""
        object.__setattr__(self, "system", system)  # the cached property

    def inflow(self, part: slice) -> Source | None:
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


def _columns(values: Doubles, part: slice) -> Doubles:
    return values[:, part]


def interior_system(
    conductance: Csr,
    boundary: Ints,
    *,
    half: int | None = None,
    output: OutputRows | None = None,
    component: NDArray[np.int32] | None = None,  # the connected component of each node, if known
) -> System:
    """Eq. 4 for a symmetric matrix of weights and the nodes whose temperature is given."""
    if component is None:
        component = kernels.active.components(conductance.indptr, conductance.indices)
    with_seed = np.zeros(int(component.max(initial=0)) + 1, bool)
    with_seed[component[boundary]] = True
    return System(conductance, boundary, conductance.sums, with_seed[component], half, output, component)


def local_solver(system: System, options: SolveOptions, columns: int) -> Solver:
    """The solver that the options name, in this process; for many columns, on a smaller system."""

    def make(system: System) -> Solver:
        return prepare(system, options.solver, n_threads=options.threads)

    reducible = options.solver in REDUCIBLE and options.tol is not None and system.half is None and not system.wide
    if columns < MANY or not reducible:
        return make(system)
    from isotherm.equilibrium.solvers.reduction import Reduced  # few problems have so many columns

    return Reduced(system, make, options.threads)


def solve(
    problem: Problem,
    options: SolveOptions = SolveOptions(),  # noqa: B008 - frozen
    *,
    start: Floats | None = None,
    prepare: Prepare = local_solver,
) -> Solution:
    """The temperatures of all nodes, shape (n, columns); warns if the tolerance was missed. ``start`` may have NaN."""
    blocks = solve_in_blocks(problem, options, start=start, prepare=prepare)
    return joined([part for _, part in blocks], options.tol)


def solve_in_blocks(
    problem: Problem, options: SolveOptions, *, start: Floats | None = None, prepare: Prepare = local_solver
) -> Iterator[tuple[slice, Solution]]:
    """Solve block by block, for when all columns together would take too much memory."""
    if problem.along:
        from isotherm.equilibrium.along import solve_along  # few fits follow arcs

        for part in column_blocks(problem.columns, None):
            yield (
                part,
                solve_along(
                    problem.graph,
                    problem.nodes,
                    problem.values(part),
                    options,
                    weights=problem.weights,
                    start=None if start is None else start[:, part],
                ),
            )
        return
    lifting, system = problem.lifting, problem.system
    solver = prepare(system, options, 1 if problem.source is not None else problem.columns)
    begin = None if start is None else lifting.start(start)
    for part in column_blocks(
        problem.columns, problem.values if problem.source is None else None, fixed_start(options, begin)
    ):
        values, source = lifting.values(problem.values(part)), problem.inflow(part)
        guess = None if begin is None else begin[:, part]
        solution = solve_block(solver, system, Request(values, options, source, guess))
        yield part, replace(solution, temperatures=lifting.lowered(solution.temperatures))


def column_blocks(columns: int, values: Values | None, start: Floats | None = None) -> list[slice]:
    """Split the columns into blocks of 15; 16 are one block if one of them follows from the others.

    >>> column_blocks(16, lambda part: np.eye(16)[:, part])
    [slice(0, 16, None)]
    >>> column_blocks(16, None)
    [slice(0, 15, None), slice(15, 16, None)]
    """
    most = MOST_COLUMNS
    if columns == most + 1 and values is not None and closing_column(values(slice(None)), start) is not None:
        most = columns
    return [slice(first, min(first + most, columns)) for first in range(0, columns, most)]


def solve_columns(
    solver: Solver, system: System, values: Doubles, options: SolveOptions, *, start: Floats | None = None
) -> Solution:
    """Solve all columns of a system, block by block."""
    parts = [
        solve_block(solver, system, Request(values[:, part], options, start=None if start is None else start[:, part]))
        for part in column_blocks(values.shape[1], partial(_columns, values), fixed_start(options, start))
    ]
    return joined(parts, options.tol)


def solve_block(solver: Solver, system: System, request: Request) -> Solution:
    """Solve one block. If the rows of ``Y`` sum to one, one column is left to follow from the others."""
    began = time.perf_counter()
    values, start = request.values, request.start
    skipped = None
    if request.source is None:
        skipped = closing_column(values, fixed_start(request.options, start), system.degree[system.boundary])
    if skipped is None:
        solution = solver.solve(request)
    else:
        kept = np.arange(values.shape[1]) != skipped
        guess = None if start is None else start[:, kept]
        solution = solver.solve(Request(values[:, kept], request.options, start=guess, closed=True))
        solution = replace(solution, temperatures=_with_rest(solution.temperatures, skipped))
    if request.source is None:
        keep_within(solution.temperatures, values.min(axis=0), values.max(axis=0))
        if request.options.tol is not None:  # a fixed number of iterations may begin elsewhere, and end there
            keep_components_within(system, solution.temperatures, values)
    return replace(solution, seconds=time.perf_counter() - began)


def fixed_start(options: SolveOptions, start: Floats | None) -> Floats | None:
    """The start, if the answer depends on it: if a fixed number of iterations is wanted instead of a tolerance."""
    return start if options.tol is None else None


def closing_column(values: Doubles, start: Floats | None = None, degrees: Doubles | None = None) -> int | None:
    """If all rows (s, k) sum to one, the column with the largest sum, which follows from the others; else None.

    Of equal columns it is the one whose seeds have the largest degrees, so that the order of classes does not matter.
    Temperatures from which a fixed number of iterations starts have to sum to one as well.
    """
    closed = 2 <= values.shape[1] <= MOST_COLUMNS + 1 and np.allclose(values.sum(axis=1), 1, rtol=0, atol=ROUNDING)
    if closed and start is not None:
        closed = not (np.abs(start.sum(axis=1) - 1) > CLOSED_START).any()  # NaN, where unknown, is fine
    if not closed:
        return None
    near = np.zeros(len(values)) if degrees is None else degrees
    return int(np.lexsort((np.sqrt(near) @ values, near @ values, values.sum(axis=0)))[-1])


def _with_rest(others: Floats, column: int) -> Floats:
    """All temperatures, given all columns but one: the rows sum to one.

    >>> _with_rest(np.array([[0.25, 0.5], [0.0, 1.0]]), 1)
    array([[0.25, 0.25, 0.5 ],
           [0.  , 0.  , 1.  ]])
    """
    whole = np.empty((len(others), others.shape[1] + 1), others.dtype)
    whole[:, :column], whole[:, column + 1 :] = others[:, :column], others[:, column:]
    whole[:, column] = 1 - np.einsum("nk->n", others)  # faster than others.sum(axis=1)
    return whole


def joined(parts: list[Solution], tol: float | None) -> Solution:
    """One solution of all columns, with the worst error of its parts; warns if it missed the tolerance."""
    worst = max(parts, key=lambda part: part.error)
    tables = [part.temperatures for part in parts]
    temperatures = tables[0] if len(parts) == 1 else np.concatenate(tables, axis=1)
    whole = replace(
        worst,
        temperatures=temperatures,
        times=None if worst.times is None else worst.times.astype(temperatures.dtype, copy=False),
        iterations=max(part.iterations for part in parts),
        residual=max(part.residual for part in parts),
        error_bound=of_true_spread(max(part.error_bound for part in parts)),
        converged=all(part.converged for part in parts),
        seconds=sum(part.seconds for part in parts),
    )
    if not whole.converged and tol is not None:
        _warn_about_error(whole, tol)
    return whole


def _warn_about_error(solution: Solution, tol: float) -> None:
    from isotherm.equilibrium.unconverged import ConvergenceWarning

    remedy = (
        "raise {max_iter} or {more}"
        if solution.solver in ("cg", "bicgstab")
        else "use {auto}, or raise {max_iter} or {more}"
    )
    message = (
        "{solver} stopped after {iterations} iterations with an error of about {error:.2g} of the spread of the "
        "temperatures, above {tol}: " + remedy
    )
    found = {"solver": solution.solver, "iterations": solution.iterations, "error": solution.error}
    limits = {"tol": Option("tol", tol), "more": Option("tol"), "max_iter": Option("max_iter")}
    warn(ConvergenceWarning(message, auto=Option("solver", "auto"), **found, **limits))


def warn_about_unreached(temperatures: Floats) -> None:
    """Warn if some nodes have no temperature."""
    unreached = int(np.count_nonzero(np.isnan(temperatures[:, 0])))
    if unreached:
        warn(unreached_warning(unreached, len(temperatures)))


def unreached_warning(unreached: int, nodes: int) -> UnreachedWarning:
    """The warning that so many of all nodes have no temperature."""
    message = "{unreached} of {nodes} nodes are not connected to any seed and have no temperature; {remedy}"
    remedy = Option("predict(unreached=...) gives them a label")  # the command line has other words for it
    return UnreachedWarning(message, unreached=unreached, nodes=nodes, remedy=remedy)
