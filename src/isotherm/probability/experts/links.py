"""The links that experts walk along, with weights that fit in float32."""

from typing import Any, TypeAlias

import numpy as np

from isotherm.arrays import Floats
from isotherm.graphs import Csr, Graph

__all__ = ["Rows", "links", "mean_weight"]

Rows: TypeAlias = Any  # features: a csr_array or an array of numbers, shape (n, d)

FAR = 2.0**40  # largest weights within this factor of 1 keep sums and squares inside float32


def links(graph: Graph) -> Csr:
    """The edges of a graph, arcs counted in both directions, in a unit in which float32 holds the largest weights.

    Weights that underflow in this unit are negligible compared with the largest one.
    """
    csr = graph.edges_only.csr
    largest = 1.0 if csr.weights is None else float(csr.weights.max(initial=0))
    if 1 / FAR <= largest <= FAR or not largest:
        return csr
    return csr._replace(weights=np.ldexp(np.asarray(csr.weights, np.float64), -int(np.frexp(largest)[1])))


def mean_weight(csr: Csr) -> float:
    """The mean edge weight; 1 for an unweighted graph."""
    weights: Floats | None = csr.weights
    return 1.0 if weights is None or not len(weights) else float(weights.mean(dtype=np.float64))
