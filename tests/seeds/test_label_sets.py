"""Seeds with several labels: all ways to give them are the same, and what is refused."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

import isotherm as iso
from isotherm.seeds.known import has_label_sets, label_sets

GRAPH = iso.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
MATRIX = np.array([[1, 1, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0]])


@pytest.mark.parametrize(
    "labels",
    [
        MATRIX,
        MATRIX.astype(bool),
        csr_matrix(MATRIX),
        csr_array(MATRIX, dtype=float),
        coo_array(MATRIX),
        {4: {0}, 2: [2], 0: (1, 0)},
        {2: frozenset({2}), 0: {0, 1}, 4: 0, 3: None},
    ],
)
def test_all_ways_to_give_labels_are_the_same(labels: Any) -> None:
    assert has_label_sets(labels)
    seeds = label_sets(labels, GRAPH)
    assert seeds.nodes.tolist() == [0, 2, 4]
    assert seeds.classes.tolist() == [0, 1, 2]
    assert seeds.values().tolist() == [[1, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert seeds.values(slice(1, 3)).tolist() == [[1, 0], [0, 1], [0, 0]]
    assert seeds.names(np.array([1, 0])).tolist() == [(2,), (0, 1)]
    assert seeds.shares.tolist() == pytest.approx([2 / 3, 1 / 3, 1 / 3])


@pytest.mark.parametrize("labels", [{0: "a", 1: "b"}, {0: {"a": 1.0}}, [0, 1, -1], np.array([[0], [1]]), {}])
def test_one_label_each_is_something_else(labels: Any) -> None:
    assert not has_label_sets(labels)


def test_an_empty_set_is_known_and_an_empty_row_is_not() -> None:
    by_node = label_sets({0: {"a"}, 1: set(), 2: None}, GRAPH)
    assert by_node.nodes.tolist() == [0, 1]
    assert by_node.names(np.array([0, 1])).tolist() == [("a",), ()]
    assert label_sets(MATRIX, GRAPH).nodes.tolist() == [0, 2, 4]


def test_rows_of_a_bipartite_graph_suffice() -> None:
    graph = iso.Graph.from_biadjacency(np.ones((2, 3)))
    assert label_sets(np.array([[1, 0], [1, 1]]), graph).nodes.tolist() == [0, 1]


def test_weights_of_trust() -> None:
    seeds = label_sets({0: {"a", "b"}, 1: {"a"}, 2: {"c"}}, GRAPH, {1: 3.0, 2: 0})
    assert seeds.nodes.tolist() == [0, 1]
    assert seeds.weights is not None
    assert seeds.weights.tolist() == [np.inf, 3]
    assert seeds.shares.tolist() == pytest.approx([1, 4 / 7, 0])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (MATRIX[:3], "the labels have 3 rows, but the graph has 5 nodes"),
        (MATRIX * 0.5, "a matrix of labels must hold only zeros and ones"),
        (MATRIX * 0, "no seed has a label: give at least one node a label"),
        ({0: set()}, "no seed has a label"),
        ({9: {"a"}}, "1 node is not in the graph: 9"),
    ],
)
def test_what_is_refused(labels: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        label_sets(labels, GRAPH)


def test_labels_of_two_types_are_refused() -> None:
    with pytest.raises(TypeError, match="labels must be all int or all str"):
        label_sets({0: {"a", 1}}, GRAPH)
