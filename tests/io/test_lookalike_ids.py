"""Ids that look the same but are not: joined files with byte-order marks, case, blanks, Unicode forms."""

import warnings
from pathlib import Path

import networkx as nx
import pytest

from isotherm.io import FileWarning, pack_edges, read_graph
from isotherm.io.streams import without_marks

BOM = b"\xef\xbb\xbf"


def test_two_files_with_a_mark_joined(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_bytes(BOM + b"ann,bob\nbob,cat\n" + BOM + b"ann,eve\neve,bob\n")
    with pytest.warns(FileWarning, match=r"U\+FEFF\) before 'ann,eve' is left out"):
        graph = read_graph(path)
    assert graph.nodes.tolist() == ["ann", "bob", "cat", "eve"]


@pytest.mark.filterwarnings("ignore::isotherm.FileWarning")
@pytest.mark.parametrize("size", range(1, 9))
def test_marks_across_pieces(size: int) -> None:
    text = b"a,b\n" + BOM + b"c,d\r\n" + BOM + b"\xef\xbb,e\n\n" + BOM + BOM + b"x" + BOM + b"\n"
    pieces = [text[place : place + size] for place in range(0, len(text), size)]
    expected = b"a,b\nc,d\r\n\xef\xbb,e\n\nx" + BOM + b"\n"
    assert b"".join(without_marks("f", iter(pieces))) == expected


TWINS = [
    ("ann,bob\nbob,Ann\n", "'ann' and 'Ann'"),
    ("ann, bob\nbob,ann\n", "' bob' and 'bob'"),
    ("jos\u00e9,bob\nbob,jose\u0301\n", r"'jos\\xe9' and 'jose\\u0301'"),
    ("ann,bob\nbob,\u200bann\n", r"'ann' and '\\u200bann'"),
    ("ann,bob\nbob,\ufeffann\n", r"'ann' and '\\ufeffann'"),
]


@pytest.mark.parametrize(("text", "named"), TWINS)
def test_twins_are_named(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "e.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.warns(FileWarning, match=f"{named} are different nodes; if they are the same, write them alike"):
        assert read_graph(path).n_nodes == 3
    with pytest.warns(FileWarning, match=named):
        pack_edges(path, tmp_path / "graph.iso")


def test_twins_in_other_formats(tmp_path: Path) -> None:
    for suffix, write in (("graphml", nx.write_graphml), ("gexf", nx.write_gexf), ("net", nx.write_pajek)):
        write(nx.path_graph(["ann", "bob", "Ann"], nx.Graph), tmp_path / f"e.{suffix}")
        with pytest.warns(FileWarning, match="'ann' and 'Ann' are different nodes"):
            read_graph(tmp_path / f"e.{suffix}")


def test_no_warning_without_twins(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("Ann,Bob\nBob,jos\u00e9\njos\u00e9,jose\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_graph(path).n_nodes == 4
