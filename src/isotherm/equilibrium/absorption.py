"""Expected time to absorption, as a Dirichlet problem with a source.

Let ``h`` be the mean number of steps that a random walk from an interior node takes to the boundary. Then
``(I - Q) h = 1``, that is ``L h = D 1`` in the interior and ``h = 0`` on the boundary.
"""

from dataclasses import replace

import numpy as np

from isotherm.arrays import Doubles, Floats
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.solvers import Solver, Source, System

__all__ = ["absorption_times"]

MOST_RESIDUAL = 0.05  # largest residual of (I - Q) h = 1
TOLERANCES = (1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)  # tried in turn


def absorption_times(system: System, solver: Solver, options: SolveOptions) -> Doubles:
    """Approximate expected time to absorption of each interior node, shape (n,); 0 elsewhere."""
    inside = np.flatnonzero(system.interior)
    if not len(inside):
        return np.zeros(len(system.degree))
    held = np.zeros((len(system.boundary), 1))
    source = Source(inside, system.degree[inside, None])
    start: Floats | None = None
    for tol in TOLERANCES:
        quiet = replace(options, tol=tol, max_iter=None, progress=None)
        solution = solver.solve(held, quiet, source=source, start=start)
        times, start = solution.temperatures[:, 0], solution.temperatures
        if solution.residual * float(np.nanstd(times, dtype=np.float64)) <= MOST_RESIDUAL:
            break
    return np.where(system.interior, times, 0).astype(np.float64)
