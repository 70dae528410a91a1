"""Matrices, XML and METIS, against the writers and readers of other libraries."""

import gzip
import io
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.io import mmwrite

from isotherm.graphs import Graph
from isotherm.io import FileError, read_graph, read_graph_file

RNG = np.random.default_rng(0)
SQUARE = np.triu(RNG.integers(0, 4, size=(6, 6)), 1)
SYMMETRIC = SQUARE + SQUARE.T
WIDE = RNG.integers(0, 3, size=(3, 5))


def dense(graph: Graph) -> NDArray[np.float64]:
    matrix: NDArray[np.float64] = graph.adjacency.toarray()
    return matrix


def weighted_graph(directed: bool) -> Any:
    G = nx.DiGraph() if directed else nx.Graph()
    G.add_nodes_from(["alone", "007", "é & <b>", "x"])
    G.add_edge("007", "x", weight=2.5)
    G.add_edge("x", "é & <b>", weight=1.0)
    G.add_edge("é & <b>", "007")
    return G


def same_as(graph: Graph, G: Any) -> None:
    assert graph.nodes.tolist() == list(map(str, G.nodes))
    assert graph.directed == G.is_directed()
    np.testing.assert_array_equal(dense(graph), nx.to_numpy_array(G))


@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_matrix_market(tmp_path: Path, field: str, symmetry: str, suffix: str) -> None:
    path = tmp_path / "e.mtx"
    mmwrite(path, sp.coo_array(SYMMETRIC), field=field, symmetry=symmetry, comment="two\nlines")
    if suffix:
        path.with_suffix(".mtx.gz").write_bytes(gzip.compress(path.read_bytes()))
    graph = read_graph(str(path) + suffix)
    np.testing.assert_array_equal(dense(graph), SYMMETRIC > 0 if field == "pattern" else SYMMETRIC)
    assert graph.nodes.tolist() == [1, 2, 3, 4, 5, 6]
    np.testing.assert_array_equal(dense(read_graph(path, directed=True)), dense(graph))
    assert not read_graph(path, weight=False).weighted


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_dense_matrix_market(tmp_path: Path, symmetry: str) -> None:
    mmwrite(tmp_path / "e.mtx", SYMMETRIC, symmetry=symmetry)
    np.testing.assert_array_equal(dense(read_graph(tmp_path / "e.mtx")), SYMMETRIC)


def test_directed_matrix_market(tmp_path: Path) -> None:
    matrix = RNG.integers(0, 3, size=(4, 4))
    mmwrite(tmp_path / "e.mtx", sp.coo_array(matrix), symmetry="general")
    np.testing.assert_array_equal(dense(read_graph(tmp_path / "e.mtx", directed=True)), matrix)
    with pytest.raises(FileError, match=r"e\.mtx: the adjacency matrix is not symmetric"):
        read_graph(tmp_path / "e.mtx")


def test_rectangular_matrices(tmp_path: Path) -> None:
    mmwrite(tmp_path / "e.mtx", sp.coo_array(WIDE))
    sp.save_npz(tmp_path / "e.npz", sp.csr_array(WIDE))
    for path, first in ((tmp_path / "e.mtx", 1), (tmp_path / "e.npz", 0)):
        graph = read_graph(path)
        assert graph.n_rows == 3
        assert graph.nodes.tolist() == list(range(first, first + 8))
        np.testing.assert_array_equal(dense(graph)[:3, 3:], WIDE)
        with pytest.raises(FileError, match="only a square one can be directed"):
            read_graph(path, directed=True)


