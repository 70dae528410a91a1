"""Select the rule with the best macro-F1 on held-out seeds, if it is clearly better than the default rule."""

from typing import NamedTuple

import numpy as np

from isotherm.arrays import Ints
from isotherm.insight.confidence.trial import Trial
from isotherm.labelling.metrics import macro_f1
from isotherm.labelling.rules import DEFAULT_RULE, FALLBACK

__all__ = ["RuleScore", "compare_rules", "select_rule"]

STANDARD_ERRORS = 3.0  # lead over the default rule, in standard errors, that another rule needs


class RuleScore(NamedTuple):
    """How well a rule labels held-out seeds.

    Attributes
    ----------
    macro_f1
        Over all held-out seeds; an unreached one counts as wrong.
    std
        Standard deviation of the macro-F1 of the folds.
    """

    macro_f1: float
    std: float


def compare_rules(trial: Trial, predicted: dict[str, Ints]) -> dict[str, RuleScore]:
    """Macro-F1 of every rule on the held-out seeds, given the class numbers that it predicts; empty without seeds."""
    if not len(trial.codes):
        return {}
    report = {}
    for rule, codes in predicted.items():
        folds = [macro_f1(trial.codes[fold], codes[fold]) for fold in trial.each_fold()]
        report[rule] = RuleScore(macro_f1(trial.codes, codes), float(np.std(folds)))
    return report


def select_rule(report: dict[str, RuleScore], n_hidden: int) -> str:
    """The best rule, if it leads the default rule by more than three standard errors; else the default rule.

    The standard error of a share among n seeds is at most ``0.5 / sqrt(n)``. Always taking the best rule would follow
    the noise, and loses on most graphs.

    >>> report = {"balanced": RuleScore(0.6, 0.1), "vanilla": RuleScore(0.8, 0.1)}
    >>> select_rule(report, n_hidden=50), select_rule(report, n_hidden=100)
    ('balanced', 'vanilla')
    """
    usual = DEFAULT_RULE if DEFAULT_RULE in report else FALLBACK.name
    if not report:
        return usual
    best = max(report, key=lambda rule: report[rule].macro_f1)
    lead = report[best].macro_f1 - report[usual].macro_f1
    return best if lead > STANDARD_ERRORS * 0.5 / n_hidden**0.5 else usual
