"""The node classifier: labels by probabilities that hidden seeds teach.

The heat of the seeds says much about the class of a node, but not how probable it is, and other things say something
too: the structure of the graph, features of the nodes, other models. So some seeds are hidden in turn, to see what each
of these *experts* says about nodes whose class is known. This calibrates the temperatures and weighs the experts
(`isotherm.probability`). A *decision* on the resulting probabilities then gives each node its label
(`isotherm.labelling.rules`).
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from isotherm.arrays import Opinion
from isotherm.equilibrium.options import DEFAULT_TOL, Progress
from isotherm.errors import Option, ParameterError, muted
from isotherm.graph_classifier import GraphClassifier
from isotherm.graphs import Graph, as_graph
from isotherm.labelling.fit import has_probabilities, why_heat_alone
from isotherm.labelling.rules import DECISIONS, RULES, Rule
from isotherm.labelling.settings import Settings
from isotherm.probability.calibration import CalibrationWarning
from isotherm.probability.evidence import AUTO, COMPATIBILITY, SPECTRAL, Evidence, read_evidence
from isotherm.probability.experts import STRUCTURAL
from isotherm.probability.experts.spectral import Structure
from isotherm.seeds import Seeds, as_seeds

if TYPE_CHECKING:  # few fits have features
    from isotherm.choices import DecisionName, EngineName, EvidenceName, RuleName, SideName, SolverName
    from isotherm.io.feature_table import FeatureTable

OTHER_TABLES = {"evidence", "majority"}  # experts that go by another model, or by the table whose rows are the nodes
RULE_NAMES = (*DECISIONS, *RULES)  # what may decide labels: on probabilities, or on temperatures


class NodeClassifier(GraphClassifier):
    """Labels all nodes of a graph from the labels of a few, the seeds, with a probability for each label.

    Seeds heat the graph; temperatures, the structure of the graph, and features if there are some, become probabilities
    by hiding seeds; and each node takes a probable class. For the classifier of the paper, which compares temperatures
    and needs nothing else, see :class:`DirichletClassifier`.

    Parameters
    ----------
    decision : {"balanced", "probable"}
        ``probable`` takes the most probable class, for the most labels right. ``balanced`` divides probabilities by a
        power of their mean, so that rare classes are found too; it is near the best accuracy and macro-F1 at once.
    class_weight : mapping, optional
        How much more a class counts than others, such as ``{"fraud": 5.0}`` if it is five times as bad to miss a fraud
        as to suspect an honest node. It changes labels, not probabilities.
    solver, tol, max_iter
        How equilibrium is found, and how accurately; see :class:`DirichletClassifier`.
    side : {"edges", "source", "both", "along"}
        How a directed graph is read: by default, arcs are read as edges; see :class:`DirichletClassifier`.
    engine, n_threads, max_memory
        Where to solve, with how many threads, and how much memory results may take; see :class:`DirichletClassifier`.
        If probabilities of all classes do not fit in memory, labels go by heat alone, with a warning.
    threshold : {"auto"}, float or None
        Where seeds have several labels each, labels go by heat alone: the temperature above which a node has a label;
        see :class:`DirichletClassifier`.
    verbose : bool
        Whether `fit` and `update` show their progress: a bar on a terminal and in notebooks, else lines.
    class_sizes : mapping, optional
        Known shares of classes among all nodes, such as ``{"fraud": 0.02}``. The odds of classes are then multiplied by
        factors such that the means of probabilities are these shares; other classes share the rest in proportion.

    Attributes
    ----------
    labels_, classes_, reached_, temperatures_, solution_, graph_, seeds_, fitted_
        As in :class:`DirichletClassifier`. A node that no seed reaches may have a label if there are features.
    scores_ : ndarray of shape (n, K)
        What the decision made of the probabilities; they add up to 1.
    confidence_ : ndarray of shape (n,)
        Probability of the label: 1 at seeds, 0 where nothing is known.
    calibration_ : Calibration
        How temperatures become probabilities.
    experts_ : dict
        The weight of heat, features and other evidence, found by hidden seeds; see docs/evidence.md.
    kind_weights_ : dict
        The mean weight of the edges of each kind, found by hidden seeds; empty if edges are of one kind.
    column_influence_ : dict
        For each column of the features, its share of what moves each expert; see docs/evidence.md.
    rule_ : str
        The decision, or the rule on temperatures where labels go by heat alone.
    seed_columns_ : dict
        The names of the columns of node and label in the file of seeds, if the command line read them; it names the
        columns of a sheet of suggestions so. Empty after `fit`.
    feature_table_ : FeatureTable or None
        How each column of the features was read; None without features, or if they were an array of numbers.
    feature_source_ : dict
        The columns of features that were used, and their file if the command line read them; a saved model keeps it.

    Examples
    --------
    >>> import networkx as nx
    >>> import isotherm as iso
    >>> club = nx.karate_club_graph()
    >>> seeds = {0: "Mr. Hi", 1: "Mr. Hi", 3: "Mr. Hi", 33: "Officer", 32: "Officer", 31: "Officer"}
    >>> clf = iso.NodeClassifier().fit(club, seeds)
    >>> clf.labels_[[4, 14]].tolist()
    ['Mr. Hi', 'Officer']
    """

    def __init__(
        self,
        decision: "DecisionName" = "balanced",
        class_weight: Mapping[Any, float] | None = None,
        solver: "SolverName" = "auto",
        tol: float | None = DEFAULT_TOL,
        max_iter: int | None = None,
        side: "SideName" = "edges",
        engine: "EngineName" = "local",
        n_threads: int | None = None,
        max_memory: int | None = None,
        threshold: Literal["auto"] | float | None = "auto",
        verbose: bool = False,
        class_sizes: Mapping[Any, float] | None = None,
    ) -> None:
        self.decision = decision
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.side = side
        self.engine = engine
        self.n_threads = n_threads
        self.max_memory = max_memory
        self.threshold = threshold
        self.verbose = verbose
        self.class_sizes = class_sizes

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        seed_weight: Any = None,
        features: Any = None,
        feature_table: "FeatureTable | None" = None,
        evidence: "EvidenceName | Opinion | Evidence | None" = "auto",
        progress: Progress | None = None,
    ) -> Self:
        """Label the nodes of a graph.

        Parameters
        ----------
        X, y, seed_weight, progress
            The graph, its seeds, and how far these are trusted; see :meth:`DirichletClassifier.fit`.
        features : data frame, dict of columns, array, sparse matrix or ``{node: row}``, optional
            What is known about the nodes besides links: a row for each, by position, or by node id if ids are the
            index of a data frame or one of its columns. Columns may hold numbers, dates, categories and texts, with
            gaps; see :class:`FeatureTable`. Rows of other nodes are left out, with a warning. For a bipartite graph,
            the rows may be for one side only. See docs/evidence.md.
        feature_table : FeatureTable, optional
            How the columns are to be read, if not as by default.
        evidence : {"auto", "spectral", "compatibility", None}, array, data frame or mapping
            Probabilities of the classes by another model, a row for each node and a column for each class, NaN where it
            has none; the columns of a data frame are named by the classes. Or "spectral" to go by the spectrum of the
            graph and the degrees of its nodes too. This is the default, unless nodes times classes exceed fifty
            million, which gives a warning. Or "compatibility" to learn besides which classes are neighbours of which,
            for graphs whose links join different classes. None to go by heat (and features) alone.
        """
        with self._turn:
            settings = self.settings
            graph, seeds = self._graph_and_seeds(X, y, seed_weight)
            known = self._read_evidence(features, evidence, graph, seeds, feature_table)
            if graph.kinds:
                graph = self._weighed(graph, seeds, known)
                known = None if known is None else known.on(graph)
            self.seed_columns_ = {}
            self.feature_source_ = _described(known)
            return self._fit(graph, seeds, settings, progress, evidence=known)

    def update(
        self,
        add: Mapping[Any, Any] | None = None,
        remove: Iterable[Any] = (),
        *,
        features: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Label the nodes again after a change of the seeds; see :meth:`DirichletClassifier.update`.

        Parameters
        ----------
        add, remove, progress
            As in :meth:`DirichletClassifier.update`.
        features
            As for :meth:`fit`, for a model that was loaded from a file: it holds no features. Without it, features are
            those of the fit.
        """
        return self._update(add, remove, progress, features)

    def _weighed(self, graph: Graph, seeds: Seeds, evidence: Evidence | None) -> Graph:
        """The graph with a weight for each kind of edges."""
        settings = self.settings
        if not has_probabilities(graph, seeds, settings):
            raise ParameterError(
                f"kinds of edges cannot be weighed here, since {why_heat_alone(seeds)}: leave them out"
            )
        from isotherm.probability.kind_weights import weigh_kinds  # few graphs have kinds

        return weigh_kinds(graph, seeds, settings.side, settings.solving, evidence)

    def _read_evidence(
        self, features: Any, evidence: Any, graph: Graph, seeds: Seeds, how: "FeatureTable | None" = None
    ) -> Evidence | None:
        if has_probabilities(graph, seeds, self.settings):
            return read_evidence(features, evidence, graph, seeds, how)
        if features is None and (evidence is None or isinstance(evidence, str | Evidence)):  # as by default
            return None
        reason = why_heat_alone(seeds)
        message = "{features} and {evidence} cannot be used here, since {reason}: leave them out"
        raise ParameterError(message, features=Option("features"), evidence=Option("evidence"), reason=reason)

    def _evidence_for(self, seeds: Seeds, features: Any = None) -> Evidence | None:
        fit, evidence = self._fitted, self.fitted_.evidence
        if features is not None:
            if evidence is None and not OTHER_TABLES.isdisjoint(fit.experts):
                raise self._without_features()
            structure = SPECTRAL if "spectrum" in fit.experts else None
            return self._read_evidence(features, structure, fit.graph, seeds, self.table_of_source())
        if isinstance(fit.rule, Rule):  # there were no probabilities, but there may be with these seeds
            return self._read_evidence(None, AUTO, fit.graph, seeds)
        if evidence is None and fit.odds is not None:  # loaded from a file
            if not set(fit.experts) <= STRUCTURAL:
                raise self._without_features()
            return Evidence(structure=Structure(fit.graph), compatibility=COMPATIBILITY in fit.experts)
        opinion = None if evidence is None else evidence.opinion
        if opinion is not None and opinion.shape[1] != seeds.n_classes:
            raise ParameterError("the classes have changed, and evidence has a column for each class: fit again")
        return evidence

    def _besides(self) -> dict[str, Any]:
        fit = self._fitted
        loaded = fit.evidence is None and fit.odds is not None
        return {} if loaded or isinstance(fit.rule, Rule) else {"evidence": fit.evidence}

    def table_of_source(self) -> "FeatureTable | None":
        """How the columns of features were read when the model was saved; None if they were numbers."""
        from isotherm.io.feature_table import FeatureTable

        given = {name: value for name, value in self.feature_source_.items() if name not in ("file", "id")}
        return FeatureTable(**given) if given else None

    def _without_features(self) -> ParameterError:
        """The error that asks for the features of a saved model."""
        if not OTHER_TABLES.isdisjoint(self._fitted.experts):
            return ParameterError("a saved model does not hold the evidence that it was fitted on: fit it again")
        columns = self.feature_source_.get("columns", ())
        file = self.feature_source_.get("file")
        what = f" {', '.join(map(str, columns))}" if columns else ""
        what += f" of {file}" if file else ""
        message = (
            "a saved model does not hold the features{what} that it was fitted on: give them again with {features}"
        )
        return ParameterError(message, what=what, features=Option("features", file or ...))

    @property
    def feature_table_(self) -> "FeatureTable | None":
        """How the columns of features were read; None without features, or if they were an array of numbers."""
        evidence = self._fitted.evidence
        return None if evidence is None else evidence.table

    @property
    def column_influence_(self) -> dict[str, dict[str, float]]:
        """The influence of each feature column on each expert, as a share of all columns; empty if there are none.

        Influence is measured by a linear function of the columns, fitted to the log-odds of each expert.
        """
        from isotherm.insight.influence import Influence

        found = Influence.of(self._fitted)
        return {} if found is None else found.shares

    @property
    def kind_weights_(self) -> dict[str, float]:
        """The mean weight of the edges of each kind, by its name."""
        return dict(self._fitted.graph.kind_weights or {})

    @property
    def experts_(self) -> dict[str, float]:
        """The weight of each expert, by its name."""
        return self._fitted.experts


