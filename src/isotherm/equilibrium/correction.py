"""Correct the temperatures after a change of a few seeds, instead of solving again.

Let G_x be the temperatures if node x is held at 1 and all seeds at 0. If x becomes a seed with temperature Y, the new
temperatures are ``T + G_x (Y - T_x)``: the change is itself a Dirichlet problem, and one column serves all classes.
A seed w that is removed takes the temperature at which no heat stays in it: the new temperatures are ``T + G_w a``,
where ``a`` follows from ``L T = 0`` at w.

*The columns.* G_x is warm near x, and everywhere else a small multiple of one shape. So the heat from x is first
followed as far as it is warm (the kernel `push`). The rest mixes with the graph: in the end it is spread over the nodes
in proportion to their degrees. The temperatures that such a source causes are the times to absorption h, which are
known from the fit: ``(D - A) h = d``. A few iterations of cg do the mixing. They leave a small residual almost
everywhere, and a large one at a few nodes with few neighbours, which is pushed on. Let p_x be the temperatures of these
steps and ``c_x`` the heat that is left, divided by the sum of all degrees; then ``G_x = p_x + c_x h'``, where ``h'``
are the times with x on the boundary. If the graph has several large components, heat mixes only in the component of x:
degrees are summed over it, and h is 0 in all others.

*The error.* The residuals of all parts add up. The ratio of error to residual is taken from the fit. If the error
exceeds the tolerance, cg continues from the corrected temperatures and times, which takes a few iterations. Any other
kind of change has no correction, and the problem has to be solved again.
"""

from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.equilibrium.averages import reached_moments
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem, solve_columns
from isotherm.equilibrium.solvers import Solution, System
from isotherm.equilibrium.solvers.cg import MOST_MISSING, ConjugateGradient, GroupDescent
from isotherm.equilibrium.solvers.interior import Groups, group_of_components, interior_groups
from isotherm.equilibrium.solvers.iterative import Horizon
from isotherm.equilibrium.solvers.system import keep_components_within, keep_within, largest_ratio, of_true_spread
from isotherm.graphs import Csr
from isotherm.kernels import Report

MOST_CHANGED = 16  # seeds; with more, a solve from the present temperatures is as fast
SHARE = 0.25  # share of the remaining error allowance that one correction may use,
LEAST_SHARE = 0.02  # but at least this share of the tolerance
WORK = 0.01  # largest share of the matrix entries that one push may read,
MOST_WORK, MORE_WORK = 0.03, 0.1  # and that the pushes of all columns may read before and after cg
MOSTLY = 0.2  # cg stops where the root mean square of the residuals is this part of the largest one allowed
MIXED = 1.0  # stop pushing at this multiple of the mixed residual
MOST_STEPS = 12  # largest number of iterations of cg
GROWN = 100.0  # cg stops if the energy of a residual is this multiple of the first one
SETTLED = 10.0  # a column stops moving when its residual is down to this many rounding errors of the first one


def correct(
    before: Problem,
    solution: Solution,  # of the problem before the change
    after: Problem,  # the same graph with other seeds
    temperatures: Floats,  # (n, columns) of the solution, in the columns of the new problem; 0 in a new column
    options: SolveOptions,
) -> Solution | None:
    """The solution after a change of seeds, or None if it has to be solved for."""
    began = perf_counter()
    if not _applies(before, solution, after, options):
        return None
    change = _Change.between(before, after, temperatures)
    if not change.is_small(before, after, temperatures):
        return None
    correction = _Correction(before, solution, temperatures, options, change)
    after.take_over(correction.system_of(after))
    solution = correction.solution if correction.error <= correction.tol else correction.refined(after)
    values = after.values(slice(None))
    keep_within(solution.temperatures, values.min(axis=0), values.max(axis=0))
    keep_components_within(after.system, solution.temperatures, after.lifting.values(values))
    return replace(solution, seconds=perf_counter() - began)


def _applies(before: Problem, solution: Solution, after: Problem, options: SolveOptions) -> bool:
    """Whether the times to absorption are known, and only seeds that are held can have changed."""
    known = solution.times is not None and solution.converged and options.tol is not None
    measured = solution.residual > 0 and 0 < solution.error < np.inf
    alike = before.side == after.side and not after.along and not before.lifting.directed
    return known and measured and alike and np.array_equal(_soft(before), _soft(after))


