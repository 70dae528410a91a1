"""From seeds to scores, in the two protocols.

``authors`` is what the paper's own programs do, to the letter: ten sweeps from the mean temperature of the seeds,
scores over all nodes, and two slips. ``corrected`` is what the paper's text says: equilibrium, and every class in its
place. All rules are scored from one solve.
"""

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm import rules
from isotherm.dirichlet import UnreachedWarning, interior_system, solve, solve_graph
from isotherm.graph import Csr, Graph
from isotherm.rules import RULES

__all__ = [
    "ALL",
    "EQUILIBRIUM",
    "LOST",
    "OTHERS",
    "REACHED",
    "SHIFTED",
    "SWEEPS",
    "UNREACHED",
    "Score",
    "class_f1",
    "macro_f1",
    "predict",
    "score_authors",
    "score_corrected",
]

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

SWEEPS: dict[str, Any] = {"solver": "sweeps", "tol": None, "max_iter": 10, "n_threads": 1}
EQUILIBRIUM: dict[str, Any] = {"solver": "auto", "tol": 1e-4, "n_threads": 1}

# Macro-F1 over all nodes, with the authors' mapping or the right one; over those that are no seeds; and over those of
# these that a seed reaches. An unreached node counts as wrong in all but the last.
SHIFTED, ALL = "all nodes, columns as classes", "all nodes"
OTHERS, REACHED = "nodes that are no seeds", "reached nodes that are no seeds"
LOST, UNREACHED = "classes without a seed", "share of unreached nodes"


class Score(NamedTuple):
    """A measurement without its place in an experiment."""

    rule: str
    measure: str
    value: float


def score_authors(heat: Csr, labels: Ints, seeds: Ints) -> Iterator[Score]:
    """The authors' protocol, on the nodes of a symmetric matrix; for a directed graph these are its 2n copies.

    A node that no seed reaches keeps the mean temperature of the seeds, and one without edges goes to zero; both enter
    the means. A prediction is the number of the column with the highest score, and columns are the classes that have
    a seed: where some class has none, the columns after it stand for the wrong classes (`SHIFTED`). What the right
    mapping gives is measured beside it (`ALL`).
    """
    classes, codes = np.unique(labels[seeds], return_inverse=True)
    temperatures = _swept(heat, seeds, codes)
    known = labels >= 0
    for rule in RULES:
        # A slip of theirs: the weighted rule takes the seeds of class 0 for nodes that are no seeds.
        normalised = seeds[labels[seeds] > 0] if rule == "weighted" else seeds
        columns = _scores(rule, temperatures, normalised, codes).argmax(axis=1)
        yield Score(rule, SHIFTED, macro_f1(labels[known], columns[known]))
        yield Score(rule, ALL, macro_f1(labels[known], classes[columns[known]]))
    yield Score("", LOST, _lost(labels, classes))


def score_corrected(
    graph: Graph, labels: Ints, seeds: Ints, *, side: str = "source", options: dict[str, Any] = EQUILIBRIUM
) -> Iterator[Score]:
    """The text's protocol: temperatures at equilibrium, each column for its own class, unreached nodes without one."""
    classes, codes = np.unique(labels[seeds], return_inverse=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreachedWarning)  # measured instead
        solution = solve_graph(graph, seeds, np.eye(len(classes))[codes], side=side, **options)
    temperatures = solution.temperatures.astype(np.float64)
    known = labels >= 0
    others = known.copy()
    others[seeds] = False
    unreached = np.isnan(temperatures[:, 0])
    for rule in RULES:
        predicted = predict(rule, temperatures, seeds, codes, classes)
        for measure, nodes in ((ALL, known), (OTHERS, others), (REACHED, others & ~unreached)):
            yield Score(rule, measure, macro_f1(labels[nodes], predicted[nodes]))
    yield Score("", LOST, _lost(labels, classes))
    yield Score("", UNREACHED, float(unreached[known].mean()))


def predict(rule: str, temperatures: Floats, seeds: Ints, codes: Ints, classes: Ints) -> Ints:
    """The class that a rule gives each node, -1 where unreached."""
    columns = _scores(rule, temperatures, seeds, codes).argmax(axis=1)
    return np.where(np.isnan(temperatures[:, 0]), -1, classes[columns])


def macro_f1(truth: Ints, predicted: Ints) -> float:
    """Mean over classes of F1 = 2 hits / (occurrences in truth and predictions); -1 is no prediction.

    >>> round(macro_f1(np.array([0, 0, 1, 2]), np.array([0, 1, 1, -1])), 3)  # 2/3, 2/3 and 0
    0.444
    """
    size = int(max(truth.max(initial=0), predicted.max(initial=0))) + 1
    hits = np.bincount(truth[truth == predicted], minlength=size)
    total = np.bincount(truth, minlength=size) + np.bincount(predicted[predicted >= 0], minlength=size)
    return float(np.mean(2 * hits[total > 0] / total[total > 0]))


def class_f1(truth: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> float:
    """F1 of one class; 0 where it is neither there nor predicted."""
    total = np.count_nonzero(truth) + np.count_nonzero(predicted)
    return 2 * int(np.count_nonzero(truth & predicted)) / total if total else 0.0


def _swept(heat: Csr, seeds: Ints, codes: Ints) -> Floats:
    """Temperatures of all nodes after ten sweeps."""
    values = np.eye(codes.max() + 1)[codes]
    temperatures = solve(interior_system(heat, seeds), values, **SWEEPS).temperatures.astype(np.float64)
    temperatures[np.isnan(temperatures[:, 0])] = values.mean(axis=0)
    alone = np.diff(heat.indptr) == 0
    alone[seeds] = False
    temperatures[alone] = 0
    return temperatures


def _scores(rule: str, temperatures: Floats, seeds: Ints, codes: Ints) -> Floats:
    if rule == "weighted":
        return rules.weighted(temperatures, seeds, np.bincount(codes) / len(codes)).astype(np.float64)
    plain = {"vanilla": rules.vanilla, "centered": rules.centered, "relative": rules.relative}
    return plain[rule](temperatures).astype(np.float64)


def _lost(labels: Ints, classes: Ints) -> float:
    return float(len(np.setdiff1d(labels[labels >= 0], classes)))
