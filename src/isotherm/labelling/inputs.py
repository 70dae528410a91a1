"""What users pass to a classifier: graphs, labels of nodes, and edges of new nodes, validated as scikit-learn does.

For cross-validation scikit-learn takes the rows and columns ``X[train][:, train]`` of a matrix of affinities. For an
adjacency matrix this removes the hidden nodes, and heat no longer passes through them. A `WholeGraph` answers the same
request with the whole graph and the list of nodes, so that only labels are hidden.
"""

import sys
from collections.abc import Mapping
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_non_negative, column_or_1d, validate_data

from isotherm.arrays import Ints, Mask
from isotherm.errors import Option, ParameterError, warn
from isotherm.graphs import Graph, as_graph
from isotherm.graphs.nodes import Ids, frame_ids
from isotherm.graphs.other_libraries import is_igraph, is_networkx, node_attribute
from isotherm.graphs.untrusted import checked_sparse
from isotherm.seeds.encoding import Labels, decode_labels, encode_labels, has_index, is_unknown
from isotherm.seeds.known import has_label_sets

REMEDY = "pass isotherm.WholeGraph(graph) in place of the graph, and cv=isotherm.LabelSplit(5)"


def graph_and_labels(estimator: Any, X: Any, y: Any, weight: Any) -> tuple[Graph, Any, Any]:
    """The graph, the labels and the weights of seeds that `fit` was given, for `as_seeds` to read."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    if isinstance(X, WholeGraph):
        return X.graph, *X.placed(y, weight)
    if isinstance(y, str):
        y = node_attribute(X, y)
    matrix = checked_matrix(estimator, X)
    graph = Graph.from_scipy(matrix, nodes=row_ids(X, y, square=True)) if has_index(X) else as_graph(matrix)
    if not isinstance(X, Graph):
        check_whole(y)
    if graph.n_rows is not None and isinstance(y, tuple):
        y = _of_both_sides(y, graph)
    if has_index(X) and has_index(y):
        y = _in_order_of(X.index, y)
    if getattr(y, "ndim", 1) == 2 and not has_label_sets(y):
        y = y.iloc[:, 0] if has_index(y) else column_or_1d(y, warn=True)
    return graph, y, weight


def row_ids(X: Any, labels: Any, *, square: bool = False) -> Ids | None:
    """The ids in the index of a data frame of pandas, whose columns have them too if it is a square matrix.

    None if rows are numbered. That is also for an index that cannot be ids, unless labels are given by id.
    """
    if not has_index(X) or X.index.tolist() == list(range(len(X))):
        return None
    alike = not square or list(map(str, X.index)) == list(map(str, X.columns))
    ids = frame_ids(X) if alike else None
    if ids is None and isinstance(labels, Mapping):
        why = "must be distinct ints or texts" if alike else "and its columns must have the same ids"
        remedy = "change it, or drop it with reset_index(drop=True) if labels are by row number"
        raise ValueError(f"the index of the data frame {why}, since labels are by node id: {remedy}")
    return ids


def checked_matrix(estimator: Any, X: Any, *, reset: bool = True) -> Any:
    """Validate a matrix as scikit-learn does; anything else is returned unchanged."""
    if not (issparse(X) or isinstance(X, list) or hasattr(X, "__array__")):
        return X
    if reset and hasattr(X, "columns") and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"a data frame of {X.shape[0]} rows and {X.shape[1]} columns is no adjacency matrix: edges are read by "
            "Graph.from_pandas or Graph.from_polars, and a rectangular matrix by Graph.from_biadjacency"
        )
    if issparse(X):
        X = checked_sparse(X)
    formats = ("csr", "csc", "coo")
    X = validate_data(estimator, X, reset=reset, accept_sparse=formats, accept_large_sparse=True, dtype="numeric")
    check_non_negative(X, type(estimator).__name__)
    return X


def new_edges(estimator: Any, X: Any, reached: Mask) -> csr_array:
    """Edge weights (m, n) from new nodes to the nodes of the graph, without edges to unreached nodes."""
    weights = csr_array(checked_matrix(estimator, X, reset=False), dtype=np.float64)
    return csr_array(weights.multiply(reached))


def nodes_in(X: Any, graph: Graph) -> Ints | None:
    """Positions of the nodes to predict for, if X is the graph of the fit; None if X has the edges of new nodes."""
    if is_networkx(X) or is_igraph(X):
        X = as_graph(X)
    if not isinstance(X, Graph | WholeGraph):
        return None
    fold = X if isinstance(X, WholeGraph) else WholeGraph(X)
    if fold.graph.n_nodes != graph.n_nodes:
        found, fitted = fold.graph.n_nodes, graph.n_nodes
        raise ValueError(f"this graph has {found} nodes, but the fit was on {fitted}: call fit for another graph")
    return fold.nodes


def _of_both_sides(labels: tuple[Any, ...], graph: Graph) -> Any:
    """One label for each node out of those for rows and those for columns, of which one may be None."""
    assert graph.n_rows is not None
    sizes = (graph.n_rows, graph.n_nodes - graph.n_rows)
    given = [[None] * size if side is None else list(side) for side, size in zip(labels, sizes, strict=False)]
    if tuple(map(len, given)) != sizes:
        raise ValueError(
            f"there are {' and '.join(str(len(side)) for side in given)} labels for {sizes[0]} rows and {sizes[1]} "
            "columns: give a pair of one label for each row and one for each column, or {node: label}"
        )
    return [None if isinstance(label, Integral) and label == -1 else label for side in given for label in side]


def _in_order_of(names: Any, labels: Any) -> Any:
    """Labels in the order of the rows of a matrix with names, if most of their index are such names."""
    return labels.reindex(names) if 2 * labels.index.isin(names).sum() > len(labels) else labels


def filled(labels: Any, classes: Labels, unreached: Any) -> Any:
    """Labels in which unreached nodes have this label."""
    if issparse(labels):
        raise ParameterError(
            "{unreached} is for seeds with one label each: an unreached node has no labels here",
            unreached=Option("unreached", unreached),
        )
    boolean = isinstance(unreached, (bool, np.bool_))
    right = {"i": isinstance(unreached, Integral) and not boolean, "b": boolean, "O": isinstance(unreached, str)}
    if not right[classes.dtype.kind]:
        kind = {"i": "an int", "b": "a bool", "O": "a str"}[classes.dtype.kind]
        raise ParameterError(
            "{unreached}, but it must be {kind}, as the other labels are",
            unreached=Option("unreached", unreached),
            kind=kind,
        )
    return np.where(is_unknown(labels), unreached, labels).astype(classes.dtype)


class CutGraphWarning(UserWarning):
    """Cross-validation by scikit-learn removes hidden nodes from the graph."""


class WholeGraph:
    """A graph that cross-validation by scikit-learn keeps whole; together with `isotherm.LabelSplit`.

    Pass it in place of the graph to ``GridSearchCV(...).fit``, ``cross_validate``, ``cross_val_score`` and the like of
    ``sklearn.model_selection``. In every fold `DirichletClassifier` then gets the whole graph with the labels of the
    visible nodes, and is scored on the hidden ones. The labels are one for each node, in the order of ``graph.nodes``.

    If all labels are known, any splitter works. If some are unknown, use ``cv=isotherm.LabelSplit()``, which leaves
    them out; others would score "unknown" as a class, and are refused. A hidden node that is unreached counts as wrong:
    its predicted label is -1, or the empty text if labels are str.

    Parameters
    ----------
    graph : Graph, sparse or dense adjacency matrix, networkx or igraph graph
        The graph.
    nodes : array of int, optional
        Positions of some nodes, by default all: those that labels are given for, or predicted for.

    Examples
    --------
    >>> import networkx as nx
    >>> from sklearn.model_selection import GridSearchCV
    >>> import isotherm as iso
    >>> club = nx.karate_club_graph()
    >>> labels = [club.nodes[node]["club"] for node in club]
    >>> search = GridSearchCV(iso.DirichletClassifier(), {"rule": ["centered", "vanilla"]}, cv=iso.LabelSplit(4))
    >>> search.fit(iso.WholeGraph(club), labels).best_estimator_.labels_[:2]
    array(['Mr. Hi', 'Mr. Hi'], dtype=object)
    """

    def __init__(self, graph: Any, nodes: Ints | None = None, *, n_columns: int | None = None) -> None:
        self.graph: Graph = as_graph(graph)
        self.whole = nodes is None
        self.nodes = np.arange(self.graph.n_nodes) if nodes is None else nodes
        self.shape = (len(self.nodes), len(self.nodes) if n_columns is None else n_columns)

    def __repr__(self) -> str:
        return f"WholeGraph({self.graph!r})" if self.whole else f"<{len(self.nodes)} nodes of {self.graph!r}>"

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, places: Any) -> Self:
        """The same graph and some of the nodes, where a matrix would give some of its rows and columns."""
        if not (isinstance(places, tuple) and len(places) == 2):
            raise TypeError("a WholeGraph is indexed by rows and columns, as with numpy.ix_")
        rows, columns = (np.asarray(each).ravel() for each in places)
        return type(self)(self.graph, self.nodes[rows], n_columns=len(columns))

    def placed(self, labels: Any, weight: Any = None) -> tuple[Any, Any]:
        """Labels and weights of all nodes of the graph, from labels and weights of the nodes of a fold."""
        if self.whole:
            return labels, weight
        check_order(labels, self)
        if has_label_sets(labels):
            raise ValueError("cross-validation by scikit-learn needs one label per node, not sets of labels")
        codes, classes = encode_labels(labels)
        _refuse_unknown(codes)
        everywhere = np.full(self.graph.n_nodes, -1, dtype=np.int64)
        everywhere[self.nodes] = codes
        return decode_labels(everywhere, classes), self._placed_weight(weight)

    def _placed_weight(self, weight: Any) -> Any:
        if weight is None or np.ndim(weight) == 0:  # a mapping too
            return weight
        everywhere = np.ones(self.graph.n_nodes)
        everywhere[self.nodes] = np.asarray(weight, dtype=np.float64)
        return everywhere

    def comparable(self, labels: Labels, classes: Labels) -> Labels:
        """Labels that scikit-learn can score, since it refuses None: unreached nodes get "", or -1 beside booleans."""
        if labels.dtype != object:
            return labels
        unreached = is_unknown(labels)
        if classes.dtype == bool:
            return np.where(unreached, -1, labels).astype(np.int64)
        return np.where(unreached, "", labels)


def check_order(labels: Any, fold: WholeGraph) -> None:
    """Refuse a pandas Series whose index has the nodes of a fold in another order: scikit-learn goes by position."""
    if not has_index(labels):
        return
    ids, nodes = labels.index.tolist(), fold.graph.nodes
    if ids != nodes[fold.nodes].tolist() and not set(ids).isdisjoint(nodes.tolist()):
        raise ValueError(
            "the index of the labels differs from graph.nodes, and scikit-learn goes by position: "
            "pass labels.reindex(graph.nodes), or labels.to_numpy() if they are in that order"
        )


def check_whole(labels: Any) -> None:
    """Warn if scikit-learn has cut a matrix for cross-validation, and refuse unknown labels, which it would score."""
    if _in_cross_validation():
        if not (has_label_sets(labels) or getattr(labels, "ndim", 1) != 1):
            _refuse_unknown(encode_labels(labels)[0])
        warn(f"scikit-learn has removed the hidden nodes of this fold from the graph: {REMEDY}", CutGraphWarning)


def _refuse_unknown(codes: Ints) -> None:
    if (codes < 0).any():
        raise ValueError(f"scikit-learn would score unknown labels as a class of their own: {REMEDY}")


def _in_cross_validation() -> bool:
    """Whether the caller is scikit-learn's cross-validation, without any code of others in between.

    Nothing but the callers tells a fold of a matrix from a smaller matrix.
    """
    frame = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module == "sklearn.model_selection._validation":
            return True
        if module.partition(".")[0] not in ("isotherm", "sklearn"):
            return False
        frame = frame.f_back  # type: ignore[assignment]
    return False
