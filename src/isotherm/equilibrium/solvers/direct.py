"""Direct solvers for small systems: sparse factorisation, and elimination that no weights can spoil."""

from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, diags_array
from scipy.sparse.linalg import SuperLU, splu

from isotherm.arrays import Doubles
from isotherm.equilibrium.solvers.system import Request, Solution, Source, System, largest_ratio, with_closing

MOST_NODES = 1500  # interior nodes for exact elimination: time grows with their third power, to a few seconds,
MOST_CELLS = 2**24  # and numbers in its dense matrix
SAFE = 3.0  # the error is taken to be at least the bound divided by this if exact elimination can take over,
LIKELY = 100.0  # and divided by this if the system is too large for it


class Direct:
    """The solver "direct": factorises the interior matrix once (SuperLU); each column costs two triangular solves."""

    name = "direct"

    def __init__(self, system: System, n_threads: int | None = None) -> None:
        self.system = system
        self.interior = np.flatnonzero(system.interior)
        self.degree = system.degree[self.interior]
        self.rows = system.conductance.to_scipy().astype(np.float64)[self.interior]

    @cached_property
    def factors(self) -> SuperLU | None:
        """The factorised interior matrix; None if rounding makes it singular."""
        matrix = csc_array(diags_array(self.degree) - self.rows[:, self.interior])
        try:
            return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        except RuntimeError:
            return None

    @cached_property
    def horizon(self) -> float:
        """An upper bound on the longest expected time to absorption; infinite if rounding allows none."""
        times = np.zeros(len(self.system.degree))
        times[self.interior] = self._solve(self.degree)
        return self.system.verified_horizon(times)

    @cached_property
    def exact(self) -> "Exact | None":
        """A solver that needs no horizon, for systems that are small enough for it."""
        return exact(self.system)

    def solve(self, request: Request) -> Solution:
        """Find the equilibrium; see :class:`isotherm.equilibrium.solvers.system.Solver`."""
        values, source, tol, closed = request.values, request.source, request.options.tol, request.closed
        entering = 0.0 if source is None else source.everywhere(len(self.system.degree))[self.interior]
        temperatures = np.full((len(self.system.degree), values.shape[1]), np.nan)
        offset = values.mean(axis=0)  # so that a constant boundary gives exactly constant temperatures
        temperatures[self.system.boundary] = values - offset
        temperatures[self.interior] = 0
        for _ in range(2):  # iterative refinement: the second solve corrects the rounding errors of the first
            correction = np.nan_to_num(self._solve(self._residual(temperatures) + entering), posinf=0, neginf=0)
            temperatures[self.interior] += correction
        residual = np.abs(self._residual(temperatures) + entering) / self.degree[:, None]
        spread = self.system.spread(temperatures, closed=closed)
        size = np.nanmax(np.abs(temperatures), axis=0, initial=0)
        eps = float(np.finfo(np.float64).eps)
        rounding = np.where(size > 0, self.system.mean_rounding * size, 0)
        known = self.horizon if np.isfinite(self.horizon) else 0.0
        bounds = known * (residual + rounding) + eps * np.where(size > 0, np.abs(values).max(axis=0), 0)
        correction, bounds, residual = (
            np.abs(with_closing(value, closed)).max(axis=0, initial=0) for value in (correction, bounds, residual)
        )
        error, rest = largest_ratio(np.stack([correction, residual]), spread.usable).tolist()
        bound = float(largest_ratio(bounds, spread.read)) if np.isfinite(self.horizon) else np.inf
        error = min(max(error, bound / (SAFE if fits_exact(self.system) else LIKELY)), bound)
        if error > (tol or 0.0) and self.exact is not None:
            return self.exact.solve(request)
        temperatures += offset
        temperatures[self.system.boundary] = values
        return Solution(temperatures, self.name, 0, rest, error, bound, tol is not None and error <= tol)

    def _residual(self, temperatures: Doubles) -> Doubles:
        neighbours = self.rows @ np.nan_to_num(temperatures)  # an interior node has no unreached neighbour
        return neighbours - self.degree[:, None] * temperatures[self.interior]

    def _solve(self, inflow: Doubles) -> Doubles:
        if not len(self.interior):
            return inflow
        return np.full(inflow.shape, np.inf) if self.factors is None else self.factors.solve(inflow)


def exact(system: System) -> "Exact | None":
    """Exact elimination, if the system is small enough for it."""
    return Exact(system) if fits_exact(system) else None


