"""The links that experts walk along: edge weights that fit in float32, and sums over neighbours."""

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array

from isotherm import engines
from isotherm.arrays import Floats
from isotherm.equilibrium.options import SolveOptions
from isotherm.graphs import Csr, Graph

__all__ = ["NeighbourSums", "convolution_matrix", "links", "mean_matrix", "mean_weight"]

FAR = 2.0**40  # largest weights within this factor of 1 keep sums and squares inside float32


def links(graph: Graph) -> Csr:
    """The edges of a graph, arcs counted in both directions, in a unit in which float32 holds the largest weights.

    Weights that underflow in this unit are negligible beside the largest one.
    """
    csr = graph.edges_only.csr
    largest = 1.0 if csr.weights is None else float(csr.weights.max(initial=0))
    if 1 / FAR <= largest <= FAR or not largest:
        return csr
    return csr._replace(weights=np.ldexp(np.asarray(csr.weights, np.float64), -int(np.frexp(largest)[1])))


def mean_weight(weights: Floats | None) -> float:
    """The mean edge weight; 1 for an unweighted graph."""
    return 1.0 if weights is None or not len(weights) else float(weights.mean(dtype=np.float64))


class NeighbourSums:
    """Sums over neighbours, for blocks of columns in single precision.

    Attributes
    ----------
    csr
        The links.
    degrees
        (n,) sum of the edge weights of each node, in double precision.
    """

    def __init__(self, graph: Graph, options: SolveOptions) -> None:
        found, self.options = links(graph), options
        self.degrees = found.sums
        self.csr = found._replace(weights=None if found.weights is None else found.weights.astype(np.float32))

    def __call__(self, scale: Floats, x: Floats, out: Floats | None = None) -> Floats:
        """``scale * (A x)`` for a block x (n, width); rows with scale 0 keep what ``out`` holds, by default 0."""
        out = np.zeros_like(x) if out is None else out
        engines.average(self.csr, scale, x, out, self.options)
        return out


def mean_matrix(graph: Graph, dtype: np.dtype) -> csr_array:
    """The matrix P (n, n) that averages over neighbours; arcs count in both directions."""
    csr = links(graph)
    sums = csr.sums
    scale = np.divide(1, sums, out=np.zeros(csr.n), where=sums > 0).astype(dtype)
    shares = np.repeat(scale, np.diff(csr.indptr))
    if csr.weights is not None:
        shares *= csr.weights
    return csr_array((shares, csr.indices, csr.indptr), shape=(csr.n, csr.n))


def convolution_matrix(graph: Graph, dtype: np.dtype) -> csr_array:
    """The matrix S (n, n) of graph convolutions: symmetrically normalised weights, with a loop at each node.

    A loop has the mean edge weight. Unlike P, the matrix gives less weight to neighbours of high degree.
    """
    matrix = links(graph).to_scipy()
    looped = matrix + mean_weight(matrix.data) * eye_array(matrix.shape[0])
    root = diags_array(1 / np.sqrt(looped.sum(axis=1)))
    return csr_array(root @ looped @ root).astype(dtype, copy=False)
