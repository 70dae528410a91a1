"""Which labels are certain: those that no temperature error within its bound can change."""

import numpy as np

from isotherm.arrays import Ints
from isotherm.equilibrium.certificate import Certificate
from isotherm.labelling.rules import TemperatureRule
from isotherm.seeds import Seeds

__all__ = ["certain_codes"]


def certain_codes(certificate: Certificate, rule: TemperatureRule, seeds: Seeds) -> Ints:
    """The class number that the rule certainly gives each node at exact equilibrium; -1 where it is uncertain."""
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
