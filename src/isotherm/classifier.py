"""The Dirichlet classifier: section 3 of the paper, as a scikit-learn estimator."""

import math
import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, check_non_negative, column_or_1d, validate_data

from isotherm.calibration import Calibration
from isotherm.certificate import Certificate, certify
from isotherm.confidence import Confidence
from isotherm.dirichlet import ConvergenceWarning
from isotherm.engines import get_engine
from isotherm.explanation import Explainer, Explanation
from isotherm.graph import as_graph
from isotherm.label_sets import LabelSets, any_seeds, has_label_sets
from isotherm.multilabel import Memberships, find_memberships, hide, warn_about_few
from isotherm.parameters import check_parameters
from isotherm.ranking import rank
from isotherm.revision import changed_seeds, warm_start
from isotherm.rules import apply_rule
from isotherm.saving import load_values, save_values
from isotherm.seeds import Seeds
from isotherm.selection import RuleScore
from isotherm.solvers import Progress, Solution
from isotherm.solvers.base import Floats
from isotherm.suggestion import check_wish, suggest

__all__ = ["DirichletClassifier", "load"]

DEFAULT_TOL = 1e-3
ROUGH_TOL = 1e-2  # of solves without some of the seeds
KEPT = ("temperatures_", "scores_", "certified_", "calibration_", "rule_report_", "best_rule_")
FOUND_LATER = ("_confidence", "_explainer", "_certificate")
BEST = ("best_classes_", "best_scores_")
SAVED = (
    "graph_",
    "seeds_",
    "solution_",
    "rule_",
    "_certificate",
    *BEST,
    "_best_confidence",
    "_memberships",
    "feature_names_in_",
)
CERTAIN_TOLS = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8)  # tried in turn with stop="labels"


class DirichletClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Labels all nodes of a graph from the labels of a few, the seeds.

    For each class, its seeds are held at temperature 1 and all other seeds at 0; heat spreads along the edges to
    equilibrium; each node takes the class whose temperature stands out most (Algorithm 1 of the paper).

    Parameters
    ----------
    rule : {"centered", "relative", "vanilla", "weighted", "auto"}
        How temperatures become scores; see :mod:`isotherm.rules`. ``auto`` takes the one that finds held-out seeds
        again best, which costs one to three more solves; see :mod:`isotherm.selection`.
    solver : {"auto", "cg", "direct", "elimination", "sweeps"}
        How equilibrium is found; ``auto`` is ``direct`` for small graphs, ``cg`` for graphs on which it is fast, and
        ``elimination`` for the others: grids, roads, long chains.
    tol : float or None
        Largest error of a temperature, relative to the spread (standard deviation) of the temperatures of its class:
        with 1e-3, about one label in a thousand is open. None for exactly ``max_iter`` iterations, as in
        ``solver="sweeps", tol=None, max_iter=10``, the setting of the paper's experiments.
    max_iter : int, optional
        Most iterations allowed.
    side : {"both", "source"}
        For directed graphs: whether seeds are held, and labels read, on both copies of a node or as source only.
    engine : {"local"}
        Where to solve.
    n_threads : int, optional
        Number of threads; by default ``ISOTHERM_THREADS``, or all cores.
    stop : {"error", "labels"}
        When to end: as soon as the error is below ``tol``, or as soon as enough labels are certified, whatever the
        error. The second costs less than a tolerance so small that labels cannot be wrong.
    open_share : float
        With ``stop="labels"``, the share of the labels that need not be certified.
    threshold : {"auto"}, float or None
        Where seeds have several labels each: the temperature above which a node has a label. None for that of the rule,
        as if each label were a problem of two classes; "auto" shifts it for all labels, such that seeds that are hidden
        get their labels back best, which takes a few more solves of at most 60 labels.
    max_memory : int, optional
        Bytes that temperatures, scores and probabilities may take; by default a quarter of the machine's memory. Where
        there are more classes than that, they are solved block after block, and of the scores only the best few of
        each node are kept: ``best_classes_`` and ``best_scores_`` instead of ``temperatures_`` and ``scores_``.
    calibration : {"auto", None}
        Whether probabilities are calibrated on held-out seeds, so that labels of confidence p are right in a share p
        of the cases; it costs one to three more solves on first use. With None they are the softmax of the scores.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), or csr_array of bool of shape (n, L)
        One label per node, in the order of the graph's nodes; unreached nodes have -1 (int labels) or None (str). Where
        seeds have several labels each, an indicator matrix.
    classes_ : ndarray of shape (K,)
        The labels that occur among the seeds, sorted.
    temperatures_ : ndarray of shape (n, K)
        NaN rows where unreached.
    scores_ : ndarray of shape (n, K)
        What the rule made of the temperatures.
    confidence_ : ndarray of shape (n,), or csr_array of shape (n, L)
        Probability of the label: 1 at seeds, 0 where unreached. It is calibrated on first use, unless only the best
        scores were kept: then it is the softmax of the scores. Where seeds have several labels each, of each label.
    calibration_ : Calibration or None
        How temperatures become probabilities, fitted on first use.
    rule_ : str
        The rule that was used.
    rule_report_, best_rule_ : dict, str
        The macro-F1 of each rule on held-out seeds, and the rule that it speaks for, the one of ``rule="auto"``; found
        on first use.
    thresholds_ : ndarray of shape (L,)
        Only where seeds have several labels each: the temperature above which a node has the label.
    best_classes_, best_scores_ : ndarray of shape (n, 5)
        Only where all scores exceed ``max_memory``: the best of each node, as places in ``classes_`` (-1 for none).
    certified_ : ndarray of bool, shape (n,)
        Nodes whose label is certainly that of exact equilibrium, by a bound on the error of their temperatures. It is
        found on first use, by a few more sweeps; for a directed graph, by another solve.
    reached_ : ndarray of bool, shape (n,)
        Nodes that are connected to a seed.
    solution_ : Solution
        Solver, iterations, residual, error, error_bound, converged, seconds.
    graph_ : Graph
        The graph as it was read.
    seeds_ : Seeds
        The seeds as they were read.

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

    labels_: Any
    classes_: NDArray[Any]
    temperatures_: Floats
    scores_: Floats
    reached_: NDArray[np.bool_]
    solution_: Solution
    _confidence: Confidence
    best_classes_: NDArray[np.int32]
    best_scores_: NDArray[np.float64]

    def __init__(
        self,
        rule: str = "centered",
        solver: str = "auto",
        tol: float | None = DEFAULT_TOL,
        max_iter: int | None = None,
        side: str = "both",
        engine: str = "local",
        n_threads: int | None = None,
        max_memory: int | None = None,
        calibration: str | None = "auto",
        stop: str = "error",
        open_share: float = 0.05,
        threshold: str | float | None = "auto",
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

    def fit(self, X: Any, y: Any, *, seed_weight: Any = None, progress: Progress | None = None) -> Self:
        """Label the nodes of a graph.

        Parameters
        ----------
        X : Graph, sparse or dense adjacency matrix, networkx or igraph graph
            The graph. A matrix must be symmetric; for a directed graph use ``Graph.from_scipy(X, directed=True)``.
        y : mapping, array or Series
            The seeds: ``{node: label}``, or one label per node with -1, None or NaN where unknown. In a mapping a label
            may also be a distribution, ``{node: {label: probability}}``, or a set, if a node can have several labels or
            none, ``{node: {label, ...}}``. So it can by an indicator matrix of shape (n, L), sparse or dense, in which
            a row without entries is that of an unknown node.
        seed_weight : float, mapping or array, optional
            How far seeds are trusted: ``{node: weight}`` (the others are certain), or one weight for each node, or one
            for all seeds. A seed of weight w counts w times as much as its neighbours together; by default infinitely
            many times, and it is held at the temperatures of its label. With weight 0 it is no seed.
        progress : callable, optional
            Called after each iteration with its number and the present error, to be compared with ``tol``.
        """
        check_parameters(**self.get_params())
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        graph = as_graph(self._matrix(X) if _is_matrix(X) else X)
        flat = getattr(y, "ndim", 1) == 2 and not has_label_sets(y)
        seeds = any_seeds(column_or_1d(y, warn=True) if flat else y, graph, seed_weight)
        seeds.warn_about_rare()
        self.graph_ = graph
        return self._solve(seeds, start=None, progress=progress)

    def update(
        self, add: Mapping[Any, Any] | None = None, remove: Iterable[Any] = (), *, progress: Progress | None = None
    ) -> Self:
        """Label the nodes again after a change of the seeds, from the present temperatures.

        The result is that of a new `fit`, to ``tol``.

        Parameters
        ----------
        add : mapping, optional
            ``{node: label}``: new seeds, also of new classes, or new labels of seeds; as for `fit`, a label may be a
            distribution, and is a set where seeds have sets. They are certain; seeds that stay keep their weights.
        remove : iterable, optional
            Nodes that are seeds no more; a class without seeds is dropped, unless seeds have sets of labels.
        progress : callable, optional
            As for `fit`.
        """
        check_is_fitted(self)
        seeds = changed_seeds(self.seeds_, {} if add is None else add, remove, self.graph_)
        seeds.warn_about_rare()
        warm = self.tol is not None and "temperatures_" in self.__dict__
        start = warm_start(self.temperatures_, self.seeds_, seeds) if warm else None
        return self._solve(seeds, start=start, progress=progress)

    def _solve(self, seeds: Seeds, *, start: Floats | None, progress: Progress | None) -> Self:
        for name in (*FOUND_LATER, "_memberships", *KEPT, *BEST):
            self.__dict__.pop(name, None)
        self.seeds_ = seeds
        options = {**self._options, "start": start, "progress": progress}
        if isinstance(seeds, LabelSets):
            self._fit_label_sets(seeds, options)
        elif self.stop == "labels":
            self._fit_until_certain(options)
        elif self._needed_memory() <= self._allowed_memory():
            self._fit_all(options)
        else:
            self._fit_in_blocks(options)
        self._count()
        return self

    def _count(self) -> None:
        """What scikit-learn asks of every classifier."""
        self.classes_ = self.seeds_.classes
        self.n_features_in_ = self.graph_.n_nodes
        self.n_iter_ = max(1, self.solution_.iterations)

    @property
    def _options(self) -> dict[str, Any]:
        return {
            "side": self.side,
            "solver": self.solver,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "n_threads": self.n_threads,
        }

    def _fit_all(self, options: dict[str, Any]) -> None:
        seeds = self.seeds_
        options = {"weights": seeds.weights, **options}
        self._take(get_engine(self.engine).solve(self.graph_, seeds.nodes, seeds.values(), **options))

    def _fit_until_certain(self, options: dict[str, Any]) -> None:
        """Lower the tolerance until enough labels are certified."""
        iterations = 0
        for tol in CERTAIN_TOLS:
            self._fit_all(options | {"tol": tol})
            iterations += self.solution_.iterations
            certificate = self._certificate = self._certify()
            self._take(
                replace(
                    self.solution_,
                    temperatures=certificate.temperatures,
                    iterations=iterations,
                    error_bound=certificate.error_bound,
                )
            )
            unknown = np.count_nonzero(self.reached_ & ~self.certified_)
            if unknown <= self.open_share * np.count_nonzero(self.reached_):
                return
            options["start"] = self.temperatures_
        share = unknown / np.count_nonzero(self.reached_)
        message = f"{share:.1%} of the labels are not certified: they may be ties; raise open_share={self.open_share:g}"
        warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def _take(self, solution: Solution, found: dict[str, Any] | None = None) -> None:
        """Draw the conclusions from a solution, and from what held-out seeds have told before."""
        self.solution_ = solution
        self.temperatures_ = solution.temperatures
        self.reached_ = ~np.isnan(self.temperatures_[:, 0])
        if found is None and "_confidence" in self.__dict__:
            found = self._confidence.found
        self._confidence = Confidence(
            self.graph_, self.seeds_, self.temperatures_, rule=self.rule, side=self.side, solve=self._solve_again
        )
        self._confidence.take(found or {})
        self.rule_ = self._confidence.rule
        self.scores_ = apply_rule(self.rule_, self.temperatures_, self.seeds_)
        self.labels_ = self._with_seeds(self._labels(self.scores_))

    def _solve_again(self, seeds: Seeds) -> Floats:
        """Temperatures with these seeds only: not as exact as with all, for what chance does to these is far more.

        With cg two and a third of the iterations are enough. A rough tolerance takes more, since cg must get to know
        the horizon; a start from the present temperatures would save none, and they know the labels that are hidden.
        """
        options = {"weights": seeds.weights, **self._options}
        if self.tol is not None and self.solution_.solver == "cg":
            options |= {"solver": "cg", "tol": None, "max_iter": 2 + math.ceil(self.solution_.iterations / 3)}
        elif self.tol is not None:
            options |= {"tol": max(self.tol, ROUGH_TOL), "start": self.temperatures_}
        return get_engine(self.engine).solve(self.graph_, seeds.nodes, seeds.values(), **options).temperatures

    def _fit_in_blocks(self, options: dict[str, Any]) -> None:
        if self.rule == "auto":
            size = self._needed_memory() / 2**30
            raise ValueError(
                f"rule='auto' needs all scores, which take {size:.1f} GB: choose a rule, or raise max_memory"
            )
        self.rule_ = self.rule
        ranking, self.solution_ = rank(get_engine(self.engine), self.graph_, self.seeds_, self.rule_, **options)
        self.best_classes_, self.best_scores_ = ranking.classes, ranking.scores
        self._best_confidence = ranking.confidence
        held = self.seeds_.take(self.seeds_.held)
        self._best_confidence[held.nodes] = held.certainty
        self._take_best()

    def _take_best(self) -> None:
        """Draw the conclusions from the best scores."""
        best = self.best_classes_[:, 0].astype(np.int64)
        self.reached_ = best >= 0
        self.labels_ = self._with_seeds(self.seeds_.decode(best))

    def _fit_label_sets(self, seeds: LabelSets, options: dict[str, Any]) -> None:
        if self.stop == "labels":
            raise ValueError("stop='labels' is for seeds with one label each: use stop='error'")
        if self.rule == "auto":
            raise ValueError("rule='auto' is for seeds with one label each: choose a rule")
        self.rule_ = self.rule
        rule, threshold, memory = self.rule, self.threshold, self._allowed_memory()
        self._memberships = find_memberships(
            get_engine(self.engine), self.graph_, seeds, rule=rule, threshold=threshold, max_memory=memory, **options
        )
        self._take_memberships()

    def _take_memberships(self) -> None:
        """Draw the conclusions from the labels that were found."""
        found = self._memberships
        self.labels_, self.thresholds_ = found.labels, found.thresholds
        self.reached_, self.solution_ = found.reached, found.solution
        if found.kept:
            self.temperatures_, self.scores_ = found.solution.temperatures, found.scores

    def _with_odds(self) -> Memberships:
        """The labels that were found, with their probabilities, unless those are not wanted."""
        found, seeds = self._memberships, self.seeds_
        if self.calibration is None:
            return replace(found, odds=None)
        if found.odds is None and isinstance(seeds, LabelSets):
            hidden = hide(get_engine(self.engine), self.graph_, seeds, self.rule_, **self._options)
            found = self._memberships = replace(found, odds=hidden.odds)
        warn_about_few(found.odds)
        return found

    @property
    def _several(self) -> bool:
        """Whether a node may have several labels."""
        return "_memberships" in self.__dict__

    def _check_one_label(self, name: str, instead: str) -> None:
        if self._several:
            raise ValueError(f"{name} is for seeds with one label each: {instead}")

    @property
    def certified_(self) -> NDArray[np.bool_]:
        """Nodes whose label is certainly that of exact equilibrium."""
        check_is_fitted(self)
        self._check_one_label("certified_", "lower tol to be sure of the others")
        codes = self._certificate.labels(self.rule_, self.seeds_)
        return (codes >= 0) & (self.seeds_.decode(codes) == self.labels_)

    @cached_property
    def _certificate(self) -> Certificate:
        return self._certify()

    def _certify(self) -> Certificate:
        seeds = self.seeds_
        return certify(
            self.graph_,
            seeds.nodes,
            seeds.values(),
            self.temperatures_,
            weights=seeds.weights,
            side=self.side,
            solver=self.solver,
            tol=self.tol,
            n_threads=self.n_threads,
        )

    def _needed_memory(self) -> int:
        """Bytes of temperatures, scores and probabilities."""
        return 3 * 8 * self.graph_.n_nodes * self.seeds_.n_classes

    def _allowed_memory(self) -> int:
        if self.max_memory is not None:
            return self.max_memory
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4

    def __getattr__(self, name: str) -> Any:
        if name in KEPT and {"best_scores_", "_memberships"} & self.__dict__.keys():
            others = "labels_ and confidence_" if self._several else "best_classes_ and best_scores_"
            raise AttributeError(
                f"there is no {name}, since all scores would take {self._needed_memory() / 2**30:.1f} GB: use "
                f"{others}, or raise max_memory"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def predict(self, X: Any = None) -> Any:
        """The labels of the nodes, or of new nodes; an indicator matrix if they have several.

        Parameters
        ----------
        X : matrix of shape (m, n), optional
            Weights of the edges between m new nodes and the n nodes of the graph. A new node has the mean temperature
            of its neighbours, and warms none of them. By default the labels of the graph's own nodes are given.
        """
        check_is_fitted(self)
        return self.labels_ if X is None else self._labels(self._mean(self._weights(X), self.scores_))

    def predict_proba(self, X: Any = None) -> NDArray[np.float64]:
        """Probabilities of the classes, calibrated on held-out seeds; see :meth:`predict` and ``calibration``.

        A seed has probability 1 for its own class, an unreached node 0 for all. The label is what the rule says, which
        need not be the most probable class: rules favour rare classes, probabilities do not. If nodes have several
        labels, each has a probability of its own, by seeds that are hidden; without ``calibration``, its temperature.
        """
        check_is_fitted(self)
        temperatures = self.temperatures_  # says so if there were too many to keep
        weights = None if X is None else self._weights(X)
        if self._several:
            found = self._with_odds().probabilities
            return found(temperatures, self.seeds_) if weights is None else found(self._mean(weights, temperatures))
        if self.calibration is None:
            return self._softmax(weights)
        if weights is None:
            return self._confidence.probabilities
        return self._confidence.of_new_nodes(self._mean(weights, temperatures), weights)

    def _softmax(self, weights: csr_array | None) -> NDArray[np.float64]:
        if weights is not None:
            return _softmax(self._mean(weights, self.scores_))
        probabilities = _softmax(self.scores_)
        held = self.seeds_.take(self.seeds_.held)
        probabilities[held.nodes] = held.values()
        return probabilities

    @property
    def confidence_(self) -> Any:
        """Probability of the label of each node; if nodes have several labels, a sparse matrix of that of each."""
        if self._several:
            return self._with_odds().certainty(self.seeds_)
        if "best_scores_" in self.__dict__:
            return self._best_confidence
        held = self.seeds_.take(self.seeds_.held)
        codes = np.where(self.reached_, self.scores_.argmax(axis=1), 0)
        codes[held.nodes] = held.codes
        return np.take_along_axis(self.predict_proba(), codes[:, None], axis=1)[:, 0]

    def predict_set(self, coverage: float = 0.9) -> NDArray[np.bool_]:
        """For each node the classes that it may have: its own is among them with probability ``coverage``.

        This holds about, and on average over nodes that are drawn as the seeds were, by split-conformal prediction on
        held-out seeds. With too few of them for the coverage, and at unreached nodes, the sets have all classes.

        Parameters
        ----------
        coverage : float
            Share of the nodes whose class is to be in their set.

        Returns
        -------
        ndarray of bool, shape (n, K)
            Whether each class belongs to the set of each node. A seed has its own class only; where no class is
            probable enough, a set is empty.
        """
        check_is_fitted(self)
        if self.calibration is None:
            raise ValueError("prediction sets need held-out seeds, but calibration=None: set calibration='auto'")
        self.temperatures_  # noqa: B018 - says so if there were too many to keep
        return self._told("predict_set").sets(coverage)

    @property
    def calibration_(self) -> Calibration | None:
        """How temperatures become probabilities; None if they are the softmax of the scores."""
        return None if self.calibration is None else self._told("calibration_").calibration

    @property
    def rule_report_(self) -> dict[str, RuleScore]:
        """The macro-F1 of each rule on held-out seeds."""
        return self._told("rule_report_").rule_report

    @property
    def best_rule_(self) -> str:
        """The rule that held-out seeds speak for."""
        return self._told("best_rule_").best_rule

    def _told(self, name: str) -> Confidence:
        """What held-out seeds tell."""
        check_is_fitted(self)
        self._check_one_label(name, "hide some labels to see how well the others are found")
        return self._confidence

    def explain(self, node: Any, *, top: int | None = None) -> Explanation:
        """The seeds that heat a node, with shares that add up to 1.

        Parameters
        ----------
        node
            The id of a node.
        top : int, optional
            How many seeds to keep, those with the largest shares; by default all.

        Returns
        -------
        Explanation
            A table with the columns "seed", "label" and "share".
        """
        return self.explain_many([node], top=top)[0]

    def explain_many(self, nodes: Iterable[Any], *, top: int | None = None) -> list[Explanation]:
        """The seeds that heat each of some nodes, found for 16 nodes at once; see :meth:`explain`."""
        check_is_fitted(self)
        return self._explainer.explain(nodes, top=top)

    def suggest(
        self, k: int = 10, *, policy: str = "diverse", among: Iterable[Any] | None = None, return_values: bool = False
    ) -> Any:
        """The nodes most worth labelling next, the best first; never a seed.

        Parameters
        ----------
        k : int
            How many.
        policy : {"diverse", "uncertainty", "margin"}
            "diverse" takes nodes whose heat reaches far and that are like many others but like no seed, each as if
            those before were seeds, and gives rare classes their share. It saves the most labels. "uncertainty" counts
            what is reached by how likely its label is wrong, one node at a time; "margin" takes the nodes whose two
            best scores are closest.
        among : iterable, optional
            The nodes that can be labelled; by default all.
        return_values : bool
            Whether to give also what each is worth, to be compared with others of the same call; see docs/labelling.md.

        Returns
        -------
        ndarray of shape (k,)
            Node ids, to be labelled and given to `update`; fewer if there are no more.

        Examples
        --------
        >>> import isotherm as iso
        >>> star = iso.Graph.from_edges(["a", "b", "hub", "hub", "hub"], ["b", "hub", "x", "y", "z"])
        >>> iso.DirichletClassifier().fit(star, {"a": 0, "b": 1}).suggest(1)
        array(['hub'], dtype=object)
        """
        check_is_fitted(self)
        check_wish(k, policy)
        places = None if among is None else self.graph_.index(among)
        options: dict[str, Any] = {
            "policy": policy,
            "among": places,
            "groups": None if self._several else self._groups(),
        }
        if policy != "margin":
            options |= {"side": self.side, "n_threads": self.n_threads}
        chosen, values = suggest(self.graph_, self.seeds_.nodes, k, self._doubt(policy), **options)
        return (self.graph_.nodes[chosen], values) if return_values else self.graph_.nodes[chosen]

    def _groups(self) -> NDArray[np.int64]:
        """The number of the class that each node is taken for, one more for unreached nodes."""
        codes = (
            self.best_classes_[:, 0] if "best_classes_" in self.__dict__ else np.nan_to_num(self.scores_).argmax(axis=1)
        )
        groups = np.where(self.reached_, codes, self.seeds_.n_classes).astype(np.int64)
        groups[self.seeds_.nodes] = self.seeds_.codes
        return groups

    def _doubt(self, policy: str) -> NDArray[np.float64]:
        """How doubtful each label is, in the eyes of a policy; most of all where unreached."""
        if policy == "diverse":
            return np.ones(self.graph_.n_nodes)
        self._check_one_label(f"policy={policy!r}", "use policy='diverse'")
        if policy == "uncertainty":
            return 1 - self.confidence_
        scores = self.best_scores_ if "best_scores_" in self.__dict__ else self.scores_
        best = -np.partition(-np.nan_to_num(scores), 1, axis=1)[:, :2]
        return 1 - np.where(self.reached_, best[:, 0] - best[:, 1], 0).astype(np.float64)

    @cached_property
    def _explainer(self) -> Explainer:
        tol = DEFAULT_TOL if self.tol is None else self.tol
        return Explainer(self.graph_, self.seeds_, side=self.side, tol=tol, n_threads=self.n_threads)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Save what was fitted, to be used later without another solve; see :func:`isotherm.load`.

        Parameters
        ----------
        path
            The file, which ends in ``.npz``. It holds no pickles, and appears when it is complete.
        force : bool
            Whether to replace a file that exists.

        Raises
        ------
        FileError
            If the file cannot be written.
        TypeError
            If node ids are neither int, float, bool, str nor tuples of these.
        """
        check_is_fitted(self)
        fitted = {name: self.__dict__[name] for name in SAVED if name in self.__dict__}
        found = self._confidence.found if "_confidence" in self.__dict__ else {}
        save_values(path, {"found": found, "parameters": self.get_params(), **fitted}, force=force)

    def _restore(self, fitted: dict[str, Any]) -> Self:
        """Take what was saved, and draw the conclusions again."""
        found = fitted.pop("found", {})
        self.__dict__.update(fitted)
        if "_memberships" in fitted:
            self._take_memberships()
        elif "best_classes_" in fitted:
            self._take_best()
        else:
            self._take(self.solution_, found)
        self._count()
        return self

    def _with_seeds(self, labels: NDArray[Any]) -> NDArray[Any]:
        """The labels, those of held seeds as they were given, or most probable."""
        held = self.seeds_.take(self.seeds_.held)
        labels[held.nodes] = held.decode(held.codes)
        return labels

    def _labels(self, scores: Floats) -> Any:
        if self._several:
            return csr_array(scores > 0)
        codes = scores.argmax(axis=1)
        codes[np.isnan(scores[:, 0])] = -1
        return self.seeds_.decode(codes)

    def _weights(self, X: Any) -> csr_array:
        """The edges of new nodes to the reached ones, shape (m, n)."""
        weights = csr_array(self._matrix(X, reset=False), dtype=np.float64).multiply(self.reached_)
        return csr_array(weights)

    def _mean(self, weights: csr_array, values: Floats) -> NDArray[np.float64]:
        """Temperatures of new nodes, or scores: every rule commutes with taking means."""
        with np.errstate(invalid="ignore"):
            return (weights @ np.nan_to_num(values)) / weights.sum(axis=1)[:, None]

    def _matrix(self, X: Any, *, reset: bool = True) -> Any:
        """A matrix that has passed scikit-learn's checks."""
        formats = ("csr", "csc", "coo")
        X = validate_data(self, X, reset=reset, accept_sparse=formats, accept_large_sparse=True, dtype="numeric")
        check_non_negative(X, type(self).__name__)
        return X

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        return tags


def load(path: str | os.PathLike[str]) -> DirichletClassifier:
    """Read a classifier that was saved with :meth:`DirichletClassifier.save`.

    It has the graph, the seeds, the parameters and the temperatures, and gives the same answers as the one that was
    saved.

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
    values = load_values(path)
    return DirichletClassifier(**values.pop("parameters"))._restore(values)


def _is_matrix(value: Any) -> bool:
    return issparse(value) or isinstance(value, list) or hasattr(value, "__array__")


def _softmax(scores: Floats) -> NDArray[np.float64]:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True), dtype=np.float64)
    return np.nan_to_num(powers / powers.sum(axis=1, keepdims=True))
