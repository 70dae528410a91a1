"""What both classifiers of graphs share: their results, and all that can be done with a fit."""

import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from contextlib import AbstractContextManager
from threading import Lock, RLock
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, Self, get_args, overload
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, column_or_1d

from isotherm.arrays import Doubles, Floats, Mask
from isotherm.equilibrium.options import Progress
from isotherm.equilibrium.solvers import Solution
from isotherm.errors import check_choice
from isotherm.graphs import Graph
from isotherm.graphs.other_libraries import node_attribute
from isotherm.labelling.fit import Fit
from isotherm.labelling.fit import fit as fit_graph
from isotherm.labelling.inputs import WholeGraph, filled, graph_and_labels, new_edges, nodes_in
from isotherm.labelling.label_sets import LabelSets
from isotherm.labelling.outcomes import BestScores
from isotherm.labelling.settings import Settings
from isotherm.probability.calibration import Calibration
from isotherm.probability.evidence import Evidence
from isotherm.seeds import Seeds, as_seeds
from isotherm.seeds.encoding import Labels, encode_labels, has_index
from isotherm.seeds.known import changed_seeds

if TYPE_CHECKING:  # what few fits need is imported by the methods that need it
    import pandas as pd
    import polars as pl

    from isotherm.choices import FrameName, SuggestPolicy
    from isotherm.insight.doubt import DoubtfulSeeds
    from isotherm.insight.explanation import Explainer, Explanation

LOGGER = logging.getLogger("isotherm")

# The lock of each classifier. It is kept outside of the classifier, so that this can be pickled and copied.
_TURNS: WeakKeyDictionary["GraphClassifier", AbstractContextManager[bool]] = WeakKeyDictionary()
_NEW_TURN = Lock()


class GraphClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A scikit-learn classifier whose samples are the nodes of a graph, and whose state is one `Fit`."""

    fitted_: Fit
    seed_columns_: Mapping[str, str]
    tol: float | None
    verbose: bool

    @property
    def settings(self) -> Settings:
        """The parameters, validated."""
        return Settings.of(**self.get_params())

    @abstractmethod
    def fit(self, X: Any, y: Any, *, seed_weight: Any = None, progress: Progress | None = None) -> Self:
        """Label the nodes of a graph."""

    @property
    def _turn(self) -> AbstractContextManager[bool]:
        """Held while the fit changes, so that threads take turns."""
        with _NEW_TURN:
            return _TURNS.setdefault(self, RLock())

    def _graph_and_seeds(self, X: Any, y: Any, seed_weight: Any) -> tuple[Graph, Seeds]:
        graph, labels, weight = graph_and_labels(self, X, y, seed_weight)
        seeds = as_seeds(labels, graph, weight)
        seeds.warn_about_rare()
        return graph, seeds

    def _fit(
        self,
        graph: Graph,
        seeds: Seeds,
        settings: Settings,
        progress: Progress | None,
        *,
        evidence: Evidence | None = None,
        before: Fit | None = None,
    ) -> Self:
        began = perf_counter()
        if progress is not None or not self.verbose:
            fit = fit_graph(graph, seeds, settings, evidence, before=before, progress=progress)
        else:
            from isotherm.labelling.progress import error_bar

            with error_bar(self.tol) as bar:
                fit = fit_graph(graph, seeds, settings, evidence, before=before, progress=bar)
        if LOGGER.isEnabledFor(logging.INFO):
            from isotherm.labelling.report import Report  # few log

            Report.of(fit, type(self).__name__, {"total": perf_counter() - began}).log()
        return self._hold(fit)

    def _hold(self, fit: Fit) -> Self:
        """Store a fit."""
        self._explainer: Explainer | None = None
        self.fitted_ = fit
        self.n_features_in_ = fit.graph.n_nodes
        self.n_iter_ = max(1, fit.outcome.solution.iterations)
        return self

    def update(
        self, add: Mapping[Any, Any] | None = None, remove: Iterable[Any] = (), *, progress: Progress | None = None
    ) -> Self:
        """Label the nodes again after a change of the seeds, from the present temperatures.

        Temperatures are the same as after a new `fit`, to ``tol``; a change of a few seeds takes a fraction of its
        time. What hidden seeds taught about probabilities is kept until more than one seed in twenty has changed since
        then, or the classes have, unless there are features; see docs/labelling.md. Call `fit` to learn everything
        again.

        Parameters
        ----------
        add : mapping, optional
            ``{node: label}``: new seeds, also of new classes, or new labels of seeds. They are certain.
        remove : iterable, optional
            Nodes that are no longer seeds. A class without seeds is dropped, unless seeds have sets of labels.
        progress : callable, optional
            As for `fit`.
        """
        return self._update(add, remove, progress)

    def _update(
        self, add: Mapping[Any, Any] | None, remove: Iterable[Any], progress: Progress | None, features: Any = None
    ) -> Self:
        with self._turn:
            before = self._fitted
            seeds = changed_seeds(before.seeds, {} if add is None else add, remove, before.graph)
            seeds.warn_about_rare()
            evidence = self._evidence_for(seeds, features)
            return self._fit(before.graph, seeds, self.settings, progress, evidence=evidence, before=before)

    def _evidence_for(self, seeds: Seeds, features: Any = None) -> Evidence | None:
        """The evidence of the present fit, for a fit with other seeds; features may be given again."""
        return None

    @property
    def _fitted(self) -> Fit:
        check_is_fitted(self)
        return self.fitted_

    @property
    def labels_(self) -> Labels:
        """One label per node, in the order of the graph's nodes, or an indicator matrix of sets of labels."""
        return self._fitted.outcome.labels

    @property
    def classes_(self) -> Labels:
        """(K,) the labels that occur among the seeds, sorted."""
        return self._fitted.seeds.classes

    @property
    def temperatures_(self) -> Floats:
        """(n, K) temperatures; NaN rows where unreached."""
        return self._fitted.outcome.temperatures

    @property
    def scores_(self) -> Floats:
        """(n, K) what the rule or the decision made of temperatures or probabilities."""
        return self._fitted.outcome.scores

    @property
    def reached_(self) -> Mask:
        """(n,) nodes that are connected to a seed."""
        return self._fitted.outcome.reached

    @property
    def thresholds_(self) -> NDArray[np.float64]:
        """(L,) the temperature above which a node has each label, where seeds have several labels each."""
        outcome = self._fitted.outcome
        if not isinstance(outcome, LabelSets):
            raise AttributeError("thresholds_ is for seeds with several labels each")
        return outcome.thresholds

    @property
    def best_classes_(self) -> NDArray[np.int32]:
        """(n, 5) places in `classes_` of the best scores, -1 for none, where all scores exceed ``max_memory``."""
        return self._best_scores("best_classes_").best_classes

    @property
    def best_scores_(self) -> NDArray[np.float64]:
        """(n, 5) the best scores, where all scores exceed ``max_memory``."""
        return self._best_scores("best_scores_").best_scores

    def _best_scores(self, name: str) -> BestScores:
        outcome = self._fitted.outcome
        if not isinstance(outcome, BestScores):
            raise AttributeError(f"{name} is for more classes than max_memory allows: use scores_")
        return outcome

    @property
    def solution_(self) -> Solution:
        """How equilibrium was found: solver, iterations, residual, error_bound, seconds, converged."""
        return self._fitted.outcome.solution

    @property
    def rule_(self) -> str:
        """What decided the labels: the name of a rule on temperatures, or of a decision on probabilities."""
        return self._fitted.rule.name

    @property
    def graph_(self) -> Graph:
        """The graph."""
        return self._fitted.graph

    @property
    def seeds_(self) -> Seeds:
        """The seeds."""
        return self._fitted.seeds

    @property
    def confidence_(self) -> Doubles:
        """(n,) the probability of each label: 1 at seeds, 0 where unreached.

        Where nodes may have several labels, a sparse matrix (n, L).
        """
        return self._fitted.confidence

    @property
    def calibration_(self) -> Calibration | None:
        """How temperatures become probabilities; None if they are the softmax of the scores."""
        fit = self._fitted
        fit.one_label("calibration_")
        return None if fit.settings.calibration is None else fit.calibration

    def predict(self, X: Any = None, *, unreached: Any = None) -> Labels:
        """The labels of the nodes, or of m new nodes with weights X (m, n) of edges to them.

        A new node has the mean temperature of its neighbours, and warms none of them. ``unreached`` is the label that
        unreached nodes get in place of -1 or None, such as "none": scikit-learn's metrics refuse None.
        """
        fit = self._fitted
        nodes, classes = nodes_in(X, fit.graph), fit.seeds.classes
        if X is None:
            labels = fit.outcome.labels
        else:
            labels = fit.new_labels(self._new_edges(X, fit)) if nodes is None else fit.outcome.labels[nodes]
        if unreached is not None:
            return filled(labels, classes, unreached)
        return X.comparable(labels, classes) if isinstance(X, WholeGraph) and not fit.outcome.several else labels

    def _new_edges(self, X: Any, fit: Fit) -> csr_array:
        """Edge weights (m, n) from new nodes to the nodes of the graph, without edges to unreached nodes."""
        return new_edges(self, X, fit.outcome.reached)

    def predict_proba(self, X: Any = None) -> Doubles:
        """Probabilities of the classes, of the nodes or of new nodes; see :meth:`predict`.

        A seed has probability 1 for its own class, an unreached node 0 for all. Where nodes may have several labels,
        each has a probability of its own. It is an array, unless :meth:`set_output` asks for a data frame.
        """
        fit = self._fitted
        nodes = nodes_in(X, fit.graph)
        if X is None or nodes is not None:
            places: Any = slice(None) if nodes is None else nodes
            found, names = fit.probabilities(), fit.graph.nodes[places]
            found = found if nodes is None else found[nodes]
        else:
            found, names = fit.probabilities(self._new_edges(X, fit)), None
        container = getattr(self, "_sklearn_output_config", {}).get("transform", "default")
        if container == "default":
            return found
        from isotherm.labelling.exports import contained

        return contained(container, found, fit.seeds.classes.tolist(), names)

    def predict_set(self, coverage: float = 0.9) -> Mask:
        """The prediction sets (n, K) of plausible classes: a share ``coverage`` of the sets contains the right class.

        This holds on average over nodes that are drawn as the seeds were, by split-conformal prediction on hidden
        seeds. With too few of them, and at unreached nodes, sets have all classes; a seed has its own class only. Where
        no class is probable enough, a set is empty.
        """
        return self._fitted.prediction_sets(coverage)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the known labels y that :meth:`predict` of X finds; an unreached node counts as wrong.

        If X is the graph of the fit, y may also be ``{node: label}``, or the name of an attribute of its nodes. Seeds
        count too, if y has labels for them.
        """
        if isinstance(y, str):
            y = node_attribute(X, y)
        if isinstance(y, Mapping):
            X, y = self._only(X, y)
        if self._fitted.outcome.several:
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
        if nodes_in(X, self.graph_) is None:
            raise TypeError("labels by node need the graph of the fit: pass it as X")
        return WholeGraph(self.graph_, self.graph_.index(list(labels))), list(labels.values())

    def explain(self, node: Any, *, top: int | None = None) -> "Explanation":
        """The seeds that heat a node, with shares that add up to 1: a table of "seed", "label" and "share".

        With ``top``, only the seeds with the largest shares.
        """
        if not isinstance(node, Hashable):
            raise TypeError(f"explain takes one node, not {type(node).__name__}: give several to explain_many(nodes)")
        return self.explain_many([node], top=top)[0]

    def explain_many(self, nodes: Iterable[Any], *, top: int | None = None) -> "list[Explanation]":
        """The seeds that heat each of some nodes, found for 16 nodes at once; see :meth:`explain`."""
        from isotherm.insight.explanation import Explainer

        with self._turn:  # the solver of an explainer serves one thread
            self._explainer = self._explainer or Explainer(self._fitted)  # prepares its solver once
            return self._explainer.explain(nodes, top=top)

    @overload
    def suggest(
        self,
        k: int = 10,
        *,
        policy: "SuggestPolicy" = "diverse",
        label: Any = None,
        among: Iterable[Any] | None = None,
        return_values: Literal[False] = False,
    ) -> NDArray[Any]: ...
    @overload
    def suggest(
        self,
        k: int = 10,
        *,
        policy: "SuggestPolicy" = "diverse",
        label: Any = None,
        among: Iterable[Any] | None = None,
        return_values: Literal[True],
    ) -> tuple[NDArray[Any], Doubles]: ...
    def suggest(
        self,
        k: int = 10,
        *,
        policy: "SuggestPolicy" = "diverse",
        label: Any = None,
        among: Iterable[Any] | None = None,
        return_values: bool = False,
    ) -> Any:
        """The k nodes most worth labelling next, the best first; never a seed. See docs/labelling.md.

        Parameters
        ----------
        k : int
            How many.
        policy : {"diverse", "uncertainty", "margin", "likely"}
            "diverse" saves the most labels: it takes nodes that are like many others but like no seed. "uncertainty"
            takes nodes that would mend many errors, "margin" those whose two best scores are closest. "likely" is for
            review queues: it takes the most probable members of one class, ``label``.
        label : label, optional
            With "likely", the class to look for.
        among : iterable, optional
            The nodes that can be labelled; by default all.
        return_values : bool
            Whether to return the value of each as well, to be compared with others of the same call.

        Examples
        --------
        >>> import isotherm as iso
        >>> star = iso.Graph.from_edges(["a", "b", "hub", "hub", "hub"], ["b", "hub", "x", "y", "z"])
        >>> iso.DirichletClassifier().fit(star, {"a": 0, "b": 1}).suggest(1)
        array(['hub'], dtype=object)
        """
        from isotherm.insight.suggestion import suggest_next

        fit = self._fitted
        chosen, values = suggest_next(fit, k, policy=policy, label=label, among=among)
        nodes = fit.graph.nodes[chosen]
        return (nodes, values) if return_values else nodes

    def doubtful_seeds(self, k: int | None = None) -> "DoubtfulSeeds":
        """The seeds whose given labels look wrong, and what they should probably be; the most doubtful first.

        The labels of seeds are hidden in turn, and compared with what the others say. See docs/labelling.md.

        Parameters
        ----------
        k : int, optional
            How many, whatever is more probable; by default all seeds for which another class is more probable.

        Examples
        --------
        >>> import networkx as nx
        >>> import isotherm as iso
        >>> ring = nx.circular_ladder_graph(20)
        >>> halves = {node: "left" if node % 20 < 10 else "right" for node in range(0, 40, 2)}
        >>> clf = iso.NodeClassifier().fit(ring, halves | {4: "right"})
        >>> clf.doubtful_seeds(1)["seed"].tolist()
        [4]
        """
        from isotherm.insight.doubt import doubtful_seeds

        return doubtful_seeds(self._fitted, k, evidence=self._evidence_for)

    def to_polars(self, *, probabilities: bool = False, temperatures: bool = False) -> "pl.DataFrame":
        """The results as a data frame of polars: the columns of `isotherm.write_labels`.

        Columns are node, label and confidence, and on request ``p_<class>`` and ``t_<class>``. A node that has no label
        has null. For a graph of rows and columns, ``side`` says which a node is. Where nodes may have several labels,
        there is a row for each label.

        Examples
        --------
        >>> import isotherm as iso
        >>> rod = iso.Graph.from_edges(["a", "b"], ["b", "c"])
        >>> clf = iso.DirichletClassifier(calibration=None, rule="vanilla").fit(rod, {"a": "hot", "c": "cold"})
        >>> clf.to_polars()["label"].to_list()
        ['hot', 'cold', 'cold']
        """
        from isotherm.labelling.exports import to_polars

        return to_polars(self._fitted, probabilities, temperatures)

    def to_pandas(self, *, probabilities: bool = False, temperatures: bool = False) -> "pd.DataFrame":
        """The results as a data frame of pandas, with the columns of `to_polars`."""
        from isotherm.labelling.exports import to_pandas

        return to_pandas(self._fitted, probabilities, temperatures)

    def to_networkx(self, G: Any = None, *, label: str = "label", confidence: str = "confidence") -> Any:
        """A copy of a networkx graph with the results as attributes of its nodes.

        Parameters
        ----------
        G : networkx graph, optional
            The graph of the fit; without it a new one is made, in which the rows of a biadjacency matrix have
            ``bipartite=0`` and its columns 1.
        label, confidence : str
            The names of the attributes. A node without a label has no such attribute. Where nodes may have several
            labels, they are lists.

        Examples
        --------
        >>> import networkx as nx
        >>> import isotherm as iso
        >>> club = nx.karate_club_graph()
        >>> clf = iso.DirichletClassifier(calibration=None).fit(club, {0: "Mr. Hi", 33: "Officer"})
        >>> clf.to_networkx(club).nodes[8]["label"]
        'Officer'
        """
        from isotherm.labelling.exports import to_networkx

        return to_networkx(self._fitted, G, label, confidence)

    def to_igraph(self, G: Any = None, *, label: str = "label", confidence: str = "confidence") -> Any:
        """A copy of an igraph graph with the results as attributes of its vertices; see `to_networkx`.

        A vertex without a label has None.
        """
        from isotherm.labelling.exports import to_igraph

        return to_igraph(self._fitted, G, label, confidence)

    def set_output(self, *, transform: "FrameName | None" = None) -> Self:
        """Choose what `predict_proba` gives: arrays ("default"), or data frames of "pandas" or "polars".

        A data frame has a column for each class. As in scikit-learn, None changes nothing.
        """
        from isotherm.choices import FrameName

        if transform is not None:
            check_choice("transform", transform, get_args(FrameName))
            self._sklearn_output_config = {"transform": transform}
        return self

    def explore(
        self, *, log: str | os.PathLike[str] | None = None, port: int = 0, browser: bool = True, name: str = "graph"
    ) -> None:
        """Open the graph in the browser, to look at it and to label more nodes; ends with Ctrl-C. See docs/explore.md.

        Parameters
        ----------
        log : path, optional
            A file in which each label is kept as soon as it is given. Opened again, the page is where it was.
        port : int
            The port on this machine; by default a free one.
        browser : bool
            Whether to open a browser; the address is printed in any case.
        name : str
            What the page calls the graph.
        """
        from isotherm.page.open_page import PageOptions, certain_seeds, open_page  # few fits need the page

        fit, labeller = self._fitted, self.on_graph()
        options = PageOptions(port=port, browser=browser, log=log, name=name, known=labeller._besides())
        open_page(fit.graph, certain_seeds(fit.seeds, fit.graph), labeller, options, fitted=labeller)

    def _besides(self) -> dict[str, Any]:
        """The arguments of the present fit besides graph and seeds."""
        return {}

    def on_graph(self) -> "GraphClassifier":
        """A classifier of the same graph with the same fit: this one, unless it is fitted on a table."""
        return self

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "", force: bool = False) -> Any:
        """Draw the map of the graph: hue is the label, strength of colour the confidence, a ring a seed.

        Parameters
        ----------
        path : path, optional
            ``.png``, ``.svg`` or ``.pdf`` need matplotlib; ``.html`` is one file that can be panned and searched.
            Without a path, the matplotlib figure is returned.
        title : str
            Above the map.
        force : bool
            Whether to replace a file that exists.
        """
        from isotherm.page.picture import draw

        return draw(self, path, title=title, force=force)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Save what was fitted to an ``.npz`` file, to be used later without another solve; see :func:`isotherm.load`.

        The file holds no pickles, and appears when it is complete; with ``force`` it replaces one that exists. Node ids
        must be int, float, bool, str or tuples of these.
        """
        from isotherm.labelling.saving import Saved, save_model  # reads and writes files, which few fits need

        names, columns = getattr(self, "feature_names_in_", None), getattr(self, "seed_columns_", None)
        source = getattr(self, "feature_source_", None)
        save_model(path, Saved(self.get_params(), self._fitted, names, columns, source), force=force)
        self.fitted_.warn_about_few()

    def _html_repr(self) -> str:
        """What notebooks show: before the fit the parameters, as of any estimator; then what was found.

        The page of scikit-learn for a fitted estimator would read all attributes, and so compute the lazy ones.
        """
        if self.__sklearn_is_fitted__():
            from isotherm.labelling.exports import summary

            return summary(self.fitted_, repr(self))
        return str(super()._html_repr())

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
