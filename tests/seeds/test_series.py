"""Labels and weights in a pandas Series: by node id if its index holds ids, otherwise by position."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import isotherm as iso
from isotherm.seeds import LabelWarning, as_seeds

NAMES = ["ann", "bob", "cat", "dan", "eve"]
PATH = iso.Graph.from_edges(NAMES[:-1], NAMES[1:])
TEAMS = ["x", None, "y", None, "x"]
SHUFFLED = [4, 2, 0, 3, 1]


def known(labels: Any, graph: iso.Graph = PATH) -> dict[Any, Any]:
    seeds = as_seeds(labels, graph)
    return dict(zip(graph.nodes[seeds.nodes].tolist(), seeds.decode(seeds.codes).tolist(), strict=True))


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(TEAMS, index=NAMES).iloc[SHUFFLED],
        pd.Series(TEAMS, index=NAMES, dtype="category").iloc[SHUFFLED],
        pd.Series(TEAMS, index=pd.CategoricalIndex(NAMES)).iloc[SHUFFLED],
        pd.Series(["y", "x", "x"], index=["cat", "eve", "ann"]),
        pd.Series(["y", "x", "x", None], index=["cat", "eve", "ann", "zoe"]),  # without a label it need not be a node
        pd.Series(TEAMS),
        pd.Series(TEAMS, index=[17, 3, 99, 4, 5]),  # none of these is a node
        pl.Series(TEAMS),
    ],
)
def test_an_index_of_node_ids_is_followed_and_any_other_is_not(labels: Any) -> None:
    assert known(labels) == {"ann": "x", "cat": "y", "eve": "x"}


def test_numbered_nodes_by_a_shuffled_index() -> None:
    graph = iso.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    labels = pd.Series(TEAMS)
    for given in (labels, labels.iloc[SHUFFLED], labels.iloc[::2]):
        assert known(given, graph) == {0: "x", 2: "y", 4: "x"}


def test_ids_that_are_tuples_are_an_index_of_several_levels() -> None:
    graph = iso.Graph.from_edges([(0, "a"), (0, "b")], [(0, "b"), (1, "a")])
    labels = pd.Series(["x", "y"], index=pd.MultiIndex.from_tuples([(1, "a"), (0, "a")]))
    assert known(labels, graph) == {(0, "a"): "y", (1, "a"): "x"}
    assert known(pd.Series(["x", None, "y"], index=list("abc")), graph) == {(0, "a"): "x", (1, "a"): "y"}


def test_a_table_of_nodes_and_labels_is_refused_with_the_remedy() -> None:
    with pytest.raises(TypeError, match=r'pass \{node: label\}, or one .*table.set_index\("node"\)'):
        iso.DirichletClassifier().fit(PATH, pd.DataFrame({"node": NAMES, "team": TEAMS}))


@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
def test_a_column_of_a_table_is_a_series() -> None:
    table = pd.DataFrame({"team": TEAMS}, index=NAMES).iloc[SHUFFLED]
    clf = iso.DirichletClassifier().fit(PATH, table)
    np.testing.assert_array_equal(clf.labels_, iso.DirichletClassifier().fit(PATH, TEAMS).labels_)


def test_a_table_of_label_sets_is_aligned_too() -> None:
    table = pd.DataFrame([[1, 0], [0, 0], [1, 1], [0, 0], [0, 1]], index=NAMES)
    seeds = as_seeds(table.iloc[SHUFFLED], PATH)
    assert seeds.nodes.tolist() == [0, 2, 4]
    assert seeds.values().tolist() == [[1, 0], [1, 1], [0, 1]]


@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
def test_a_matrix_with_names_is_aligned_with_labels_of_the_same_names() -> None:
    matrix = pd.DataFrame(PATH.adjacency.toarray(), index=NAMES, columns=NAMES)
    expected = iso.DirichletClassifier().fit(PATH, TEAMS).labels_
    for labels in (pd.Series(TEAMS, index=NAMES).iloc[SHUFFLED], pd.Series(TEAMS), np.array(TEAMS)):
        np.testing.assert_array_equal(iso.DirichletClassifier().fit(matrix, labels).labels_, expected)


def test_rows_of_a_biadjacency_matrix() -> None:
    graph = iso.Graph.from_biadjacency(np.ones((3, 2)), rows=["r1", "r2", "r3"], columns=["c1", "c2"])
    for labels in (pd.Series(["a", None, "b"]), pd.Series(["b", "a"], index=["r3", "r1"])):
        assert known(labels, graph) == {"r1": "a", "r3": "b"}


def test_row_numbers_that_could_be_ids_are_positions_with_a_warning() -> None:
    graph = iso.Graph.from_edges([2, 1], [1, 0], nodes=[2, 1, 0])
    with pytest.warns(LabelWarning, match=r"labels is read in the order of graph.nodes.*pass labels.to_dict\(\)"):
        assert known(pd.Series(["a", None, "b"]), graph) == {2: "a", 0: "b"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pd.Series(["a", "b"]), "labels has 2 entries and no node ids as its index, but the graph has 5 nodes"),
        (lambda: pd.Series(TEAMS, index=["ann", "bob", 1, 2, 3]), "the index of labels holds 2 nodes among 5 entries"),
        (lambda: pd.Series(["a", "b"], index=["x", "y"]), "holds 0 nodes among 2 entries, such as 'x', while nodes"),
        (lambda: pd.Series(["a", "b"], index=["ann", "ann"]), "the node 'ann' occurs more than once in the index of"),
        (lambda: pd.Series(["a", "b", "c"], index=["ann", "bob", "zoe"]), "in the seeds, 1 node is not .* 'zoe'"),
        (lambda: pd.Series([], dtype=object, index=pd.Index([], dtype=object)), "index of labels holds 0 nodes"),
    ],
)
def test_what_fits_neither_way_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_seeds(make(), PATH)


def test_texts_none_of_which_is_a_node_are_pointed_out() -> None:
    with pytest.warns(
        LabelWarning, match=r"no entry of the index of labels, such as 'ANN', is a node, such as 'ann', so"
    ):
        assert known(pd.Series(TEAMS, index=[name.upper() for name in NAMES])) == {"ann": "x", "cat": "y", "eve": "x"}


def test_ids_as_text_are_not_taken_for_positions() -> None:
    graph = iso.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    with pytest.raises(ValueError, match="such as '4', while nodes are such as 0: set node ids as the index"):
        known(pd.Series(TEAMS, index=["4", "3", "2", "1", "0"]), graph)


@pytest.mark.parametrize(
    "weight",
    [
        pd.Series([1.0, 2, 3, 4, 5], index=NAMES).iloc[SHUFFLED],
        pd.Series([5.0, 1.0], index=["eve", "ann"]),
        pd.Series([5, 1], index=["eve", "ann"], dtype="Int64"),
        pd.Series([1.0, 2, 3, 4, 5]),
        pl.Series([1.0, 2, 3, 4, 5]),
    ],
)
def test_weights_are_aligned_too(weight: Any) -> None:
    seeds = as_seeds({"ann": "x", "eve": "y"}, PATH, weight)
    assert seeds.weights is not None
    assert seeds.weights.tolist() == [1, 5]


def test_weights_that_fit_neither_way_are_refused() -> None:
    with pytest.raises(ValueError, match="the index of seed_weight holds 0 nodes among 1 entries"):
        as_seeds({"ann": "x", "eve": "y"}, PATH, pd.Series([1.0], index=["zoe"]))