def _described(evidence: Evidence | None) -> dict[str, Any]:
    """The columns of features, and how they were read, for a model that is saved; empty if there are none."""
    table = None if evidence is None else evidence.table
    if table is None:
        return {}
    given = {name: getattr(table, name) for name in ("text", "decimal", "thousands")}
    columns = tuple(column.name for column in table.columns_ if column.width and column.name != table.text)
    return {"columns": columns, **{name: value for name, value in given.items() if value}}


def classifier_by(rule: str, **parameters: Any) -> GraphClassifier:
    """An unfitted classifier by the name of a decision on probabilities, or of a rule on temperatures.

    >>> classifier_by("probable"), classifier_by("vanilla", tol=1e-6)
    (NodeClassifier(decision='probable'), DirichletClassifier(rule='vanilla', tol=1e-06))
    """
    from isotherm.dirichlet_classifier import DirichletClassifier

    if rule in DECISIONS:
        return NodeClassifier(cast("DecisionName", rule), **parameters)
    return DirichletClassifier(cast("RuleName", rule), **parameters)


def load(path: str | os.PathLike[str], *, n_threads: int | None = None) -> GraphClassifier:
    """Read a classifier that was saved with its method ``save``; it gives the same answers.

    Parameters
    ----------
    path : path
        The file.
    n_threads : int, optional
        With how many threads to explain, suggest and update; by default as many as the fit was made with.

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
    from isotherm.labelling.saving import load_model  # with the readers of files, which few fits need

    clf, saved = load_model(path, _with_parameters)
    fit = saved.fit
    if n_threads is not None:
        clf.set_params(n_threads=n_threads)
        fit = replace(fit, settings=Settings.of(**fit.settings.parameters | {"n_threads": n_threads}))
    with muted(CalibrationWarning):  # `save` has warned
        fit.warn_about_few()
    if saved.feature_names is not None:
        clf.feature_names_in_ = saved.feature_names
    clf.seed_columns_ = saved.seed_columns or {}
    if isinstance(clf, NodeClassifier):
        clf.feature_source_ = dict(saved.feature_source or {})
    return clf._hold(fit)


def _with_parameters(parameters: Mapping[str, Any]) -> GraphClassifier:
    from isotherm.dirichlet_classifier import DirichletClassifier

    return (NodeClassifier if "decision" in parameters else DirichletClassifier)(**parameters)


def explore(
    graph: Any,
    seeds: Any = None,
    *,
    classifier: GraphClassifier | None = None,
    features: Any = None,
    log: str | os.PathLike[str] | None = None,
    port: int = 0,
    browser: bool = True,
    name: str = "graph",
) -> None:
    """Open a graph in the browser, to look at it and to label its nodes; ends with Ctrl-C. See docs/explore.md.

    Parameters
    ----------
    graph : Graph, sparse or dense adjacency matrix, networkx or igraph graph
        The graph.
    seeds : mapping, array or Series, optional
        Known labels, as for `NodeClassifier.fit`. Without any, the page asks for the names of the classes.
    classifier : NodeClassifier or DirichletClassifier, optional
        The classifier that labels the graph; only its parameters are used, not its fit.
    features : data frame, dict of columns, array, sparse matrix or ``{node: row}``, optional
        As for :meth:`NodeClassifier.fit`.
    log, port, browser, name
        As in :meth:`NodeClassifier.explore`.
    """
    from isotherm.page.open_page import PageOptions, certain_seeds, open_page  # few need the page

    network = as_graph(graph)
    known = {} if seeds is None else certain_seeds(as_seeds(seeds, network, None), network)
    known_besides = {} if features is None else {"features": features}
    options = PageOptions(port=port, browser=browser, log=log, name=name, known=known_besides)
    open_page(network, known, NodeClassifier() if classifier is None else classifier, options)
