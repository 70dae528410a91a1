"""A direct sparse solve (SuperLU), for small systems: exact up to rounding, whatever the graph."""

import time
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.linalg import SuperLU, splu

from isotherm.solvers.base import Progress, Solution, System
from isotherm.solvers.convergence import largest_ratio

__all__ = ["Direct"]


class Direct:
    """Factorises the interior matrix once; each column then costs two triangular solves."""

    name = "direct"

    def __init__(self, system: System, n_threads: int | None = None) -> None:
        self.system = system
        self.interior = np.flatnonzero(system.interior)
        indptr, indices, weights = system.heat
        data = np.ones(len(indices)) if weights is None else weights.astype(np.float64)
        self.rows = csr_array((data, indices, indptr), shape=(len(system.degree),) * 2)[self.interior]

    @cached_property
    def factors(self) -> SuperLU:
        """The factorised interior matrix."""
        matrix = csc_array(diags_array(self.system.degree[self.interior]) - self.rows[:, self.interior])
        return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def solve(
        self,
        values: NDArray[np.float64],
        *,
        start: NDArray[np.floating] | None = None,
        tol: float | None,
        max_iter: int | None = None,
        closed: bool = False,
        progress: Progress | None = None,
    ) -> Solution:
        """Find the equilibrium; see :class:`isotherm.solvers.base.Solver`."""
        began = time.perf_counter()
        temperatures = np.full((len(self.system.degree), values.shape[1]), np.nan)
        offset = values.mean(axis=0)  # a constant boundary then gives a constant, exactly
        temperatures[self.system.boundary] = values - offset
        temperatures[self.interior] = 0
        for _ in range(2):  # the second correction removes most of the rounding of the first
            correction = self._correct(temperatures)
            temperatures[self.interior] += correction
        residual = np.abs(self._residual(temperatures)) / self.system.degree[self.interior, None]
        horizon = float(np.max(self.horizon(), initial=0))
        spread = _close(temperatures[self.system.reached], closed).std(axis=0)
        size = np.nanmax(np.abs(temperatures), axis=0, initial=0)
        rounding = np.finfo(np.float64).eps * np.where(size > 0, 2 * horizon * size + np.abs(values).max(axis=0), 0)
        error, bound, rest = (
            float(largest_ratio(np.abs(_close(value, closed)).max(axis=0, initial=0), spread))
            for value in (correction, horizon * residual + rounding, residual)
        )
        temperatures += offset
        temperatures[self.system.boundary] = values
        return Solution(
            temperatures=temperatures,
            solver=self.name,
            iterations=0,
            residual=rest,
            error=min(error, bound),
            error_bound=bound,
            converged=tol is not None and min(error, bound) <= tol,
            seconds=time.perf_counter() - began,
        )

    def horizon(self) -> NDArray[np.float64]:
        """The expected time to absorption; see :class:`isotherm.solvers.base.Solver`."""
        times = np.zeros(len(self.system.degree))
        times[self.interior] = self._solve(self.system.degree[self.interior])
        return times

    def _residual(self, temperatures: NDArray[np.float64]) -> NDArray[np.float64]:
        neighbours = self.rows @ np.nan_to_num(temperatures)  # an interior node has no unreached neighbour
        return neighbours - self.system.degree[self.interior, None] * temperatures[self.interior]

    def _correct(self, temperatures: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._solve(self._residual(temperatures))

    def _solve(self, source: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.factors.solve(source) if len(self.interior) else source


def _close(values: NDArray[np.float64], closed: bool) -> NDArray[np.float64]:
    return np.column_stack([values, values.sum(axis=1)]) if closed else values
