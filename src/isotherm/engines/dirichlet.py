"""The Dirichlet problem as one public function: from temperatures of some nodes to temperatures of all nodes."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.choices import EngineName, SideName, SolverName
from isotherm.engines import ENGINES, engine_of
from isotherm.equilibrium.options import ALONG, SolveOptions, check_along
from isotherm.equilibrium.problem import Problem, warn_about_unreached
from isotherm.equilibrium.solvers import SOLVERS
from isotherm.errors import check_choice
from isotherm.graphs import Graph, as_graph
from isotherm.seeds import as_seeds


def solve_dirichlet(
    graph: object,
    values: Mapping[Any, Any] | ArrayLike,
    *,
    tol: float | None = 1e-6,
    solver: SolverName = "auto",
    max_iter: int | None = None,
    start: Floats | None = None,
    side: SideName = "both",
    engine: EngineName = "local",
    n_threads: int | None = None,
) -> Doubles:
    """Temperatures of all nodes at equilibrium, given the temperatures of some nodes.

    Parameters
    ----------
    graph : Graph, sparse matrix, networkx or igraph graph
        Where the heat flows.
    values : mapping or array
        Known temperatures: ``{node: temperature}``, with a number or a sequence of k numbers for each node, or an
        array of shape (n,) or (n, k) with NaN where unknown.
    tol : float or None
        Largest error allowed, relative to the spread (the standard deviation) of the temperatures of a column.
        None for exactly ``max_iter`` iterations.
    solver : {"auto", "cg", "direct", "elimination", "sweeps"}
        How to solve.
    max_iter : int, optional
        Largest number of iterations.
    start : ndarray of the shape of the result, optional
        Temperatures to start from; by default the mean of the known ones.
    side : {"both", "source", "edges", "along"}
        For a directed graph: which copies of the nodes are held at the known temperatures; or arcs are edges; or each
        node has the mean temperature of the nodes that it points to.
    engine : {"local", "dask"}
        Where to solve: in this process, or on the Dask cluster that this process is connected to.
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
    for name, value, choices in (("engine", engine, ENGINES), ("solver", solver, SOLVERS)):
        check_choice(name, value, choices)
    if side == ALONG:
        check_along(SolveOptions(solver=solver, engine=engine))
    graph = as_graph(graph)
    nodes, known = _known_temperatures(graph, values)
    columns = known[:, None] if known.ndim == 1 else known
    if start is not None:
        start = np.asarray(start, dtype=np.float64).reshape(graph.n_nodes, columns.shape[1])
    options = SolveOptions(solver=solver, tol=tol, max_iter=max_iter, threads=n_threads, engine=engine)
    solution = engine_of(options).solve(Problem.of(graph, nodes, columns, side=side), options, start=start)
    warn_about_unreached(solution.temperatures)
    return solution.temperatures.astype(np.float64).reshape(graph.n_nodes, *known.shape[1:])


def absorption_probabilities(
    T: object, terminal: Mapping[Any, Any] | Iterable[Any], *, tol: float = 1e-8, max_iter: int | None = None
) -> Doubles:
    """The probability of each terminal state, for a random walk from each node along the arcs.

    Parameters
    ----------
    T : sparse matrix, array or directed graph
        Transition probabilities: row i is for the steps from node i. Rows need not sum to one, so weights work too.
    terminal : mapping or list of nodes
        Where walks end: ``{node: state}``, or nodes of which each is a state by itself.
    tol : float
        Largest error, relative to the spread of the probabilities of a state. It is a bound, not a guess.
    max_iter : int, optional
        Largest number of iterations; a warning tells the error if they were not enough.

    Returns
    -------
    ndarray of shape (n, K)
        Rows sum to one. States are in sorted order, or in the order of the list. Rows are NaN where no terminal node
        can be reached, with a warning; steps to such nodes are left out.

    Examples
    --------
    A gambler with one of three coins wins each with probability 0.6, and ends with none or with three:

    >>> import isotherm as iso
    >>> T = np.array([[1, 0, 0, 0], [0.4, 0, 0.6, 0], [0, 0.4, 0, 0.6], [0, 0, 0, 1]])
    >>> iso.absorption_probabilities(T, {0: "ruin", 3: "win"})[1].round(3)
    array([0.526, 0.474])
    """
    graph = T if isinstance(T, Graph) else as_graph(Graph.from_scipy(T, directed=True))
    if isinstance(terminal, Mapping):
        seeds = as_seeds(terminal, graph, None)
        nodes, values = seeds.nodes, seeds.values(slice(None))
    else:
        given = graph.index(list(terminal))
        nodes, values = np.sort(given), np.eye(len(given))[np.argsort(given)]
    options = SolveOptions(tol=tol, max_iter=max_iter)
    solution = engine_of(options).solve(Problem.of(graph, nodes, values, side=ALONG), options)
    warn_about_unreached(solution.temperatures)
    return np.asarray(solution.temperatures, np.float64)


def _known_temperatures(graph: Graph, values: Mapping[Any, Any] | ArrayLike) -> tuple[Ints, Doubles]:
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
