"""Several labels for a node, or none.

Each label is a problem of its own: who has it, and who has not? Its temperature is 1 at the seeds that have it and 0 at
those that have not, and a node has the label if it is warmer than a threshold. All labels have the same seeds, so this
is one Dirichlet problem with a column for each label.

For two classes the rules are thresholds: vanilla says 0.5, centered and relative say the mean temperature, weighted
says that at which the masses of the two classes, scaled to their shares among the seeds, balance. None of them suits
labels that are rare. So all thresholds are shifted by the same amount, such that hidden seeds get their labels back as
well as possible.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, hstack

from isotherm.dirichlet import joined, warn_about_unreached
from isotherm.engines import Engine
from isotherm.graph import Graph
from isotherm.label_sets import LabelSets
from isotherm.seeds import Ints
from isotherm.solvers import Solution
from isotherm.solvers.base import Floats

__all__ = ["Memberships", "find_memberships", "fit_shift", "rule_thresholds"]

FOLDS = 3  # in which seeds are hidden to fit the shift
MOST_LABELS = 60  # that the shift is fitted to
FEW = 20  # labels of hidden seeds below which nothing is fitted
CANDIDATES = 100  # shifts that are tried
HIGHEST = 0.999  # threshold: seeds that have the label are above it


@dataclass(frozen=True, eq=False)
class Memberships:
    """The labels that were found.

    Attributes
    ----------
    labels
        (n, L) which nodes have which labels.
    confidence
        (n, L) the temperatures of these labels, in the same places.
    thresholds
        (L,) temperatures above which nodes have the labels.
    reached
        (n,) nodes that are connected to a seed.
    solution
        What the solves came to, with temperatures of shape (n, L), or (n, 0) if they are too many to be kept.
    """

    labels: csr_array
    confidence: csr_array
    thresholds: NDArray[np.float64]
    reached: NDArray[np.bool_]
    solution: Solution

    @property
    def kept(self) -> bool:
        """Whether the temperatures were kept."""
        return self.solution.temperatures.shape == self.labels.shape

    @property
    def scores(self) -> NDArray[np.float64]:
        """(n, L) how far the temperatures are above the thresholds."""
        return self.solution.temperatures - self.thresholds


def find_memberships(
    engine: Engine,
    graph: Graph,
    seeds: LabelSets,
    *,
    rule: str,
    threshold: str | float | None,
    max_memory: float,
    **options: Any,
) -> Memberships:
    """Solve for all labels, block after block, and compare with thresholds.

    Parameters
    ----------
    engine, graph, seeds
        Where to solve, and what.
    rule, threshold
        As in `DirichletClassifier`.
    max_memory
        Bytes that temperatures and scores may take; beyond it, temperatures are not kept.
    **options
        For the engine.
    """
    shift = fit_shift(engine, graph, seeds, rule, **options) if threshold == "auto" else 0.0
    keep = 3 * 8 * graph.n_nodes * seeds.n_classes <= max_memory
    parts: list[Solution] = []
    limits, found = [], []
    for columns, part in _solve(engine, graph, seeds, seeds.indicator, **options):
        if not parts:
            warn_about_unreached(part.temperatures)
            reached = ~np.isnan(part.temperatures[:, 0])
        if isinstance(threshold, str) or threshold is None:
            limits.append(_thresholds(rule, part.temperatures, seeds, seeds.shares[columns], shift))
        else:
            limits.append(np.full(part.temperatures.shape[1], float(threshold)))
        warm = np.where(part.temperatures > limits[-1], part.temperatures, 0)  # NaN is not above anything
        found.append(csc_array(warm, dtype=np.float64))
        _check_memory(found, seeds.n_classes, max_memory)
        parts.append(part if keep else replace(part, temperatures=part.temperatures[:, :0].copy()))
    confidence = csr_array(hstack(found, format="csr"))
    labels = csr_array((np.ones(confidence.nnz, bool), confidence.indices, confidence.indptr), confidence.shape)
    return Memberships(labels, confidence, np.concatenate(limits), reached, joined(parts, options["tol"]))


def _check_memory(found: list[csc_array], labels: int, max_memory: float) -> None:
    """Refuse to go on where nearly every node has nearly every label."""
    size = sum(32 * part.nnz for part in found)  # two matrices in rows, one of them also in columns
    if size > max_memory:
        share = sum(part.nnz for part in found) / sum(part.shape[0] * part.shape[1] for part in found)
        raise ValueError(
            f"a node has {share:.1%} of {labels} labels on average, too many to be kept: raise threshold or max_memory"
        )


def rule_thresholds(rule: str, mean: Floats, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The temperature above which a rule for two classes gives a node the label, for each label.

    Parameters
    ----------
    rule
        The name of the rule.
    mean
        (L,) the mean temperature of each label: over all nodes, or for "weighted" over those that are no seeds.
    shares
        (L,) the share of the seeds that has each label.

    Examples
    --------
    >>> mean, shares = np.array([0.1, 0.5]), np.array([0.2, 0.5])
    >>> rule_thresholds("centered", mean, shares), rule_thresholds("weighted", mean, shares)
    (array([0.1, 0.5]), array([0.30769231, 0.5       ]))
    """
    certain = (shares <= 0) | (shares >= 1) | (mean <= 0) | (mean >= 1)  # nobody has the label, or all have
    if rule == "weighted":
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = 1 / (1 + shares * (1 - mean) / (mean * (1 - shares)))
    return np.where(certain | (rule == "vanilla"), 0.5, mean)


