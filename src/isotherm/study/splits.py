"""Cross-validation that hides labels and keeps the graph whole.

The splitters of scikit-learn would cut the hidden nodes out of the adjacency matrix, and heat could not pass them. With
`isotherm.WholeGraph` in place of the graph, its searches and scores take a `LabelSplit` too.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from isotherm.arrays import Doubles, Ints
from isotherm.errors import Option, ParameterError
from isotherm.graphs import Graph, as_graph
from isotherm.labelling.inputs import WholeGraph, check_order
from isotherm.seeds import Seeds
from isotherm.seeds.encoding import Labels, decode_labels, encode_labels
from isotherm.seeds.hiding import codes_of_nodes, deal, hide, hideable
from isotherm.study.scores import accuracy, macro_f1, micro_f1

if TYPE_CHECKING:
    from isotherm.graph_classifier import GraphClassifier

Scoring: TypeAlias = Callable[[Labels, Labels], float]
FOLDS = 5  # in `hidden_accuracy`
PENALTIES = 0.1, 1.0, 10.0  # inverse, of its regressions


class LabelSplit:
    """Folds of the known labels: in each, some labels are hidden and the graph stays whole.

    Every label is hidden in exactly one fold, except that the only label of a class is never hidden. It is a splitter
    for scikit-learn too: pass it as ``cv``, and an `isotherm.WholeGraph` in place of the graph.

    Parameters
    ----------
    n_splits
        Number of folds, at least two.
    stratified
        Whether each class is spread evenly over the folds, so that it keeps a visible label in every fold. Otherwise
        labels are dealt at random, and a class can be hidden entirely.
    random_state
        Seed of the shuffle, or a Generator; with an int every call of `split` gives the same folds.

    Examples
    --------
    >>> for visible, hidden in LabelSplit(2, random_state=0).split(["a", "b", None, "a", "b"]):
    ...     print(visible, hidden)
    ['a' None None None 'b'] [1 3]
    [None 'b' None 'a' None] [0 4]

    With scikit-learn, on two triangles that are joined by an edge:

    >>> from sklearn.model_selection import cross_val_score
    >>> import isotherm as iso
    >>> graph = iso.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5])
    >>> labels = ["a", "a", None, None, "b", "b"]
    >>> cross_val_score(iso.DirichletClassifier(), iso.WholeGraph(graph), labels, cv=iso.LabelSplit(2))
    array([1., 1.])
    """

    def __init__(
        self, n_splits: int = 5, *, stratified: bool = True, random_state: np.random.Generator | int | None = None
    ) -> None:
        if n_splits < 2:
            raise ParameterError("{n_splits}, but at least two folds are needed", n_splits=Option("n_splits", n_splits))
        self.n_splits = n_splits
        self.stratified = stratified
        self.random_state = random_state

    def __repr__(self) -> str:
        state = "" if self.random_state is None else f", random_state={self.random_state!r}"
        return f"LabelSplit({self.n_splits}{'' if self.stratified else ', stratified=False'}{state})"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds, for scikit-learn."""
        return self.n_splits

    @overload
    def split(self, X: Iterable[Any]) -> Iterator[tuple[Labels, Ints]]: ...
    @overload
    def split(self, X: Any, y: Iterable[Any], groups: Any = None) -> Iterator[tuple[Ints, Ints]]: ...
    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, Ints]]:
        """Generate the folds: ``split(labels)``, or ``split(X, y)`` as scikit-learn calls it.

        Parameters
        ----------
        X
            If it is the only argument, the labels: one for each node, -1, None or NaN where it is unknown. Otherwise an
            `isotherm.WholeGraph`, or a table of features for a classifier that knows no graph.
        y
            The labels, if X is something else.
        groups
            Ignored.

        Yields
        ------
        visible : array
            By ``split(labels)``, the labels (n,) with the hidden ones set to unknown (-1 or None). By ``split(X, y)``,
            positions of the visible labels, ascending; unknown labels are in neither part.
        hidden : array
            Positions of the hidden labels, ascending.
        """
        codes, classes = encode_labels(X if y is None else y)
        if y is not None:
            _check_uncut(X, y)
        order = np.random.default_rng(self.random_state).permutation(hideable(codes))
        if len(order) < self.n_splits:
            n_splits = Option("n_splits", self.n_splits)
            raise ParameterError("{n_splits}, but only {most} labels can be hidden", n_splits=n_splits, most=len(order))
        for hidden in deal(codes, order, self.n_splits, by_class=self.stratified):
            visible = hide(codes, hidden)
            yield (decode_labels(visible, classes) if y is None else np.flatnonzero(visible >= 0)), hidden


def _check_uncut(X: Any, y: Any) -> None:
    """Refuse a graph that scikit-learn would cut; a table of features is not one."""
    if isinstance(X, WholeGraph):
        return check_order(y, X)
    shape = getattr(X, "shape", (0, 0))
    if len(shape) == 2 and shape[0] == shape[1]:
        raise ValueError(
            "scikit-learn would remove the hidden nodes from this graph: pass isotherm.WholeGraph(graph) in its place, "
            "with cv=isotherm.LabelSplit(...)"
        )
    return None


