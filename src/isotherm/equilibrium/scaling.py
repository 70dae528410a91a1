"""The unit of weights: temperatures do not depend on it, but floating-point numbers do.

All weights are multiplied by one power of two, which rounds nothing, so that their median is about one. Weights that
are still too large or too small to be summed and divided by are then brought to the limit.
"""

import numpy as np

from isotherm.graphs import Csr

__all__ = ["in_good_unit"]

USUAL = 2.0**20  # a median between the inverse of this and this is left alone
FARTHEST = 2.0**400  # weights are kept between the inverse of this and this
SAMPLE = 100_000  # weights whose median is taken


def in_good_unit(heat: Csr) -> tuple[Csr, float]:
    """The matrix with weights near one, and what they were multiplied by; the same object if they are near one.

    >>> heat, factor = in_good_unit(Csr(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([3e-300, 3e-300])))
    >>> heat.weights.tolist() == [3e-300 * factor] * 2, bool(0.5 <= heat.weights[0] < 1)
    (True, True)
    """
    weights = heat.weights
    if weights is None or not len(weights):
        return heat, 1.0
    single = weights.dtype == np.float32  # whose positive numbers are all within the limits
    low, high = (1.0, 1.0) if single else (float(weights.min()), float(weights.max()))
    middle = float(np.median(weights[:: max(1, len(weights) // SAMPLE)]))
    if 1 / USUAL <= middle <= USUAL and low >= 1 / FARTHEST and high <= FARTHEST:
        return heat, 1.0
    exponent = min(-int(np.frexp(middle)[1]), 1023)  # the largest whose power of two is finite
    moved = np.clip(np.ldexp(weights.astype(np.float64), exponent), 1 / FARTHEST, FARTHEST)
    return heat._replace(weights=moved), float(np.ldexp(1.0, exponent))