def _soft(problem: Problem) -> Doubles:
    """Positions and weights of the soft seeds, shape (2, s)."""
    if problem.weights is None:
        return np.empty((2, 0))
    soft = np.isfinite(problem.weights)
    return np.stack([problem.nodes[soft], problem.weights[soft]])


def _held(problem: Problem) -> Ints:
    return problem.nodes if problem.weights is None else problem.nodes[np.isinf(problem.weights)]


class _Change(NamedTuple):
    """Nodes that are held at new temperatures (m, K), and nodes that are no longer held."""

    held: Ints
    values: Doubles
    freed: Ints

    @classmethod
    def between(cls, before: Problem, after: Problem, temperatures: Floats) -> "_Change":
        old, new = _held(before), _held(after)
        values = after.values(slice(None))[np.searchsorted(after.nodes, new)]
        with np.errstate(invalid="ignore"):
            same = np.abs(values - temperatures[new]).max(axis=1, initial=0) <= np.finfo(temperatures.dtype).eps
        moved = ~(same & np.isin(new, old, assume_unique=True))
        return cls(new[moved], values[moved], np.setdiff1d(old, new, assume_unique=True))

    @property
    def nodes(self) -> Ints:
        return np.concatenate([self.held, self.freed])

    def is_small(self, before: Problem, after: Problem, temperatures: Floats) -> bool:
        """Whether few seeds changed, and the same nodes are reached as before."""
        if not 0 < len(self.nodes) <= MOST_CHANGED or np.isnan(temperatures[self.held, 0]).any():
            return False
        component = before.system.component
        if not len(self.freed):
            return True
        if component is None:
            return np.array_equal(before.system.reached, after.system.reached)
        return np.array_equal(np.unique(component[before.nodes]), np.unique(component[after.nodes]))


class _Columns(NamedTuple):
    """The temperatures G_x of m nodes, each held at 1 while all others and the boundary are held at 0."""

    pushed: Floats  # (lifted nodes, width): the temperatures p_x, in the first m columns
    left: Doubles  # (m,): the multiples c_x of the times to absorption, in the group of x
    rest: Doubles  # (m,): the largest residual, relative to the degree


