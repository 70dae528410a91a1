"""What every solver takes and gives: the interior system of a Dirichlet problem, a request, and its solution."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.equilibrium.options import SolveOptions
from isotherm.graphs import Csr

MOST_COLUMNS = kernels.WIDTHS[-1] - 1  # columns per solve; the last slot holds the absorption-time column
WIDE = 1e9  # ratio of the largest weight to the smallest from which on float32 is not used
CONSTANT = 16  # a spread below this many rounding errors counts as 0
CHUNK = 1 << 14  # rows that fit in the cache
FEW_NODES, FINE = 20_000, 1e-8  # in graphs of at most FEW_NODES, `stopping` is at most FINE

Rows: TypeAlias = Callable[[slice], Floats]  # the columns of some rows


class Spread(Protocol):
    """Computes the spread of the temperatures that are read."""

    def spread(self, rows: Rows, reached: Mask, *, closed: bool = False) -> Doubles:
        """The standard deviation of each column, and of the sum of the columns if they are closed."""
        ...


class Spreads(NamedTuple):
    """The unit of errors: the standard deviation (k,) of each column over the rows that are read."""

    read: Doubles
    every: Doubles  # over all rows
    dtype: DTypeLike  # the type of the temperatures, for their rounding error

    @property
    def least(self) -> Doubles:
        """The level below which a spread is only rounding errors, shape (k,)."""
        return CONSTANT * float(np.finfo(self.dtype).eps) * self.every

    @property
    def finest(self) -> Doubles:
        """The spread over the rows that are read, raised to `least` where it is smaller."""
        return np.maximum(self.read, self.least)

    @property
    def usable(self) -> Doubles:
        """The spread over the rows that are read; over all rows where the former is only rounding errors."""
        return np.where(self.read > self.least, self.read, self.every)


class OutputRows(NamedTuple):
    """The rows of a lifted graph that are read; a node has the mean temperature of its reached copies."""

    nodes: int
    offsets: tuple[int, ...] = (0,)  # the row of the first node in each copy

    def mean(self, rows: Rows, reached: Mask, part: slice) -> Floats:
        """The columns of the reached nodes in a part, shape (m, k)."""
        places = [slice(part.start + offset, part.stop + offset) for offset in self.offsets]
        known = np.stack([reached[place] for place in places])
        total = np.sum([np.where(mask[:, None], rows(place), 0) for mask, place in zip(known, places, strict=True)], 0)
        copies = np.count_nonzero(known, axis=0)
        return np.asarray(total[copies > 0] / copies[copies > 0, None])

    def spread(self, rows: Rows, reached: Mask, *, closed: bool = False) -> Doubles:
        """The standard deviation of each column over the nodes, and of the sum of the columns if they are closed.

        >>> copies = np.array([[0.0], [2.0], [9.0], [4.0], [6.0], [9.0]])  # two nodes and a ground, twice
        >>> OutputRows(2, (0, 3)).spread(lambda rows: copies[rows], np.ones(6, bool))
        array([1.])
        """
        count, sums, middle = 0, np.zeros((2, 1)), None
        for first in range(0, self.nodes, CHUNK):
            part = self.mean(rows, reached, slice(first, min(first + CHUNK, self.nodes))).astype(np.float64)
            values = np.column_stack([part, part.sum(axis=1)]) if closed else part
            if not len(values):
                continue
            if middle is None:
                middle = values.mean(axis=0)  # near the mean of all, so that squares do not cancel out
            count += len(values)
            sums = sums + np.array([np.sum((values - middle) ** power, axis=0) for power in (1, 2)])
        mean, square = sums / max(count, 1)
        return np.sqrt(np.maximum(square - mean**2, 0))


class Memory:
    """Keeps the arrays of a block of columns for the next one: new pages took a tenth of the time of 200 blocks."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[Any, ...], Floats] = {}

    def take(self, name: str, rows: int, columns: int, dtype: DTypeLike) -> Floats:
        """An array of this name, with anything in it; see `isotherm.kernels.block`."""
        key = name, rows, columns, np.dtype(dtype)
        if key not in self._arrays:
            self._arrays[key] = kernels.block(rows, columns, dtype)
        return self._arrays[key]

    def zeros(self, name: str, rows: int, columns: int, dtype: DTypeLike) -> Floats:
        """The same, filled with 0."""
        array = self.take(name, rows, columns, dtype)
        array.fill(0)
        return array


