"""Hidden seeds: hide some of the known labels, and see what the heat of the other seeds says about these nodes.

The seeds are dealt into three folds. Each fold is hidden in turn, and the problem is solved with the other seeds. This
gives the temperatures that the hidden seeds would have if they were not seeds; probabilities are calibrated on these.
A thousand hidden seeds are enough, so if one fold has as many, the others are not needed.
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
from isotherm.probability.node_features import FeatureField, Features, NodeFeatures
from isotherm.seeds import Seeds
from isotherm.seeds.hiding import deal, hideable

FOLDS = 3
ENOUGH = 1000  # hidden seeds
LARGEST_ERROR = 0.15  # worst-case standard error of balanced accuracy
SAMPLE = 10_000  # non-seed nodes sampled in each fold, to estimate the spread of the evidence
MOST_ENTRIES = 10_000_000  # sampled nodes times classes
AT_ONCE = 1 << 20  # graph entries per batch when seeds are hashed

Solve: TypeAlias = Callable[[Seeds], Features]  # solves with these seeds only
HiddenLabels: TypeAlias = Callable[[Features, Seeds, Ints], Ints]  # labels of some nodes, given the visible seeds


class Fold(NamedTuple):
    """The result of hiding one fold."""

    hidden: Ints  # (h,) positions of its seeds in the graph, ascending
    codes: Ints  # (h,) their class numbers
    features: NodeFeatures  # their features while hidden
    mean: Doubles  # (K,) mean temperature of each class over all reached nodes
    sample: NodeFeatures  # features of some non-seed nodes
    labels: Ints  # (h,) class numbers that a rule on temperatures gives to the hidden seeds; empty if no rule was given
    warmest: NDArray[np.int32]  # (n,) the class that is warmest relative to its mean

    def split(self) -> "tuple[Fold, ...]":
        """Split the fold in three, as if each third had been hidden separately."""
        return tuple(
            self._replace(
                hidden=self.hidden[first::FOLDS],
                codes=self.codes[first::FOLDS],
                features=self.features.every(FOLDS, first),
                labels=self.labels[first::FOLDS],
            )
            for first in range(FOLDS)
        )


@dataclass(frozen=True, eq=False)
class HiddenSeeds:
    """All hidden seeds, by fold."""

    folds: tuple[Fold, ...]  # at most three; none if each class has a single seed
    sample: Ints  # (s,) positions of the non-seed nodes that are sampled in each fold
    n_lone: int  # number of seeds that are never hidden, because each is the only one of its class
    at_once: bool = False  # whether all folds were hidden at once, because one third of the seeds is enough

    def batches(self) -> Iterator[tuple[Ints, NDArray[np.int32]]]:
        """The nodes that were hidden together, in the order of the folds, and the `Fold.warmest` of all nodes then."""
        for batch in [self.folds] if self.at_once else [(fold,) for fold in self.folds]:
            yield np.concatenate([fold.hidden for fold in batch]), batch[0].warmest

    def joined(self, name: str) -> NDArray[Any]:
        """The attribute of this name, concatenated over the folds."""
        return np.concatenate([getattr(fold, name) for fold in self.folds])


def hide_seeds(
    seeds: Seeds, graph: Graph, solve: Solve, *, label: HiddenLabels | None = None, need_warmest: bool = False
) -> HiddenSeeds:
    """Hide the seeds, a third at a time, and solve without them, until enough seeds were hidden.

    Seeds are dealt to the folds class by class, in the order of `_scrambled`. (If they were dealt by ascending
    degree, hidden seeds would resemble the visible seeds more than other nodes do, and confidence would be too high.)
    The only seed of a class is never hidden. The folds depend on the order of the nodes only to break ties.
    """
    shared = hideable(seeds.codes)
    dealt = deal(seeds.codes, shared[np.argsort(_scrambled(graph.csr, seeds.nodes[shared]), kind="stable")], FOLDS)
    sample = _sampled(seeds, graph.n_nodes)
    needed = next(
        (count for count in range(1, len(dealt)) if _enough(seeds.codes[np.concatenate(dealt[:count])])), FOLDS
    )
    folds = tuple(_fold(seeds, hidden, sample, solve, label, need_warmest) for hidden in dealt[:needed])
    n_lone = len(seeds.codes) - len(shared)
    if needed == 1 and folds:
        return HiddenSeeds(folds[0].split(), sample, n_lone, at_once=True)
    return HiddenSeeds(folds, sample, n_lone)


def _enough(codes: Ints) -> bool:
    """Whether hidden seeds of these classes determine accuracy and balanced accuracy well enough."""
    counts = np.unique(codes, return_counts=True)[1]
    return len(codes) >= ENOUGH and bool(np.sqrt((0.25 / counts).sum()) <= LARGEST_ERROR * len(counts))


def _scrambled(csr: Csr, nodes: Ints) -> NDArray[np.uint64]:
    """A hash of each node that does not depend on how nodes are numbered.

    It is made of the degrees of the node and of its neighbours, so nodes with equal surroundings have equal hashes.
    """
    counts = csr.indptr[nodes + 1] - csr.indptr[nodes]
    found = _mixed(counts)
    for some in np.array_split(np.arange(len(nodes)), 1 + int(counts.sum()) // AT_ONCE):
        owner, near, _ = csr.entries_at(nodes[some])
        np.add.at(found, some[owner], _mixed(csr.indptr[near + 1] - csr.indptr[near]))
    return _mixed(found)


def _mixed(numbers: NDArray[np.integer]) -> NDArray[np.uint64]:
    """The mixing steps of SplitMix64: a pseudo-random permutation of 64-bit integers."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def _sampled(seeds: Seeds, n_nodes: int) -> Ints:
    """Some non-seed nodes, evenly spaced."""
    others = n_nodes - len(seeds.nodes)
    count = min(SAMPLE, max(1, MOST_ENTRIES // seeds.n_classes), others)
    places = np.linspace(0, others - 1, count).astype(np.int64)  # among the others
    before = np.sort(seeds.nodes) - np.arange(len(seeds.nodes))  # others before each seed
    return places + np.searchsorted(before, places, side="right")


def _fold(
    seeds: Seeds, hidden: Ints, sample: Ints, solve: Solve, label: HiddenLabels | None, need_warmest: bool
) -> Fold:
    rest = seeds.without(hidden)
    with warnings.catch_warnings():
        for category in (UnreachedWarning, ConvergenceWarning):  # the main fit has already warned
            warnings.simplefilter("ignore", category)
        field = solve(rest)
    nodes = seeds.nodes[hidden]
    return Fold(
        nodes,
        seeds.codes[hidden],
        field.at(nodes),
        field.mean,
        field.at(sample),
        np.empty(0, np.int64) if label is None else label(field, rest, nodes),
        field.warmest() if need_warmest and isinstance(field, FeatureField) else np.empty(0, np.int32),
    )