class _Correction:
    """The corrected temperatures (n, K), times to absorption of all lifted nodes, and residuals (K,) of the columns."""

    def __init__(
        self, before: Problem, solution: Solution, temperatures: Floats, options: SolveOptions, change: _Change
    ) -> None:
        assert solution.times is not None
        assert options.tol is not None
        self._before, self._old, self._change = before, solution, change
        self.options, self.tol, self.times = options, options.tol, solution.times
        self._error_per_residual = solution.error / solution.residual  # in the fit
        self._longest = self.horizon
        self._degree = np.where(before.system.interior, before.system.degree, 0)
        self._degree[change.nodes] = 0
        self._group, self._member = self._groups()
        spread = reached_moments(temperatures).spread
        columns = self._columns(temperatures, spread)
        amounts = self._combine(columns, temperatures)
        rounding = float(np.finfo(temperatures.dtype).eps)
        self.residual = solution.residual * spread + columns.rest @ np.abs(amounts[:, :-1]) + rounding
        self._missing = MOST_MISSING + float(columns.rest @ np.abs(amounts[:, -1]))  # residual of the times
        self.spread = reached_moments(self.temperatures).spread

    @property
    def horizon(self) -> float:
        """The longest time to absorption."""
        return float(self.times.max(initial=0))

    @property
    def error(self) -> float:
        """The error, relative to the spread: the residual times the ratio of the fit, or more if times are longer."""
        ratio = min(self._error_per_residual * max(1.0, self.horizon / self._longest), self.horizon)
        return float(largest_ratio(ratio * self.residual, self.spread))

    @property
    def solution(self) -> Solution:
        """The corrected solution."""
        horizon = Horizon(self.horizon, self._missing).bound
        bound = horizon * (self.residual + float(np.finfo(self.temperatures.dtype).eps))
        residual, error_bound = largest_ratio(np.stack([self.residual, bound]), self.spread).tolist()
        measures = {"residual": residual, "error": self.error, "error_bound": of_true_spread(error_bound)}
        converged = self.error <= self.tol
        return replace(self._old, temperatures=self.temperatures, times=self.times, converged=converged, **measures)

    def _groups(self) -> tuple[NDArray[np.int32], Mask]:
        """The group of each interior node, -1 for none; and the membership (m, groups) of the nodes that change."""
        component, nodes = self._before.system.component, self._change.nodes
        number = None if component is None else group_of_components(component, self._degree)
        if component is None or number is None:
            return np.where(self._degree > 0, 0, -1).astype(np.int32), np.ones((len(nodes), 1), bool)
        member = number[component[nodes]][:, None] == np.arange(number.max() + 1)
        return interior_groups(number, component, self._degree), member

    def _columns(self, temperatures: Floats, spread: Doubles) -> _Columns:
        change = self._change
        weight = np.abs(change.values - temperatures[change.held]).sum(axis=0) + len(change.freed)
        share = max(SHARE * (self.tol - self._old.error), LEAST_SHARE * self.tol)
        matters = (weight > 0) & (spread > 0)
        least = share / self._error_per_residual * float(np.min(spread[matters] / weight[matters], initial=1))
        lifting = self._before.lifting
        boundary, dtype = np.union1d(lifting.boundary, change.nodes), temperatures.dtype
        mixing = _Mixing(lifting.conductance, self._degree, boundary, self._group, dtype, self.options.threads)
        return mixing.columns(change.nodes, self._member, least)

    def _combine(self, columns: _Columns, temperatures: Floats) -> Doubles:
        """Add multiples (m, K + 1) of the columns so that the changed nodes are right; the last are for the times."""
        change, times, member = self._change, self.times, self._member
        own, held = times[change.nodes].astype(np.float64), slice(len(change.held))
        shrink = 1 + (columns.left * own) @ member  # (groups,)
        amounts = np.zeros((len(own), temperatures.shape[1] + 1))
        amounts[held] = np.column_stack([change.values - temperatures[change.held], -own[held]])
        if len(change.freed):
            amounts[held.stop :] = self._released(columns, temperatures, amounts[held], shrink)
        everywhere = (member * columns.left[:, None]).T @ amounts / shrink[:, None]  # (groups, K + 1)
        near = (amounts - own[:, None] * (member @ everywhere)).astype(temperatures.dtype)
        everywhere = everywhere.astype(temperatures.dtype)
        n, threads = len(temperatures), kernels.thread_count(self.options.threads)
        self.temperatures, self.times = np.empty_like(temperatures), np.empty_like(times)
        for base, table, part, out in (
            (temperatures, columns.pushed[:n], slice(-1), self.temperatures),
            (times.reshape(-1, 1), columns.pushed, slice(-1, None), self.times.reshape(-1, 1)),
        ):
            multiples, mixed = (np.ascontiguousarray(each[:, part]) for each in (near, everywhere))
            rows = slice(len(base))
            kernels.active.combine(base, table, multiples, times[rows], self._group[rows], mixed, out, threads)
        self.temperatures[change.held] = change.values
        self.times[change.held] = 0
        return amounts

    def _released(self, columns: _Columns, temperatures: Floats, held: Doubles, shrink: Doubles) -> Doubles:
        """The multiples (f, K + 1) for freed nodes, by L T = 0 and L h = d there."""
        freed, times, degree = self._change.freed, self.times, self._before.system.degree[self._change.freed]
        owner, ends, weights = self._before.lifting.conductance.entries_at(freed)
        flow = csr_array((weights, (owner, np.arange(len(ends)))), shape=(len(freed), len(ends)), dtype=np.float64)
        pushed = columns.pushed[ends, : len(columns.left)].astype(np.float64)  # (entries, m)
        shape = times[ends] - pushed @ times[self._change.nodes]
        shares = (self._member / shrink) @ self._member.T * columns.left  # (m, m): multiples of the shape at each node
        mixed = shape[:, None] * shares[len(held) :][owner]
        outflow = -(flow @ (pushed + mixed))  # (f, m): L G at the freed nodes
        outflow[:, len(held) :] += np.diag(degree)
        inflow = flow @ np.column_stack([temperatures[ends], times[ends]]).astype(np.float64)
        inflow[:, :-1] -= degree[:, None] * temperatures[freed]
        inflow[:, -1] += degree
        return np.linalg.solve(outflow[:, len(held) :], inflow - outflow[:, : len(held)] @ held)

    def refined(self, after: Problem) -> Solution:
        """The solution by cg, from the corrected temperatures and times."""
        lifting, system = self._before.lifting, after.system
        solver = ConjugateGradient(system, self.options.threads, times=self.times)
        values, start = lifting.values(after.values(slice(None))), lifting.start(self.temperatures)
        solution = solve_columns(solver, system, values, self.options, start=start)
        return replace(solution, temperatures=lifting.lowered(solution.temperatures))

    def system_of(self, after: Problem) -> System:
        """The system of the new problem: the same nodes are reached, and soft seeds have the same grounds."""
        boundary = after.nodes.copy()
        soft = ~np.isin(after.nodes, _held(after), assume_unique=True)
        boundary[soft] = self._before.lifting.held[np.searchsorted(self._before.nodes, after.nodes[soft])]
        return replace(self._before.system, boundary=boundary)


