"""Formats of other programs, compared with what networkx, igraph, SciPy or a plain CSV give for the same graph."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import polars as pl
import pytest
from scipy.io import savemat
from scipy.sparse import csc_array, csr_array, save_npz

from isotherm.graphs import Graph
from isotherm.io import FileError, read_graph, read_graph_file, read_seeds, write_table
from isotherm.io.file_layout import LabelOptions
from isotherm.io.seeds import read_seeds_file

CSV = "source,target,weight\nann,bob,1\nbob,cat,2.5\ncat,dan,1\n"


def weights(graph: Graph) -> dict[Any, float]:
    """The weight of each edge, by its ends."""
    rows, columns = graph.adjacency.nonzero()
    values = graph.adjacency.tocsr()[rows, columns]
    names = list(map(str, graph.nodes.tolist()))
    pairs = [(names[row], names[column]) for row, column in zip(rows, columns, strict=True)]
    keys: list[Any] = pairs if graph.directed else list(map(frozenset, pairs))
    return dict(zip(keys, np.asarray(values).ravel().tolist(), strict=True))


@pytest.fixture
def plain(tmp_path: Path) -> Graph:
    (tmp_path / "plain.csv").write_text(CSV)
    return read_graph(tmp_path / "plain.csv")


def zipped(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/._edges.csv", b"x")
        archive.writestr("folder/edges.csv", content)
    return out.getvalue()


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zip": zipped,
    ".gz": gzip.compress,
}


@pytest.mark.parametrize("suffix", COMPRESS)
def test_compressed_text(tmp_path: Path, plain: Graph, suffix: str) -> None:
    content = COMPRESS[suffix](CSV.encode())
    (tmp_path / f"edges.csv{suffix}").write_bytes(content)
    assert weights(read_graph(tmp_path / f"edges.csv{suffix}")) == weights(plain)
    (tmp_path / f"cut.csv{suffix}").write_bytes(content[: len(content) // 2])
    with pytest.raises(FileError, match=r"is truncated|is damaged|not a zip file"):
        read_graph(tmp_path / f"cut.csv{suffix}")
    (tmp_path / f"wrong.csv{suffix}").write_text(CSV)
    with pytest.raises(FileError, match=r"is not (gzip|bzip2|xz|a zip file)"):
        read_graph(tmp_path / f"wrong.csv{suffix}")


@pytest.mark.parametrize("suffix", [".bz2", ".xz"])
def test_compression_is_seen_without_its_suffix(tmp_path: Path, plain: Graph, suffix: str) -> None:
    (tmp_path / "edges.csv").write_bytes(COMPRESS[suffix](CSV.encode()))
    assert weights(read_graph(tmp_path / "edges.csv")) == weights(plain)
    twice = COMPRESS[suffix](CSV.encode()) + COMPRESS[suffix](b"dan,eve,1\n")
    (tmp_path / "twice.csv").write_bytes(twice)
    assert read_graph(tmp_path / "twice.csv").n_edges == 4


@pytest.mark.parametrize("suffix", [".bz2", ".xz", ".zip"])
def test_a_small_file_that_expands_to_a_large_one_is_read_in_pieces(tmp_path: Path, suffix: str) -> None:
    from isotherm.io.streams import Input

    (tmp_path / f"zeros.csv{suffix}").write_bytes(COMPRESS[suffix](b"0" * (1 << 25)))
    sizes = [len(piece) for piece in Input(str(tmp_path / f"zeros.csv{suffix}"), suffix).pieces()]
    assert sum(sizes) == 1 << 25
    assert max(sizes) <= 1 << 23


def test_zip_files(tmp_path: Path, plain: Graph) -> None:
    (tmp_path / "edges.zip").write_bytes(zipped(CSV.encode()))
    assert weights(read_graph(tmp_path / "edges.zip")) == weights(plain)
    with zipfile.ZipFile(tmp_path / "two.csv.zip", "w") as archive:
        archive.writestr("a.csv", CSV)
        archive.writestr("b.csv", CSV)
    with pytest.raises(FileError, match=r"holds 2 files \(a.csv, b.csv\), and must hold one; unpack it"):
        read_graph(tmp_path / "two.csv.zip")


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-16-le"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    text = "source,target\nJosé,Zoë\nZoë,Renée\n"
    (tmp_path / "edges.csv").write_bytes(text.encode(encoding))
    assert read_graph(tmp_path / "edges.csv", encoding=encoding).nodes.tolist() == ["José", "Zoë", "Renée"]
    with pytest.raises(FileError, match=r"say how the file is written, as in encoding='cp1252'|set encoding|NUL"):
        read_graph(tmp_path / "edges.csv")
    (tmp_path / "seeds.csv").write_bytes("node,label\nZoë,où\n".encode(encoding))
    assert read_seeds(tmp_path / "seeds.csv", encoding=encoding) == {"Zoë": "où"}
    with pytest.raises(FileError, match=r"encoding='cp9' is not known"):
        read_graph(tmp_path / "edges.csv", encoding="cp9")
    with pytest.raises(FileError, match=r"is not written in ascii: ordinal not in range|is not written in ascii"):
        read_graph(tmp_path / "edges.csv", encoding="ascii")


def test_thousands_and_negative_amounts(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text('from,to,amount\na,b,"1,033.17"\nb,c,2\nc,d,"12,345"\n')
    with pytest.raises(FileError, match=r"the weight is '1,033.17'.*, or thousands=True"):
        read_graph(path, weight="amount")
    found = weights(read_graph(path, weight="amount", thousands=True))
    assert sorted(found.values()) == [2, 1033.17, 12345]
    path.write_text("from,to,amount\na,b,-3.5\nb,c,2\n")
    with pytest.raises(FileError, match=r"the weight is -3.5.*, or take sizes with weight='abs\(amount\)'"):
        read_graph(path, weight="amount")
    assert sorted(weights(read_graph(path, weight="abs(amount)")).values()) == [2, 3.5]
    path.write_text('from,to,amount\na,b,"-1,000"\nb,c,2\n')
    assert sorted(weights(read_graph(path, weight="abs(amount)", thousands=True)).values()) == [2, 1000]
    path.write_text('from,to,amount\na,b,"1,03"\nb,c,2\n')
    with pytest.raises(FileError, match=r"the weight is '1,03'"):
        read_graph(path, weight="amount", thousands=True)
    with pytest.raises(FileError, match=r"no column named 'price'"):
        read_graph(path, weight="abs(price)")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_partitioned_edges(tmp_path: Path, plain: Graph, suffix: str) -> None:
    folder = tmp_path / "edges"
    folder.mkdir()
    table = pl.read_csv(CSV.encode())
    for part in range(3):
        rows = table.slice(part, 1)
        path = folder / f"part-{part}.{suffix}"
        rows.write_parquet(path) if suffix == "parquet" else rows.write_csv(path)
    (folder / "_SUCCESS").write_text("")
    parts = sorted(map(str, folder.glob(f"*.{suffix}")))
    for paths in (folder, str(folder / f"*.{suffix}"), parts):
        found = read_graph_file(paths)
        assert weights(found.graph) == weights(plain)
        assert found.graph.nodes.tolist() == plain.nodes.tolist()
    directed = read_graph(parts, directed=True)
    assert directed.directed
    assert directed.n_edges == 3


def test_parts_that_do_not_fit_together(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("source,target,weight\na,b,1\nb,c,2\n")
    (tmp_path / "b.csv").write_text("source,target\nc,d\nd,e\n")
    pl.DataFrame({"source": ["x"], "target": ["y"], "weight": [1.0]}).write_parquet(tmp_path / "c.parquet")
    with pytest.raises(
        FileError, match=r"a\.csv has weights and .*b\.csv has none; leave one of them out, set weight="
    ):
        read_graph([tmp_path / "a.csv", tmp_path / "b.csv"])
    with pytest.raises(FileError, match=r"a\.csv has weights and .*b\.csv has none"):
        read_graph([tmp_path / "b.csv", tmp_path / "a.csv"])
    assert read_graph([tmp_path / "a.csv", tmp_path / "b.csv"], weight=False).n_edges == 4
    with pytest.raises(FileError, match=r"text and columnar files cannot be read together"):
        read_graph([tmp_path / "a.csv", tmp_path / "c.parquet"])
    with pytest.raises(FileError, match=r"no file matches .*; correct the pattern"):
        read_graph(str(tmp_path / "none-*.csv"))
    with pytest.raises(FileError, match=r"there are no files of edges"):
        read_graph([])
    (tmp_path / "bad.csv").write_text("source,target,weight\na,b,1\nb,c,x\n")
    with pytest.raises(FileError, match=r"bad.csv, line 3: the weight is 'x'"):
        read_graph([tmp_path / "a.csv", tmp_path / "bad.csv"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match=r"holds no tables of edges"):
        read_graph(tmp_path / "empty")


def test_gml_of_networkx_and_igraph(tmp_path: Path) -> None:
    G = nx.les_miserables_graph()
    nx.set_node_attributes(G, {"Valjean": "hero", "Javert": "police"}, "role")
    path = tmp_path / "graph.gml"
    nx.write_gml(G, path)
    expected = {frozenset(edge[:2]): edge[2] for edge in G.edges(data="weight")}
    graph = read_graph(path)
    assert graph.nodes.tolist() == list(G)
    assert weights(graph) == expected
    assert read_seeds(path, label="role") == {"Valjean": "hero", "Javert": "police"}
    assert read_seeds(path) == {"Valjean": "hero", "Javert": "police"}
    theirs = igraph.Graph.Read_GML(str(path))
    assert [str(int(number)) for number in theirs.vs["id"]] == read_graph(path, id="id").nodes.tolist()
    directed = nx.DiGraph([('a "b"', "c"), ("c", "d")])
    nx.write_gml(directed, path)
    assert weights(read_graph(path)) == dict.fromkeys([('a "b"', "c"), ("c", "d")], 1)
    path.write_text(
        'Creator "x"\ngraph [ node [ id 1 ] node [ id 2 ]\n# a comment\nedge [ source 1 target 2 value 3 ] ]\n'
    )
    assert weights(read_graph(path)) == {frozenset("12"): 3}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nodes and edges", "has no graph"),
        ("graph [ node [ id 1 ]", "line 1: the list of graph has no end"),
        ("graph [\nnode [ id 1 ]\nedge [ source 1 target 2 ]\n]", "line 3: the edge names '2', which is no node"),
        ("graph [ node [ id 1 ] node [ id 1 ] ]", "the id 1 of another one"),
        ('graph [ node [ id 1 label "x ] ]', "a quotation mark is missing"),
        ("graph [ node [ id 1 ] edge [ source 1 target 1 weight -2 ] ]", "a weight is '-2'"),
        ("graph [ ] ]", "a ] too many"),
    ],
)
def test_damaged_gml(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "graph.gml").write_text(text)
    with pytest.raises(FileError) as refused:
        read_graph(tmp_path / "graph.gml")
    assert words in str(refused.value)


@pytest.mark.parametrize("directed", [False, True])
def test_pajek_of_networkx(tmp_path: Path, directed: bool) -> None:
    G = nx.DiGraph() if directed else nx.Graph()
    G.add_weighted_edges_from([("ann lee", "bob", 1.5), ("bob", "cat", 2.0), ("cat", "ann lee", 1.0)])
    path = tmp_path / "graph.net"
    nx.write_pajek(G, path)
    graph = read_graph(path)
    key: Any = tuple if directed else frozenset
    assert weights(graph) == {key(edge[:2]): edge[2] for edge in G.edges(data="weight")}
    assert graph.directed is directed


def test_other_sections_of_pajek(tmp_path: Path) -> None:
    path = tmp_path / "graph.net"
    path.write_text("*Vertices 4\n1 a\n2 a\n*Arcslist\n1 2 3\n*Edges\n3 4 2\n")
    assert weights(read_graph(path)) == {("1", "2"): 1, ("1", "3"): 1, ("3", "4"): 2, ("4", "3"): 2}
    assert read_graph_file(path).layout.first_id == 1
    for text, words in (
        ("1 2\n", "has no *Vertices"),
        ("*Vertices 2\n*Edges\n1 3\n", "line 3: '3' is no vertex; they are numbered from 1 to 2"),
        ("*Vertices 2\n*Edges\n1 2 -1\n", "the weight is '-1'"),
        ("*Vertices 2\n*Matrix\n0 1\n1 0\n", "a *Matrix is not read"),
        ("*Vertices x\n", "*Vertices must be followed by their number"),
    ):
        path.write_text(text)
        with pytest.raises(FileError) as refused:
            read_graph(path)
        assert words in str(refused.value)


def test_matlab_files(tmp_path: Path) -> None:
    dense = np.array([[0, 1, 0], [1, 0, 2.5], [0, 2.5, 0]])
    path = tmp_path / "graph.mat"
    savemat(path, {"network": csc_array(dense), "group": np.array([[1, 0, 2]])})
    graph = read_graph_file(path)
    np.testing.assert_array_equal(graph.graph.adjacency.toarray(), dense)
    assert graph.layout.first_id == 1
    assert read_seeds_file(path).seeds == {1: 1, 3: 2}
    savemat(path, {"A": dense, "B": dense, "y": np.eye(3)[[0, 1, 1]], "local_info": np.ones((3, 2))})
    assert read_graph(path).n_edges == 2
    assert read_seeds(path, label="y") == {1: 1, 2: 2, 3: 2}
    savemat(path, {"Problem": {"A": csc_array(dense), "name": "x"}})
    assert read_graph(path).n_edges == 2
    savemat(path, {"B": dense, "C": dense})
    with pytest.raises(FileError, match=r"has several square matrices: 'B', 'C'; name that of the edges A"):
        read_graph(path)
    with pytest.raises(FileError, match=r"has no variable of labels named .*choose one with label"):
        read_seeds(path)
    savemat(path, {"A": dense, "y": np.ones((3, 2))})
    with pytest.raises(FileError, match=r"some nodes have several labels"):
        read_seeds(path)
    path.write_bytes(b"\x89HDF\r\n")
    with pytest.raises(FileError, match=r"is of MATLAB 7.3; save it with"):
        read_graph(path)
    path.write_bytes(b"MATLAB 5.0 MAT-file" + b"\0" * 200)
    with pytest.raises(FileError):
        read_graph(path)


def test_a_folder_of_netset(tmp_path: Path) -> None:
    folder = tmp_path / "cinema"
    folder.mkdir()
    matrix = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    save_npz(folder / "adjacency.npz", csr_array(matrix))
    np.save(folder / "labels.npy", np.array([0, -1, 1]))
    read = read_graph_file(folder)
    np.testing.assert_array_equal(read.graph.adjacency.toarray(), matrix)
    assert (read.layout.format, read.layout.first_id) == ("netset", 0)
    assert read_seeds(folder) == {0: 0, 2: 1}
    np.save(folder / "names.npy", np.array(["ann", "bob", "cat"]))
    np.save(folder / "names_labels.npy", np.array(["tea", "coffee"]))
    assert read_graph(folder).nodes.tolist() == ["ann", "bob", "cat"]
    assert read_seeds(folder) == {"ann": "tea", "cat": "coffee"}
    with pytest.raises(FileError, match=r"has no y.npy, so no labels"):
        read_seeds(folder, label="y")
    np.save(folder / "labels.npy", np.array([0, 1]))
    with pytest.raises(FileError, match=r"labels.npy has the shape \(2,\), but there are 3 nodes"):
        read_seeds(folder)


def test_files_of_communities(tmp_path: Path) -> None:
    path = tmp_path / "com.top5000.cmty.txt"
    path.write_text("1\t2\t3\n3\t4\n")
    assert read_seeds(path, several=True) == {"1": {"1"}, "2": {"1"}, "3": {"1", "2"}, "4": {"2"}}
    with pytest.raises(FileError, match=r"the node '3' is in several communities; read them with several=True"):
        read_seeds(path)
    path.write_text("1\t2\n3\t4\n")
    assert read_seeds(path) == {"1": "1", "2": "1", "3": "2", "4": "2"}


def test_excel_in_and_out(tmp_path: Path, plain: Graph) -> None:
    pytest.importorskip("fastexcel")
    pytest.importorskip("xlsxwriter")
    pl.read_csv(CSV.encode()).write_excel(tmp_path / "edges.xlsx")
    assert weights(read_graph(tmp_path / "edges.xlsx")) == weights(plain)
    columns: dict[str, Any] = {
        "node": ["ann", "=1+1", "cat"],
        "label": ["tea", None, "=cmd()"],
        "confidence": [1.0, 0.5, 0.25],
    }
    assert write_table(tmp_path / "labels.xlsx", columns) == 3
    assert pl.read_excel(tmp_path / "labels.xlsx").to_dict(as_series=False) == columns
    assert read_seeds(tmp_path / "labels.xlsx") == {"ann": "tea", "cat": "=cmd()"}
    numbers = pl.DataFrame({"id": [7, 8], "class": [1, 0]})
    numbers.write_excel(tmp_path / "seeds.xlsx")
    assert read_seeds(tmp_path / "seeds.xlsx") == {7: 1, 8: 0}
    (tmp_path / "bad.xlsx").write_text("x")
    with pytest.raises(FileError, match=r"bad.xlsx"):
        read_graph(tmp_path / "bad.xlsx")


def test_ids_by_attribute_of_igraph(tmp_path: Path) -> None:
    graph = igraph.Graph.TupleList([("ann", "bob"), ("bob", "cat")])
    graph.vs["club"] = ["x", None, "y"]
    for suffix in ("graphml", "gml"):
        path = tmp_path / f"graph.{suffix}"
        getattr(graph, f"write_{suffix}")(str(path))
        assert read_graph(path, id="name").nodes.tolist() == ["ann", "bob", "cat"]
        found = read_seeds_file(path, LabelOptions(id="name", label="club")).seeds
        assert {node: label for node, label in found.items() if label in ("x", "y")} == {"ann": "x", "cat": "y"}
    with pytest.raises(FileError, match=r"and none is 'nick'; choose one, as in id='"):
        read_graph(tmp_path / "graph.graphml", id="nick")
    (tmp_path / "edges.csv").write_text(CSV)
    with pytest.raises(FileError, match=r"id is for files whose nodes have attributes \(graphml, .*\), not for csv"):
        read_graph(tmp_path / "edges.csv", id="name")


def test_labels_in_an_npz_file(tmp_path: Path) -> None:
    path = tmp_path / "graph.npz"
    arrays: dict[str, Any] = {"row": np.array([0, 1]), "col": np.array([1, 2]), "n": np.array(3)}
    np.savez(path, **arrays, labels=np.array([1, -1, 0]), label_names=np.array(["tea", "coffee"]))
    assert read_seeds(path) == {0: "coffee", 2: "tea"}
    np.savez(path, **arrays, y=np.array(["a", "", "b"]), node_names=np.array(["ann", "bob", "cat"]))
    assert read_seeds(path) == {"ann": "a", "cat": "b"}
    assert read_graph(path).nodes.tolist() == ["ann", "bob", "cat"]
    with pytest.raises(FileError, match=r"has no array of labels named group, only .*; choose one with label"):
        read_seeds(path, label="group")
    np.savez(path, **arrays, labels=np.array([1, -1]))
    with pytest.raises(FileError, match=r"there are 2 labels, but 3 nodes"):
        read_seeds(path)
    np.savez(path, **arrays, labels=np.array([5, 0, 1]), label_names=np.array(["tea", "coffee"]))
    with pytest.raises(FileError, match=r"labels must be positions among the 2 label_names"):
        read_seeds(path)
