"""Several labels for a node, or none.

Each label is a problem of its own: who has it, and who has not? Its temperature is 1 at the seeds that have it and 0 at
those that have not, and a node has the label if it is warmer than a threshold. All labels have the same seeds, so this
is one Dirichlet problem with a column for each label.

For two classes the rules are thresholds: vanilla says 0.5, centered and relative say the mean temperature, weighted
says that at which the masses of the two classes, scaled to their shares among the seeds, balance. None of them suits
labels that are rare. So all thresholds are shifted by the same amount, such that hidden seeds get their labels back as
well as possible. The same hidden seeds tell how temperatures become probabilities; see `isotherm.label_odds`.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, hstack

from isotherm.calibration import CalibrationWarning
from isotherm.dirichlet import joined, warn_about_unreached
from isotherm.engines import Engine
from isotherm.graph import Graph
from isotherm.label_odds import LabelOdds, fit_odds
from isotherm.label_sets import LabelSets
from isotherm.labels import Ints
from isotherm.seeds import Seeds
from isotherm.solvers import Solution
from isotherm.solvers.base import Floats

__all__ = ["FEW", "Hidden", "Memberships", "find_memberships", "hide", "rule_thresholds"]

FOLDS = 3  # in which seeds are hidden to fit the shift, a third of them each
TENTH = 10  # or a tenth of them each, which makes less of a difference to the others
MOST_LABELS = 60  # that the shift is fitted to
FEW = 20  # labels of seeds below which nothing is fitted
MANY = 300  # from which on a tenth is enough to be hidden
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
    odds
        How temperatures become probabilities, if seeds were hidden.
    """

    labels: csr_array
    confidence: csr_array
    thresholds: NDArray[np.float64]
    reached: NDArray[np.bool_]
    solution: Solution
    odds: LabelOdds | None = None

    @property
    def kept(self) -> bool:
        """Whether the temperatures were kept."""
        return self.solution.temperatures.shape == self.labels.shape

    @property
    def scores(self) -> NDArray[np.float64]:
        """(n, L) how far the temperatures are above the thresholds."""
        return self.solution.temperatures - self.thresholds

    def probabilities(self, temperatures: Floats, seeds: Seeds | None = None) -> NDArray[np.float64]:
        """(m, L) the probability of each label by its temperature; seeds, if they are among the nodes, are certain."""
        plain = np.nan_to_num(temperatures).astype(np.float64)
        found = plain if self.odds is None else self.odds.probabilities(temperatures)
        if seeds is not None:
            held = seeds.take(seeds.held)
            found[held.nodes] = held.values()
        return found

    def certainty(self, seeds: Seeds) -> csr_array:
        """(n, L) the probability of the labels that were found."""
        if self.odds is None:
            return self.confidence
        chances = self.odds.probabilities(self.confidence.data)
        held = np.zeros(len(self.reached), bool)
        held[seeds.nodes[seeds.held]] = True
        chances[np.repeat(held, np.diff(self.confidence.indptr))] = 1
        return csr_array((chances, self.confidence.indices, self.confidence.indptr), self.confidence.shape)