@dataclass(frozen=True)
class System:
    """The interior system ``(D_U - A_UU) X = A_US Y + F`` of a Dirichlet problem."""

    conductance: Csr  # symmetric, between all n nodes: rows outside the interior are held fixed, not removed
    boundary: Ints  # (s,)
    degree: Doubles  # (n,) row sums of the conductance
    reached: Mask  # (n,) nodes that are connected to the boundary, and the boundary itself
    half: int | None = None  # nodes from this one on are not joined to each other: a solver may eliminate them
    output: Spread | None = None  # computes the spread that the tolerance is relative to; by default over all rows
    component: NDArray[np.int32] | None = None  # (n,) the connected component of each node, if known
    memory: Memory | None = None  # arrays reused from block to block, if many blocks of columns are solved

    @cached_property
    def interior(self) -> Mask:
        """Reached nodes that are not on the boundary."""
        interior = self.reached.copy()
        interior[self.boundary] = False
        return interior

    @cached_property
    def flux(self) -> Doubles:
        """Conductance between each boundary node and the interior, shape (s,)."""
        owner, end, weight = self.conductance.entries_at(self.boundary)
        return np.bincount(owner, weight * self.interior[end], minlength=len(self.boundary)).astype(np.float64)

    @cached_property
    def wide(self) -> bool:
        """Whether the weights have too wide a range for float32."""
        weights = self.conductance.weights
        return weights is not None and len(weights) > 0 and float(weights.max()) > WIDE * float(weights.min())

    def spread(self, temperatures: Floats, *, closed: bool) -> Spreads:
        """The spread of each column (n, k), and of their sum if they are closed."""
        known = temperatures[self.reached]
        every = (np.column_stack([known, known.sum(axis=1)]) if closed else known).std(axis=0, dtype=np.float64)
        return self.output_spread(lambda rows: temperatures[rows], every, temperatures.dtype, closed=closed)

    def output_spread(self, rows: Rows, every: Doubles, dtype: DTypeLike, *, closed: bool) -> Spreads:
        """The spread over the output rows, given the spread ``every`` over all rows."""
        if self.output is None:
            return Spreads(every, every, dtype)
        return Spreads(self.output.spread(rows, self.reached, closed=closed), every, dtype)

    @property
    def mean_degree(self) -> float:
        """Entries per node."""
        return self.conductance.entries / self.conductance.n

    @cached_property
    def lesser_degree(self) -> float:
        """Mean, over all edges, of the smaller of the two degrees."""
        indptr, indices, _ = self.conductance
        counts, total = np.diff(indptr), 0
        for start in range(0, len(counts), CHUNK):
            own = counts[start : start + CHUNK]
            near = indices[indptr[start] : indptr[start + len(own)]]
            total += int(np.minimum(np.repeat(own, own), counts[near]).sum())
        return total / max(len(indices), 1)

    def depth(self, limit: int) -> int:
        """The largest distance of a node from the boundary, in edges; at most ``limit``."""
        marked = np.zeros(self.conductance.n, np.uint8)
        marked[self.boundary] = 1
        return int(kernels.active.depth(self.conductance.indptr, self.conductance.indices, marked, limit))

    @property
    def least_horizon(self) -> float:
        """Lower bound on the longest expected time to absorption: sum of interior degrees over boundary flux."""
        flux = float(self.flux.sum())
        return float(self.degree[self.interior].sum()) / flux if flux > 0 else 0.0

    @property
    def mean_rounding(self) -> float:
        """Bound on the rounding error of a mean over neighbours in float64, relative to the largest of them."""
        return (4 + int(np.max(np.diff(self.conductance.indptr), initial=0))) * float(np.finfo(np.float64).eps)

    def verified_horizon(self, times: Doubles) -> float:
        """A rigorous bound on the longest time to absorption from approximate times (n,); infinite if they are poor."""
        inside = self.interior
        if not np.isfinite(times[inside]).all():
            return np.inf
        own, means = times[inside], (self.conductance.to_scipy() @ times)[inside] / self.degree[inside]
        # any h with (I - Q) h >= 1 is a bound, so the times are scaled until that holds
        least = float(np.min(own - means - self.mean_rounding * (np.abs(own) + np.abs(means)), initial=1))
        return float(np.max(own, initial=0)) / least if least > 0 else np.inf

    def balance(self, values: Doubles, source: "Source | None" = None) -> Doubles:
        """The temperature of each column at which as much heat enters the interior as leaves it, shape (k,)."""
        total = self.flux.sum()
        if not total > 0:
            return values.mean(axis=0)
        entering = self.flux @ values
        return (entering if source is None else entering + source.inflow.sum(axis=0, dtype=np.float64)) / total


class Source(NamedTuple):
    """Heat that enters at some interior nodes in each column: the term F of the system."""

    nodes: Ints  # (m,)
    inflow: Floats  # (m, k)

    def everywhere(self, n: int) -> Doubles:
        """The inflow at each of n nodes, shape (n, k)."""
        inflow = np.zeros((n, self.inflow.shape[1]))
        inflow[self.nodes] = self.inflow
        return inflow


@dataclass(frozen=True, eq=False)
class Request:
    """What a solver is asked for: one block of columns."""

    values: Doubles  # (s, k) temperatures of the boundary, at most MOST_COLUMNS columns
    options: SolveOptions  # a solver uses only tol, max_iter and progress
    source: Source | None = None
    start: Floats | None = None  # (n, k) temperatures to start from, NaN where unknown
    closed: bool = False  # one more column, not solved for, is a constant minus these; the tolerance holds for it too


