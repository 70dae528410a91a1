"""Random Dirichlet problems, and their exact solution: `harmonic`, or `star_mesh` where weights differ widely."""

from dataclasses import dataclass

import networkx as nx
import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from isotherm.equilibrium.harmonic import harmonic as harmonic
from isotherm.graphs import Csr, Graph

SHAPES = ("random", "path", "star", "clique", "tree", "isolated", "barbell", "grid")


@dataclass
class Problem:
    """A graph, the positions and the classes of its seeds."""

    graph: Graph
    nodes: NDArray[np.int64]
    codes: NDArray[np.int64]

    @property
    def values(self) -> NDArray[np.float64]:
        return np.eye(int(self.codes.max()) + 1)[self.codes]  # (s, K)

    @property
    def labels(self) -> NDArray[np.int64]:
        labels = np.full(self.graph.n_nodes, -1)
        labels[self.nodes] = self.codes
        return labels


def _shape(name: str, size: int, rng: np.random.Generator) -> nx.Graph:
    if name == "random":
        return nx.gnp_random_graph(size, min(1.0, 3 / size), seed=int(rng.integers(2**31)))
    if name == "tree":
        return nx.from_edgelist([(i, int(rng.integers(i))) for i in range(1, size)]) if size > 1 else nx.empty_graph(1)
    builders = {
        "path": nx.path_graph,
        "star": lambda k: nx.star_graph(k - 1),
        "clique": nx.complete_graph,
        "isolated": nx.empty_graph,
        "barbell": lambda k: nx.barbell_graph(max(3, k // 3), k // 3),
        "grid": lambda k: nx.convert_node_labels_to_integers(nx.grid_2d_graph(max(2, k // 4), 4)),
    }
    return builders[name](size)


@st.composite
def adjacencies(draw: st.DrawFn, weighted: bool | None = None) -> csr_array:
    """A union of shapes, in random order, some joined by an edge, with weights or without."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parts = draw(st.lists(st.tuples(st.sampled_from(SHAPES), st.integers(2, 20)), min_size=1, max_size=4))
    union = nx.disjoint_union_all([_shape(name, size, rng) for name, size in parts])
    n = union.number_of_nodes()
    for _ in range(draw(st.integers(0, 4))):
        union.add_edge(*map(int, rng.integers(n, size=2)))
    matrix = csr_array(nx.to_scipy_sparse_array(union, dtype=float))
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    if draw(st.booleans()) if weighted is None else weighted:
        weights = matrix.copy()
        weights.data = rng.lognormal(sigma=draw(st.sampled_from([0.3, 2.0])), size=weights.nnz)
        matrix = csr_array(weights + weights.T)
    order = rng.permutation(n)
    matrix = csr_array(matrix[order][:, order])
    matrix.sort_indices()
    return matrix


@st.composite
def problems(draw: st.DrawFn, kinds: tuple[str, ...] = ("undirected", "directed", "bipartite")) -> Problem:
    """A graph of some kind with at least two seeds of at least two classes."""
    matrix = draw(adjacencies())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(kinds))
    if kind == "undirected":
        graph = Graph.from_scipy(matrix)
    elif kind == "bipartite":
        graph = Graph.from_biadjacency(matrix[: max(1, matrix.shape[0] // 2)])
    else:
        arcs = matrix.tocoo()
        kept = rng.random(arcs.nnz) < 0.7
        arcs = csr_array((arcs.data[kept], (arcs.row[kept], arcs.col[kept])), shape=matrix.shape)
        graph = Graph.from_scipy(arcs, directed=True)
    n = graph.n_nodes
    seeds = draw(st.integers(2, max(2, n // 3)))
    classes = draw(st.integers(2, min(seeds, 5)))
    nodes = np.sort(rng.choice(n, seeds, replace=False)).astype(np.int64)
    codes = rng.integers(classes, size=seeds)
    codes[:classes] = np.arange(classes)
    return Problem(graph, nodes, codes)


def dense(heat: Csr) -> NDArray[np.float64]:
    """The matrix as a dense array."""
    data = np.ones(len(heat.indices)) if heat.weights is None else heat.weights.astype(float)
    n = len(heat.indptr) - 1
    return np.asarray(csr_array((data, heat.indices, heat.indptr), shape=(n, n)).todense())


def star_mesh(
    adjacency: NDArray[np.float64], boundary: NDArray[np.int64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Temperatures by dense elimination, NaN where no path leads to the boundary; `harmonic` by another way.

    A node is removed and its neighbours are joined to each other instead (the star-mesh transform). Nothing is ever
    subtracted, so the answer is exact to a few units of rounding, however weak a bridge between two parts is.
    """
    n = len(adjacency)
    _, component = connected_components(csr_array(adjacency), directed=False)
    interior = np.setdiff1d(np.flatnonzero(np.isin(component, component[boundary])), boundary)
    weights = adjacency.copy()
    shares = []
    for node in interior:
        around = weights[node].copy()
        weights[node] = weights[:, node] = 0
        shares.append(around / around.sum())
        near = np.flatnonzero(around)
        weights[np.ix_(near, near)] += np.outer(around[near], shares[-1][near])
        weights[near, near] = 0
    temperatures = np.full((n, values.shape[1]), np.nan)
    temperatures[boundary] = values
    for node, share in zip(interior[::-1], shares[::-1], strict=True):
        near = share > 0
        temperatures[node] = share[near] @ temperatures[near]
    return temperatures
