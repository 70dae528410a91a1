"""What is certain about temperatures that are not quite at equilibrium: a bound on their error, node by node.

Let ``h`` be the expected time to absorption, ``(I - Q) h = 1``. The error of temperatures X with residual ``r`` is
``(I - Q)^-1 r``, so ``|X - X*| <= h max|r|`` (the maximum principle), and any ``h'`` with ``(I - Q) h' >= 1`` will do.

A residual is rough: large at a few nodes, with changing signs, and mostly of no consequence. A few sweeps smooth it.
On a power law with a million nodes four of them make the bound ten times smaller.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.dirichlet import ConvergenceWarning, column_blocks, interior_system, solve
from isotherm.graph import Graph
from isotherm.seeds import Seeds
from isotherm.soft_seeds import ground
from isotherm.solvers import System, prepare
from isotherm.solvers.base import Floats
from isotherm.solvers.iterative import deviations

__all__ = ["Certificate", "certify"]

SWEEPS = 4


@dataclass(frozen=True, eq=False)
class Certificate:
    """Temperatures with a bound on their error: of node i and class c, ``times[i] * residual[c]``.

    Attributes
    ----------
    temperatures : ndarray of shape (n, K)
        Improved by a few sweeps; NaN where unreached.
    times : ndarray of shape (n,)
        Upper bounds on the expected time to absorption; 0 at seeds.
    residual : ndarray of shape (K,)
        Largest residual of each class, with an allowance for rounding.
    """

    temperatures: NDArray[np.float64]
    times: NDArray[np.float64]
    residual: NDArray[np.float64]

    @property
    def error_bound(self) -> float:
        """The largest bound, relative to the spread of its class."""
        spread = np.nanstd(self.temperatures, axis=0)
        return float(np.max(self.times, initial=0) * np.max(self.residual / np.where(spread > 0, spread, 1)))

    def labels(self, rule: str, seeds: Seeds) -> NDArray[np.int64]:
        """The class number that each node certainly has at equilibrium by a rule, -1 where that is open."""
        codes = np.full(len(self.times), -1, dtype=np.int64)
        reached = ~np.isnan(self.temperatures[:, 0])
        scores, errors = self._scores(rule, seeds, reached)
        best = scores.argmax(axis=1)
        rows = np.arange(len(best))
        least = (scores - errors)[rows, best]
        others = scores + errors
        others[rows, best] = -np.inf
        codes[reached] = np.where(least > others.max(axis=1), best, -1)
        codes[seeds.nodes[seeds.held]] = seeds.codes[seeds.held]
        return codes

    def _scores(
        self, rule: str, seeds: Seeds, reached: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Scores of the reached nodes, and bounds on their errors."""
        x = self.temperatures[reached]
        errors = self.times[reached, None] * self.residual
        if rule == "vanilla":
            return x, errors
        if rule == "centered":
            return x - x.mean(axis=0), errors + errors.mean(axis=0)
        counted = np.ones(len(self.times), bool)
        counted[seeds.nodes] = rule != "weighted"
        counted = counted[reached]
        mass, mass_error = x[counted].sum(axis=0), errors[counted].sum(axis=0)
        factor = seeds.shares if rule == "weighted" else np.full(len(mass), float(counted.sum()))
        scale = np.divide(factor, mass, out=factor.copy(), where=mass > 0)
        left = mass - mass_error  # at least so much is there at equilibrium
        spoilt = np.divide(1, left, out=np.where(mass_error > 0, np.inf, 1.0), where=left > 0)
        with np.errstate(invalid="ignore"):  # no error at all, in a class of which nothing is known
            bounds = (factor * errors + np.abs(scale * x) * mass_error) * spoilt
        return scale * x, np.where(np.isnan(bounds), np.inf, bounds)


