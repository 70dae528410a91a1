"""From a graph with seeds to scores, in the two protocols.

``authors`` does exactly what the paper's own programs do: ten sweeps from the mean temperature of the seeds, scores
over all nodes, and two mistakes. ``corrected`` follows the paper's text: equilibrium, and each column stands for its
own class. One solve serves all rules.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from isotherm.arrays import Doubles, Ints, Mask
from isotherm.engines import engine_of
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem
from isotherm.graphs import Csr, Graph
from isotherm.labelling.outcomes import best_codes
from isotherm.labelling.rules import RULES
from isotherm.paper.experiment import AUTHORS, Data, Draw, Measurement, Setting
from isotherm.study.scores import macro_f1

SWEEPS = SolveOptions(solver="sweeps", tol=None, max_iter=10, threads=1)
EQUILIBRIUM = SolveOptions(tol=1e-4, threads=1)

# What macro-F1 is taken over: all nodes, with the authors' mapping of columns to classes or the right one; non-seed
# nodes; reached non-seed nodes. An unreached node counts as wrong in all but the last.
SHIFTED, ALL = "all nodes, columns as classes", "all nodes"
OTHERS, REACHED = "non-seed nodes", "reached non-seed nodes"
LOST, UNREACHED = "classes without a seed", "share of unreached nodes"


class Point(NamedTuple):
    """A graph with seeds, at a position on the axis of a figure."""

    x: float
    graph: Graph
    labels: Ints  # one for each node; in the authors' protocol, one for each node of ``graph.heat``
    seeds: Ints
    side: str = "source"


def scored(
    points: Callable[[Setting, Draw, Data], Iterable[Point]],
) -> Callable[[Setting, Draw, Data], Iterator[Measurement]]:
    """Make the `run` of an experiment from a function that gives its points."""

    def run(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
        for point in points(setting, draw, data):
            if setting.protocol == AUTHORS:
                scores = score_authors(point.graph.heat, point.labels, point.seeds)
            else:
                scores = score_corrected(point.graph, point.labels, point.seeds, side=point.side)
            for score in scores:
                yield score._replace(x=point.x)

    return run


def of_class(labels: Ints, number: int, count: int, rng: np.random.Generator) -> Ints:
    """`count` nodes of a class, uniformly at random, or all if there are fewer."""
    return rng.permutation(np.flatnonzero(labels == number))[:count]


def balanced(labels: Ints, fraction: float, rng: np.random.Generator) -> Ints:
    """The same fraction of each class, rounded down as in the authors' programs; in ascending order."""
    sizes = np.bincount(labels)
    return np.sort(np.concatenate([of_class(labels, k, int(fraction * n), rng) for k, n in enumerate(sizes)]))


def score_authors(conductance: Csr, labels: Ints, seeds: Ints) -> Iterator[Measurement]:
    """The authors' protocol, on the nodes of a symmetric matrix; for a directed graph these are its 2n copies.

    An unreached node keeps the mean temperature of the seeds, a node without edges goes to zero, and both enter the
    means. There is one column for each class that has a seed, and the number of the best column is taken for the number
    of a class. If a class has no seed, the columns after it stand for the wrong classes (`SHIFTED`). The scores with
    the right mapping are measured too (`ALL`).
    """
    classes, codes = np.unique(labels[seeds], return_inverse=True)
    temperatures = _swept(conductance, seeds, codes)
    known = labels >= 0
    for rule in RULES:
        # Their second mistake: the weighted rule counts the seeds of class 0 as non-seed nodes.
        normalised = seeds if RULES[rule].counts_seeds else seeds[labels[seeds] > 0]
        columns = best_codes(_scores(rule, temperatures, normalised, codes))
        yield Measurement(0, rule, SHIFTED, macro_f1(labels[known], columns[known]))
        yield Measurement(0, rule, ALL, macro_f1(labels[known], classes[columns[known]]))
    yield Measurement(0, "", LOST, float(len(np.setdiff1d(labels[known], classes))))


def score_corrected(
    graph: Graph, labels: Ints, seeds: Ints, *, side: str = "source", options: SolveOptions = EQUILIBRIUM
) -> Iterator[Measurement]:
    """The protocol of the text: equilibrium, each column for its own class, unreached nodes without a label."""
    classes, codes = np.unique(labels[seeds], return_inverse=True)
    temperatures = solved(graph, seeds, np.eye(len(classes))[codes], options, side=side)
    known = labels >= 0
    others = known.copy()
    others[seeds] = False
    unreached = np.isnan(temperatures[:, 0])
    for rule in RULES:
        predicted = predict(rule, temperatures, seeds, codes, classes)
        for measure, nodes in ((ALL, known), (OTHERS, others), (REACHED, others & ~unreached)):
            yield Measurement(0, rule, measure, macro_f1(labels[nodes], predicted[nodes]))
    yield Measurement(0, "", LOST, float(len(np.setdiff1d(labels[known], classes))))
    yield Measurement(0, "", UNREACHED, float(unreached[known].mean()))


def solved(graph: Graph, seeds: Ints, values: Doubles, options: SolveOptions, *, side: str = "both") -> Doubles:
    """Temperatures of all nodes, given the temperatures of the seeds; NaN where unreached."""
    problem = Problem.of(graph, seeds, values, side=side)
    return engine_of(options).solve(problem, options).temperatures.astype(np.float64)


def predict(rule: str, temperatures: Doubles, seeds: Ints, codes: Ints, classes: Ints) -> Ints:
    """The class that a rule gives to each node; -1 where unreached."""
    columns = best_codes(_scores(rule, temperatures, seeds, codes))
    return np.where(columns < 0, -1, classes[columns])


def class_f1(truth: Mask, predicted: Mask) -> float:
    """F1 of one class; 0 if there are neither true nor predicted members."""
    total = np.count_nonzero(truth) + np.count_nonzero(predicted)
    return 2 * int(np.count_nonzero(truth & predicted)) / total if total else 0.0


def _swept(conductance: Csr, seeds: Ints, codes: Ints) -> Doubles:
    """Temperatures of all nodes after ten sweeps."""
    values = np.eye(codes.max() + 1)[codes]
    temperatures = solved(Graph(conductance, np.arange(conductance.n)), seeds, values, SWEEPS)
    temperatures[np.isnan(temperatures[:, 0])] = values.mean(axis=0)
    alone = np.diff(conductance.indptr) == 0
    alone[seeds] = False
    temperatures[alone] = 0
    return temperatures


def _scores(rule: str, temperatures: Doubles, seeds: Ints, codes: Ints) -> Doubles:
    return RULES[rule].scores_of(temperatures, seeds, np.bincount(codes) / len(codes)).astype(np.float64)
