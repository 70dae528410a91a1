"""The classifier for tables: rows are joined to their nearest neighbours, and heat spreads along these edges."""

import os
from collections.abc import Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from isotherm import kernels
from isotherm.arrays import Opinion
from isotherm.choices import DecisionName, EngineName, EvidenceName, MetricName, SideName, SolverName, WeightsName
from isotherm.equilibrium.options import DEFAULT_TOL, Progress
from isotherm.graphs import Graph
from isotherm.graphs.neighbours import Neighbours
from isotherm.graphs.untrusted import checked_sparse
from isotherm.graphs.vector_rows import check_finite
from isotherm.labelling.fit import Fit
from isotherm.labelling.inputs import row_ids
from isotherm.labelling.settings import Settings
from isotherm.node_classifier import NodeClassifier
from isotherm.probability.evidence import AUTO, Evidence
from isotherm.seeds.encoding import Labels, has_index

if TYPE_CHECKING:
    from isotherm.io.feature_table import FeatureTable


class VectorClassifier(NodeClassifier):
    """Labels all rows of a table from the labels of a few.

    Each row is a node, joined to its nearest rows; then all is as in :class:`NodeClassifier`, whose parameters,
    attributes and methods it has. Logistic regression on the columns is evidence beside the heat: labelled rows are
    hidden in turn to see how much each should count, and `experts_` has the weights.

    It takes the place of scikit-learn's LabelSpreading: ``fit(X, y)`` with -1 where a label is unknown, `labels_`
    (there `transduction_`) for the rows of the table, ``predict(X)`` for new rows.

    Parameters
    ----------
    k : int
        How many neighbours each row has.
    metric : {"euclidean", "cosine"}
        Whether rows are near by distance or by direction.
    weights : {"gaussian", "self-tuning", None}
        How the weights of edges fall with the distance; see :meth:`Graph.from_vectors`.
    scale : bool
        Whether to divide each column by its standard deviation first.
    recall : float
        The least share of true neighbours to be found in a large table; 1 for an exact search.
    decision, class_weight, solver, tol, max_iter, side, engine, n_threads, max_memory, threshold, verbose, class_sizes
        As in :class:`NodeClassifier`.

    Attributes
    ----------
    graph_ : Graph
        The rows, and the edges between them. Rows of a data frame have the ids in its index, if these are distinct ints
        or texts; others are numbered from 0.
    neighbours_ : Neighbours
        The neighbours of each row and their distances; it also finds the neighbours of new rows.
    transduction_ : ndarray of shape (n,)
        Another name of `labels_`, as in LabelSpreading.

    Examples
    --------
    >>> import numpy as np
    >>> import isotherm as iso
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> clf = iso.VectorClassifier(k=2).fit(X, [0, -1, -1, 1, -1, -1])
    >>> clf.labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    >>> clf.predict([[0.3], [4.0]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        k: int = 10,
        metric: MetricName = "euclidean",
        weights: WeightsName | None = "gaussian",
        scale: bool = False,
        recall: float = 0.98,
        decision: DecisionName = "balanced",
        class_weight: Mapping[Any, float] | None = None,
        solver: SolverName = "auto",
        tol: float | None = DEFAULT_TOL,
        max_iter: int | None = None,
        side: SideName = "edges",
        engine: EngineName = "local",
        n_threads: int | None = None,
        max_memory: int | None = None,
        threshold: Literal["auto"] | float | None = "auto",
        verbose: bool = False,
        class_sizes: Mapping[Any, float] | None = None,
    ) -> None:
        super().__init__(
            *(decision, class_weight, solver, tol, max_iter, side, engine, n_threads, max_memory),
            threshold=threshold,
            verbose=verbose,
            class_sizes=class_sizes,
        )
        self.k = k
        self.metric = metric
        self.weights = weights
        self.scale = scale
        self.recall = recall

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        seed_weight: Any = None,
        features: Any = None,
        feature_table: "FeatureTable | None" = None,
        evidence: EvidenceName | Opinion | Evidence | None = "auto",
        progress: Progress | None = None,
    ) -> Self:
        """Label the rows of a table.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, p)
            The table.
        y : array, Series or mapping
            One label for each row, with -1, None or NaN where it is unknown; or ``{row id: label}``.
        evidence : {"auto", "spectral", "compatibility", None}, array, data frame or mapping
            As in :meth:`NodeClassifier.fit`, but by default the columns of the table are the evidence. None to go by
            the graph alone.
        seed_weight, features, feature_table, progress
            As in :meth:`NodeClassifier.fit`.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        with self._turn:
            ids, table = row_ids(X, y), self._checked_table(X, reset=True)
            self.neighbours_ = Neighbours.of(
                table,
                k=self.k,
                metric=self.metric,
                weights=self.weights,
                scale=self.scale,
                recall=self.recall,
                threads=kernels.thread_count(self.n_threads),
            )
            if features is None and isinstance(evidence, str) and evidence == AUTO:
                evidence = Evidence.of_table(table)
            return super().fit(
                Graph.from_neighbours(self.neighbours_, ids),
                _by_row(X, y),
                seed_weight=seed_weight,
                features=features,
                feature_table=feature_table,
                evidence=evidence,
                progress=progress,
            )

    @property
    def settings(self) -> Settings:
        """The parameters that are not about the table, validated."""
        return Settings.of(**self._graph_parameters)

    @property
    def _graph_parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in signature(NodeClassifier).parameters}

    def _checked_table(self, X: Any, *, reset: bool) -> Any:
        X = checked_sparse(X) if issparse(X) else X
        table = validate_data(self, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite=False)
        check_finite(table, getattr(self, "feature_names_in_", None))
        return table

    def _hold(self, fit: Fit) -> Self:
        columns = self.n_features_in_
        super()._hold(fit)
        self.n_features_in_ = columns
        return self

    @property
    def transduction_(self) -> Labels:
        """The labels of the rows of the table, as LabelSpreading calls them."""
        return self.labels_

    def _new_edges(self, X: Any, fit: Fit) -> csr_array:
        """Edge weights (m, n) from new rows to the rows of the table, without edges to unreached rows."""
        threads = kernels.thread_count(self.n_threads)
        edges = self.neighbours_.to_new(self._checked_table(X, reset=False), threads)
        return csr_array(edges.multiply(fit.outcome.reached))

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Save the graph of neighbours and what was found on it, without the table.

        :func:`isotherm.load` reads it as a :class:`NodeClassifier`, which explains and suggests as this one does,
        but knows no new rows.
        """
        self.on_graph().save(path, force=force)

    def on_graph(self) -> NodeClassifier:
        """The same labels, held by a classifier of graphs."""
        return NodeClassifier(**self._graph_parameters)._hold(self._fitted)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = False
        tags.input_tags.positive_only = False
        return tags


def _by_row(X: Any, y: Any) -> Any:
    """Labels in the order of the rows: a Series follows the index of a DataFrame, and is read in order otherwise."""
    if not has_index(y):
        return y
    if has_index(X) and not X.index.equals(y.index):
        y = y.reindex(X.index)
    return y.to_numpy() if y.dtype != object else np.asarray(y, dtype=object)
