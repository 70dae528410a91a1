"""The graph: nodes with their ids, the weights between them, and the ways to build one.

Each constructor validates its input, and the rest of the code trusts a `Graph`: indices rise strictly in each row of
its matrix, and weights are positive and finite. Unless the graph is directed, the matrix is symmetric and its diagonal
is empty.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from isotherm import kernels
from isotherm.errors import ParameterError, first_few
from isotherm.graphs.colours import colour_nodes
from isotherm.graphs.csr import (
    Csr,
    EdgeKinds,
    as_sparse,
    assembled,
    bipartite,
    both_ways,
    check_size,
    checked_entries,
    edge_kinds,
    edge_weights,
    locked,
    read_matrix,
    read_only,
    summed,
    tidy,
    undirected,
    with_rows,
)
from isotherm.graphs.nodes import Ids, distinct_ids, node_ids, not_in_the_graph, number_ends
from isotherm.graphs.other_libraries import edge_columns, igraph_ids

if TYPE_CHECKING:  # only graphs of vectors need the search
    from isotherm.choices import MetricName, WeightsName
    from isotherm.graphs.neighbours import Neighbours


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Nodes with their ids, and the weights between them.

    Build one with ``from_edges``, ``from_pandas``, ``from_polars``, ``from_scipy``, ``from_biadjacency``,
    ``from_vectors``, ``from_networkx`` or ``from_igraph``; ``Graph(...)`` itself checks nothing. All of them follow
    these rules:

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
    kinds : tuple of (str, Csr)
        The edges of each kind, by name, if there are several; ``csr`` is their sum. `NodeClassifier` weighs them.
    kind_weights : dict or None
        The mean weight of the edges of each kind, for a graph that `weigh_kinds` made.
    """

    csr: Csr
    nodes: Ids
    directed: bool = False
    n_rows: int | None = None
    kinds: tuple[tuple[str, Csr], ...] = ()
    kind_weights: dict[str, float] | None = None
    is_packed: ClassVar[bool] = False  # whether the arrays are mapped from a folder

    def __post_init__(self) -> None:
        object.__setattr__(self, "csr", read_only(self.csr))
        object.__setattr__(self, "nodes", locked(self.nodes))

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), (self.csr, self.nodes, self.directed, self.n_rows, self.kinds, self.kind_weights)

    def __repr__(self) -> str:
        kinds = {"directed": self.directed, "bipartite": self.n_rows is not None, "weighted": self.weighted}
        of_kinds = f" of {len(self.kinds)} kinds" if self.kinds else ""
        counts = f"{self.n_nodes} nodes, {self.n_edges} edges{of_kinds}"
        return f"<Graph: {', '.join([counts, *(kind for kind, holds in kinds.items() if holds)])}>"

    def _repr_html_(self) -> str:
        from isotherm.tables import facts

        kind = "directed" if self.directed else "undirected"
        values = [("nodes", self.n_nodes), ("edges", self.n_edges), ("kind", kind), ("weighted", self.weighted)]
        if self.n_rows is not None:
            values[1:1] = [("rows", self.n_rows), ("columns", self.n_nodes - self.n_rows)]
        return facts("Graph", [*values, ("ids", first_few(self.nodes[:4].tolist(), 3, text=str))])

    @classmethod
    def from_edges(
        cls,
        source: Iterable[Any],
        target: Iterable[Any],
        weight: Iterable[Any] | None = None,
        *,
        directed: bool = False,
        nodes: Iterable[Any] | None = None,
        kind: Iterable[Any] | None = None,
    ) -> Self:
        """A graph from a list of edges.

        Parameters
        ----------
        source, target : list, array or Series
            The ids at the ends of each edge: any hashables, but neither None nor NaN.
        weight : list, array or Series, optional
            One number for each edge; all are one by default.
        directed : bool
            Whether an edge is an arc from source to target. If not, and the list has every edge in both directions
            with the same weight, each such pair is one edge; in any other list, each entry is an edge.
        nodes : list, array or Series, optional
            All ids, each once, in the order that ``graph.nodes`` is to have; nodes without edges may be among them.
            By default the ids of the edges in order of first appearance, edge by edge, source before target.
        kind : list, array or Series, optional
            The kind of each edge, such as "card" or "address": `NodeClassifier` finds a weight for each kind; see
            docs/evidence.md. Kinds are compared as text, and edges without one are of the kind "missing".

        Examples
        --------
        >>> graph = Graph.from_edges(["ann", "bob", "ann"], ["bob", "eve", "eve"], [1, 2, 0.5])
        >>> graph
        <Graph: 3 nodes, 3 edges, weighted>
        >>> graph.degrees
        array([1.5, 3. , 2.5])
        """
        ends = [node_ids(source, "source"), node_ids(target, "target")]
        if len(ends[0]) != len(ends[1]):
            raise ValueError(f"source has {len(ends[0])} ids, but target has {len(ends[1])}")
        values = edge_weights(weight, len(ends[0]))
        found, positions = number_ends(np.stack(ends, axis=1), None if nodes is None else node_ids(nodes, "nodes"))
        check_size(len(found), directed)
        kinds = None if kind is None else edge_kinds(kind, len(ends[0]))
        return cls._from_list(positions[:, 0], positions[:, 1], values, found, directed=directed, kinds=kinds)

    @classmethod
    def from_pandas(
        cls,
        frame: Any,
        source: Any = "source",
        target: Any = "target",
        weight: Any = "weight",
        *,
        directed: bool = False,
        nodes: Iterable[Any] | None = None,
        kind: Any = None,
    ) -> Self:
        """A graph from a pandas or polars data frame with a row for each edge.

        Parameters
        ----------
        frame : DataFrame
            The edges.
        source, target, weight
            The names of its columns. Without a column named "weight", all edges weigh one; any other name must exist.
        directed, nodes
            As in `from_edges`.
        kind
            The name of the column of kinds of edges, if there are several; see `from_edges`.

        Examples
        --------
        >>> import pandas as pd
        >>> payments = pd.DataFrame({"payer": ["ann", "bob"], "payee": ["bob", "eve"], "amount": [5.0, 2.5]})
        >>> Graph.from_pandas(payments, "payer", "payee", "amount")
        <Graph: 3 nodes, 2 edges, weighted>
        """
        columns = edge_columns(frame, source, target, weight, kind)
        return cls.from_edges(**columns, directed=directed, nodes=nodes)

    from_polars = from_pandas

    @classmethod
    def from_scipy(cls, adjacency: Any, *, directed: bool = False, nodes: Iterable[Any] | None = None) -> Self:
        """A graph from a square matrix: SciPy sparse of any format, or a dense NumPy array.

        Unless ``directed``, the matrix is symmetric, or all its entries are in one triangle, which then stands for
        both. If the two weights of an edge differ by at most 1e-8 (float32: 1e-6), relative to the largest weights at
        both nodes, that counts as rounding, and their mean is taken. Node ids are ``nodes``, in the order of the rows,
        or by default 0 to n - 1.

        Examples
        --------
        >>> Graph.from_scipy(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
        <Graph: 3 nodes, 2 edges>
        """
        matrix = as_sparse(adjacency, "adjacency")
        rows, columns = matrix.shape
        if rows != columns:
            pairs = "a list of edges is read by Graph.from_edges(source, target), " if columns in (2, 3) else ""
            raise ValueError(
                f"the adjacency matrix has {rows} rows and {columns} columns; "
                f"{pairs}a rectangular matrix is read by Graph.from_biadjacency"
            )
        check_size(rows, directed)
        ids = np.arange(rows) if nodes is None else distinct_ids(node_ids(nodes, "nodes"))
        if len(ids) != rows:
            raise ValueError(f"nodes has {len(ids)} ids, but the adjacency matrix has {rows} rows: give one for each")
        if matrix.format == "csc" and not directed:
            matrix = matrix.T  # the same undirected graph, now in compressed rows
        return cls._from_entries(read_matrix(matrix, ids), ids, directed=directed, strict=True)

    @classmethod
    def from_biadjacency(
        cls, biadjacency: Any, *, rows: Iterable[Any] | None = None, columns: Iterable[Any] | None = None
    ) -> Self:
        """A bipartite graph from a matrix whose rows and columns are both nodes.

        Entry ``(i, j)`` weighs the edge between row ``i`` and column ``j``, also where ``i`` equals ``j``. Unless
        given, the ids are 0 to r - 1 for the rows and r to r + c - 1 for the columns; all must be distinct.

        Examples
        --------
        >>> graph = Graph.from_biadjacency(np.array([[1, 1, 0], [0, 1, 1]]), columns=["x", "y", "z"])
        >>> graph
        <Graph: 5 nodes, 4 edges, bipartite>
        >>> graph.nodes
        array([0, 1, 'x', 'y', 'z'], dtype=object)
        """
        matrix = as_sparse(biadjacency, "biadjacency")
        r, c = matrix.shape
        check_size(r + c)
        row_ids = node_ids(np.arange(r) if rows is None else rows, "rows")
        column_ids = node_ids(np.arange(r, r + c) if columns is None else columns, "columns")
        if (len(row_ids), len(column_ids)) != (r, c):
            given = f"rows has {len(row_ids)} ids and columns {len(column_ids)}"
            raise ValueError(f"{given}, but the biadjacency matrix has {r} rows and {c} columns")
        nodes = distinct_ids(np.concatenate([row_ids, column_ids]))
        return cls._from_entries(read_matrix(matrix, nodes, offset=r), nodes, n_rows=r)

    @classmethod
    def from_networkx(cls, G: Any, weight: str | None = "weight") -> Self:
        """A graph from networkx, directed if it is; an edge without the attribute ``weight`` weighs one.

        Examples
        --------
        >>> import networkx
        >>> Graph.from_networkx(networkx.path_graph(4))
        <Graph: 4 nodes, 3 edges>
        """
        edges = list(G.edges(data=weight, default=1)) if weight is not None else [(u, v, 1) for u, v in G.edges()]
        source, target, weights = ([edge[part] for edge in edges] for part in range(3))
        return cls.from_edges(source, target, weights, directed=G.is_directed(), nodes=list(G.nodes))

    @classmethod
    def from_igraph(cls, G: Any, weight: str | None = "weight") -> Self:
        """A graph from igraph, directed if it is; the vertex attribute ``name``, if there is one, gives the ids.

        A graph that igraph converted from networkx keeps its ids from there, which igraph calls ``_nx_name``.

        Examples
        --------
        >>> import igraph
        >>> Graph.from_igraph(igraph.Graph.Ring(4))
        <Graph: 4 nodes, 4 edges>
        """
        names = node_ids(igraph_ids(G), "name")
        source, target = np.array(G.get_edgelist(), dtype=np.int64).reshape(-1, 2).T
        listed = G.es[weight] if weight in G.es.attributes() else [1] * G.ecount()
        weights = [1 if value is None else value for value in listed]
        return cls.from_edges(names[source], names[target], weights, directed=G.is_directed(), nodes=names)

    @classmethod
    def from_vectors(
        cls,
        X: Any,
        k: int = 10,
        metric: "MetricName" = "euclidean",
        *,
        weights: "WeightsName | None" = "gaussian",
        scale: bool = False,
        ids: Iterable[Any] | None = None,
        recall: float = 0.98,
        n_threads: int | None = None,
    ) -> Self:
        """A graph that joins each row of a table to its nearest rows.

        Two rows are joined if one is among the k nearest of the other. Identical rows count once: copies are joined to
        the one with the first id. The answer is the same for any number of threads and any order of the rows.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, p)
            One row for each node, all numbers finite. Distances are taken in float32, after the mean of each column has
            been subtracted in float64. A sparse table of more than 67 million cells is first projected on its 128
            principal directions.
        k : int
            How many neighbours each row has; all others, if there are fewer.
        metric : {"euclidean", "cosine"}
            "cosine" compares directions only, which suits texts and many embeddings. A row of zeros has no direction,
            and gets no edges.
        weights : {"gaussian", "self-tuning", None}
            How weights fall with the distance d, where d_k is the distance of a row from its k-th neighbour.
            "gaussian": ``exp(-4 d^2 / d_k^2)``, the mean of both directions; "self-tuning":
            ``exp(-d^2 / (d_k d'_k))``; None: all weights are one.
        scale : bool
            Whether to divide each column by its standard deviation first.
        ids : list, array or Series, optional
            The ids of the rows; 0 to n - 1 by default.
        recall : float
            The smallest share of the true neighbours to be found. Small tables are always searched exactly. Larger
            ones are searched exactly with ``recall=1``, in time that grows with the square of n.
        n_threads : int, optional
            By default ``ISOTHERM_THREADS``, or all cores.

        Examples
        --------
        >>> Graph.from_vectors([[0.0], [1.0], [2.0], [10.0]], k=1, weights=None).adjacency.toarray()
        array([[0., 1., 0., 0.],
               [1., 0., 1., 0.],
               [0., 1., 0., 1.],
               [0., 0., 1., 0.]])
        """
        from isotherm.graphs.neighbours import Neighbours

        nodes = None if ids is None else distinct_ids(node_ids(ids, "ids"))
        threads = kernels.thread_count(n_threads)
        found = Neighbours.of(
            X, k=k, metric=metric, weights=weights, scale=scale, recall=recall, threads=threads, ids=nodes
        )
        return cls.from_neighbours(found, nodes)

    @classmethod
    def from_neighbours(cls, found: "Neighbours", ids: Ids | None = None) -> Self:
        """A graph from the neighbours found for each row of a table."""
        n = len(found.twin)
        check_size(n)
        nodes = np.arange(n) if ids is None else ids
        return cls._from_entries(read_matrix(found.matrix(), nodes), nodes)

    def with_nodes(self, ids: Iterable[Any]) -> "Graph":
        """The same graph with further nodes, which have no edges; ids that it has already are left out.

        Ids are compared as text. If all ids of the graph are integers, and the new ones are texts of integers, they
        become integers too.

        Examples
        --------
        >>> Graph.from_edges([1], [2]).with_nodes(["2", "7"]).nodes
        array([1, 2, 7])
        """
        if self.n_rows is not None:
            raise ValueError("a bipartite graph takes no further nodes: add rows or columns to its matrix")
        known = {str(node) for node in self.nodes.tolist()}
        fresh = {str(node): node for node in reversed(list(ids)) if str(node) not in known}
        if not fresh:
            return self
        new = list(reversed(fresh.values()))
        if self.nodes.dtype == np.int64 and all(str(node).isdecimal() and str(int(node)) == str(node) for node in new):
            new = [int(node) for node in new]
        nodes = node_ids([*self.nodes.tolist(), *new], "nodes")
        check_size(len(nodes), self.directed)
        kinds = tuple((name, with_rows(csr, len(new))) for name, csr in self.kinds)
        return Graph(with_rows(self.csr, len(new)), nodes, self.directed, kinds=kinds)

    def weigh_kinds(self, weights: Mapping[str, float] | None = None) -> "Graph":
        """A graph without kinds, which any method takes, from the edges of all kinds.

        Parameters
        ----------
        weights : mapping, optional
            The mean weight that the edges of each kind are to have, such as ``{"card": 1.0, "address": 0.1}``; a kind
            with 0 is left out. By default the weights of edges are those that were given, whatever their kind.

        Examples
        --------
        >>> graph = Graph.from_edges([1, 1, 2], [2, 3, 3], kind=["card", "address", "card"])
        >>> graph
        <Graph: 3 nodes, 3 edges of 2 kinds>
        >>> graph.weigh_kinds({"card": 1.0, "address": 0.1}).degrees
        array([1.1, 2. , 1.1])
        """
        if weights is None:
            return Graph(self.csr, self.nodes, self.directed) if self.kinds else self
        names = [name for name, _ in self.kinds]
        if set(weights) != set(names):
            given, there = (", ".join(sorted(map(str, each))) or "none" for each in (weights, names))
            raise ParameterError(f"there are weights for the kinds {given}, but the kinds of edges are {there}")
        if not all(0 <= weight < np.inf for weight in weights.values()):
            raise ParameterError("weights of kinds must be finite and not negative")
        csr = summed([csr.of_mean(weights[name]) for name, csr in self.kinds if weights[name]], len(self.nodes))
        csr = csr._replace(weights=None if csr.weights is None else checked_entries(csr, csr.weights, self.nodes))
        return Graph(csr, self.nodes, self.directed, kind_weights=dict(weights))

    def check_one_kind(self) -> None:
        """Refuse a graph with several kinds of edges, for methods that do not find weights for them."""
        if self.kinds:
            why = "the graph has edges of several kinds, for which only NodeClassifier finds weights"
            raise ParameterError(f"{why}: give graph.weigh_kinds(), or weigh_kinds with a weight for each")

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
        return read_only(bipartite(self.csr)) if self.directed else self.csr

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """The number of the connected component of each row of `heat`."""
        found: NDArray[np.int32] = kernels.active.components(self.heat.indptr, self.heat.indices)
        return locked(found)

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
        nodes = self.nodes[:]  # an array even if the ids are on disk
        return Graph._from_entries(both_ways(self.csr), nodes, n_rows=self.n_rows)

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """The sum of the weights at each node; for a directed graph over arcs out and arcs in."""
        leaving = self.csr.sums
        arriving = np.bincount(self.csr.indices, self.csr.weights, minlength=self.n_nodes) if self.directed else 0
        return locked(leaving + arriving)

    @cached_property
    def colours(self) -> NDArray[np.uint64]:
        """(n,) a hash of what surrounds each node, the same however nodes are numbered; see ``colours.py``."""
        return locked(colour_nodes(self))

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
        """A dictionary from ids to positions that contains at least these ids.

        For a few ids, one pass over the nodes is faster than a dictionary of all of them.
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
            Whether to keep the map of a large graph in the user's cache folder, and to read it from there.

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
        """Write the graph as a folder of plain arrays, such as ``graph.iso``, which `open` maps into memory.

        All ids must be int, or all str. In the folder, nodes are in ascending order of their ids, so that they can be
        found by binary search. The folder appears when it is complete; with ``force`` it replaces a packed graph. For
        edges that do not fit in memory, see ``isotherm pack`` and :func:`isotherm.pack_edges`.

        Examples
        --------
        >>> import tempfile
        >>> folder = tempfile.mkdtemp() + "/graph.iso"
        >>> Graph.from_edges(["bob", "ann"], ["eve", "bob"]).pack(folder)
        >>> graph = Graph.open(folder)
        >>> graph, graph.nodes[:2].tolist()
        (<Graph: 3 nodes, 2 edges>, ['ann', 'bob'])
        """
        from isotherm.graphs.packed_writing import pack

        pack(self, path, force=force)

    @staticmethod
    def open(path: str | os.PathLike[str], *, verify: bool = False) -> "Graph":
        """Open a graph that `pack` or ``isotherm pack`` wrote, without reading it into memory.

        Its arrays are mapped: the system reads pages when they are used, drops them when memory is short, and shares
        them between processes. A damaged folder is refused. With ``verify``, the checksums of large graphs are compared
        too, which takes about a second per GB.
        """
        from isotherm.graphs.packed import open_packed

        return open_packed(path, verify=verify)

    @classmethod
    def _from_list(
        cls,
        source: NDArray[np.integer],
        target: NDArray[np.integer],
        weights: NDArray[Any] | None,
        nodes: Ids,
        *,
        directed: bool,
        kinds: EdgeKinds | None,
    ) -> Self:
        """A graph from a list of edges between positions."""
        if kinds is None:
            return cls._from_entries(assembled(source, target, weights, nodes), nodes, directed=directed)
        found = []
        for code, name in enumerate(kinds.names):
            own = kinds.codes == code
            entries = assembled(source[own], target[own], None if weights is None else weights[own], nodes)
            found.append((name, read_only(cls._from_entries(entries, nodes, directed=directed).csr)))
        csr = summed([csr for _, csr in found], len(nodes))
        csr = csr._replace(weights=None if csr.weights is None else checked_entries(csr, csr.weights, nodes))
        return cls(csr, nodes, directed, kinds=tuple(found))

    @classmethod
    def _from_entries(
        cls, entries: Csr, nodes: Ids, *, directed: bool = False, strict: bool = False, n_rows: int | None = None
    ) -> Self:
        """A graph from the entries of its matrix; ``strict`` is for undirected graphs, see `undirected`."""
        csr = tidy(entries)[0] if directed else undirected(entries, strict)
        if csr.weights is not None:  # sums may have overflowed, or all be one now
            csr = csr._replace(weights=checked_entries(csr, csr.weights, nodes))
        return cls(csr, nodes, directed, n_rows)


def as_graph(value: Any) -> Graph:
    """The graph in a Graph, a square SciPy or NumPy matrix (undirected), or a networkx or igraph graph.

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
