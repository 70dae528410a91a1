"""Evidence as users give it: tables of many kinds, by position and by node."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

import isotherm as iso
from isotherm.io import FileWarning
from isotherm.io.node_rows import read_node_features
from isotherm.probability.evidence import read_evidence
from isotherm.seeds.known import as_seeds

IGNORED = ("UnreachedWarning", "RareClassWarning", "CalibrationWarning")
pytestmark = [pytest.mark.filterwarnings(f"ignore::isotherm.{name}") for name in IGNORED]


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
        ({"evidence": "magic"}, "evidence='magic', but it must be 'auto', 'spectral', 'compatibility' or a table"),
        ({"evidence": np.ones((242, 2))}, "evidence has 2 columns, but there are 3 classes"),
        ({"evidence": -np.ones((242, 3))}, "evidence must be probabilities"),
    ],
)
def test_what_does_not_fit_is_refused(world: Any, given: dict[str, Any], sentence: str) -> None:
    graph, _, _, known = world
    with pytest.raises(ValueError, match=sentence):
        iso.NodeClassifier().fit(graph, known, **given)


TABLE = {
    "account": ["00", "01", "02", "03", "99"],
    "country": ["FR", "FR", "US", "US", "US"],
    "age": [20, None, 60, 61, 7],
}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, lambda t: pd.DataFrame(t).set_index("account")])
def test_a_mixed_table_is_matched_by_ids_as_text(make: Any) -> None:
    graph = iso.Graph.from_edges(["00", "01", "02"], ["01", "02", "03"])
    with pytest.warns(iso.FileWarning, match="features: 1 of 5 rows are no nodes .* '99', .*; graph.with_nodes adds"):
        clf = iso.NodeClassifier().fit(graph, {"00": "a", "03": "b", "01": "a"}, features=make(TABLE))
    assert clf.feature_table_ is not None
    assert [str(column) for column in clf.feature_table_.columns_] == ["category, 2 values", "number, 1 missing"]
    assert clf.labels_.tolist() == ["a", "a", "b", "b"]
    assert set(clf.column_influence_) == {"country", "age"}


def test_ids_that_are_integers_in_one_place_and_text_in_the_other() -> None:
    graph = iso.Graph.from_edges(["1", "2"], ["2", "3"])
    found = read_node_features(pd.DataFrame({"id": [3, 1, 2], "x": [5.0, 1, 3]}), graph).rows
    np.testing.assert_array_equal(found[:, 0], [1, 3, 5])
    numbered = iso.Graph.from_edges([1, 2], [2, 3])
    found = read_node_features(pd.DataFrame({"x": [5.0, 1, 3]}, index=pd.Index([3, 1, 2])), numbered).rows
    np.testing.assert_array_equal(found[:, 0], [1, 3, 5])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
@pytest.mark.parametrize("first", [0, 1000])
def test_a_column_of_integers_is_matched_to_integer_ids(make: Any, first: int) -> None:
    ids = first + np.random.default_rng(0).permutation(60)
    graph = iso.Graph.from_edges(ids, np.roll(ids, 1), nodes=ids)
    table = {"amount": (np.arange(60) % 7).tolist(), "Kundennummer": [*range(first, first + 60)]}
    np.testing.assert_array_equal(read_node_features(make(table), graph).rows[:, 0], (ids - first) % 7)


def test_integers_that_may_be_ids_or_not() -> None:
    """Only a column that covers the nodes counts, and it is named where rows may as well be in order."""
    order = np.random.default_rng(0).permutation(60)
    graph = iso.Graph.from_edges(range(60), np.roll(range(60), 1), nodes=range(60))
    with pytest.warns(
        FileWarning, match="rows of features are matched to nodes by the column 'client', not by position: drop"
    ):
        rows = read_node_features(pd.DataFrame({"client": order, "x": order * 2.0}), graph).rows
    np.testing.assert_array_equal(rows[:, 0], 2 * np.arange(60))
    amounts = pd.DataFrame({"amount": 50 + order, "x": order % 7})
    np.testing.assert_array_equal(read_node_features(amounts, graph).rows[:, 0], order % 7)
    small = iso.Graph.from_edges([0, 1], [1, 2])
    np.testing.assert_array_equal(read_node_features(pd.DataFrame({"rank": [2, 0, 1]}), small).rows[:, 0], [2, 0, 1])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_a_table_without_ids_is_read_in_order_with_a_warning(make: Any) -> None:
    graph = iso.Graph.from_edges(["a", "b"], ["b", "c"])
    with pytest.warns(FileWarning, match=r"features has no node ids, .* order of graph\.nodes: give ids in a column"):
        rows = read_node_features(make({"x": [1, 2, 3]}), graph).rows
    np.testing.assert_array_equal(rows[:, 0], [1, 2, 3])
    given = make({"x": [1, 2, 3], "node": graph.nodes.tolist()})
    np.testing.assert_array_equal(read_node_features(given, graph).rows[:, 0], [1, 2, 3])


OPINION = pd.DataFrame({"red": [0.9, 0.2, 0.1], "blue": [0.1, 0.8, 0.9], "note": ["", "x", ""]}, index=["a", "b", "c"])


@pytest.mark.parametrize(
    "table", [OPINION, OPINION.add_prefix("p_"), pl.DataFrame(OPINION.assign(node=["a", "b", "c"]))]
)
def test_columns_of_probabilities_are_found_by_their_classes(table: Any) -> None:
    graph = iso.Graph.from_edges(["a", "b"], ["b", "c"])
    seeds = as_seeds({"a": "red", "c": "blue"}, graph)
    evidence = read_evidence(None, table, graph, seeds)
    assert evidence is not None
    assert evidence.opinion is not None
    np.testing.assert_array_equal(evidence.opinion, [[0.1, 0.9], [0.8, 0.2], [0.9, 0.1]])
    plain = pd.DataFrame(OPINION[["blue", "red"]].to_numpy(), index=["a", "b", "c"])
    again = read_evidence(None, plain, graph, seeds)
    assert again is not None
    np.testing.assert_array_equal(again.opinion, evidence.opinion)


def test_columns_that_are_no_classes_are_refused() -> None:
    graph = iso.Graph.from_edges(["a", "b"], ["b", "c"])
    wrong = OPINION[["red", "blue"]].rename(columns={"red": "RED"})
    with pytest.raises(ValueError, match="evidence has no column for 'red', only 'RED', 'blue': name each column by"):
        iso.NodeClassifier().fit(graph, {"a": "red", "c": "blue"}, evidence=wrong)


def test_the_columns_that_matter_are_those_that_made_the_classes(world: Any) -> None:
    graph, truth, _, known = world
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"noise": rng.normal(size=len(truth)), "kind": [f"k{each}" for each in truth]})
    table["noise"] = table["noise"].where(rng.random(len(truth)) < 0.9)
    clf = iso.NodeClassifier().fit(graph, known, features=table)
    assert clf.column_influence_["kind"]["features"] > 0.8
    why = clf.explain(graph.nodes[0])
    assert "evidence" in str(why)
    assert "kind" in str(why)
    assert max(why.columns["kind"], key=why.columns["kind"].__getitem__) == truth[0]
    with pytest.raises(ValueError, match="no column named 'size' for feature_columns"):
        iso.NodeClassifier().fit(graph, known, features=table, feature_table=iso.FeatureTable(columns=["size"]))


def test_a_loaded_model_is_updated_with_its_features(world: Any, tmp_path: Any) -> None:
    graph, truth, _, known = world
    table = pd.DataFrame({"kind": [f"k{each}" for each in truth], "size": np.arange(len(truth)) % 7})
    clf = iso.NodeClassifier().fit(graph, known, features=table)
    clf.save(tmp_path / "m.npz")
    loaded = iso.load(tmp_path / "m.npz")
    with pytest.raises(
        ValueError, match="the features kind, size that it was fitted on: give them again with features"
    ):
        loaded.update({0: truth[0]})
    node = int(np.flatnonzero(np.asarray(known) < 0)[0])
    again = iso.load(tmp_path / "m.npz")
    assert isinstance(again, iso.NodeClassifier)
    again.update({graph.nodes[node]: truth[node]}, features=table)
    clf.update({graph.nodes[node]: truth[node]})
    np.testing.assert_array_equal(again.labels_, clf.labels_)
    np.testing.assert_allclose(again.predict_proba(), clf.predict_proba(), atol=1e-4)


def test_the_order_of_rows_and_columns_does_not_matter(world: Any) -> None:
    graph, truth, _, known = world
    rng = np.random.default_rng(1)
    towns = rng.choice([f"town{place}" for place in range(60)], len(truth))
    table = pd.DataFrame({"id": graph.nodes, "kind": [f"k{each % 2}" for each in truth], "town": towns})
    table["size"] = np.where(rng.random(len(truth)) < 0.9, rng.normal(size=len(truth)) + truth, np.nan)
    table["note"] = [" ".join(rng.choice(["red", "green", "blue", "old", "new"], 3)) for _ in truth]
    shuffled = table.sample(frac=1, random_state=0)[["note", "size", "id", "town", "kind"]]
    found = [iso.NodeClassifier().fit(graph, known, features=each) for each in (table, shuffled)]
    np.testing.assert_allclose(found[0].predict_proba(), found[1].predict_proba(), atol=1e-4)
    np.testing.assert_array_equal(found[0].labels_, found[1].labels_)