def cross_val_score(
    estimator: Any,
    graph: Any,
    labels: Mapping[Any, Any] | Iterable[Any],
    *,
    split: LabelSplit | None = None,
    scoring: str | Scoring = "macro_f1",
) -> Doubles:
    """Score a classifier on labels that were hidden from it.

    Parameters
    ----------
    estimator
        A classifier with ``fit(graph, labels)`` and ``predict()``, such as `DirichletClassifier`. It is cloned for
        each fold and stays as it is.
    graph
        The whole graph, given to every fold: whatever ``fit`` takes.
    labels
        ``{node: label}`` or one label for each node, as in ``fit``.
    split
        The folds; by default ``LabelSplit(5, random_state=0)``.
    scoring
        "accuracy", "macro_f1", "micro_f1", or a function of the hidden labels and the predictions. A hidden node
        that is unreached counts as wrong: it lowers the recall of its class. Macro-F1 is the mean over all
        classes that are hidden or predicted in the fold.

    Returns
    -------
    (n_splits,) array
        The score of each fold.
    """
    score = _scoring(scoring)
    graph = as_graph(graph)
    known = Seeds.from_labels(labels, graph)
    truth = known.decode(codes_of_nodes(known, graph.n_nodes))
    scores = []
    for visible, hidden in (split or LabelSplit(random_state=0)).split(truth):
        predicted = clone(estimator).fit(graph, visible).predict()
        scores.append(score(truth[hidden], np.asarray(predicted)[hidden]))
    return np.array(scores, dtype=np.float64)


def _scoring(scoring: str | Scoring) -> Scoring:
    if callable(scoring):
        return scoring
    named = {"accuracy": accuracy, "macro_f1": macro_f1, "micro_f1": micro_f1}
    if scoring not in named:
        raise ValueError(f"there is no scoring {scoring!r}: choose one of {', '.join(named)}, or give a function")
    return named[scoring]


class HiddenAccuracy(NamedTuple):
    """The share of hidden seeds whose label was found, by each way; each seed was hidden once."""

    hidden: int
    found: float
    logistic: float

    def __str__(self) -> str:
        ways = f"accuracy {self.found:.3f}, by logistic regression alone at its best {self.logistic:.3f}"
        return f"{ways} ({self.hidden:,} seeds hidden in turn)"


def hidden_accuracy(clf: "GraphClassifier", graph: Graph, rows: Any, known: Mapping[Any, Any]) -> HiddenAccuracy | None:
    """Hide a fifth of the seeds in turn, and find their labels by the classifier and by logistic regression alone.

    The scaling and the penalty of the regression are those that find most of them, which favours it a little. None if
    fewer than two classes have two seeds, or if labels are not one for each seed.
    """
    if not known or any(isinstance(label, dict | set | frozenset) for label in known.values()):
        return None
    places, labels = graph.index(list(known)), np.array(list(map(str, known.values())), dtype=object)
    codes = np.unique(labels, return_inverse=True)[1]
    usable = hideable(codes)
    if len(np.unique(codes[usable])) < 2:
        return None
    from isotherm.node_classifier import NodeClassifier

    evidence = {"evidence": clf.fitted_.evidence} if isinstance(clf, NodeClassifier) else {}
    rows = _of_unit_variance(rows[places])
    regressions = _regressions(rows)
    found, by_columns = np.zeros(len(labels), bool), np.zeros((len(regressions), len(labels)), bool)
    for test in deal(codes, np.random.default_rng(0).permutation(usable), FOLDS):
        train = np.delete(np.arange(len(labels)), test)
        shown = dict(zip(graph.nodes[places[train]].tolist(), labels[train], strict=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the main fit has already warned
            found[test] = clone(clf).fit(graph, shown, **evidence).labels_[places[test]] == labels[test]
            for model, right in zip(regressions, by_columns, strict=True):
                right[test] = model.fit(rows[train], labels[train]).predict(rows[test]) == labels[test]
    return HiddenAccuracy(len(usable), float(found[usable].mean()), float(by_columns[:, usable].mean(axis=1).max()))


def _regressions(rows: Any) -> list[Any]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer, StandardScaler

    scalings = "passthrough", Normalizer(), StandardScaler(with_mean=not issparse(rows))
    models = (LogisticRegression(C=c, max_iter=1000) for c in PENALTIES)
    return [make_pipeline(scaling, model) for model in models for scaling in scalings]


def _of_unit_variance(rows: Any) -> Any:
    """One factor for all values, so that penalties mean the same for every table."""
    squares = rows.multiply(rows) if issparse(rows) else np.square(rows, dtype=np.float64)
    return rows / max(float(np.sqrt(squares.mean() - rows.mean() ** 2)), 1e-12)
