import copy
import pickle
from collections.abc import Callable, Iterable
from typing import Any

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from numpy.typing import NDArray

from isotherm.graph import Csr, Graph, as_graph
from isotherm.kernels import native, reference

TRIANGLE_AND_TAIL = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])
WEIGHTED = np.array([[0, 2, 0.5, 0], [2, 0, 0, 0], [0.5, 0, 0, 3], [0, 0, 3, 0]])
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]
DTYPES = [bool, np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32, np.float64, np.longdouble]


@pytest.fixture(autouse=True, params=["native", "reference"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "native" and native is None:
        pytest.skip("installed without a C++ compiler")
    monkeypatch.setattr("isotherm.kernels.active", native if request.param == "native" else reference)


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


class TestFromEdges:
    def test_nodes_are_ordered_by_first_appearance_edge_after_edge(self) -> None:
        assert Graph.from_edges(["d", "a"], ["c", "d"]).nodes.tolist() == ["d", "c", "a"]
        assert Graph.from_edges([7, -3], [9, 7]).nodes.tolist() == [7, 9, -3]
        assert Graph.from_edges([7 * 10**12, -3], [9, 7 * 10**12]).nodes.tolist() == [7 * 10**12, 9, -3]

    @given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=1), st.sampled_from([1, 10**15]))
    def test_integer_ids_are_numbered_like_any_hashables(self, edges: list[tuple[int, int]], scale: int) -> None:
        flat = [scale * end for edge in edges for end in edge]
        graph = Graph.from_edges(np.array(flat[::2]), np.array(flat[1::2]), directed=True)
        assert graph.nodes.dtype == np.int64
        assert graph.nodes.tolist() == list(dict.fromkeys(flat))
        by_name = Graph.from_edges([str(i) for i in flat[::2]], [str(i) for i in flat[1::2]], directed=True)
        np.testing.assert_array_equal(dense(graph), dense(by_name))

    @pytest.mark.parametrize("container", [list, tuple, np.array, pd.Series, pd.Index, pl.Series, iter])
    @pytest.mark.parametrize("ids", [["b", "a", "c"], [30, 10, 20]])
    def test_ids_come_in_any_container(self, container: Callable[[list[Any]], Any], ids: list[Any]) -> None:
        graph = Graph.from_edges(container(ids[:2]), container(ids[1:]))
        assert graph.nodes.tolist() == ids
        assert graph.nodes.dtype == (np.int64 if ids[0] == 30 else object)
        np.testing.assert_array_equal(dense(graph), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])

    @pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.uint64, ">i4"])
    def test_integer_arrays_of_any_width_give_int64_ids(self, dtype: Any) -> None:
        graph = Graph.from_edges(np.array([3, 1], dtype), np.array([1, 2], dtype))
        assert graph.nodes.dtype == np.int64
        assert graph.nodes.tolist() == [3, 1, 2]

    @pytest.mark.parametrize(
        "ids",
        [
            [(0, 1), (0, 2), (1, 2)],
            [("a", 1), "a", 1],
            [2**63, 2**64, -(2**70)],
            [1.5, 2.0, -1.0],
            [True, "True", (True,)],
            [frozenset({1}), frozenset({2}), frozenset()],
            [np.datetime64("2020-01-01", "ns"), np.datetime64("2020-01-02", "ns"), np.datetime64(0, "ns")],
        ],
        ids=repr,
    )
    def test_other_hashables_remain_what_they_are(self, ids: list[Any]) -> None:
        graph = Graph.from_edges(ids[:2], ids[1:])
        assert graph.nodes.dtype == object
        assert graph.nodes.shape == (3,)
        assert list(graph.nodes) == ids
        assert list(map(type, graph.nodes)) == list(map(type, ids))
        np.testing.assert_array_equal(graph.index(ids[::-1]), [2, 1, 0])

    def test_arrays_of_times_and_of_large_integers_are_not_mangled(self) -> None:
        times = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]")
        assert list(Graph.from_edges(times[:1], times[1:]).nodes) == list(times)
        large = np.array([2**64 - 1, 5], dtype=np.uint64)
        assert Graph.from_edges(large[:1], large[1:]).nodes.tolist() == [2**64 - 1, 5]

    def test_integers_and_strings_mix(self) -> None:
        graph = Graph.from_edges(np.array([1, 2]), ["1", "2"])
        assert graph.nodes.tolist() == [1, "1", 2, "2"]

    def test_nodes_sets_the_order_and_admits_isolated_nodes(self) -> None:
        graph = Graph.from_edges(["b"], ["c"], nodes=["c", "a", "b"])
        assert graph.nodes.tolist() == ["c", "a", "b"]
        np.testing.assert_array_equal(dense(graph), [[0, 0, 1], [0, 0, 0], [1, 0, 0]])
        np.testing.assert_array_equal(Graph.from_edges([], [], nodes=[5, 3]).degrees, [0, 0])

    @given(edge_lists)
    def test_directed_adds_up_the_arcs(self, edges: list[tuple[int, int, float]]) -> None:
        source, target, weight = zip(*edges, strict=True)
        graph = Graph.from_edges(source, target, weight, directed=True, nodes=range(7))
        assert_trusted(graph)
        np.testing.assert_array_equal(dense(graph), accumulated(7, source, target, weight))

    @given(edge_lists)
    def test_undirected_takes_a_symmetric_list_as_it_is_and_adds_the_transpose_otherwise(
        self, edges: list[tuple[int, int, float]]
    ) -> None:
        source, target, weight = zip(*edges, strict=True)
        listed = without_diagonal(accumulated(7, source, target, weight))
        expected = listed if np.array_equal(listed, listed.T) else listed + listed.T
        graph = Graph.from_edges(source, target, weight, nodes=range(7))
        assert_trusted(graph)
        np.testing.assert_array_equal(dense(graph), expected)
        both = Graph.from_edges(source + target, target + source, weight + weight, nodes=range(7))
        np.testing.assert_array_equal(dense(both), listed + listed.T)

    @given(edge_lists, st.randoms(use_true_random=False))
    def test_the_order_of_the_edges_decides_only_the_order_of_the_nodes(
        self, edges: list[tuple[int, int, float]], random: Any
    ) -> None:
        graph = Graph.from_edges(*zip(*edges, strict=True))
        shuffled = Graph.from_edges(*zip(*random.sample(edges, len(edges)), strict=True))
        assert sorted(graph.nodes) == sorted(shuffled.nodes)
        at = shuffled.index(graph.nodes)
        np.testing.assert_array_equal(dense(graph), dense(shuffled)[np.ix_(at, at)])

    def test_both_directions_listed_with_rounding_are_not_counted_twice(self) -> None:
        source, target = ["a", "a", "a", "b", "b", "b"], ["b", "b", "b", "a", "a", "a"]
        graph = Graph.from_edges([*source, "b", "c"], [*target, "c", "b"], [0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 1, 1])
        assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
        np.testing.assert_allclose(dense(graph), np.array([[0, 0.6, 0], [0.6, 0, 1], [0, 1, 0]]), rtol=1e-15)
        assert_trusted(graph)

    def test_a_repeated_edge_weighs_two(self) -> None:
        np.testing.assert_array_equal(dense(Graph.from_edges([0, 0], [1, 1])), [[0, 2], [2, 0]])

    @pytest.mark.parametrize("container", [list, np.array, pd.Series, pl.Series])
    def test_weights_come_in_any_container(self, container: Callable[[list[Any]], Any]) -> None:
        graph = Graph.from_edges([0, 1], [1, 2], container([0.5, 2]))
        np.testing.assert_array_equal(dense(graph), [[0, 0.5, 0], [0.5, 0, 2], [0, 2, 0]])

    def test_an_edge_of_weight_zero_is_absent_but_its_nodes_exist(self) -> None:
        graph = Graph.from_edges(["a", "b"], ["b", "c"], [1, 0])
        assert graph.nodes.tolist() == ["a", "b", "c"]
        assert graph.n_edges == 1
        assert not graph.weighted

    @pytest.mark.parametrize(
        ("dtype", "kept"), [(np.float32, np.float32), (">f4", np.float32), (np.float16, np.float64), (int, np.float64)]
    )
    def test_float32_weights_stay_and_others_become_float64(self, dtype: Any, kept: Any) -> None:
        weights = Graph.from_edges([0, 1], [1, 2], np.array([1, 3], dtype)).csr.weights
        assert weights is not None
        assert weights.dtype == kept
        assert sorted(weights) == [1, 1, 3, 3]

    @pytest.mark.parametrize(
        ("arguments", "options", "error", "message"),
        [
            (([], []), {}, ValueError, "the graph has no nodes"),
            (([1, 2], [3]), {}, ValueError, "source has 2 ids, but target has 1"),
            (([1, 2], [3, 4], [1]), {}, ValueError, "weight has 1 values for 2 edges"),
            (([[1, 2]], [3]), {}, TypeError, "node ids must be hashable: unhashable type: 'list'"),
            ((np.ones((2, 2), int), [3, 4]), {}, ValueError, "source must have one dimension, not 2"),
            (([1], [2], np.ones((1, 1))), {}, ValueError, "weight must have one dimension, not 2"),
            (([1, 2], [2, 3], [[1], [1, 2]]), {}, TypeError, "weights must be real numbers, not list"),
            (("ab", ["b", "c"]), {}, TypeError, "source must be a list or an array, not str"),
            ((1, [2]), {}, TypeError, "source must be a list or an array, not int"),
            ((["a", None], ["b", "c"]), {}, ValueError, "None cannot be the id of a node"),
            (([1.0, 2.0], [float("nan"), 1.0]), {}, ValueError, "nan cannot be the id of a node"),
            ((pd.Series(["a", None]), ["b", "c"]), {}, ValueError, "nan cannot be the id of a node"),
            (([pd.NA, 2], [3, 4]), {}, ValueError, "<NA> cannot be the id of a node"),
            ((pl.Series([1, None]), [3, 4]), {}, ValueError, "nan cannot be the id of a node"),
            ((["a"], ["b"]), {"nodes": ["a", None]}, ValueError, "None cannot be the id of a node"),
            (
                (["a", "b"], ["b", "c"]),
                {"nodes": ["a"]},
                ValueError,
                "2 nodes are not in the graph: 'b', 'c'; nodes must list every id that the edges name",
            ),
            (([1], [2]), {"nodes": [1, 2, 3, 2]}, ValueError, "node ids must be distinct, but 2 is given more than"),
            ((["a"], ["b"]), {"nodes": ["b", "a", "b"]}, ValueError, "must be distinct, but 'b' is given more than"),
            (
                (["a", "b", "c"], ["b", "c", "d"], [1, -2, np.nan]),
                {},
                ValueError,
                "the weight between nodes 'b' and 'c' is -2.0; it must be finite and not negative",
            ),
            (([5, 7], [7, 9], [1, np.nan]), {}, ValueError, "the weight between nodes 7 and 9 is nan"),
            (([5, 7], [7, 9], [np.inf, 1]), {"directed": True}, ValueError, "between nodes 5 and 7 is inf"),
            ((["a", "a"], ["b", "b"], [1e308, 1e308]), {}, ValueError, "between nodes 'a' and 'b' is inf"),
            (([0, 1, 1], [1, 0, 2], [1e308, 1.5e308, 1]), {}, ValueError, "between nodes 0 and 1 is inf"),
            (([0], [1], np.array([1e4000], np.longdouble)), {}, ValueError, "between nodes 0 and 1 is"),
            (([0], [1], ["1"]), {}, TypeError, "weights must be real numbers, not str"),
            (([0], [1], np.array(["1"])), {}, TypeError, "weights must be real numbers, not <U1"),
            (([0], [1], [1j]), {}, TypeError, "weights must be real numbers, not complex"),
            (([0], [1], [None]), {}, TypeError, "weights must be real numbers, not NoneType"),
            (([0], [1], 2.0), {}, TypeError, "weight must be a list or an array, not float"),
        ],
    )
    def test_rejects(
        self, arguments: tuple[Any, ...], options: dict[str, Any], error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error) as caught:
            Graph.from_edges(*arguments, **options)
        assert message in str(caught.value)


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


