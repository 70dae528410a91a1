"""Walks along arcs: each node has the mean temperature of the nodes that it points to.

A random walk follows the arcs until it arrives at a seed, so the temperatures of a node are the probabilities of
where its walk ends. ``X = Q X + R Y`` (eq. 4) holds with ``P = D^-1 A`` for the arcs A, but ``I - Q`` is not symmetric.
So there is no lifting, and neither conjugate gradient nor elimination applies: it is solved by BiCGSTAB (van der Vorst
1992), all columns at once. Nodes that no seed can be reached from have no temperature, and never enter a mean.

One more column is the expected number of steps h to a seed, ``(I - Q) h = 1``. Whatever h is, if ``(I - Q) h >= c > 0``
then the error of X is at most ``max(h) / c`` times its largest residual. So the error is bounded, not guessed.
"""

import time
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import breadth_first_order

from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.equilibrium.options import ALONG_OR_EDGES, SolveOptions, check_along
from isotherm.equilibrium.solvers.system import Solution, largest_ratio, stopping
from isotherm.errors import ParameterError
from isotherm.graphs import Graph

MOST_ITERATIONS = 10_000
CHECKED = 10  # iterations between two estimates of the error
TINY = np.finfo(np.float64).tiny


class Walk(NamedTuple):
    """The random walk on the nodes from which a seed can be reached."""

    interior: Ints  # (u,) positions of the nodes whose temperatures are to be found
    Q: csr_array  # (u, u) steps between them
    R: csr_array  # (u, s) steps to held seeds, and the pull of soft seeds on themselves

    @classmethod
    def of(cls, graph: Graph, seeds: Ints, weights: Doubles | None) -> "Walk":
        """The walk along the arcs of a graph; a soft seed of weight w ends it with probability w / (1 + w)."""
        arcs, n = graph.csr.to_scipy().astype(np.float64), graph.n_nodes
        soft = np.zeros(len(seeds), bool) if weights is None else np.isfinite(weights)
        held = np.zeros(n, bool)
        held[seeds[~soft]] = True
        ends = np.zeros(n)
        if weights is not None:
            ends[seeds[soft]] = weights[soft] / (1 + weights[soft])
        reached = _leads_to(arcs, seeds)
        interior = np.flatnonzero(reached & ~held)
        steps = arcs[interior] @ diags_array(reached.astype(np.float64))
        totals = steps.sum(axis=1)
        pull = np.where(totals > 0, ends[interior], ends[interior] > 0)  # a soft seed without arcs has its own value
        steps = diags_array(np.divide(1 - pull, totals, out=np.zeros(len(interior)), where=totals > 0)) @ steps
        place = np.zeros(n, np.int64)
        place[interior] = np.arange(len(interior))
        own = csr_array(
            (pull[place[seeds[soft]]], (place[seeds[soft]], np.flatnonzero(soft))), (len(interior), len(seeds))
        )
        return cls(
            interior,
            csr_array(steps[:, interior]),
            csr_array(csr_array(steps[:, seeds]) @ diags_array((~soft) * 1.0) + own),
        )


def _leads_to(arcs: csr_array, seeds: Ints) -> Mask:
    """Nodes from which a walk can arrive at a seed, and the seeds."""
    n = arcs.shape[0]
    back = csr_array((np.ones(arcs.nnz + len(seeds), np.int8), *_with_root(arcs, seeds)), shape=(n + 1, n + 1))
    found = np.zeros(n + 1, bool)
    found[breadth_first_order(back, n, directed=True, return_predecessors=False)] = True
    return found[:n]


def _with_root(arcs: csr_array, seeds: Ints) -> tuple[Ints, Ints]:
    """Indices and row pointers of the reversed arcs, with a further node that points to the seeds."""
    reverse = arcs.T.tocsr()
    return np.append(reverse.indices, seeds), np.append(reverse.indptr, arcs.nnz + len(seeds))


