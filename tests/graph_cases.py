"""Small graphs, random ones, and what to expect of them in plain NumPy."""

from collections.abc import Iterable

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
from numpy.typing import NDArray

from isotherm.graphs import Csr, Graph

TRIANGLE_AND_TAIL = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])
WEIGHTED = np.array([[0, 2, 0.5, 0], [2, 0, 0, 0], [0.5, 0, 0, 3], [0, 0, 3, 0]])
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]
DTYPES = [bool, np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32, np.float64, np.longdouble]


def dense(graph: Graph) -> NDArray[np.float64]:
    matrix: NDArray[np.float64] = graph.adjacency.toarray()
    return matrix


def dense_csr(csr: Csr) -> NDArray[np.float64]:
    """The matrix of a Csr, entry by entry, and proof that it is in canonical order."""
    matrix = np.zeros((csr.n, csr.n))
    for i in range(csr.n):
        row = slice(csr.indptr[i], csr.indptr[i + 1])
        assert np.all(np.diff(csr.indices[row]) > 0)
        matrix[i, csr.indices[row]] = 1 if csr.weights is None else csr.weights[row]
    return matrix


def assert_trusted(graph: Graph) -> None:
    """What the rooms behind the door rely on."""
    csr = graph.csr
    assert csr.indptr.dtype == np.int64
    assert csr.indices.dtype == np.int32
    assert not csr.indptr.flags.writeable
    assert not csr.indices.flags.writeable
    assert not graph.nodes.flags.writeable
    matrix = dense_csr(csr)
    np.testing.assert_array_equal(matrix, dense(graph))
    if csr.weights is not None:
        assert csr.weights.dtype in (np.float32, np.float64)
        assert not csr.weights.flags.writeable
        assert np.all((csr.weights > 0) & np.isfinite(csr.weights))
        assert not np.all(csr.weights == 1)
    if not graph.directed:
        np.testing.assert_array_equal(matrix, matrix.T)
        assert not matrix.diagonal().any()


def accumulated(n: int, source: Iterable[int], target: Iterable[int], weight: Iterable[float]) -> NDArray[np.float64]:
    matrix = np.zeros((n, n))
    for i, j, w in zip(source, target, weight, strict=True):
        matrix[i, j] += w
    return matrix


def without_diagonal(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    return matrix * (1 - np.eye(len(matrix)))


def harmonic(matrix: NDArray[np.float64], seeds: list[int], values: list[float]) -> NDArray[np.float64]:
    """Temperatures from the definition: each interior node has the mean of its neighbours, loops included."""
    interior = np.setdiff1d(np.arange(len(matrix)), seeds)
    laplacian = np.diag(matrix.sum(axis=1)) - matrix
    temperatures = np.zeros(len(matrix))
    temperatures[seeds] = values
    heat = matrix[interior][:, seeds] @ np.array(values)
    temperatures[interior] = np.linalg.solve(laplacian[np.ix_(interior, interior)], heat)
    return temperatures


# Quarters add up exactly, in any order.
quarters = st.integers(0, 12).map(lambda k: k / 4)
edge_lists = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), quarters), min_size=1, max_size=25)
square_matrices = hnp.arrays(float, st.integers(1, 7).map(lambda n: (n, n)), elements=quarters)
