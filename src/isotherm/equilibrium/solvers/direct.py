"""A direct sparse solver (SuperLU) for small systems: exact up to rounding on any graph."""

import time
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, diags_array
from scipy.sparse.linalg import SuperLU, splu

from isotherm.arrays import Doubles, Floats
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers.accuracy.convergence import largest_ratio, with_closing
from isotherm.equilibrium.solvers.accuracy.horizon import mean_rounding, verified_horizon
from isotherm.equilibrium.solvers.base import Solution, Source, System
from isotherm.equilibrium.solvers.exact import MOST_NODES, Exact

__all__ = ["Direct"]

POOR = 1e-4  # a bound on the error above this, and above the tolerance, calls for exact elimination


class Direct:
    """Factorises the interior matrix once; each column then costs two triangular solves."""

    name = "direct"

    def __init__(self, system: System, n_threads: int | None = None) -> None:
        self.system = system
        self.interior = np.flatnonzero(system.interior)
        self.degree = system.degree[self.interior]
        self.rows = system.heat.to_scipy().astype(np.float64)[self.interior]

    @cached_property
    def factors(self) -> SuperLU | None:
        """The factorised interior matrix; None if rounding makes it singular."""
        matrix = csc_array(diags_array(self.degree) - self.rows[:, self.interior])
        try:
            return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        except RuntimeError:
            return None

    @cached_property
    def horizon(self) -> float:
        """An upper bound on the longest expected time to absorption; infinite if rounding allows none."""
        times = np.zeros(len(self.system.degree))
        times[self.interior] = self._solve(self.degree)
        return verified_horizon(self.system, times)

    @cached_property
    def exact(self) -> Exact | None:
        """A solver that needs no horizon, for systems that are small enough for it."""
        return Exact(self.system) if len(self.interior) <= MOST_NODES else None

    def solve(
        self,
        values: Doubles,
        options: SolveOptions,
        *,
        source: Source | None = None,
        start: Floats | None = None,
        closed: bool = False,
    ) -> Solution:
        """Find the equilibrium; see :class:`isotherm.equilibrium.solvers.base.Solver`."""
        began = time.perf_counter()
        entering = 0.0 if source is None else source.everywhere(len(self.system.degree))[self.interior]
        temperatures = np.full((len(self.system.degree), values.shape[1]), np.nan)
        offset = values.mean(axis=0)  # so that a constant boundary gives exactly constant temperatures
        temperatures[self.system.boundary] = values - offset
        temperatures[self.interior] = 0
        for _ in range(2):  # iterative refinement: the second solve corrects the rounding errors of the first
            correction = np.nan_to_num(self._solve(self._residual(temperatures) + entering), posinf=0, neginf=0)
            temperatures[self.interior] += correction
        residual = np.abs(self._residual(temperatures) + entering) / self.degree[:, None]
        spread = self.system.spread(temperatures, closed=closed)
        size = np.nanmax(np.abs(temperatures), axis=0, initial=0)
        eps = float(np.finfo(np.float64).eps)
        rounding = np.where(size > 0, mean_rounding(self.system) * size, 0)
        known = self.horizon if np.isfinite(self.horizon) else 0.0
        error, bound, rest = (
            float(largest_ratio(np.abs(with_closing(value, closed)).max(axis=0, initial=0), spread))
            for value in (
                correction,
                known * (residual + rounding) + eps * np.where(size > 0, np.abs(values).max(axis=0), 0),
                residual,
            )
        )
        if not np.isfinite(self.horizon):
            error = bound = np.inf
        if bound > max(options.tol or 0.0, POOR) and self.exact is not None:
            return self.exact.solve(values, options, source=source, closed=closed)
        temperatures += offset
        temperatures[self.system.boundary] = values
        return Solution(
            temperatures=temperatures,
            solver=self.name,
            iterations=0,
            residual=rest,
            error=min(error, bound),
            error_bound=bound,
            converged=options.tol is not None and min(error, bound) <= options.tol,
            seconds=time.perf_counter() - began,
        )

    def _residual(self, temperatures: Doubles) -> Doubles:
        neighbours = self.rows @ np.nan_to_num(temperatures)  # an interior node has no unreached neighbour
        return neighbours - self.degree[:, None] * temperatures[self.interior]

    def _solve(self, heat: Doubles) -> Doubles:
        if not len(self.interior):
            return heat
        return np.full(heat.shape, np.inf) if self.factors is None else self.factors.solve(heat)
