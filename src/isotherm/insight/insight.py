"""Everything a fit can tell besides labels, each part computed on first use."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Ints, Mask
from isotherm.engines import engine_of
from isotherm.equilibrium.certificate import Certificate
from isotherm.equilibrium.options import Progress
from isotherm.errors import Option, ParameterError
from isotherm.graphs import Graph
from isotherm.insight.confidence.confidence import Confidence
from isotherm.insight.confidence.found import Found
from isotherm.insight.confidence.rule_choice import RuleScore
from isotherm.insight.confidence.sets import SetConfidence
from isotherm.insight.experts.evidence import Evidence
from isotherm.insight.experts.panel import STRUCTURAL, agree
from isotherm.insight.experts.spectral import Structure
from isotherm.insight.explain.explanation import Explainer
from isotherm.insight.suggest.suggestion import LIKELY, check_request, suggest
from isotherm.labelling.fit import Fit, certified, find_labels
from isotherm.labelling.outcome.decided import Decided
from isotherm.labelling.outcome.outcomes import OneLabel, best_codes
from isotherm.labelling.outcome.several import LabelSets
from isotherm.labelling.rules import DEFAULT_RULE, FALLBACK, RULES, ProbabilityRule, Rule, TemperatureRule
from isotherm.labelling.settings import AUTO, Settings
from isotherm.seeds import Seeds

__all__ = ["Insight", "label_nodes"]

MOST_SHOWN = 5  # classes in a message


class Insight:
    """Confidence, explanations, suggestions and certificate of a fit.

    Parameters
    ----------
    fit : Fit
        The fit.
    found : Found, optional
        Earlier results from held-out seeds.

    Attributes
    ----------
    confidence : Confidence or SetConfidence
        How certain the labels are.
    """

    def __init__(self, fit: Fit, found: Found | None = None, evidence: Evidence | None = None) -> None:
        self.fit, self.evidence = fit, evidence
        self.confidence = _confidence(fit, found, evidence)

    def __reduce__(self) -> tuple[Any, ...]:  # caches are not pickled
        return Insight, (self.fit, self.confidence.found, self.evidence)

    def of(self, fit: Fit) -> "Insight":
        """Insight into another fit of the same seeds, with another rule or better temperatures."""
        other = Insight(fit, evidence=self.evidence)
        if isinstance(self.confidence, Confidence) and isinstance(fit.outcome, OneLabel):
            other.confidence = self.confidence.of(fit, fit.outcome)
        return other

    def carry_over(self, earlier: "Insight") -> None:
        """Keep what an earlier fit of the same graph learnt from held-out seeds, if few seeds have changed since.

        Features and the opinions of other models are weighed anew.
        """
        ours, theirs = self.confidence, earlier.confidence
        if self.evidence is not None and self.evidence.beyond_links:
            return
        same = self.fit.settings.calibration is not None and self.fit.settings.side == earlier.fit.settings.side
        if same and self.fit.outcome.kept and isinstance(ours, Confidence) and isinstance(theirs, Confidence):
            again = earlier._learnt_again(self.evidence) if theirs.is_loaded else theirs
            ours.carry_over(again)

    def _learnt_again(self, evidence: Evidence | None) -> Confidence:
        """What the fit of a loaded model had learnt from held-out seeds, which are not saved: it is learnt again.

        So an update gives the same labels as that of the model that was saved.
        """
        fit, seeds = self.fit, self.confidence.found.learnt_from
        if seeds is not None:
            fit = find_labels(fit.graph, seeds, fit.settings)
        again = Insight(fit.with_rule(fit.by_temperatures), evidence=evidence).confidence
        assert isinstance(again, Confidence)
        again.learn()
        return again

    def by_held_out_seeds(self, name: str) -> Confidence:
        """The confidence, for an attribute or method of this name that needs one label per node and all scores."""
        self.fit.outcome.need_all(name)
        return self._one_label(name, "hide some labels to see how well the others are found")

    def _one_label(self, name: str, instead: str) -> Confidence:
        if isinstance(self.confidence, SetConfidence):
            raise ValueError(f"{name} is for seeds with one label each: {instead}")
        return self.confidence

    def prediction_sets(self, coverage: float, *, calibrated: bool) -> Mask:
        """(n, K) the prediction set of each node."""
        confidence = self.by_held_out_seeds("predict_set")
        if not calibrated:
            raise ParameterError(
                "prediction sets need held-out seeds, but {none}: set {auto}",
                none=Option("calibration", None),
                auto=Option("calibration", "auto"),
            )
        return confidence.sets(coverage)

    @property
    def experts(self) -> dict[str, float]:
        """How much each expert counted: a multiple of its log-odds, by its name; only the heat without others."""
        confidence = self.by_held_out_seeds("experts_")
        found = confidence.found.experts
        return {"heat": 1.0} if found is None else dict(zip(found.names, found.weights.tolist(), strict=True))

    @property
    def rule_report(self) -> dict[str, RuleScore]:
        """The macro-F1 of each rule on held-out seeds."""
        return self.by_held_out_seeds("rule_report_").rule_report

    @property
    def best_rule(self) -> str:
        """The name of the rule selected on held-out seeds."""
        return self.by_held_out_seeds("best_rule_").best_rule.name

    @cached_property
    def certificate(self) -> Certificate:
        """A bound on the error of the temperatures."""
        fit = self.fit
        return fit.certificate or engine_of(fit.options).certify(fit.problem, fit.outcome.temperatures, fit.options)

    def kept_evidence(self, seeds: Seeds) -> Evidence | None:
        """The evidence of this fit, for a fit with other seeds."""
        experts = self.confidence.found.experts
        if self.evidence is None and experts is not None:
            if set(experts.names) <= STRUCTURAL:
                return Evidence(structure=Structure(self.fit.graph), optional=True)
            raise ParameterError("a saved model does not hold the features that it was fitted on: fit it again")
        opinion = None if self.evidence is None else self.evidence.opinion
        if opinion is not None and opinion.shape[1] != seeds.n_classes:
            raise ParameterError("the classes have changed, and evidence has a column for each class: fit again")
        return self.evidence

    def by_rule(self, rule: Rule) -> "Insight":
        """Insight into the same temperatures, labelled by another rule; by `FALLBACK` if seeds are too few for it."""
        if isinstance(rule, TemperatureRule):
            return self.of(self.fit.with_rule(rule))
        assert isinstance(rule, ProbabilityRule)
        confidence = self.by_held_out_seeds("rule")
        if not confidence.n_hidden_by_heat and (self.evidence is None or self.evidence.needs_hidden(self.fit.seeds)):
            obstacle = "no seed can be hidden to calibrate probabilities"
            return self._by_heat_alone().of(replace(self.fit.with_rule(FALLBACK), obstacle=obstacle))
        return self.of(confidence.decided(rule))

    def _by_heat_alone(self) -> "Insight":
        """The same without other evidence, which is kept for a later fit with more seeds."""
        other = Insight(self.fit, evidence=self.evidence)
        if isinstance(self.confidence, Confidence):
            other.confidence = self.confidence.by_heat_alone()
        return other

    @property
    def codes(self) -> Ints:
        """(n,) class number of each node, -1 where nothing is known, if each node has one label."""
        assert isinstance(self.fit.outcome, OneLabel)
        return self.fit.outcome.codes

    def new_labels(self, weights: csr_array) -> Any:
        """Labels of m new nodes, given the weights (m, n) of their edges to the nodes of the graph."""
        outcome = self.fit.outcome
        if not isinstance(outcome, Decided):
            return outcome.of_new_nodes(weights)
        assert isinstance(self.confidence, Confidence)
        return self.fit.seeds.decode(best_codes(self.confidence.new_scores(weights)))

    @property
    def certified(self) -> Mask:
        """Nodes whose label would certainly be the same at exact equilibrium."""
        self.fit.outcome.need_all("certified_")
        self._one_label("certified_", "lower tol to be sure of the others")
        return certified(self.fit, self.certificate)

    @cached_property
    def explainer(self) -> Explainer:
        """Explains nodes by their seeds."""
        return Explainer(self.fit, self.confidence.found.experts)

    def suggest(
        self, k: int, *, policy: str, among: Iterable[Any] | None, calibrated: bool, label: Any = None
    ) -> tuple[Ints, Doubles]:
        """Positions of the nodes most worth labelling next, and the value of each."""
        check_request(k, policy, label)
        fit = self.fit
        ranking = self._doubt(policy, calibrated) if policy != LIKELY else self._chance(label, calibrated)
        return suggest(
            fit.graph,
            fit.seeds.nodes,
            k,
            ranking,
            policy=policy,
            among=None if among is None else fit.graph.index(among),
            groups=fit.outcome.groups,
            side=fit.settings.side,
            reached=fit.outcome.reached,
            options=fit.options,
        )

    def _chance(self, label: Any, calibrated: bool) -> Doubles:
        """(n,) how probable a class is at each node."""
        classes = self.fit.seeds.classes.tolist()
        if label not in classes:
            known = ", ".join(map(repr, classes[:MOST_SHOWN])) + ", ..." * (len(classes) > MOST_SHOWN)
            message = "{label}, but no seed has this label: choose one of {known}"
            raise ParameterError(message, label=Option("label", label), known=known)
        return self.confidence.probabilities(calibrated=calibrated)[:, classes.index(label)]

    def _doubt(self, policy: str, calibrated: bool) -> Doubles:
        """How doubtful each label is by a policy; unreached nodes are the most doubtful."""
        if policy == "diverse":
            return np.ones(self.fit.graph.n_nodes)
        if policy == "margin":
            return 1 - self.fit.outcome.margins()
        if isinstance(self.confidence, SetConfidence):
            raise ParameterError(
                "{given} is for seeds with one label each: use {instead}",
                given=Option("policy", policy),
                instead=Option("policy", "diverse"),
            )
        return 1 - self.confidence.certainty(calibrated=calibrated)


def label_nodes(
    graph: Graph,
    seeds: Seeds,
    settings: Settings,
    *,
    evidence: Evidence | None = None,
    before: Insight | None = None,
    progress: Progress | None = None,
) -> Insight:
    """Label all nodes of a graph; see `find_labels`.

    Held-out seeds select the rule, if it is to be "auto", and calibrate the probabilities that some rules decide by.
    What they told before a change of few seeds is kept.
    """
    if evidence is not None:
        evidence = _usable(evidence, seeds, settings)
    first: list[Insight] = []  # of the fit that was made to select the rule; its held-out solves are reused

    def choose(fit: Fit) -> TemperatureRule:
        first.append(Insight(fit))
        best = first[0].by_held_out_seeds("rule").best_rule
        assert isinstance(best, TemperatureRule)
        return best

    earlier = None if before is None else before.fit
    fit = find_labels(graph, seeds, settings, before=earlier, progress=progress, choose=choose)
    if first:
        return first[0].of(fit)
    if evidence is not None and fit.obstacle:
        _check_optional(evidence, fit.obstacle)
        evidence = None
    insight = Insight(fit, evidence=evidence)
    if before is not None:
        insight.carry_over(before)
    rule = RULES[settings.rule] if settings.rule != AUTO else insight.by_held_out_seeds("rule").best_rule
    return insight if rule is fit.rule or fit.obstacle else insight.by_rule(rule)


def _usable(evidence: Evidence, seeds: Seeds, settings: Settings) -> Evidence | None:
    """The evidence, or None if it is optional and labels do not go by probabilities; refused if it is not optional."""
    try:
        _check_usable(seeds, settings)
    except ParameterError:
        if not evidence.optional:
            raise
        return None
    return evidence


def _check_optional(evidence: Evidence, obstacle: str) -> None:
    """Refuse to go on without evidence that was asked for, where an obstacle excludes it."""
    if not evidence.optional:
        raise ParameterError(
            "features and evidence cannot be used here, since {obstacle}: leave them out", obstacle=obstacle
        )


def _check_usable(seeds: Seeds, settings: Settings) -> None:
    """Refuse features and evidence where labels do not go by probabilities."""
    if seeds.several:
        raise ParameterError("features and evidence are for seeds with one label each: leave them out")
    if settings.calibration is None:
        raise ParameterError(
            "features and evidence are weighed by held-out seeds, but {none}: set {auto}",
            none=Option("calibration", None),
            auto=Option("calibration", "auto"),
        )
    if isinstance(RULES.get(settings.rule), TemperatureRule):
        raise ParameterError(
            "features and evidence need a rule on probabilities, not {given}: set {rule}",
            given=Option("rule", settings.rule),
            rule=Option("rule", DEFAULT_RULE),
        )


def _confidence(fit: Fit, found: Found | None, evidence: Evidence | None) -> Confidence | SetConfidence:
    outcome = fit.outcome
    if isinstance(outcome, LabelSets):
        return SetConfidence(fit, outcome, found)
    assert isinstance(outcome, OneLabel)
    if evidence is None or (evidence.optional and fit.obstacle):
        return Confidence(fit, outcome, found)
    return Confidence(fit, outcome, found, partial(agree, evidence, fit))