def find_memberships(
    engine: Engine,
    graph: Graph,
    seeds: LabelSets,
    *,
    rule: str,
    threshold: str | float | None,
    max_memory: float,
    start: Floats | None = None,
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
    start
        (n, L) temperatures to begin at.
    **options
        For the engine.
    """
    hidden = hide(engine, graph, seeds, rule, **options) if threshold == "auto" else None
    shift = 0.0 if hidden is None else hidden.shift
    fixed = None if threshold == "auto" else threshold
    keep = 3 * 8 * graph.n_nodes * seeds.n_classes <= max_memory
    distinct, copies = _distinct(seeds.indicator)
    shares = seeds.shares[distinct]
    times = np.bincount(copies)  # (d,)
    parts: list[Solution] = []
    limits, found, entries = [], [], 0
    begin = None if start is None else start[:, distinct]
    for columns, part in _solve(engine, graph, seeds, distinct, start=begin, **options):
        if not parts:
            warn_about_unreached(part.temperatures)
            reached = ~np.isnan(part.temperatures[:, 0])
        own = _thresholds(rule, part.temperatures, seeds, shares[columns], shift)
        limits.append(own if fixed is None else np.full(len(own), float(fixed)))
        warm = np.where(part.temperatures > limits[-1], part.temperatures, 0)  # NaN is not above anything
        found.append(csc_array(warm, dtype=np.float64))
        entries += int(np.diff(found[-1].indptr) @ times[columns])
        _check_memory(entries, seeds.n_classes, graph.n_nodes, max_memory)
        parts.append(part if keep else replace(part, temperatures=part.temperatures[:, :0].copy()))
    confidence = csr_array(hstack(found, format="csc")[:, copies])
    labels = csr_array((np.ones(confidence.nnz, bool), confidence.indices, confidence.indptr), confidence.shape)
    whole = joined(parts, options["tol"])
    solution = replace(whole, temperatures=whole.temperatures[:, copies]) if keep else whole
    odds = None if hidden is None else hidden.odds
    return Memberships(labels, confidence, np.concatenate(limits)[copies], reached, solution, odds)


def _distinct(indicator: csr_array) -> tuple[Ints, Ints]:
    """Labels that no other seeds have, so that one of them stands for all; and the place of each label among these.

    The rarest come last: they take the most iterations, and better together than each with others.
    """
    table = csc_array(indicator)
    table.sort_indices()
    seeds = [table.indices[first:last].tobytes() for first, last in pairwise(table.indptr)]
    first = {key: label for label, key in reversed([*enumerate(seeds)])}
    distinct = np.array(sorted(first.values(), key=lambda label: (-len(seeds[label]), label)), dtype=np.int64)
    place = {seeds[label]: number for number, label in enumerate(distinct.tolist())}
    return distinct, np.array([place[key] for key in seeds], dtype=np.int64)


def _check_memory(entries: int, labels: int, n_nodes: int, max_memory: float) -> None:
    """Refuse to go on where nearly every node has nearly every label."""
    if 32 * entries > max_memory:  # two matrices in rows, one of them also in columns
        raise ValueError(
            f"nodes have more than {entries / n_nodes:.3g} of {labels} labels on average, too many to be kept: raise "
            "threshold or max_memory"
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
    engine: Engine, graph: Graph, seeds: LabelSets, labels: Ints, **options: Any
) -> Iterator[tuple[slice, Solution]]:
    """Solve for some labels, block after block."""
    table = csc_array(csc_array(seeds.indicator)[:, labels])
    options["weights"] = seeds.weights
    return engine.solve_in_blocks(graph, seeds.nodes, lambda part: table[:, part].toarray(), len(labels), **options)


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


class Hidden(NamedTuple):
    """Some of the seeds while they are hidden: temperatures, thresholds and whether they have the label, all (h, l)."""

    temperatures: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    truth: NDArray[np.bool_]

    @property
    def shift(self) -> float:
        """By how much to shift the thresholds: by mean F1 over the labels; 0 if there are too few to tell."""
        if np.count_nonzero(self.truth) < FEW:
            return 0.0
        margins = self.temperatures - self.thresholds
        return _best_shift(np.nan_to_num(margins, nan=-np.inf, neginf=-np.inf), self.truth)

    @property
    def odds(self) -> LabelOdds:
        """How temperatures become probabilities."""
        return fit_odds(self.temperatures, self.truth)


def warn_about_few(odds: LabelOdds | None) -> None:
    """Warn if probabilities are by too few seeds."""
    if odds is not None and odds.n_seen < FEW:
        message = f"with {odds.n_seen} labels of hidden seeds, probabilities are little more than temperatures"
        warnings.warn(f"{message}; label more nodes", CalibrationWarning, stacklevel=4)


def hide(engine: Engine, graph: Graph, seeds: LabelSets, rule: str, **options: Any) -> Hidden:
    """Hide some of the seeds, three times, and see how warm they are then, for at most 60 labels.

    Labels that a single seed has are left out: hidden, nobody would have them. Nothing is hidden if there are too few.
    """
    rng = np.random.default_rng(0)
    distinct, _ = _distinct(seeds.indicator)
    several = distinct[seeds.counts[distinct] > 1]
    labels = np.sort(rng.permutation(several)[:MOST_LABELS])
    seen = seeds.counts[labels].sum()
    if seen < FEW:
        nothing = np.empty((0, len(labels)))
        return Hidden(nothing, nothing, nothing > 0)
    fold = rng.permutation(len(seeds.nodes)) % (TENTH if seen >= MANY else FOLDS)
    folds = [_hidden(engine, graph, seeds, fold == each, labels, rule, **options) for each in range(FOLDS)]
    return Hidden(*map(np.concatenate, zip(*folds, strict=True)))


def _hidden(
    engine: Engine, graph: Graph, seeds: LabelSets, hidden: NDArray[np.bool_], labels: Ints, rule: str, **options: Any
) -> Hidden:
    """What is seen of these seeds without them."""
    visible, nodes = seeds.take(~hidden), seeds.nodes[hidden]
    shares = visible.shares[labels]
    found, limits = [], []
    for columns, part in _solve(engine, graph, visible, labels, **options):
        found.append(part.temperatures[nodes].astype(np.float64))
        limits.append(_thresholds(rule, part.temperatures, visible, shares[columns], 0))
    temperatures = np.concatenate(found, axis=1)
    thresholds = np.broadcast_to(np.concatenate(limits), temperatures.shape)
    return Hidden(temperatures, thresholds, seeds.take(hidden).indicator[:, labels].toarray() > 0)


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
