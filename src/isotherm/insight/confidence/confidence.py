"""What is learnt from held-out seeds: the rule to use, probabilities, and prediction sets.

All of these use the same one to three solves, each without a third of the seeds. The solves run on first use.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array

from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.engines import engine_of
from isotherm.insight.confidence.calibration import (
    TOO_FEW,
    Calibrated,
    Calibration,
    calibrate,
    warn_about_few,
)
from isotherm.insight.confidence.found import Agree, Agreement, Found
from isotherm.insight.confidence.held_out import HeldOut, hold_out
from isotherm.insight.confidence.neighbourhood import (
    Field,
    count_neighbours,
    direct_heat,
    effective_number,
    held_values,
)
from isotherm.insight.confidence.rule_choice import RuleScore, compare_rules, select_rule
from isotherm.insight.experts.combination import Combination, odds_of
from isotherm.labelling.fit import Fit, dirichlet_problem
from isotherm.labelling.outcome.decided import Decided, Decision
from isotherm.labelling.outcome.outcomes import OneLabel, at_codes, over_neighbours
from isotherm.labelling.rules import RULES, TEMPERATURE_RULES, ProbabilityRule, Rule, TemperatureRule
from isotherm.seeds import Seeds

__all__ = ["Confidence"]

FEW_CHANGES = 0.05  # of the seeds, up to which the calibration of an earlier fit is kept
ROUGH_TOL = 1e-2  # tolerance of solves without the held-out seeds; sampling noise dominates


class Confidence:
    """How certain the labels of a fit are, if each node has one label.

    Parameters
    ----------
    fit : Fit
        The fit.
    outcome : OneLabel
        Its outcome.
    found : Found, optional
        Earlier results from held-out seeds.
    agree : callable, optional
        Combines the probabilities of the heat with other evidence.

    Attributes
    ----------
    found : Found
        Results from held-out seeds so far.
    """

    def __init__(self, fit: Fit, outcome: OneLabel, found: Found | None = None, agree: Agree | None = None) -> None:
        self.fit, self.outcome, self.found, self.agree = fit, outcome, found or Found(), agree
        self._held_out: HeldOut | None = None
        self._carried: _Carried | None = None
        self._twin: Confidence | None = None  # with another rule on the same temperatures, whose work is shared

    def of(self, fit: Fit, outcome: OneLabel) -> "Confidence":
        """Confidence for another fit of the same seeds, with another rule or better temperatures; reuses the solves."""
        same_rule = fit.rule is self.fit.rule
        found = self.found if same_rule else replace(self.found, calibration=None)
        other = Confidence(fit, outcome, found, self.agree)
        other._held_out = self._held_out
        if outcome.solution is self.outcome.solution:
            other._twin = self
        return other

    def carry_over(self, earlier: "Confidence") -> None:
        """Keep what an earlier fit of the same graph learnt from held-out seeds, if few seeds have changed since.

        Slopes, biases, lapse rate, weights of experts and the trial are kept. Shares and mean temperatures are those of
        the new seeds.
        """
        known, seeds = earlier._learnt, self.fit.seeds
        if known is None or (self.agree is None) != (known.agreed is None) or not _few_changes(known.seeds, seeds):
            return
        self._carried, self._held_out = known, known.held_out
        moved = replace(known.calibrated.calibration, shares=seeds.smoothed_shares, mean=self._own.mean)
        self._carried = known._replace(calibrated=known.calibrated._replace(calibration=moved))
        self.found = replace(self.found, learnt_from=known.seeds)

    @property
    def is_loaded(self) -> bool:
        """Whether a saved fit had learnt from held-out seeds, which were not saved."""
        found = self.found
        kept = found.calibration is not None or found.learnt_from is not None or isinstance(self.outcome, Decided)
        return kept and self._learnt is None

    def learn(self) -> None:
        """Solve for the held-out seeds now, if that has not been done."""
        self.held_out  # noqa: B018 - on first use

    @property
    def _learnt(self) -> "_Carried | None":
        """What was learnt so far, by this or by an earlier fit; None if nothing was."""
        if self._twin is not None:
            return self._twin._learnt
        if self._carried is not None or self._held_out is None:
            return self._carried
        agreed = None if self.agree is None else self._agreed.without_odds()
        return _Carried(self._by_heat, self._held_out, self.fit.seeds, self._neighbours, agreed)

    def by_heat_alone(self) -> "Confidence":
        """The same fit without other evidence; reuses the solves."""
        other = Confidence(self.fit, self.outcome)
        other._held_out = self._held_out
        return other

    @property
    def held_out(self) -> HeldOut:
        """The held-out seeds, solved for on first use."""
        if self._held_out is None:
            self._held_out = hold_out(
                self.fit.seeds,
                self.fit.graph,
                lambda seeds: self._field(_without(self.fit, seeds), seeds),
                labelled=self.agree is not None,
            )
        return self._held_out

    @cached_property
    def _by_heat(self) -> Calibrated:
        if self._carried is not None:
            return self._carried.calibrated
        return calibrate(self.held_out, self._own, self.fit.seeds) if self._twin is None else self._twin._by_heat

    @cached_property
    def _calibrated(self) -> Calibrated:
        """The calibration of the heat, and the trial of the final probabilities."""
        return self._by_heat if self.agree is None else self._by_heat._replace(trial=self._agreed.trial)

    @cached_property
    def _agreed(self) -> Agreement:
        """What the heat and other evidence say together."""
        if self._twin is not None:
            return self._twin._agreed
        assert self.agree is not None
        heat = self._by_heat.calibration.probabilities(self._own)
        earlier = None if self._carried is None else self._carried.agreed
        agreed = self.agree(heat, self._by_heat, self.held_out, self.fit.seeds, earlier)
        self.found = replace(self.found, experts=agreed.experts)
        return agreed

    @property
    def n_hidden(self) -> int:
        """Number of seeds that can be hidden, and about which something is known then."""
        return self._calibrated.trial.n_known

    @property
    def n_hidden_by_heat(self) -> int:
        """Number of seeds that can be hidden, and are reached by others then."""
        return self._by_heat.trial.n_known

    @property
    def rule_report(self) -> dict[str, RuleScore]:
        """The macro-F1 of each rule on held-out seeds."""
        if self.found.rule_report is None:
            predicted = {name: self._predicted(rule) for name, rule in self._candidates.items() if self.held_out.folds}
            self.found = replace(self.found, rule_report=compare_rules(self._calibrated.trial, predicted))
        return self.found.rule_report or {}

    @property
    def _candidates(self) -> Mapping[str, Rule]:
        """The rules among which held-out seeds choose."""
        settings = self.fit.settings
        return RULES if settings.calibration and settings.stop != "labels" else TEMPERATURE_RULES

    def _predicted(self, rule: Rule) -> Ints:
        """(h,) the class numbers that a rule predicts for the hidden seeds; -1 where nothing is known."""
        if isinstance(rule, TemperatureRule):
            return self.held_out.predicted(rule.name)
        trial = self._calibrated.trial
        return np.where(trial.known, self._hidden_scores(rule).argmax(axis=1), -1)

    def _hidden_scores(self, rule: Rule) -> Doubles:
        """(h, K) the scores that a rule on probabilities makes of those of the hidden seeds."""
        assert isinstance(rule, ProbabilityRule)
        return self.decision(rule).scores(self._calibrated.trial.probabilities)

    def decided(self, rule: ProbabilityRule) -> Fit:
        """The same temperatures, with labels by the probabilities."""
        return self.fit.decided(rule, self._probabilities)

    def decision(self, rule: ProbabilityRule) -> Decision:
        """How a rule makes scores of the probabilities of this fit."""
        return self.fit.decision(rule, self._probabilities)

    def _judged(self, rule: Rule) -> Calibration:
        """The calibration, with its error for the labels of a rule."""
        if not self.n_hidden:
            return self._calibrated.judged(self._calibrated.trial.codes)
        scores = self._hidden_scores(rule) if isinstance(rule, ProbabilityRule) else None
        return self._calibrated.judged(self._predicted(rule), scores)

    @property
    def best_rule(self) -> Rule:
        """The rule selected on held-out seeds."""
        if self.found.best_rule is None:
            report = self.rule_report
            self.found = replace(self.found, best_rule=select_rule(report, self.held_out.n_hidden))
        assert self.found.best_rule is not None
        return RULES[self.found.best_rule]

    @property
    def calibration(self) -> Calibration:
        """How temperatures become probabilities; warns the first time if hidden seeds are too few."""
        if self.found.calibration is None:
            calibration = self._judged(self.fit.rule)
            if calibration.n_held_out < TOO_FEW:
                seeds = f"with {calibration.n_held_out} held-out seeds"
                warn_about_few(f"{seeds}, confidence is a guess")
            self.found = replace(self.found, calibration=calibration)
            return calibration
        return self.found.calibration

    def probabilities(self, *, calibrated: bool, weights: csr_array | None = None) -> Doubles:
        """(n, K) probabilities of the classes, for the nodes or for new nodes with edge weights (m, n) to them.

        A seed has probability 1 for its class; an unreached node has 0 for all. Uncalibrated probabilities are the
        softmax of the scores.
        """
        self.outcome.need_all("temperatures_")
        if not calibrated:
            return self.outcome.probabilities(weights)
        calibration = self.calibration  # warns if seeds are few
        return self._probabilities if weights is None else self._of_new_nodes(weights, calibration)

    def certainty(self, *, calibrated: bool) -> Doubles:
        """(n,) the probability of each node's label; the softmax of its score if only the best scores were kept."""
        if not calibrated or not self.outcome.kept:
            return self.outcome.softmax
        self.calibration  # noqa: B018 - warns if seeds are few
        return at_codes(self._probabilities, self.outcome.codes)

    @cached_property
    def _probabilities(self) -> Doubles:
        """(n, K), not to be changed."""
        if isinstance(self.outcome, Decided):
            return self.outcome.chances
        if self._twin is not None:
            return self._twin._probabilities
        held = self.fit.seeds.held
        found = self._unjudged.probabilities(self._own) if self.agree is None else self._agreed.probabilities
        found[held.nodes] = held.values()
        return found

    @property
    def _unjudged(self) -> Calibration:
        """The calibration as labels need it: without its error, and without a warning."""
        return self.found.calibration or self._calibrated.calibration

    def new_scores(self, weights: csr_array) -> Doubles:
        """(m, K) scores of new nodes by a rule on probabilities. Labels need no warning that confidence is a guess."""
        assert isinstance(self.outcome, Decided)
        return self.outcome.decision.scores(self._of_new_nodes(weights, self._unjudged))

    def _of_new_nodes(self, weights: csr_array, calibration: Calibration) -> Doubles:
        """(m, K) calibrated probabilities of new nodes, whose log-odds by other experts are the mean of neighbours'."""
        temperatures = over_neighbours(weights, self.outcome.temperatures)
        totals = weights.sum(axis=1)
        scales = diags_array(1 / np.where(totals > 0, totals, 1))
        direct = csr_array(scales @ weights @ held_values(self.fit.seeds, self.fit.graph.n_nodes))
        neighbours = effective_number(weights.indptr, weights.data)
        heat = calibration.probabilities(Field(temperatures, direct, neighbours))
        experts, shares = self.found.experts, calibration.shares
        if experts is None:
            return heat
        others = (over_neighbours(weights, each) for each in experts.odds[1:])
        found = Combination(experts.names, experts.weights, shares).probabilities([odds_of(heat, shares), *others])
        return np.where(totals[:, None] > 0, found, 0)

    def sets(self, coverage: float) -> Mask:
        """(n, K) the prediction set of each node: a seed has only its own class, an unreached node has all classes.

        They go by the scores of a rule on probabilities, so that a set that is not empty has the label of the node.
        """
        scores = self.outcome.scores if isinstance(self.outcome, Decided) else self._probabilities
        with np.errstate(invalid="ignore"):
            sets = scores >= self.calibration.least_score(coverage)
        sets[self.outcome.codes < 0] = True
        held = self.fit.seeds.held
        sets[held.nodes] = held.values() > 0
        return sets

    @cached_property
    def _own(self) -> Field:
        return self._field(self.outcome.temperatures, self.fit.seeds) if self._twin is None else self._twin._own

    def _field(self, temperatures: Floats, seeds: Seeds) -> Field:
        return Field(temperatures, direct_heat(self.fit.graph, seeds, self.fit.settings.side), self._neighbours)

    @cached_property
    def _neighbours(self) -> Doubles:
        if self._carried is not None:
            return self._carried.neighbours
        return (
            count_neighbours(self.fit.graph, self.fit.settings.side) if self._twin is None else self._twin._neighbours
        )


