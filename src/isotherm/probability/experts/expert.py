"""What an expert is made from, what it is asked, and the simplest one: probabilities that another model gave."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.equilibrium.averages import Averaging
from isotherm.equilibrium.options import SolveOptions
from isotherm.graphs import Csr, Graph
from isotherm.graphs.colours import colours_at, id_ranks
from isotherm.seeds import Seeds

if TYPE_CHECKING:  # evidence holds the features of the graph, which an expert computes
    from isotherm.probability.evidence import Evidence
    from isotherm.probability.experts.regression import FeatureMap

LEAST = 1e-9  # smallest probability, so that logarithms are finite
MOST_TAUGHT, LEAST_TAUGHT = 2000, 10  # seeds that a regression is fitted to: about as many, and so many of each class
LARGE = 20_000  # nodes; up to so many, averages are in double precision
FAR = 2.0**40  # largest weights within this factor of 1 keep sums and squares inside float32

Rows: TypeAlias = Any  # features: a csr_array or an array of numbers, shape (n, d)


@dataclass(frozen=True)
class Knowledge:
    """What experts are made from: the evidence, the graph, all its seeds, and how kernels run."""

    evidence: "Evidence"
    graph: Graph
    seeds: Seeds
    options: SolveOptions
    rows: Rows | None = None  # (n, d) the features, scaled

    @cached_property
    def mean_matrix(self) -> csr_array:
        """The matrix that averages over neighbours, in the precision of the features."""
        assert self.rows is not None
        return Averaging(links(self.graph), dtype=self.rows.dtype).to_scipy()

    @cached_property
    def taught(self) -> Ints:
        """Places of about `MOST_TAUGHT` seeds, of all classes in proportion, but `LEAST_TAUGHT` of each if possible.

        They are evenly spaced by colour, by evidence where colours are equal, and by id where these are, too.
        """
        nodes, codes = self.seeds.nodes, self.seeds.codes
        if len(codes) <= MOST_TAUGHT:
            return np.arange(len(codes))
        ids, marks, colours = id_ranks(self.graph, nodes), self.evidence.marks(nodes), colours_at(self.graph, nodes)
        order, counts = np.lexsort((ids, marks, colours, codes)), np.bincount(codes)
        wanted = np.minimum(np.maximum(counts * MOST_TAUGHT // len(codes), LEAST_TAUGHT), counts)
        parts = np.split(order, np.cumsum(counts)[:-1])
        chosen = [part[np.arange(many) * len(part) // max(many, 1)] for part, many in zip(parts, wanted, strict=True)]
        return np.sort(np.concatenate(chosen))


class Question(NamedTuple):
    """A question to experts: the classes of some nodes, given the labels of the visible seeds."""

    seeds: Seeds  # all seeds
    visible: Ints  # (v,) places of the visible seeds among all seeds
    warmest: NDArray[np.integer]  # (n,) class of each node by the heat of the visible seeds; -1 where unreached
    hidden: Ints | None = None  # (h,) places of the seeds that are asked about; None for all nodes

    @property
    def codes(self) -> Ints:
        """(v,) class numbers of the visible seeds."""
        return self.seeds.codes[self.visible]

    @property
    def nodes(self) -> Ints | slice:
        """The nodes that are asked about."""
        return slice(None) if self.hidden is None else self.seeds.nodes[self.hidden]


class Expert(ABC):
    """Tells the classes of nodes from something other than their temperatures."""

    map: "FeatureMap | None" = None  # the features of a regression

    @abstractmethod
    def logits(self, question: Question, blend: Doubles | None = None) -> Floats:
        """(m, K) for the nodes that are asked about; NaN rows where the expert has no opinion.

        They are log-probabilities, but for a number that is added to a row. ``blend`` is for regressions.
        """

    def blends(self, questions: Sequence[Question]) -> tuple[Doubles, list[Doubles]] | None:
        """How much each penalty of a regression counts: by all hidden seeds, and without those of each question."""
        return None


def given(known: Knowledge) -> Expert | None:
    """The probabilities of another model, if the user gave them."""
    return None if known.evidence.opinion is None else GivenProbabilities(known.evidence.opinion)


class GivenProbabilities(Expert):
    """Probabilities (n, K) of another model; NaN rows where it has none."""

    def __init__(self, probabilities: Doubles) -> None:
        self.probabilities = probabilities

    def logits(self, question: Question, blend: Doubles | None = None) -> Floats:
        """(m, K) their logarithms."""
        rows = self.probabilities[question.nodes]
        with np.errstate(invalid="ignore"):
            return np.asarray(np.log(np.maximum(rows / rows.sum(axis=1, keepdims=True), LEAST)))


def links(graph: Graph) -> Csr:
    """The edges of a graph, arcs counted in both directions, in a unit in which float32 holds the largest weights.

    Weights that underflow in this unit are negligible compared with the largest one.
    """
    csr = graph.edges_only.csr
    largest = 1.0 if csr.weights is None else float(csr.weights.max(initial=0))
    if 1 / FAR <= largest <= FAR or not largest:
        return csr
    return csr._replace(weights=np.ldexp(np.asarray(csr.weights, np.float64), -int(np.frexp(largest)[1])))


def precision(graph: Graph) -> np.dtype[Any]:
    """The type of averages over neighbours. In single precision, rounding errors depend on the order of the nodes."""
    return np.dtype(np.float64 if graph.n_nodes <= LARGE else np.float32)


def mean_weight(csr: Csr) -> float:
    """The mean edge weight; 1 for an unweighted graph."""
    weights: Floats | None = csr.weights
    return 1.0 if weights is None or not len(weights) else float(weights.mean(dtype=np.float64))
