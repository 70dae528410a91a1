"""A system in the form that the kernels need, and blocks of columns on it.

A block stores temperatures as deviations from a constant per column. Deviations are small, so float32 is accurate
enough for them. One more column, the absorption column, measures how long heat travels before it is absorbed.
"""

from collections.abc import Callable
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Mask
from isotherm.equilibrium.solvers.system import Source, System
from isotherm.kernels import Report

MOST_GROUPS = 32  # large components, each deflated by a constant of its own
LEAST_VOLUME = 0.005  # a large component has at least this share of the sum of all interior degrees,
LEAST_NODES = 64  # and so many interior nodes: smaller components would be dominated by rounding


class Outflow:
    """The heat that leaves the interior when all of it is one degree warmer than the boundary."""

    def __init__(self, each: Floats, threads: int, added: Callable[[Doubles], Doubles] | None = None) -> None:
        self.each = np.ascontiguousarray(each)  # (n,) the heat that leaves each node
        self._threads, self._added = threads, added or (lambda sums: sums)
        total = self._added(each.sum(dtype=np.float64, keepdims=True))
        self.total = float(total[0]) or np.inf  # without outflow, multiples are 0

    def balance(self, excess: Floats) -> Doubles:
        """Subtract multiples of the outflow, so that each column sums to 0; return the multiples, shape (k,)."""
        closing = np.zeros(excess.shape[1], excess.dtype)
        sums = Report(*kernels.active.moments(closing, excess, self._threads)).sum[:-1]
        warmth = self._added(sums) / self.total
        kernels.active.cool(self.each, warmth.astype(excess.dtype), excess, self._threads)
        return warmth


class Groups:
    """Groups of nodes that no edge joins, each of which warms up or cools down by itself."""

    def __init__(self, each: Floats, group: NDArray[np.int32], degree: Floats, threads: int) -> None:
        self.each = np.where(group >= 0, each, 0)  # (n,) heat that leaves a node if its group is 1 above the boundary
        self._group, self._threads = group, threads  # group (n,) is -1 for nodes in no group
        self._count = int(group.max(initial=-1)) + 1
        leaving, self.volume = (self._sums(part[:, None], None)[:, 0] for part in (self.each, degree))
        self._total = np.where(leaving > 0, leaving, np.inf)[:, None]

    @property
    def mean_time(self) -> Doubles:
        """The time to absorption at each node if it were constant in its group (n,); 0 for nodes in no group."""
        return np.where(self._group >= 0, (self.volume / self._total[:, 0])[self._group], 0)

    def balance(self, excess: Floats, x: Floats, sign: int) -> None:
        """Shift x in each group so that ``excess``, plus or minus the outflow of the shift, sums to 0 there."""
        amounts = -self._warmth(excess, None).astype(excess.dtype)
        kernels.active.group_shift(self._group, self.each, amounts, excess, self._threads)
        self._shift(x, sign * amounts)

    def turn(self, scale: Floats, beta: Floats, r: Floats, p: Floats) -> None:
        """The next direction of cg, ``p = scale r + beta p``, shifted in each group so that no heat leaves it."""
        weight = self.each if self._count == 1 else None  # the sum over a single group needs no pass of its own
        leaving = kernels.active.cg_turn(scale, weight, beta, r, p, self._threads)[:1, :-1]
        if weight is None:
            self.deflate(p)
        else:
            self._shift(p, -(leaving / self._total).astype(p.dtype))

    def deflate(self, p: Floats) -> None:
        """Shift a direction in each group so that no heat leaves it."""
        self._shift(p, -self._warmth(p, self.each).astype(p.dtype))

    def _warmth(self, x: Floats, weight: Floats | None) -> Doubles:
        return np.asarray(self._sums(x, weight) / self._total)

    def _sums(self, x: Floats, weight: Floats | None) -> Doubles:
        sums = np.zeros((self._count, x.shape[1]))
        kernels.active.group_sums(self._group, weight, x, sums, self._threads)
        return sums

    def _shift(self, x: Floats, amounts: Floats) -> None:
        kernels.active.group_shift(self._group, None, amounts, x, self._threads)


def group_of_components(component: NDArray[np.int32], degree: Floats) -> NDArray[np.int32] | None:  # degree (n,)
    """The group of each component: its own if it is large, else one for the rest; None if fewer than two are large."""
    if np.count_nonzero(np.bincount(component) >= LEAST_NODES) < 2:
        return None
    volume, nodes = np.bincount(component, degree), np.bincount(component, degree > 0)
    large = (volume > LEAST_VOLUME * volume.sum()) & (nodes >= LEAST_NODES)
    largest = np.argsort(-np.where(large, volume, 0), kind="stable")[: min(MOST_GROUPS, np.count_nonzero(large))]
    if len(largest) < 2:
        return None
    # if the other components have only a few nodes, they are in no group
    rest = len(largest) if nodes.sum() - nodes[largest].sum() >= LEAST_NODES else -1
    number = np.full(len(volume), rest, np.int32)
    number[largest] = np.arange(len(largest))
    return number


