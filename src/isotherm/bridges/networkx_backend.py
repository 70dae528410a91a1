"""A backend for networkx: its node classification, by the kernels of Isotherm.

    nx.node_classification.harmonic_function(G, backend="isotherm")

By default the labels are the same as in networkx, with its number of sweeps and its label for unreached nodes. With
``rule`` or ``tol``, `harmonic_function` goes on to equilibrium.

networkx finds this module by an entry point, and passes the graph to `convert_from_nx`. It caches the converted graph,
and does not notice when a label changes. So labels are read at each call, and only the matrix is kept.
"""

from collections.abc import Hashable
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array, diags_array

from isotherm import kernels
from isotherm.arrays import Doubles, Ints
from isotherm.choices import RuleName
from isotherm.dirichlet_classifier import DirichletClassifier
from isotherm.engines import engine_of
from isotherm.equilibrium.averages import Averaging
from isotherm.equilibrium.options import DEFAULT_TOL, SolveOptions
from isotherm.equilibrium.problem import Problem
from isotherm.graphs import Graph

Labels: TypeAlias = list[Any]


class ConvertedGraph:
    """A networkx graph, with its matrix after the first use."""

    __networkx_backend__ = "isotherm"

    def __init__(self, original: Any) -> None:
        self.original = original

    def is_directed(self) -> bool:
        """Whether edges are arcs; networkx itself refuses such a graph."""
        return bool(self.original.is_directed())

    def is_multigraph(self) -> bool:
        """Whether there may be several edges between two nodes; their weights are added."""
        return bool(self.original.is_multigraph())

    @cached_property
    def adjacency(self) -> csr_array:
        """The weights between the nodes, in the order of networkx."""
        import networkx

        if not self.is_multigraph():
            return _matrix(dict(self.original.adjacency()))
        entries = networkx.to_scipy_sparse_array(self.original, dtype=np.float64, format="csr", backend="networkx")
        return csr_array(entries)

    @cached_property
    def graph(self) -> Graph | None:
        """The graph for Isotherm; None if it has loops or negative weights, which the sweeps of networkx use."""
        if self.adjacency.diagonal().any() or (self.adjacency.data < 0).any():
            return None
        return Graph.from_scipy(self.adjacency)

    def known(self, attribute: str) -> tuple[Ints, Ints, Any]:
        """Positions of the labelled nodes, the class of each, and the labels in order of appearance, as an array."""
        import networkx

        codes: dict[Hashable, int] = {}
        found = enumerate(self.original.nodes(data=True))
        pairs = [(i, codes.setdefault(data[attribute], len(codes))) for i, (_, data) in found if attribute in data]
        if not pairs:
            raise networkx.NetworkXError(f"No node on the input graph is labeled by '{attribute}'.")
        nodes, classes = np.array(pairs).T
        return nodes, classes, np.array(list(codes))


def convert_from_nx(graph: Any, *args: Any, **kwargs: Any) -> ConvertedGraph:
    """The graph in a thin wrapper; each function reads the attributes that it needs."""
    return graph if isinstance(graph, ConvertedGraph) else ConvertedGraph(graph)


def convert_to_nx(result: Any, **kwargs: Any) -> Any:
    """The result itself: labels are lists, which networkx returns as they are."""
    return result.original if isinstance(result, ConvertedGraph) else result


def harmonic_function(
    G: ConvertedGraph,
    max_iter: int = 30,
    label_name: str = "label",
    *,
    rule: RuleName | None = None,
    tol: float | None = None,
) -> Labels:
    """One label for each node, by heat from the labelled nodes.

    Parameters
    ----------
    G
        The converted graph.
    max_iter
        The number of iterations as networkx counts them; the first one only sets the labelled nodes.
    label_name
        The attribute that holds the labels.
    rule
        If given, how temperatures at equilibrium become labels, as in `isotherm.DirichletClassifier`; unreached nodes
        then have the label None, or -1 among integers. With ``tol`` alone the rule is "vanilla", as in networkx.
    tol
        The largest error of temperatures at equilibrium, relative to their spread.
    """
    if rule is not None or tol is not None:
        return _at_equilibrium(G, label_name, rule or "vanilla", DEFAULT_TOL if tol is None else tol)
    nodes, classes, names = G.known(label_name)
    given = np.eye(len(names))[classes]
    if G.graph is None or max_iter < 2:  # loops or negative weights, or no sweep is wanted
        steps = csr_array(diags_array(1 / _degrees(G)) @ G.adjacency)
        steps = diags_array(np.isin(np.arange(len(G.original)), nodes, invert=True).astype(float)) @ steps
        return _warmest(_iterated(csr_array(steps), nodes, given, max_iter), names)
    start = np.zeros((len(G.original), len(names)))
    options = SolveOptions(solver="sweeps", tol=None, max_iter=max_iter - 1)
    found = engine_of(options).solve(Problem.of(G.graph, nodes, given), options, start=start)
    return _warmest(np.nan_to_num(found.temperatures), names)


