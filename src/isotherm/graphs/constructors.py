"""The ways to build a graph: from edges, data frames, matrices, other libraries, or the rows of a table.

Each of them validates its input, so that the rest of the code can trust a `Graph`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from isotherm import kernels
from isotherm.graphs.attributes import igraph_ids
from isotherm.graphs.csr import Csr, as_sparse, assembled, check_size, edge_weights, read_matrix
from isotherm.graphs.frames import edge_columns
from isotherm.graphs.neighbours import Neighbours
from isotherm.graphs.nodes import Ids, distinct_ids, node_ids, number_ends

__all__ = ["Constructors"]


class Constructors(ABC):
    """The constructors of `isotherm.Graph`."""

    @classmethod
    @abstractmethod
    def _from_entries(
        cls, entries: Csr, nodes: Ids, *, directed: bool = False, strict: bool = False, n_rows: int | None = None
    ) -> Self:
        """A graph from the entries of its matrix.

        If ``strict``, those of an undirected graph must be symmetric or all in one triangle.
        """

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
            All ids, each once, in the order wanted, including nodes without edges. By default the ids of the edges
            in order of first appearance, edge by edge, source before target.

        Examples
        --------
        >>> from isotherm import Graph
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
        entries = assembled(positions[:, 0], positions[:, 1], values, found)
        return cls._from_entries(entries, found, directed=directed)

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
    ) -> Self:
        """A graph from a data frame of pandas or polars with a row for each edge.

        Parameters
        ----------
        frame : DataFrame
            The edges.
        source, target, weight
            The names of its columns. Without a column named "weight", all edges weigh one; any other name must exist.
        directed, nodes
            As in `from_edges`.

        Examples
        --------
        >>> from isotherm import Graph
        >>> import pandas as pd
        >>> payments = pd.DataFrame({"payer": ["ann", "bob"], "payee": ["bob", "eve"], "amount": [5.0, 2.5]})
        >>> Graph.from_pandas(payments, "payer", "payee", "amount")
        <Graph: 3 nodes, 2 edges, weighted>
        """
        ends = edge_columns(frame, source, target, weight)
        return cls.from_edges(*ends, directed=directed, nodes=nodes)

    from_polars = from_pandas

    @classmethod
    def from_scipy(cls, adjacency: Any, *, directed: bool = False) -> Self:
        """A graph from a square matrix: SciPy sparse of any format, or a dense NumPy array.

        Unless ``directed``, the matrix is symmetric or holds one triangle, which then stands for both. A
        difference between the two of at most 1e-8 (float32: 1e-6), relative to the largest weights at both nodes,
        is taken for rounding and averaged out. Node ids are 0 to n - 1.

        Examples
        --------
        >>> from isotherm import Graph
        >>> Graph.from_scipy(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
        <Graph: 3 nodes, 2 edges>
        """
        matrix = as_sparse(adjacency, "adjacency")
        rows, columns = matrix.shape
        if rows != columns:
            raise ValueError(
                f"the adjacency matrix has {rows} rows and {columns} columns; "
                "a rectangular matrix is read by Graph.from_biadjacency"
            )
        check_size(rows, directed)
        nodes = np.arange(rows)
        if matrix.format == "csc" and not directed:
            matrix = matrix.T  # its transpose: the same undirected graph, in compressed rows
        return cls._from_entries(read_matrix(matrix, nodes), nodes, directed=directed, strict=True)

    @classmethod
    def from_biadjacency(
        cls, biadjacency: Any, *, rows: Iterable[Any] | None = None, columns: Iterable[Any] | None = None
    ) -> Self:
        """A bipartite graph from a matrix whose rows and columns are both nodes.

        Entry ``(i, j)`` weighs the edge between row ``i`` and column ``j``, also where ``i`` equals ``j``. Unless
        given, the ids are 0 to r - 1 for the rows and r to r + c - 1 for the columns; all must be distinct.

        Examples
        --------
        >>> from isotherm import Graph
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
        >>> from isotherm import Graph
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

        A graph that igraph made of one of networkx has the ids that it had there, which igraph calls ``_nx_name``.

        Examples
        --------
        >>> from isotherm import Graph
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
        metric: str = "euclidean",
        *,
        weights: str | None = "gaussian",
        scale: bool = False,
        ids: Iterable[Any] | None = None,
        recall: float = 0.98,
        n_threads: int | None = None,
    ) -> Self:
        """A graph that joins each row of a table to its nearest rows.

        Two rows are joined if one is among the k nearest of the other. Identical rows count once: copies are joined to
        the first of them. The answer is the same for any number of threads and on every run.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, p)
            One row for each node, all numbers finite. Distances are taken in float32, after the mean of each column has
            been subtracted in float64. A sparse table of more than 67 million cells is compared along the 128
            directions in which its rows differ most.
        k : int
            How many neighbours each row has; all others, if there are fewer.
        metric : {"euclidean", "cosine"}
            "cosine" compares directions only, which suits texts and many embeddings. A row of zeros has none, and gets
            no edges.
        weights : {"gaussian", "self-tuning", None}
            How weights fall with the distance d, where d_k is that of the k-th neighbour: ``exp(-4 d^2 / d_k^2)``, the
            mean of both directions; ``exp(-d^2 / (d_k d'_k))``; or all one.
        scale : bool
            Whether to divide each column by its standard deviation first.
        ids : list, array or Series, optional
            The ids of the rows; 0 to n - 1 by default.
        recall : float
            The least share of the true neighbours to be found. Small tables are searched exactly; larger ones only with
            ``recall=1``, in time that grows with the square of n.
        n_threads : int, optional
            By default ``ISOTHERM_THREADS``, or all cores.

        Examples
        --------
        >>> from isotherm import Graph
        >>> Graph.from_vectors([[0.0], [1.0], [2.0], [10.0]], k=1, weights=None).adjacency.toarray()
        array([[0., 1., 0., 0.],
               [1., 0., 1., 0.],
               [0., 1., 0., 1.],
               [0., 0., 1., 0.]])
        """
        found = Neighbours.of(
            X,
            k=k,
            metric=metric,
            weights=weights,
            scale=scale,
            recall=recall,
            threads=kernels.thread_count(n_threads),
        )
        return cls.from_neighbours(found, ids)

    @classmethod
    def from_neighbours(cls, found: Neighbours, ids: Iterable[Any] | None = None) -> Self:
        """A graph from the neighbours that were found for each row of a table."""
        n = len(found.twin)
        check_size(n)
        nodes = np.arange(n) if ids is None else distinct_ids(node_ids(ids, "ids"))
        if len(nodes) != n:
            raise ValueError(f"ids has {len(nodes)} values for {n} rows of the table")
        return cls._from_entries(read_matrix(found.matrix(), nodes), nodes)
