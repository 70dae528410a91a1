"""Cross-validation that hides labels and keeps the graph whole.

The splitters of scikit-learn cut the adjacency matrix down to the visible nodes, across which no heat would flow.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from isotherm.graph import as_graph
from isotherm.labels import Ints, Labels, decode_labels, encode_labels
from isotherm.seeds import Floats, Seeds

__all__ = ["LabelSplit", "cross_val_score", "macro_f1"]

Scoring: TypeAlias = Callable[[Labels, Labels], float]


class LabelSplit:
    """Folds of the known labels: in each, some labels are hidden and the graph stays whole.

    Every label is hidden in exactly one fold, except that the only label of a class is never hidden.

    Parameters
    ----------
    n_splits
        Number of folds, at least two.
    stratified
        Whether each class is spread evenly over the folds, so that all classes keep a visible label in every fold.
        Otherwise labels are dealt at random and a class can be hidden entirely.
    random_state
        Seed of the shuffle, or a Generator; with an int every call of `split` gives the same folds.

    Examples
    --------
    >>> for visible, hidden in LabelSplit(2, random_state=0).split(["a", "b", None, "a", "b"]):
    ...     print(visible, hidden)
    ['a' None None None 'b'] [1 3]
    [None 'b' None 'a' None] [0 4]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        stratified: bool = True,
        random_state: np.random.Generator | int | None = None,
    ) -> None:
        if n_splits < 2:
            raise ValueError(f"n_splits={n_splits}, but at least two folds are needed")
        self.n_splits = n_splits
        self.stratified = stratified
        self.random_state = random_state

    def split(self, labels: Iterable[Any]) -> Iterator[tuple[Labels, Ints]]:
        """Generate the folds.

        Parameters
        ----------
        labels
            One label for each node, -1, None or NaN where it is unknown.

        Yields
        ------
        visible : (n,) array
            The labels as int64 or object (str), with the hidden ones set to unknown (-1 or None).
        hidden : array
            Positions of the hidden labels, ascending.
        """
        codes, classes = encode_labels(labels)
        order = self._shuffled(codes, len(classes))
        for fold in range(self.n_splits):
            hidden = np.sort(order[fold :: self.n_splits])
            visible = codes.copy()
            visible[hidden] = -1
            yield decode_labels(visible, classes), hidden

    def _shuffled(self, codes: Ints, n_classes: int) -> Ints:
        """The labels that can be hidden, in the order in which they are dealt to the folds in turn."""
        known = np.flatnonzero(codes >= 0)
        several = np.bincount(codes[known], minlength=n_classes) > 1
        order = np.random.default_rng(self.random_state).permutation(known[several[codes[known]]])
        if len(order) < self.n_splits:
            raise ValueError(f"n_splits={self.n_splits}, but only {len(order)} labels can be hidden")
        return order[np.argsort(codes[order], kind="stable")] if self.stratified else order


def cross_val_score(
    estimator: Any,
    graph: Any,
    labels: Mapping[Any, Any] | Iterable[Any],
    *,
    split: LabelSplit | None = None,
    scoring: str | Scoring = "macro_f1",
) -> Floats:
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
    from sklearn.base import clone

    score = _scoring(scoring)
    graph = as_graph(graph)
    known = Seeds.from_labels(labels, graph)
    codes = np.full(graph.n_nodes, -1, dtype=np.int64)
    codes[known.nodes] = known.codes
    truth = known.decode(codes)
    scores = []
    for visible, hidden in (split or LabelSplit(random_state=0)).split(truth):
        predicted = clone(estimator).fit(graph, visible).predict()
        scores.append(score(truth[hidden], np.asarray(predicted)[hidden]))
    return np.array(scores, dtype=np.float64)


def _scoring(scoring: str | Scoring) -> Scoring:
    if callable(scoring):
        return scoring
    named = {"accuracy": _accuracy, "macro_f1": macro_f1, "micro_f1": _micro_f1}
    if scoring not in named:
        raise ValueError(f"there is no scoring {scoring!r}: choose one of {', '.join(named)}, or give a function")
    return named[scoring]


def _accuracy(truth: Labels, predicted: Labels) -> float:
    return float(np.mean(truth == predicted))


def macro_f1(truth: Labels, predicted: Labels) -> float:
    """Mean over the classes that occur of F1 = 2 hits / (occurrences in truth and predictions); -1 is no prediction.

    >>> round(macro_f1(np.array([0, 0, 1, 2]), np.array([0, 1, 1, -1])), 3)  # 2/3, 2/3 and 0
    0.444
    """
    hits, total = _hits_and_total(truth, predicted)
    return float(np.mean(2 * hits / total))


def _micro_f1(truth: Labels, predicted: Labels) -> float:
    hits, total = _hits_and_total(truth, predicted)
    return float(2 * hits.sum() / total.sum())


def _hits_and_total(truth: Labels, predicted: Labels) -> tuple[Ints, Ints]:
    """For each class: right predictions, and all occurrences in truth and predictions (F1 = 2 hits / total)."""
    codes, classes = encode_labels(np.concatenate([truth, predicted]))
    true, guess = np.split(codes, 2)
    hits = np.bincount(true[true == guess], minlength=len(classes))
    return hits, np.bincount(codes[codes >= 0], minlength=len(classes))