HEAD = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is empty"),
        ("1 2 3\n", "does not begin with %%MatrixMarket"),
        (HEAD, "is truncated"),
        (HEAD + "% only comments\n", "is truncated"),
        (HEAD + "3 3\n1 2 1\n", "in the line with the size: invalid integer value"),
        (HEAD + "3 3 99999999999999999999\n", "in the line with the size: integer out of range"),
        (HEAD + "3 3 2\n1 2 1\n", "has 1 entries, not 2"),
        (HEAD + "3 3 1\n1 2 1\n2 3 1\n", "has 2 entries, not 1"),
        (HEAD + "3 3 1\n1 4 1\n", "line 3: column index out of bounds; correct it"),
        (HEAD + "3 3 1\n0 1 1\n", "line 3: row index out of bounds"),
        (HEAD + "3 3 1\n1.5 1 1\n", "line 3: invalid integer value"),
        (HEAD + "3 3 1\na 1 1\n", "line 3: 'a 1 1' is not a row of 3 finite numbers"),
        (HEAD + "3 3 1\n1e313 1 1\n", "line 3: invalid integer value"),
        (HEAD + "3 3 1\n1 2\n", "line 3: '1 2' has 2 columns, not 3"),
        (HEAD + "% c\n\n3 3 1\n\n1 2 x\n", "line 6: '1 2 x' is not a row of 3 finite numbers"),
        (HEAD + "3 3 1\n1 2 -1\n", r"row 1, column 2: the weight is -1\.0"),
        (HEAD + "3 3 1\n1 2 \0\n", "line 3: .* is not a row of 3 finite numbers"),
        (HEAD + "3 3 2\n1 2 1\n1 3 2 4\n", "line 4: '1 3 2 4' has 4 columns, not 3"),
        (HEAD + "3 3 2\n1 2 1\n1 3 2,5\n", "line 4: '1 3 2,5' is not a row of 3 finite numbers"),
        (HEAD + "3 3 1\n1 3 nan\n", "line 3: '1 3 nan' is not a row of 3 finite numbers"),
        (HEAD.replace("real", "complex") + "1 1 1\n1 1 1 1\n", "line 1: .* is not supported"),
        (HEAD.replace("general", "skew-symmetric") + "1 1 1\n1 1 1\n", "line 1: .* is not supported"),
        (HEAD.replace("general", "symmetric") + "2 3 1\n1 1 1\n", "a symmetric matrix is square"),
    ],
)
def test_bad_matrix_market(tmp_path: Path, content: str, sentence: str) -> None:
    (tmp_path / "e.mtx").write_text(content)
    with pytest.raises(FileError, match=sentence):
        read_graph(tmp_path / "e.mtx")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_scipy_npz(tmp_path: Path, kind: str, container: Any) -> None:
    sp.save_npz(tmp_path / "e.npz", container(SYMMETRIC).asformat(kind))
    graph = read_graph(tmp_path / "e.npz")
    np.testing.assert_array_equal(dense(graph), SYMMETRIC)
    assert graph.nodes.tolist() == list(range(6))