class _Carried(NamedTuple):
    """What was learnt from held-out seeds, and from which seeds; and the numbers of neighbours of all nodes."""

    calibrated: Calibrated
    held_out: HeldOut
    seeds: Seeds
    neighbours: Doubles
    agreed: Agreement | None


def _few_changes(before: Seeds, after: Seeds) -> bool:
    """Whether the classes are the same, and few seeds were added, removed or labelled anew."""
    if not np.array_equal(before.classes, after.classes) or before.weights is not None or after.weights is not None:
        return False
    same = np.intersect1d(before.nodes, after.nodes, assume_unique=True)
    alike = before.codes[np.searchsorted(before.nodes, same)] == after.codes[np.searchsorted(after.nodes, same)]
    kept = int(np.count_nonzero(alike))
    return len(before.nodes) + len(after.nodes) - 2 * kept <= FEW_CHANGES * len(before.nodes)


def _without(fit: Fit, seeds: Seeds) -> Floats:
    """Temperatures with these seeds only. A rough solve is enough: sampling noise dominates.

    With cg, a third of the fit's iterations plus two are enough. A loose tolerance would take more iterations, because
    cg first needs an estimate of the absorption time. Starting from the fit's temperatures would save no iteration, and
    would leak the hidden labels.
    """
    options, solution, start = fit.options, fit.outcome.solution, None
    if options.tol is not None and solution.solver == "cg":
        options = replace(options, solver="cg", tol=None, max_iter=2 + math.ceil(solution.iterations / 3))
    elif options.tol is not None:
        solver = solution.solver if solution.solver == "elimination" else options.solver  # no need to choose again
        options, start = replace(options, solver=solver, tol=max(options.tol, ROUGH_TOL)), solution.temperatures
    problem = dirichlet_problem(fit.graph, seeds, fit.settings.side)
    return engine_of(options).solve(problem, options, start=start).temperatures
