"""Evidence as users give it: tables of many kinds, by position and by node."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

import isotherm as iso
from isotherm.probability.evidence import read_rows

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
        found = read_rows(table, graph, "features")
        np.testing.assert_array_equal(found.toarray() if isinstance(found, csr_array) else found, wanted)
    np.testing.assert_array_equal(read_rows({"b": [3, 4]}, graph, "features"), [[0, 0], [3, 4], [0, 0]])


def test_rows_for_either_side_of_a_bipartite_graph() -> None:
    graph = iso.Graph.from_biadjacency(np.ones((2, 3)))
    np.testing.assert_array_equal(read_rows([[1], [2]], graph, "features")[:, 0], [1, 2, 0, 0, 0])
    np.testing.assert_array_equal(read_rows([[1], [2], [3]], graph, "features")[:, 0], [0, 0, 1, 2, 3])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"features": np.ones((3, 2))}, "features has 3 rows, but the graph has 242 nodes: give one row per node"),
        ({"features": np.full((242, 2), np.nan)}, "features has a value that is missing or infinite: fill it"),
        ({"features": {999: [1, 2]}}, "in features, .*999"),
        ({"features": np.full((242, 1), "x")}, "features must be numbers"),
        ({"evidence": "magic"}, "evidence='magic', but it must be 'auto', 'spectral', 'compatibility' or a table"),
        ({"evidence": np.ones((242, 2))}, "evidence has 2 columns, but there are 3 classes"),
        ({"evidence": -np.ones((242, 3))}, "evidence must be probabilities"),
    ],
)
def test_what_does_not_fit_is_refused(world: Any, given: dict[str, Any], sentence: str) -> None:
    graph, _, _, known = world
    with pytest.raises(ValueError, match=sentence):
        iso.NodeClassifier().fit(graph, known, **given)
