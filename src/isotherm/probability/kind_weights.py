"""Weights of the kinds of edges, found by hidden seeds.

Where edges are of several kinds, some may say much about classes and others nothing. So sets of weights are tried: the
better the probabilities by heat and structure tell the classes of hidden seeds, the better the weights. All kinds weigh
1 at first. They are lowered one at a time, those first that it helps most. The weight of a kind is the geometric mean
over all sets that were tried, each of which counts by its likelihood: where few seeds cannot tell kinds apart, their
weights stay close. No weight is 0: a node that only edges of a useless kind reach keeps a label.
"""

from dataclasses import replace

import numpy as np
from scipy.special import softmax

from isotherm.engines import engine_of
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem
from isotherm.graphs import Graph
from isotherm.probability.evidence import Evidence
from isotherm.probability.experts.spectral import Structure
from isotherm.probability.learning import ROUGH_TOL, Panel, learn, rough_solver
from isotherm.probability.node_features import FeatureField
from isotherm.seeds import Seeds
from isotherm.seeds.hiding import hideable

LEVELS = (1.0, 0.1, 0.01, 0.001)  # mean weights of a kind that are tried


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
        self._known: dict[tuple[float, ...], float] = {}

    def score(self, weights: dict[str, float]) -> float:
        """The log-likelihood of the classes of hidden seeds, by cross-validation."""
        weights = _scaled(weights)
        key = tuple(weights.values())
        if key not in self._known:
            self._known[key] = self._tried(self.graph.weigh_kinds(weights))
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
