"""Seeds: what is a label, what is unknown, what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotherm.graphs import Graph
from isotherm.seeds import (
    LabelWarning,
    Seeds,
    as_seeds,
)
from isotherm.seeds.encoding import decode_labels, encode_labels

NAMES = ["ann", "bob", "cat", "dan", "eve"]


@pytest.fixture
def graph() -> Graph:
    """The path ann - bob - cat - dan - eve."""
    return Graph.from_edges(NAMES[:-1], NAMES[1:])


def bipartite() -> Graph:
    """Three rows, two columns."""
    return Graph.from_biadjacency(np.array([[1, 0], [1, 1], [0, 1]]))


STRINGS = [
    ["x", None, "y", None, "x"],
    ["x", -1, "y", float("nan"), "x"],
    ("x", None, "y", pd.NA, "x"),
    np.array(["x", None, "y", np.nan, "x"], dtype=object),
    np.array(["x", "", "y", "None", "x"]),
    np.array(["x", -1, "y", np.nan, "x"]),
    np.array(["x", None, "y", None, "x"], dtype=np.dtypes.StringDType(na_object=None)),
    np.ma.masked_array(["x", "y", "y", "y", "x"], [False, True, False, True, False]),
    pd.Series(["x", None, "y", None, "x"]),
    pd.Series(["x", None, "y", None, "x"], dtype=object),
    pd.Series(["x", None, "y", None, "x"], dtype="string"),
    pd.Series(["x", None, "y", None, "x"], dtype="category"),
    pd.Series(["x", None, "y", None, "x"], index=[4, 3, 2, 1, 0]),
    pd.Index(["x", None, "y", None, "x"]),
    pd.Categorical(["x", None, "y", None, "x"], categories=["y", "unused", "x"]),
    pl.Series(["x", None, "y", None, "x"]),
    pl.Series(["x", None, "y", None, "x"], dtype=pl.Categorical),
    pl.Series(["x", None, "y", None, "x"], dtype=pl.Enum(["y", "x"])),
    {"ann": "x", "cat": "y", "eve": "x"},
    {"eve": "x", "cat": np.str_("y"), "bob": None, "ann": "x"},
    pd.Series(["x", "y", "x"], index=["ann", "cat", "eve"]).to_dict(),
]
INTEGERS = [
    [7, -1, 3, -1, 7],
    [7, None, 3.0, float("nan"), np.int8(7)],
    np.array([7, -1, 3, -1, 7]),
    np.array([7, -1, 3, -1, 7], dtype=np.int8),
    np.array([7, np.nan, 3, -1, 7]),
    np.array([7, np.nan, 3, -1, 7], dtype=np.float32),
    np.ma.masked_array([7, 1, 3, 1, 7], [False, True, False, True, False]),
    pd.Series([7, None, 3, None, 7]),
    pd.Series([7, None, 3, None, 7], dtype="Int64"),
    pd.Series([7, None, 3, None, 7], dtype="category"),
    pl.Series([7, None, 3, None, 7]),
    pl.Series([7.0, None, 3.0, float("nan"), 7.0]),
    {"ann": 7, "cat": 3, "eve": 7},
    {"eve": np.int64(7), "bob": None, "cat": 3.0, "dan": np.nan, "ann": 7},
]


@pytest.mark.parametrize("labels", STRINGS, ids=lambda labels: type(labels).__name__)
def test_strings_and_what_is_unknown_among_them(labels: Any, graph: Graph) -> None:
    seeds = Seeds.from_labels(labels, graph)
    assert seeds.nodes.tolist() == [0, 2, 4]
    assert seeds.codes.tolist() == [0, 1, 0]
    assert seeds.classes.tolist() == ["x", "y"]
    assert {type(label) for label in seeds.classes} == {str}
    assert [part.dtype.kind for part in (seeds.nodes, seeds.codes, seeds.classes)] == ["i", "i", "O"]
    assert seeds.unknown is None


@pytest.mark.parametrize("labels", INTEGERS, ids=lambda labels: type(labels).__name__)
def test_integers_and_what_is_unknown_among_them(labels: Any, graph: Graph) -> None:
    seeds = Seeds.from_labels(labels, graph)
    assert seeds.nodes.tolist() == [0, 2, 4]
    assert seeds.codes.tolist() == [1, 0, 1]
    assert seeds.classes.tolist() == [3, 7]
    assert seeds.classes.dtype == np.int64
    assert seeds.unknown == -1


def test_counts_values_and_decoding(graph: Graph) -> None:
    seeds = Seeds.from_labels(["b", "a", None, "c", "b"], graph)
    assert seeds.n_classes == 3
    assert seeds.counts.tolist() == [1, 2, 1]
    assert seeds.values().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert seeds.values().dtype == np.float64
    assert seeds.decode(np.array([2, -1, 0])).tolist() == ["c", None, "a"]
    assert Seeds.from_labels([4, 9, 9, 9, 9], graph).decode(np.array([1, -1, 0])).tolist() == [9, -1, 4]


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
def test_only_minus_one_is_an_unknown_integer(kind: Callable[..., Any], graph: Graph) -> None:
    with pytest.warns(
        LabelWarning, match="-1 means unknown, but other negative labels such as -2 are classes"
    ) as caught:
        assert Seeds.from_labels(kind([-2, -1, 0, 1, -1]), graph).classes.tolist() == [-2, 0, 1]
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert Seeds.from_labels(kind([-2, -3, 0, 1, 1]), graph).classes.tolist() == [-3, -2, 0, 1]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"ann": 1, "bob": -1, "eve": 2}, "1 seed has the label -1, which means unknown, and is left out"),
        ({"ann": "x", "bob": -1.0, "eve": "y", "dan": -1}, "2 seeds have the label -1, which means unknown"),
        ({"ann": {1: 0.5, 2: 0.5}, "bob": -1, "eve": 2}, "1 seed has the label -1"),
        ({"ann": {1, 2}, "bob": {-1}, "eve": 2}, "1 seed has the label -1"),
    ],
)
def test_a_seed_of_label_minus_one_is_left_out_with_a_warning(
    labels: dict[str, Any], message: str, graph: Graph
) -> None:
    with pytest.warns(LabelWarning, match=message):
        assert {0, 4} <= set(as_seeds(labels, graph).nodes.tolist())


@pytest.mark.parametrize("labels", [["Yes", "yes", "no", None, "no"], {"ann": "no ", "bob": "yes", "eve": " No"}])
def test_classes_that_differ_only_by_case_or_blanks_are_pointed_out(labels: Any, graph: Graph) -> None:
    pattern = "^'.*' and '.*' are two classes, though they differ only by case or blanks: spell them alike"
    with pytest.warns(LabelWarning, match=pattern) as caught:
        assert Seeds.from_labels(labels, graph).n_classes == 3
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("labels", "weight", "message"),
    [
        (["a"] * 5, None, "^all 5 seeds have the label 'a', so all reached nodes get it: give seeds of another class"),
        ({"ann": 3}, None, "^the only seed has the label 3, so"),
        ([1, -1, 1, 1, -1], None, r"^all 3 seeds have the label 1 \(-1 means unknown\), so"),
        ({"ann": "a", "bob": "b"}, {"bob": 0}, "^the only seed has the label 'a', so"),
        ({"ann": {"a": 1.0}}, None, "^the only seed has the label 'a', so"),
    ],
)
def test_one_class_is_worth_a_warning(labels: Any, weight: Any, message: str, graph: Graph) -> None:
    with pytest.warns(LabelWarning, match=message) as caught:
        assert as_seeds(labels, graph, weight).n_classes == 1
    assert len(caught) == 1


@pytest.mark.parametrize("kind", [list, pl.Series, pd.Series, lambda labels: np.array(labels, dtype=object)])
def test_the_text_minus_one_is_a_label_outside_fixed_width_arrays(kind: Callable[..., Any], graph: Graph) -> None:
    labels = ["-1", "nan", "None", "", "a"]
    with pytest.warns(LabelWarning, match="'', 'None', 'nan' are classes, though they look like a missing label"):
        assert Seeds.from_labels(kind(labels), graph).classes.tolist() == sorted(labels)


@pytest.mark.parametrize(
    "labels",
    [
        [True, False, None, True, -1],
        np.array([True, False, None, True, None]),
        pd.Series([True, False, None, True, None], dtype="boolean"),
        pl.Series([True, False, None, True, None]),
        {"ann": np.True_, "bob": np.False_, "dan": True},
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_booleans_stay_booleans(labels: Any, graph: Graph) -> None:
    seeds = Seeds.from_labels(labels, graph)
    assert seeds.classes.tolist() == [False, True]
    assert seeds.classes.dtype == bool
    assert seeds.unknown is None
    assert seeds.nodes.tolist() == [0, 1, 3]
    assert seeds.codes.tolist() == [1, 0, 1]
    assert seeds.decode(seeds.codes).dtype == bool
    assert seeds.decode(np.array([1, -1, 0])).tolist() == [True, None, False]


def test_booleans_without_unknown_labels_and_booleans_beside_integers() -> None:
    assert encode_labels(np.array([True, False]))[1].dtype == bool
    for mixed in ([True, 0, 2], [True, False, 1, 0], np.array([1, True, False], dtype=object)):
        assert encode_labels(mixed)[1].dtype == np.int64


def test_integers_beyond_the_precision_of_floats_stay_apart() -> None:
    large = 2**53
    for labels in ([large, None, large + 1], pl.Series([large, None, large + 1])):
        assert encode_labels(labels)[1].tolist() == [large, large + 1]


def test_labels_of_the_rows_of_a_biadjacency_matrix() -> None:
    for labels in (["a", None, "b"], ["a", None, "b", None, None], {0: "a", 2: "b"}):
        assert Seeds.from_labels(labels, bipartite()).nodes.tolist() == [0, 2]
    assert Seeds.from_labels({1: "a", 4: "b"}, bipartite()).nodes.tolist() == [1, 4]


@given(st.lists(st.none() | st.text(max_size=3)) | st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_decoding_undoes_encoding(labels: list[Any]) -> None:
    codes, classes = encode_labels(labels)
    assert decode_labels(codes, classes).tolist() == labels or not len(classes)
    assert classes.tolist() == sorted({label for label in labels if label not in (None, -1)})


@given(st.lists(st.integers(-3, 5) | st.just(np.nan)))
def test_arrays_and_lists_are_encoded_alike(labels: list[float]) -> None:
    from_list, from_array = encode_labels(labels), encode_labels(np.array(labels, dtype=np.float64))
    np.testing.assert_array_equal(from_list[0], from_array[0])
    np.testing.assert_array_equal(from_list[1], from_array[1])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([None] * 5, "there are no seeds: label some nodes of at least two classes"),
        ([0.5, 1, None, None, None], "Unknown label type: 0.5; labels must be int or str; for real values use"),
        (np.array([np.inf, 1, 1, 1, 1]), "Unknown label type: inf"),
        (pl.Series([0.25, 1, 1, 1, 1]), "Unknown label type: 0.25"),
        (np.full(5, -1), "there are no seeds"),
        ({}, "there are no seeds"),
        (["a", "b"], "there are 2 labels, but the graph has 5 nodes: give one label per node, or {node: label}"),
        (np.zeros((5, 2)), r"labels must have one dimension, not the shape \(5, 2\)"),
        (pd.DataFrame({"label": [1, 2, 3, 4, 5]}), "one dimension"),
        (pl.DataFrame({"label": [1, 2, 3, 4, 5]}), "one dimension"),
        (np.array(1), "one dimension"),
        ({"ann": "a", "zoe": "b"}, "in the seeds, .*zoe"),
        ([2**63, 1, None, None, None], "the label 9223372036854775808 does not fit in 64 bits"),
        (np.array([2**63, 1, 1, 1, 1], dtype=np.uint64), "does not fit in 64 bits"),
    ],
)
def test_values_that_are_refused(labels: Any, message: str, graph: Graph) -> None:
    with pytest.raises(ValueError, match=message):
        Seeds.from_labels(labels, graph)


def test_the_length_is_that_of_the_rows_or_of_all_nodes() -> None:
    with pytest.raises(ValueError, match=r"there are 2 labels, but the graph has 5 nodes \(3 of them rows\)"):
        Seeds.from_labels([0, 1], bipartite())


def test_nodes_without_a_known_label_need_not_be_in_the_graph(graph: Graph) -> None:
    assert Seeds.from_labels({"ann": "a", "zoe": None, "eve": "b"}, graph).nodes.tolist() == [0, 4]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"ann": 1, "bob": "a"}, "labels must be all int or all str, but there are 1 and 'a'"),
        (np.array([1, "a", 1, 1, 1], dtype=object), "1 and 'a'"),
        ([["a"], ["b"], None, None, None], "labels must be int or str: unhashable type: 'list'"),
        ({"ann": ("a", ["b"])}, "labels must be int or str: unhashable type: 'list'"),
        ([("a",), None, None, None, None], "labels must be int or str, not tuple"),
        (np.array([b"a", b"b", b"", b"", b""]), r"labels must be int or str, not \|S1"),
        (np.zeros(5, dtype="datetime64[ns]"), "labels must be int or str, not datetime64"),
        (pd.Series(pd.to_datetime(["2020-01-01"] * 5)), "labels must be int or str, not Timestamp"),
        (np.zeros(5, dtype=complex), "labels must be int or str, not complex128"),
        ("abcde", "labels must be a mapping or an array, not str"),
        (3, "labels must be a mapping or an array, not int"),
        ({1, 2, 3, 4, 5}, "labels must be a mapping or an array, not set"),
        (None, "labels must be a mapping or an array, not NoneType"),
    ],
)
def test_types_that_are_refused(labels: Any, message: str, graph: Graph) -> None:
    with pytest.raises(TypeError, match=message):
        Seeds.from_labels(labels, graph)


def test_one_warning_names_the_classes_with_a_single_seed(graph: Graph) -> None:
    with pytest.warns(UserWarning, match=r"^the class 'b' has a single seed$") as record:
        Seeds.from_labels(["a", "b", "a", None, None], graph).warn_about_rare()
    assert len(record) == 1
    with pytest.warns(UserWarning, match=r"^4 classes \(1, 2, 3, \.\.\.\) have a single seed$"):
        Seeds.from_labels([1, 2, 3, 4, 5, 5], Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5])).warn_about_rare()
    Seeds.from_labels([1, 2, 1, 2, -1], graph).warn_about_rare()
    Seeds.from_labels([1, 2, 3, 4, 5], graph).warn_about_rare()


def test_a_large_mapping_in_any_order() -> None:
    n = 200_000
    ids = np.arange(n)
    graph = Graph.from_edges(ids[:-1], ids[1:])
    labels = {node: str(node % 7) for node in range(n - 1, -1, -1)}
    seeds = Seeds.from_labels(labels, graph)
    np.testing.assert_array_equal(seeds.nodes, ids)
    np.testing.assert_array_equal(seeds.codes, ids % 7)
