"""Input that is read but cannot be used: one sentence names the culprit and the remedy."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.io import savemat
from scipy.sparse import coo_array, csr_array, save_npz

import isotherm as iso
from isotherm.io import FileError, read_graph, read_seeds
from isotherm.io.packing import pack_edges
from isotherm.io.seeds import match_seeds
from isotherm.io.text import _whole_rows
from isotherm.io.vectors import TableOptions, read_feature_file, read_vectors

GML = 'graph [ node [ id 1 name "a" ] node [ id 2 %s ] edge [ source 1 target 2 ] ]'
PAJEK = '*Vertices 2\n% a comment\n1 "a"\n2 "b"\n*Edges\n'
TEXTS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "a link of one vertex": ("g.net", PAJEK + "1\n", {}, "line 6: a link needs two vertices"),
    "a name for the weight of links": ("g.net", PAJEK + "1 2\n", {"weight": "w"}, "have one weight only; leave out"),
    "a node without the attribute": ("g.gml", GML % "", {"id": "name"}, "the node '?2'? has no '?name'?; add it"),
    "two nodes with the attribute": ("g.gml", GML % 'name "a"', {"id": "name"}, "have the same '?name'?, '?a'?"),
    "no such attribute of edges": ("g.gml", GML % 'name "b"', {"weight": "w"}, "edges have no attribute '?w'?"),
    "a number with a fraction for a column": ("g.csv", "a,b\n", {"source": 1.5}, "not float"),
    "a number with a sign for a column": ("g.csv", "a,b\n", {"source": "-1"}, "has no column named '?-1'?"),
    "a column beyond the last": ("g.csv", "a,b\n", {"target": 3}, "has no column 3 for target: it has 2 columns"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_of_text(tmp_path: Path, name: str) -> None:
    file, text, options, message = TEXTS[name]
    (tmp_path / file).write_text(text)
    with pytest.raises((FileError, TypeError), match=message) as refused:
        read_graph(tmp_path / file, **options)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"directed": True}, "as an undirected graph; leave out directed=True"), ({"weight": "w"}, "has no columns")],
)
def test_options_that_a_packed_graph_cannot_honour(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    iso.Graph.from_edges(["a"], ["b"]).pack(tmp_path / "graph.iso")
    assert read_graph(tmp_path / "graph.iso", directed=False).n_nodes == 2
    with pytest.raises(FileError, match=message):
        read_graph(tmp_path / "graph.iso", **options)


def test_matrices_whose_entries_are_no_weights(tmp_path: Path) -> None:
    savemat(tmp_path / "complex.mat", {"network": coo_array(np.array([[0, 1j], [1j, 0]]))})
    with pytest.raises(FileError, match="the entries are complex128; weights are real numbers"):
        read_graph(tmp_path / "complex.mat")
    save_npz(tmp_path / "plain.npz", csr_array(np.eye(2)[::-1]))
    with pytest.raises(FileError, match="a matrix has no column 'w'"):
        read_graph(tmp_path / "plain.npz", weight="w")
    twos = csr_array(2 * np.eye(2)[::-1])
    save_npz(tmp_path / "twos.npz", twos)
    assert read_graph(tmp_path / "twos.npz", weight=False).csr.weights is None


@pytest.mark.parametrize(
    ("labels", "message"),
    [([0.5, 1, 2], "labels are whole numbers"), ([0, 0, 0], "every label is 0, which means unknown")],
)
def test_labels_in_a_matlab_file(tmp_path: Path, labels: list[float], message: str) -> None:
    path = tmp_path / "g.mat"
    savemat(path, {"network": coo_array(np.ones((3, 3)) - np.eye(3)), "group": np.array(labels)})
    with pytest.raises(FileError, match=message):
        read_seeds(path)


def test_a_sheet_without_rows(tmp_path: Path) -> None:
    pl.DataFrame({"source": [], "target": []}).write_excel(tmp_path / "empty.xlsx")
    with pytest.raises(FileError, match="has no rows in its first sheet"):
        read_graph(tmp_path / "empty.xlsx")


def test_a_table_beside_a_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("source,target\na,b\n")
    (tmp_path / "b.gml").write_text(GML % "")
    with pytest.raises(FileError, match=r"b\.gml: only tables can be read together"):
        read_graph([tmp_path / "a.csv", tmp_path / "b.gml"])


def test_what_to_do_about_missing_nodes() -> None:
    with pytest.raises(ValueError, match="it must be 'raise', 'drop' or 'keep'"):
        match_seeds({"a": 1}, iso.Graph.from_edges(["a"], ["b"]), missing="ignore")


def test_edges_that_cannot_be_packed(tmp_path: Path) -> None:
    (tmp_path / "large.csv").write_text("source,target,weight\na,b,1e308\na,b,1e308\n")
    with pytest.raises(FileError, match="parallel edges is not finite; divide all weights"):
        pack_edges(tmp_path / "large.csv", tmp_path / "large.iso")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large.csv"]


def test_features_of_some_nodes(tmp_path: Path) -> None:
    graph = iso.Graph.from_edges(["a", "b"], ["b", "c"])
    path = tmp_path / "features.csv"
    path.write_text("id,x,y\nc,1.5,2\nelsewhere,7,7\na,3,0\n")
    with pytest.warns() as told:
        found = read_feature_file(path, graph, TableOptions(id="id")).at(graph).rows
    assert any("1 of 3 nodes have no features; theirs are 0" in str(each.message) for each in told)
    assert found.tolist() == [[3, 0], [0, 0], [1.5, 2]]
    path.write_text("id,x,y\nq,1,2\nr,3,4\n")
    with pytest.raises(FileError, match="none of the 2 rows is a node of the graph"):
        read_feature_file(path, graph, TableOptions(id="id")).at(graph)
    path.write_text("id,x,y\na,1,2\nb,1,2\na,3,4\n")
    with pytest.raises(FileError, match=r"the node '?a'? has 2 rows; keep one"):
        read_feature_file(path, graph, TableOptions(id="id")).at(graph)


def test_sparse_features_are_in_the_order_of_the_nodes(tmp_path: Path) -> None:
    graph = iso.Graph.from_edges([2, 0], [1, 2])
    rows = np.array([[0, 1.0], [2, 0], [0, 0], [9, 9]])
    save_npz(tmp_path / "rows.npz", csr_array(rows))
    with pytest.warns(UserWarning, match="1 of 4 rows"):
        found = read_feature_file(tmp_path / "rows.npz").at(graph).rows
    np.testing.assert_array_equal(found.toarray(), rows[graph.nodes])


def test_a_column_of_texts_without_words(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,text\n1,?\n2,!\n")
    with pytest.raises(FileError, match=r"the column '?text'? has no words"):
        read_vectors(tmp_path / "t.csv", TableOptions(text="text"))


ROWS: list[Callable[[int], list[str]]] = [
    lambda n: [f"a{n}", f"b{n}"],
    lambda n: [f'stray " {n}', "b"],
    lambda n: [f"in\nside, {n}", 'say ""'],
]


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_cut_at_line_breaks_outside_quoted_fields(seed: int) -> None:
    """Fields with stray quotes, doubled quotes and line breaks; Python's reader says where the rows end."""
    rng = np.random.default_rng(seed)
    rows = [ROWS[rng.integers(3)](n) for n in range(8)]
    lines = [",".join(_field(text) for text in row) + "\n" for row in rows]
    text = "".join(lines).encode()
    cut = int(rng.integers(len(text))) + 1
    whole, rest = _whole_rows([text[: cut // 2], text[cut // 2 : cut]], ",")
    assert whole + rest == text[:cut]
    ends = np.cumsum([0, *(len(line.encode()) for line in lines)])
    assert len(whole) == ends[ends <= cut].max()
    assert list(csv.reader(io.StringIO(whole.decode()))) == rows[: int(np.searchsorted(ends, len(whole)))]


def _field(text: str) -> str:
    """Quoted where a line break or a doubled quote is inside; a stray quote stays as it is."""
    return '"' + text.replace('"', '""') + '"' if "\n" in text or text.endswith('"') else text


def test_json_lines_with_gaps(tmp_path: Path) -> None:
    """Integers among fractions are numbers; lines are counted from 1, empty ones too."""
    path = tmp_path / "s.jsonl"
    rows = ['{"node": "a", "label": 1}', "", '{"node": "b", "label": 2.5}', '{"node": "c", "label": null}']
    path.write_text("\n" + "\n".join(rows) + "\n")
    assert read_seeds(path) == {"a": 1.0, "b": 2.5}
    path.write_text("\n".join([*rows, '["no", "object"]']))
    with pytest.raises(FileError, match=r"line 5: .*object.* is not a JSON object; every line must be one"):
        read_seeds(path)
    path.write_text("\n".join([*rows, '{"node": 4, "label": 1}']))
    with pytest.raises(FileError, match="the values of 'node' are int and str; they must be of one kind"):
        read_seeds(path)


def test_json_lines_of_vectors(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    path.write_text('{"id": "a", "vector": [1, 2.5]}\n{"id": "b", "vector": [0, -3]}\n')
    assert read_vectors(path, TableOptions(id="id"))[0].tolist() == [[1, 2.5], [0, -3]]
    path.write_text('{"id": "a", "vector": [1, "x"]}\n')
    with pytest.raises(FileError, match="the lists of 'vector' have numbers"):
        read_vectors(path, TableOptions(id="id"))


def test_columns_whose_names_do_not_tell(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("red,green,blue,grey\na,b,c,d\n")
    with pytest.raises(FileError, match="has 4 columns, and their names do not say which nodes an edge joins"):
        read_graph(path, header=True)
    with pytest.raises(FileError, match="do not say which are nodes and which are labels"):
        read_seeds(path, header=True)
    path.write_text("red,red,blue,grey\na,b,c,d\n")
    with pytest.raises(FileError, match=r"has several columns named '?red'?, number 1 and 2; give the number of one"):
        read_graph(path, header=True)
