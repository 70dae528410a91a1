"""Solve many columns in blocks, and skip a column that follows from the others."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from isotherm.arrays import Doubles, Floats
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers import MOST_COLUMNS, Solution, Solver, Source, System
from isotherm.equilibrium.solvers.accuracy.convergence import of_true_spread
from isotherm.errors import Option, Worded, warn

if TYPE_CHECKING:
    from isotherm.equilibrium.solvers.accuracy.unconverged import ConvergenceWarning

__all__ = [
    "UnreachedWarning",
    "column_blocks",
    "joined",
    "solve_block",
    "solve_columns",
    "warn_about_unreached",
]

ROUNDING = 1e-14  # rounding error of a sum of probabilities


class UnreachedWarning(Worded, UserWarning):
    """Some nodes are not connected to any seed and have no temperature."""


def column_blocks(columns: int) -> list[slice]:
    """Split the columns into blocks of 15; up to 16 are one block, since one is skipped if they sum to one."""
    most = columns if columns <= MOST_COLUMNS + 1 else MOST_COLUMNS
    return [slice(first, min(first + most, columns)) for first in range(0, columns, max(most, 1))]


def solve_block(
    solver: Solver,
    system: System,
    values: Doubles,
    options: SolveOptions,
    *,
    source: Source | None = None,
    start: Floats | None = None,
) -> Solution:
    """Solve one block. If the rows of ``Y`` sum to one, as those of K classes do, only K - 1 columns are solved."""
    skipped = None if source is not None else _skipped_column(system, values, start)
    kept = np.arange(values.shape[1]) != skipped
    guess = None if start is None else start[:, kept]
    solution = solver.solve(values[:, kept], options, source=source, start=guess, closed=skipped is not None)
    if skipped is None:
        return solution
    return replace(solution, temperatures=_with_rest(solution.temperatures, skipped))


def _with_rest(others: Floats, column: int) -> Floats:
    """All temperatures, given those but for one column: they sum to one.

    >>> _with_rest(np.array([[0.25, 0.5], [0.0, 1.0]]), 1)
    array([[0.25, 0.25, 0.5 ],
           [0.  , 0.  , 1.  ]])
    """
    whole = np.empty((len(others), others.shape[1] + 1), others.dtype)
    whole[:, :column], whole[:, column + 1 :] = others[:, :column], others[:, column:]
    whole[:, column] = 1 - np.einsum("nk->n", others)  # faster than others.sum(axis=1)
    return whole


def _skipped_column(system: System, values: Doubles, start: Floats | None) -> int | None:
    """If all rows sum to one, the column with the most heat: it follows from the others."""
    columns = values.shape[1]
    closed = 2 <= columns <= MOST_COLUMNS + 1 and np.allclose(values.sum(axis=1), 1, rtol=0, atol=ROUNDING)
    if closed and start is not None:
        closed = np.allclose(start.sum(axis=1)[system.interior], 1, atol=1e-5)
    return int(values.sum(axis=0).argmax()) if closed else None


def solve_columns(
    solver: Solver, system: System, values: Doubles, options: SolveOptions, *, start: Floats | None = None
) -> Solution:
    """Solve all columns of a system, block by block."""
    parts = [
        solve_block(solver, system, values[:, part], options, start=None if start is None else start[:, part])
        for part in column_blocks(values.shape[1])
    ]
    return joined(parts, options.tol)


def joined(parts: list[Solution], tol: float | None) -> Solution:
    """One solution of all columns, with the worst error of its parts; warns if it missed the tolerance."""
    worst = max(parts, key=lambda part: part.error)
    temperatures = [part.temperatures for part in parts]
    whole = replace(
        worst,
        temperatures=temperatures[0] if len(parts) == 1 else np.concatenate(temperatures, axis=1),
        iterations=max(part.iterations for part in parts),
        residual=max(part.residual for part in parts),
        error_bound=of_true_spread(max(part.error_bound for part in parts)),
        converged=all(part.converged for part in parts),
        seconds=sum(part.seconds for part in parts),
    )
    if not whole.converged and tol is not None:
        warn(_missed(whole, tol))
    return whole


def _missed(solution: Solution, tol: float) -> "ConvergenceWarning":
    from isotherm.equilibrium.solvers.accuracy.unconverged import ConvergenceWarning

    remedy = "raise {max_iter} or {more}" if solution.solver == "cg" else "use {auto}, or raise {max_iter} or {more}"
    return ConvergenceWarning(
        "{solver} stopped after {iterations} iterations with an error of about {error:.2g} of the spread of the "
        "temperatures, above {tol}: " + remedy,
        solver=solution.solver,
        iterations=solution.iterations,
        error=solution.error,
        tol=Option("tol", tol),
        more=Option("tol"),
        max_iter=Option("max_iter"),
        auto=Option("solver", "auto"),
    )


def warn_about_unreached(temperatures: Floats) -> None:
    """Warn if some nodes have no temperature."""
    unreached = int(np.count_nonzero(np.isnan(temperatures[:, 0])))
    if unreached:
        message = "{unreached} of {nodes} nodes are not connected to any seed and have no temperature; {remedy}"
        remedy = Option("predict(unreached=...) gives them a label")  # the command line has other words for it
        warn(UnreachedWarning(message, unreached=unreached, nodes=len(temperatures), remedy=remedy))
