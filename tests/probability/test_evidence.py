"""Evidence as users give it: tables of many kinds, by position and by node."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

import isotherm as iso
from isotherm.io.node_rows import read_node_features

pytestmark = pytest.mark.filterwarnings("ignore::isotherm.UnreachedWarning")


def test_rows_by_position_and_by_id() -> None:
    graph = iso.Graph.from_edges(["a", "b"], ["b", "c"])
    wanted = np.array([[1.0, 2], [3, 4], [5, 6]])
    frame = pd.DataFrame({"id": ["c", "a", "b"], "x": [5, 1, 3], "y": [6, 2, 4]})
    for table in (
        wanted,
        csr_array(wanted),
        {"c": [5, 6], "a": [1, 2], "b": [3, 4]},
        frame,
        frame.set_index("id"),
        pl.DataFrame(frame.to_dict("list")),
    ):
        found = read_node_features(table, graph).rows
        np.testing.assert_array_equal(found.toarray() if isinstance(found, csr_array) else found, wanted)
    np.testing.assert_array_equal(read_node_features({"b": [3, 4]}, graph).rows, [[0, 0], [3, 4], [0, 0]])


def test_rows_for_either_side_of_a_bipartite_graph() -> None:
    graph = iso.Graph.from_biadjacency(np.ones((2, 3)))
    np.testing.assert_array_equal(read_node_features([[1], [2]], graph).rows[:, 0], [1, 2, 0, 0, 0])
    np.testing.assert_array_equal(read_node_features([[1], [2], [3]], graph).rows[:, 0], [0, 0, 1, 2, 3])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"features": np.ones((3, 2))}, "features has 3 rows, but the graph has 242 nodes: give one row per node"),
        ({"features": np.full((242, 2), np.inf)}, "features has a value that is missing or infinite: fill it"),
        ({"features": np.full((242, 2), np.nan)}, "no column of the table can be used .*no values"),
        ({"features": {999: [1, 2]}}, "features: none of the 1 rows is a node of the graph: ids are such as 999"),
        ({"features": np.full((242, 1), "x")}, "no column of the table can be used .*one value only"),
        ({"evidence": "magic"}, "evidence='magic', but it must be 'auto', 'spectral' or a table of probabilities"),
        ({"evidence": np.ones((242, 2))}, "evidence has 2 columns, but there are 3 classes"),
        ({"evidence": -np.ones((242, 3))}, "evidence must be probabilities"),
    ],
)
def test_what_does_not_fit_is_refused(world: Any, given: dict[str, Any], sentence: str) -> None:
    graph, _, _, known = world
    with pytest.raises(ValueError, match=sentence):
        iso.NodeClassifier().fit(graph, known, **given)