class _Mixing:
    """Finds columns: pushes the heat of single nodes, then mixes what is left of all of them by cg."""

    def __init__(
        self,
        conductance: Csr,
        degree: Doubles,  # (lifted nodes,) 0 outside the interior
        boundary: Ints,  # nodes that are held, and those whose columns are wanted
        group: NDArray[np.int32],  # (lifted nodes,) the group of each interior node, -1 for none
        dtype: np.dtype[Any],
        threads: int | None,
    ) -> None:
        self.conductance, self._graph = conductance, conductance.of_type(dtype)
        self.degree, self.dtype = degree.astype(dtype), dtype
        self.boundary, self.group, self.threads = boundary, group, kernels.thread_count(threads)

    def columns(self, nodes: Ints, member: Mask, least: float) -> _Columns:  # member (m, groups) marks groups
        """The columns of some nodes, with residuals of at most ``least`` if a few iterations are enough for that."""
        m = len(member)
        x, r = (kernels.block(len(self.degree), kernels.width(m), self.dtype) for _ in range(2))
        for column, node in enumerate(nodes.tolist()):
            _, ends, weights = self.conductance.entries_at(np.array([node]))
            r[ends, column] = np.where(self.degree[ends] > 0, weights, 0)
        _, ends, weights = self.conductance.entries_at(self.boundary)
        leaving = np.bincount(ends, weights * (self.degree[ends] > 0), minlength=len(self.degree))  # at temperature 1
        groups = Groups(leaving.astype(self.dtype), self.group, self.degree, self.threads)
        volume = member[:, : len(groups.volume)] @ groups.volume  # (m,)
        volume = np.where(volume > 0, volume, np.inf)
        self._push(x, r, np.maximum(least, MIXED * self._sums(r)[:m] / volume), MOST_WORK / m)
        left = self._sums(r)[:m] / volume
        mixed = np.zeros((member.shape[1], r.shape[1]), self.dtype)
        mixed[:, :m] = member.T * -left
        kernels.active.group_shift(self.group, self.degree, mixed, r, self.threads)  # mixed heat is no residual
        self._mix(GroupDescent(self._graph, self.degree, groups, x, r, self.threads), least)
        rest = self._push(x, r, np.full(m, least), MORE_WORK / m)
        x[nodes, np.arange(m)] = 1
        return _Columns(x, left, rest + MOST_MISSING * np.abs(left))

    def _sums(self, r: Floats) -> Doubles:
        closing = np.zeros(r.shape[1], self.dtype)
        return Report(*kernels.active.moments(closing, r, self.threads)).sum[:-1]

    def _push(self, x: Floats, r: Floats, least: Doubles, work: float) -> Doubles:
        """Move residuals above these limits (m,) on; returns the largest that is left in each column."""
        most = int(min(WORK, work) * self.conductance.entries)
        return kernels.active.push(*self._graph, self.degree, least, most, x, r, self.threads)

    def _mix(self, descent: GroupDescent, least: float) -> None:
        """Iterate by cg until all but a few residuals are small."""
        total = float(self.degree.sum(dtype=np.float64)) or np.inf
        begin = descent.report.dot[:-1]
        descent.least = (SETTLED * float(np.finfo(self.dtype).eps)) ** 2 * begin
        for _ in range(MOST_STEPS):
            report = descent.report
            if not (report.dot[:-1] <= GROWN * begin).all():  # with few nodes, later steps follow rounding errors
                return
            usual = np.sqrt(report.dot[:-1].max(initial=0) / total)  # root mean square of residuals over degrees
            if report.residual.max() <= least or usual <= MOSTLY * least:
                return
            descent.step()
