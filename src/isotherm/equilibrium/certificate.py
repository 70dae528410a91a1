"""Certificates: a rigorous bound on the error of the temperature at each node.

Let ``h`` be the expected time to absorption, ``(I - Q) h = 1``. The error of temperatures X with residual ``r`` is
``(I - Q)^-1 r``, so ``|X - X*| <= h max|r|`` (the maximum principle). The same holds for any ``h'`` with
``(I - Q) h' >= 1``.

The residual is usually large at a few nodes and changes sign from node to node, so that most of it cancels out. A few
sweeps smooth it: on a power-law graph with a million nodes, four sweeps make the bound ten times smaller.
"""

from dataclasses import dataclass, replace

import numpy as np

from isotherm import kernels
from isotherm.arrays import Doubles, Floats
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Prepare, Problem, local_solver, solve_columns
from isotherm.equilibrium.solvers import Request, Solver, Source, System
from isotherm.equilibrium.solvers.interior import Interior, deviations
from isotherm.equilibrium.solvers.system import keep_within, of_true_spread
from isotherm.errors import muted
from isotherm.kernels import Report

SMOOTHING = 4  # sweeps
WIDEST = kernels.WIDTHS[-1]  # columns that are swept at once
MOST_RESIDUAL = 0.05  # largest residual of (I - Q) h = 1
TOLERANCES = (1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)  # tried in turn for h


@dataclass(frozen=True, eq=False)
class Certificate:
    """Temperatures with a bound on their error: ``times[i] * residual[c]`` for node i and class c."""

    temperatures: Doubles  # (n, K) improved by a few sweeps; NaN where unreached
    times: Doubles  # (n,) upper bounds on the expected time to absorption; 0 at seeds
    residual: Doubles  # (K,) largest residual of each class, with an allowance for rounding

    @property
    def error_bound(self) -> float:
        """The largest bound, relative to the spread of its class at equilibrium."""
        spread = np.nanstd(self.temperatures, axis=0)
        residual = float(np.max(self.residual / np.where(spread > 0, spread, 1)))
        return of_true_spread(float(np.max(self.times, initial=0)) * residual)


def certify(
    problem: Problem, temperatures: Floats, options: SolveOptions, *, prepare: Prepare = local_solver
) -> Certificate:
    """Bound the error of the temperatures (n, K) of a graph's nodes."""
    lifting, system = problem.lifting, problem.system
    solver = prepare(system, options, 1)
    values = lifting.values(problem.values(slice(None)))
    lifted = lifting.start(temperatures)
    if lifting.directed:  # the bound needs the temperatures of both copies of a node, not just their mean
        from isotherm.equilibrium.unconverged import ConvergenceWarning

        with muted(ConvergenceWarning):  # the bound shows the remaining error
            lifted = solve_columns(solver, system, values, options, start=lifted).temperatures
    sweeping = _Sweeping(system, kernels.thread_count(options.threads))
    smoothed, residual = np.full(lifted.shape, np.nan), np.zeros(values.shape[1])
    for part in (slice(first, first + WIDEST) for first in range(0, values.shape[1], WIDEST)):
        smoothed[:, part], residual[part] = sweeping.smooth(values[:, part], lifted[:, part])
    times = lifting.copies(sweeping.upper_bound(absorption_times(system, solver, options)))
    reached = ~np.isnan(lifting.copies(smoothed[:, 0]))
    mean_times = times.sum(axis=0) / np.maximum(np.count_nonzero(reached, axis=0), 1)  # as for temperatures
    return Certificate(lifting.lowered(smoothed).astype(np.float64), mean_times, residual)


def absorption_times(system: System, solver: Solver, options: SolveOptions) -> Doubles:
    """Approximate expected time to absorption of each interior node, shape (n,); 0 elsewhere."""
    inside = np.flatnonzero(system.interior)
    if not len(inside):
        return np.zeros(len(system.degree))
    held = np.zeros((len(system.boundary), 1))
    source = Source(inside, system.degree[inside, None])  # (I - Q) h = 1 is L h = D 1
    start: Floats | None = None
    for tol in TOLERANCES:
        quiet = replace(options, tol=tol, max_iter=None, progress=None)
        solution = solver.solve(Request(held, quiet, source, start))
        times, start = solution.temperatures[:, 0], solution.temperatures
        if solution.residual * float(np.nanstd(times, dtype=np.float64)) <= MOST_RESIDUAL:
            break
    return np.where(system.interior, times, 0).astype(np.float64)


class _Sweeping:
    """Sweeps in float64, with a bound on the rounding error of a mean over neighbours."""

    def __init__(self, system: System, threads: int) -> None:
        self.system, self.interior = system, Interior(system, np.float64, threads)
        self.rounding = system.mean_rounding

    def smooth(self, values: Doubles, temperatures: Floats) -> tuple[Doubles, Doubles]:
        """The temperatures after a few sweeps, and the largest residual of each column."""
        system, columns = self.system, values.shape[1]
        offset = values.mean(axis=0)
        x, spare = self._blocks(columns)
        x[system.interior, :columns] = temperatures[system.interior] - offset
        x[system.boundary, :columns] = deviations(values, offset)
        for _ in range(SMOOTHING):
            self._sweep(x, spare)
            x, spare = spare, x
        report = self._sweep(x, spare)
        found = x[:, :columns] + offset
        found[system.boundary] = values
        found[~system.reached] = np.nan
        keep_within(found, values.min(axis=0), values.max(axis=0))
        return found, (report.residual + self.rounding * report.size)[:columns]

    def upper_bound(self, times: Doubles) -> Doubles:
        """The times, scaled up so that ``(I - Q) h >= 1``; infinite in the interior if no factor is enough."""
        x, spare = self._blocks(1)
        x[:, 0] = times
        self._sweep(x, spare)
        gain = (x[:, 0] - spare[:, 0])[self.system.interior]
        least = float(np.min(gain, initial=1)) - self.rounding * float(np.max(times, initial=0))
        return times / least if least > 0 else np.where(self.system.interior, np.inf, 0)

    def _blocks(self, columns: int) -> list[Floats]:
        return [kernels.block(len(self.system.degree), kernels.width(columns), np.float64) for _ in range(2)]

    def _sweep(self, x: Floats, out: Floats) -> Report:
        arrays = self.interior.scale, np.zeros(x.shape[1]), x, out
        return Report(*kernels.active.sweep(*self.interior.graph, *arrays, self.interior.threads))
