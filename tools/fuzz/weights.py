"""Weights over many decades: temperatures against exact arithmetic, on graphs small enough for it.

An answer is wrong without a word if a reached node has no temperature, if the solve says that it converged but its
error is above three times the tolerance, or if the bound on the error is below the error.
"""

import warnings
from fractions import Fraction
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

import isotherm as iso
from isotherm.choices import SolverName
from tools.fuzz.mutate import generator

__all__ = ["DECADES", "case"]

DECADES = (12, 40)
SOLVERS = get_args(SolverName)
TOLS = (1e-3, 1e-6)
ITERATIONS = (3, 1000)  # at most, log-uniform; a tenth of the cases has the usual limit, which takes sweeps a second
SLACK = 1e-12  # of the bound: this comparison rounds, too


def case(decades: int, seed: int, number: int) -> str | None:
    """What is wrong with one solve; None if nothing is."""
    rng = generator(seed, 2000 + decades, number)
    n = int(rng.integers(4, 12 if number % 4 else 25))
    weights = _random_weights(n, decades, rng)
    seeds = {int(node): place % 2 for place, node in enumerate(rng.permutation(n)[: rng.integers(2, 4)])}
    solver, tol = SOLVERS[rng.integers(len(SOLVERS))], TOLS[rng.integers(len(TOLS))]
    most = int(np.exp(rng.uniform(*np.log(ITERATIONS)))) if solver in ("cg", "sweeps") and rng.random() < 0.9 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = iso.DirichletClassifier(solver=solver, tol=tol, max_iter=most)
        clf.fit(iso.Graph.from_scipy(weights), seeds)
    fault = _fault(clf.temperatures_, clf.solution_, _exact(weights, seeds), tol)
    return fault and f"{solver}, tol {tol:g}, max_iter {most}: {fault}"


def _random_weights(n: int, decades: int, rng: np.random.Generator) -> NDArray[np.float64]:
    present = rng.random((n, n)) < rng.choice([0.3, 0.6, 1.0])
    for node in range(1, n):
        present[rng.integers(node), node] = True  # a tree, so that most nodes are reached
    upper = np.triu(present, 1) * 10.0 ** rng.uniform(-decades / 2, decades / 2, (n, n))
    return upper + upper.T


def _exact(weights: NDArray[np.float64], seeds: dict[int, int]) -> dict[int, Fraction]:
    """The temperatures of class 0 at all nodes, which a path joins to the seeds, by elimination with fractions."""
    inner = [node for node in range(len(weights)) if node not in seeds]
    row = {
        node: {int(other): Fraction(weights[node, other]) for other in np.flatnonzero(weights[node])} for node in inner
    }
    for node in inner:  # eliminate: join the neighbours to each other
        total = sum(row[node].values())
        for one, weight in row[node].items():
            if one in row and one > node:
                row[one].pop(node)
                for other, share in row[node].items():
                    if other != one:
                        row[one][other] = row[one].get(other, Fraction(0)) + weight * share / total
    found = {node: Fraction(1 - label) for node, label in seeds.items()}
    for node in reversed(inner):
        later = {other: weight for other, weight in row[node].items() if other in found}
        found[node] = sum((found[o] * w for o, w in later.items()), Fraction(0)) / sum(later.values())
    return found


def _fault(found: NDArray[np.floating], solution: Any, exact: dict[int, Fraction], tol: float) -> str | None:
    column = found[:, 0]
    if np.isnan(column).any():
        return "a reached node has no temperature"
    true = np.array([float(exact[node]) for node in range(len(found))])
    spread = float(true.std()) or 1.0
    gaps = [abs(float(Fraction(float(column[node])) - exact[node])) for node in range(len(found))]
    error = max(gaps) / spread
    if solution.converged and error > 3 * tol:
        return f"converged, but the error is {error:.2g}"
    if error > solution.error_bound * (1 + SLACK) + SLACK:
        return f"the bound is {solution.error_bound:.2g}, but the error is {error:.2g}"
    return None
