"""Harmonic measure: the probability that a random walk from a node stops at each boundary node.

The temperature of a node is the mean of the temperatures of the boundary, weighted by these probabilities. If a unit of
heat enters at the node, they are the shares of it that flow to each boundary node.

Three methods are tried in turn. Most of the heat often stays near, so the problem is first solved in a ball around the
node, with all nodes outside at temperature 0; the heat that leaks out of the ball bounds the error. If too much leaks,
cg continues on the whole graph from there. If that takes too long, as on roads and grids with few seeds, the node joins
the boundary at temperature 1, with all other boundary nodes at 0, and a solver takes over: the heat that flows to each
boundary node is then proportional to its share.

Each step of a walk is rounded. If walks are so long that rounding may move more than the tolerance, as where weights
differ by many orders of magnitude, small systems are solved by elimination without subtraction. For larger ones a
warning says how far the shares can be trusted.
"""

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints
from isotherm.equilibrium.options import DEFAULT_TOL, SolveOptions
from isotherm.equilibrium.problem import Problem, solve_columns
from isotherm.equilibrium.solvers import MOST_COLUMNS, Source, System, prepare
from isotherm.equilibrium.solvers.cg import Descent
from isotherm.equilibrium.solvers.direct import Exact, carry_on, eliminate, exact
from isotherm.equilibrium.solvers.interior import Block, Interior
from isotherm.equilibrium.solvers.iterative import ROUNDINGS, SINGLE_TOL, SMALL
from isotherm.equilibrium.solvers.system import largest_ratio
from isotherm.errors import Option, muted, warn
from isotherm.graphs import Csr

BALLS = (2**14, 2**17, 2**20)  # numbers of matrix entries in a ball, tried in turn
SMALL_PART = 20  # a ball has at most 1/20 of the entries of the graph; the first ball is always allowed
LEAKY = 0.9  # if more than this share leaks out of a ball, a larger one will not help
MOST_STEPS = 100  # iterations before another method is tried
FINEST = 1e-10  # smallest tolerance for the solvers
CANCELLED = 4  # flows from residuals of both signs cancel; assume that at least 1/4 of the mean flow remains
CHUNK = 2**14  # rows that fit in the cache


def harmonic_measure(problem: Problem, options: SolveOptions) -> "HarmonicMeasure":
    """The harmonic measure of a problem: a function of the starts of random walks, to be called many times."""
    tol = DEFAULT_TOL if options.tol is None else options.tol
    return HarmonicMeasure(problem.system, tol=tol, n_threads=options.threads)


