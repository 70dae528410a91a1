"""The fit: solve for temperatures, apply a rule, keep the outcome (section 3 of the paper)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from isotherm.arrays import Doubles, Floats, Mask
from isotherm.engines import engine_of
from isotherm.equilibrium.certificate import Certificate
from isotherm.equilibrium.options import Progress, SolveOptions
from isotherm.equilibrium.problem import Problem, warn_about_unreached
from isotherm.equilibrium.solvers import Solution
from isotherm.equilibrium.unconverged import ConvergenceWarning
from isotherm.errors import Option, ParameterError, warn
from isotherm.graphs import Graph
from isotherm.labelling.changes import in_classes, warm_start
from isotherm.labelling.estimate import check_memory
from isotherm.labelling.outcome.certainty import certain_codes
from isotherm.labelling.outcome.decided import Decided, Decision, class_factors
from isotherm.labelling.outcome.outcomes import AllScores, Outcome, needed_memory
from isotherm.labelling.outcome.ranking import best_scores
from isotherm.labelling.outcome.several import find_label_sets
from isotherm.labelling.rules import FALLBACK, RULES, ProbabilityRule, Rule, TemperatureRule
from isotherm.labelling.settings import AUTO, Settings
from isotherm.seeds import Seeds

__all__ = ["Choose", "Fit", "find_labels"]

CERTAIN_TOLS = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8)  # tried in turn with stop="labels"


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
    rule : Rule
        The rule that was used: the requested one, or with ``rule="auto"`` the one selected on held-out seeds.
        A rule on temperatures, if probabilities were requested but cannot be had.
    outcome : Outcome
        Labels, scores and temperatures.
    certificate : Certificate, optional
        A bound on the error of the temperatures; only with ``stop="labels"``, which needs it to know when to stop.
    obstacle : str
        Why the requested rule was not used, such as "no seed can be hidden"; empty if it was.
    """

    problem: Problem
    seeds: Seeds
    settings: Settings
    rule: Rule
    outcome: Outcome
    certificate: Certificate | None = None
    obstacle: str = ""

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.problem.graph

    @property
    def options(self) -> SolveOptions:
        """How the problem was solved."""
        return self.settings.solving

    @property
    def by_temperatures(self) -> TemperatureRule:
        """The rule, if it goes by temperatures; else `FALLBACK`."""
        return self.rule if isinstance(self.rule, TemperatureRule) else FALLBACK

    def with_rule(self, rule: TemperatureRule) -> "Fit":
        """The same temperatures, scored by another rule."""
        return replace(self, rule=rule, outcome=AllScores(self.outcome.solution, rule, self.seeds))

    def decision(self, rule: ProbabilityRule, chances: Doubles) -> Decision:
        """How a rule makes scores of probabilities (n, K)."""
        return Decision.of(rule, chances, self.seeds, class_factors(self.settings.class_weight, self.seeds))

    def decided(self, rule: ProbabilityRule, chances: Doubles) -> "Fit":
        """The same temperatures, with labels by probabilities (n, K)."""
        outcome = Decided(self.outcome.solution, self.seeds, chances, self.decision(rule, chances))
        return replace(self, rule=rule, outcome=outcome)


Choose: TypeAlias = Callable[[Fit], TemperatureRule]  # selects the rule, given a first fit


def dirichlet_problem(graph: Graph, seeds: Seeds, side: str) -> Problem:
    """One column for each class: its seeds are held at 1, all others at 0."""
    return Problem(graph, seeds.nodes, seeds.values, seeds.n_classes, weights=seeds.weights, side=side)


def find_labels(
    graph: Graph,
    seeds: Seeds,
    settings: Settings,
    *,
    before: Fit | None = None,
    progress: Progress | None = None,
    choose: Choose | None = None,
) -> Fit:
    """Label all nodes of a graph by a rule on temperatures: the requested one, or `FALLBACK` in place of others.

    Parameters
    ----------
    graph, seeds, settings
        The inputs, and the parameters of the classifier.
    before
        A fit of the same graph with other seeds; its temperatures are corrected, or the solve begins with them.
    progress
        Called after each iteration with its number and the present error.
    choose
        With ``rule="auto"`` and ``stop="labels"``, selects the rule, given a first fit.
    """
    _check_applicable(graph, seeds, settings)
    check_memory(graph, seeds.n_classes, settings)
    options = replace(settings.solving, progress=progress)
    rule, obstacle = _first_rule(graph, seeds, settings)
    problem = dirichlet_problem(graph, seeds, settings.side)
    if seeds.several:
        threshold, memory = settings.threshold, settings.allowed_memory
        start = None if before is None else _start(before, seeds, options)
        found = find_label_sets(problem, seeds, options, rule, threshold=threshold, max_memory=memory, start=start)
        return Fit(problem, seeds, settings, rule, found, obstacle=obstacle)
    if not _keeps_all_scores(graph, seeds, settings):
        return Fit(problem, seeds, settings, rule, best_scores(problem, options, seeds, rule), obstacle=obstacle)
    if settings.stop == "labels":
        options = replace(options, tol=CERTAIN_TOLS[0])
    if before is None:
        solution = engine_of(options).solve(problem, options)
    else:
        solution = _solve_again(before, problem, seeds, options)
    warn_about_unreached(solution.temperatures)
    fit = Fit(problem, seeds, settings, rule, AllScores(solution, rule, seeds), obstacle=obstacle)
    if settings.stop != "labels":
        return fit
    return _until_certain(fit.with_rule(choose(fit)) if choose is not None and settings.rule == AUTO else fit, options)