def fits_exact(system: System) -> bool:
    """Whether a system is small enough for exact elimination."""
    inside = int(np.count_nonzero(system.interior))
    return inside <= MOST_NODES and inside * (inside + len(system.boundary)) <= MOST_CELLS


def eliminate(shares: Doubles) -> Doubles:
    """Remove the first c nodes one after another from a matrix (c, c + s) of weights; returns their pivots (c,).

    A row then holds the probabilities with which a random walk goes on from a node to later nodes. The diagonal is not
    used, and the first c columns are symmetric.
    """
    pivots = np.empty(len(shares))
    for node, row in enumerate(shares):
        row[: node + 1] = 0  # removed nodes, and itself
        pivots[node] = row.sum()
        row /= pivots[node]
        near = node + 1 + np.flatnonzero(shares[node + 1 :, node])  # symmetric: its neighbours below
        links = shares[near, node].copy()
        shares[near] += links[:, None] * row
        shares[near, near] = 0
    return pivots


def carry_on(shares: Doubles, heat: Doubles) -> None:
    """Move heat (c or more, k) on from each of the c removed nodes, in place; a row is then all that came to a node."""
    for node, row in enumerate(shares):
        heat[node + 1 :] += np.outer(row[node + 1 : len(heat)], heat[node])


class Exact:
    """Elimination without subtraction, for small systems whose weights differ by many orders of magnitude.

    Ordinary elimination subtracts the weights of a node from its degree. If a node is tied to the boundary only by a
    weight that is tiny compared with the others, the difference is lost to rounding and the matrix becomes singular.
    Here a node is removed from the graph instead, and its neighbours are joined to each other (the star-mesh
    transform): only sums, products and quotients of positive numbers occur. So each entry of the answer has a small
    relative error, whatever the weights are (Grassmann, Taksar and Heyman 1985; O'Cinneide 1993).

    Interior nodes are removed one after another from a dense matrix; each solve is a back substitution.
    """

    name = "exact"

    def __init__(self, system: System, n_threads: int | None = None) -> None:
        self.system = system
        inside, outside = np.flatnonzero(system.interior), system.boundary
        rows = system.conductance.to_scipy().astype(np.float64)[inside]
        fewest_first = np.argsort(np.diff(rows.indptr), kind="stable")
        self.order, rows = inside[fewest_first], rows[fewest_first]
        self.shares = np.concatenate([rows[:, self.order].toarray(), rows[:, outside].toarray()], axis=1)
        self.pivots = eliminate(self.shares)

    def solve(self, request: Request) -> Solution:
        """Find the equilibrium; see :class:`isotherm.equilibrium.solvers.system.Solver`."""
        values, tol, closed = request.values, request.options.tol, request.closed
        n, count = len(self.system.degree), len(self.order)
        offset = values.mean(axis=0)  # a constant boundary then gives a constant, exactly
        inflow = np.zeros((count, values.shape[1]))
        if request.source is not None:
            inflow = request.source.everywhere(n)[self.order]
            carry_on(self.shares, inflow)
        x = np.concatenate([np.zeros((count, values.shape[1])), values - offset])
        for node in range(count - 1, -1, -1):
            x[node] = self.shares[node, node + 1 :] @ x[node + 1 :] + inflow[node] / self.pivots[node]
        temperatures = np.full((n, values.shape[1]), np.nan)
        temperatures[self.order] = x[:count] + offset
        temperatures[self.system.boundary] = values
        spread = self.system.spread(temperatures, closed=closed)
        away = with_closing(np.abs(x), closed).max(axis=0, initial=0)
        size = np.where(away > 0, away + np.abs(with_closing(offset[None], closed))[0], 0)
        eps = float(np.finfo(np.float64).eps)
        error = float(largest_ratio((count + 1) * eps * size, spread.usable))
        bound = float(largest_ratio(2.0 * (count + 1) ** 3 * eps * size, spread.read))  # O'Cinneide, on relative errors
        return Solution(temperatures, self.name, 0, error, error, bound, tol is not None and error <= tol)

    def flow(self, source: Source) -> Doubles:
        """The heat that flows to each boundary node from a source in the interior, shape (s, k)."""
        heat = np.zeros((self.shares.shape[1], source.inflow.shape[1]))
        heat[: len(self.order)] = source.everywhere(len(self.system.degree))[self.order]
        carry_on(self.shares, heat)
        return heat[len(self.order) :]
