"""Which rule to use: the one that finds the held-out seeds again, if it is clearly better than the usual one."""

from typing import NamedTuple

import numpy as np

from isotherm.held_out import HeldOut
from isotherm.model_selection import macro_f1
from isotherm.rules import RULES

__all__ = ["USUAL", "RuleScore", "compare_rules", "select_rule"]

USUAL = "relative"  # the best single rule on fifty graphs
ERRORS = 3.0  # standard errors by which another rule has to be better


class RuleScore(NamedTuple):
    """How well a rule finds held-out seeds again.

    Attributes
    ----------
    macro_f1
        Over all held-out seeds; an unreached one counts as wrong.
    std
        Standard deviation of the macro-F1 of the folds.
    """

    macro_f1: float
    std: float


def compare_rules(held_out: HeldOut) -> dict[str, RuleScore]:
    """Macro-F1 of every rule on the held-out seeds; empty if there are none."""
    if not held_out.folds:
        return {}
    codes = held_out.joined("codes")
    report = {}
    for rule in RULES:
        folds = [macro_f1(fold.codes, fold.predicted[rule]) for fold in held_out.folds]
        report[rule] = RuleScore(macro_f1(codes, held_out.predicted(rule)), float(np.std(folds)))
    return report


def select_rule(report: dict[str, RuleScore], n_hidden: int) -> str:
    """The best rule, if it is better than the usual one by three standard errors, and else the usual one.

    The standard error of a share among n seeds is ``0.5 / sqrt(n)`` at most. To take the best rule whatever its lead
    means to follow the noise: it loses on most graphs.

    >>> report = {"relative": RuleScore(0.6, 0.1), "vanilla": RuleScore(0.8, 0.1)}
    >>> select_rule(report, n_hidden=50), select_rule(report, n_hidden=100)
    ('relative', 'vanilla')
    """
    if not report:
        return USUAL
    best = max(report, key=lambda rule: report[rule].macro_f1)
    lead = report[best].macro_f1 - report[USUAL].macro_f1
    return best if lead > ERRORS * 0.5 / n_hidden**0.5 else USUAL
