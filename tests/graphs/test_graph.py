"""What every graph offers, however it was made."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from graph_cases import (
    TRIANGLE_AND_TAIL,
    WEIGHTED,
    assert_trusted,
    dense,
    dense_csr,
    harmonic,
    square_matrices,
    without_diagonal,
)
from hypothesis import given
from numpy.typing import NDArray

from isotherm.graphs import Csr, Graph

pytestmark = pytest.mark.usefixtures("each_kernel")


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
