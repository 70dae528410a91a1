"""The result of a fit: the inputs, the outcome, and how certain it is.

A `Fit` is frozen. Its labels are final; what hidden seeds teach about confidence is computed on first use, unless the
labels already needed it.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Ints, Mask
from isotherm.engines import engine_of
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem
from isotherm.errors import Option, ParameterError, warn
from isotherm.graphs import Graph
from isotherm.labelling.decisions import Decision, FittedDecision, class_factors
from isotherm.labelling.label_sets import TOO_FEW, LabelSets, hide
from isotherm.labelling.outcomes import BestScores, OneLabel, at_codes, best_codes
from isotherm.labelling.rules import Rule
from isotherm.labelling.settings import Settings
from isotherm.probability.calibration import Calibration, CalibrationWarning
from isotherm.probability.combination import Combination
from isotherm.probability.evidence import Evidence
from isotherm.probability.experts import HEAT
from isotherm.probability.hidden_seeds import HiddenLabels
from isotherm.probability.learning import Learnt, learn, rough_solver
from isotherm.probability.node_features import FeatureField, Features, over_neighbours
from isotherm.seeds import Seeds

if TYPE_CHECKING:
    from isotherm.equilibrium.certificate import Certificate
    from isotherm.probability.label_odds import LabelOdds


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of a fit, with the inputs that led to it.

    Attributes
    ----------
    problem : Problem
        The Dirichlet problem that was solved.
    seeds : Seeds
        The seeds on its boundary.
    settings : Settings
        The parameters of the classifier.
    outcome : OneLabel or LabelSets
        Labels, scores and temperatures.
    evidence : Evidence, optional
        What was known about nodes besides links.
    odds : ndarray of shape (E, n, K), optional
        The log-odds of each expert, if there are others than heat.
    taught : Learnt, optional
        What hidden seeds taught, if labels needed it; see `learnt`.
    proof : Certificate, optional
        The bound on the error of temperatures, if ``stop="labels"`` needed it; see `certificate`.
    taught_odds : LabelOdds, optional
        How the temperatures of labels become probabilities, if that is known already; see `label_odds`.
    earlier : Learnt, optional
        What the fit before an update was taught: it is kept if few seeds have changed since.
    weighed : Combination, optional
        How much each expert counts, if nothing else is known of what hidden seeds taught: in some old files.
    """

    problem: Problem
    seeds: Seeds
    settings: Settings
    outcome: OneLabel | LabelSets
    evidence: Evidence | None = None
    odds: NDArray[np.float32] | None = None
    taught: Learnt | None = None
    proof: "Certificate | None" = None
    taught_odds: "LabelOdds | None" = None
    earlier: Learnt | None = None
    weighed: Combination | None = None

    def __getstate__(self) -> dict[str, Any]:  # caches are not pickled
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.problem.graph

    @property
    def options(self) -> SolveOptions:
        """How the problem was solved."""
        return self.settings.solving

    @property
    def rule(self) -> Rule | Decision:
        """What decided the labels: a rule on temperatures, or a decision on probabilities."""
        outcome = self.outcome
        if isinstance(outcome, OneLabel) and outcome.decision is not None:
            return outcome.decision.rule
        return self.settings.heat_rule

    @cached_property
    def field(self) -> FeatureField:
        """Features of all nodes, from which probabilities are found."""
        return FeatureField.of(self.graph, self.seeds, self.outcome.temperatures, self.settings.side)

    @cached_property
    def learnt(self) -> Learnt:
        """What hidden seeds taught."""
        if self.taught is not None:
            return self.taught
        found = self._carried_over
        if found is None:
            solve = rough_solver(self.problem, self.outcome.solution, self.options, self.field.neighbours)
            found = learn(self.field, self.graph, self.seeds, solve, label=labels_by(self.settings.heat_rule))
        self._computed.add("learnt")
        return replace(found, combination=self.weighed)

    @property
    def _carried_over(self) -> Learnt | None:
        return None if self.earlier is None else self.earlier.moved(self.seeds, self.field.mean, None)

    @property
    def known(self) -> Learnt | None:
        """What hidden seeds taught so far, this fit or an earlier one."""
        return self.learnt if "learnt" in self._computed else self.taught or self.earlier

    @cached_property
    def _computed(self) -> set[str]:
        """Names of those cached properties that were computed and are worth saving."""
        return set()

    @property
    def with_computed(self) -> "Fit":
        """The same fit, given what was computed on first use so far: this is what is saved."""
        taught, odds, outcome = self.taught, self.taught_odds, self.outcome
        if "learnt" in self._computed and self.weighed is None:
            taught = self.learnt
        elif taught is None:
            taught = self._carried_over
        if "label_odds" in self._computed or (isinstance(outcome, LabelSets) and outcome.hidden is not None):
            odds = self._label_odds
        return replace(self, taught=taught, taught_odds=odds)

    @cached_property
    def calibration(self) -> Calibration:
        """How temperatures become probabilities, and their error; warns if there are few hidden seeds."""
        learnt, outcome = self.learnt, self.one_label("calibration_")
        if learnt.judged:
            return learnt.calibration
        trial, labels, scores = learnt.trial, learnt.trial.codes, None
        if trial.n_known and outcome.decision is not None:
            scores = outcome.decision.scores(trial.probabilities)
            labels = np.where(trial.known, scores.argmax(axis=1), -1)
        elif trial.n_known and trial.labels is not None:
            labels = trial.labels
        return learnt.calibration.judged(trial, labels, scores)

    @cached_property
    def chances(self) -> Doubles:
        """(n, K) probabilities of the classes, not to be changed: 1 at seeds, 0 for all where nothing is known."""
        outcome = self.one_label("predict_proba")
        if outcome.chances is not None:
            return outcome.chances
        if self.settings.calibration is None:
            return outcome.softmax()
        found, held = self.learnt.calibration.probabilities(self.field), self.seeds.held
        found[held.nodes] = held.values()
        return found

    def probabilities(self, weights: csr_array | None = None) -> Doubles:
        """(n, K) probabilities of the classes, for the nodes or for new nodes with edge weights (m, n) to them.

        Where a node may have several labels, (n, L) the probability of each. Warns if hidden seeds are few.
        """
        if self.outcome.several:
            return self._label_probabilities(weights)
        outcome = self.one_label("temperatures_")
        if self.settings.calibration is None:
            return outcome.softmax(weights)
        self.calibration  # noqa: B018 - warns
        return self.chances if weights is None else self._chances_of_new(weights)

    def _chances_of_new(self, weights: csr_array) -> Doubles:
        return self.learnt.of_new_nodes(weights, self.outcome.temperatures, self.seeds, self.odds)

    @property
    def confidence(self) -> Any:
        """(n,) the probability of each label, or a sparse matrix (n, L) where a node may have several labels."""
        outcome = self.outcome
        if isinstance(outcome, LabelSets):
            return self._label_confidence(outcome)
        if isinstance(outcome, BestScores):
            return outcome.certainty
        if self.settings.calibration is not None:
            self.calibration  # noqa: B018 - warns if hidden seeds are few
        return at_codes(self.chances, outcome.codes)

    def new_labels(self, weights: csr_array) -> Any:
        """Labels of m new nodes, given the weights (m, n) of their edges to the nodes of the graph."""
        outcome = self.outcome
        if isinstance(outcome, LabelSets):
            return csr_array(over_neighbours(weights, outcome.scores) > 0)
        outcome.need_all("scores_")
        if outcome.decision is not None:
            return self.seeds.decode(best_codes(outcome.decision.scores(self._chances_of_new(weights))))
        return self.seeds.decode(best_codes(over_neighbours(weights, outcome.scores)))  # rules commute with means

    def prediction_sets(self, coverage: float) -> Mask:
        """(n, K) the prediction set of each node: a seed has only its own class, an unreached node has all classes.

        Sets go by the scores of the decision, so that a set that is not empty has the label of the node.
        """
        outcome = self.one_label("predict_set")
        if self.settings.calibration is None:
            raise ParameterError(
                "prediction sets need hidden seeds, but {none}: set {auto}",
                none=Option("calibration", None),
                auto=Option("calibration", "auto"),
            )
        scores = self.chances if outcome.decision is None else outcome.scores
        with np.errstate(invalid="ignore"):
            sets = scores >= self.calibration.least_score(coverage)
        sets[outcome.codes < 0] = True
        held = self.seeds.held
        sets[held.nodes] = held.values() > 0
        return sets

    @property
    def experts(self) -> dict[str, float]:
        """The weight of each expert, by name."""
        self.one_label("experts_")
        combination = self.weighed if self.taught is None else self.taught.combination
        return {HEAT: 1.0} if combination is None else combination.by_name

    @cached_property
    def certificate(self) -> "Certificate":
        """A bound on the error of the temperatures."""
        return self.proof or engine_of(self.options).certify(self.problem, self.outcome.temperatures, self.options)

    def outcome_by(self, rule: Rule | Decision) -> OneLabel:
        """The same temperatures or probabilities, labelled by another rule or decision."""
        solution = self.one_label("temperatures_").solution
        if isinstance(rule, Rule):
            return OneLabel(solution, self.seeds, rule)
        factors = class_factors(self.settings.class_weight, self.seeds)
        decision = FittedDecision.of(rule, self.chances, self.seeds, factors)
        return OneLabel(solution, self.seeds, chances=self.chances, decision=decision)

    def one_label(self, name: str) -> OneLabel:
        """The outcome, for an attribute of this name that needs one label per node and all scores."""
        self.outcome.need_all(name)
        if isinstance(self.outcome, LabelSets):
            raise ValueError(
                f"{name} is for seeds with one label each: hide some labels to see how well others are found"
            )
        return self.outcome

    @cached_property
    def label_odds(self) -> "LabelOdds":
        """How temperatures become probabilities where a node may have several labels; warns if hidden seeds are few."""
        odds = self._label_odds
        if odds.n_seen < TOO_FEW:
            message = f"with {odds.n_seen} labels on hidden seeds, probabilities are hardly more than temperatures"
            warn(f"{message}; label more nodes", CalibrationWarning)
        return odds

    @cached_property
    def _label_odds(self) -> "LabelOdds":
        from isotherm.probability.label_odds import fit_odds

        assert isinstance(self.outcome, LabelSets)
        if self.taught_odds is not None:
            return self.taught_odds
        hidden = self.outcome.hidden or hide(self.problem, self.seeds, self.options, self.settings.heat_rule)
        self._computed.add("label_odds")
        return fit_odds(hidden.temperatures, hidden.truth)

    def _label_probabilities(self, weights: csr_array | None) -> Doubles:
        temperatures = self.outcome.temperatures
        if weights is not None:
            temperatures = over_neighbours(weights, temperatures)
        plain = np.nan_to_num(temperatures).astype(np.float64)
        found = plain if self.settings.calibration is None else self.label_odds.probabilities(temperatures)
        if weights is None:
            held = self.seeds.held
            found[held.nodes] = held.values()
        return found

    def _label_confidence(self, outcome: LabelSets) -> csr_array:
        warmth = outcome.warmth
        if self.settings.calibration is None:
            return warmth
        probabilities = self.label_odds.probabilities(warmth.data)
        held = np.zeros(warmth.shape[0], bool)
        held[self.seeds.held.nodes] = True
        probabilities[np.repeat(held, np.diff(warmth.indptr))] = 1
        return csr_array((probabilities, warmth.indices, warmth.indptr), warmth.shape)


def labels_by(rule: Rule) -> HiddenLabels:
    """Labels some nodes by a rule on temperatures, given the visible seeds; -1 where unreached."""

    def label(field: Features, seeds: Seeds, nodes: Ints) -> Ints:
        assert isinstance(field, FeatureField)
        temperatures = field.temperatures[nodes]
        with np.errstate(invalid="ignore", divide="ignore"):  # a class that no visible seed has
            scores = rule.scored(temperatures, rule.totals(field.temperatures, seeds.nodes), seeds.shares)
        codes = np.nan_to_num(scores, nan=-np.inf).argmax(axis=1)
        return np.where(np.isnan(temperatures[:, 0]), -1, codes)

    return label
