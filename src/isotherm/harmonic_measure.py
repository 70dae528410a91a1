"""Where a random walk from a node stops: at which boundary node, with what probability.

The temperature of a node is the mean of the temperatures of the boundary, weighted by these probabilities, its
*harmonic measure*. They are what reaches each boundary node of a unit of heat that enters at the node.

Most of that heat often stays near. So the problem is first solved around the node, in a ball whose outside is cold:
what flows out of it bounds the error. If that is too much, the whole graph is relaxed from there. If even that takes
too long, as on roads and grids with few seeds, the node joins the boundary, at temperature 1 above all others at 0,
and the solvers take over: the heat that then reaches each boundary node is in proportion to its share.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm import kernels
from isotherm.dirichlet import solve
from isotherm.relaxation import Interior, Relaxation, around, part
from isotherm.solvers import System
from isotherm.solvers.base import MOST_COLUMNS
from isotherm.solvers.iterative import SINGLE_TOL

__all__ = ["HarmonicMeasure"]

BALLS = (2**14, 2**17, 2**20)  # entries of the balls that are tried in turn
SMALL_PART = 20  # no ball has more than this part of the graph, the first excepted
LEAKY = 0.9  # if more than this flows out of a ball, so it will out of a larger one
PATIENCE = 100  # iterations before another method is tried
FINEST = 1e-10  # of the solvers
CANCELLED = 4  # residual has both signs; of what flows from it to the boundary, no more than this part cancels out


class HarmonicMeasure:
    """Answers for one system; what it needs for the whole graph is prepared once.

    Parameters
    ----------
    system : System
        The Dirichlet problem.
    tol : float
        The largest share of the heat that may be attributed to wrong boundary nodes.
    n_threads : int, optional
        Number of threads.
    """

    def __init__(self, system: System, *, tol: float = 1e-3, n_threads: int | None = None) -> None:
        self.system, self.tol, self.n_threads = system, tol, n_threads
        self._threads = kernels.thread_count(n_threads)
        self._place = np.full(len(system.degree), -1)  # of a node on the boundary
        self._place[system.boundary] = np.arange(len(system.boundary))
        self._whole: Interior | None = None
        self._idle: list[Relaxation] = []

    def __call__(self, starts: csr_array) -> NDArray[np.float64]:
        """Shares of the boundary nodes in the heat of some walks, shape (k, s).

        Parameters
        ----------
        starts : csr_array of shape (k, n)
            Where each walk begins: probabilities of reached nodes.
        """
        blocks = (starts[first : first + MOST_COLUMNS] for first in range(0, starts.shape[0], MOST_COLUMNS))
        return np.concatenate([self._measure(block).T for block in blocks])

    def _measure(self, starts: csr_array) -> NDArray[np.float64]:
        """A block of walks, shape (s, k)."""
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

    def _from_interior(self, nodes: NDArray[np.int64], source: NDArray[np.float64]) -> NDArray[np.float64]:
        """The heat that reaches the boundary from sources at interior nodes, (c, k) -> (s, k)."""
        most = max(BALLS[0], self.system.heat.entries / SMALL_PART)
        size, ball = 0, None
        for budget in BALLS:
            inside = around(self.system, nodes, min(budget, most))
            if len(inside) == size or (ball is not None and ball.leak > LEAKY):
                break
            size, ball = len(inside), _Ball(self.system, inside, source, self.tol / 2)
            if ball.leak <= self.tol:
                return self._fold(ball)
        assert ball is not None
        flow = self._relax(ball)
        return self._trace(nodes, source) if flow is None else flow

    def _fold(self, ball: "_Ball") -> NDArray[np.float64]:
        """What reaches the boundary from a ball, shape (s, k)."""
        flow = np.zeros((len(self.system.boundary), ball.out.shape[1]))
        places = self._place[ball.rim]
        flow[places[places >= 0]] = ball.out[places >= 0]
        return flow

    def _relax(self, ball: "_Ball") -> NDArray[np.float64] | None:
        """The same on the whole graph, from what is known in the ball; None if that takes too long."""
        relaxation = self._relaxation(ball.out.shape[1])
        shell = self.system.interior[ball.rim]
        relaxation.r[ball.rim[shell]] = ball.out[shell]
        relaxation.r[ball.nodes] = ball.rest
        relaxation.begin()
        settling = _Settling(relaxation)
        for _ in range(PATIENCE):
            relaxation.step()
            if settling.error() <= self.tol:
                if relaxation.columns == 1:
                    self._idle.append(relaxation)
                return np.maximum(self._fold(ball) + relaxation.flow + relaxation.coming, 0)
        return None

    def _relaxation(self, columns: int) -> Relaxation:
        """Of a single column, one that was used before, if idle: new memory costs as much as half an iteration."""
        if self._whole is None:
            self._whole = Interior(self.system, np.float32 if self.tol >= SINGLE_TOL else np.float64, self._threads)
        if columns > 1 or not self._idle:
            return Relaxation(self._whole, columns)
        relaxation = self._idle.pop()
        relaxation.clear()
        return relaxation

    def _trace(self, nodes: NDArray[np.int64], source: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same by the solvers, with the nodes on the boundary.

        Of heat that leaves one of them, a part comes to others first: these are the visits of a walk that is watched
        only while it is on the nodes or on the boundary.
        """
        c = len(nodes)
        system = replace(self.system, boundary=np.concatenate([nodes, self.system.boundary]))
        conductance = self._conductances(system, c)  # (c + s, c)
        among, out = conductance[:c], conductance[c:]
        visits = np.linalg.solve(np.diag(conductance.sum(axis=0)) - among, source)  # (c, k)
        return out @ visits

    def _conductances(self, system: System, c: int) -> NDArray[np.float64]:
        """Heat that reaches each boundary node from each of the first c, held at 1 while all others are at 0."""
        values = np.eye(len(system.boundary), c)
        tol = self.tol
        owner, end, weight = system.heat.entries_at(system.boundary)
        wires = csr_array((weight, (owner, end)), shape=(len(values), len(system.degree)))
        start = None
        while True:
            solution = solve(system, values, start=start, tol=tol, n_threads=self.n_threads)
            start = np.nan_to_num(solution.temperatures)
            conductance = wires @ start
            np.fill_diagonal(conductance, 0)
            conductance = np.maximum(conductance, 0)
            spread = start[system.reached].std(axis=0)
            wrong = float((solution.error * spread * system.flux.sum() / conductance.sum(axis=0)).max())
            if wrong <= self.tol or tol < FINEST:
                return conductance
            tol *= 0.5 * self.tol / wrong