def local_and_global_consistency(
    G: ConvertedGraph, alpha: float = 0.99, max_iter: int = 30, label_name: str = "label"
) -> Labels:
    """One label for each node, by the iteration of Zhou et al. (2004), as in networkx."""
    nodes, classes, names = G.known(label_name)
    given = (1 - alpha) * np.eye(len(names))[classes]
    roots = np.sqrt(_degrees(G))
    if G.graph is None:  # loops or negative weights
        steps = csr_array(alpha * (diags_array(1 / roots) @ G.adjacency @ diags_array(1 / roots)))
        return _warmest(_iterated(steps, nodes, given, max_iter), names)
    return _warmest(_spread(G.graph, nodes, given / roots[nodes, None], alpha, max_iter), names)


def _at_equilibrium(G: ConvertedGraph, label_name: str, rule: RuleName, tol: float) -> Labels:
    nodes, classes, names = G.known(label_name)
    known = np.full(len(G.original), -1)
    known[nodes] = classes
    found = DirichletClassifier(rule=rule, tol=tol).fit(G.graph or Graph.from_scipy(G.adjacency), known).labels_
    unknown = -1 if names.dtype.kind == "i" else None
    return [unknown if code < 0 else name for code, name in zip(found, names[found].tolist(), strict=True)]


def _spread(graph: Graph, nodes: Ints, given: Doubles, alpha: float, max_iter: int) -> Doubles:
    """The iteration of Zhou et al. with each row divided by the square root of its degree.

    The matrix is then ``alpha D^-1 A``, and the largest value of each row stays at the same class.
    """
    degrees = graph.degrees
    scale = np.divide(alpha, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    walk = Averaging(graph.csr, scale, dtype=np.float64)
    isolated, found = np.flatnonzero(degrees == 0), np.zeros((graph.n_nodes, given.shape[1]))
    for first in range(0, given.shape[1], kernels.WIDTHS[-1]):
        part = slice(first, first + kernels.WIDTHS[-1])
        columns = given[:, part].shape[1]
        x, swept = (kernels.block(graph.n_nodes, kernels.width(columns), np.float64) for _ in range(2))
        for _ in range(max_iter):
            walk.step(x, swept)
            swept[isolated] = 0
            swept[nodes, :columns] += given[:, part]
            x, swept = swept, x
        found[:, part] = x[:, :columns]
    return found


def _matrix(rows: dict[Hashable, Any]) -> csr_array:
    """The matrix of a graph from its neighbours by node.

    networkx has each edge in the rows of both ends already. This takes less than half the time of its own
    ``to_scipy_sparse_array``, which lists the edges and adds them up.
    """
    position = {node: i for i, node in enumerate(rows)}
    ends = np.cumsum([0, *map(len, rows.values())])
    neighbours = map(position.__getitem__, chain.from_iterable(rows.values()))
    edges = chain.from_iterable(row.values() for row in rows.values())
    weights = np.fromiter((edge.get("weight", 1) for edge in edges), np.float64, ends[-1])
    matrix = csr_array((weights, np.fromiter(neighbours, np.int32, ends[-1]), ends), shape=(len(rows), len(rows)))
    matrix.sort_indices()
    return matrix


def _degrees(G: ConvertedGraph) -> Doubles:
    """The sum of the weights at each node; 1 in place of 0, as in networkx."""
    degrees: Doubles = G.adjacency.sum(axis=0)
    return np.where(degrees == 0, 1, degrees)


def _iterated(steps: csr_array, nodes: Ints, given: Doubles, max_iter: int) -> Doubles:
    """The iteration of networkx, ``F = P F + B`` from 0, shape (n, K)."""
    heat = np.zeros((steps.shape[0], given.shape[1]))
    for _ in range(max_iter):
        heat = steps @ heat
        heat[nodes] += given
    return heat


def _warmest(heat: Doubles, names: Any) -> Labels:
    """The class of the largest value at each node; the first class if all values are 0."""
    labels: Labels = names[heat.argmax(axis=1)].tolist()
    return labels
