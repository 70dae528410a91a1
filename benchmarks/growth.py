"""Time against size: power-law graphs of the same mean degree, from a million entries to 64 million.

Those that find the equilibrium are held to the error that is the default here. A contestant that takes too long on one
graph is not asked for the larger ones.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sknetwork.classification import DiffusionClassifier

import isotherm as iso
from benchmarks import hard_graphs
from benchmarks.graphs import CLASSES, balanced_seeds, kept_power_law
from benchmarks.harness import Contestant
from benchmarks.laplace_learning import TOL, laplace_learning, loosest_residual
from benchmarks.results import Point, Result

__all__ = ["races"]

MILLIONS = (1, 2, 4, 8, 16, 32, 64)
DEGREE = 23
PATIENCE = 15  # seconds


@dataclass(frozen=True)
class Job:
    """A graph of the series, and its seeds."""

    matrix: csr_matrix
    labels: NDArray[np.int64]


def equilibrium(job: Job) -> Contestant:
    return Contestant("isotherm, equilibrium", lambda: iso.DirichletClassifier().fit(job.matrix, job.labels))


def sweeps(job: Job) -> Contestant:
    model = iso.DirichletClassifier(solver="sweeps", tol=None, max_iter=10)
    return Contestant("isotherm, ten sweeps", lambda: model.fit(job.matrix, job.labels))


def scikit_network(job: Job) -> Contestant:
    return Contestant("scikit-network, ten sweeps", lambda: DiffusionClassifier(n_iter=10).fit(job.matrix, job.labels))


def graphlearning(job: Job) -> Contestant:
    exact = iso.DirichletClassifier(tol=1e-6).fit(job.matrix, job.labels).temperatures_
    residual = loosest_residual(job.matrix, job.labels, exact)
    return Contestant("GraphLearning, equilibrium", partial(laplace_learning, job.matrix, job.labels, residual))


def scipy_cg(job: Job) -> Contestant:
    seeds = int(np.count_nonzero(job.labels >= 0))
    problem = hard_graphs.Problem("", iso.Graph.from_scipy(job.matrix), seeds, CLASSES, solver="cg", error=TOL)
    contestant = hard_graphs.scipy_cg(problem)
    contestant.name = "SciPy cg, equilibrium"
    return contestant


CONTESTANTS: tuple[Callable[[Job], Contestant], ...] = (
    equilibrium,
    sweeps,
    scikit_network,
    scipy_cg,
    graphlearning,
)


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Point | Result]:
    """Points for the plot, then the time per entry of ours where it is least and where it is most."""
    warnings.simplefilter("ignore", iso.UnreachedWarning)
    asked = list(CONTESTANTS)
    ours: list[Point] = []
    for millions in MILLIONS:
        edges = int(500_000 * millions * scale)
        n = 2 * edges // DEGREE
        job = Job(kept_power_law(n, edges), balanced_seeds(n, max(n // 100, 2 * CLASSES), CLASSES))
        points = _measure(job, asked, rounds)
        ours.append(points[0])
        yield from points
        asked = [one for one, point in zip(asked, points, strict=True) if one is equilibrium or _quick(point)]
    yield _per_entry(ours)


def _measure(job: Job, asked: list[Callable[[Job], Contestant]], rounds: int) -> list[Point]:
    contestants = [make(job) for make in asked]
    for _ in range(rounds):
        for contestant in contestants:
            contestant.turn()
            contestant.result = None
    return [Point(contestant.name, job.matrix.nnz, contestant.seconds) for contestant in contestants]


def _quick(point: Point) -> bool:
    """Whether the next graph, of twice the size, may be expected to take no longer than one is patient."""
    return 2 * median(point.seconds) <= PATIENCE


def _per_entry(points: list[Point]) -> Result:
    """The largest time per entry against the least."""
    by_time = sorted(points, key=lambda point: median(point.seconds) / point.entries)
    (least, low), (most, high) = (
        (f"{point.entries / 1e6:.3g} million entries", [1e9 * s / point.entries for s in point.seconds])
        for point in (by_time[0], by_time[-1])
    )
    return Result("time per entry at equilibrium", f"least, at {least}", low, f"most, at {most}", high, 1 / 2, "ns")
