"""What every solver takes and gives: the interior system of a Dirichlet problem, and its solution."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.graph import Csr

__all__ = ["MOST_COLUMNS", "Floats", "Progress", "Solution", "Solver", "System"]

MOST_COLUMNS = kernels.WIDTHS[-1] - 1  # that a solver takes at once: one place in a block is for its clock

SAMPLE = 2**16  # edges

Floats: TypeAlias = NDArray[np.floating]
Progress: TypeAlias = Callable[[int, float], None]  # called with the iteration and the present error


@dataclass(frozen=True)
class System:
    """The interior system ``(D_U - A_UU) X = A_US Y`` of a Dirichlet problem.

    It is never cut out of the graph: rows outside the interior are held fixed instead.

    Attributes
    ----------
    heat : Csr
        Symmetric matrix of conductivities between all ``n`` nodes.
    boundary : ndarray of shape (s,)
        The nodes whose temperature is given.
    degree : ndarray of shape (n,)
        Row sums of ``heat``.
    reached : ndarray of bool, shape (n,)
        Nodes that a path joins to the boundary, the boundary included.
    sources : int, optional
        For the bipartite graph of a directed one: the first so many nodes are sources, and edges lead only from these
        to the others. Then a solver needs to iterate on the sources only, and the others follow.
    """

    heat: Csr
    boundary: NDArray[np.int64]
    degree: NDArray[np.float64]
    reached: NDArray[np.bool_]
    sources: int | None = None

    @cached_property
    def interior(self) -> NDArray[np.bool_]:
        """Reached nodes that are not on the boundary."""
        interior = self.reached.copy()
        interior[self.boundary] = False
        return interior

    @cached_property
    def flux(self) -> NDArray[np.float64]:
        """Conductivity between each boundary node and the interior, shape (s,)."""
        owner, end, weight = self.heat.entries_at(self.boundary)
        return np.bincount(owner, weight * self.interior[end], minlength=len(self.boundary)).astype(np.float64)

    @property
    def mean_degree(self) -> float:
        """Entries per node."""
        return self.heat.entries / self.heat.n

    @cached_property
    def lesser_degree(self) -> float:
        """The number of neighbours of that end of an edge which has fewer, in the mean of a sample of edges."""
        indptr, indices, _ = self.heat
        counts = np.diff(indptr)
        sample = np.linspace(0, max(len(indices) - 1, 0), min(len(indices), SAMPLE), dtype=np.int64)
        ends = np.searchsorted(indptr, sample, side="right") - 1, indices[sample]
        return float(np.minimum(*(counts[end] for end in ends)).mean()) if len(sample) else 0.0

    @property
    def least_horizon(self) -> float:
        """A lower bound on the longest expected time to absorption: interior degree over boundary flux."""
        flux = float(self.flux.sum())
        return float(self.degree[self.interior].sum()) / flux if flux > 0 else 0.0


@dataclass(frozen=True)
class Solution:
    """Temperatures, and how they were found.

    Attributes
    ----------
    temperatures : ndarray of shape (n, k)
        Boundary rows as given; rows that the boundary does not reach are NaN.
    solver : str
        The solver that ran.
    iterations : int
        Sweeps or iterations of the slowest column; 0 for a direct solve.
    residual : float
        Largest residual of ``X = QX + RY``, relative to the spread of its column.
    error : float
        Estimate of the largest error, relative to the spread of its column: what ``tol`` is compared with.
    error_bound : float
        Upper bound on the same, by the absorption-time argument, with an allowance for rounding; infinite where none
        is known.
    converged : bool
        Whether the error is at most ``tol``.
    seconds : float
        Time taken by the solve.
    """

    temperatures: Floats
    solver: str
    iterations: int
    residual: float
    error: float
    error_bound: float
    converged: bool
    seconds: float


class Solver(Protocol):
    """A solver prepared for one system; it may be asked for many solutions."""

    def solve(
        self,
        values: NDArray[np.float64],
        *,
        start: NDArray[np.floating] | None = None,
        tol: float | None,
        max_iter: int | None = None,
        closed: bool = False,
        progress: Progress | None = None,
    ) -> Solution:
        """Find the equilibrium.

        Parameters
        ----------
        values : ndarray of shape (s, k)
            Temperatures of the boundary nodes, in at most ``MOST_COLUMNS`` columns.
        start : ndarray of shape (n, k), optional
            Temperatures to begin from, NaN where unknown.
        tol : float or None
            Largest error allowed, relative to the spread of the temperatures of a column; None for exactly
            ``max_iter`` iterations.
        max_iter : int, optional
            Most iterations allowed.
        closed : bool
            The columns and one more, which is not given, sum to a constant: the tolerance holds for that one too.
        progress : callable, optional
            Called after each iteration with its number and the present error.
        """
        ...

    def horizon(self) -> NDArray[np.float64]:
        """About the expected time to absorption, ``(I - Q) h = 1``, of each interior node, shape (n,); 0 elsewhere."""
        ...
