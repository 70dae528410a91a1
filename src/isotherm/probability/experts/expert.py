"""What an expert is, what it is asked, and the simplest one: probabilities that another model gave."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.equilibrium.averages import Averaging
from isotherm.equilibrium.options import SolveOptions
from isotherm.graphs import Graph
from isotherm.probability.experts.links import Rows, links
from isotherm.probability.experts.logistic import unit_rows
from isotherm.seeds import Seeds

if TYPE_CHECKING:  # evidence holds the features of the graph, which an expert computes
    from isotherm.probability.evidence import Evidence

__all__ = ["LEAST", "Expert", "GivenProbabilities", "Knowledge", "Question", "given"]

LEAST = 1e-9  # smallest probability, so that logarithms are finite


@dataclass(frozen=True)
class Knowledge:
    """What experts are made from: the evidence, the graph, all its seeds, and how kernels run."""

    evidence: "Evidence"
    graph: Graph
    seeds: Seeds
    options: SolveOptions

    @cached_property
    def rows(self) -> Rows:
        """(n, d) the features, scaled to rows of length 1."""
        return unit_rows(self.evidence.features)

    @cached_property
    def mean_matrix(self) -> csr_array:
        """The matrix that averages over neighbours, in the precision of the features."""
        return Averaging(links(self.graph), dtype=self.rows.dtype).to_scipy()


class Question(NamedTuple):
    """A question to experts: the classes of some nodes, given the labels of the visible seeds.

    Attributes
    ----------
    seeds
        All seeds.
    visible
        (v,) places of the visible seeds among all seeds.
    warmest
        (n,) class of each node by the heat of the visible seeds; -1 where unreached.
    hidden
        (h,) places of the seeds that are asked about, among all seeds; None to ask about all nodes.
    """

    seeds: Seeds
    visible: Ints
    warmest: NDArray[np.integer]
    hidden: Ints | None = None

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

    @abstractmethod
    def log_probabilities(self, question: Question) -> Floats:
        """(m, K) for the nodes that are asked about; NaN rows where the expert has no opinion."""


def given(known: Knowledge) -> Expert | None:
    """The probabilities of another model, if the user gave them."""
    return None if known.evidence.opinion is None else GivenProbabilities(known.evidence.opinion)


class GivenProbabilities(Expert):
    """Probabilities (n, K) of another model; NaN rows where it has none."""

    def __init__(self, probabilities: Doubles) -> None:
        self.probabilities = probabilities

    def log_probabilities(self, question: Question) -> Floats:
        """(m, K) their logarithms."""
        rows = self.probabilities[question.nodes]
        with np.errstate(invalid="ignore"):
            return np.asarray(np.log(np.maximum(rows / rows.sum(axis=1, keepdims=True), LEAST)))
