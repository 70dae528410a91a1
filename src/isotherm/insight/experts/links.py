"""The links that experts walk along."""

import numpy as np

from isotherm.arrays import Floats
from isotherm.equilibrium.scaling import in_good_unit
from isotherm.graphs import Csr, Graph

__all__ = ["links", "mean_weight"]


def links(graph: Graph) -> Csr:
    """The edges of a graph, arcs counted in both directions, in a unit of weights that float32 can hold."""
    return in_good_unit(graph.edges_only.csr)[0]


def mean_weight(weights: Floats | None) -> float:
    """The weight of the mean edge; 1 where there are no weights."""
    return 1.0 if weights is None or not len(weights) else float(weights.mean(dtype=np.float64))
