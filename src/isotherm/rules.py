"""Rules: what temperatures say about classes.

Each takes the temperatures of n nodes for K classes, with NaN rows where unreached, and gives scores of the same
shape; a node takes the class of its highest score. Means and sums are taken over reached nodes, in float64.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isotherm.solvers.base import Floats

if TYPE_CHECKING:
    from isotherm.seeds import Seeds

__all__ = ["RULES", "apply_rule", "centered", "relative", "vanilla", "weighted"]

RULES = ("centered", "relative", "vanilla", "weighted")


def vanilla(temperatures: Floats) -> Floats:
    """The temperatures as they are (Zhu, Ghahramani and Lafferty 2003); for two classes, the threshold is 0.5."""
    return temperatures


def centered(temperatures: Floats) -> Floats:
    """How far each temperature is above the mean of its class; for two classes, the threshold is the mean.

    >>> centered(np.array([[1.0, 0.0], [0.2, 0.8], [0.0, 1.0]])).round(1)
    array([[ 0.6, -0.6],
           [-0.2,  0.2],
           [-0.4,  0.4]])
    """
    return temperatures - _mean(temperatures)


def relative(temperatures: Floats) -> Floats:
    """How many times the mean of its class each temperature is."""
    return temperatures / _mean(temperatures)


def weighted(temperatures: Floats, seeds: NDArray[np.int64], shares: NDArray[np.float64]) -> Floats:
    """Class-mass normalisation (eq. 9 of Zhu, Ghahramani and Lafferty 2003).

    Each column is scaled so that its sum over the nodes that are no seeds is the share of the class among the seeds.
    """
    others = np.delete(temperatures, seeds, axis=0)
    mass = np.nansum(others, axis=0, dtype=np.float64)  # (K,)
    scale = np.divide(shares, mass, out=shares.copy(), where=mass > 0)
    return temperatures * scale.astype(temperatures.dtype)


def apply_rule(rule: str, temperatures: Floats, seeds: "Seeds", columns: slice = slice(None)) -> Floats:
    """The scores that a rule, by its name, makes of the temperatures of all classes, or of those in some columns."""
    if rule == "weighted":
        return weighted(temperatures, seeds.nodes, seeds.shares[columns])
    return {"vanilla": vanilla, "centered": centered, "relative": relative}[rule](temperatures)


def _mean(temperatures: Floats) -> Floats:
    reached = ~np.isnan(temperatures[:, 0])
    known = temperatures if reached.all() else temperatures[reached]
    return known.mean(axis=0, dtype=np.float64).astype(temperatures.dtype)
