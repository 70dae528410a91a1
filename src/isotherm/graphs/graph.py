"""The graph: nodes with their ids, and the weights between them.

The rest of the code trusts a `Graph`: indices rise strictly in each row of its matrix, and weights are positive and
finite. Unless the graph is directed, the matrix is symmetric and its diagonal is empty.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from isotherm import kernels
from isotherm.graphs.constructors import Constructors
from isotherm.graphs.csr import (
    Csr,
    bipartite,
    both_ways,
    checked_entries,
    locked,
    read_only,
    tidy,
    undirected,
)
from isotherm.graphs.html import facts
from isotherm.graphs.nodes import Ids, node_ids, not_in_the_graph

__all__ = ["Csr", "Graph", "as_graph"]


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Constructors):
    """Nodes with their ids, and the weights between them.

    Build one with ``from_edges``, ``from_pandas``, ``from_polars``, ``from_scipy``, ``from_biadjacency``,
    ``from_vectors``, ``from_networkx`` or ``from_igraph``; ``Graph(...)`` itself checks nothing. All of them keep these
    rules:

    - Weights are finite and not negative. A weight of zero means no edge, weights of parallel edges are added, and a
      graph whose weights are all one stores none. float32 stays float32, any other type becomes float64.
    - Self-loops are dropped from undirected graphs, because they do not change the temperatures at equilibrium.
      An arc ``i -> i`` of a directed graph is kept: it joins the source copy of ``i`` to its destination copy.
    - The caller's arrays are never changed. They are shared, not copied, where no conversion is needed.

    Attributes
    ----------
    csr : Csr
        Symmetric, without diagonal; for a directed graph the arcs, row ``i`` holding those that leave node ``i``.
    nodes : ndarray of shape (n,)
        The ids in order: int64 if all are integers, objects otherwise.
    directed : bool
        Whether ``csr`` holds arcs.
    n_rows : int or None
        For a graph from a biadjacency matrix, ``nodes[:n_rows]`` are its rows and the others its columns.
    """

    csr: Csr
    nodes: Ids
    directed: bool = False
    n_rows: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "csr", read_only(self.csr))
        object.__setattr__(self, "nodes", locked(self.nodes))

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), (self.csr, self.nodes, self.directed, self.n_rows)

    def __repr__(self) -> str:
        kinds = {"directed": self.directed, "bipartite": self.n_rows is not None, "weighted": self.weighted}
        counts = f"{self.n_nodes} nodes, {self.n_edges} edges"
        return f"<Graph: {', '.join([counts, *(kind for kind, holds in kinds.items() if holds)])}>"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        kind = "directed" if self.directed else "undirected"
        values = [("nodes", self.n_nodes), ("edges", self.n_edges), ("kind", kind), ("weighted", self.weighted)]
        if self.n_rows is not None:
            values[1:1] = [("rows", self.n_rows), ("columns", self.n_nodes - self.n_rows)]
        ids = ", ".join(map(str, self.nodes[:3].tolist())) + ", ..." * (self.n_nodes > 3)
        return facts("Graph", [*values, ("ids", ids)])

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    @property
    def n_edges(self) -> int:
        """The number of edges, each counted once; for a directed graph the number of arcs."""
        return self.csr.entries if self.directed else self.csr.entries // 2

    @property
    def weighted(self) -> bool:
        """Whether any weight differs from one."""
        return self.csr.weights is not None

    @property
    def adjacency(self) -> csr_array:
        """A new float64 ``csr_array``; changing it does not change the graph."""
        return self.csr.to_scipy().astype(np.float64, copy=True)

    @cached_property
    def heat(self) -> Csr:
        """The symmetric matrix along which heat flows.

        For a directed graph it is the paper's bipartite graph ``[[0, A], [A.T, 0]]`` on ``2 n`` nodes.
        """
        if not self.directed:
            return self.csr
        return read_only(bipartite(self.csr))

    @cached_property
    def edges_only(self) -> "Graph":
        """The same graph with arcs read as edges; the weights of arcs in both directions are added.

        >>> Graph.from_edges([0, 1, 1], [1, 0, 2], directed=True).edges_only.adjacency.toarray()
        array([[0., 2., 0.],
               [2., 0., 1.],
               [0., 1., 0.]])
        """
        if not self.directed:
            return self
        nodes = self.nodes[:]  # an array, also if ids are stored on disk
        return Graph._from_entries(both_ways(self.csr), nodes, n_rows=self.n_rows)

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """The sum of the weights at each node; for a directed graph over arcs out and arcs in."""
        leaving = self.csr.sums
        arriving = np.bincount(self.csr.indices, self.csr.weights, minlength=self.n_nodes) if self.directed else 0
        return locked(leaving + arriving)

    def index(self, ids: Iterable[Any]) -> NDArray[np.int64]:
        """Positions of node ids in ``nodes``; unknown ids raise a ValueError.

        Examples
        --------
        >>> Graph.from_edges(["ann", "bob"], ["bob", "eve"]).index(["eve", "ann"])
        array([2, 0])
        """
        wanted = node_ids(ids, "ids")
        if wanted.dtype == np.int64 and self._numbered:
            positions = np.where(wanted < self.n_nodes, wanted, -1)
        else:
            known = self._positions_of(wanted)
            found = (known.get(node, -1) for node in wanted.tolist())
            positions = np.fromiter(found, dtype=np.int64, count=len(wanted))
        if (positions < 0).any():
            raise ValueError(not_in_the_graph(wanted[positions < 0]))
        return positions

    @cached_property
    def _numbered(self) -> bool:
        return np.array_equal(self.nodes, np.arange(self.n_nodes))

    def _positions_of(self, wanted: Ids) -> dict[Any, int]:
        """A map from ids to positions that holds these ids at least.

        For a few ids, one pass over the nodes is faster than a map of all of them.
        """
        ids = set(wanted.tolist())
        if not self._found and len(ids) <= self.n_nodes // 8:
            nodes = enumerate(self.nodes.tolist())
            self._found.update((node, position) for position, node in nodes if node in ids)
        return self._found if ids <= self._found.keys() else self._positions

    @cached_property
    def _found(self) -> dict[Any, int]:
        return {}

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return {node: position for position, node in enumerate(self.nodes.tolist())}

    def layout(self, *, seed: int = 0, n_threads: int | None = None, cache: bool = True) -> NDArray[np.float32]:
        """A map: positions (n, 2) of the nodes, found from the links alone.

        Neighbours are near each other, and dense parts form islands. The map is within -1 and 1; nodes of small
        components are in a strip below it. Directions of arcs play no part.

        Parameters
        ----------
        seed : int
            The same seed gives the same map, with any number of threads.
        n_threads : int, optional
            By default ``ISOTHERM_THREADS``, or all cores.
        cache : bool
            Whether the map of a large graph is kept in the user's cache folder, and taken from there.

        Examples
        --------
        >>> ring = Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0])
        >>> ring.layout().shape
        (6, 2)
        """
        from isotherm.map_layout import kept_or_placed, place  # SciPy's Fourier transforms are slow to import

        links, threads = both_ways(self.csr) if self.directed else self.csr, kernels.thread_count(n_threads)
        return (kept_or_placed if cache else place)(*links, seed=seed, threads=threads)

    def pack(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the graph as a folder of plain arrays, such as ``graph.iso``, that `open` maps into memory.

        Ids are int or str. In the folder nodes are in ascending order of their ids, so that they are found without a
        dictionary of all nodes. The folder appears when it is complete; with ``force`` it replaces a packed graph.
        For edges that do not fit in memory, see ``isotherm pack`` and :func:`isotherm.pack_edges`.

        Examples
        --------
        >>> import tempfile
        >>> folder = tempfile.mkdtemp() + "/graph.iso"
        >>> Graph.from_edges(["bob", "ann"], ["eve", "bob"]).pack(folder)
        >>> graph = Graph.open(folder)
        >>> graph, graph.nodes[:2].tolist()
        (<Graph: 3 nodes, 2 edges>, ['ann', 'bob'])
        """
        from isotherm.graphs.packed import pack

        pack(self, path, force=force)

    @staticmethod
    def open(path: str | os.PathLike[str], *, verify: bool = False) -> "Graph":
        """Open a graph that `pack` or ``isotherm pack`` wrote, without reading it into memory.

        Its arrays are mapped: the system reads pages when they are used, drops them when memory is short, and shares
        them between processes. A folder that is damaged is refused; with ``verify`` checksums and symmetry of large
        graphs are checked too, which takes about a second per GB.
        """
        from isotherm.graphs.packed import open_packed

        return open_packed(path, verify=verify)

    @classmethod
    def _from_entries(
        cls, entries: Csr, nodes: Ids, *, directed: bool = False, strict: bool = False, n_rows: int | None = None
    ) -> Self:
        csr = tidy(entries)[0] if directed else undirected(entries, strict)
        if csr.weights is not None:  # sums may have overflowed, and the weights left may all be one
            csr = csr._replace(weights=checked_entries(csr, csr.weights, nodes))
        return cls(csr, nodes, directed, n_rows)


def as_graph(value: Any) -> Graph:
    """The graph in a Graph, a square SciPy or NumPy matrix (undirected), or a networkx or igraph graph.

    Examples
    --------
    >>> as_graph(np.array([[0, 2], [2, 0]]))
    <Graph: 2 nodes, 1 edges, weighted>
    """
    if isinstance(value, Graph):
        return value
    if issparse(value) or isinstance(value, np.ndarray):
        return Graph.from_scipy(value)
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(value).__mro__}
    if ("networkx", "Graph") in kinds:
        return Graph.from_networkx(value)
    if ("igraph", "Graph") in kinds:
        return Graph.from_igraph(value)
    accepted = "an isotherm, networkx or igraph graph, or a square SciPy or NumPy matrix"
    raise TypeError(f"a graph is {accepted}, not {type(value).__name__}")