def _solve(
    engine: Engine, graph: Graph, seeds: LabelSets, table: csr_array, **options: Any
) -> Iterator[tuple[slice, Solution]]:
    """Solve for the labels in the columns of a table, (s, l)."""
    by_label = csc_array(table)
    options["weights"] = seeds.weights
    return engine.solve_in_blocks(
        graph, seeds.nodes, lambda part: by_label[:, part].toarray(), by_label.shape[1], **options
    )


def _thresholds(
    rule: str, temperatures: Floats, seeds: LabelSets, shares: NDArray[np.float64], shift: float
) -> NDArray[np.float64]:
    """The thresholds of a rule, shifted, from the temperatures of all nodes for some labels; between 0 and 1."""
    counted = ~np.isnan(temperatures[:, 0])
    if rule == "weighted":
        counted[seeds.nodes] = False
    known = temperatures if counted.all() else temperatures[counted]
    mean = known.mean(axis=0, dtype=np.float64) if len(known) else np.zeros(len(shares))
    return np.clip(rule_thresholds(rule, mean, shares) + shift, 0, HIGHEST)


def fit_shift(engine: Engine, graph: Graph, seeds: LabelSets, rule: str, **options: Any) -> float:
    """By how much to shift the thresholds of a rule: seeds are hidden, a third at a time, and get their labels back.

    How well is measured by the mean of F1 over the labels, of which at most 60 are looked at. The shift is 0 if there
    are too few of them to tell.
    """
    rng = np.random.default_rng(0)
    counts = np.diff(csc_array(seeds.indicator).indptr)
    labels = np.sort(rng.permutation(np.flatnonzero(counts > 1))[:MOST_LABELS])
    if counts[labels].sum() < FEW:
        return 0.0
    fold = rng.permutation(len(seeds.nodes)) % FOLDS
    margins = [_margins(engine, graph, seeds, fold == each, labels, rule, **options) for each in range(FOLDS)]
    truth = [seeds.take(fold == each).indicator[:, labels].toarray() > 0 for each in range(FOLDS)]
    return _best_shift(np.concatenate(margins), np.concatenate(truth))


def _margins(
    engine: Engine, graph: Graph, seeds: LabelSets, hidden: NDArray[np.bool_], labels: Ints, rule: str, **options: Any
) -> NDArray[np.float64]:
    """(h, l) by how much hidden seeds are above the thresholds of some labels."""
    visible, nodes = seeds.take(~hidden), seeds.nodes[hidden]
    table, shares = visible.indicator[:, labels], visible.shares[labels]
    found = [
        part.temperatures[nodes] - _thresholds(rule, part.temperatures, visible, shares[columns], 0)
        for columns, part in _solve(engine, graph, visible, table, **options)
    ]
    return np.nan_to_num(np.concatenate(found, axis=1), nan=-np.inf, neginf=-np.inf)


def _best_shift(margins: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """The shift with the largest mean of F1 over the columns, the smallest of these where several are."""
    seen = margins[truth & np.isfinite(margins)]
    marks = np.unique(np.quantile(seen, np.linspace(0, 1, CANDIDATES))) if len(seen) else np.zeros(1)
    shifts = np.append((marks[1:] + marks[:-1]) / 2, 0)
    shifts = shifts[np.argsort(np.abs(shifts), kind="stable")]
    scores = np.zeros(len(shifts))
    for margin, true in zip(margins.T, truth.T, strict=True):
        guessed, hits = (len(each) - np.searchsorted(np.sort(each), shifts, "right") for each in (margin, margin[true]))
        scores += 2 * hits / np.maximum(guessed + np.count_nonzero(true), 1)
    return float(shifts[scores.argmax()])
