"""Conjugate gradient for what comes after a fit: heat that enters at a few interior nodes.

A fit finds all temperatures at once. Afterwards the questions are small ones: where does the heat of one node go, what
does one more seed change? Each is a system ``(D_U - A_UU) x = source`` with a source at few nodes, to be solved on the
whole graph or, with all other nodes held at 0, on the part around the source. It is solved as in a fit, with the heat
balanced in each step: on a power law with a million nodes that saves eight iterations of twelve.
"""

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array

from isotherm import kernels
from isotherm.csr import Csr
from isotherm.kernels import Report
from isotherm.solvers.base import Floats, System
from isotherm.solvers.cg import REBALANCED, Outflow, ratio

__all__ = ["Interior", "Relaxation", "around", "part"]

CHUNK = 2**14  # rows that fit in a cache


def around(system: System, centres: NDArray[np.int64], most_entries: float) -> NDArray[np.int64]:
    """The interior nodes around some, these first: as many rings as have at most so many entries in all."""
    heat, inside = system.heat, np.zeros(len(system.degree), bool)
    ring, rings, size = centres, [centres], 0
    while len(ring):
        inside[ring] = True
        ends = np.unique(heat.entries_at(ring)[1])
        ring = ends[system.interior[ends] & ~inside[ends]].astype(np.int64)
        size += int((heat.indptr[ring + 1] - heat.indptr[ring]).sum())
        if size > most_entries:
            break
        rings.append(ring)
    return np.concatenate(rings)


def part(system: System, nodes: NDArray[np.int64]) -> System:
    """The system of some interior nodes alone: all others are held at temperature 0."""
    heat = Csr(*kernels.active.renumber(*system.heat, nodes.astype(np.int32)))
    return System(heat, np.empty(0, np.int64), system.degree[nodes], np.ones(len(nodes), bool))


class Interior:
    """A system as the kernels take it, for any number of relaxations."""

    def __init__(self, system: System, dtype: DTypeLike, threads: int) -> None:
        self.system, self.dtype, self.threads = system, np.dtype(dtype), threads
        n, inside = len(system.degree), system.interior
        self.degree = np.where(inside, system.degree, 0).astype(dtype)
        self.scale = np.divide(1, system.degree, out=np.zeros(n), where=inside).astype(dtype)
        indptr, indices, weights = system.heat
        self.graph = indptr, indices, None if weights is None else weights.astype(dtype, copy=False)
        owner, end, weight = system.heat.entries_at(system.boundary)
        touching = inside[end]
        owner, end, weight = owner[touching], end[touching], weight[touching]
        self.flux = np.bincount(owner, weight, minlength=len(system.boundary))  # (s,), as System.flux
        self.outflow = Outflow(np.bincount(end, weight, minlength=n).astype(dtype), threads)
        self.inflow = csr_array((weight.astype(dtype), (owner, end)), shape=(len(system.boundary), n))  # A_SU
        self.drain = self.inflow.copy()  # A_SU D^-1
        self.drain.data *= self.scale[self.drain.indices]

    @property
    def absorption(self) -> float:
        """The share of heat, spread in proportion to degrees, that is gone after one sweep."""
        total = float(self.degree.sum(dtype=np.float64))
        return float(self.flux.sum()) / total if total else 1.0


class Relaxation:
    """Up to 16 columns, k, of ``(D_U - A_UU) x = source``.

    Attributes
    ----------
    r : ndarray of shape (n, k)
        The residual: what is not yet balanced of the source. To be filled before `begin`.
    """

    def __init__(self, interior: Interior, columns: int) -> None:
        self.interior, self.columns = interior, columns
        width, dtype = kernels.width(columns), interior.dtype
        self._x, self._r, self._p, self._q = (kernels.block(len(interior.degree), width, dtype) for _ in range(4))
        self._closing = np.zeros(width, dtype)
        self.r = self._r[:, :columns]

    def clear(self) -> None:
        """Forget everything."""
        for array in (self._x, self._r, self._p, self._q):
            array.fill(0)

    @property
    def temperatures(self) -> Floats:
        """The temperatures so far, shape (n, k); those of the boundary are 0."""
        return self._x[:, : self.columns] - self._shift

    @property
    def flow(self) -> Floats:
        """Heat that reaches each boundary node by these temperatures, shape (s, k)."""
        return self._through(self.interior.inflow, self._x) - np.outer(self.interior.flux, self._shift)

    @property
    def coming(self) -> Floats:
        """What one sweep would add to the flow, shape (s, k)."""
        return self._through(self.interior.drain, self._r)

    @property
    def left(self) -> NDArray[np.float64]:
        """The sum of the absolute residual, shape (k,)."""
        ones = np.ones(CHUNK, self._r.dtype)  # a product is faster than a sum
        chunks = (np.abs(self._r[first : first + CHUNK]) for first in range(0, len(self._r), CHUNK))
        sums = np.stack([ones[: len(chunk)] @ chunk for chunk in chunks])
        return sums.sum(axis=0, dtype=np.float64)[: self.columns]

    @property
    def _shift(self) -> Floats:
        """What the boundary was shifted by instead of the interior, shape (k,)."""
        return self._x[self.interior.system.boundary[:1], : self.columns].sum(axis=0)

    def begin(self) -> None:
        """Make ready for the first step."""
        self._steps = 0
        self._energy = np.zeros(len(self._closing))
        moved = self._balance()
        self._advance(self._energy)
        self._moving = np.ones(len(self._closing), bool)
        self._least = (10 * np.finfo(self.interior.dtype).eps) ** 2 * (self._dot + moved)

    def step(self) -> None:
        """One iteration; a column that is there but for rounding is left alone."""
        interior, boundary = self.interior, self.interior.system.boundary
        self._steps += 1
        if self._steps % REBALANCED == 0:
            self._balance()
        turn = ratio(self._dot, self._energy)
        self._moving &= self._dot > self._least
        self._energy = np.where(self._moving, self._dot, 0)
        arrays = interior.scale, interior.outflow.each, turn.astype(interior.dtype), self._r, self._p
        leaving = kernels.active.cg_turn(*arrays, interior.threads)[0, :-1]
        self._p[boundary] = leaving / interior.outflow.total
        measured = kernels.active.laplacian(*interior.graph, interior.degree, self._p, self._q, interior.threads)
        self._advance(ratio(self._energy, measured[0, :-1]))

    def _through(self, wires: csr_array, block: Floats) -> Floats:
        """What of a block comes through wires, shape (s, k)."""
        if self.columns == 1:
            return wires @ block[:, :1]
        return (wires @ block)[:, : self.columns]  # as it lies in memory

    def _balance(self) -> NDArray[np.float64]:
        """Shift by what makes the sum of the residual 0; tell how much energy that moved."""
        interior, outflow = self.interior, self.interior.outflow
        warmth = outflow.balance(self._r)
        self._x[interior.system.boundary] -= warmth.astype(interior.dtype)
        return warmth**2 * float(outflow.each**2 @ interior.scale)

    def _advance(self, length: NDArray[np.float64]) -> None:
        interior, arrays = self.interior, (self._p, self._q, self._x, self._r)
        length = length.astype(interior.dtype)
        report = kernels.active.cg_step(interior.scale, self._closing, length, *arrays, interior.threads)
        self._dot: NDArray[np.float64] = Report(*report).dot[:-1]
