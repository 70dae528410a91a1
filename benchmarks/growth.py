"""Time against size: power-law graphs of the same mean degree, from a million entries to 64 million.

Those that find the equilibrium are held to the error that is the default here. A contestant that takes too long on one
graph is not asked for the larger ones.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TypeAlias

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
    return Contestant(
        "isotherm, equilibrium", lambda: iso.DirichletClassifier(rule="centered").fit(job.matrix, job.labels)
    )


def sweeps(job: Job) -> Contestant:
    model = iso.DirichletClassifier(rule="centered", solver="sweeps", tol=None, max_iter=10)
    return Contestant("isotherm, ten sweeps", lambda: model.fit(job.matrix, job.labels))


def scikit_network(job: Job) -> Contestant:
    return Contestant("scikit-network, ten sweeps", lambda: DiffusionClassifier(n_iter=10).fit(job.matrix, job.labels))


def graphlearning(job: Job) -> Contestant:
    exact = iso.DirichletClassifier(rule="centered", tol=1e-6).fit(job.matrix, job.labels).temperatures_
    residual = loosest_residual(job.matrix, job.labels, exact)
    return Contestant("GraphLearning, equilibrium", partial(laplace_learning, job.matrix, job.labels, residual))


def scipy_cg(job: Job) -> Contestant:
    seeds = int(np.count_nonzero(job.labels >= 0))
    problem = hard_graphs.Problem("", iso.Graph.from_scipy(job.matrix), seeds, CLASSES, solver="cg", error=TOL)
    contestant = hard_graphs.scipy_cg(problem)
    contestant.name = "SciPy cg, equilibrium"
    return contestant


Entrant: TypeAlias = Callable[[Job], Contestant]
PEERS: tuple[Entrant, ...] = (scikit_network, scipy_cg, graphlearning)


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Point | Result]:
    """Ours on all graphs in turns, and its time per entry where it is least and where it is most; then the peers."""
    warnings.simplefilter("ignore", iso.UnreachedWarning)
    jobs = [make_job(int(500_000 * millions * scale)) for millions in MILLIONS]
    ours = _measure([(equilibrium, job) for job in jobs], rounds)
    yield from ours
    yield _per_entry(ours)
    yield from _measure([(sweeps, job) for job in jobs], rounds)
    peers = list(PEERS)
    for job in jobs:
        points = _measure([(peer, job) for peer in peers], rounds)
        yield from points
        peers = [peer for peer, point in zip(peers, points, strict=True) if _quick(point)]


def make_job(edges: int) -> Job:
    """A power-law graph with 1% seeds."""
    n = 2 * edges // DEGREE
    return Job(kept_power_law(n, edges), balanced_seeds(n, max(n // 100, 2 * CLASSES), CLASSES))


def _measure(entries: list[tuple[Entrant, Job]], rounds: int) -> list[Point]:
    contestants = [enter(job) for enter, job in entries]
    for _ in range(rounds):
        for contestant in contestants:
            contestant.turn()
            contestant.result = None  # it may be large
    pairs = zip(contestants, entries, strict=True)
    return [Point(contestant.name, job.matrix.nnz, contestant.seconds) for contestant, (_, job) in pairs]


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
