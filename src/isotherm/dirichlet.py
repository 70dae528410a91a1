"""The Dirichlet problem on a graph: section 2 of the paper.

A graph with adjacency matrix ``A`` has degrees ``d = A 1``, Laplacian ``L = D - A`` and transition matrix
``P = D^-1 A``. On the boundary S (the seeds) temperatures are given. Heat flows along the edges until, at
equilibrium, ``L T = 0`` off the boundary (eq. 2): each node is as warm as its neighbours on average, ``T = P T``
(eq. 3). With the interior first and the boundary last,

    T = [X]    P = [Q R]    X = Q X + R Y  (eq. 4)    X = (I - Q)^-1 R Y  (eq. 5)
        [Y]        [. .]

Nodes that no path joins to the boundary have no temperature. On the others the solution is unique.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isotherm import kernels
from isotherm.graph import Csr, Graph, as_graph
from isotherm.soft_seeds import ground
from isotherm.solvers import Solution, Solver, System, prepare
from isotherm.solvers.base import MOST_COLUMNS, Floats

__all__ = [
    "ConvergenceWarning",
    "UnreachedWarning",
    "Values",
    "column_blocks",
    "interior_system",
    "joined",
    "solve",
    "solve_dirichlet",
    "solve_graph",
    "solve_in_blocks",
    "warn_about_unreached",
]

ROUNDING = 1e-14  # of a sum of probabilities
Values: TypeAlias = Callable[[slice], NDArray[np.float64]]  # temperatures of the boundary, in these columns


class ConvergenceWarning(UserWarning):
    """A solve stopped before its tolerance was met."""


class UnreachedWarning(UserWarning):
    """Some nodes are not connected to any seed, and so have no temperature."""


def interior_system(heat: Csr, boundary: NDArray[np.int64], *, sources: int | None = None) -> System:
    """Set up eq. 4 for a symmetric matrix of conductivities and the nodes whose temperature is given."""
    reached = np.zeros(heat.n, dtype=np.uint8)
    reached[boundary] = 1
    kernels.active.reach(heat.indptr, heat.indices, reached)
    return System(heat, boundary, heat.sums, reached.astype(bool), sources)


def solve(system: System, values: NDArray[np.float64], *, tol: float | None = 1e-3, **options: Any) -> Solution:
    """Solve eq. 4 for the temperatures ``T`` of all nodes, given those of the boundary, ``Y = values``.

    Options are ``solver``, ``n_threads``, and ``start``, ``max_iter`` and ``progress`` of
    :class:`isotherm.solvers.base.Solver`.
    """
    columns = values.shape[1]
    return joined(
        [part for _, part in _solve_blocks(system, lambda part: values[:, part], columns, tol, **options)], tol
    )


def column_blocks(columns: int) -> list[slice]:
    """The columns that are solved at the same time: up to 16 classes, of which one follows from the others, or 15."""
    most = columns if columns <= MOST_COLUMNS + 1 else MOST_COLUMNS
    return [slice(first, min(first + most, columns)) for first in range(0, columns, max(most, 1))]


def joined(parts: list[Solution], tol: float | None) -> Solution:
    """One solution of all columns, as good as the worst of its parts; warns if it missed the tolerance."""
    worst = max(parts, key=lambda part: part.error)
    whole = replace(
        worst,
        temperatures=parts[0].temperatures
        if len(parts) == 1
        else np.concatenate([p.temperatures for p in parts], axis=1),
        iterations=max(part.iterations for part in parts),
        residual=max(part.residual for part in parts),
        error_bound=max(part.error_bound for part in parts),
        converged=all(part.converged for part in parts),
        seconds=sum(part.seconds for part in parts),
    )
    if not whole.converged and tol is not None:
        warnings.warn(_advice(whole, tol), ConvergenceWarning, stacklevel=4)
    return whole


def _solve_blocks(
    system: System,
    values: Values,
    columns: int,
    tol: float | None,
    *,
    solver: str = "auto",
    n_threads: int | None = None,
    start: NDArray[np.floating] | None = None,
    shown: NDArray[np.bool_] | None = None,
    **options: Any,
) -> Iterator[tuple[slice, Solution]]:
    prepared = prepare(system, solver, n_threads=n_threads)
    for part in column_blocks(columns):
        given, guess = values(part), None if start is None else start[:, part]
        solution = _solve_block(prepared, system, given, guess, tol, options)
        if shown is not None and tol is not None:
            wide = _widening(solution.temperatures, shown)
            if solution.error * wide > tol:
                solution = _solve_block(prepared, system, given, solution.temperatures, tol / wide, options)
            solution = _relative_to(solution, wide, tol)
        yield part, solution


def _widening(temperatures: Floats, shown: NDArray[np.bool_]) -> float:
    """How many times as wide as that of the nodes that are shown is the spread of all nodes, for the worst column."""
    all_of_them, own = (np.nanstd(part, axis=0, dtype=np.float64) for part in (temperatures, temperatures[shown]))
    return float(np.max(np.divide(all_of_them, own, out=np.ones(len(own)), where=own > 0), initial=1))


def _relative_to(solution: Solution, wide: float, tol: float) -> Solution:
    """The solution with errors relative to a spread that is so many times narrower."""
    measures = {name: getattr(solution, name) * wide for name in ("residual", "error", "error_bound")}
    return replace(solution, **measures, converged=measures["error"] <= tol)


def _solve_block(
    prepared: Solver,
    system: System,
    values: NDArray[np.float64],
    start: NDArray[np.floating] | None,
    tol: float | None,
    options: dict[str, Any],
) -> Solution:
    """Where the rows of ``Y`` sum to one, as those of K classes do, so do those of ``T``: K - 1 columns are solved."""
    spare = _spare_column(system, values, start)
    kept = np.arange(values.shape[1]) != spare
    guess = None if start is None else start[:, kept]
    solution = prepared.solve(values[:, kept], start=guess, tol=tol, closed=spare is not None, **options)
    if spare is None:
        return solution
    rest = 1 - solution.temperatures.sum(axis=1)
    return replace(solution, temperatures=np.insert(solution.temperatures, spare, rest, axis=1))


def _spare_column(system: System, values: NDArray[np.float64], start: NDArray[np.floating] | None) -> int | None:
    """The column that follows from the others: the one with the most heat, if all rows sum to one."""
    columns = values.shape[1]
    closed = 2 <= columns <= MOST_COLUMNS + 1 and np.allclose(values.sum(axis=1), 1, rtol=0, atol=ROUNDING)
    if closed and start is not None:
        closed = np.allclose(start.sum(axis=1)[system.interior], 1, atol=1e-5)
    return int(values.sum(axis=0).argmax()) if closed else None


def _advice(solution: Solution, tol: float) -> str:
    remedy = "raise max_iter or tol" if solution.solver == "cg" else "use solver='auto', or raise max_iter or tol"
    return (
        f"{solution.solver} stopped after {solution.iterations} iterations with an error of about "
        f"{solution.error:.2g} of the spread of the temperatures, above tol={tol:g}: {remedy}"
    )


def solve_graph(
    graph: Graph, nodes: NDArray[np.int64], values: NDArray[np.float64], *, tol: float | None = 1e-3, **options: Any
) -> Solution:
    """Solve the Dirichlet problem on a graph of any kind, with the given ``nodes`` as boundary.

    A directed graph of n nodes is a bipartite graph of 2n nodes (section 2.3): each node has a temperature as source
    and one as destination. With ``side="source"`` the boundary and the answer are on the source copies; with
    ``side="both"``, the default, the boundary is on both, and the answer is the mean of the two temperatures.

    With ``weights`` the nodes are soft seeds, see :mod:`isotherm.soft_seeds`: those of finite weight are not held.
    """
    columns = values.shape[1]
    parts = [
        part for _, part in solve_in_blocks(graph, nodes, lambda part: values[:, part], columns, tol=tol, **options)
    ]
    solution = joined(parts, tol)
    warn_about_unreached(solution.temperatures)
    return solution


def solve_in_blocks(
    graph: Graph,
    nodes: NDArray[np.int64],
    values: Values,
    columns: int,
    *,
    tol: float | None = 1e-3,
    side: str = "both",
    weights: NDArray[np.float64] | None = None,
    start: NDArray[np.floating] | None = None,
    **options: Any,
) -> Iterator[tuple[slice, Solution]]:
    """The same block after block, where all columns are too many to be kept; ``values`` gives those of a slice."""
    own = graph.n_nodes
    graph, nodes = ground(graph, nodes, weights, side)
    n, copies = graph.n_nodes, 2 if graph.directed else 1
    both = graph.directed and side == "both"
    if n > own:
        options["shown"] = np.tile(np.arange(n) < own, copies)
    if start is not None:
        unknown = np.full((n - own, start.shape[1]), np.nan)
        start = np.concatenate([start, unknown] * copies) if n > own or copies > 1 else start
    boundary = np.concatenate([nodes, nodes + n]) if both else nodes
    system = interior_system(graph.heat, boundary, sources=n if graph.directed else None)
    given = (lambda part: np.concatenate([values(part)] * 2)) if both else values
    for part, solution in _solve_blocks(system, given, columns, tol, start=start, **options):
        source, destination = solution.temperatures[:own], solution.temperatures[n : n + own]
        yield part, replace(solution, temperatures=_mean_of_known(source, destination) if both else source)


def warn_about_unreached(temperatures: Floats) -> None:
    """Warn if some nodes have no temperature."""
    unreached = int(np.count_nonzero(np.isnan(temperatures[:, 0])))
    if unreached:
        message = f"{unreached} of {len(temperatures)} nodes are not connected to any seed and have no temperature"
        warnings.warn(message, UnreachedWarning, stacklevel=4)


def _mean_of_known(a: Floats, b: Floats) -> Floats:
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, (a + b) / 2))


def solve_dirichlet(
    graph: object,
    values: Mapping[Any, Any] | ArrayLike,
    *,
    tol: float | None = 1e-6,
    solver: str = "auto",
    max_iter: int | None = None,
    start: NDArray[np.floating] | None = None,
    side: str = "both",
    n_threads: int | None = None,
) -> NDArray[np.float64]:
    """Temperatures at equilibrium, given those of some nodes.

    Parameters
    ----------
    graph : Graph, sparse matrix, networkx or igraph graph
        Where the heat flows.
    values : mapping or array
        Known temperatures: ``{node: temperature}``, where a temperature may be a sequence of k of them, or an array of
        shape (n,) or (n, k) with NaN where unknown.
    tol : float or None
        Largest error allowed, relative to the spread (the standard deviation) of the temperatures of a column.
        None for exactly ``max_iter`` iterations.
    solver : {"auto", "cg", "direct", "elimination", "sweeps"}
        How to solve.
    max_iter : int, optional
        Most iterations allowed.
    start : ndarray of the shape of the result, optional
        Temperatures to begin from; by default the mean of the known ones.
    side : {"both", "source"}
        For a directed graph: which copies of the nodes are held at the known temperatures.
    n_threads : int, optional
        Number of threads; by default ``ISOTHERM_THREADS``, or all cores.

    Returns
    -------
    ndarray of shape (n,) or (n, k)
        NaN at the nodes that are not connected to any known one.

    Examples
    --------
    A rod of five nodes, hot at one end and cold at the other:

    >>> import isotherm as iso
    >>> rod = iso.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> iso.solve_dirichlet(rod, {0: 1.0, 4: 0.0})
    array([1.  , 0.75, 0.5 , 0.25, 0.  ])
    """
    graph = as_graph(graph)
    nodes, known = _known_temperatures(graph, values)
    columns = known[:, None] if known.ndim == 1 else known
    if start is not None:
        start = np.asarray(start, dtype=np.float64).reshape(graph.n_nodes, columns.shape[1])
    options: dict[str, Any] = {"solver": solver, "max_iter": max_iter, "start": start, "n_threads": n_threads}
    solution = solve_graph(graph, nodes, columns, side=side, tol=tol, **options)
    return solution.temperatures.astype(np.float64).reshape(graph.n_nodes, *known.shape[1:])


def _known_temperatures(
    graph: Graph, values: Mapping[Any, Any] | ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Positions of the nodes with a known temperature, ascending, and those temperatures."""
    if isinstance(values, Mapping):
        positions = graph.index(list(values))
        known = np.asarray(list(values.values()), dtype=np.float64)
        order = np.argsort(positions)
        nodes, known = positions[order], known[order]
    else:
        array = np.asarray(values, dtype=np.float64)
        if array.ndim not in (1, 2) or len(array) != graph.n_nodes:
            raise ValueError(
                f"temperatures of shape {array.shape} do not fit a graph of {graph.n_nodes} nodes: give a row for each"
            )
        unknown = np.isnan(array) if array.ndim == 1 else np.isnan(array).all(axis=1)
        nodes = np.flatnonzero(~unknown)
        known = array[nodes]
    if known.ndim not in (1, 2) or not known.size:
        raise ValueError("no temperature is known: at least one node needs one")
    if not np.isfinite(known).all():
        bad = graph.nodes[nodes[np.flatnonzero(~np.isfinite(known.reshape(len(known), -1)).all(axis=1))[0]]]
        raise ValueError(f"node {bad!r} has a temperature that is not a finite number")
    return nodes, known
