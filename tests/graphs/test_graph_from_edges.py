"""Graphs from lists of edges."""

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pytest
from graph_cases import (
    accumulated,
    assert_trusted,
    dense,
    edge_lists,
    without_diagonal,
)
from hypothesis import given

from isotherm.graphs import Graph

pytestmark = pytest.mark.usefixtures("each_kernel")


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
            ((pd.Series(["a", None], dtype=object), ["b", "c"]), {}, ValueError, "None cannot be the id of a node"),
            ((pd.Series(["a", None], dtype="string"), ["b", "c"]), {}, ValueError, "<NA> cannot be the id of a node"),
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