def test_npz_of_lists(tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    row, col = np.nonzero(SQUARE)
    names = np.array(list("abcdef"))
    np.savez(path, row=row, col=col, n=6, directed=True, weight=SQUARE[row, col], node_names=names)
    graph = read_graph(path)
    assert graph.directed
    assert graph.nodes.tolist() == list("abcdef")
    np.testing.assert_array_equal(dense(graph), SQUARE)
    np.testing.assert_array_equal(dense(read_graph(path, directed=False)), SYMMETRIC)


def test_the_datasets_are_read(data_folder: Path) -> None:
    graph = read_graph(data_folder / "debian_bookworm.npz")
    assert (graph.n_nodes, graph.n_edges, graph.directed) == (63436, 247686, True)
    assert graph.nodes[0] == "0ad"
    snap = read_graph_file(data_folder / "com-dblp.ungraph.txt.gz")
    assert (snap.graph.n_nodes, snap.graph.n_edges) == (317080, 1049866)
    assert str(snap.layout) == "source=col 1, target=col 2, weight=none, header=no, delimiter=tab"


def test_bad_npz(tmp_path: Path) -> None:
    path = tmp_path / "e.npz"

    def refused(sentence: str, **arrays: Any) -> None:
        if arrays:
            np.savez(path, **arrays)
        with pytest.raises(FileError, match=sentence):
            read_graph(path)

    refused("row must hold positions from 0 to 2", row=[0, 3], col=[1, 2], n=3)
    refused("row has 1 entries, but col has 2", row=[0], col=[1, 2], n=3)
    refused("row must be a list of integers", row=[0.5], col=[1], n=3)
    refused("2 node_names, but 3 nodes", row=[0], col=[1], n=3, node_names=["a", "b"])
    refused("'a' is given more than once", row=[0], col=[1], n=2, node_names=["a", "a"])
    refused("holds no graph, only 'x'; save a matrix with scipy.sparse.save_npz", x=[1])
    refused("is not an npz file, or is damaged", row=np.array([None], dtype=object), col=[1], n=1)  # pickled
    path.write_bytes(path.read_bytes()[:-30])
    refused("is not an npz file, or is damaged")
    path.write_bytes(b"\x93NUMPY")
    refused("is not an npz file")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("suffix", ["graphml", "gexf"])
def test_xml(tmp_path: Path, directed: bool, suffix: str) -> None:
    G = weighted_graph(directed)
    path = tmp_path / f"e.{suffix}"
    getattr(nx, f"write_{suffix}")(G, path)
    same_as(read_graph(path), G)
    packed = tmp_path / f"e.{suffix}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    same_as(read_graph(packed), G)
    assert read_graph(path, directed=not directed).directed is not directed
    assert not read_graph(path, weight=False).weighted


@pytest.mark.parametrize("suffix", ["graphml", "gexf"])
def test_xml_weights_of_another_name(tmp_path: Path, suffix: str) -> None:
    G = nx.path_graph(3)
    nx.set_edge_attributes(G, {(0, 1): 2.0, (1, 2): 3.0}, "strength")
    path = tmp_path / f"e.{suffix}"
    getattr(nx, f"write_{suffix}")(G, path)
    assert not read_graph(path).weighted
    assert dense(read_graph(path, weight="strength"))[1].tolist() == [2, 0, 3]
    with pytest.raises(FileError, match="no attribute 'cost' for the weight"):
        read_graph(path, weight="cost")


def test_defaults_in_graphml(tmp_path: Path) -> None:
    (tmp_path / "e.graphml").write_text(
        """<graphml><key id="k" for="edge" attr.name="weight"><default>2</default></key><key id="n" for="node"/>
        <graph edgedefault="undirected"><node id="a"><data key="n">9</data></node><node id="b"/><node id="c"/>
        <edge source="a" target="b"/><edge source="b" target="c"><data key="k"> 5 </data></edge></graph></graphml>"""
    )
    assert dense(read_graph(tmp_path / "e.graphml"))[1].tolist() == [2, 0, 5]


LAUGHS = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><graphml><graph><node id="&b;"/></graph></graphml>'
OUTSIDE = '<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]><graphml>&a;</graphml>'


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("e.graphml", LAUGHS, "has a DOCTYPE"),
        ("e.graphml", OUTSIDE, "has a DOCTYPE"),
        ("e.graphml", "<graphml>&a;</graphml>", "undefined entity"),
        ("e.graphml", "<graphml><graph>", "line 1: the XML is damaged: no element found"),
        ("e.graphml", "a,b\n", "line 1: the XML is damaged: syntax error"),
        ("e.graphml", "<gexf/>", "the document is <gexf>, not <graphml>"),
        ("e.graphml", "<graphml>\n<node/></graphml>", "line 2: the node has no id"),
        ("e.graphml", "<graphml>\n<node id='a'/><node id='a'/></graphml>", "line 2: the node 'a' is there twice"),
        ("e.graphml", "<graphml><node id='a'/><edge source='a'/></graphml>", "the edge has no target"),
        ("e.graphml", "<graphml><node id='a'/><edge source='a' target='b'/></graphml>", "names 'b', which is no node"),
        ("e.graphml", "<graphml><hyperedge/></graphml>", "hyperedge"),
        ("e.graphml", "<graphml/>", "no nodes"),
        ("e.gexf", "<gexf>\n<node id='a'/>\n<edge source='a' target='a' weight='-1'/></gexf>", "line 3: the weight is"),
        (
            "e.gexf",
            "<gexf><node id='a'/><edge source='a' target='a' type='directed'/><edge source='a' target='a'/></gexf>",
            "some edges are directed",
        ),
        ("e.gexf", "<?xml version='1.0' encoding='klingon'?><gexf/>", "e.gexf"),
    ],
)
def test_bad_xml(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(FileError, match=sentence):
        read_graph(tmp_path / name)


def metis(matrix: NDArray[Any], flags: str = "000") -> str:
    """A METIS file of an adjacency matrix, with a size and two weights for each node where asked for."""
    file = io.StringIO()
    print("% a comment\n", len(matrix), np.count_nonzero(matrix) // 2, flags, 2 if flags[1] == "1" else "", file=file)
    for row in matrix:
        extra = ["8"] * int(flags[0]) + ["9", "9"] * int(flags[1])
        listed = [f"{j + 1} {row[j]}" if flags[2] == "1" else str(j + 1) for j in np.flatnonzero(row)]
        print(*extra, *listed, file=file)
    return file.getvalue()


@pytest.mark.parametrize("flags", ["000", "001", "010", "100", "111"])
@pytest.mark.parametrize("suffix", ["graph", "metis", "graph.gz"])
def test_metis(tmp_path: Path, flags: str, suffix: str) -> None:
    content = metis(SYMMETRIC, flags).encode()
    path = tmp_path / f"e.{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    graph = read_graph(path)
    np.testing.assert_array_equal(dense(graph), SYMMETRIC if flags[2] == "1" else SYMMETRIC > 0)
    assert graph.nodes.tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("% c\n", "holds comments only"),
        ("3\n", "line 1: METIS begins with"),
        ("3 x\n", "line 1: '3 x' are not all whole numbers"),
        ("3 2 007\n", "line 1: the METIS format is 007; it must be"),
        ("3 2\n2\n1 3\n", "announces 3 nodes, but 2 lines follow"),
        ("3 2\n2\n1 3\n2\n\n1\n", "announces 3 nodes, but 5 lines follow"),
        ("3 3\n2\n1 3\n2\n", "announces 3 edges, but 4 neighbours are listed"),
        ("3 2\n2\n1 4\n2\n", "line 3: there is no node 4"),
        ("3 2\n2\n1 b\n2\n", "line 3: '1 b' are not all whole numbers"),
        ("3 2 001\n2 1\n1 1 3\n2 1\n", "line 3: 3 numbers do not fit"),
        ("3 2 001\n2 1\n1 1 3 -4\n2 -4\n", "line 3: the weight is -4; it must not be negative"),
    ],
)
def test_bad_metis(tmp_path: Path, content: str, sentence: str) -> None:
    (tmp_path / "e.graph").write_text(content)
    with pytest.raises(FileError, match=sentence):
        read_graph(tmp_path / "e.graph")


def test_a_symmetric_matrix_market_file_may_list_both_directions_of_an_edge(tmp_path: Path) -> None:
    head = "%%MatrixMarket matrix coordinate real symmetric\n3 3 "
    (tmp_path / "once.mtx").write_text(f"{head}2\n2 1 1.5\n3 2 2.5\n")
    (tmp_path / "twice.mtx").write_text(f"{head}4\n1 2 1.5\n2 1 1.5\n2 3 2.5\n3 2 2.5\n")
    once, twice = (read_graph(tmp_path / name) for name in ("once.mtx", "twice.mtx"))
    np.testing.assert_array_equal(twice.csr.to_scipy().toarray(), once.csr.to_scipy().toarray())
    np.testing.assert_array_equal(once.csr.to_scipy().toarray(), [[0, 1.5, 0], [1.5, 0, 2.5], [0, 2.5, 0]])