class HarmonicMeasure:
    """Computes harmonic measures for one system; what is needed for the whole graph is prepared once."""

    def __init__(self, system: System, *, tol: float = 1e-3, n_threads: int | None = None) -> None:
        self.system, self.n_threads = system, n_threads
        self.tol = tol  # largest share of the heat that may be attributed to wrong boundary nodes
        self._threads = kernels.thread_count(n_threads)
        self._place = np.full(len(system.degree), -1)  # position of a node on the boundary
        self._place[system.boundary] = np.arange(len(system.boundary))
        self._idle: list[_Walks] = []

    def __call__(self, starts: csr_array) -> Doubles:
        """The measures (k, s) of k random walks, given the distribution (k, n) of each start over reached nodes."""
        blocks = (starts[first : first + MOST_COLUMNS] for first in range(0, starts.shape[0], MOST_COLUMNS))
        return np.concatenate([self._measure(block).T for block in blocks])

    def _measure(self, starts: csr_array) -> Doubles:
        """The measures of a block of walks, shape (s, k)."""
        begin = starts.tocoo()
        flow = np.zeros((len(self.system.boundary), starts.shape[0]))
        held = self._place[begin.col] >= 0
        np.add.at(flow, (self._place[begin.col[held]], begin.row[held]), begin.data[held])
        nodes, place = np.unique(begin.col[~held].astype(np.int64), return_inverse=True)
        if len(nodes):
            source = np.zeros((len(nodes), starts.shape[0]))
            source[place, begin.row[~held]] = begin.data[~held]
            flow += self._from_interior(nodes, source)
        return flow / flow.sum(axis=0)

    def _from_interior(self, nodes: Ints, source: Doubles) -> Doubles:
        """The heat that flows to the boundary from sources at interior nodes, (c, k) -> (s, k)."""
        if self.system.wide and self._exact is not None:
            return self._exact.flow(Source(nodes, source))
        found = self._follow(nodes, source)
        if found.doubt <= self.tol:
            return found.heat
        if self._exact is not None:
            return self._exact.flow(Source(nodes, source))
        _warn_about_doubt(found.doubt, self.tol)
        lost = ~(np.isfinite(found.heat).all(axis=0) & (found.heat.sum(axis=0) > 0))
        return np.where(lost, self.system.flux[:, None], found.heat)

    @cached_property
    def _exact(self) -> Exact | None:
        return exact(self.system)

    def _follow(self, nodes: Ints, source: Doubles) -> "_Flow":
        """The same, by the three methods in turn, with a bound on the share that may be wrong."""
        most = max(BALLS[0], self.system.conductance.entries / SMALL_PART)
        size, ball = 0, None
        for budget in BALLS:
            inside = around(self.system, nodes, min(budget, most))
            if len(inside) == size or (ball is not None and ball.leak > LEAKY):
                break
            size, ball = len(inside), _Ball(self.system, inside, source, self.tol / 2)
            if ball.leak <= self.tol:
                return _Flow(self._flow_from(ball), self._rounding(ball.visits, np.float64))
        assert ball is not None
        flow = self._relax(ball)
        return self._trace(nodes, source) if flow is None else flow

    def _rounding(self, visits: float, dtype: DTypeLike) -> float:
        """Share of the heat that rounding may move in a walk of this many steps; in large systems most cancels out."""
        inside = np.count_nonzero(self.system.interior)
        return ROUNDINGS * float(np.finfo(dtype).eps) * visits / max(inside / SMALL, 1.0)

    def _flow_from(self, ball: "_Ball") -> Doubles:
        """The heat that flows to the boundary directly from a ball, shape (s, k)."""
        flow = np.zeros((len(self.system.boundary), ball.out.shape[1]))
        places = self._place[ball.rim]
        flow[places[places >= 0]] = ball.out[places >= 0]
        return flow

    def _relax(self, ball: "_Ball") -> "_Flow | None":
        """The flow by cg on the whole graph, starting from the solution in the ball; None if it takes too long."""
        shell = self.system.interior[ball.rim]
        nodes = np.concatenate([ball.rim[shell], ball.nodes])
        walks = self._walks(Source(nodes, np.concatenate([ball.out[shell], ball.rest])))
        for _ in range(MOST_STEPS):
            walks.descent.step()
            if walks.error() <= self.tol:
                if walks.columns == 1:
                    self._idle.append(walks)
                heat = np.maximum(self._flow_from(ball) + walks.flow + walks.coming, 0)
                doubt = self._rounding(ball.visits, np.float64) + self._rounding(walks.visits, self._interior.dtype)
                return _Flow(heat, doubt)
        return None

    @cached_property
    def _interior(self) -> Interior:
        small = np.count_nonzero(self.system.interior) <= SMALL  # there, rounding errors do not cancel out
        single = self.tol >= SINGLE_TOL and not (small or self.system.wide)
        return Interior(self.system, np.float32 if single else np.float64, self._threads)

    @cached_property
    def _wires(self) -> "_Wires":
        return _Wires(self._interior)

    def _walks(self, source: Source) -> "_Walks":
        """Walks from a source. For a single column memory is reused, because allocating costs half an iteration."""
        if source.inflow.shape[1] > 1 or not self._idle:
            return _Walks(self._interior, self._wires, source)
        walks = self._idle.pop()
        walks.begin_again(source)
        return walks

    def _trace(self, nodes: Ints, source: Doubles) -> "_Flow":
        """The flow by the solvers, with the source nodes added to the boundary."""
        # The conductances between these nodes define a random walk that visits only source nodes and boundary nodes.
        c = len(nodes)
        system = replace(self.system, boundary=np.concatenate([nodes, self.system.boundary]))
        conductance, doubt = self._conductances(system, c)  # (c + s, c)
        steps = conductance.T.copy()
        steps[:, :c] = np.maximum(steps[:, :c], conductance[:c])  # symmetric, whatever errors there are
        heat = np.concatenate([source, np.zeros((len(self.system.boundary), source.shape[1]))])
        with np.errstate(invalid="ignore", divide="ignore"):  # if no heat arrives anywhere, the doubt is infinite
            eliminate(steps)
            carry_on(steps, heat)
        return _Flow(heat[c:], doubt)

    def _conductances(self, system: System, c: int) -> tuple[Doubles, float]:
        """Heat that flows to each boundary node from each of the first c, held at 1 while all others are held at 0.

        Also returns the largest share of the heat of a node that may be wrong.
        """
        from isotherm.equilibrium.unconverged import ConvergenceWarning

        values = np.eye(len(system.boundary), c)
        tol = self.tol
        owner, end, weight = system.conductance.entries_at(system.boundary)
        wires = csr_array((weight, (owner, end)), shape=(len(values), len(system.degree)))
        solver, start = prepare(system, n_threads=self.n_threads), None
        while True:
            with muted(ConvergenceWarning):  # the doubt shows the remaining error
                solution = solve_columns(solver, system, values, SolveOptions(tol=tol), start=start)
            start = np.nan_to_num(solution.temperatures)
            conductance = wires @ start
            np.fill_diagonal(conductance, 0)
            conductance = np.maximum(conductance, 0)
            spread = start[system.reached].std(axis=0)
            lost = solution.error * spread * system.flux.sum()
            wrong = float(largest_ratio(lost, conductance.sum(axis=0)))
            if wrong <= self.tol or tol < FINEST:
                return conductance, wrong
            tol *= 0.5 * self.tol / wrong if np.isfinite(wrong) else self.tol