def networkx_examples() -> list[nx.Graph]:
    rng = np.random.default_rng(1)
    weighted = nx.les_miserables_graph()
    arcs = nx.DiGraph()
    arcs.add_weighted_edges_from([("a", "b", 2), ("b", "a", 3), ("c", "c", 0.5), (("t", 1), "a", 1)])
    parallel = nx.MultiGraph([(i, j) for i, j in rng.integers(0, 8, (30, 2)).tolist() if i != j])
    parallel.add_edge(3, 99, weight=2.5)
    parallel.add_edge(99, 3)
    multi_arcs = nx.MultiDiGraph([(0, 1), (0, 1), (1, 0), (2, 2)])
    isolated = nx.Graph()
    isolated.add_nodes_from(["z", "y"])
    return [nx.karate_club_graph(), weighted, arcs, parallel, multi_arcs, isolated]


class TestFromNetworkx:
    @pytest.mark.parametrize("G", networkx_examples(), ids=lambda G: type(G).__name__)
    @pytest.mark.parametrize("weight", ["weight", None])
    def test_agrees_with_networkx(self, G: nx.Graph, weight: str | None) -> None:
        graph = Graph.from_networkx(G, weight=weight)
        expected = nx.to_scipy_sparse_array(G, weight=weight, dtype=float).toarray()
        assert_trusted(graph)
        assert list(graph.nodes) == list(G.nodes)
        assert graph.directed == G.is_directed()
        np.testing.assert_array_equal(dense(graph), expected)

    def test_loops_are_dropped_from_undirected_graphs(self) -> None:
        assert Graph.from_networkx(nx.Graph([(0, 0), (0, 1)])).n_edges == 1

    def test_bad_weights_are_named(self) -> None:
        G = nx.Graph()
        G.add_edge("a", "b", weight=-1)
        with pytest.raises(ValueError, match="between nodes 'a' and 'b' is -1"):
            Graph.from_networkx(G)
        with pytest.raises(ValueError, match="the graph has no nodes"):
            Graph.from_networkx(nx.Graph())


