"""Held-out seeds: what a classifier says of nodes whose labels are known, but were hidden from it.

The seeds are dealt into three folds. Each fold is hidden in turn and the others are solved for again, which shows how
warm the hidden seeds would be if nobody knew them. Rules are chosen and probabilities calibrated by what is seen there.
A thousand hidden seeds are enough for that: where there are so many in one fold, the others are not hidden.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm.dirichlet import ConvergenceWarning, UnreachedWarning
from isotherm.graph import Graph
from isotherm.labels import Ints
from isotherm.neighbourhood import Array, Field, Warmth
from isotherm.rules import RULES, apply_rule
from isotherm.seeds import Seeds
from isotherm.solvers.base import Floats

__all__ = ["Fold", "HeldOut", "hold_out"]

FOLDS = 3
ENOUGH = 1000  # hidden seeds
SAMPLE = 10_000  # nodes whose temperatures are kept of each fold, to know their spread
MOST_ENTRIES = 10_000_000  # of the sample

Solve: TypeAlias = Callable[[Seeds], Field]  # with these seeds only


class Fold(NamedTuple):
    """What one fold shows.

    Attributes
    ----------
    hidden
        (h,) positions of its seeds in the graph, ascending.
    codes
        (h,) their class numbers.
    warmth
        What is known about them while hidden.
    mean
        (K,) mean temperature of each class over all reached nodes.
    sample
        What is known about some nodes that are no seeds.
    predicted
        For each rule, (h,) the class numbers that it gives to the hidden seeds; -1 where unreached.
    """

    hidden: Ints
    codes: Ints
    warmth: Warmth
    mean: Array
    sample: Warmth
    predicted: dict[str, Ints]

    def split(self) -> "tuple[Fold, ...]":
        """The same in three parts, as if each had been hidden by itself."""
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
    """All seeds that could be hidden, each in the fold in which it was.

    Attributes
    ----------
    folds
        At most three; none if each class has a single seed. Where one is enough, it is split in three.
    sample
        (s,) positions of the nodes that are sampled in each fold; none of them is a seed.
    n_lone
        How many seeds are never hidden, because each is the only one of its class.
    """

    folds: tuple[Fold, ...]
    sample: Ints
    n_lone: int

    @property
    def n_hidden(self) -> int:
        """How many seeds were hidden, each once."""
        return sum(len(fold.hidden) for fold in self.folds)

    def joined(self, name: str) -> NDArray[Any]:
        """An array of all folds, one after another."""
        return np.concatenate([getattr(fold, name) for fold in self.folds])

    def predicted(self, rule: str) -> Ints:
        """The class numbers that a rule gives to all hidden seeds; -1 where unreached."""
        return np.concatenate([fold.predicted[rule] for fold in self.folds])


def hold_out(seeds: Seeds, graph: Graph, solve: Solve) -> HeldOut:
    """Hide the seeds, a third at a time, and solve without them; no more thirds than are needed.

    The seeds of each class are dealt to the folds by the number of their neighbours; the only seed of a class is never
    hidden. Nothing is left to chance, and the order of the nodes decides only where these numbers are equal.
    """
    order = np.lexsort((np.diff(graph.heat.indptr)[seeds.nodes], seeds.codes))
    order = order[seeds.counts[seeds.codes[order]] > 1]
    sample = _sampled(seeds, graph.n_nodes)
    dealt = [np.sort(order[first::FOLDS]) for first in range(min(FOLDS, len(order)))]
    needed = int(np.searchsorted(np.cumsum([len(hidden) for hidden in dealt]), ENOUGH)) + 1
    folds = tuple(_fold(seeds, hidden, sample, solve) for hidden in dealt[:needed])
    return HeldOut(folds[0].split() if needed == 1 and folds else folds, sample, len(seeds.codes) - len(order))


def _sampled(seeds: Seeds, n_nodes: int) -> Ints:
    others = np.setdiff1d(np.arange(n_nodes), seeds.nodes, assume_unique=True)
    count = min(SAMPLE, max(1, MOST_ENTRIES // seeds.n_classes), len(others))
    return others[np.linspace(0, len(others) - 1, count).astype(np.int64)]


def _fold(seeds: Seeds, hidden: Ints, sample: Ints, solve: Solve) -> Fold:
    rest = seeds.take(np.delete(np.arange(len(seeds.codes)), hidden))
    with warnings.catch_warnings():
        for said in (UnreachedWarning, ConvergenceWarning):  # once, by the fit
            warnings.simplefilter("ignore", said)
        field = solve(rest)
    nodes = seeds.nodes[hidden]
    return Fold(
        nodes,
        seeds.codes[hidden],
        field.at(nodes),
        np.nanmean(field.temperatures, axis=0, dtype=np.float64),
        field.at(sample),
        {rule: _predicted(rule, field.temperatures, rest, nodes) for rule in RULES},
    )


def _predicted(rule: str, temperatures: Floats, seeds: Seeds, nodes: Ints) -> Ints:
    with np.errstate(invalid="ignore"):  # a class that no visible seed has
        scores = apply_rule(rule, temperatures, seeds)[nodes]
    codes = np.nan_to_num(scores, nan=-np.inf).argmax(axis=1)
    return np.where(np.isnan(temperatures[nodes, 0]), -1, codes)