class _Flow(NamedTuple):
    """The heat (s, k) that flows to each boundary node, and the largest share of a column that may be wrong."""

    heat: Doubles
    doubt: float


def _warn_about_doubt(doubt: float, tol: float) -> None:
    from isotherm.equilibrium.unconverged import ConvergenceWarning

    message = "rounding may move {doubt:.2g} of the heat to other seeds, above {tol}: the weights differ too much"
    warn(ConvergenceWarning(message, doubt=min(doubt, 1.0), tol=Option("tol", tol)))


def around(system: System, centres: Ints, most_entries: float) -> Ints:
    """The interior nodes around the centres, centres first: as many rings as fit in a number of matrix entries."""
    conductance, inside = system.conductance, np.zeros(len(system.degree), bool)
    ring, rings, size = centres, [centres], 0
    while len(ring):
        inside[ring] = True
        ends = np.unique(conductance.entries_at(ring)[1])
        ring = ends[system.interior[ends] & ~inside[ends]].astype(np.int64)
        size += int((conductance.indptr[ring + 1] - conductance.indptr[ring]).sum())
        if size > most_entries:
            break
        rings.append(ring)
    return np.concatenate(rings)


def part(system: System, nodes: Ints) -> System:
    """The system restricted to some interior nodes; all others are held at temperature 0."""
    conductance = Csr(*kernels.active.renumber(*system.conductance, nodes.astype(np.int32)))
    return System(conductance, np.empty(0, np.int64), system.degree[nodes], np.ones(len(nodes), bool))


class _Ball:
    """The solution in a part of the graph, with all other nodes at temperature 0."""

    def __init__(self, system: System, nodes: Ints, source: Doubles, tol: float) -> None:
        self.nodes = nodes  # (b,) nodes with sources first
        interior = Interior(part(system, nodes), np.float64, threads=1)
        walks = _Walks(interior, _Wires(interior), Source(np.arange(len(source)), source))
        for _ in range(MOST_STEPS):
            walks.descent.step()
            if walks.left.max() <= tol:
                break
        self.rest, self.visits = walks.residual, walks.visits  # (b, k)
        owner, end, weight = system.conductance.entries_at(nodes)
        outward = np.ones(len(system.degree), bool)
        outward[nodes] = False
        owner, end, weight = owner[outward[end]], end[outward[end]], weight[outward[end]]
        self.rim, place = np.unique(end, return_inverse=True)  # (m,) the nodes adjacent to the ball
        wires = csr_array((weight, (place, owner)), shape=(len(self.rim), len(nodes)))
        self.out = wires @ walks.temperatures  # (m, k) the heat that flows to each of them
        lost = np.abs(self.rest).sum(axis=0) + self.out[system.interior[self.rim]].sum(axis=0)
        self.leak = float(lost.max())  # largest share of the heat of a column that has not arrived at the boundary


