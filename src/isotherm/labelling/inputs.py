"""What users pass to a classifier: graphs, labels of nodes, and edges of new nodes, validated as scikit-learn does."""

from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_non_negative, column_or_1d, validate_data

from isotherm.arrays import Ints, Mask
from isotherm.errors import Option, ParameterError
from isotherm.graphs import Graph, as_graph
from isotherm.graphs.other_libraries import is_igraph, is_networkx, node_attribute
from isotherm.labelling.whole_graph import WholeGraph, check_whole
from isotherm.seeds.encoding import Labels, has_index, is_unknown
from isotherm.seeds.reading import has_label_sets


def graph_and_labels(estimator: Any, X: Any, y: Any, weight: Any) -> tuple[Graph, Any, Any]:
    """The graph, the labels and the weights of seeds that `fit` was given, for `as_seeds` to read."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    if isinstance(X, WholeGraph):
        return X.graph, *X.placed(y, weight)
    if isinstance(y, str):
        y = node_attribute(X, y)
    graph = as_graph(checked_matrix(estimator, X))
    if not isinstance(X, Graph):
        check_whole(y)
    if graph.n_rows is not None and isinstance(y, tuple):
        y = _of_both_sides(y, graph)
    if has_index(X) and has_index(y):
        y = _in_order_of(X.index, y)
    if getattr(y, "ndim", 1) == 2 and not has_label_sets(y):
        y = y.iloc[:, 0] if has_index(y) else column_or_1d(y, warn=True)
    return graph, y, weight


def checked_matrix(estimator: Any, X: Any, *, reset: bool = True) -> Any:
    """Validate a matrix as scikit-learn does; anything else is returned unchanged."""
    if not (issparse(X) or isinstance(X, list) or hasattr(X, "__array__")):
        return X
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