class _Ball:
    """Sources in a part of the graph, all others at temperature 0.

    Attributes
    ----------
    nodes : ndarray of shape (b,)
        The nodes of the ball, those with sources first.
    rest : ndarray of shape (b, k)
        The residual.
    rim, out : ndarrays of shape (m,) and (m, k)
        The nodes beside the ball, and the heat that flows to each.
    leak : float
        The largest share of the heat that neither is balanced nor has come to the boundary.
    """

    def __init__(self, system: System, nodes: NDArray[np.int64], source: NDArray[np.float64], tol: float) -> None:
        self.nodes = nodes
        relaxation = Relaxation(Interior(part(system, nodes), np.float64, threads=1), source.shape[1])
        relaxation.r[: len(source)] = source
        relaxation.begin()
        for _ in range(PATIENCE):
            relaxation.step()
            if relaxation.left.max() <= tol:
                break
        self.rest = relaxation.r
        owner, end, weight = system.heat.entries_at(nodes)
        outward = np.ones(len(system.degree), bool)
        outward[nodes] = False
        owner, end, weight = owner[outward[end]], end[outward[end]], weight[outward[end]]
        self.rim, place = np.unique(end, return_inverse=True)
        wires = csr_array((weight, (place, owner)), shape=(len(self.rim), len(nodes)))
        self.out = wires @ relaxation.temperatures
        lost = np.abs(self.rest).sum(axis=0) + self.out[system.interior[self.rim]].sum(axis=0)
        self.leak = float(lost.max())


class _Settling:
    """How much of the heat is still attributed to wrong boundary nodes: half the sum of the errors.

    No more than the residual can be. But residual of both signs mixes, at a rate that the iterations tell, and while
    it does, only as much of it is lost to the boundary as one sweep after the other lets through.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        self.relaxation = relaxation
        self._left: list[NDArray[np.float64]] = []

    def error(self) -> float:
        """The error after one more step, once what is coming is added to the flow."""
        relaxation = self.relaxation
        left = relaxation.left
        self._left.append(left)
        window = max(1, len(self._left) // 4)
        if len(self._left) <= window:
            return float(left.max()) / 2
        before = self._left[-1 - window]
        rate = np.minimum(np.divide(left, before, out=np.zeros_like(left), where=before > 0), 1) ** (1 / window)
        mixing = 2 * rate / (1 + rate**2)  # of sweeps, if that is the rate of cg
        coming = np.abs(relaxation.coming).sum(axis=0)
        coming = np.maximum(coming, relaxation.interior.absorption * left / CANCELLED)
        lost = np.divide(coming * mixing, 1 - mixing, out=left.copy(), where=mixing < 1)
        return float(np.minimum(lost, left).max()) / 2