def solve_along(
    graph: Graph,
    seeds: Ints,
    values: Doubles,  # (s, k)
    options: SolveOptions,
    *,
    weights: Doubles | None = None,
    start: Floats | None = None,
) -> Solution:
    """The temperatures (n, k) of walks along arcs; NaN where no seed can be reached."""
    check_along(options)
    if graph.is_packed:
        raise ParameterError("{side} is for graphs in memory: use {edges} for packed ones", **ALONG_OR_EDGES)
    began = time.perf_counter()
    walk = Walk.of(graph, seeds, weights)
    target = np.column_stack([walk.R @ values, np.ones(len(walk.interior))])
    x = np.zeros_like(target)
    x[:, :-1] = values.mean(axis=0)
    if start is not None:
        known = start[walk.interior]
        x[:, :-1] = np.where(np.isnan(known), x[:, :-1], known)
    temperatures = np.full((graph.n_nodes, values.shape[1]), np.nan)
    temperatures[seeds] = values
    search = _Search(walk, target, x)
    most = MOST_ITERATIONS if options.max_iter is None else options.max_iter
    tol, spread, bound, iterations = options.tol, np.ones(values.shape[1]), np.inf, 0
    while iterations < most:
        count = min(CHECKED, most - iterations)
        search.run(count)
        iterations += count
        temperatures[walk.interior] = search.x[:, :-1]
        spread = np.nanstd(temperatures, axis=0)
        before, bound = bound, float(largest_ratio(search.errors(), spread))
        if options.progress is not None:
            options.progress(iterations, bound)
        if tol is not None and bound <= tol and (bound <= stopping(tol, graph.n_nodes) or bound > before / 2):
            break
    low, high = values.min(axis=0), values.max(axis=0)
    found = np.clip(search.x[:, :-1], low, high)
    if np.allclose(values.sum(axis=1), 1, rtol=0, atol=1e-14):  # probabilities
        found /= np.maximum(found.sum(axis=1, keepdims=True), TINY)
    temperatures[walk.interior] = found
    residual = float(largest_ratio(np.abs(search.residual()[:, :-1]).max(axis=0, initial=0), spread))
    seconds = time.perf_counter() - began
    converged = tol is not None and bound <= tol
    return Solution(temperatures, "bicgstab", iterations, residual, bound, bound, converged, seconds)


class _Search:
    """BiCGSTAB on ``(I - Q) x = b`` for several columns at once; the last column is the expected number of steps."""

    _r: Doubles  # recurrence residual, shadow residual, search direction
    _shadow: Doubles
    _p: Doubles
    _rho: Doubles

    def __init__(self, walk: Walk, target: Doubles, x: Doubles) -> None:
        self.walk, self.target, self.x = walk, target, x
        self._restart()

    def residual(self) -> Doubles:
        """(u, k + 1) the residual of the equations."""
        return self.target - self._apply(self.x)

    def errors(self) -> Doubles:
        """(k,) bounds on the errors of the columns; infinite before the number of steps is known roughly."""
        left = np.abs(self.residual()).max(axis=0, initial=0)
        least = 1 - left[-1]  # (I - Q) h >= least
        horizon = float(self.x[:, -1].max(initial=0)) / least if least > 0 else np.inf
        rounding = np.finfo(np.float64).eps * np.abs(self.x[:, :-1]).max(axis=0, initial=0)
        return np.where(left[:-1] > 0, horizon * (left[:-1] + rounding), 0)

    def run(self, count: int) -> None:
        """Take this many steps."""
        for _ in range(count):
            v = self._apply(self._p)
            alpha = _ratio(self._rho, _dots(self._shadow, v))
            s = self._r - alpha * v
            t = self._apply(s)
            omega = _ratio(_dots(t, s), _dots(t, t))
            self.x += alpha * self._p + omega * s
            self._r = s - omega * t
            rho = _dots(self._shadow, self._r)
            beta = _ratio(rho, self._rho) * _ratio(alpha, omega)
            self._p = self._r + beta * (self._p - omega * v)
            self._rho = rho
            if (np.abs(rho) <= 1e-12 * np.sqrt(_dots(self._r, self._r) * _dots(self._shadow, self._shadow))).any():
                self._restart()

    def _restart(self) -> None:
        self._r = self.residual()
        self._shadow, self._p = self._r.copy(), self._r.copy()
        self._rho = _dots(self._r, self._r)

    def _apply(self, x: Doubles) -> Doubles:
        return x - self.walk.Q @ x


def _dots(left: Doubles, right: Doubles) -> Doubles:
    """The inner product of each pair of columns."""
    return np.asarray(np.einsum("nk,nk->k", left, right))


def _ratio(above: Doubles, below: Doubles) -> Doubles:
    """Quotients; 0 where a column is finished."""
    return np.divide(above, below, out=np.zeros_like(above), where=np.abs(below) > TINY)