class _Wires:
    """The edges between the interior and the boundary."""

    def __init__(self, interior: Interior) -> None:
        system, inside, s = interior.system, interior.system.interior, len(interior.system.boundary)
        owner, end, weight = system.conductance.entries_at(system.boundary)
        kept = np.flatnonzero(inside[end])
        end, weight = end[kept], weight[kept].astype(interior.dtype)
        rows, shape = np.searchsorted(owner[kept], np.arange(s + 1)), (s, len(system.degree))
        self.inflow = csr_array((weight, end, rows), shape=shape)  # A_SU
        self.drain = csr_array((weight * interior.scale[end], end, rows), shape=shape)  # A_SU D^-1
        total = float(interior.degree.sum(dtype=np.float64))
        self.absorption = float(system.flux.sum()) / total if total else 1.0  # share absorbed per sweep, once mixed


class _Walks:
    """Heat that enters at a source and flows to the boundary, which is held at 0; solved by conjugate gradient."""

    def __init__(self, interior: Interior, wires: _Wires, source: Source) -> None:
        self.columns, self.wires, self.flux = source.inflow.shape[1], wires, interior.system.flux
        held = np.zeros((len(interior.system.boundary), self.columns))
        settled = 10 * float(np.finfo(interior.dtype).eps)
        self.descent = Descent(Block(interior, held, np.zeros(self.columns), source, timed=False), settled)
        self.descent.begin()
        self._lefts: list[Doubles] = []  # after each iteration, for `error`

    def begin_again(self, source: Source) -> None:
        self.descent.clear()
        self.descent.block.source = source
        self.descent.begin()
        self._lefts = []

    @property
    def residual(self) -> Floats:
        return self.descent.r[:, : self.columns]

    @property
    def temperatures(self) -> Floats:
        return self.descent.block.deviations + self._offset

    @property
    def visits(self) -> float:
        """Upper bound on the expected number of steps of a walk: the largest of all columns."""
        degree = self.descent.interior.degree
        around = np.abs(self._through(csr_array(degree[None]), np.abs(self.descent.block.x))[0])
        return float((around + np.abs(self._offset) * degree.sum(dtype=np.float64)).max())

    @property
    def flow(self) -> Doubles:
        """Heat that flows to each boundary node at the current temperatures, shape (s, k)."""
        inside = self._through(self.wires.inflow, self.descent.block.x)
        return inside + np.outer(self.flux, self._offset)

    @property
    def coming(self) -> Floats:
        """The flow that one more sweep would add, shape (s, k)."""
        return self._through(self.wires.drain, self.descent.r)

    @property
    def left(self) -> Doubles:
        """The sum of the absolute residuals, shape (k,)."""
        r = self.descent.r
        ones = np.ones(CHUNK, r.dtype)  # a matrix product is faster than a sum
        chunks = (np.abs(r[first : first + CHUNK]) for first in range(0, len(r), CHUNK))
        sums = np.stack([ones[: len(chunk)] @ chunk for chunk in chunks])
        return sums.sum(axis=0, dtype=np.float64)[: self.columns]

    @property
    def _offset(self) -> Doubles:
        return self.descent.block.offset[: self.columns]

    def _through(self, wires: csr_array, block: Floats) -> Floats:
        """The product of wires and block, shape (s, k)."""
        if self.columns == 1:
            return (wires @ block[:, 0])[:, None]
        return (wires @ block)[:, : self.columns]  # slicing the contiguous block first would copy it

    def error(self) -> float:
        """Estimates the share of the heat that goes to wrong boundary nodes once `coming` is added to the flow.

        It is half the sum of the errors, and at most half of the residual. But most of the residual cancels out,
        because residuals of both signs mix. The convergence of cg shows how fast. Only what flows to the boundary
        during the mixing causes an error.
        """
        left = self.left
        self._lefts.append(left)
        window = max(1, len(self._lefts) // 4)
        if len(self._lefts) <= window:
            return float(left.max()) / 2
        before = self._lefts[-1 - window]
        rate = np.minimum(np.divide(left, before, out=np.zeros_like(left), where=before > 0), 1) ** (1 / window)
        mixing = 2 * rate / (1 + rate**2)  # rate of convergence of sweeps, from the rate of cg
        coming = np.maximum(np.abs(self.coming).sum(axis=0), self.wires.absorption * left / CANCELLED)
        lost = np.divide(coming * mixing, 1 - mixing, out=left.copy(), where=mixing < 1)
        return float(np.minimum(lost, left).max()) / 2
