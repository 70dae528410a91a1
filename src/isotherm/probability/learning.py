"""The panel: all experts beside the heat, asked about all nodes or about hidden seeds."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.equilibrium.options import SolveOptions
from isotherm.graphs import Graph
from isotherm.insight.confidence.calibration import Calibrated
from isotherm.insight.confidence.found import Agreement, Experts
from isotherm.insight.confidence.held_out import HeldOut
from isotherm.insight.confidence.trial import Trial
from isotherm.insight.experts.combination import LEAST, Combination, combine, log_odds, odds_of, prior_weights
from isotherm.insight.experts.diffusion import Diffusion, diffusion_is_cheap
from isotherm.insight.experts.evidence import Evidence
from isotherm.insight.experts.majority import Majority
from isotherm.insight.experts.regression import AT_ONCE, Lesson, Regression, averaging, convolving, unit_rows
from isotherm.insight.minimum import fitting_threads
from isotherm.labelling.fit import Fit
from isotherm.labelling.outcome.outcomes import OneLabel
from isotherm.seeds import Seeds

__all__ = ["HEAT", "STRUCTURAL", "Agreed", "Panel", "agree"]

HEAT, MAJORITY = "heat", "majority"
STRUCTURAL = {HEAT, "spectrum", "degree"}  # experts that need nothing but the graph
BLIND = {HEAT: 0.5, MAJORITY: 1.0}  # weights where no seed can be hidden; others have no weight then
SPECTRAL_C = 5.0  # inverse penalty of the regression on the spectrum


class Panel:
    """All experts beside the heat.

    Parameters
    ----------
    evidence
        What is known about nodes.
    graph
        The graph.
    options
        How its kernels run.
    seeds
        All seeds; some may be hidden when experts are asked.
    """

    def __init__(self, evidence: Evidence, graph: Graph, options: SolveOptions, seeds: Seeds) -> None:
        self.opinion, self.seeds = evidence.opinion, seeds
        learners: dict[str, Regression] = {}
        if evidence.features is not None:
            rows = unit_rows(evidence.features)
            near = averaging(graph, rows.dtype)
            learners |= {"features": Regression(rows), "neighbours": Regression(rows, near, (0, 1, 2))}
            if not evidence.clustered:
                learners["convolution"] = Regression(rows, convolving(graph, rows.dtype), (2,))
            if not evidence.clustered and diffusion_is_cheap(graph, rows, len(seeds.nodes)):
                learners["diffusion"] = Diffusion(rows, graph, options)
        if evidence.structure is not None:
            spectrum, degree = evidence.structure.features(options)
            learners |= {"spectrum": Regression(spectrum, c=SPECTRAL_C), "degree": Regression(degree)}
        self.lessons = {name: Lesson(learner, seeds.nodes) for name, learner in learners.items()}
        self.majority = Majority(graph, options, seeds.n_classes) if evidence.clustered else None

    @property
    def names(self) -> tuple[str, ...]:
        """The experts: the heat, and those of the panel."""
        others = {MAJORITY: self.majority, "evidence": self.opinion}
        return (HEAT, *self.lessons, *(name for name, other in others.items() if other is not None))

    def odds(self, shares: Doubles, labels: Ints) -> Iterator[Floats]:
        """The log-odds of each expert for all nodes, in turn, given all seeds and the labels (n,) by heat."""
        places = np.arange(len(self.seeds.nodes))
        for lesson in self.lessons.values():
            yield log_odds(lesson.log_probabilities(places, self.seeds.codes, len(shares)), shares)
        if self.majority is not None:
            yield log_odds(self.majority.log_probabilities(labels, self.seeds.nodes, self.seeds.codes), shares)
        for opinion in self._opinions():
            yield log_odds(opinion, shares)

    def hidden_odds(self, nodes: Ints, shares: Doubles, labels: NDArray[np.integer]) -> list[Floats]:
        """The log-odds of each expert for some seeds, while these are hidden, given the labels by heat then."""
        asked = np.searchsorted(self.seeds.nodes, nodes)
        taught = np.setdiff1d(np.arange(len(self.seeds.nodes)), asked)
        codes = self.seeds.codes[taught]
        found: list[Floats] = [
            each.log_probabilities(taught, codes, len(shares), asked) for each in self.lessons.values()
        ]
        if self.majority is not None:
            found.append(self.majority.log_probabilities(labels, self.seeds.nodes[taught], codes)[nodes])
        return [log_odds(each, shares) for each in [*found, *self._opinions(nodes)]]

    def _opinions(self, nodes: Ints | None = None) -> list[Doubles]:
        """The log-probabilities of another model, if there is one."""
        if self.opinion is None:
            return []
        rows = self.opinion if nodes is None else self.opinion[nodes]
        with np.errstate(invalid="ignore"):
            return [np.log(np.maximum(rows / rows.sum(axis=1, keepdims=True), LEAST))]


class Agreed(NamedTuple):
    """What all experts say together.

    Attributes
    ----------
    combination
        How much each counts.
    odds
        (E, n, K) the log-odds of each expert for all nodes.
    trial
        The trial of their combined probabilities; the weights are cross-validated too.
    known
        (n,) the nodes about which something is known; None for all.
    """

    combination: Combination
    odds: NDArray[np.float32]
    trial: Trial
    known: Mask | None

    def without_odds(self) -> "Agreed":
        """How they were weighed, without what they said about all nodes."""
        return self._replace(odds=np.empty((0, 0, 0), np.float32), known=None)

    @property
    def experts(self) -> Experts:
        """What each expert says, to be kept."""
        return Experts(self.combination.names, self.combination.weights, self.odds)

    @property
    def probabilities(self) -> Doubles:
        """(n, K) the combined probabilities of all nodes; zero rows where nothing is known."""
        found = self.combination.probabilities(self.odds)
        if self.known is not None:
            found[~self.known] = 0
        return found


def agree(
    evidence: Evidence,
    fit: Fit,
    heat: Doubles,
    calibrated: Calibrated,
    held_out: HeldOut,
    seeds: Seeds,
    earlier: Agreement | None = None,
) -> Agreed:
    """Combine evidence with the heat, whose probabilities (n, K) are calibrated; zero rows where unreached.

    If seeds have hardly changed since an earlier agreement, its weights are kept.
    """
    with fitting_threads(0 if evidence.features is None else AT_ONCE * evidence.features.size):
        panel = Panel(evidence, fit.graph, fit.options, seeds)
        return _agreed(panel, evidence, _codes(fit), heat, calibrated, held_out, earlier)


def _agreed(
    panel: Panel,
    evidence: Evidence,
    labels: Ints,
    heat: Doubles,
    calibrated: Calibrated,
    held_out: HeldOut,
    earlier: Agreement | None,
) -> Agreed:
    """The same with a panel, and the labels (n,) by heat."""
    shares, trial, names = calibrated.calibration.shares, calibrated.trial, panel.names
    prior = prior_weights(names, evidence.prior)
    reached: Mask = np.asarray(heat.any(axis=1))
    odds = np.empty((len(names), *heat.shape), np.float32)  # filled in turn, since it may be large
    for place, each in enumerate(chain([odds_of(heat.astype(np.float32), shares)], panel.odds(shares, labels))):
        odds[place] = each
    known = None if evidence.beyond_links else reached
    if isinstance(earlier, Agreed) and earlier.combination.names == names:
        return Agreed(replace(earlier.combination, shares=shares), odds, earlier.trial, known)
    if not len(trial.codes):
        blind = prior if not evidence.clustered else np.array([BLIND.get(name, 0.0) for name in names])
        return Agreed(Combination(names, blind, shares), odds, trial, known)
    hidden = [log_odds(np.log(trial.probabilities), shares)]
    parts = [panel.hidden_odds(nodes, shares, then) for nodes, then in held_out.batches()]
    hidden += [np.concatenate(each) for each in zip(*parts, strict=True)]
    found = np.empty_like(trial.probabilities)
    for fold in trial.each_fold():
        rest = combine(names, [each[~fold] for each in hidden], trial.codes[~fold], shares, prior)
        found[fold] = rest.probabilities([each[fold] for each in hidden])
    told = np.ones(len(trial.codes), bool) if evidence.beyond_links else trial.known
    combined = trial._replace(known=told, probabilities=np.where(told[:, None], found, trial.probabilities))
    return Agreed(combine(names, hidden, trial.codes, shares, prior), odds, combined, known)


def _codes(fit: Fit) -> Ints:
    """(n,) the class numbers by a rule on temperatures."""
    assert isinstance(fit.outcome, OneLabel)
    return fit.outcome.codes
