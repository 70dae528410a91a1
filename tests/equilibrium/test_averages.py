"""Averages over neighbours and over reached nodes, against dense arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import Problem, dense, problems
from scipy.sparse import csr_array

from isotherm import kernels
from isotherm.equilibrium.averages import Averaging, reached_moments
from isotherm.graphs import Csr


def rows_scaled(matrix: np.ndarray) -> np.ndarray:
    degree = matrix.sum(axis=1, keepdims=True)
    return np.divide(matrix, degree, out=np.zeros_like(matrix), where=degree > 0)


@pytest.mark.usefixtures("each_kernel")
class TestAveraging:
    @given(problem=problems(), columns=st.integers(1, 40), dtype=st.sampled_from([np.float32, np.float64]))
    def test_it_is_the_transition_matrix(self, problem: Problem, columns: int, dtype: type) -> None:
        conductance = problem.graph.heat
        x = np.random.default_rng(0).normal(size=(conductance.n, columns))
        operator, expected = Averaging(conductance, dtype=dtype), rows_scaled(dense(conductance))
        found = operator @ x
        assert found.dtype == dtype
        tol = 1e-4 if dtype == np.float32 else 1e-12
        np.testing.assert_allclose(found, expected @ x, atol=tol)
        np.testing.assert_allclose(operator @ csr_array(x), expected @ x, atol=tol)
        np.testing.assert_allclose(operator.times(3.0) @ x, 3 * expected @ x, atol=3 * tol)
        np.testing.assert_allclose(operator.to_scipy().toarray(), expected, atol=tol)

    @given(problem=problems(), loop=st.floats(0.1, 3))
    def test_a_convolution_has_a_loop_at_each_node(self, problem: Problem, loop: float) -> None:
        conductance = problem.graph.heat
        looped = dense(conductance) + loop * np.eye(conductance.n)
        root = 1 / np.sqrt(looped.sum(axis=1))
        expected = root[:, None] * looped * root
        operator = Averaging.convolution(conductance, loop, dtype=np.float64)
        x = np.random.default_rng(1).normal(size=(conductance.n, 5))
        np.testing.assert_allclose(operator @ x, expected @ x, atol=1e-12)
        np.testing.assert_allclose(operator.to_scipy().toarray(), expected, atol=1e-12)

    @given(problem=problems())
    def test_held_nodes_keep_their_values(self, problem: Problem) -> None:
        conductance = problem.graph.heat
        held = np.arange(0, conductance.n, 2)
        operator = Averaging(conductance, dtype=np.float64).holding(held)
        x, out = (kernels.block(conductance.n, 2, np.float64) for _ in range(2))
        x[:] = np.random.default_rng(2).normal(size=x.shape)
        out[:] = 7.0
        operator.step(x, out)
        mean = rows_scaled(dense(conductance)) @ x
        kept = np.isin(np.arange(conductance.n), held) | (conductance.sums == 0)
        np.testing.assert_allclose(out, np.where(kept[:, None], 7.0, mean), atol=1e-12)
        convolution = Averaging.convolution(conductance, 1.0, dtype=np.float64)
        convolution.holding(held).step(x, out)
        others = np.setdiff1d(np.arange(conductance.n), held)
        np.testing.assert_array_equal(out[held], 7.0)
        np.testing.assert_allclose(out[others], (convolution @ x)[others], atol=1e-12)


def test_a_block_that_fits_is_not_copied() -> None:
    operator = Averaging(Csr(np.array([0, 1, 2]), np.array([1, 0], np.int32), None))
    fits = kernels.block(2, 4, np.float32)
    assert operator.block(fits) is fits
    assert operator.block(np.ones((2, 3), np.float32)).shape == (2, 4)


def test_moments_leave_out_unreached_nodes() -> None:
    rng = np.random.default_rng(0)
    temperatures = rng.random((500, 3)).astype(np.float32)
    temperatures[::7] = np.nan
    known = temperatures[~np.isnan(temperatures[:, 0])].astype(np.float64)
    found = reached_moments(temperatures)
    assert found.n_reached == len(known)
    np.testing.assert_allclose(found.mean, known.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.spread, known.std(axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.total, known.sum(axis=0), rtol=1e-12)
    nothing = reached_moments(np.full((4, 2), np.nan))
    assert (nothing.n_reached, nothing.mean.tolist()) == (0, [0.0, 0.0])