class TestFromIgraph:
    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("weight", ["weight", None])
    def test_agrees_with_igraph(self, directed: bool, weight: str | None) -> None:
        pairs = [(i, j) for i, j in np.random.default_rng(2).integers(0, 9, (40, 2)).tolist() if i != j]
        G = igraph.Graph(n=10, edges=pairs, directed=directed)
        G.es["weight"] = [k % 5 + 1 for k in range(G.ecount())]
        graph = Graph.from_igraph(G, weight=weight)
        assert_trusted(graph)
        expected = G.get_adjacency_sparse(attribute=weight).toarray()
        np.testing.assert_array_equal(dense(graph), expected)
        assert graph.nodes.tolist() == list(range(10))
        assert graph.directed == directed

    def test_names_are_ids_and_an_edge_without_weight_weighs_one(self) -> None:
        G = igraph.Graph([(1, 0), (2, 1)])
        G.vs["name"] = ["x", "y", "z"]
        G.es[0]["weight"] = 4
        graph = Graph.from_igraph(G)
        assert graph.nodes.tolist() == ["x", "y", "z"]
        np.testing.assert_array_equal(dense(graph), [[0, 4, 0], [4, 0, 1], [0, 1, 0]])

    def test_names_must_be_distinct(self) -> None:
        G = igraph.Graph([(1, 0)])
        G.vs["name"] = ["x", "x"]
        with pytest.raises(ValueError, match="node ids must be distinct, but 'x' is given more than once"):
            Graph.from_igraph(G)


