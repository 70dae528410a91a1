"""Seeds: columns, contradictions, unknown labels, and ids that the graph spells differently."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from isotherm.graphs import Graph
from isotherm.io import FileError, FileWarning, match_seeds, read_seeds, read_seeds_file
from isotherm.io.file_layout import LabelOptions


def save(path: Path, content: str | pl.DataFrame) -> Path:
    if isinstance(content, str):
        path.write_text(content)
    elif path.suffix == ".parquet":
        content.write_parquet(path)
    else:
        content.write_ipc(path)
    return path


@pytest.mark.parametrize(
    ("content", "layout"),
    [
        ("node,label\na,x\nb,y\n", "node=col 1 (node), label=col 2 (label), header=yes, delimiter=comma"),
        ("a,x\nb,y\n", "node=col 1, label=col 2, header=no, delimiter=comma"),
        ("a\tx\nb\ty\n", "node=col 1, label=col 2, header=no, delimiter=tab"),
        ("% c\na x\nb y\n", "node=col 1, label=col 2, header=no, delimiter=whitespace"),
        ("class,age,id\nx,1,a\ny,2,b\n", "node=col 3 (id), label=col 1 (class), header=yes, delimiter=comma"),
        ("Node ID;y;t\na;x;0\nb;y;0\n", "node=col 1 (Node ID), label=col 2 (y), header=yes, delimiter=semicolon"),
        ("node,label,p\na,x,1\nb,y,0.5\nc,,0\n", "node=col 1 (node), label=col 2 (label), header=yes, delimiter=comma"),
    ],
)  # fmt: skip
def test_layout(tmp_path: Path, content: str, layout: str) -> None:
    _, seeds, found, *_ = read_seeds_file(save(tmp_path / "s.csv", content))
    assert seeds == {"a": "x", "b": "y"}
    assert str(found) == layout


def test_columns_can_be_picked(tmp_path: Path) -> None:
    path = save(tmp_path / "s.csv", "package,section,size\nbash,shells,1\nvim,editors,2\n")
    expected = {"bash": "shells", "vim": "editors"}
    assert read_seeds(path, node="package", label="section") == expected
    assert read_seeds(path, node=1, label=2, header=True) == expected
    with pytest.raises(FileError, match="no column named 'class' for label: there are 'package', 'section', 'size'"):
        read_seeds(path, label="class", header=True)


@pytest.mark.filterwarnings("ignore:.*label -1 is left out")
def test_typed_columns(tmp_path: Path) -> None:
    frame = pl.DataFrame({"node": [1, 2, 3, 4], "label": [0, 1, None, -1]})
    assert read_seeds(save(tmp_path / "s.parquet", frame)) == {1: 0, 2: 1}
    assert read_seeds(save(tmp_path / "s.arrow", frame)) == {1: 0, 2: 1}
    floats = frame.with_columns(label=pl.Series([0.0, 1.0, float("nan"), None]))
    assert read_seeds(save(tmp_path / "s.parquet", floats)) == {1: 0, 2: 1}
    words = frame.with_columns(label=pl.Series(["a", "b", "", None], dtype=pl.Categorical))
    assert read_seeds(save(tmp_path / "s.parquet", words)) == {1: "a", 2: "b"}
    with pytest.raises(FileError, match="labels are text or integers"):
        read_seeds(save(tmp_path / "s.parquet", frame.with_columns(label=pl.lit([1]))))


def test_minus_one_is_unknown_among_integers_only(tmp_path: Path) -> None:
    with pytest.warns(
        FileWarning, match=r"s.csv: 1 row with the label -1 is left out, because -1 means unknown; rename"
    ):
        assert read_seeds(save(tmp_path / "s.csv", "a,0\nb,-1\nc,12\n")) == {"a": "0", "c": "12"}
    with pytest.warns(FileWarning, match="2 rows with the label -1 are left out"):
        assert read_seeds(save(tmp_path / "s.csv", "a,0\nb,-1\nc,-1\n")) == {"a": "0"}
    assert read_seeds(save(tmp_path / "s.csv", "a,x\nb,-1\n")) == {"a": "x", "b": "-1"}


def test_the_same_label_twice_is_fine(tmp_path: Path) -> None:
    assert read_seeds(save(tmp_path / "s.csv", "a,x\nb,y\na,x\n")) == {"a": "x", "b": "y"}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,x\nb,y\n\na,z\n", "the node 'a' has two labels, 'x' (line 1) and 'z' (line 4)"),
        ("node,label\nb,y\na,x\na,z\n", "the node 'a' has two labels, 'x' (line 3) and 'z' (line 4)"),
        ("node,label\na,\nb,\n", "has no seeds: every label is empty"),
        ("node,label\n", "has no seeds: there are no rows"),
        ("a,x\n,y\n", "line 2: the node is empty"),
        ("a\nb\n", "line 1: with the delimiter comma there is one column"),
        ("a,x\nb\n", "line 2: the row has 1 column, not 2"),
    ],
)
def test_bad_seeds(tmp_path: Path, content: str, sentence: str) -> None:
    with pytest.raises(FileError) as caught:
        read_seeds(save(tmp_path / "s.csv", content))
    assert sentence in str(caught.value)
    assert "s.csv" in str(caught.value)


def test_two_labels_in_parquet(tmp_path: Path) -> None:
    path = save(tmp_path / "s.parquet", pl.DataFrame({"node": [1, 2, 1], "label": ["x", "y", "z"]}))
    with pytest.raises(FileError, match=r"the node 1 has two labels, 'x' \(row 1\) and 'z' \(row 3\)"):
        read_seeds(path)


def test_seeds_are_tables(tmp_path: Path) -> None:
    path = save(tmp_path / "s.mtx", "x")
    with pytest.raises(FileError, match="seeds are read from tables"):
        read_seeds(path)


INTEGERS = Graph.from_edges([1, 2], [2, 7])
TEXTS = Graph.from_edges(["1", "02"], ["02", "7"])
BOTH = Graph.from_edges([1, "1"], ["x", 2])


@pytest.mark.parametrize(
    ("graph", "seeds", "matched"),
    [
        (INTEGERS, {"1": "a", "7": "b"}, {1: "a", 7: "b"}),
        (INTEGERS, {1: "a", 7: "b"}, {1: "a", 7: "b"}),
        (INTEGERS, {1: "a", "7": "b"}, {1: "a", 7: "b"}),
        (TEXTS, {1: "a", 7: "b"}, {"1": "a", "7": "b"}),
        (BOTH, {"1": "a", 1: "b", "2": "c"}, {"1": "a", 1: "b", 2: "c"}),
    ],
)
def test_ids_are_matched_by_their_text(graph: Graph, seeds: dict[Any, str], matched: dict[Any, str]) -> None:
    assert match_seeds(seeds, graph) == matched
    graph.index(matched)


def test_what_is_not_in_the_graph() -> None:
    seeds = {"1": "a", "007": "b", " 7": "c", "x": "d"}
    with pytest.raises(ValueError, match="3 seeds are not in the graph: '007', ' 7', 'x'"):
        match_seeds(seeds, INTEGERS)
    sentence = r"1 seed is not in the graph \(3 nodes, such as '1', '02', '7'\): 2; correct it, or leave it out"
    with pytest.raises(ValueError, match=sentence):
        match_seeds({2: "a"}, TEXTS)
    assert match_seeds(seeds, INTEGERS, missing="drop") == {1: "a"}
    assert match_seeds(seeds, INTEGERS, missing="keep") == {1: "a", "007": "b", " 7": "c", "x": "d"}


def test_matching_can_contradict() -> None:
    with pytest.raises(ValueError, match="the node 1 has two labels: 'a' and 'b'"):
        match_seeds({1: "a", "1": "b"}, INTEGERS)


def test_seeds_like_a_graph(tmp_path: Path) -> None:
    path = save(tmp_path / "s.csv", "node,label\n1,a\n7,b\n")
    assert read_seeds(path, like=INTEGERS) == {1: "a", 7: "b"}
    assert read_seeds(path, like=TEXTS) == {"1": "a", "7": "b"}


def test_several_labels_for_a_node(tmp_path: Path) -> None:
    path = save(tmp_path / "s.csv", "node,label\nann,x\nbob,y\nann,y\nann,x\neve,\n")
    assert read_seeds(path, several=True) == {"ann": {"x", "y"}, "bob": {"y"}}
    with pytest.raises(FileError, match=r"the node 'ann' has two labels, 'x' \(line 2\) and 'y' \(line 4\)"):
        read_seeds(path)


def test_integers_with_minus_one_for_unknown_among_several(tmp_path: Path) -> None:
    path = save(tmp_path / "s.csv", "node,label\nann,1\nbob,-1\nann,2\n")
    with pytest.warns(FileWarning, match="label -1 is left out"):
        assert read_seeds(path, several=True) == {"ann": {"1", "2"}}


def test_probabilities(tmp_path: Path) -> None:
    path = save(tmp_path / "s.csv", "node,label,p\nann,x,0.75\nann,y,0.25\nbob,x,1\n")
    assert read_seeds(path, probability="p") == {"ann": {"x": 0.75, "y": 0.25}, "bob": {"x": 1.0}}
    read = read_seeds_file(path, LabelOptions(probability="3"))
    assert str(read.layout.roles["probability"]) == "col 3 (p)"


def test_weights_of_trust(tmp_path: Path) -> None:
    path = save(tmp_path / "s.csv", "trust,node,label\n0.5,ann,x\n,bob,y\ninf,eve,y\n")
    read = read_seeds_file(path, LabelOptions(seed_weight="trust"))
    assert read.seeds == {"ann": "x", "bob": "y", "eve": "y"}
    assert read.weights == {"ann": 0.5, "eve": float("inf")}
    assert read_seeds_file(path, LabelOptions("node", "label")).weights is None


@pytest.mark.parametrize(
    ("content", "picks", "message"),
    [
        ("ann,x,-2", {"seed_weight": "w"}, "line 2: the weight is '-2', not a number from 0 on; correct it"),
        ("ann,x,much", {"seed_weight": "w"}, "line 2: the weight is 'much', not a number from 0 on"),
        ("ann,x,nan", {"probability": "w"}, "line 2: the probability is 'nan', not a number from 0 on"),
        ("ann,x,", {"probability": "w"}, "line 2: the probability is empty; give a number from 0 to 1"),
        ("ann,x,1\nann,x,2", {"seed_weight": "w"}, r"has two weights, 1.0 \(line 2\) and 2.0 \(line 3\); keep one"),
        ("ann,x,.5\nann,x,.5", {"probability": "w"}, "line 3: 'x' is there twice for the node 'ann'"),
        ("ann,x,1", {"seed_weight": "label", "label": "label"}, "node, label and seed_weight must be different"),
        ("ann,x,1", {"probability": "p"}, "has no column named 'p' for probability"),
    ],
)
def test_numbers_that_make_no_sense(tmp_path: Path, content: str, picks: dict[str, Any], message: str) -> None:
    path = save(tmp_path / "s.csv", f"node,label,w\n{content}\n")
    with pytest.raises(FileError, match=message):
        read_seeds_file(path, LabelOptions(**picks))
