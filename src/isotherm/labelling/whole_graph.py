"""Cross-validation by scikit-learn: a graph that it cannot cut, and the nodes of a fold.

For each fold scikit-learn takes the rows and columns ``X[train][:, train]`` of a matrix of affinities. For an adjacency
matrix this removes the hidden nodes, and heat no longer passes through them. A `WholeGraph` answers the same request
with the whole graph and the list of nodes, so that only labels are hidden.
"""

import sys
from typing import Any, Self

import numpy as np

from isotherm.arrays import Ints
from isotherm.errors import warn
from isotherm.graphs import Graph, as_graph
from isotherm.seeds.encoding import Labels, decode_labels, encode_labels, has_index, is_unknown
from isotherm.seeds.reading import has_label_sets

REMEDY = "pass isotherm.WholeGraph(graph) in place of the graph, and cv=isotherm.LabelSplit(5)"


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
        """Labels and weights of all nodes of the graph, from those of the nodes of a fold."""
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
        room = frame.f_globals.get("__name__", "")
        if room == "sklearn.model_selection._validation":
            return True
        if room.partition(".")[0] not in ("isotherm", "sklearn"):
            return False
        frame = frame.f_back  # type: ignore[assignment]
    return False
