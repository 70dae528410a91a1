"""The public function for a single Dirichlet problem."""

from typing import Any

import networkx as nx
import numpy as np
import pytest

import isotherm as iso
from isotherm.choices import SolverName

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")


class TestSolveDirichlet:
    rod = iso.Graph.from_edges(["a", "b", "c", "d"], ["b", "c", "d", "e"])

    def test_real_values_in_a_mapping(self) -> None:
        found = iso.solve_dirichlet(self.rod, {"e": -4.0, "a": 20})
        np.testing.assert_allclose(found, [20, 14, 8, 2, -4], atol=1e-9)

    def test_arrays_with_nan_for_unknown(self) -> None:
        known = np.array([0, np.nan, np.nan, np.nan, 1])
        np.testing.assert_allclose(iso.solve_dirichlet(self.rod, known), [0, 0.25, 0.5, 0.75, 1], atol=1e-9)

    def test_many_columns(self) -> None:
        found = iso.solve_dirichlet(self.rod, {"a": [0, 1, 8.0], "e": [4, 1, 0]})
        expected = np.column_stack([np.linspace(0, 4, 5), np.ones(5), np.linspace(8, 0, 5)])
        np.testing.assert_allclose(found, expected, atol=1e-9)

    def test_one_known_node_warms_all(self) -> None:
        np.testing.assert_allclose(iso.solve_dirichlet(self.rod, {"c": 3.5}), 3.5)

    def test_weights_are_conductivities(self) -> None:
        graph = iso.Graph.from_edges([0, 1], [1, 2], weight=[1, 3])
        np.testing.assert_allclose(iso.solve_dirichlet(graph, {0: 0, 2: 1}), [0, 0.75, 1])

    @pytest.mark.filterwarnings("default::isotherm.UnreachedWarning")
    def test_unreached_nodes_are_nan_and_reported(self) -> None:
        graph = iso.Graph.from_edges([0, 2], [1, 3], nodes=[0, 1, 2, 3, 4])
        with pytest.warns(iso.UnreachedWarning, match="3 of 5 nodes are not connected to any seed"):
            found = iso.solve_dirichlet(graph, {0: 1.0})
        np.testing.assert_array_equal(found, [1, 1, np.nan, np.nan, np.nan])

    @pytest.mark.parametrize("solver", ["cg", "sweeps", "direct"])
    def test_all_solvers_agree_with_networkx_resistances(self, solver: SolverName) -> None:
        """A unit of heat between two nodes: the temperature difference is the resistance distance."""
        G = nx.karate_club_graph()
        graph = iso.Graph.from_networkx(G, weight=None)
        found = iso.solve_dirichlet(graph, {0: 0.0, 33: 1.0}, solver=solver, tol=1e-9)
        current = sum(1 - found[graph.index([node])[0]] for node in G[33])
        assert 1 / current == pytest.approx(nx.resistance_distance(G, 0, 33), rel=1e-7)

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({}, "no temperature is known"),
            ({"z": 1.0}, "not in the graph: 'z'"),
            ({"a": np.inf}, "node 'a' has a temperature that is not a finite number"),
            ([0.0, np.nan], "temperatures of shape .2,. do not fit a graph of 5 nodes"),
            ([np.nan] * 5, "no temperature is known"),
            (
                np.array([[1, 0], [1, np.nan]] + [[np.nan, np.nan]] * 3),
                "node 'b' has a temperature that is not a finite",
            ),
        ],
    )
    def test_bad_values(self, values: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            iso.solve_dirichlet(self.rod, values)

    def test_a_cluster_gives_the_same(self, cluster: Any) -> None:
        values = {"a": [0, 1, 8.0], "e": [4, 1, 0]}
        found = iso.solve_dirichlet(self.rod, values, engine="dask")
        np.testing.assert_allclose(found, iso.solve_dirichlet(self.rod, values), atol=1e-5)

    def test_an_unknown_engine_is_named(self) -> None:
        with pytest.raises(ValueError, match="engine='spark', but it must be one of 'local', 'dask'"):
            iso.solve_dirichlet(self.rod, {"a": 1.0}, engine="spark")  # type: ignore[arg-type]
