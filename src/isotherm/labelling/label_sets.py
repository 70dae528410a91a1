"""Sets of labels: each node may have several labels, or none.

Each label is a binary problem. Its temperature is 1 at the seeds that have the label and 0 at the other seeds, and a
node has the label if it is warmer than a threshold. All labels share the same seeds, so this is one Dirichlet problem
with a column for each label.

For a binary problem each rule is a threshold: 0.5 for vanilla, the mean temperature for centered and relative, and for
weighted the temperature at which the normalised masses of both classes are equal. None of these suits rare labels. So
all thresholds are shifted by the same amount, chosen so that hidden seeds get their labels back as well as possible.
The same hidden seeds calibrate probabilities, see `isotherm.probability.label_odds`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack

from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.engines import engine_of
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem, joined, warn_about_unreached
from isotherm.equilibrium.solvers import Solution
from isotherm.errors import Option, ParameterError
from isotherm.graphs import Graph
from isotherm.graphs.colours import colours_at, id_ranks
from isotherm.labelling.outcomes import needed_memory, raise_not_kept
from isotherm.labelling.rules import Rule
from isotherm.labelling.settings import Settings
from isotherm.seeds import Seeds
from isotherm.seeds.hiding import deal

if TYPE_CHECKING:
    from isotherm.probability.label_odds import LabelOdds

FOLDS = 3  # folds of hidden seeds; each fold hides a third of the seeds,
SMALL_FOLDS = 10  # or a tenth if they have MANY labels, which disturbs the temperatures less
MOST_LABELS = 60  # the shift is fitted to at most this many labels
TOO_FEW = 20  # with fewer labels on hidden seeds, nothing is fitted
MANY = 300
CANDIDATES = 100  # shifts to try
HIGHEST_THRESHOLD = 0.999  # below 1, so that seeds with the label are always above it
ROUNDING = 1e-8  # a temperature that is above its threshold by less may be equal to it


class Hidden(NamedTuple):
    """For hidden seeds (h, l): temperatures, thresholds, and whether they have each label."""

    temperatures: Doubles
    thresholds: Doubles
    truth: Mask

    @property
    def shift(self) -> float:
        """The shift of the thresholds with the best mean F1 over the labels; 0 if the hidden labels are too few."""
        if np.count_nonzero(self.truth) < TOO_FEW:
            return 0.0
        margins = self.temperatures - self.thresholds
        return _best_shift(np.nan_to_num(margins, nan=-np.inf, neginf=-np.inf), self.truth)

    @property
    def odds(self) -> "LabelOdds":
        """How temperatures become probabilities."""
        from isotherm.probability.label_odds import fit_odds  # few fits need it

        return fit_odds(self.temperatures, self.truth)


@dataclass(frozen=True, eq=False)
class LabelSets:
    """Any number of labels for each node: an outcome, see `isotherm.labelling.outcomes`."""

    solution: Solution  # with temperatures of shape (n, L), or (n, 0) if they would take too much memory
    seeds: Seeds
    labels: csr_array  # which nodes have which labels
    warmth: csr_array  # the temperatures of these labels, at the same entries
    thresholds: Doubles  # a node has a label if its temperature is above the threshold of the label
    reached: Mask  # nodes that are connected to a seed
    several: ClassVar[bool] = True
    groups: ClassVar[None] = None
    decision: ClassVar[None] = None

    @property
    def kept(self) -> bool:
        """Whether the temperatures were kept."""
        return self.solution.temperatures.shape == self.labels.shape

    @property
    def temperatures(self) -> Floats:
        """(n, L), NaN rows where unreached."""
        self.need_all("temperatures_")
        return self.solution.temperatures

    @property
    def scores(self) -> Doubles:
        """(n, L) temperatures minus thresholds."""
        self.need_all("scores_")
        return self.solution.temperatures - self.thresholds

    def need_all(self, name: str) -> None:
        """Raise `NotKeptError` if temperatures were not kept."""
        if not self.kept:
            raise_not_kept(name, self.seeds, len(self.reached), "labels_ and confidence_")

    def margins(self) -> Doubles:
        """Not defined for sets of labels."""
        raise ParameterError(
            "{margin} is for seeds with one label each: use {diverse}",
            margin=Option("policy", "margin"),
            diverse=Option("policy", "diverse"),
        )

    def ranked(self, position: int, heat: Doubles) -> list[tuple[int, float]]:
        """All labels with their scores at a node, best score first; ``heat`` (L,) are its temperatures."""
        scores = heat - self.thresholds
        order = np.argsort(-scores, kind="stable")
        return list(zip(order.tolist(), scores[order].tolist(), strict=True))


def find_label_sets(
    problem: Problem,
    seeds: Seeds,
    options: SolveOptions,
    settings: Settings,  # if temperatures take more than the memory allowed, they are not kept
    *,
    start: Floats | None = None,  # (n, L) temperatures to begin from
) -> tuple[LabelSets, "LabelOdds | None"]:
    """Solve for all labels, block by block, and compare temperatures with thresholds.

    If hidden seeds decide the thresholds, they also tell how temperatures become probabilities.
    """
    rule, threshold, max_memory = settings.heat_rule, settings.threshold, settings.allowed_memory
    hidden = hide(problem, seeds, options, rule) if threshold == "auto" else None
    shift = 0.0 if hidden is None else hidden.shift
    fixed = None if isinstance(threshold, str) else threshold
    n = problem.graph.n_nodes
    keep = needed_memory(n, seeds.n_classes) <= max_memory
    distinct, copies = _distinct(seeds.indicator, _seed_order(seeds, problem.graph))
    shares = seeds.shares[distinct]
    times = np.bincount(copies)  # (d,)
    parts, limits, warm, entries = list[Solution](), list[Doubles](), list[csc_array](), 0
    begin = None if start is None else start[:, distinct]
    for columns, part in _solve(problem, seeds, distinct, options, begin):
        if not parts:
            warn_about_unreached(part.temperatures)
            reached = ~np.isnan(part.temperatures[:, 0])
        own = _thresholds(rule, part.temperatures, seeds, shares[columns], shift)
        limits.append(own if fixed is None else np.full(len(own), float(fixed)))
        above = np.where(part.temperatures > limits[-1] + ROUNDING, part.temperatures, 0)  # NaN > x is False
        warm.append(csc_array(above, dtype=np.float64))
        entries += int(np.diff(warm[-1].indptr) @ times[columns])
        _check_memory(entries, seeds.n_classes, n, max_memory)
        parts.append(part if keep else part.statistics)
    warmth = csr_array(hstack(warm, format="csc")[:, copies])
    labels = csr_array((np.ones(warmth.nnz, bool), warmth.indices, warmth.indptr), warmth.shape)
    whole = joined(parts, options.tol)
    solution = replace(whole, temperatures=whole.temperatures[:, copies]) if keep else whole
    found = LabelSets(solution, seeds, labels, warmth, np.concatenate(limits)[copies], reached)
    return found, None if hidden is None else hidden.odds


def _seed_order(seeds: Seeds, graph: Graph) -> Ints:
    """The places of the seeds in pseudo-random order, which does not depend on how nodes are numbered."""
    return np.lexsort((id_ranks(graph, seeds.nodes), colours_at(graph, seeds.nodes)))


def _distinct(indicator: csr_array, order: Ints) -> tuple[Ints, Ints]:
    """One label for each distinct set of seeds, and for each label its index among these.

    Labels with the same seeds have the same temperatures, so one solve serves them all. The rarest labels come last:
    they take the most iterations, so they should share a block. Among equally rare labels, ``order``, that of their
    seeds, decides, and not their names.
    """
    table = csc_array(indicator[order])
    table.sort_indices()
    seeds = [table.indices[first:last].tobytes() for first, last in pairwise(table.indptr)]
    first = {key: label for label, key in reversed([*enumerate(seeds)])}
    by_rarity = sorted(first.items(), key=lambda pair: (-len(pair[0]), pair[0]))
    place = {key: number for number, (key, _) in enumerate(by_rarity)}
    return np.array([label for _, label in by_rarity]), np.array([place[key] for key in seeds], dtype=np.int64)


def _check_memory(entries: int, labels: int, n_nodes: int, max_memory: float) -> None:
    """Stop if the sparse result takes too much memory, because nearly every node has nearly every label."""
    if 32 * entries > max_memory:  # bytes per entry of two CSR matrices and one CSC matrix
        raise ParameterError(
            "nodes have more than {mean:.3g} of {labels} labels on average, too many for the memory: raise {threshold} "
            "or {max_memory}",
            mean=entries / n_nodes,
            labels=labels,
            threshold=Option("threshold"),
            max_memory=Option("max_memory"),
        )


def _solve(
    problem: Problem, seeds: Seeds, labels: Ints, options: SolveOptions, start: Floats | None = None
) -> Iterator[tuple[slice, Solution]]:
    """Solve for some labels, with some of the seeds, block by block."""
    table = csc_array(csc_array(seeds.indicator)[:, labels])
    some = replace(
        problem,
        nodes=seeds.nodes,
        values=lambda part: table[:, part].toarray(),
        columns=len(labels),
        weights=seeds.weights,
    )
    return engine_of(options).solve_in_blocks(some, options, start=start)


def _thresholds(rule: Rule, temperatures: Floats, seeds: Seeds, shares: Doubles, shift: float) -> Doubles:
    """The shifted thresholds of a rule for some labels, given the temperatures of all nodes; between 0 and 1."""
    counted = ~np.isnan(temperatures[:, 0])
    if not rule.counts_seeds:
        counted[seeds.nodes] = False
    known = temperatures if counted.all() else temperatures[counted]
    mean = known.mean(axis=0, dtype=np.float64) if len(known) else np.zeros(len(shares))
    return np.clip(rule.thresholds(mean, shares) + shift, 0, HIGHEST_THRESHOLD)


def hide(problem: Problem, seeds: Seeds, options: SolveOptions, rule: Rule) -> Hidden:
    """Hide some of the seeds, in three folds, and solve for their temperatures, for at most 60 labels.

    Labels of a single seed are left out: with that seed hidden, no seed has them. If too few labels remain, no seed is
    hidden.
    """
    order = _seed_order(seeds, problem.graph)
    distinct, _ = _distinct(seeds.indicator, order)
    shared = distinct[seeds.counts[distinct] > 1]
    labels = np.random.default_rng(0).permutation(shared)[:MOST_LABELS]
    n_labels = seeds.counts[labels].sum()
    if n_labels < TOO_FEW:
        empty = np.empty((0, len(labels)))
        return Hidden(empty, empty, empty > 0)
    dealt = deal(seeds.codes, order, SMALL_FOLDS if n_labels >= MANY else FOLDS, by_class=False)[:FOLDS]
    folds = [_hide_fold(problem, seeds, hidden, labels, options, rule) for hidden in dealt]
    return Hidden(*map(np.concatenate, zip(*folds, strict=True)))


def _hide_fold(problem: Problem, seeds: Seeds, hidden: Ints, labels: Ints, options: SolveOptions, rule: Rule) -> Hidden:
    """Solve without the hidden seeds."""
    visible, nodes = seeds.without(hidden), seeds.nodes[hidden]
    shares = visible.shares[labels]
    found, limits = [], []
    for columns, part in _solve(problem, visible, labels, options):
        found.append(part.temperatures[nodes].astype(np.float64))
        limits.append(_thresholds(rule, part.temperatures, visible, shares[columns], 0))
    temperatures = np.concatenate(found, axis=1)
    thresholds = np.broadcast_to(np.concatenate(limits), temperatures.shape)
    return Hidden(temperatures, thresholds, seeds.take(hidden).indicator[:, labels].toarray() > 0)


def _best_shift(margins: Doubles, truth: Mask) -> float:
    """The shift with the largest mean F1 over the columns; ties go to the smallest shift."""
    positive = margins[truth & np.isfinite(margins)]
    marks = np.unique(np.quantile(positive, np.linspace(0, 1, CANDIDATES))) if len(positive) else np.zeros(1)
    shifts = np.append((marks[1:] + marks[:-1]) / 2, 0)
    shifts = shifts[np.argsort(np.abs(shifts), kind="stable")]
    scores = np.zeros(len(shifts))
    for margin, true in zip(margins.T, truth.T, strict=True):
        guessed, hits = (len(each) - np.searchsorted(np.sort(each), shifts, "right") for each in (margin, margin[true]))
        scores += 2 * hits / np.maximum(guessed + np.count_nonzero(true), 1)
    return float(shifts[scores.argmax()])
