"""The links that experts walk along."""

import numpy as np

from isotherm.arrays import Floats
from isotherm.graphs import Csr, Graph

__all__ = ["links", "mean_weight"]

FAR = 2.0**40  # from 1; sums and squares of such weights are far from the ends of float32


def links(graph: Graph) -> Csr:
    """The edges of a graph, arcs counted in both directions, in a unit in which float32 holds the largest weights.

    Experts need no more: weights that are so much smaller than the largest that they vanish count for nothing.
    """
    csr = graph.edges_only.csr
    largest = 1.0 if csr.weights is None else float(csr.weights.max(initial=0))
    if 1 / FAR <= largest <= FAR or not largest:
        return csr
    return csr._replace(weights=np.ldexp(np.asarray(csr.weights, np.float64), -int(np.frexp(largest)[1])))


def mean_weight(weights: Floats | None) -> float:
    """The weight of the mean edge; 1 where there are no weights."""
    return 1.0 if weights is None or not len(weights) else float(weights.mean(dtype=np.float64))
