"""What an expert is, and what it is asked."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.arrays import Floats, Ints
from isotherm.equilibrium.options import SolveOptions
from isotherm.graphs import Graph
from isotherm.probability.evidence import Evidence, Rows
from isotherm.probability.experts.links import mean_matrix
from isotherm.probability.experts.logistic import unit_rows
from isotherm.seeds import Seeds

__all__ = ["Expert", "Knowledge", "Question"]


@dataclass(frozen=True)
class Knowledge:
    """What experts are made from: the evidence, the graph, all its seeds, and how kernels run."""

    evidence: Evidence
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
        return mean_matrix(self.graph, self.rows.dtype)


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
    warmest: NDArray
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
