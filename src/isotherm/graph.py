"""The graph: the door at which input is validated, once.

Rooms behind it trust what they get: a matrix in compressed rows whose indices rise in each row and whose weights
are positive and finite, symmetric and without diagonal unless the graph is directed.
"""

import numbers
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse

from isotherm import kernels

__all__ = ["Csr", "Graph", "as_graph"]

Ids: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.floating]

MOST_NODES = 2**31 - 1  # indices are int32
NOISE = 1e-8  # relative asymmetry that is taken for rounding
INTEGERS = {int, *(np.dtype(code).type for code in np.typecodes["AllInteger"])}


class Csr(NamedTuple):
    """A sparse matrix as the kernels take it: row ``i`` holds entries ``indptr[i]`` to ``indptr[i + 1] - 1``."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: Floats | None  # None: all one

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.indptr) - 1

    @property
    def entries(self) -> int:
        """The number of entries."""
        return len(self.indices)

    @property
    def rows(self) -> NDArray[np.int32]:
        """The row of each entry."""
        return np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.indptr))

    def to_scipy(self) -> csr_array:
        """The same square matrix for SciPy, on the same memory where SciPy allows it."""
        data = np.ones(self.entries) if self.weights is None else self.weights
        return csr_array((data, self.indices, self.indptr), shape=(self.n, self.n))


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Nodes with their ids, and the weights between them.

    Build one with ``from_edges``, ``from_scipy``, ``from_biadjacency``, ``from_networkx`` or ``from_igraph``;
    ``Graph(...)`` itself checks nothing. All of them keep these rules:

    - Weights are finite and not negative. A weight of zero is no edge, parallel edges add their weights, and a
      graph whose weights are all one stores none. float32 stays float32, any other type becomes float64.
    - Self-loops are dropped from undirected graphs, because they do not change the temperatures at equilibrium.
      An arc ``i -> i`` of a directed graph is kept: it joins the source copy of ``i`` to its destination copy.
    - The caller's arrays are never changed, and are shared rather than copied where they will do as they are.

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
        object.__setattr__(self, "csr", _read_only(self.csr))
        object.__setattr__(self, "nodes", _locked(self.nodes))

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), (self.csr, self.nodes, self.directed, self.n_rows)

    def __repr__(self) -> str:
        kinds = {"directed": self.directed, "bipartite": self.n_rows is not None, "weighted": self.weighted}
        counts = f"{self.n_nodes} nodes, {self.n_edges} edges"
        return f"<Graph: {', '.join([counts, *(kind for kind, holds in kinds.items() if holds)])}>"

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
        """A new float64 ``csr_array``, to do with as you please."""
        return self.csr.to_scipy().astype(np.float64, copy=True)

    @cached_property
    def heat(self) -> Csr:
        """The symmetric matrix along which heat flows.

        For a directed graph it is the paper's bipartite graph ``[[0, A], [A.T, 0]]`` on ``2 n`` nodes.
        """
        if not self.directed:
            return self.csr
        indptr = np.pad(self.csr.indptr, (0, self.n_nodes), "edge")
        heat = _both_ways(Csr(indptr, self.csr.indices + np.int32(self.n_nodes), self.csr.weights))
        return _read_only(heat if self.weighted else heat._replace(weights=None))

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """The sum of the weights at each node; for a directed graph those of arcs out and arcs in."""
        arriving = np.bincount(self.csr.indices, self.csr.weights, minlength=self.n_nodes)
        leaving = np.bincount(self.csr.rows, self.csr.weights, minlength=self.n_nodes) if self.directed else 0
        return _locked((arriving + leaving).astype(np.float64))

    def index(self, ids: Iterable[Any]) -> NDArray[np.int64]:
        """Positions of node ids in ``nodes``; ids that are not there are a ValueError.

        Examples
        --------
        >>> Graph.from_edges(["ann", "bob"], ["bob", "eve"]).index(["eve", "ann"])
        array([2, 0])
        """
        wanted = _ids(ids, "ids")
        if wanted.dtype == np.int64 and self._numbered:
            positions = np.where(wanted < self.n_nodes, wanted, -1)
        else:
            found = (self._positions.get(node, -1) for node in wanted.tolist())
            positions = np.fromiter(found, dtype=np.int64, count=len(wanted))
        if (positions < 0).any():
            raise ValueError(_not_in_the_graph(wanted[positions < 0]))
        return positions

    @cached_property
    def _numbered(self) -> bool:
        return np.array_equal(self.nodes, np.arange(self.n_nodes))

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return {node: position for position, node in enumerate(self.nodes.tolist())}

    @classmethod
    def from_edges(
        cls,
        source: Iterable[Any],
        target: Iterable[Any],
        weight: Iterable[Any] | None = None,
        *,
        directed: bool = False,
        nodes: Iterable[Any] | None = None,
    ) -> Self:
        """A graph from a list of edges.

        Parameters
        ----------
        source, target : list, array or Series
            The ids at the ends of each edge: any hashables, but neither None nor NaN.
        weight : list, array or Series, optional
            One number for each edge; all are one by default.
        directed : bool
            Whether an edge is an arc from source to target. If not, a list that holds every edge in both
            directions with the same weight is taken as it is; any other is read as each edge once.
        nodes : list, array or Series, optional
            All ids, each once, in the order wanted: also those without an edge. By default the ids of the edges,
            ordered by first appearance, edge after edge, source before target.

        Examples
        --------
        >>> graph = Graph.from_edges(["ann", "bob", "ann"], ["bob", "eve", "eve"], [1, 2, 0.5])
        >>> graph
        <Graph: 3 nodes, 3 edges, weighted>
        >>> graph.degrees
        array([1.5, 3. , 2.5])
        """
        ends = [_ids(source, "source"), _ids(target, "target")]
        if len(ends[0]) != len(ends[1]):
            raise ValueError(f"source has {len(ends[0])} ids, but target has {len(ends[1])}")
        values = _edge_weights(weight, len(ends[0]))
        found, positions = _numbering(np.stack(ends, axis=1), None if nodes is None else _ids(nodes, "nodes"))
        _check_size(len(found), directed)
        entries = _assembled(positions[:, 0], positions[:, 1], values, found)
        return cls._from_entries(entries, found, directed=directed)

    @classmethod
    def from_scipy(cls, adjacency: Any, *, directed: bool = False) -> Self:
        """A graph from a square matrix: SciPy sparse of any format, or a dense NumPy array.

        Unless ``directed``, the matrix is symmetric or holds one triangle, which then stands for both. A
        difference between the two of at most 1e-8 (float32: 1e-6), relative to the largest weights at both nodes,
        is taken for rounding and averaged out. Node ids are 0 to n - 1.

        Examples
        --------
        >>> Graph.from_scipy(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
        <Graph: 3 nodes, 2 edges>
        """
        matrix = _sparse(adjacency, "adjacency")
        rows, columns = matrix.shape
        if rows != columns:
            raise ValueError(
                f"the adjacency matrix has {rows} rows and {columns} columns; "
                "a rectangular matrix is read by Graph.from_biadjacency"
            )
        _check_size(rows, directed)
        nodes = np.arange(rows)
        if matrix.format == "csc" and not directed:
            matrix = matrix.T  # the same graph, already in compressed rows
        return cls._from_entries(_read(matrix, nodes), nodes, directed=directed, strict=True)

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
        matrix = _sparse(biadjacency, "biadjacency")
        r, c = matrix.shape
        _check_size(r + c)
        row_ids = _ids(np.arange(r) if rows is None else rows, "rows")
        column_ids = _ids(np.arange(r, r + c) if columns is None else columns, "columns")
        if (len(row_ids), len(column_ids)) != (r, c):
            given = f"rows has {len(row_ids)} ids and columns {len(column_ids)}"
            raise ValueError(f"{given}, but the biadjacency matrix has {r} rows and {c} columns")
        nodes = _distinct(np.concatenate([row_ids, column_ids]))
        return cls._from_entries(_read(matrix, nodes, offset=r), nodes, n_rows=r)

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

        Examples
        --------
        >>> import igraph
        >>> Graph.from_igraph(igraph.Graph.Ring(4))
        <Graph: 4 nodes, 4 edges>
        """
        names = _ids(G.vs["name"] if "name" in G.vs.attributes() else range(G.vcount()), "name")
        source, target = np.array(G.get_edgelist(), dtype=np.int64).reshape(-1, 2).T
        listed = G.es[weight] if weight in G.es.attributes() else [1] * G.ecount()
        weights = [1 if value is None else value for value in listed]
        return cls.from_edges(names[source], names[target], weights, directed=G.is_directed(), nodes=names)

    @classmethod
    def _from_entries(
        cls, entries: Csr, nodes: Ids, *, directed: bool = False, strict: bool = False, n_rows: int | None = None
    ) -> Self:
        csr = _tidy(entries)[0] if directed else _undirected(entries, strict)
        if csr.weights is not None:  # sums may have become infinite, and what remains may be all one
            csr = csr._replace(weights=_checked_entries(csr, csr.weights, nodes))
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


def _flat(values: Any, name: str) -> NDArray[Any]:
    """A list, array or Series as a 1-D array; what is not an array yet becomes one of objects."""
    values = values.to_numpy() if hasattr(values, "to_numpy") else values
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a list or an array, not {type(values).__name__}")
    array = values if isinstance(values, np.ndarray) else np.fromiter(values, dtype=object)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {array.ndim}")
    return array


def _ids(values: Any, name: str) -> Ids:
    """Node ids: int64 if all are integers, objects otherwise."""
    array = _flat(values, name)
    if array.dtype.kind in "iu" and np.can_cast(array.dtype, np.int64):
        return array.astype(np.int64, copy=False)
    items = list(array) if array.dtype.kind in "mM" else array.tolist()
    if INTEGERS.issuperset(map(type, items)):
        with suppress(OverflowError):
            return np.array(items, dtype=np.int64)
    return array if array.dtype == object else np.fromiter(items, dtype=object)


def _numbering(ends: Ids, nodes: Ids | None) -> tuple[Ids, NDArray[np.int64]]:
    """The nodes, in the order given or else by first appearance, and the positions of both ends of each edge."""
    listed = np.empty(0, dtype=np.int64) if nodes is None else _distinct(nodes)
    found, positions = _factorised(np.concatenate([listed, ends.ravel()]))
    if nodes is not None and len(found) > len(listed):
        unknown = _not_in_the_graph(found[len(listed) :])
        raise ValueError(f"{unknown}; nodes must list every id that the edges name")
    return found, positions[len(listed) :].reshape(-1, 2)


def _factorised(ids: Ids) -> tuple[Ids, NDArray[np.int64]]:
    """The distinct ids by first appearance, and the position of each id among them."""
    if ids.dtype == np.int64:
        return _factorised_integers(ids)
    positions: defaultdict[Any, int] = defaultdict(count().__next__)
    try:
        codes = np.fromiter(map(positions.__getitem__, ids.tolist()), dtype=np.int64, count=len(ids))
    except TypeError as error:
        raise TypeError(f"node ids must be hashable: {error}") from None
    if any(map(_is_missing, positions)):
        raise ValueError(f"{next(filter(_is_missing, positions))!r} cannot be the id of a node")
    return _ids(positions, "nodes"), codes


def _factorised_integers(ids: NDArray[np.int64]) -> tuple[Ids, NDArray[np.int64]]:
    low, high = (int(ids.min()), int(ids.max())) if len(ids) else (0, -1)
    if high - low < 4 * len(ids):  # a table is faster than sorting
        values, places = np.arange(low, high + 1), ids - low
        first = np.full(len(values), len(ids))
        first[places[::-1]] = np.arange(len(ids))[::-1]  # of several writes the last one stays
    else:
        values, first, places = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return values[order[: np.count_nonzero(first < len(ids))]], rank[places]


def _distinct(nodes: Ids) -> Ids:
    distinct, codes = _factorised(nodes)
    if len(distinct) < len(nodes):
        again = nodes.item(int(np.argmax(codes != np.arange(len(codes)))))
        raise ValueError(f"node ids must be distinct, but {again!r} is given more than once")
    return distinct


def _is_missing(node: Any) -> bool:
    try:
        return node is None or bool(node != node)
    except TypeError:  # pandas.NA is neither true nor false
        return True


def _not_in_the_graph(unknown: Ids) -> str:
    names = list(dict.fromkeys(map(repr, unknown.tolist())))
    number = "1 node is" if len(names) == 1 else f"{len(names)} nodes are"
    return f"{number} not in the graph: {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}"


def _edge_weights(weight: Any, edges: int) -> NDArray[Any]:
    """A number for each edge, not yet checked."""
    values = np.ones(edges, dtype=bool) if weight is None else _flat(weight, "weight")
    if len(values) != edges:
        raise ValueError(f"weight has {len(values)} values for {edges} edges")
    if values.dtype == object:
        for kind in set(map(type, values.tolist())):
            if not issubclass(kind, numbers.Real | np.bool_):
                raise TypeError(f"weights must be real numbers, not {kind.__name__}")
        return values.astype(np.float64)
    _check_real(values.dtype)
    return values


def _check_size(nodes: int, directed: bool = False) -> None:
    most = MOST_NODES // 2 if directed else MOST_NODES
    if not 0 < nodes <= most:
        raise ValueError(f"the graph has {nodes or 'no'} nodes; it must have at least 1 and at most {most}")


def _checked(values: NDArray[Any], nodes: Ids, ends: Callable[[int], tuple[int, int]]) -> Floats | None:
    """The values as weights, None if all are one; ``ends`` gives the positions of the two nodes of an entry."""
    lowest, highest = float(values.min(initial=1)), float(values.max(initial=1))
    if lowest == highest:
        return None
    if not (lowest >= 0 and highest < np.inf):
        bad = int(np.argmin((values >= 0) & (values < np.inf)))
        between = " and ".join(repr(nodes.item(end)) for end in ends(bad))
        raise ValueError(
            f"the weight between nodes {between} is {values.item(bad)}; it must be finite and not negative"
        )
    return np.ascontiguousarray(values, dtype=_float_type(values.dtype))


def _checked_entries(csr: Csr, values: NDArray[Any], nodes: Ids) -> Floats | None:
    return _checked(values, nodes, lambda e: (int(np.searchsorted(csr.indptr, e, "right")) - 1, csr.indices.item(e)))


def _check_real(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biuf":
        raise TypeError(f"weights must be real numbers, not {dtype}")


def _float_type(dtype: np.dtype[Any]) -> type[np.floating]:
    return np.float32 if dtype.kind == "f" and dtype.itemsize == 4 else np.float64


def _sparse(value: Any, name: str) -> Any:
    """A matrix, sparse or dense, as a sparse one of whatever format."""
    if not issparse(value) and not isinstance(value, np.ndarray):
        raise TypeError(f"{name} must be a SciPy sparse matrix or a NumPy array, not {type(value).__name__}")
    if value.ndim != 2:
        raise ValueError(f"the {name} matrix must have two dimensions, not {value.ndim}")
    _check_real(value.dtype)
    return value if issparse(value) else coo_array(np.asarray(value, dtype=_float_type(value.dtype)))


def _read(matrix: Any, nodes: Ids, offset: int = 0) -> Csr:
    """The entries of a matrix, between ``nodes[i]`` and ``nodes[offset + j]``, as they come."""
    if matrix.format == "csr":
        return _read_rows(matrix, nodes, offset)
    if matrix.format == "csc":
        _compressed(matrix)
    entries = matrix.tocoo()
    entries = coo_array((entries.data, (entries.row, entries.col)), shape=matrix.shape)  # checks their range
    return _assembled(entries.row, entries.col + offset, entries.data, nodes)


def _read_rows(matrix: Any, nodes: Ids, offset: int) -> Csr:
    indptr, indices = _compressed(matrix)
    indptr = np.pad(indptr, (0, len(nodes) - matrix.shape[0]), "edge")
    csr = Csr(indptr, indices + np.int32(offset) if offset else indices, None)
    return csr._replace(weights=_checked_entries(csr, matrix.data[: csr.entries], nodes))


def _compressed(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The ``indptr`` and ``indices`` of a csr or csc matrix, which SciPy does not check where they are edited."""
    major, minor = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices
    rising = len(indptr) == major + 1 and indptr[0] == 0 and bool(np.all(indptr[1:] >= indptr[:-1]))
    if not rising or indptr[-1] > min(len(indices), len(matrix.data)):
        raise ValueError("the matrix is malformed: its indptr does not rise from 0 to the number of its entries")
    indices = indices[: indptr[-1]]
    if len(indices) and not (indices.min() >= 0 and indices.max() < minor):
        raise ValueError(f"the matrix is malformed: its indices are not all between 0 and {minor - 1}")
    return indptr, np.ascontiguousarray(indices, dtype=np.int32)


def _assembled(rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], nodes: Ids) -> Csr:
    """The entries of a list, in compressed rows."""
    weights = _checked(values, nodes, lambda e: (rows.item(e), columns.item(e)))
    data = np.ones(len(rows)) if weights is None else weights
    return _csr(coo_array((data, (rows, columns)), shape=(len(nodes), len(nodes))).tocsr())


def _csr(matrix: csr_array) -> Csr:
    return Csr(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False), matrix.data)


def _tidy(csr: Csr) -> tuple[Csr, bool, int]:
    """The matrix in order, duplicates added and zeros gone; whether it is symmetric; its diagonal entries."""
    ordered, symmetric, loops = kernels.active.scan(*csr, kernels.thread_count())
    if not ordered:
        matrix = csr.to_scipy().copy()
        matrix.sum_duplicates()
        return _tidy(_csr(matrix))
    if csr.weights is not None and not csr.weights.all():
        return _tidy(_kept(csr, csr.weights > 0))
    return csr, symmetric, loops


def _kept(csr: Csr, keep: NDArray[np.bool_]) -> Csr:
    indptr = np.append(0, np.cumsum(keep))[csr.indptr]
    return Csr(indptr, csr.indices[keep], None if csr.weights is None else csr.weights[keep])


def _undirected(csr: Csr, strict: bool) -> Csr:
    """The symmetric matrix of the entries; if ``strict``, they must be symmetric already or in one triangle."""
    csr, symmetric, loops = _tidy(csr)
    if loops:
        csr = _kept(csr, csr.indices != csr.rows)
    if symmetric:
        return csr
    above = csr.indices > csr.rows
    if above.all() or not above.any():
        return _both_ways(csr)
    matrix = csr.to_scipy()
    skewed = _skewed_pair(matrix)
    if skewed is None:
        return _csr(0.5 * matrix + 0.5 * matrix.T)
    if strict:
        i, j = skewed
        weights = f"the weights between nodes {i} and {j} are {matrix[i, j]} and {matrix[j, i]}"
        raise ValueError(f"the adjacency matrix is not symmetric: {weights}; symmetrise it or pass directed=True")
    return _both_ways(csr)


def _skewed_pair(matrix: csr_array) -> tuple[int, int] | None:
    """The first pair of nodes whose two weights differ by more than rounding, if there is one."""
    gap = (matrix - matrix.T).tocoo()
    largest = matrix.max(axis=1).toarray().ravel()
    noise = max(NOISE, 8 * np.finfo(matrix.dtype).eps) * np.minimum(largest[gap.row], largest[gap.col])
    skewed = np.flatnonzero(np.abs(gap.data) > noise)
    return (gap.row.item(skewed[0]), gap.col.item(skewed[0])) if len(skewed) else None


def _both_ways(csr: Csr) -> Csr:
    matrix = csr.to_scipy()
    return _csr(matrix + matrix.T)


def _locked(values: NDArray[Any]) -> NDArray[Any]:
    view = values.view()
    view.flags.writeable = False
    return view


def _read_only(csr: Csr) -> Csr:
    return Csr(_locked(csr.indptr), _locked(csr.indices), None if csr.weights is None else _locked(csr.weights))
