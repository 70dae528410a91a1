"""The Dirichlet classifier: section 3 of the paper, as a scikit-learn estimator.

For each class k, the seeds of the class are held at temperature 1 and all other seeds at 0. The temperatures X of the
other nodes at equilibrium solve the Dirichlet problem (section 2, `isotherm.equilibrium.harmonic`). Let

    mean_k = the mean temperature of class k over the nodes that a seed reaches.

Algorithm 1 gives node i the class with the largest

    X_ik - mean_k,

which is ``rule="centered"``, the default. The paper compares it with the largest X_ik (``"vanilla"``) and with
class-mass normalisation (``"weighted"``). By its argument X_ik / mean_k (``"relative"``) is consistent too.
"""

from typing import TYPE_CHECKING, Any, Literal, Self

from isotherm.arrays import Mask
from isotherm.equilibrium.options import DEFAULT_TOL, Progress
from isotherm.graph_classifier import GraphClassifier

if TYPE_CHECKING:
    from isotherm.choices import EngineName, RuleName, SideName, SolverName, StopName


class DirichletClassifier(GraphClassifier):
    """Labels all nodes of a graph by their temperatures: the classifier of the paper, and nothing else.

    By default it is Algorithm 1 at equilibrium. To get the best labels, use :class:`NodeClassifier`, which learns
    probabilities from heat, structure and features.

    Parameters
    ----------
    rule : {"centered", "relative", "vanilla", "weighted"}
        How temperatures are compared. ``centered`` is Algorithm 1 of the paper: the temperature minus the mean of its
        class; ``relative`` divides by the mean; ``vanilla`` takes the temperatures as they are; ``weighted`` is
        class-mass normalisation.
    solver : {"auto", "cg", "direct", "elimination", "sweeps"}
        How equilibrium is found; ``auto`` chooses by the graph.
    tol : float or None
        Largest error of a temperature, relative to the spread (standard deviation) of the temperatures of its class. At
        1e-3, roughly one label in a thousand could still change. None for exactly ``max_iter`` iterations, as in
        ``solver="sweeps", tol=None, max_iter=10``, the setting of the paper's experiments.
    max_iter : int, optional
        Most iterations allowed.
    side : {"source", "both", "edges", "along"}
        How a directed graph is read. ``source`` is the paper's way: a bipartite graph of 2n nodes, with seeds and
        labels on the source copies. ``both`` holds seeds on both copies and averages their scores. ``edges`` ignores
        the direction of arcs. ``along`` follows them: a node has the mean temperature of the nodes that it points to.
    engine, n_threads : {"local", "dask"}, int or None
        Where to solve, here or on the Dask cluster of the current `distributed.Client` (see docs/cluster.md), and with
        how many threads; by default ``ISOTHERM_THREADS``, or all cores.
    max_memory : int, optional
        Bytes that temperatures, scores and probabilities may take; by default a quarter of the machine's memory. With
        more classes than that, only the best few scores of each node are kept.
    calibration : {"auto", None}
        Whether probabilities are calibrated on hidden seeds, at the cost of one to three more solves on first use, or
        are the softmax of the scores. Labels do not depend on it.
    stop : {"error", "labels"}
        When to end: as soon as the error is below ``tol``, or as soon as enough labels are certified.
    open_share : float
        With ``stop="labels"``, the share of the labels that need not be certified.
    threshold : {"auto"}, float or None
        Where seeds have several labels each: the temperature above which a node has a label. None for the threshold of
        the rule; "auto" shifts it for all labels so that hidden seeds get theirs back, which takes a few more solves.
    verbose : bool
        Whether `fit` and `update` show their progress: a bar on a terminal and in notebooks, else lines.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), or csr_array of bool of shape (n, L)
        One label per node, in the order of the graph's nodes; unreached nodes have -1 (int labels) or None (str, bool).
        Where seeds have several labels each, an indicator matrix.
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
        Probability of the label: 1 at seeds, 0 where unreached. Like all below, it is computed on first use.
    calibration_ : Calibration or None
        How temperatures become probabilities.
    certified_ : ndarray of bool, shape (n,)
        Nodes whose label is certainly the same at exact equilibrium, by a bound on the errors of temperatures.

    Examples
    --------
    >>> import isotherm as iso
    >>> square = iso.Graph.from_edges(["a", "b", "c", "d"], ["b", "c", "d", "a"], weight=[3, 1, 3, 1])
    >>> clf = iso.DirichletClassifier().fit(square, {"a": "hot", "c": "cold"})
    >>> clf.labels_.tolist()
    ['hot', 'hot', 'cold', 'cold']
    >>> clf.temperatures_[1]  # temperatures of "b" for the classes "cold" and "hot"
    array([0.25, 0.75])
    """

    def __init__(
        self,
        rule: "RuleName" = "centered",
        solver: "SolverName" = "auto",
        tol: float | None = DEFAULT_TOL,
        max_iter: int | None = None,
        side: "SideName" = "source",
        engine: "EngineName" = "local",
        n_threads: int | None = None,
        max_memory: int | None = None,
        calibration: Literal["auto"] | None = "auto",
        stop: "StopName" = "error",
        open_share: float = 0.05,
        threshold: Literal["auto"] | float | None = "auto",
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
        self.verbose = verbose

    def fit(self, X: Any, y: Any, *, seed_weight: Any = None, progress: Progress | None = None) -> Self:
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
        progress : callable, optional
            Called after each iteration with its number and the present error, to be compared with ``tol``.
        """
        with self._turn:
            settings = self.settings
            graph, seeds = self._graph_and_seeds(X, y, seed_weight)
            self.seed_columns_ = {}
            return self._fit(graph, seeds, settings, progress)

    @property
    def certified_(self) -> Mask:
        """(n,) nodes whose label is certainly the same at exact equilibrium."""
        from isotherm.labelling.certification import certified  # few fits need it

        return certified(self._fitted)
