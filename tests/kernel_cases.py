"""The kernels under test, and small inputs for them."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm import kernels
from isotherm.kernels import reference

BACKENDS = [reference] if kernels.native is None else [reference, kernels.native]
DTYPES = [np.float32, np.float64]

each_backend = pytest.mark.parametrize("backend", BACKENDS, ids=lambda module: module.__name__.rsplit(".")[-1])


def random_graph(n: int, weighted: bool, dtype: Any, seed: int = 0) -> tuple[Any, NDArray[Any]]:
    """A symmetric matrix as the kernels take it, and as a dense array."""
    rng = np.random.default_rng(seed)
    matrix = np.triu(rng.random((n, n)) < 6 / n, 1) * (rng.random((n, n)) + 0.5 if weighted else 1.0)
    matrix = (matrix + matrix.T).astype(dtype).astype(np.float64)
    csr = csr_array(matrix)
    weights = csr.data.astype(dtype) if weighted else None
    return (csr.indptr.astype(np.int64), csr.indices.astype(np.int32), weights), matrix


def random_block(n: int, width: int, dtype: Any, seed: int) -> NDArray[Any]:
    block = kernels.block(n, width, dtype)
    block[:] = np.random.default_rng(seed).standard_normal((n, width))
    return block


def tolerance(dtype: Any) -> float:
    return 3e-5 if dtype is np.float32 else 1e-12
