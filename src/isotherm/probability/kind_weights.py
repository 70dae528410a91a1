"""Weights of the kinds of edges, found by hidden seeds.

Where edges are of several kinds, some may say much about classes and others nothing. So sets of weights are tried: the
better the probabilities by heat and structure tell the classes of hidden seeds, the better the weights. All kinds weigh
1 at first. They are lowered one at a time, those first that it helps most. The weight of a kind is the geometric mean
over all sets that were tried, each of which counts by its likelihood: where few seeds cannot tell kinds apart, their
weights stay close. No weight is 0: a node that only edges of a useless kind reach keeps a label.

A kind whose edges look as if they were drawn at random says nothing, and needs no seed to be found out: averages over
neighbours keep as much of random values as in a graph of the same degrees, whose edges are shuffled. Where this holds
for some kinds only, low weights of these are more likely before any seed is hidden.
"""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import softmax

from isotherm.arrays import Doubles
from isotherm.engines import engine_of
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem
from isotherm.graphs import Graph
from isotherm.graphs.colours import id_ranks
from isotherm.kernels.numbering import Words, mixed
from isotherm.probability.evidence import Evidence
from isotherm.probability.experts.expert import links
from isotherm.probability.experts.spectral import Structure
from isotherm.probability.learning import ROUGH_TOL, Panel, learn, rough_solver
from isotherm.probability.node_features import FeatureField
from isotherm.seeds import Seeds
from isotherm.seeds.hiding import hideable

LEVELS = (1.0, 0.1, 0.01, 0.001)  # mean weights of a kind that are tried
RANDOM = 2.0  # prior log-odds for a weight ten times lower, if the edges of a kind look random and others do not
ALIKE, UNLIKE = 0.08, 0.25  # changes of the logarithm of what random values keep: edges look random, or surely do not
SHUFFLES, COLUMNS = 8, 32  # shuffled graphs, and random values of each node
CHANCE = 2.0  # standard deviations of shuffled graphs that may be chance
STEPS = (2, 4)  # averages after which values are compared


def weigh_kinds(graph: Graph, seeds: Seeds, side: str, options: SolveOptions, evidence: Evidence | None) -> Graph:
    """The graph in which each kind of edges has the weight that hidden seeds suggest.

    Of the evidence, the structure of the graph counts; features do not, since they would take much of the time.
    """
    weights = {name: 1.0 for name, _ in graph.kinds}
    if len(weights) == 1 or not len(hideable(seeds.codes)):
        return graph.weigh_kinds(weights)
    trials = _Trials(graph, seeds, side, options, evidence)
    gains = {name: max(trials.score(weights | {name: level}) for level in LEVELS) for name in weights}
    for name in sorted(weights, key=lambda name: -gains[name]):
        weights[name] = max(LEVELS, key=lambda level: trials.score(weights | {name: level}))
    return graph.weigh_kinds(trials.mean())


def _scaled(weights: dict[str, float]) -> dict[str, float]:
    """The same weights, the largest of which is 1."""
    largest = max(weights.values())
    return {name: float(f"{weight / largest:.3g}") for name, weight in weights.items()}


class _Trials:
    """Log-likelihoods of the classes of hidden seeds, for sets of weights; each set is tried once."""

    def __init__(self, graph: Graph, seeds: Seeds, side: str, options: SolveOptions, evidence: Evidence | None) -> None:
        self.graph, self.seeds, self.side, self.evidence = graph, seeds, side, evidence
        self.names = [name for name, _ in graph.kinds]
        self.alike = graph.weigh_kinds(dict.fromkeys(self.names, 1.0))  # decides folds, which are always the same
        self.options = options if options.tol is None else replace(options, tol=max(options.tol, ROUGH_TOL))
        change = np.array([_structure(Graph(csr, graph.nodes, graph.directed), self.alike) for _, csr in graph.kinds])
        random = (change < ALIKE) & (change.max() > UNLIKE)
        self.lowers = np.where(random, -RANDOM, 0.0)  # prior log-odds for each factor of ten in the weight of a kind
        self._known: dict[tuple[float, ...], float] = {}

    def score(self, weights: dict[str, float]) -> float:
        """The log-likelihood of the classes of hidden seeds, by cross-validation, and the prior."""
        weights = _scaled(weights)
        key = tuple(weights.values())
        if key not in self._known:
            self._known[key] = self._tried(self.graph.weigh_kinds(weights)) + float(self.lowers @ np.log10(key))
        return self._known[key]

    def mean(self) -> dict[str, float]:
        """The geometric mean of all weights that were tried; each set counts by its likelihood."""
        tried, scores = np.log(list(self._known)), np.array(list(self._known.values()))
        mean = np.exp(softmax(scores) @ tried).tolist()
        return _scaled(dict(zip(self.names, mean, strict=True)))

    def _tried(self, graph: Graph) -> float:
        problem = Problem.of_seeds(graph, self.seeds, self.side)
        solution = engine_of(self.options).solve(problem, self.options)
        field = FeatureField.of(graph, self.seeds, solution.temperatures, self.side)
        solve = rough_solver(problem, solution, self.options, field.neighbours)
        trial = learn(field, self.alike, self.seeds, solve, panel=self._panel(graph)).trial
        return float(np.log(trial.probabilities[np.arange(len(trial.codes)), trial.codes]).sum())

    def _panel(self, graph: Graph) -> Panel | None:
        if self.evidence is None or self.evidence.structure is None or self.seeds.n_classes == 1:
            return None
        of_links = Evidence(structure=Structure(graph), compatibility=self.evidence.compatibility)
        return Panel(of_links, graph, self.seeds, self.options)


def _structure(graph: Graph, whole: Graph) -> float:
    """How much averages change what is kept of random values, beside shuffled edges; drawn by what surrounds nodes."""
    edges, marks = links(graph).to_scipy(), mixed(whole.colours ^ id_ranks(whole, np.arange(whole.n_nodes)))
    values = np.where(marks[:, None] >> np.arange(COLUMNS, dtype=np.uint64) & np.uint64(1), 1.0, -1.0)
    shuffled = [_kept(_shuffled(edges, marks + np.uint64(1 + place)), values) for place in range(SHUFFLES)]
    change = np.abs(_kept(edges, values) - np.mean(shuffled, axis=0))
    return float((change - CHANCE * np.std(shuffled, axis=0, ddof=1)).max())


def _shuffled(edges: csr_array, marks: Words) -> csr_array:
    """Edges between the same ends (n, n), joined in another way, by the marks (n,) of the nodes."""
    entries = edges.tocoo()
    order = np.argsort(mixed(mixed(marks[entries.row]) ^ marks[entries.col]), kind="stable")
    half = len(order) // 2
    ends = entries.row[order[:half]], entries.row[order[half : 2 * half]]
    arcs = csr_array((entries.data[order[:half]], ends), shape=edges.shape)
    return csr_array(arcs + arcs.T)


def _kept(edges: csr_array, values: Doubles) -> Doubles:
    """The logarithms of the squares that are left of values (n, k) after some averages over neighbours."""
    degrees, found = edges.sum(axis=1), []
    scale = np.sqrt(np.divide(1, degrees, out=np.zeros_like(degrees, np.float64), where=degrees > 0))[:, None]
    for step in range(1, 1 + max(STEPS)):
        values = scale * (edges @ (scale * values))
        if step in STEPS:
            found.append(np.log(max(np.vdot(values, values), np.finfo(np.float64).tiny)))
    return np.array(found)
