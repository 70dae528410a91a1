"""Held-out seeds: hide some of the known labels, and see what the classifier makes of these nodes.

The seeds are dealt into three folds. Each fold is hidden in turn, and the problem is solved with the other seeds: this
gives the temperatures that the hidden seeds would have if they were not seeds. Rules are selected and probabilities
calibrated on these. A thousand hidden seeds are enough, so if one fold has as many, the others are not needed.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Doubles, Ints
from isotherm.equilibrium.problem import UnreachedWarning
from isotherm.equilibrium.unconverged import ConvergenceWarning
from isotherm.graphs import Graph
from isotherm.graphs.csr import Csr
from isotherm.insight.confidence.neighbourhood import Features, Warmth
from isotherm.labelling.rules import FALLBACK, TEMPERATURE_RULES, TemperatureRule
from isotherm.seeds import Seeds

__all__ = ["Fold", "HeldOut", "hold_out"]

FOLDS = 3
ENOUGH = 1000  # hidden seeds
LARGEST_ERROR = 0.15  # standard error of the mean over classes of the share of seeds that are found, if it is a half
SAMPLE = 10_000  # non-seed nodes sampled in each fold, to estimate the spread of the evidence
MOST_ENTRIES = 10_000_000  # sampled nodes times classes
AT_ONCE = 1 << 20  # entries of seeds that are looked at together, about

Solve: TypeAlias = Callable[[Seeds], Features]  # solves with these seeds only


class Fold(NamedTuple):
    """The result of hiding one fold.

    Attributes
    ----------
    hidden
        (h,) positions of its seeds in the graph, ascending.
    codes
        (h,) their class numbers.
    warmth
        Their features while hidden.
    mean
        (K,) mean temperature of each class over all reached nodes.
    sample
        Features of some non-seed nodes.
    predicted
        For each rule on temperatures, (h,) the class numbers that it predicts for the hidden seeds; -1 where unreached.
    labels
        (n,) the class numbers of all nodes by `FALLBACK`, -1 where unreached; empty if they are in other processes or
        not needed.
    """

    hidden: Ints
    codes: Ints
    warmth: Warmth
    mean: Doubles
    sample: Warmth
    predicted: dict[str, Ints]
    labels: NDArray[np.int32] = np.empty(0, np.int32)

    def split(self) -> "tuple[Fold, ...]":
        """Split the fold in three, as if each third had been hidden separately."""
        return tuple(
            self._replace(
                hidden=self.hidden[first::FOLDS],
                codes=self.codes[first::FOLDS],
                warmth=self.warmth.every(FOLDS, first),
                predicted={rule: codes[first::FOLDS] for rule, codes in self.predicted.items()},
            )
            for first in range(FOLDS)
        )


@dataclass(frozen=True, eq=False)
class HeldOut:
    """All held-out seeds, by fold.

    Attributes
    ----------
    folds
        At most three; none if each class has a single seed. If one fold is enough, it is split in three.
    sample
        (s,) positions of the non-seed nodes that are sampled in each fold.
    n_lone
        Number of seeds that are never hidden, because each is the only one of its class.
    at_once
        Whether all folds were hidden at once, because one third of the seeds is enough.
    """

    folds: tuple[Fold, ...]
    sample: Ints
    n_lone: int
    at_once: bool = False

    @property
    def n_hidden(self) -> int:
        """Number of hidden seeds."""
        return sum(len(fold.hidden) for fold in self.folds)

    def batches(self) -> Iterator[tuple[Ints, NDArray[np.int32]]]:
        """The nodes that were hidden at once, in the order of the folds, and the labels of all nodes then."""
        for batch in [self.folds] if self.at_once else [(fold,) for fold in self.folds]:
            yield np.concatenate([fold.hidden for fold in batch]), batch[0].labels

    def joined(self, name: str) -> NDArray[Any]:
        """The attribute of this name, concatenated over the folds."""
        return np.concatenate([getattr(fold, name) for fold in self.folds])

    def predicted(self, rule: str) -> Ints:
        """The class numbers that a rule predicts for all hidden seeds; -1 where unreached."""
        return np.concatenate([fold.predicted[rule] for fold in self.folds])


def hold_out(seeds: Seeds, graph: Graph, solve: Solve, *, labelled: bool = True) -> HeldOut:
    """Hide the seeds, a third at a time, and solve without them, until enough seeds were hidden.

    With ``labelled``, all nodes are labelled then, which some experts need.

    Seeds are sorted by class, then by `_scrambled`, and dealt to the folds in turn. (If they were dealt by ascending
    degree, hidden seeds would be more like those that remain than other nodes are, and confidence too high.) The only
    seed of a class is never hidden. The folds depend on the order of the nodes only to break ties.
    """
    order = np.lexsort((_scrambled(graph.csr, seeds.nodes), seeds.codes))
    order = order[seeds.counts[seeds.codes[order]] > 1]
    sample = _sampled(seeds, graph.n_nodes)
    dealt = [np.sort(order[first::FOLDS]) for first in range(min(FOLDS, len(order)))]
    needed = next(
        (count for count in range(1, len(dealt)) if _enough(seeds.codes[np.concatenate(dealt[:count])])), FOLDS
    )
    folds = tuple(_fold(seeds, hidden, sample, solve, labelled) for hidden in dealt[:needed])
    n_lone = len(seeds.codes) - len(order)
    return HeldOut(folds[0].split(), sample, n_lone, True) if needed == 1 and folds else HeldOut(folds, sample, n_lone)


def _enough(codes: Ints) -> bool:
    """Whether hidden seeds of these classes tell how well seeds are found, overall and in the mean over classes."""
    counts = np.unique(codes, return_counts=True)[1]
    return len(codes) >= ENOUGH and bool(np.sqrt((0.25 / counts).sum()) <= LARGEST_ERROR * len(counts))


def _scrambled(csr: Csr, nodes: Ints) -> NDArray[np.uint64]:
    """A number for each node that seems random, but is the same however nodes are numbered.

    It is a hash of the node's number of neighbours and of theirs, so nodes with equal surroundings have equal numbers.
    """
    counts = csr.indptr[nodes + 1] - csr.indptr[nodes]
    found = _mixed(counts)
    for some in np.array_split(np.arange(len(nodes)), 1 + int(counts.sum()) // AT_ONCE):
        owner, near, _ = csr.entries_at(nodes[some])
        np.add.at(found, some[owner], _mixed(csr.indptr[near + 1] - csr.indptr[near]))
    return _mixed(found)


def _mixed(numbers: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Other numbers for these, in an order that seems random, by the mixing steps of SplitMix64."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def _sampled(seeds: Seeds, n_nodes: int) -> Ints:
    """Some nodes that are no seeds, evenly spaced."""
    others = n_nodes - len(seeds.nodes)
    count = min(SAMPLE, max(1, MOST_ENTRIES // seeds.n_classes), others)
    places = np.linspace(0, others - 1, count).astype(np.int64)  # among the others
    before = np.sort(seeds.nodes) - np.arange(len(seeds.nodes))  # others before each seed
    return places + np.searchsorted(before, places, side="right")


def _fold(seeds: Seeds, hidden: Ints, sample: Ints, solve: Solve, labelled: bool) -> Fold:
    rest = seeds.take(np.delete(np.arange(len(seeds.codes)), hidden))
    with warnings.catch_warnings():
        for category in (UnreachedWarning, ConvergenceWarning):  # the main fit has already warned
            warnings.simplefilter("ignore", category)
        field = solve(rest)
    nodes = seeds.nodes[hidden]
    warmth = field.at(nodes)
    return Fold(
        nodes,
        seeds.codes[hidden],
        warmth,
        field.mean,
        field.at(sample),
        {name: _predicted(rule, field, rest, nodes, warmth) for name, rule in TEMPERATURE_RULES.items()},
        field.labels(FALLBACK, rest) if labelled else np.empty(0, np.int32),
    )


def _predicted(rule: TemperatureRule, field: Features, seeds: Seeds, nodes: Ints, warmth: Warmth) -> Ints:
    with np.errstate(invalid="ignore"):  # a class that no visible seed has
        scores = field.scores(rule, seeds, nodes)
    codes = np.nan_to_num(scores, nan=-np.inf).argmax(axis=1)
    return np.where(np.isnan(warmth.temperatures[:, 0]), -1, codes)
