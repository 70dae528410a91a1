"""Graphs from adjacency and biadjacency matrices."""

import copy
from collections.abc import Callable
from typing import Any

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from graph_cases import (
    DTYPES,
    FORMATS,
    TRIANGLE_AND_TAIL,
    WEIGHTED,
    assert_trusted,
    dense,
    quarters,
    square_matrices,
    without_diagonal,
)
from hypothesis import given
from numpy.typing import NDArray

from isotherm.graphs import Graph

pytestmark = pytest.mark.usefixtures("each_kernel")


class TestFromScipy:
    @pytest.mark.parametrize("form", FORMATS)
    @pytest.mark.parametrize("kind", ["array", "matrix"])
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_formats_and_dtypes(self, form: str, kind: str, dtype: Any) -> None:
        matrix = getattr(sp, f"{form}_{kind}")(TRIANGLE_AND_TAIL.astype(dtype))
        graph = Graph.from_scipy(matrix)
        assert_trusted(graph)
        np.testing.assert_array_equal(dense(graph), TRIANGLE_AND_TAIL)
        assert graph.nodes.tolist() == [0, 1, 2, 3]
        assert (graph.n_nodes, graph.n_edges, graph.weighted, graph.directed) == (4, 4, False, False)

    @pytest.mark.parametrize("form", FORMATS)
    @pytest.mark.parametrize("directed", [False, True])
    def test_weights_in_every_format(self, form: str, directed: bool) -> None:
        matrix = np.triu(WEIGHTED) + (directed * np.eye(4))
        graph = Graph.from_scipy(sp.csr_array(matrix).asformat(form), directed=directed)
        assert_trusted(graph)
        np.testing.assert_array_equal(dense(graph), matrix if directed else WEIGHTED)

    @pytest.mark.parametrize("dtype", [*DTYPES, np.float16, ">f8"])
    def test_dense(self, dtype: Any) -> None:
        np.testing.assert_array_equal(dense(Graph.from_scipy(TRIANGLE_AND_TAIL.astype(dtype))), TRIANGLE_AND_TAIL)

    @pytest.mark.parametrize("form", ["csr", "csc", "coo"])
    def test_int64_indices(self, form: str) -> None:
        matrix = sp.csr_array(WEIGHTED).asformat(form)
        for name in {"indptr", "indices", "coords"} & set(vars(matrix)):
            held = getattr(matrix, name)
            wide = tuple(c.astype(np.int64) for c in held) if name == "coords" else held.astype(np.int64)
            setattr(matrix, name, wide)
        np.testing.assert_array_equal(dense(Graph.from_scipy(matrix)), WEIGHTED)

    @given(square_matrices)
    def test_directed_keeps_every_entry(self, matrix: NDArray[np.float64]) -> None:
        graph = Graph.from_scipy(sp.csr_array(matrix), directed=True)
        assert_trusted(graph)
        np.testing.assert_array_equal(dense(graph), matrix)
        assert graph.n_edges == np.count_nonzero(matrix)

    @given(square_matrices, st.sampled_from(["csr", "csc", "coo"]), st.sampled_from([np.triu, np.tril]))
    def test_one_triangle_stands_for_both(
        self, matrix: NDArray[np.float64], form: str, half: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    ) -> None:
        whole = matrix + matrix.T
        expected = without_diagonal(whole)
        for given_matrix in (half(whole), whole):
            graph = Graph.from_scipy(sp.csr_array(given_matrix).asformat(form))
            assert_trusted(graph)
            np.testing.assert_array_equal(dense(graph), expected)

    @given(square_matrices)
    def test_neither_symmetric_nor_triangular_is_refused(self, matrix: NDArray[np.float64]) -> None:
        off = without_diagonal(matrix)
        plain = np.array_equal(off, off.T) or not np.triu(off).any() or not np.tril(off).any()
        if plain:
            assert not Graph.from_scipy(matrix).directed
        else:
            with pytest.raises(ValueError, match="not symmetric"):
                Graph.from_scipy(matrix)

    @pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
    def test_the_refusal_names_a_pair_and_the_remedy(self, form: str) -> None:
        matrix = WEIGHTED.copy()
        matrix[0, 1] = 5
        with pytest.raises(ValueError, match="not symmetric") as caught:
            Graph.from_scipy(sp.csr_array(matrix).asformat(form))
        message = str(caught.value)
        assert "between nodes 0 and 1 are 5.0 and 2.0" in message or "between nodes 0 and 1 are 2.0 and 5.0" in message
        assert message.endswith("symmetrise it or pass directed=True")

    @pytest.mark.parametrize(("dtype", "noise"), [(np.float64, 4e-9), (np.float32, 4e-7)])
    def test_rounding_is_averaged_out(self, dtype: Any, noise: float) -> None:
        rng = np.random.default_rng(0)
        exact = without_diagonal(rng.random((20, 20)) + 1)
        exact = np.where(rng.random((20, 20)) < 0.3, exact, 0)
        exact = np.maximum(exact, exact.T)
        noisy = (exact * (1 + noise * rng.uniform(-1, 1, exact.shape))).astype(dtype)
        noisy[0, np.flatnonzero(exact[0] == 0)[1]] = noise / 4
        assert not np.array_equal(noisy, noisy.T)
        graph = Graph.from_scipy(sp.csr_array(noisy))
        assert_trusted(graph)
        assert graph.csr.weights is not None
        assert graph.csr.weights.dtype == dtype
        np.testing.assert_allclose(dense(graph), exact, rtol=2 * noise, atol=noise)

    def test_asymmetry_beyond_rounding_is_refused_however_large_other_weights_are(self) -> None:
        matrix = np.array([[0, 1e12, 0, 0], [1e12, 0, 0, 0], [0, 0, 0, 1], [0, 0, 2, 0]])
        with pytest.raises(ValueError, match=r"between nodes 2 and 3 are 1\.0 and 2\.0"):
            Graph.from_scipy(matrix)
        matrix[2, 3] = 2 * (1 + 1e-7)
        with pytest.raises(ValueError, match="between nodes 2 and 3"):
            Graph.from_scipy(matrix)

    @pytest.mark.parametrize("dtype", [bool, np.int8, np.float32, np.float64])
    @pytest.mark.parametrize("form", ["csr", "csc", "coo"])
    def test_duplicates_add_up_in_whatever_type(self, dtype: Any, form: str) -> None:
        row, column = np.array([0, 1] * 200), np.array([1, 0] * 200)
        coo = sp.coo_array((np.ones(400, dtype), (row, column)), shape=(2, 2))
        coo.has_canonical_format = True  # a lie, which keeps the duplicates through the conversion
        matrix = coo.asformat(form)
        assert matrix.nnz == 400
        np.testing.assert_array_equal(dense(Graph.from_scipy(matrix)), [[0, 200], [200, 0]])

    def test_duplicates_that_round_differently_give_a_symmetric_matrix(self) -> None:
        data, indices = np.array([0.1, 0.2, 0.3, 0.3, 0.2, 0.1]), np.array([1, 1, 1, 0, 0, 0])
        graph = Graph.from_scipy(sp.csr_array((data, indices, [0, 3, 6]), shape=(2, 2)))
        assert_trusted(graph)
        assert graph.degrees == pytest.approx([0.6, 0.6], rel=1e-15)

    def test_flags_of_the_matrix_are_not_trusted(self) -> None:
        matrix = sp.csr_array(WEIGHTED)
        shuffled = matrix.indices.copy()
        shuffled[:2], data = shuffled[:2][::-1].copy(), matrix.data.copy()
        data[:2] = data[:2][::-1].copy()
        disordered = sp.csr_array((data, shuffled, matrix.indptr), shape=(4, 4))
        disordered.has_sorted_indices = disordered.has_canonical_format = True
        graph = Graph.from_scipy(disordered)
        assert_trusted(graph)
        np.testing.assert_array_equal(dense(graph), WEIGHTED)
        np.testing.assert_array_equal(disordered.indices, shuffled)

    def test_stored_zeros_are_absent(self) -> None:
        matrix = sp.csr_array((np.array([1.0, 0, 1, 0]), ([0, 0, 1, 2], [1, 2, 0, 1])), shape=(3, 3))
        graph = Graph.from_scipy(matrix)
        assert_trusted(graph)
        np.testing.assert_array_equal(dense(graph), [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
        assert Graph.from_scipy(sp.csr_array(matrix, dtype=bool), directed=True).n_edges == 2

    def test_weights_that_remain_all_one_are_not_stored(self) -> None:
        assert not Graph.from_scipy(TRIANGLE_AND_TAIL + 3 * np.eye(4)).weighted
        assert not Graph.from_scipy(np.array([[0, 0.5], [0.5, 0]]) * 2).weighted

    def test_no_entries(self) -> None:
        graph = Graph.from_scipy(sp.csr_array((3, 3)))
        assert_trusted(graph)
        assert (graph.n_nodes, graph.n_edges, graph.weighted) == (3, 0, False)
        assert Graph.from_scipy(sp.csr_array((1, 1)), directed=True).heat.n == 2

    def test_entries_beyond_the_last_indptr_are_not_read(self) -> None:
        matrix = sp.csr_array(WEIGHTED)
        matrix.indices = np.append(matrix.indices, 99).astype(np.int32)
        matrix.data = np.append(matrix.data, np.nan)
        np.testing.assert_array_equal(dense(Graph.from_scipy(matrix)), WEIGHTED)
        assert len(matrix.indices) == 7

    @pytest.mark.parametrize("form", ["csr_array", "csr_matrix", "csc_array"])
    @pytest.mark.parametrize("dtype", [bool, np.int64, np.float64])
    def test_a_canonical_matrix_is_shared_not_copied(self, form: str, dtype: Any) -> None:
        matrix = getattr(sp, form)(TRIANGLE_AND_TAIL.astype(dtype))
        graph = Graph.from_scipy(matrix)
        assert np.shares_memory(graph.csr.indices, matrix.indices)
        assert matrix.indices.flags.writeable
        assert not graph.csr.indices.flags.writeable

    def test_float_weights_are_shared(self) -> None:
        matrix = sp.csr_array(WEIGHTED)
        weights = Graph.from_scipy(matrix).csr.weights
        assert weights is not None
        assert np.shares_memory(weights, matrix.data)
        assert matrix.data.flags.writeable

    @pytest.mark.parametrize("form", FORMATS)
    @pytest.mark.parametrize("directed", [False, True])
    def test_the_matrix_is_left_as_it_was(self, form: str, directed: bool) -> None:
        data, indices = np.array([0.0, 1, 1, 4, 2, 1]), np.array([2, 1, 1, 1, 0, 2])  # zero, duplicate, loop
        matrix = sp.csr_array((data, indices, [0, 3, 5, 6]), shape=(3, 3)).asformat(form)
        before = copy.deepcopy(matrix)
        graph = Graph.from_scipy(matrix, directed=directed)
        loops = np.diag([0, 4, 1]) if directed else 0
        np.testing.assert_array_equal(dense(graph), np.array([[0, 2, 0], [2, 0, 0], [0, 0, 0]]) + loops)
        for name in {"data", "indptr", "indices", "row", "col", "rows", "offsets"} & set(dir(matrix)):
            np.testing.assert_array_equal(getattr(matrix, name), getattr(before, name))
            assert getattr(matrix, name).flags.writeable

    @pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize(
        ("name", "position", "value"),
        [
            ("indices", 3, 4),
            ("indices", 3, -1),
            ("indices", 0, 2**31 - 1),
            ("indptr", 0, 1),
            ("indptr", 2, 10**9),
            ("indptr", 2, -1),
            ("indptr", -1, 9),
        ],
    )
    def test_a_malformed_matrix_is_an_error_not_a_crash(
        self, form: str, directed: bool, name: str, position: int, value: int
    ) -> None:
        matrix = sp.bsr_array(WEIGHTED, blocksize=(1, 1)).asformat(form)
        getattr(matrix, name)[position] = value
        with pytest.raises(ValueError, match=r"malformed|indptr|indices|index"):
            Graph.from_scipy(matrix, directed=directed)

    @pytest.mark.parametrize("value", [7, -1])
    def test_a_malformed_list_of_entries_is_an_error(self, value: int) -> None:
        for axis in (0, 1):
            matrix = sp.coo_array(WEIGHTED)
            (matrix.row, matrix.col)[axis][2] = value
            with pytest.raises(ValueError, match="index"):
                Graph.from_scipy(matrix)
            with pytest.raises(ValueError, match="index"):
                Graph.from_biadjacency(matrix)

    @pytest.mark.parametrize("form", ["csr", "csc", "coo"])
    @pytest.mark.parametrize(
        ("bad", "message"), [(-1.5, "is -1.5; it must be"), (np.nan, "is nan; it must be"), (np.inf, "is inf; it must")]
    )
    def test_bad_weights_are_named(self, form: str, bad: float, message: str) -> None:
        matrix = WEIGHTED.copy()
        matrix[2, 3] = matrix[3, 2] = bad
        with pytest.raises(ValueError, match=r"between nodes (2 and 3|3 and 2) is") as caught:
            Graph.from_scipy(sp.csr_array(matrix).asformat(form))
        assert message in str(caught.value)

    def test_a_negative_duplicate_is_not_hidden_by_its_sum(self) -> None:
        matrix = sp.coo_array((np.array([-1.0, 2]), ([0, 0], [1, 1])), shape=(2, 2))
        with pytest.raises(ValueError, match="between nodes 0 and 1 is -1"):
            Graph.from_scipy(matrix)

    @pytest.mark.parametrize(
        ("matrix", "directed", "error", "message"),
        [
            (
                np.ones((3, 4)),
                False,
                ValueError,
                "the adjacency matrix has 3 rows and 4 columns; a rectangular matrix is read by Graph.from_biadjacency",
            ),
            (
                np.array([[0, 1], [1, 2], [2, 3]]),
                False,
                ValueError,
                "a list of edges is read by Graph.from_edges(source, target), a rectangular matrix",
            ),
            (np.ones((0, 0)), False, ValueError, "the graph has no nodes"),
            (np.ones(4), False, ValueError, "the adjacency matrix must have two dimensions, not 1"),
            (sp.coo_array(np.ones(4)), False, ValueError, "the adjacency matrix must have two dimensions, not 1"),
            (WEIGHTED.astype(complex), False, TypeError, "weights must be real numbers, not complex128"),
            (sp.csr_array(WEIGHTED.astype(complex)), True, TypeError, "weights must be real numbers, not complex128"),
            (WEIGHTED.astype(str), False, TypeError, "weights must be real numbers, not <U"),
            (WEIGHTED.astype(object), False, TypeError, "weights must be real numbers, not object"),
            ([[0, 1], [1, 0]], False, TypeError, "must be a SciPy sparse matrix or a NumPy array, not list"),
            (sp.coo_array((2**31, 2**31)), False, ValueError, "the graph has 2147483648 nodes; it must have"),
            (sp.coo_array((2**30, 2**30)), True, ValueError, "at least 1 and at most 1073741823"),
        ],
        ids=lambda value: "",
    )
    def test_rejects(self, matrix: Any, directed: bool, error: type[Exception], message: str) -> None:
        with pytest.raises(error) as caught:
            Graph.from_scipy(matrix, directed=directed)
        assert message in str(caught.value)


class TestFromBiadjacency:
    @given(
        hnp.arrays(float, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=quarters),
        st.sampled_from([*FORMATS, None]),
    )
    def test_is_the_block_matrix(self, biadjacency: NDArray[np.float64], form: str | None) -> None:
        r, c = biadjacency.shape
        graph = Graph.from_biadjacency(sp.csr_array(biadjacency).asformat(form) if form else biadjacency)
        assert_trusted(graph)
        block = np.block([[np.zeros((r, r)), biadjacency], [biadjacency.T, np.zeros((c, c))]])
        np.testing.assert_array_equal(dense(graph), block)
        assert graph.nodes.tolist() == list(range(r + c))
        assert graph.n_rows == r
        assert graph.n_edges == np.count_nonzero(biadjacency)
        assert not graph.directed

    def test_ids(self) -> None:
        graph = Graph.from_biadjacency(np.array([[1, 0, 2]]), rows=["user"], columns=pd.Series(["x", "y", "z"]))
        assert graph.nodes.tolist() == ["user", "x", "y", "z"]
        np.testing.assert_array_equal(graph.degrees, [3, 1, 0, 2])

    def test_a_side_without_nodes(self) -> None:
        assert Graph.from_biadjacency(sp.csr_array((0, 3))).n_nodes == 3
        assert Graph.from_biadjacency(sp.csr_array((2, 0))).n_edges == 0

    @pytest.mark.parametrize(
        ("matrix", "options", "message"),
        [
            (np.ones((2, 2)), {"rows": ["a"]}, "rows has 1 ids and columns 2, but the biadjacency matrix has 2 rows"),
            (np.ones((2, 2)), {"columns": ["a", "b", "c"]}, "rows has 2 ids and columns 3, but the biadjacency matrix"),
            (np.ones((2, 1)), {"rows": ["a", "b"], "columns": ["a"]}, "must be distinct, but 'a' is given more than"),
            (np.ones((2, 1)), {"columns": [1]}, "node ids must be distinct, but 1 is given more than once"),
            (np.array([[1, 1], [-2, 1]]), {"rows": ["a", "b"]}, "between nodes 'b' and 2 is -2.0"),
            (sp.csr_array([[1, 1], [-2, 1]]), {"rows": ["a", "b"]}, "between nodes 'b' and 2 is -2"),
            (sp.csc_array([[1, 1], [-2, 1]]), {"rows": ["a", "b"]}, "between nodes 'b' and 2 is -2"),
            (np.ones((0, 0)), {}, "the graph has no nodes"),
            (np.ones(3), {}, "the biadjacency matrix must have two dimensions, not 1"),
            (sp.coo_array((2**30, 2**30)), {}, "the graph has 2147483648 nodes"),
        ],
        ids=lambda value: "",
    )
    def test_rejects(self, matrix: Any, options: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=r".") as caught:
            Graph.from_biadjacency(matrix, **options)
        assert message in str(caught.value)


class TestNodes:
    def test_a_matrix_may_have_ids(self) -> None:
        graph = Graph.from_scipy(np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]]), nodes=["a", "b", "c"])
        assert graph.nodes.tolist() == ["a", "b", "c"]
        assert graph.index(["c"]).tolist() == [2]
        with pytest.raises(ValueError, match="nodes has 2 ids, but the adjacency matrix has 3 rows"):
            Graph.from_scipy(np.eye(3), nodes=["a", "b"])
        with pytest.raises(ValueError, match="'a'"):
            Graph.from_scipy(np.eye(3), nodes=["a", "b", "a"])

    @pytest.mark.parametrize("directed", [False, True])
    def test_further_nodes_have_no_edges(self, directed: bool) -> None:
        graph = Graph.from_edges(["01", "2"], ["2", "3"], [1, 5], directed=directed)
        larger = graph.with_nodes(["3", "1", "x", "x"])
        assert larger.nodes.tolist() == ["01", "2", "3", "1", "x"]
        wanted = Graph.from_edges(["01", "2"], ["2", "3"], [1, 5], directed=directed, nodes=larger.nodes)
        np.testing.assert_array_equal(dense(larger), dense(wanted))
        assert graph.with_nodes(["2"]) is graph
        assert Graph.from_edges([1], [2]).with_nodes(["7", "x"]).nodes.tolist() == [1, 2, "7", "x"]
        with pytest.raises(ValueError, match="a bipartite graph takes no further nodes"):
            Graph.from_biadjacency(np.eye(2)).with_nodes([9])
