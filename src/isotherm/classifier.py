"""The Dirichlet classifier: section 3 of the paper, as a scikit-learn estimator."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Self

from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from isotherm.equilibrium.options import DEFAULT_TOL, Progress
from isotherm.insight.answers import Answering
from isotherm.insight.experts.evidence import AUTO, default_evidence, read_evidence
from isotherm.insight.exports import Exporting
from isotherm.insight.insight import Insight, label_nodes
from isotherm.labelling.changes import changed_seeds
from isotherm.labelling.progress import error_bar
from isotherm.labelling.rules import DEFAULT_RULE
from isotherm.labelling.scikit_learn.estimator import FittedAttribute, NodeClassifier
from isotherm.page.page_methods import Explorable
from isotherm.seeds import as_seeds

__all__ = ["DirichletClassifier", "load"]


class DirichletClassifier(Explorable, Answering, Exporting, NodeClassifier):
    """Labels all nodes of a graph from the labels of a few, the seeds.

    For each class, its seeds are held at temperature 1 and all other seeds at 0; heat spreads along the edges to
    equilibrium. Some seeds are then hidden in turn to learn how probable each class is, given the temperatures of a
    node, and each node takes a probable class. ``rule="centered"`` is Algorithm 1 of the paper: each node takes the
    class whose temperature stands out most.

    Parameters
    ----------
    rule : {"balanced", "probable", "centered", "relative", "vanilla", "weighted", "auto"}
        How a node gets its label; see :mod:`isotherm.labelling.rules`. ``probable`` takes the most probable class,
        ``balanced`` divides probabilities by a power of their mean, so that rare classes are found too. Both take one
        to three more, rougher solves. Where no seed can be hidden, and without ``calibration``, ``relative`` decides
        in their place: ``rule_`` tells. The others compare temperatures: ``centered`` is Algorithm 1 of the paper.
        ``auto`` takes the rule that finds held-out seeds again best.
    solver : {"auto", "cg", "direct", "elimination", "sweeps"}
        How equilibrium is found; ``auto`` chooses by the graph.
    tol : float or None
        Largest error of a temperature, relative to the spread (standard deviation) of the temperatures of its class. At
        1e-3, roughly one label in a thousand could still change. None for exactly ``max_iter`` iterations, as in
        ``solver="sweeps", tol=None, max_iter=10``, the setting of the paper's experiments.
    max_iter : int, optional
        Most iterations allowed.
    side : {"auto", "both", "source", "edges"}
        For directed graphs: whether seeds are held, and labels read, on both copies of a node or as source only; or
        whether arcs are read as edges. "auto" is "both" with rules on temperatures, as in the paper, else "edges".
    engine, n_threads : {"local", "dask"}, int or None
        Where to solve, here or on the Dask cluster of the current `distributed.Client` (see docs/cluster.md), and with
        how many threads; by default ``ISOTHERM_THREADS``, or all cores.
    max_memory : int, optional
        Bytes that temperatures, scores and probabilities may take; by default a quarter of the machine's memory. With
        more classes than that, only the best few scores of each node are kept.
    calibration : {"auto", None}
        Whether probabilities are calibrated on held-out seeds, at the cost of one to three more solves on first use, or
        are the softmax of the scores.
    stop : {"error", "labels"}
        When to end: as soon as the error is below ``tol``, or as soon as enough labels are certified.
    open_share : float
        With ``stop="labels"``, the share of the labels that need not be certified.
    threshold : {"auto"}, float or None
        Where seeds have several labels each: the temperature above which a node has a label. None for that of the rule;
        "auto" shifts it for all labels so that hidden seeds get theirs back, which takes a few more solves.
    class_weight : mapping, optional
        With ``rule="balanced"`` or ``"probable"``: how much more a class counts than others, such as ``{"fraud": 5.0}``
        if it is five times as bad to miss a fraud as to suspect an honest node. It changes labels, not probabilities.
    verbose : bool
        Whether `fit` and `update` show how far they are: a bar on a terminal and in notebooks, else lines.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), or csr_array of bool of shape (n, L)
        One label per node, in the order of the graph's nodes; unreached nodes have -1 (int labels) or None (str, bool),
        or what `predict` is told. Where seeds have several labels each, an indicator matrix.
    classes_ : ndarray of shape (K,)
        The labels that occur among the seeds, sorted.
    temperatures_, scores_ : ndarray of shape (n, K)
        Temperatures, and what the rule made of them; NaN rows where unreached.
    best_classes_, best_scores_ : ndarray of shape (n, 5)
        Only where all scores exceed ``max_memory``: the best of each node, as places in ``classes_`` (-1 for none).
    thresholds_ : ndarray of shape (L,)
        Only where seeds have several labels each: the temperature above which a node has the label.
    reached_ : ndarray of bool, shape (n,)
        Nodes that are connected to a seed.
    solution_, rule_, graph_, seeds_, fitted_
        How it was solved, by which rule, from what; and all of this in one object, a `Fit`.
    confidence_ : ndarray of shape (n,), or csr_array of shape (n, L)
        Probability of the label: 1 at seeds, 0 where unreached. Like all below, it is found on first use.
    calibration_ : Calibration or None
        How temperatures become probabilities.
    rule_report_, best_rule_ : dict, str
        The macro-F1 of each rule on held-out seeds, and the rule that it speaks for, the one of ``rule="auto"``.
    experts_ : dict
        How much the heat, the features and other evidence counted, by held-out seeds; see docs/evidence.md.
    seed_columns_ : dict
        The names of the columns of node and label in the file of seeds, if the command line read them; it names the
        columns of a sheet of suggestions so. Empty after `fit`.
    certified_ : ndarray of bool, shape (n,)
        Nodes whose label is certainly that of exact equilibrium, by a bound on the error of their temperatures.

    Examples
    --------
    >>> import isotherm as iso
    >>> square = iso.Graph.from_edges(["a", "b", "c", "d"], ["b", "c", "d", "a"], weight=[3, 1, 3, 1])
    >>> clf = iso.DirichletClassifier().fit(square, {"a": "hot", "c": "cold"})
    >>> clf.labels_.tolist()
    ['hot', 'hot', 'cold', 'cold']
    >>> clf.temperatures_[1]  # of "b", for the classes "cold" and "hot"
    array([0.25, 0.75])
    """

    seed_columns_: Mapping[str, str]
    certified_ = FittedAttribute("insight_.certified")
    rule_report_ = FittedAttribute("insight_.rule_report")
    best_rule_ = FittedAttribute("insight_.best_rule")
    experts_ = FittedAttribute("insight_.experts")

    def __init__(
        self,
        rule: str = DEFAULT_RULE,
        solver: str = "auto",
        tol: float | None = DEFAULT_TOL,
        max_iter: int | None = None,
        side: str = "auto",
        engine: str = "local",
        n_threads: int | None = None,
        max_memory: int | None = None,
        calibration: str | None = "auto",
        stop: str = "error",
        open_share: float = 0.05,
        threshold: str | float | None = "auto",
        class_weight: Mapping[Any, float] | None = None,
        verbose: bool = False,
    ) -> None:
        self.rule = rule
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.side = side
        self.engine = engine
        self.n_threads = n_threads
        self.max_memory = max_memory
        self.calibration = calibration
        self.stop = stop
        self.open_share = open_share
        self.threshold = threshold
        self.class_weight = class_weight
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        seed_weight: Any = None,
        features: Any = None,
        evidence: Any = AUTO,
        progress: Progress | None = None,
    ) -> Self:
        """Label the nodes of a graph.

        Parameters
        ----------
        X : Graph, sparse or dense adjacency matrix, networkx or igraph graph
            The graph. A matrix must be symmetric; for a directed graph use ``Graph.from_scipy(X, directed=True)``.
        y : mapping, array, Series or str
            The seeds: ``{node: label}``, a pandas Series with node ids as its index, or one label per node with -1,
            None or NaN where unknown; for a graph of networkx or igraph also the name of an attribute of its nodes; for
            a graph of rows and columns a pair of labels for each side. In a mapping a label may also be a distribution,
            ``{label: probability}``, or a set of labels, if a node can have several or none; an indicator matrix
            (n, L), with empty rows for unknown nodes, gives sets too.
        seed_weight : float, mapping, array or Series, optional
            How far seeds are trusted: ``{node: weight}``, or one weight for each node, or one for all seeds. A seed of
            weight w counts w times as much as its neighbours together; by default it is held at its temperatures.
        features : array, sparse matrix, data frame or mapping, optional
            What is known about the nodes besides links: a row of numbers for each, by position, or by node id in a
            mapping or in a data frame with ids as its index or in a column "node" or "id". For a bipartite graph, the
            rows may be for one side only. See docs/evidence.md.
        evidence : {"auto", "spectral", None}, array, data frame or mapping
            Probabilities of the classes by another model, a row for each node and a column for each class, NaN where
            it has none. Or "spectral" for those that the spectrum of the graph and the degrees of its nodes tell; by
            default they are used if no features are given and the graph has at most a million edges. None to go by
            heat alone.
        progress : callable, optional
            Called after each iteration with its number and the present error, to be compared with ``tol``.
        """
        settings = self.settings
        graph, labels, weight = self.checked_input(X, y, seed_weight)
        seeds = as_seeds(labels, graph, weight)
        seeds.warn_about_rare()
        beside = read_evidence(features, evidence, graph, seeds)
        with error_bar(self.tol, show=self.verbose, progress=progress) as bar:
            found = label_nodes(graph, seeds, settings, evidence=beside, progress=bar)
        self.seed_columns_ = {}
        return self._hold(found)

    def update(
        self, add: Mapping[Any, Any] | None = None, remove: Iterable[Any] = (), *, progress: Progress | None = None
    ) -> Self:
        """Label the nodes again after a change of the seeds, from the present temperatures.

        Temperatures are those of a new `fit`, to ``tol``; a few seeds more or less take a fraction of its time. What
        held-out seeds told about probabilities is kept until more than one seed in twenty has changed since then, or
        the classes have, unless there is other evidence; see docs/labelling.md. Call `fit` to redo all.

        Parameters
        ----------
        add : mapping, optional
            ``{node: label}``: new seeds, also of new classes, or new labels of seeds. They are certain.
        remove : iterable, optional
            Nodes that are seeds no more; a class without seeds is dropped, unless seeds have sets of labels.
        progress : callable, optional
            As for `fit`.
        """
        check_is_fitted(self)
        before = self.fitted_
        seeds = changed_seeds(before.seeds, {} if add is None else add, remove, before.graph)
        seeds.warn_about_rare()
        evidence = self.insight_.kept_evidence(seeds)
        with error_bar(self.tol, show=self.verbose, progress=progress) as bar:
            found = label_nodes(
                before.graph, seeds, self.settings, evidence=evidence, before=self.insight_, progress=bar
            )
        return self._hold(found)

    def _hold(self, insight: Insight) -> Self:
        self.hold(insight.fit)
        self._held_insight = insight
        return self

    def predict(self, X: Any = None, *, unreached: Any = None) -> Any:
        """The labels of the nodes, or of m new nodes with weights X (m, n) of edges to them.

        A new node has the mean temperature of its neighbours, and warms none of them. ``unreached`` is the label that
        unreached nodes get in place of -1 or None, such as "none": scikit-learn's metrics refuse None.
        """
        check_is_fitted(self)
        return self.labels_of(X, unreached)

    def new_labels(self, weights: csr_array) -> Any:
        """Labels of m new nodes, given the weights (m, n) of their edges."""
        return self.insight_.new_labels(weights)

    def predict_proba(self, X: Any = None) -> Any:
        """Probabilities of the classes, calibrated on held-out seeds; see :meth:`predict` and ``calibration``.

        A seed has probability 1 for its own class, an unreached node 0 for all. The label need not be the most probable
        class, except with ``rule="probable"``: other rules favour rare classes. Where nodes may have several labels,
        each has a probability of its own. It is an array, unless :meth:`set_output` asks for a data frame.
        """
        confidence, nodes = self.insight_.confidence, self.nodes_in(X)
        weights = None if X is None or nodes is not None else self.new_edges(X)
        found = confidence.probabilities(calibrated=bool(self.calibration), weights=weights)
        return self.contained(found if nodes is None else found[nodes], self.named_rows(X, nodes))

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Save what was fitted to an ``.npz`` file, to be used later without another solve; see :func:`isotherm.load`.

        The file holds no pickles, and appears when it is complete; with ``force`` it replaces one that exists. Node ids
        must be int, float, bool, str or tuples of these.
        """
        from isotherm.insight.saving import Saved, save_model  # reads and writes files, which few fits need

        found, names = self.insight_.confidence.found, getattr(self, "feature_names_in_", None)
        columns = getattr(self, "seed_columns_", None)
        save_model(path, Saved(self.get_params(), self.fitted_, found, names, columns), force=force)


def load(path: str | os.PathLike[str]) -> DirichletClassifier:
    """Read a classifier that was saved with :meth:`DirichletClassifier.save`.

    It gives the same answers as the one that was saved.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import isotherm as iso
    >>> path = Path(tempfile.mkdtemp()) / "model.npz"
    >>> rod = iso.Graph.from_edges(list("abcd"), list("bcde"))
    >>> iso.DirichletClassifier().fit(rod, {"a": "hot", "e": "cold"}).save(path)
    >>> iso.load(path).explain("b")["share"]
    array([0.75, 0.25])
    """
    from isotherm.insight.saving import load_model

    saved = load_model(path)
    clf = DirichletClassifier(**saved.parameters)
    if saved.feature_names is not None:
        clf.feature_names_in_ = saved.feature_names
    clf.seed_columns_ = saved.seed_columns or {}
    fit = saved.fit
    later = default_evidence(fit.graph, fit.seeds) if fit.obstacle else None  # for an update with more seeds
    return clf._hold(Insight(fit, saved.found, later))