def interior_groups(number: NDArray[np.int32], component: NDArray[np.int32], degree: Floats) -> NDArray[np.int32]:
    """The number of the group of each interior node, where the degree is positive; -1 elsewhere."""
    return np.where(degree > 0, number[component], -1).astype(np.int32)


class Interior:
    """A system in one floating-point type, set up once for any number of blocks.

    Solvers call the kernels through it, so that a system can be split over processes: sums and maxima go through
    `added`, `largest` and `joined`, and `complete` updates the rows that belong to other processes. If ``halved``, only
    the first half of a bipartite graph is iterated on; each other node has the mean temperature of its neighbours.
    """

    reads_all: ClassVar[bool] = True  # the rows of all nodes are read, not only those that are iterated on

    def __init__(self, system: System, dtype: DTypeLike, threads: int, *, halved: bool = False) -> None:
        self.system, self.dtype, self.threads = system, np.dtype(dtype), threads
        self.rows = slice(system.half if halved else None)  # the nodes that are iterated on
        inside = system.interior
        self.degree = np.where(inside, system.degree, 0).astype(dtype)  # (n,) as its inverse, `scale`
        self.scale = np.divide(1, system.degree, out=np.zeros(len(inside)), where=inside).astype(dtype)
        self.graph = system.conductance.of_type(dtype)

    @property
    def halved(self) -> bool:
        """Whether the nodes of the second half are eliminated."""
        return self.rows.stop is not None

    @cached_property
    def outflow(self) -> Outflow:
        """The heat that leaves the nodes that are iterated on."""
        return self.find_outflow()

    def find_outflow(self) -> Outflow:
        """Compute `outflow`, without the lock that a cached property holds."""
        if self.halved:
            warm = kernels.block(len(self.degree), kernels.WIDTHS[0], self.dtype)
            warm[self.system.boundary] = 1
            self.complete(warm)
            q = kernels.block(len(self.degree[self.rows]), kernels.WIDTHS[0], self.dtype)
            self.laplacian(warm, q)
            return Outflow(-q[:, 0], self.threads, self.added)
        _, end, weight = self.system.conductance.entries_at(self.system.boundary)
        leaving = np.bincount(end, weight * self.system.interior[end], minlength=len(self.degree))
        return Outflow(leaving.astype(self.dtype), self.threads)

    @cached_property
    def groups(self) -> Groups | None:
        """The large components, and one more group for all others; None if there are not two large ones."""
        component = self.system.component
        if component is None:
            return None
        component, degree = component[self.rows], self.degree[self.rows]
        if (number := group_of_components(component, degree)) is None:
            return None
        return Groups(self.outflow.each, interior_groups(number, component, degree), degree, self.threads)

    def counted(self, nodes: Mask) -> int:
        """The number of marked nodes among those that are iterated on, in all parts of the system."""
        return int(self.added(np.array([np.count_nonzero(nodes[self.rows])], np.float64))[0])

    def added(self, sums: Doubles) -> Doubles:
        """Sums over all parts of the system, given the sums of this part; here there is one part."""
        return sums

    def largest(self, values: Doubles) -> Doubles:
        """Maxima over all parts of the system."""
        return values

    def joined(self, report: Report) -> Report:
        """Measurements of all parts of the system."""
        return report

    def turn(self, beta: Floats, r: Floats, p: Floats) -> Doubles:
        """``p = D^-1 r + beta p`` at the nodes that are iterated on; returns the heat that leaves p, shape (k,)."""
        arrays = self.scale[self.rows], self.outflow.each, beta, r, p[self.rows]
        return self.added(kernels.active.cg_turn(*arrays, self.threads)[0, :-1])

    def advance(self, closing: Floats, alpha: Floats, p: Floats, q: Floats, x: Floats, r: Floats) -> Report:
        """``x += alpha p``, ``r -= alpha q`` at the nodes that are iterated on."""
        arrays = self.scale[self.rows], closing, alpha, p[self.rows], q, x, r
        return self.joined(Report(*kernels.active.cg_step(*arrays, self.threads)))

    def laplacian(self, x: Floats, out: Floats) -> Doubles:
        """``out = (D - A) x`` at the nodes that are iterated on; returns the dot products of x and out, shape (k,)."""
        indptr, indices, weights = self.graph
        rows = indptr[: len(out) + 1], indices, weights, self.degree[self.rows]
        return self.added(kernels.active.laplacian(*rows, x, out, self.threads)[0, :-1])

    def complete(self, x: Floats, source: Source | None = None) -> None:
        """Set eliminated nodes to the mean of their neighbours, plus the effect of a source."""
        if self.halved:
            rest = slice(self.rows.stop, len(x))
            self.average(rest, x, x[rest], source)

    def average(self, rows: slice, x: Floats, out: Floats, source: Source | None) -> None:
        """Means over the neighbours of interior nodes, plus the effect of a source."""
        indptr, indices, weights = self.graph
        ends = indptr[rows.start : rows.stop + 1]
        kernels.active.average(ends, indices, weights, self.scale[rows], x, out, self.threads)
        if source is not None:
            inside = (source.nodes >= rows.start) & (source.nodes < rows.stop)
            nodes = source.nodes[inside]
            heated = self.scale[nodes, None] * source.inflow[inside]
            out[nodes - rows.start, : source.inflow.shape[1]] += heated.astype(out.dtype, copy=False)


