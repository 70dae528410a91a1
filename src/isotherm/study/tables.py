"""Tables of vectors: whether hidden seeds are found better with the graph of neighbours than by the columns alone."""

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from isotherm.graphs import Graph
from isotherm.node_classifier import NodeClassifier

__all__ = ["HiddenAccuracy", "hidden_accuracy"]

FOLDS = 5


class HiddenAccuracy(NamedTuple):
    """The share of hidden seeds whose label was found, by each way; each seed was hidden once."""

    hidden: int
    found: float
    logistic: float

    def __str__(self) -> str:
        ways = f"accuracy {self.found:.3f}, by logistic regression alone {self.logistic:.3f}"
        return f"{ways} ({self.hidden:,} seeds hidden in turn)"


def hidden_accuracy(clf: NodeClassifier, graph: Graph, rows: Any, known: Mapping[Any, Any]) -> HiddenAccuracy | None:
    """Hide a fifth of the seeds in turn, and find their labels by the classifier and by logistic regression alone.

    None if fewer than two classes have two seeds, or if labels are not one for each seed.
    """
    if not known or any(isinstance(label, dict | set | frozenset) for label in known.values()):
        return None
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold

    places, labels = graph.index(list(known)), np.array(list(map(str, known.values())), dtype=object)
    _, code, counts = np.unique(labels, return_inverse=True, return_counts=True)
    common = counts[code] >= 2
    if (counts >= 2).sum() < 2:
        return None
    splitter = StratifiedKFold(min(FOLDS, int(counts[counts >= 2].min())), shuffle=True, random_state=0)
    by_all, by_columns = (np.full(len(labels), None, dtype=object) for _ in range(2))
    usable = np.flatnonzero(common)
    for _, part in splitter.split(usable, code[usable]):
        test = usable[part]
        train = np.setdiff1d(np.arange(len(labels)), test)
        shown = dict(zip(graph.nodes[places[train]].tolist(), labels[train], strict=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the main fit has already warned
            found = clone(clf).fit(graph, shown, evidence=clf.fitted_.evidence).labels_
            by_columns[test] = _logistic(rows).fit(rows[places[train]], labels[train]).predict(rows[places[test]])
        by_all[test] = found[places[test]]
    shares = (float(np.mean(way[usable] == labels[usable])) for way in (by_all, by_columns))
    return HiddenAccuracy(len(usable), *shares)


def _logistic(rows: Any) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(with_mean=not issparse(rows)), LogisticRegression(max_iter=1000))
