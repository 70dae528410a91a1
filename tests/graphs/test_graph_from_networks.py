"""Graphs from networkx and igraph, and from whatever ``as_graph`` takes."""

from importlib import import_module
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from graph_cases import (
    WEIGHTED,
    assert_trusted,
    dense,
)

from isotherm.graphs import Graph, as_graph

pytestmark = pytest.mark.usefixtures("each_kernel")


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


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("ids", [["ann", "bob", "eve"], [3, 1, 2]])
def test_data_frames_of_edges(library: str, ids: list[Any]) -> None:
    columns = {"from": ids, "to": [ids[1], ids[2], ids[0]], "amount": [1.0, 2.0, 0.5], "weight": [1, 1, 1]}
    frame = import_module(library).DataFrame(columns)
    read = getattr(Graph, f"from_{library}")
    expected = Graph.from_edges(columns["from"], columns["to"], columns["amount"], directed=True)
    found = read(frame, "from", "to", "amount", directed=True)
    assert found.nodes.tolist() == expected.nodes.tolist()
    np.testing.assert_array_equal(found.adjacency.toarray(), expected.adjacency.toarray())
    assert not read(frame, "from", "to").weighted
    assert not read(frame, "from", "to", None).weighted
    with pytest.raises(ValueError, match="no column for source='source': it has 'from', 'to', 'amount', 'weight'"):
        read(frame)
    with pytest.raises(ValueError, match="no column for weight='price'"):
        read(frame, "from", "to", "price")


def test_a_data_frame_with_two_columns_of_a_name() -> None:
    pandas = import_module("pandas")
    frame = pandas.DataFrame([["a", "b", "c"]], columns=["source", "source", "target"])
    with pytest.raises(ValueError, match="several columns named 'source'"):
        Graph.from_pandas(frame)