@dataclass(frozen=True, repr=False)
class Solution:
    """Temperatures, with solver statistics.

    Attributes
    ----------
    temperatures : ndarray of shape (n, k)
        Boundary rows are as given; unreached rows are NaN.
    solver : str
        Name of the solver.
    iterations : int
        Sweeps or iterations of the slowest column; 0 for a direct solve.
    residual : float
        Largest residual of ``X = QX + RY``, relative to the spread of its column.
    error : float
        Estimate of the largest error, relative to the spread of its column: what ``tol`` is compared with.
    error_bound : float
        Upper bound on the largest error, from the absorption time, including rounding errors; infinite if none is
        known. A solver gives it relative to the spread that it found; `isotherm.equilibrium.problem.joined` makes it
        relative to the spread at equilibrium.
    converged : bool
        Whether the error is at most ``tol``.
    seconds : float
        Time taken by the solve.
    times : ndarray, optional
        Expected time to absorption of all nodes of the lifted graph, 0 on the boundary and where unreached; only if
        the solver finds it on the way. `isotherm.equilibrium.correction` needs it.
    """

    temperatures: Floats
    solver: str
    iterations: int
    residual: float
    error: float
    error_bound: float
    converged: bool
    seconds: float = 0.0
    times: Floats | None = None

    @property
    def statistics(self) -> "Solution":
        """The same solution without its arrays."""
        return replace(self, temperatures=self.temperatures[:, :0].copy(), times=None)

    def __str__(self) -> str:
        """Everything but the temperatures, in a line."""
        end = "" if self.converged else ", not converged"
        steps = f"{self.iterations} iteration{'' if self.iterations == 1 else 's'}"
        accuracy = f"error {self.error:.1e}, residual {self.residual:.1e}"
        return f"{self.solver}, {steps}, {accuracy}, {self.seconds:.3g} s{end}"

    def __repr__(self) -> str:
        return f"<Solution: {self}>"


class Solver(Protocol):
    """A solver that is prepared for one system and can be called many times."""

    def solve(self, request: Request) -> Solution:
        """Find the equilibrium. The caller measures the time."""
        ...


def largest_ratio(values: Floats, spread: Doubles) -> Doubles:
    """The largest ratio of value to spread in each row; 0/0 counts as 0, x/0 as infinity."""
    if not spread.all():
        values, spread = np.where(values > 0, np.where(spread > 0, values, np.inf), 0), np.where(spread > 0, spread, 1)
    found: Doubles = (values / spread).max(axis=-1, initial=0)
    return found


def of_true_spread(bound: float) -> float:
    """A bound relative to the spread at equilibrium, from one relative to the spread of the temperatures found.

    >>> of_true_spread(0.2), of_true_spread(1.0)
    (0.25, inf)
    """
    # Temperatures that are off by at most b times their spread have a spread that is off by at most that.
    return bound / (1 - bound) if bound < 1 else np.inf


def stopping(tol: float, nodes: int) -> float:
    """The error at which to stop iterations that depend on how nodes are numbered.

    The error that they leave depends on the numbering too. In small graphs iterations are cheap, so they go on until
    the error is too small to decide labels.
    """
    return min(tol, FINE) if nodes <= FEW_NODES else tol


def keep_within(temperatures: Floats, low: Doubles, high: Doubles) -> None:
    """Clip columns in place to the range of the boundary temperatures, each (k,): the maximum principle.

    Equilibrium is in this range, so no temperature moves away from it, and bounds on errors still hold.

    >>> found = np.array([[-0.001, 0.5], [1.0, 0.7]])
    >>> keep_within(found, np.zeros(2), np.array([1.0, 0.6]))
    >>> found
    array([[0. , 0.5],
           [1. , 0.6]])
    """
    low, high = low.astype(temperatures.dtype), high.astype(temperatures.dtype)
    alike = len(low) > 0 and (low == low[0]).all() and (high == high[0]).all()  # numbers are faster than arrays
    np.clip(temperatures, *((low[0], high[0]) if alike else (low, high)), out=temperatures)


def keep_components_within(system: System, temperatures: Floats, values: Doubles) -> None:
    """Clip each connected component in place to the range of its own boundary temperatures (s, k), as `keep_within`.

    A class that no seed of a component has is exactly 0 there. Rounding errors would be enough to label nodes by a rule
    that divides by sums of temperatures.
    """
    if system.component is None:
        return
    found, place = np.unique(system.component[system.boundary], return_inverse=True)
    if len(found) < 2:
        return
    ordered, first = values[np.argsort(place, kind="stable")], np.cumsum(np.bincount(place)) - np.bincount(place)
    low, high = (reduce.reduceat(ordered, first).astype(temperatures.dtype) for reduce in (np.minimum, np.maximum))
    narrow = ((low > low.min(axis=0)) | (high < high.max(axis=0))).any(axis=1)
    number = np.full(int(system.component.max()) + 1, -1)
    number[found[narrow]] = np.flatnonzero(narrow)
    rows = np.flatnonzero(number[system.component[: len(temperatures)]] >= 0)
    for part in np.split(rows, range(CHUNK, len(rows), CHUNK)):
        which = number[system.component[part]]
        temperatures[part] = np.clip(temperatures[part], low[which], high[which])


def with_closing(values: Doubles, closed: bool) -> Doubles:
    """The columns, and their sum as a further one if they are closed."""
    return np.column_stack([values, values.sum(axis=1)]) if closed else values
