"""The longest expected time to absorption, as a bound that rounding cannot spoil."""

import numpy as np

from isotherm.arrays import Doubles
from isotherm.equilibrium.solvers.base import System

__all__ = ["mean_rounding", "verified_horizon"]


def mean_rounding(system: System) -> float:
    """Bound on the rounding of a mean over neighbours in float64, relative to the largest of them."""
    return (4 + int(np.max(np.diff(system.heat.indptr), initial=0))) * float(np.finfo(np.float64).eps)


def verified_horizon(system: System, times: Doubles) -> float:
    """An upper bound on the longest time, from times (n,) that are about right; infinite if they are not.

    Any ``h`` with ``(I - Q) h >= 1`` is a bound, so that the times are scaled until that holds.
    """
    inside = system.interior
    if not np.isfinite(times[inside]).all():
        return np.inf
    own, means = times[inside], (system.heat.to_scipy() @ times)[inside] / system.degree[inside]
    least = float(np.min(own - means - mean_rounding(system) * (np.abs(own) + np.abs(means)), initial=1))
    return float(np.max(own, initial=0)) / least if least > 0 else np.inf