def _first_rule(graph: Graph, seeds: Seeds, settings: Settings) -> tuple[TemperatureRule, str]:
    """The rule on temperatures to begin with, and why it must stay if another was requested."""
    wanted = RULES.get(settings.rule)
    if isinstance(wanted, TemperatureRule):
        return wanted, ""
    if wanted is None:
        return FALLBACK, ""
    class_factors(settings.class_weight, seeds)  # refuses unknown labels before any work
    if seeds.several:
        return FALLBACK, "nodes may have several labels"
    if settings.stop == "labels":
        return FALLBACK, "only labels by temperatures can be certified"
    if not _keeps_all_scores(graph, seeds, settings):
        return FALLBACK, "not all scores are kept"
    return FALLBACK, "probabilities are not calibrated" if settings.calibration is None else ""


def _solve_again(before: Fit, problem: Problem, seeds: Seeds, options: SolveOptions) -> Solution:
    """The solution for other seeds: the earlier one corrected or, if that is not possible, a start for the solver."""
    corrected, outcome = None, before.outcome
    if outcome.kept and before.options.solver == options.solver:
        temperatures = in_classes(outcome.temperatures, before.seeds, seeds)
        corrected = engine_of(options).correct(before.problem, outcome.solution, problem, temperatures, options)
    return corrected or engine_of(options).solve(problem, options, start=_start(before, seeds, options))


def _start(before: Fit, seeds: Seeds, options: SolveOptions) -> Floats | None:
    """The temperatures of an earlier fit as a start, unless a fixed number of iterations from scratch is wanted."""
    warm = options.tol is not None and before.outcome.kept
    return warm_start(before.outcome.temperatures, before.seeds, seeds) if warm else None


def _keeps_all_scores(graph: Graph, seeds: Seeds, settings: Settings) -> bool:
    """Whether all scores are kept: if they fit in memory, or are needed to certify labels."""
    return settings.stop == "labels" or needed_memory(graph.n_nodes, seeds.n_classes) <= settings.allowed_memory


def _check_applicable(graph: Graph, seeds: Seeds, settings: Settings) -> None:
    """Refuse settings that do not work with these seeds."""
    if seeds.several and settings.stop == "labels":
        raise ParameterError(
            "{stop} is for seeds with one label each: use {instead}",
            stop=Option("stop", "labels"),
            instead=Option("stop", "error"),
        )
    if seeds.several and settings.rule == AUTO:
        raise ParameterError("{rule} is for seeds with one label each: choose a rule", rule=Option("rule", AUTO))
    if settings.rule == AUTO and not _keeps_all_scores(graph, seeds, settings):
        raise ParameterError(
            "{rule} needs all scores, which take {size:.1f} GB: choose a rule, or raise {max_memory}",
            rule=Option("rule", AUTO),
            size=needed_memory(graph.n_nodes, seeds.n_classes) / 2**30,
            max_memory=Option("max_memory"),
        )


def _until_certain(fit: Fit, options: SolveOptions) -> Fit:
    """Lower the tolerance until enough labels are certified."""
    problem, iterations = fit.problem, 0
    for tol in CERTAIN_TOLS:
        if tol != CERTAIN_TOLS[0]:
            options = replace(options, tol=tol)
            solution = engine_of(options).solve(problem, options, start=fit.outcome.temperatures)
            fit = replace(fit, outcome=AllScores(solution, fit.by_temperatures, fit.seeds))
        iterations += fit.outcome.solution.iterations
        fit = _certified(fit, iterations)
        share = float(np.mean(~certified(fit)[fit.outcome.reached]))
        if share <= fit.settings.open_share:
            return fit
    message = "{share:.1%} of the labels are not certified: they may be ties; raise {open_share}"
    option = Option("open_share", fit.settings.open_share)
    warn(ConvergenceWarning(message, share=share, open_share=option))
    return fit


def _certified(fit: Fit, iterations: int) -> Fit:
    """The fit with a certificate, and with the certificate's temperatures, which are slightly more accurate."""
    found = engine_of(fit.options).certify(fit.problem, fit.outcome.temperatures, fit.options)
    solution = replace(
        fit.outcome.solution,
        temperatures=found.temperatures,
        iterations=iterations,
        error_bound=found.error_bound,
    )
    return replace(fit, outcome=AllScores(solution, fit.by_temperatures, fit.seeds), certificate=found)


def certified(fit: Fit, certificate: Certificate | None = None) -> Mask:
    """Nodes whose label would certainly be the same at exact equilibrium."""
    known = fit.certificate if certificate is None else certificate
    assert known is not None
    if not isinstance(fit.rule, TemperatureRule):
        raise ParameterError("labels by probabilities cannot be certified: set {rule}", rule=Option("rule", "centered"))
    codes = certain_codes(known, fit.rule, fit.seeds)
    return (codes >= 0) & (fit.seeds.decode(codes) == fit.outcome.labels)
