"""What scikit-learn expects of a classifier: fitted attributes, validated input, predictions, a score, tags."""

from collections.abc import Iterable, Mapping
from numbers import Integral
from operator import attrgetter
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, check_non_negative, column_or_1d, validate_data

from isotherm.arrays import Ints
from isotherm.errors import Option, ParameterError
from isotherm.graphs import Graph, as_graph
from isotherm.graphs.other_libraries import is_igraph, is_networkx, node_attribute
from isotherm.labelling.fit import Fit
from isotherm.labelling.scikit_learn.folds import WholeGraph, check_whole
from isotherm.labelling.settings import Settings
from isotherm.seeds.encoding import Labels, encode_labels, is_unknown
from isotherm.seeds.series import has_index
from isotherm.seeds.sets import has_label_sets

__all__ = ["FittedAttribute", "NodeClassifier"]


class FittedAttribute:
    """An attribute that is read from the fit. Before the fit, reading it raises NotFittedError."""

    def __init__(self, path: str) -> None:
        self._read = attrgetter(path)

    def __get__(self, classifier: Any, owner: type) -> Any:
        if classifier is None:
            return self
        check_is_fitted(classifier)
        return self._read(classifier)


class NodeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn classifier whose samples are the nodes of a graph, and whose state is one `Fit`."""

    fitted_: Fit
    labels_ = FittedAttribute("fitted_.outcome.labels")
    classes_ = FittedAttribute("fitted_.seeds.classes")
    temperatures_ = FittedAttribute("fitted_.outcome.temperatures")
    scores_ = FittedAttribute("fitted_.outcome.scores")
    reached_ = FittedAttribute("fitted_.outcome.reached")
    thresholds_ = FittedAttribute("fitted_.outcome.thresholds")
    best_classes_ = FittedAttribute("fitted_.outcome.best_classes")
    best_scores_ = FittedAttribute("fitted_.outcome.best_scores")
    solution_ = FittedAttribute("fitted_.outcome.solution")
    rule_ = FittedAttribute("fitted_.rule.name")
    graph_ = FittedAttribute("fitted_.graph")
    seeds_ = FittedAttribute("fitted_.seeds")

    @property
    def settings(self) -> Settings:
        """The parameters, validated."""
        return Settings.of(**self.get_params())

    def hold(self, fit: Fit) -> None:
        """Store a fit."""
        self.fitted_ = fit
        self.n_features_in_ = fit.graph.n_nodes
        self.n_iter_ = max(1, fit.outcome.solution.iterations)

    def checked_input(self, X: Any, y: Any, weight: Any) -> tuple[Graph, Any, Any]:
        """The graph, the labels and the weights of seeds that `fit` was given, for `as_seeds` to read."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if isinstance(X, WholeGraph):
            return X.graph, *X.placed(y, weight)
        if isinstance(y, str):
            y = node_attribute(X, y)
        graph = as_graph(self.checked_matrix(X))
        if not isinstance(X, Graph):
            check_whole(y)
        if graph.n_rows is not None and isinstance(y, tuple):
            y = _of_both_sides(y, graph)
        if has_index(X) and has_index(y):
            y = _in_order_of(X.index, y)
        if getattr(y, "ndim", 1) == 2 and not has_label_sets(y):
            y = y.iloc[:, 0] if has_index(y) else column_or_1d(y, warn=True)
        return graph, y, weight

    def checked_matrix(self, X: Any, *, reset: bool = True) -> Any:
        """Validate a matrix as scikit-learn does; anything else is returned unchanged."""
        if not (issparse(X) or isinstance(X, list) or hasattr(X, "__array__")):
            return X
        formats = ("csr", "csc", "coo")
        X = validate_data(self, X, reset=reset, accept_sparse=formats, accept_large_sparse=True, dtype="numeric")
        check_non_negative(X, type(self).__name__)
        return X

    def new_edges(self, X: Any) -> csr_array:
        """Edge weights (m, n) from new nodes to the nodes of the graph, without edges to unreached nodes."""
        check_is_fitted(self)
        weights = csr_array(self.checked_matrix(X, reset=False), dtype=np.float64).multiply(self.reached_)
        return csr_array(weights)

    def nodes_in(self, X: Any) -> Ints | None:
        """Positions of the nodes to predict for, if X is the graph of the fit; None if X has the edges of new nodes."""
        if is_networkx(X) or is_igraph(X):
            X = as_graph(X)
        if not isinstance(X, Graph | WholeGraph):
            return None
        fold = X if isinstance(X, WholeGraph) else WholeGraph(X)
        if fold.graph.n_nodes != self.graph_.n_nodes:
            found, fitted = fold.graph.n_nodes, self.graph_.n_nodes
            raise ValueError(f"this graph has {found} nodes, but the fit was on {fitted}: call fit for another graph")
        return fold.nodes

    def named_rows(self, X: Any, nodes: Ints | None) -> Any:
        """The ids of the nodes to predict for; None for new nodes, which have no ids."""
        if nodes is None:
            return self.graph_.nodes if X is None else None
        return self.graph_.nodes[nodes]

    def labels_of(self, X: Any, unreached: Any) -> Any:
        """What `predict` returns."""
        nodes = self.nodes_in(X)
        if X is None:
            labels = self.labels_
        else:
            labels = self.new_labels(self.new_edges(X)) if nodes is None else self.labels_[nodes]
        if unreached is not None:
            return _filled(labels, self.classes_, unreached)
        several = self.fitted_.outcome.several
        return X.comparable(labels, self.classes_) if isinstance(X, WholeGraph) and not several else labels

    def new_labels(self, weights: csr_array) -> Any:
        """Labels of m new nodes, given the weights (m, n) of their edges."""
        return self.fitted_.outcome.of_new_nodes(weights)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the known labels y that :meth:`predict` of X finds; an unreached node counts as wrong.

        If X is the graph of the fit, y may also be ``{node: label}``, or the name of an attribute of its nodes. Seeds
        count too, if y has labels for them.
        """
        if isinstance(y, str):
            y = node_attribute(X, y)
        if isinstance(y, Mapping):
            X, y = self._only(X, y)
        if self.fitted_.outcome.several:
            return float(super().score(X, y, sample_weight))
        truth = y if has_index(y) else np.asarray(y)
        truth = column_or_1d(truth) if truth.ndim == 2 else truth
        known = encode_labels(truth)[0] >= 0
        right = np.asarray(self.predict(X) == np.asarray(truth), dtype=bool)
        if not known.any():
            raise ValueError("no label of y is known: score nodes whose labels are known")
        return float(
            np.average(right[known], weights=None if sample_weight is None else np.asarray(sample_weight)[known])
        )

    def _only(self, X: Any, labels: Mapping[Any, Any]) -> tuple[WholeGraph, list[Any]]:
        """Some nodes of the graph, and their labels."""
        if self.nodes_in(X) is None:
            raise TypeError("labels by node need the graph of the fit: pass it as X")
        return WholeGraph(self.graph_, self.graph_.index(list(labels))), list(labels.values())

    def __dir__(self) -> Iterable[str]:
        """All names; scikit-learn would read each attribute, and so compute the lazy ones."""
        return object.__dir__(self)

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "fitted_", None) is not None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        return tags


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


def _filled(labels: Any, classes: Labels, unreached: Any) -> Any:
    """Labels in which unreached nodes have this one."""
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