def certify(
    graph: Graph,
    nodes: NDArray[np.int64],
    values: NDArray[np.float64],
    temperatures: Floats,
    *,
    weights: NDArray[np.float64] | None = None,
    side: str = "both",
    solver: str = "auto",
    tol: float | None = 1e-3,
    n_threads: int | None = None,
) -> Certificate:
    """Bound the error of the temperatures of a graph's nodes.

    For a directed graph the two copies of each node are solved for again, from their mean: it does not tell them apart.
    """
    own = graph.n_nodes
    graph, nodes = ground(graph, nodes, weights, side)
    n, both = graph.n_nodes, graph.directed and side == "both"
    temperatures = np.concatenate([temperatures, np.full((n - own, temperatures.shape[1]), np.nan)])
    if both:
        nodes, values = np.concatenate([nodes, nodes + n]), np.concatenate([values, values])
    system = interior_system(graph.heat, nodes, sources=n if graph.directed else None)
    if graph.directed:
        start = np.concatenate([temperatures] * 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the bound tells how good they are
            temperatures = solve(system, values, start=start, solver=solver, tol=tol, n_threads=n_threads).temperatures
    whole = _certify(system, values, temperatures, solver=solver, n_threads=n_threads)
    source, destination = (
        Certificate(whole.temperatures[first : first + own], whole.times[first : first + own], whole.residual)
        for first in (0, n)
    )
    return _mean(source, destination) if both else source


def _mean(source: Certificate, destination: Certificate) -> Certificate:
    """Of the copies that are reached."""
    a, b = source.temperatures, destination.temperatures
    known = (~np.isnan(a[:, 0])).astype(np.float64) + ~np.isnan(b[:, 0])
    known[known == 0] = np.nan
    temperatures = (np.nan_to_num(a) + np.nan_to_num(b)) / known[:, None]
    times = (source.times + destination.times) / np.nan_to_num(known, nan=1)
    return Certificate(temperatures, times, source.residual)


def _certify(
    system: System, values: NDArray[np.float64], temperatures: Floats, *, solver: str, n_threads: int | None
) -> Certificate:
    smoothed = np.full(temperatures.shape, np.nan)
    residual = np.zeros(values.shape[1])
    threads = kernels.thread_count(n_threads)
    for part in column_blocks(values.shape[1]):
        smoothed[:, part], residual[part] = _smooth(system, values[:, part], temperatures[:, part], threads)
    times = prepare(system, solver, n_threads=n_threads).horizon()
    return Certificate(smoothed, _upper_bound(system, times, threads), residual)


def _smooth(
    system: System, values: NDArray[np.float64], temperatures: Floats, threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The temperatures after a few sweeps, and the largest residual of each column."""
    columns = values.shape[1]
    offset = values.mean(axis=0)
    x, spare = (kernels.block(len(temperatures), kernels.width(columns), np.float64) for _ in range(2))
    x[system.interior, :columns] = temperatures[system.interior] - offset
    x[system.boundary, :columns] = deviations(values, offset)
    for _ in range(SWEEPS):
        _sweep(system, x, spare, threads)
        x, spare = spare, x
    report = _sweep(system, x, spare, threads)
    rounding = _rounding(system) * report.size
    found = x[:, :columns] + offset
    found[system.boundary] = values
    found[~system.reached] = np.nan
    return found, (report.residual + rounding)[:columns]


def _upper_bound(system: System, times: NDArray[np.float64], threads: int) -> NDArray[np.float64]:
    """The times, scaled up until they are enough: ``(I - Q) h >= 1``."""
    x, spare = (kernels.block(len(times), kernels.WIDTHS[0], np.float64) for _ in range(2))
    x[:, 0] = times
    _sweep(system, x, spare, threads)
    gain = (x[:, 0] - spare[:, 0])[system.interior]
    least = float(np.min(gain, initial=1)) - _rounding(system) * float(np.max(times, initial=0))
    return times / least if least > 0 else np.where(system.interior, np.inf, 0)


def _rounding(system: System) -> float:
    """Of a mean over neighbours, at most, relative to the largest of them."""
    return (4 + int(np.max(np.diff(system.heat.indptr), initial=0))) * float(np.finfo(np.float64).eps)


def _sweep(system: System, x: Floats, out: Floats, threads: int) -> kernels.Report:
    indptr, indices, weights = system.heat
    scale = np.divide(1, system.degree, out=np.zeros(len(x)), where=system.interior)
    weights = None if weights is None else weights.astype(np.float64, copy=False)
    closing: NDArray[Any] = np.zeros(x.shape[1])
    return kernels.Report(*kernels.active.sweep(indptr, indices, weights, scale, closing, x, out, threads))