class Block:
    """Up to 16 columns of temperatures as deviations from ``offset``, including the absorption column if ``timed``."""

    def __init__(
        self, interior: Interior, values: Doubles, offset: Doubles, source: Source | None = None, *, timed: bool = True
    ) -> None:
        self.interior, self.system, self.values, self.source = interior, interior.system, values, source
        self.columns = self.absorption_column = values.shape[1]  # the absorption column, if any, is the last one
        self.timed, self.width = timed, kernels.width(self.columns + timed)
        self.offset = np.zeros(self.width)  # the constant of each column
        self.offset[: self.columns] = offset
        self.dtype = interior.dtype
        self.closing = np.zeros(self.width, self.dtype)
        self.x = self.zeros("x", interior.rows)  # (n, width), or the rows that are iterated on
        self.spare = self.zeros("spare")  # (n, width) working memory
        self.hold(self.x)

    def zeros(self, name: str, rows: slice = slice(None)) -> Floats:
        """A zero array in the shape of the block or of some of its rows; reused by name if the system has a memory."""
        count, memory = len(self.interior.scale[rows]), self.system.memory
        make = kernels.block if memory is None else partial(memory.zeros, name)
        return make(count, self.width, self.dtype)

    @property
    def deviations(self) -> Floats:
        """The columns of temperatures, without the absorption column."""
        return self.x[:, : self.columns]

    def hold(self, x: Floats) -> None:
        """Set the boundary rows of an array that has all rows, or only the first ones."""
        inside = self.system.boundary < len(x)
        boundary = self.system.boundary[inside]
        held = np.empty((len(boundary), self.width), x.dtype)
        held[:, : self.columns] = deviations(self.values[inside], self.offset[: self.columns])
        held[:, self.columns :] = -self.offset[self.columns :]
        x[boundary] = held

    def watch(self, closed: bool) -> NDArray[np.intp]:
        """The columns of a report that are temperatures, including the one left out if they are closed."""
        self.closing[: self.columns] = closed
        return np.append(np.arange(self.columns), [self.width] if closed else []).astype(np.intp)

    def begin(self, start: Floats) -> None:
        """Set the temperatures of the interior; NaN means unknown."""
        rows = slice(len(self.x))
        np.subtract(start[rows], self.offset[: self.columns], out=self.deviations, casting="same_kind")
        self.deviations[np.isnan(self.deviations)] = 0
        self.x[~self.system.interior[rows]] = 0
        self.hold(self.x)

    @property
    def whole(self) -> Floats:
        """The block including eliminated rows; if there are any, it is written into ``spare``."""
        if not self.interior.halved:
            return self.x
        self.spare[self.interior.rows] = self.x
        self.hold(self.spare)
        self.interior.complete(self.spare, self.source)
        return self.spare

    def at(self, rows: slice) -> Floats:
        """The columns of some rows, as deviations; they are all iterated on, or all eliminated."""
        if rows.stop <= len(self.x):
            return self.deviations[rows]
        found = kernels.block(rows.stop - rows.start, self.width, self.dtype)
        boundary = self.system.boundary
        held = np.flatnonzero((boundary >= rows.start) & (boundary < rows.stop))
        found[boundary[held] - rows.start, : self.columns] = deviations(self.values[held], self.offset[: self.columns])
        self.interior.average(rows, self.x, found, self.source)
        return found[:, : self.columns]

    def temperatures(self, dtype: DTypeLike | None = None) -> Floats:
        """All rows as temperatures, NaN where unreached; only own rows if the system is one of several parts."""
        x, offset = self.whole if self.interior.reads_all else self.x, self.offset[: self.columns]
        temperatures: Floats = np.empty((len(x), self.columns), dtype or self.dtype)
        shift = offset.astype(temperatures.dtype)
        kernels.active.place_rows(x[:, : self.columns], shift, None, temperatures, self.interior.threads)
        temperatures[~self.system.reached[: len(temperatures)]] = np.nan
        inside = self.system.boundary < len(temperatures)
        temperatures[self.system.boundary[inside]] = self.values[inside]
        return temperatures


def deviations(values: Doubles, offset: Doubles) -> Doubles:
    """Values minus offset; differences within rounding error count as 0."""
    rounding = 4 * np.finfo(np.float64).eps * np.abs(values).max(axis=0, initial=0)
    differences = values - offset
    differences[np.abs(differences) <= rounding] = 0
    return differences
