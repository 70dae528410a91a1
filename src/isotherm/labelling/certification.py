"""Certified labels: those that no temperature error within its bound can change."""

from dataclasses import replace

import numpy as np

from isotherm.arrays import Ints, Mask
from isotherm.engines import engine_of
from isotherm.equilibrium.certificate import Certificate
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem, warn_about_unreached
from isotherm.equilibrium.solvers import Solution
from isotherm.equilibrium.unconverged import ConvergenceWarning
from isotherm.errors import Option, ParameterError, warn
from isotherm.labelling.fit import Fit
from isotherm.labelling.outcomes import OneLabel
from isotherm.labelling.rules import Rule
from isotherm.labelling.settings import Settings
from isotherm.seeds import Seeds

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8)  # tried in turn with stop="labels"


def until_certain(problem: Problem, seeds: Seeds, settings: Settings, options: SolveOptions) -> Fit:
    """Lower the tolerance until enough labels are certified."""
    fit, iterations, start = None, 0, None
    for tol in TOLERANCES:
        solution = engine_of(options).solve(problem, replace(options, tol=tol), start=start)
        if fit is None:
            warn_about_unreached(solution.temperatures)
        iterations += solution.iterations
        fit = _certified(problem, seeds, settings, replace(solution, iterations=iterations))
        start = fit.outcome.temperatures
        share = float(np.mean(~certified(fit)[fit.outcome.reached]))
        if share <= settings.open_share:
            return fit
    message = "{share:.1%} of the labels are not certified: they may be ties; raise {open_share}"
    warn(ConvergenceWarning(message, share=share, open_share=Option("open_share", settings.open_share)))
    assert fit is not None
    return fit


def _certified(problem: Problem, seeds: Seeds, settings: Settings, solution: Solution) -> Fit:
    """A fit with the temperatures of the certificate, which are slightly more accurate."""
    found = engine_of(settings.solving).certify(problem, solution.temperatures, settings.solving)
    solution = replace(solution, temperatures=found.temperatures, error_bound=found.error_bound)
    return Fit(problem, seeds, settings, OneLabel(solution, seeds, settings.heat_rule), proof=found)


def certified(fit: Fit) -> Mask:
    """Nodes whose label would certainly be the same at exact equilibrium."""
    outcome = fit.one_label("certified_")
    if outcome.rule is None:
        raise ParameterError("labels by probabilities cannot be certified: use DirichletClassifier")
    codes = certain_codes(fit.certificate, outcome.rule, fit.seeds)
    return (codes >= 0) & (fit.seeds.decode(codes) == outcome.labels)


def certain_codes(certificate: Certificate, rule: Rule, seeds: Seeds) -> Ints:
    """The class number that each node certainly has at exact equilibrium; -1 where that is uncertain."""
    codes = np.full(len(certificate.times), -1, dtype=np.int64)
    reached = ~np.isnan(certificate.temperatures[:, 0])
    is_seed = np.zeros(len(codes), bool)
    is_seed[seeds.nodes] = True
    errors = certificate.times[reached, None] * certificate.residual
    scores, errors = rule.bounds(certificate.temperatures[reached], errors, is_seed[reached], seeds.shares)
    best = scores.argmax(axis=1)
    rows = np.arange(len(best))
    lowest_best = (scores - errors)[rows, best]
    highest_others = scores + errors
    highest_others[rows, best] = -np.inf
    codes[reached] = np.where(lowest_best > highest_others.max(axis=1), best, -1)
    held = seeds.held
    codes[held.nodes] = held.codes
    return codes
