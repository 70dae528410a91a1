"""read_labelled: a graph and labels of its nodes, matched and repaired."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import coo_array, save_npz

import isotherm as iso
from isotherm.io import FileError, FileWarning, read_labelled
from isotherm.seeds import Seeds

EDGES = "from,to\nann,bob\nbob,cat\ncat,dan\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "seeds.csv").write_text("node,label\nann,tea\ndan,milk\n")
    return tmp_path


def write(path: Path, content: str) -> Path:
    path.write_text(content)
    return path


def test_both_files_go_into_a_fit(folder: Path) -> None:
    graph, seeds = iso.read_labelled(folder / "edges.csv", folder / "seeds.csv")
    assert seeds == {"ann": "tea", "dan": "milk"}
    clf = iso.DirichletClassifier(rule="vanilla", calibration=None).fit(graph, seeds)
    assert clf.labels_.tolist() == ["tea", "tea", "milk", "milk"]


def test_labels_take_the_ids_of_the_graph(tmp_path: Path) -> None:
    save_npz(tmp_path / "g.npz", coo_array(np.ones((3, 3))))
    seeds = write(tmp_path / "s.csv", "node,label\n0,a\n2,b\n")
    assert read_labelled(tmp_path / "g.npz", seeds)[1] == {0: "a", 2: "b"}


def test_a_header_that_only_the_graph_shows_is_left_out(folder: Path) -> None:
    odd = write(folder / "odd.csv", "acct,kind\nann,tea\ndan,milk\n")
    sentence = (
        r"odd\.csv: the first row \(acct, kind\) is read as a header, since 'acct' is not in the graph; "
        "confirm this with labels_header=True, or set labels_header=False"
    )
    with pytest.warns(FileWarning, match=sentence):
        assert read_labelled(folder / "edges.csv", odd)[1] == {"ann": "tea", "dan": "milk"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_labelled(folder / "edges.csv", odd, labels_header=True)[1] == {"ann": "tea", "dan": "milk"}


@pytest.mark.parametrize(("suffix", "first", "remedy"), [("mtx", 1, "add 1 to"), ("npz", 0, "subtract 1 from")])
def test_ids_that_are_off_by_one_are_refused(tmp_path: Path, suffix: str, first: int, remedy: str) -> None:
    path, matrix = tmp_path / f"g.{suffix}", coo_array(np.ones((4, 4)) - np.eye(4))
    mmwrite(path, matrix) if suffix == "mtx" else save_npz(path, matrix)
    seeds = write(tmp_path / "s.csv", f"node,label\n{1 - first},a\n{4 - first},b\n")
    with pytest.raises(FileError, match=f"the 4 nodes of .* are counted from {first} on; {remedy} the ids in "):
        read_labelled(path, seeds)
    seeds.write_text(f"node,label\n{first},a\n{3 + first},b\n")
    assert read_labelled(path, seeds)[1] == {first: "a", 3 + first: "b"}


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        (
            "node,label\nx,a\ny,b\n",
            {},
            r"s\.csv: none of the 2 seeds is in the graph: col 1 \(node\) has ids such as 'x'",
        ),
        ("node,label\nx,a\n", {}, "choose other columns with node, source and target$"),
        (
            "node,label\nann,a\nx,b\n",
            {},
            r"s\.csv: 1 seed is not in the graph: 'x'; .* leave it out with missing='drop'",
        ),
        ("x,a\nann,b\n", {"labels_header": False}, "or read the first row of the labels .* with labels_header=True"),
        ("node,label\nann,a\n", {"labels_delimiter": "::"}, "labels_delimiter='::' cannot be used"),
        ("node,label\nann,a\n", {"labels_format": "doc"}, "labels_format='doc' is not a format"),
        ("node,label\nann,a\nann,b\n", {}, "the node 'ann' has two labels, 'a' .line 2. and 'b' .line 3."),
        ("node,label\nann,a\n", {"missing": "keep"}, "missing='keep', but it must be 'raise' or 'drop'"),
        ("node,label\nann,a\n", {"delimiter": "::"}, "^delimiter='::' cannot be used"),
    ],
)
def test_errors_name_the_parameters_of_this_call(
    folder: Path, content: str, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        read_labelled(folder / "edges.csv", write(folder / "s.csv", content), **options)


@pytest.mark.parametrize(
    ("edges", "ids", "way"),
    [
        ("1,2\n2,3", ["001", "003", "x"], "leading zeros"),
        ("001,002\n002,003", ["1", "3"], "leading zeros"),
        ("1,2\n2,3", ["1.0", "3.0"], "a final .0"),
        ("ann,bob\nbob,cat", ["Ann", "CAT"], "case"),
    ],
)
def test_ids_that_are_written_in_another_way(tmp_path: Path, edges: str, ids: list[str], way: str) -> None:
    graph = write(tmp_path / "e.csv", f"source,target\n{edges}\n")
    seeds = write(tmp_path / "s.csv", "node,label\n" + "".join(f"{node},{place}\n" for place, node in enumerate(ids)))
    with pytest.raises(FileError, match=f"; most of them differ only by {way}: write ids alike in both files$"):
        read_labelled(graph, seeds)


def test_an_edge_that_was_read_as_a_header(folder: Path) -> None:
    edges = write(folder / "e.csv", "source,target\nann,bob\n")
    with pytest.raises(FileError, match="or read the first row of the edges as an edge, with header=False"):
        read_labelled(edges, write(folder / "s.csv", "node,label\nsource,a\nann,b\n"))


def test_labels_of_other_nodes_can_be_dropped(folder: Path) -> None:
    more = write(folder / "more.csv", "node,label\nann,tea\nzoe,milk\n")
    with pytest.warns(FileWarning, match=r"more\.csv: 1 of 2 labelled nodes are not in the graph and are left out$"):
        assert read_labelled(folder / "edges.csv", more, missing="drop")[1] == {"ann": "tea"}


def test_of_several_files_the_last_counts(folder: Path) -> None:
    first = write(folder / "a.csv", "account,verdict\nann,1\nbob,2\n")
    later = write(folder / "b.tsv", "note\tverdict\taccount\nx\t2\tann\ny\t3\tcat\n")
    _, seeds = read_labelled(folder / "edges.csv", [first, later], labels_header=True)
    assert seeds == {"ann": "2", "bob": "2", "cat": "3"}


def test_labels_have_the_type_of_the_first_file(folder: Path) -> None:
    first = write(folder / "a.jsonl", '{"node": "ann", "label": 1}\n{"node": "bob", "label": 2}\n')
    later = write(folder / "b.csv", "node,label\nann,2\n")
    assert read_labelled(folder / "edges.csv", [first, later])[1] == {"ann": 2, "bob": 2}


def test_weights_come_as_seeds(folder: Path) -> None:
    path = write(folder / "s.csv", "node,label,trust\nann,tea,0.5\ndan,milk,\n")
    graph, seeds = read_labelled(folder / "edges.csv", path, seed_weight="trust")
    assert isinstance(seeds, Seeds)
    assert seeds.weights is not None
    assert dict(zip(graph.nodes[seeds.nodes].tolist(), seeds.weights.tolist(), strict=True)) == {
        "ann": 0.5,
        "dan": np.inf,
    }


def test_labels_in_the_file_of_the_graph(tmp_path: Path) -> None:
    labels = np.array([0, -1, 1])
    np.savez(tmp_path / "g.npz", row=np.array([0, 1]), col=np.array([1, 2]), n=np.array(3), labels=labels)
    graph, seeds = read_labelled(tmp_path / "g.npz")
    assert (graph.n_nodes, seeds) == (3, {0: 0, 2: 1})
    edges = write(tmp_path / "e.csv", EDGES)
    with pytest.raises(FileError, match=r"e\.csv holds no labels besides the graph, as npz, .* give a file of seeds"):
        read_labelled(edges)


def test_only_one_file_can_be_standard_input() -> None:
    with pytest.raises(FileError, match="both files cannot be standard input"):
        read_labelled("-", "-")
