"""Equilibrium against GraphLearning's Laplace learning, which solves the same equation, at the same error.

GraphLearning stops by a residual: the loosest that reaches the error is looked for first, outside the clock.
"""

import warnings
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import graphlearning as gl
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

import isotherm as iso
from benchmarks.graphs import small_world
from benchmarks.harness import Contestant, Race

__all__ = ["TOL", "laplace_learning", "loosest_residual", "races", "worst_error"]

TOL = 1e-3  # the default of DirichletClassifier


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Race]:
    """One race on the power-law graph, end to end from the same matrix."""
    matrix, labels = small_world(scale)
    warnings.simplefilter("ignore", iso.UnreachedWarning)
    exact = iso.DirichletClassifier(rule="centered", tol=1e-6).fit(matrix, labels).temperatures_
    residual = loosest_residual(matrix, labels, exact)
    peer = Contestant("GraphLearning laplace", partial(laplace_learning, matrix, labels, residual))
    ours = Contestant("equilibrium", lambda: iso.DirichletClassifier(rule="centered").fit(matrix, labels).temperatures_)
    race = Race("equilibrium at the same error, power-law graph", peer, ours, goal=10)
    race.run(rounds)
    theirs, found = (worst_error(contestant.result, exact) for contestant in (peer, ours))
    print(f"largest error, in spreads: GraphLearning {theirs:.1e} at tol={residual:.1g}, isotherm {found:.1e}")
    if found > TOL:
        raise SystemExit(f"the error at equilibrium is {found:.1e}, above {TOL:g}")
    yield race


def laplace_learning(matrix: csr_matrix, labels: NDArray[np.int64], residual: float) -> NDArray[np.float64]:
    """Temperatures by GraphLearning; what it has at unreached nodes is 0."""
    seeds = np.flatnonzero(labels >= 0)
    with np.errstate(all="ignore"):
        return np.asarray(gl.ssl.laplace(matrix, tol=residual).fit(seeds, labels[seeds]))


def loosest_residual(matrix: csr_matrix, labels: NDArray[np.int64], exact: NDArray[Any]) -> float:
    """The loosest residual, in half powers of ten, at which GraphLearning has the error asked for."""

    @cache
    def reaches(half_powers: int) -> bool:
        return worst_error(laplace_learning(matrix, labels, 10 ** (half_powers / 2)), exact) <= TOL

    half_powers = -7  # a guess, close on graphs of all sizes
    while not reaches(half_powers):
        half_powers -= 1
        if half_powers < -20:
            raise SystemExit(f"GraphLearning does not reach an error of {TOL:g}")
    while reaches(half_powers + 1):
        half_powers += 1
    return float(10 ** (half_powers / 2))


def worst_error(found: NDArray[Any], exact: NDArray[Any]) -> float:
    """The largest error at a reached node, relative to the spread of its column."""
    return float(np.nanmax(np.abs(found - exact) / np.nanstd(exact, axis=0)))
