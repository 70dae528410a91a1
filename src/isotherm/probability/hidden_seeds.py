"""Hidden seeds: hide some of the known labels, and see what the heat of the other seeds says about these nodes.

The seeds are dealt into three folds. Each fold is hidden in turn, and the problem is solved with the other seeds. This
gives the temperatures that the hidden seeds would have if they were not seeds; probabilities are calibrated on these.
A thousand hidden seeds are enough, so if one fold has as many, the others are not needed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Doubles, Ints
from isotherm.equilibrium.problem import UnreachedWarning
from isotherm.equilibrium.unconverged import ConvergenceWarning
from isotherm.errors import MUTED
from isotherm.graphs import Graph
from isotherm.graphs.colours import colours_at, id_ranks, spaced
from isotherm.kernels.numbering import Words
from isotherm.probability.node_features import FeatureField, Features, NodeFeatures
from isotherm.seeds import Seeds
from isotherm.seeds.hiding import hideable

FOLDS = 3
ENOUGH = 1000  # hidden seeds
SMALL_GROUP, SMALL_SHARE = 3, 0.1  # seeds that may be dealt together, at most: a number, and a share of their class
LARGEST_ERROR = 0.15  # worst-case standard error of balanced accuracy
SAMPLE = 1_000  # non-seed nodes sampled in each fold, to estimate the spread of the evidence
MOST_ENTRIES = 10_000_000  # sampled nodes times classes

Solve: TypeAlias = Callable[[Seeds], Features]  # solves with these seeds only
HiddenLabels: TypeAlias = Callable[[Features, Seeds, Ints], Ints]  # labels of some nodes, given the visible seeds
Marks: TypeAlias = Callable[[Ints], Words]  # hashes of what is known about some nodes besides their links


class Fold(NamedTuple):
    """The result of hiding one fold."""

    hidden: Ints  # (h,) positions of its seeds in the graph, in an order that does not depend on them
    codes: Ints  # (h,) their class numbers
    features: NodeFeatures  # their features while hidden
    mean: Doubles  # (K,) mean temperature of each class over all reached nodes
    sample: NodeFeatures  # features of some non-seed nodes
    labels: Ints  # (h,) class numbers that a rule on temperatures gives to the hidden seeds; empty if no rule was given
    field: FeatureField | None = None  # features of all nodes, if they were to be kept

    def at(self, places: Ints) -> "Fold":
        """Some of the hidden seeds, as if only these had been hidden."""
        hidden, codes, features = self.hidden[places], self.codes[places], self.features.at(places)
        labels = self.labels[places] if len(self.labels) else self.labels
        return self._replace(hidden=hidden, codes=codes, features=features, labels=labels)


@dataclass(frozen=True, eq=False)
class HiddenSeeds:
    """All hidden seeds, by fold."""

    folds: tuple[Fold, ...]  # at most three; none if each class has a single seed
    sample: Ints  # (s,) positions of the non-seed nodes that are sampled in each fold
    n_lone: int  # number of seeds that are never hidden, because each is the only one of its class
    at_once: bool = False  # whether all folds were hidden at once, because one third of the seeds is enough

    def hidden_with(self, fold: Fold) -> Ints:
        """The nodes that were hidden together with those of a fold, these included."""
        return self.joined("hidden") if self.at_once else fold.hidden

    def joined(self, name: str) -> NDArray[Any]:
        """The attribute of this name, concatenated over the folds."""
        return np.concatenate([getattr(fold, name) for fold in self.folds])


def hide_seeds(
    seeds: Seeds,
    graph: Graph,
    solve: Solve,
    *,
    label: HiddenLabels | None = None,
    marks: Marks | None = None,
    keep_fields: bool = False,
    every: bool = False,  # hide all folds, even if fewer would be enough
) -> HiddenSeeds:
    """Hide the seeds, a third at a time, and solve without them, until enough seeds were hidden.

    The only seed of a class is never hidden.
    """
    shared, groups = _grouped(seeds, graph, marks)
    dealt = [hidden for fold in range(FOLDS) if len(hidden := shared[groups % FOLDS == fold])]
    sample = _sampled(seeds, graph)
    few = () if every else range(1, len(dealt))
    needed = next((count for count in few if _enough(seeds.codes[np.concatenate(dealt[:count])])), FOLDS)
    folds = tuple(_fold(seeds, hidden, sample, solve, label, keep_fields) for hidden in dealt[:needed])
    n_lone = len(seeds.codes) - len(shared)
    if needed == 1 and folds:
        thirds = groups[groups % FOLDS == 0] // FOLDS % FOLDS
        parts = tuple(folds[0].at(np.flatnonzero(thirds == third)) for third in range(FOLDS))
        return HiddenSeeds(parts, sample, n_lone, at_once=True)
    return HiddenSeeds(folds, sample, n_lone)


def _grouped(seeds: Seeds, graph: Graph, marks: Marks | None) -> tuple[Ints, Ints]:
    """Places of the seeds that may be hidden, and the number of the group of each, ascending.

    Groups are numbered class by class, in pseudo-random order. (If they were numbered by ascending degree, hidden
    seeds would resemble the visible seeds more than other nodes do, and confidence would be too high.) A group is one
    seed, or all seeds of a class that have the same colour and mark: then folds depend neither on the numbering of the
    nodes nor on that of the classes. Only the seeds of a large group are told apart, by their ids: as on a grid, where
    most nodes look alike, but a third of the seeds should be hidden at a time.
    """
    shared = hideable(seeds.codes)
    codes, nodes = seeds.codes[shared], seeds.nodes[shared]
    colours = colours_at(graph, nodes)
    marked, ranks = np.zeros((2, len(nodes)), np.uint64)
    if marks is not None:
        same = _sizes(_numbered(codes, colours)) > 1
        marked[same] = marks(nodes[same])
    limits = np.minimum(np.maximum(SMALL_GROUP, SMALL_SHARE * seeds.counts), seeds.counts / FOLDS)
    large = _sizes(_numbered(codes, colours, marked)) > limits[codes]
    ranks[large] = 1 + id_ranks(graph, nodes[large])
    totals = np.zeros((3, seeds.n_classes), np.uint64)  # tell classes apart
    np.add.at(totals[0], codes, colours)
    np.add.at(totals[1], codes, marked)
    totals[2] = len(nodes)
    np.minimum.at(totals[2], codes, ranks)
    groups = _numbered(*totals[:, codes], colours, marked, ranks)
    order = np.argsort(groups, kind="stable")
    return shared[order], groups[order]


def _sizes(groups: Ints) -> Ints:
    """The size of the group of each place."""
    return np.bincount(groups)[groups]


def _numbered(*keys: NDArray[np.generic]) -> Ints:
    """The numbers of distinct tuples, in ascending order of the tuples.

    >>> _numbered(np.array([2, 1, 2]), np.array([5, 7, 5]))
    array([1, 0, 1])
    """
    order = np.lexsort(keys[::-1])
    new = np.zeros(len(order), bool)
    new[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(new)
    return numbers


def _enough(codes: Ints) -> bool:
    """Whether hidden seeds of these classes determine accuracy and balanced accuracy well enough."""
    counts = np.unique(codes, return_counts=True)[1]
    return len(codes) >= ENOUGH and bool(np.sqrt((0.25 / counts).sum()) <= LARGEST_ERROR * len(counts))


def _sampled(seeds: Seeds, graph: Graph) -> Ints:
    """Some non-seed nodes."""
    return spaced(graph, seeds.others(graph.n_nodes), min(SAMPLE, max(1, MOST_ENTRIES // seeds.n_classes)))


def _fold(seeds: Seeds, hidden: Ints, sample: Ints, solve: Solve, label: HiddenLabels | None, keep_field: bool) -> Fold:
    rest = seeds.without(hidden)
    before = MUTED.set((UnreachedWarning, ConvergenceWarning))  # the main fit has already warned
    try:
        field = solve(rest)
    finally:
        MUTED.reset(before)
    nodes = seeds.nodes[hidden]
    return Fold(
        nodes,
        seeds.codes[hidden],
        field.at(nodes),
        field.mean,
        field.at(sample),
        np.empty(0, np.int64) if label is None else label(field, rest, nodes),
        field if keep_field and isinstance(field, FeatureField) else None,
    )