class TestAsGraph:
    def test_a_graph_is_itself(self) -> None:
        graph = Graph.from_scipy(WEIGHTED)
        assert as_graph(graph) is graph

    @pytest.mark.parametrize(
        "value",
        [
            WEIGHTED,
            sp.csr_matrix(WEIGHTED),
            sp.coo_array(WEIGHTED),
            nx.from_numpy_array(WEIGHTED),
            type("Mine", (nx.DiGraph,), {})(nx.from_numpy_array(WEIGHTED)),
            igraph.Graph.Weighted_Adjacency(WEIGHTED.tolist(), mode="undirected"),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_detects(self, value: object) -> None:
        np.testing.assert_array_equal(dense(as_graph(value)), WEIGHTED)

    @pytest.mark.parametrize("value", [None, [[0, 1], [1, 0]], {"a": ["b"]}, "graph", nx.path_graph(2).edges])
    def test_rejects(self, value: object) -> None:
        kind = type(value).__name__
        with pytest.raises(TypeError, match=f"a graph is an isotherm, networkx or igraph graph, or .*, not {kind}$"):
            as_graph(value)


class TestGraph:
    @given(square_matrices, st.booleans())
    def test_heat_of_a_directed_graph_is_the_bipartite_block_matrix(
        self, arcs: NDArray[np.float64], weighted: bool
    ) -> None:
        arcs = arcs if weighted else (arcs > 1).astype(float)
        graph = Graph.from_scipy(arcs, directed=True)
        zero = np.zeros_like(arcs)
        np.testing.assert_array_equal(dense_csr(graph.heat), np.block([[zero, arcs], [arcs.T, zero]]))
        assert (graph.heat.weights is None) == (graph.csr.weights is None)
        assert graph.heat.indptr.dtype == np.int64
        assert graph.heat.indices.dtype == np.int32
        assert graph.heat is graph.heat

    def test_heat_of_an_undirected_graph_is_its_own_matrix(self) -> None:
        graph = Graph.from_scipy(WEIGHTED)
        assert graph.heat is graph.csr

    def test_heat_keeps_float32(self) -> None:
        weights = Graph.from_scipy(np.triu(WEIGHTED).astype(np.float32), directed=True).heat.weights
        assert weights is not None
        assert weights.dtype == np.float32

    @given(square_matrices)
    def test_degrees(self, matrix: NDArray[np.float64]) -> None:
        arcs = Graph.from_scipy(matrix, directed=True)
        np.testing.assert_array_equal(arcs.degrees, matrix.sum(axis=0) + matrix.sum(axis=1))
        edges = Graph.from_scipy(matrix + matrix.T)
        np.testing.assert_array_equal(edges.degrees, without_diagonal(matrix + matrix.T).sum(axis=1))
        assert arcs.degrees.dtype == edges.degrees.dtype == np.float64

    def test_degrees_of_float32_weights_are_summed_in_float64(self) -> None:
        star = sp.coo_array((np.full(3000, 0.1, np.float32), (np.zeros(3000, int), np.arange(1, 3001))), (3001, 3001))
        assert Graph.from_scipy(star).degrees[0] == pytest.approx(3000 * float(np.float32(0.1)), rel=1e-12)

    @pytest.mark.parametrize(
        ("graph", "ids", "positions"),
        [
            (Graph.from_scipy(WEIGHTED), [3, 0, 3], [3, 0, 3]),
            (Graph.from_scipy(WEIGHTED), np.array([2, 1], np.uint8), [2, 1]),
            (Graph.from_scipy(WEIGHTED), [np.int32(1), 2], [1, 2]),
            (Graph.from_scipy(WEIGHTED), [2.0], [2]),
            (Graph.from_scipy(WEIGHTED), [], []),
            (Graph.from_edges([10, 30], [20, 10]), [30, 10], [2, 0]),
            (Graph.from_edges([10, 30], [20, 10]), pd.Series([20]), [1]),
            (Graph.from_edges(["a", "b"], ["b", "c"]), np.array(["c", "a"]), [2, 0]),
            (Graph.from_edges(["a", "b"], ["b", "c"]), pl.Series(["b"]), [1]),
            (Graph.from_edges(["a", "b"], ["b", "c"]), {"c": 1, "b": 0}, [2, 1]),
            (Graph.from_edges([(0, 0), (0, 1)], [(0, 1), 5]), [(0, 1), 5], [1, 2]),
            (Graph.from_edges([(0, 0), (0, 1)], [(0, 1), 5]), [(0, 1), (0, 0)], [1, 0]),
        ],
    )
    def test_index(self, graph: Graph, ids: Any, positions: list[int]) -> None:
        found = graph.index(ids)
        assert found.dtype == np.int64
        assert found.tolist() == positions

    def test_index_again_and_for_many(self) -> None:
        names = [f"node {number}" for number in range(100)]
        for turns in ([[7, 99], [0, 7], range(100)], [range(99, -1, -1), [3]]):
            graph = Graph.from_edges(names[:-1], names[1:])
            for turn in turns:
                assert graph.index([names[place] for place in turn]).tolist() == list(turn)

    @pytest.mark.parametrize(
        ("graph", "ids", "message"),
        [
            (Graph.from_scipy(WEIGHTED), [0, 4, -1], "2 nodes are not in the graph: 4, -1"),
            (Graph.from_scipy(WEIGHTED), ["0"], "1 node is not in the graph: '0'"),
            (Graph.from_edges(["a"], ["b"]), list("axyzwxa"), "4 nodes are not in the graph: 'x', 'y', 'z', ..."),
            (Graph.from_edges([10], [20]), np.array([0, 10]), "1 node is not in the graph: 0"),
            (Graph.from_edges([(0, 1)], [(1, 2)]), [(0, 1), (2, 1)], "1 node is not in the graph: (2, 1)"),
        ],
    )
    def test_index_names_unknown_ids(self, graph: Graph, ids: Any, message: str) -> None:
        with pytest.raises(ValueError, match="not in the graph") as caught:
            graph.index(ids)
        assert str(caught.value) == message

    @pytest.mark.parametrize(
        ("graph", "text"),
        [
            (Graph.from_scipy(TRIANGLE_AND_TAIL), "<Graph: 4 nodes, 4 edges>"),
            (Graph.from_scipy(np.triu(WEIGHTED), directed=True), "<Graph: 4 nodes, 3 edges, directed, weighted>"),
            (Graph.from_biadjacency(np.ones((2, 3))), "<Graph: 5 nodes, 6 edges, bipartite>"),
        ],
    )
    def test_repr(self, graph: Graph, text: str) -> None:
        assert repr(graph) == text

    def test_adjacency_is_a_copy(self) -> None:
        graph = Graph.from_scipy(WEIGHTED)
        adjacency = graph.adjacency
        assert isinstance(adjacency, sp.csr_array)
        assert adjacency.dtype == np.float64
        adjacency.data[:] = 7
        adjacency.indices[:] = 0
        np.testing.assert_array_equal(dense(graph), WEIGHTED)

    @pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda graph: pickle.loads(pickle.dumps(graph))])
    @pytest.mark.parametrize(
        "graph",
        [
            Graph.from_edges(["a", ("b", 1)], [("b", 1), 3], [1, 2], directed=True),
            Graph.from_biadjacency(np.ones((2, 3))),
        ],
    )
    def test_copies(self, graph: Graph, clone: Callable[[Graph], Graph]) -> None:
        assert graph.heat.n >= graph.n_nodes  # caches filled
        assert graph.index(graph.nodes).tolist() == list(range(graph.n_nodes))
        twin = clone(graph)
        assert twin is not graph
        assert_trusted(twin)
        assert twin.nodes.tolist() == graph.nodes.tolist()
        assert (twin.directed, twin.n_rows) == (graph.directed, graph.n_rows)
        np.testing.assert_array_equal(dense(twin), dense(graph))
        np.testing.assert_array_equal(dense_csr(twin.heat), dense_csr(graph.heat))

    def test_its_own_constructor_leaves_the_given_arrays_writeable(self) -> None:
        csr = Csr(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([2.0, 2.0]))
        nodes = np.arange(2)
        assert_trusted(Graph(csr, nodes))
        assert all(
            array.flags.writeable for array in (nodes, csr.indptr, csr.indices, csr.weights) if array is not None
        )

    def test_is_immutable_and_leaves_the_given_arrays_writeable(self) -> None:
        source, target, nodes = np.array([0, 1]), np.array([1, 2]), np.arange(3)
        weight = np.array([0.5, 2])
        graph = Graph.from_edges(source, target, weight, nodes=nodes)
        assert source.flags.writeable
        assert target.flags.writeable
        assert weight.flags.writeable
        assert nodes.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            graph.nodes[0] = 5
        with pytest.raises(AttributeError):
            graph.directed = True  # type: ignore[misc]


class TestSelfLoops:
    """Why undirected graphs may drop them, and directed graphs may not."""

    loops = np.diag([3.0, 0, 1, 5])

    def test_they_do_not_change_the_temperatures_of_an_undirected_graph(self) -> None:
        matrix = WEIGHTED + TRIANGLE_AND_TAIL
        expected = harmonic(matrix + self.loops, [0, 3], [1, 0])
        graph = Graph.from_scipy(matrix + self.loops)
        np.testing.assert_allclose(harmonic(dense(graph), [0, 3], [1, 0]), expected, rtol=1e-12)
        np.testing.assert_array_equal(dense(graph), matrix)

    def test_they_change_those_of_a_directed_graph(self) -> None:
        arcs = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0]], dtype=float)
        heats = [dense_csr(Graph.from_scipy(a, directed=True).heat) for a in (arcs, arcs + self.loops)]
        without, with_loops = (harmonic(heat, [0, 3], [1, 0]) for heat in heats)
        assert np.abs(without - with_loops).max() > 0.05
        assert Graph.from_scipy(arcs + self.loops, directed=True).n_edges == 7 + 3
