"""When to stop: once the error of the temperatures, not the residual, is below the tolerance.

A small residual does not imply a small error, because residuals add up along the walk from a node to the seeds. On a
400 x 400 grid with 40 seeds, cg had a residual of 0.005 when its error was 0.69. Two measures of the error are combined
instead:

*The bound.* Let ``h`` be the expected time to absorption, ``(I - Q) h = 1``. Then ``|X - X*| <= max(h) max|residual|``.
This always holds, but it assumes that all residuals have the same sign, and so is about a hundred times too large.

*The estimate.* The remaining change is extrapolated from the sizes of the steps so far, ``max|X_{j+1} - X_j|``. Let S
and S' be their sums over the last quarter of the iterations and the quarter before, and t = S / S'. The estimate is
S t / (1 - t). It is good on most graphs, but can be far too small until the slow modes of a graph have moved.

The error is taken as twice the estimate, limited to between a tenth of the bound and the bound. This was tested with cg
on 139 problems: paths, grids, barbells, weakly joined blocks and power-law graphs of up to a million nodes, with one
seed for every ten to ten thousand nodes. The error was below the tolerance in all but three, where it was 1.2 times the
tolerance, and it took a quarter more iterations than stopping by the true error. The estimate alone would have stopped
with errors of up to a hundred times the tolerance; a hundredth of the bound, with up to nine times.

On small graphs the steps of cg are irregular, because a maximum over few nodes varies more than one over many. One in
200 random graphs of up to a thousand nodes ended with an error of up to 2.7 times the tolerance. There iterations cost
little, so the error is taken as the bound itself; from there to ten thousand nodes, the lower limit falls to a tenth.

With a good preconditioner M this is not needed: ``M^-1 r`` is the error up to a factor, which was between 0.5 and 4 on
the same graphs. It is multiplied by three.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Doubles
from isotherm.equilibrium.solvers.system import System
from isotherm.kernels import Report

__all__ = [
    "PRECONDITIONED",
    "Convergence",
    "largest_ratio",
    "mean_rounding",
    "of_true_spread",
    "verified_horizon",
    "with_closing",
]

SAFETY = 2.0  # factor on the estimate
PRECONDITIONED = 3.0  # factor on the error that a preconditioner gives
SLACK = 10.0  # the error is taken to be at least the bound divided by this
SMALL = 1000  # below SLACK times so many interior nodes, the divisor shrinks in proportion to them, down to 1
ROUNDINGS = 4  # rounding errors of a mean: weights, products, their sum, and the division
TINY = np.finfo(np.float64).tiny


def largest_ratio(values: NDArray[np.floating], spread: Doubles) -> Doubles:
    """The largest ratio of value to spread in each row; 0/0 counts as 0, x/0 as infinity."""
    if not spread.all():
        values, spread = np.where(values > 0, np.where(spread > 0, values, np.inf), 0), np.where(spread > 0, spread, 1)
    found: Doubles = (values / spread).max(axis=-1, initial=0)
    return found


def of_true_spread(bound: float) -> float:
    """A bound relative to the spread at equilibrium, from one relative to the spread of the temperatures found.

    If temperatures are off by at most ``b`` times their spread, their spread is off by at most that, too. So the true
    spread is at least ``1 - b`` times the one found, and can be 0 if ``b`` is 1 or more.

    >>> of_true_spread(0.2), of_true_spread(1.0)
    (0.25, inf)
    """
    return bound / (1 - bound) if bound < 1 else np.inf


def with_closing(values: Doubles, closed: bool) -> Doubles:
    """The columns, and their sum as a further one if they are closed."""
    return np.column_stack([values, values.sum(axis=1)]) if closed else values


def mean_rounding(system: System) -> float:
    """Bound on the rounding error of a mean over neighbours in float64, relative to the largest of them."""
    return (4 + int(np.max(np.diff(system.conductance.indptr), initial=0))) * float(np.finfo(np.float64).eps)


def verified_horizon(system: System, times: Doubles) -> float:
    """A rigorous upper bound on the longest time to absorption, from approximate times (n,); infinite if they are poor.

    Any ``h`` with ``(I - Q) h >= 1`` is a bound, so the times are scaled until that holds.
    """
    inside = system.interior
    if not np.isfinite(times[inside]).all():
        return np.inf
    own, means = times[inside], (system.conductance.to_scipy() @ times)[inside] / system.degree[inside]
    least = float(np.min(own - means - mean_rounding(system) * (np.abs(own) + np.abs(means)), initial=1))
    return float(np.max(own, initial=0)) / least if least > 0 else np.inf


class _Measured(NamedTuple):
    """Measurements of one iteration: one value for each watched column, and the horizon."""

    residual: Doubles
    error: Doubles
    bound: Doubles
    size: Doubles
    spread: Doubles
    horizon: float


class Convergence:
    """Follows the iterations of one block and decides when its error is below ``tol``.

    ``watched`` are the columns of the reports that are temperatures, ``eps`` is the rounding error of one operation
    relative to the temperatures, and ``rounding`` that of the final temperatures of each watched column. If weights are
    ``wide``, rounding counts in the error too.
    """

    def __init__(
        self,
        tol: float,
        watched: NDArray[np.intp],
        n_reached: int,
        eps: float,
        rounding: Doubles,
        *,
        wide: bool = False,
        n_interior: int,
    ) -> None:
        self.wide, self._slack = wide, min(max(n_interior / SMALL, 1.0), SLACK)
        self.tol = tol
        self.eps = eps
        self.rounding = rounding
        self.watched = watched
        self.n_reached = n_reached
        self.residual = self.error = np.inf
        self._narrowing: Doubles | None = None  # the spread that counts, relative to the one in reports
        self._last: _Measured | None = None
        self.exhausted = False  # rounding prevents further progress
        self._path = [np.zeros(len(watched))]  # cumulative sums of the step sizes

    @property
    def done(self) -> bool:
        """Whether the error is below the tolerance."""
        return self.error <= self.tol

    @property
    def path(self) -> Doubles:
        """Cumulative sums of the step sizes, shape (iterations + 1, watched columns)."""
        return np.array(self._path)

    def go_on(self, path: Doubles) -> None:
        """Continue from the state of an earlier solve of the same columns."""
        self._path = list(path)

    def update(self, report: Report, horizon: float) -> None:
        """Record one iteration; ``horizon`` is an upper bound on the longest expected time to absorption."""
        watched = Report(*np.array(report)[:, self.watched])
        residual, spread = watched.residual, watched.spread(self.n_reached)
        if self._narrowing is not None:
            spread = spread * self._narrowing
        self._path.append(self._path[-1] + watched.step)
        self.exhausted = not watched.step.any() and np.isfinite(horizon)
        bound = np.where(residual > 0, horizon * np.maximum(residual, TINY), 0)
        if self.wide:  # float64 itself may be too coarse for such weights, and a small residual may mean nothing
            sums = horizon * ROUNDINGS * self.eps * np.maximum(watched.size, TINY)
            bound = bound + np.where(watched.size > 0, sums, 0)
        error = np.minimum(np.maximum(SAFETY * self._remaining(), bound / self._slack), bound)
        self._compare(_Measured(residual, error, bound, watched.size, spread, horizon))

    @property
    def in_doubt(self) -> bool:
        """Whether the tolerance is met, but only relative to the spread in the reports; see `narrow`."""
        return self.done and self._narrowing is None

    def narrow(self, spread: Doubles) -> None:
        """From now on, measure errors relative to this spread instead of the one in the reports."""
        assert self._last is not None
        self._narrowing = np.divide(spread, self._last.spread, out=np.ones(len(spread)), where=self._last.spread > 0)
        self._compare(self._last._replace(spread=spread))

    def _compare(self, measured: "_Measured") -> None:
        self._last, sizes = measured, np.array([measured.residual, measured.error])
        self.residual, self.error = largest_ratio(sizes, measured.spread).tolist()

    @property
    def error_bound(self) -> float:
        """An upper bound on the error, with an allowance for rounding."""
        if self._last is None:
            return np.inf
        last, size = self._last, self._last.size
        sums = last.horizon * ROUNDINGS * self.eps * np.maximum(size, TINY)
        return float(largest_ratio(last.bound + np.where(size > 0, sums + self.rounding, 0), last.spread))

    def _remaining(self) -> Doubles:
        """The estimate; infinite if there are too few iterations or the steps do not shrink."""
        iterations = len(self._path) - 1
        window = max(2, iterations // 4)
        if iterations < 2 * window:
            return np.full(len(self.watched), np.inf)
        last = self._path[-1] - self._path[-1 - window]
        before = self._path[-1 - window] - self._path[-1 - 2 * window]
        shrinks = last < before
        rest = np.where(shrinks, before - last, 1)
        return np.where(shrinks, last * last / rest, np.where(last > 0, np.inf, 0))
