"""Delimited text: what is detected, and what is read."""

import gzip
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import zstandard
from commands import interrupt
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from isotherm.graphs import Graph
from isotherm.io import FileError, FileWarning, read_graph, read_graph_file, read_seeds, text
from isotherm.io.file_layout import Options
from isotherm.io.sniffing import Dialect, sniff

Edges = dict[tuple[Any, Any], float]
Save = Callable[[str, str | bytes], Path]


def edges_of(graph: Graph) -> Edges:
    """Both directions of every edge, by ids."""
    matrix = graph.adjacency.tocoo()
    ids = graph.nodes.tolist()
    ends = zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True)
    return {(ids[i], ids[j]): weight for i, j, weight in ends}


def both_ways(edges: Edges) -> Edges:
    return edges | {(v, u): weight for (u, v), weight in edges.items()}


TRIANGLE: Edges = {("a", "b"): 1, ("b", "c"): 2.5, ("a", "c"): 4}
ROWS = [(u, v, str(w)) for (u, v), w in TRIANGLE.items()]


@pytest.mark.parametrize(
    ("name", "content", "layout"),
    [
        ("e.csv", "source,target,w\na,b,1\nb,c,2.5\na,c,4\n", "col 1 (source), col 2 (target), col 3 (w), yes, comma"),
        ("e.csv", "a,b,1\nb,c,2.5\na,c,4", "col 1, col 2, col 3, no, comma"),
        ("e.csv", "a;b;1\r\nb;c;2.5\r\na;c;4\r\n", "col 1, col 2, col 3, no, semicolon"),
        ("e.csv", "w,to,from\n1,b,a\n2.5,c,b\n4,c,a\n", "col 3 (from), col 2 (to), col 1 (w), yes, comma"),
        ("e.csv", "\ufeffFromId,To,w\na,b,1\nb,c,2.5\na,c,4\n", "col 1 (FromId), col 2 (To), col 3 (w), yes, comma"),
        ("e.tsv", "a\tb\t1\n\nb\tc\t2.5\n\n\na\tc\t4\n\n", "col 1, col 2, col 3, no, tab"),
        ("e.tsv", "#id1\tid2\tw\na\tb\t1\nb\tc\t2.5\na\tc\t4\n", "col 1 (id1), col 2 (id2), col 3 (w), yes, tab"),
        ("e.csv", "# made today\n% by hand\nx,y,z\na,b,1\nb,c,2.5\na,c,4\n", "col 1 (x), col 2 (y), none, yes, comma"),
        ("e.txt", "# SNAP\n# From\tTo\na\tb\t1\n# between\nb\tc\t2.5\na\tc\t4\n", "col 1, col 2, col 3, no, tab"),
        ("out.konect", "% sym\n% 3 3 3\na b 1 9 \nb c 2.5 9 \na c 4 9\n", "col 1, col 2, col 3, no, whitespace"),
        ("e.edges", "  a \t b   1\nb\tc 2.5  \n\t\na c 4", "col 1, col 2, col 3, no, whitespace"),
        ("e.el", "a b 1\nb c 2.5\na c 4\n", "col 1, col 2, col 3, no, whitespace"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*the numbers in 'z' are not read:isotherm.FileWarning")
def test_layout_is_detected(save: Save, name: str, content: str, layout: str) -> None:
    graph, found, _ = read_graph_file(save(name, content))
    columns = [str(column) if column else "none" for column in found.roles.values()]
    assert layout.split(", ") == [*columns, "yes" if found.header else "no", str(found).rpartition("=")[2]]
    if "none" in layout:
        assert edges_of(graph) == both_ways(dict.fromkeys(TRIANGLE, 1.0))
    else:
        assert edges_of(graph) == both_ways(TRIANGLE)


def test_the_layout_reads_as_the_command_prints_it(save: Save) -> None:
    layout = read_graph_file(save("e.tsv", "1\t2\t0.5\n2\t3\t1\n")).layout
    assert str(layout) == "source=col 1, target=col 2, weight=col 3, header=no, delimiter=tab"


@pytest.mark.parametrize(
    ("content", "nodes"),
    [
        ("node1,node2\nnode2,node3\n", ["node1", "node2", "node3"]),  # names that are ids further down
        ("u,v\nv,w\n", ["u", "v", "w"]),
        ("u,v\n1,2\n", ["1", "2"]),  # text above numbers, in both columns
        ("root,1\n1,2\n3,2\n", ["root", "1", "2", "3"]),  # and in one only
        ("person,club\n1,chess\n2,tennis\n", ["1", "chess", "2", "tennis"]),  # and text that occurs no more
        ("chess,club\n1,chess\n2,tennis\n", ["chess", "club", "1", "2", "tennis"]),
        ("from,to\nann,bob\n", ["ann", "bob"]),
        ("ann,bob,since\nbob,eve,1999\neve,ann,2001\n", ["bob", "eve", "ann"]),
    ],
)
def test_header_or_data(save: Save, content: str, nodes: list[str]) -> None:
    assert read_graph(save("e.csv", content)).nodes.tolist() == nodes


UNKNOWN = "person,friend\n"
FRIENDS = "ann,bob\nbob,cat\ncat,ann\ncat,dan\n"


@pytest.mark.parametrize("directed", [False, True])
def test_a_header_of_unknown_names_is_suspected(save: Save, directed: bool) -> None:
    path = save("e.csv", UNKNOWN + FRIENDS)
    with pytest.warns(FileWarning, match=r"e\.csv: the first row .* 'person' and 'friend' .* header=True") as caught:
        assert read_graph(path, directed=directed).n_edges == 5
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (UNKNOWN + FRIENDS, {"header": True}),
        (UNKNOWN + FRIENDS, {"header": False}),
        (UNKNOWN + FRIENDS + "dan,person\n", {}),
        ("1,2\n" + FRIENDS, {}),
        ("person,friend,1\nann,bob,2\nbob,cat,3\ncat,dan,1\ncat,ann,1\n", {}),
        ("ann,bob\ncat,dan\neve,fay\ngus,hal\nian,jon\n", {}),
        ("ann,bob\nbob,cat\n", {}),
        ("source,target\n" + FRIENDS, {}),
    ],
)
def test_edges_that_are_not_suspected(save: Save, content: str, options: dict[str, Any]) -> None:
    path = save("e.csv", content)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read_graph_file(path, Options(**options))
    assert caught == []
    rows = [line.split(",")[:2] for line in content.splitlines()][bool(found.layout.header) :]
    assert found.graph.n_edges == len(rows)
    assert set(found.graph.nodes.tolist()) == {cell for row in rows for cell in row}


def test_blanks_around_ids_are_suspected(save: Save) -> None:
    with pytest.warns(
        FileWarning, match=r"e\.csv: ' bob' and 'bob' are different nodes; if they are the same, write them alike"
    ):
        assert read_graph(save("e.csv", "ann, bob\nbob, cat\n")).n_nodes == 4
    assert read_graph(save("e.csv", "ann, bob\ncat, bob\n")).nodes.tolist() == ["ann", " bob", "cat"]


def test_decimal_commas(save: Save) -> None:
    with pytest.raises(FileError, match=r"e\.csv, line 1: the weight is '0,5'"):
        read_graph(save("e.csv", "ann;bob;0,5\nbob;cat;1,5\n"))
    assert read_graph(save("e.csv", "ann;bob;0,5\nbob;cat;1,5\n"), weight=False).nodes.tolist() == ["ann", "bob", "cat"]
    assert read_graph(save("e.csv", "1,2\n3,4\n")).nodes.tolist() == ["1", "2", "3", "4"]


def test_weights_that_need_a_point_are_read_so(save: Save) -> None:
    """The decimal commas that the caller tells of may be in a table of features."""
    with pytest.warns(
        FileWarning, match=r"weights such as 1498\.59 are read with a decimal point, although decimal=','"
    ):
        graph = read_graph(save("e.csv", "source,target,weight\na,b,1.284\nb,c,1498.59\n"), decimal=",", directed=True)
    assert edges_of(graph) == {("a", "b"): 1.284, ("b", "c"): 1498.59}
    whole = read_graph(save("e.csv", "source,target,weight\na,b,1.284\nb,c,12\n"), decimal=",", directed=True)
    assert edges_of(whole) == {("a", "b"): 1284, ("b", "c"): 12}
    with pytest.raises(FileError, match=r"the weight is '1498\.59'"):
        read_graph(save("e.csv", "source;target;weight\na;b;1,5\nb;c;1498.59\n"), decimal=",")


def test_words_for_a_missing_id_are_suspected(save: Save) -> None:
    told = r"e\.csv: '\?' \(1 edge\), 'NA' \(2 edges\), 'nan' \(1 edge\) are read as nodes, but mean a missing value"
    with pytest.warns(FileWarning, match=told) as caught:
        graph = read_graph(save("e.csv", "source,target\nann,NA\nNA,bob\nnan,cat\ncat,?\nann,Nathan\n"))
    assert len(caught) == 1
    assert "nan" in graph.nodes


def test_the_first_line_may_tell_the_delimiter(save: Save) -> None:
    """Excel writes it and heeds it."""
    found = read_graph_file(save("e.csv", 'sep=;\nsource;target\n"a,1";b\nb;c\n'))
    assert found.graph.nodes.tolist() == ["a,1", "b", "c"]
    assert read_graph(save("f.txt", "sep=|\r\na b|c\r\n")).nodes.tolist() == ["a b", "c"]
    with pytest.raises(FileError, match="line 4: the row has 1 column"):
        read_graph(save("g.csv", "SEP=;\na;b\nb;c\nd\n"))
    assert read_graph(save("h.csv", "sep=x,b\nb,c\n")).nodes.tolist() == ["sep=x", "b", "c"]


def test_lines_of_old_macs(save: Save) -> None:
    assert read_graph(save("e.csv", "source,target\ra,b\rb,c\r")).nodes.tolist() == ["a", "b", "c"]
    with pytest.raises(FileError, match="line 3: the row has 1 column"):
        read_graph(save("f.csv", "a,b\rb,c\rd\r"))


def test_header_can_be_set(save: Save) -> None:
    path = save("e.csv", "a,b\nb,c\n")
    assert read_graph(path, header=True).nodes.tolist() == ["b", "c"]
    assert read_graph(save("f.csv", "from,to\nb,c\n"), header=False).n_edges == 2


def test_columns_by_name_and_number(save: Save) -> None:
    path = save("e.csv", "x,y,z,t\na,b,2,9\nb,c,3,9\n")
    by_name = read_graph(path, source="y", target="x", weight="z", directed=True)
    assert edges_of(by_name) == {("b", "a"): 2, ("c", "b"): 3}
    by_number = read_graph(path, source=2, target="1", weight=3, header=True, directed=True)
    assert edges_of(by_number) == edges_of(by_name)


def test_weights_can_be_ignored(save: Save) -> None:
    assert not read_graph(save("e.csv", "a,b,-1\nb,c,2\n"), weight=False).weighted


@pytest.mark.filterwarnings("ignore:.* mean a missing value:isotherm.FileWarning")
def test_ids_stay_what_they_are(save: Save) -> None:
    ids = [
        "007",
        "7",
        " 7",
        "+7",
        "7.0",
        "é",
        "日本",
        'say "hi"',
        "a, b",
        "two\nlines",
        "\u2028",
        "NA",
        "null",
        "nan",
        "#x",
    ]
    content = pl.DataFrame({"source": ids, "target": ids[1:] + ids[:1]}).write_csv()
    with pytest.warns(FileWarning, match="'7' and ' 7' are different nodes"):
        assert read_graph(save("e.csv", content)).nodes.tolist() == list(dict.fromkeys(ids))
    plain = [name for name in ids if not set(name) & set(" \n") and name != "#x"]
    lines = "".join(f"{u} {v}\n" for u, v in pairwise(plain))
    assert read_graph(save("e.txt", lines)).nodes.tolist() == plain


def test_ids_with_signs_of_comments(save: Save) -> None:
    rows = "# a comment\n## another\n#!\n%%,#b\n#,%c\n"
    assert read_graph(save("e.csv", rows)).nodes.tolist() == ["%%", "#b", "#", "%c"]
    assert read_graph(save("e.tsv", "##a\t%%\n")).nodes.tolist() == ["##a", "%%"]
    assert read_graph(save("e.txt", "%%a b of four\n## c d\na b\n")).nodes.tolist() == ["a", "b"]
    with pytest.raises(FileError, match="line 2: this may be a comment or a row"):
        read_graph(save("f.txt", "a b\n%%c d\n"))


def test_nodes_are_in_order_of_first_appearance(save: Save) -> None:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 300, size=(2000, 2)).astype(str)
    content = "\n".join(map(",".join, ends.tolist()))
    assert read_graph(save("e.csv", content), directed=True).nodes.tolist() == list(
        dict.fromkeys(ends.ravel().tolist())
    )


@pytest.mark.parametrize("name", ["e.csv", "e.mtx", "e.jsonl", "e.graph", "e.graphml"])
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_compression_is_seen_without_its_suffix(save: Save, name: str, pack: Callable[[bytes], bytes]) -> None:
    contents = {
        "e.csv": b"a,b\n",
        "e.mtx": b"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n",
        "e.jsonl": b'{"node": "a", "label": 1}\n',
        "e.graph": b"2 1\n2\n1\n",
        "e.graphml": b"<graphml><graph><node id='a'/><node id='b'/><edge source='a' target='b'/></graph></graphml>",
    }
    read: Any = read_seeds if name.endswith("jsonl") else lambda path: read_graph(path).adjacency.toarray().tolist()
    plain = read(save(name, contents[name]))
    assert read(save(name, pack(contents[name]))) == plain
    marked = save(name, b"\xef\xbb\xbf" + contents[name])
    assert read(marked) == plain


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_compressed(save: Save, suffix: str) -> None:
    content = "".join(f"a{i},a{i + 1}\n" for i in range(5000)).encode()
    packed = gzip.compress(content) if suffix == ".gz" else zstandard.compress(content)
    again = gzip.compress(b"x,y\n") if suffix == ".gz" else zstandard.compress(b"x,y\n")
    assert read_graph(save(f"e.csv{suffix}", packed)).n_edges == 5000
    assert read_graph(save(f"e.csv{suffix}", packed + again)).n_edges == 5001  # members one after another
    for end in (1, 10, len(packed) // 2, len(packed) - 1):
        with pytest.raises(FileError, match=r"e\.csv\.\w+ is truncated"):
            read_graph(save(f"e.csv{suffix}", packed[:end]))
    with pytest.raises(FileError, match=f"though its name ends in {suffix}"):
        read_graph(save(f"e.csv{suffix}", content))


def test_standard_input() -> None:
    code = "from isotherm.io import read_graph; print(read_graph('-').nodes.tolist())"
    command = [sys.executable, "-W", "error", "-c", code]
    for content in ("a,b\nb,c\n", "# c\na\tb\nb\tc\n", "% c\n a b\nb c\n"):
        run = subprocess.run(command, input=content, capture_output=True, text=True, check=True)
        assert run.stdout == "['a', 'b', 'c']\n"


def test_ctrl_c_while_standard_input_is_silent() -> None:
    code = "from isotherm.io import read_graph; print('reading', flush=True); read_graph('-')"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write("".join(f"a{i},b{i}\n" for i in range(100_000)))  # more than the sample, and no end
    process.stdin.flush()
    assert process.stdout.readline() == "reading\n"
    interrupt(process)
    assert process.stderr
    assert "KeyboardInterrupt" in process.stderr.read()
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def test_a_pipe_is_read_like_standard_input(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["sh", "-c", f"printf 'a;b\\nb;c\\n' > {pipe}"])
    assert read_graph(pipe, format="csv").n_edges == 2
    assert writer.wait() == 0


CELLS = st.text(st.sampled_from('ab70.",;\t \n\r#%é\u2028'), max_size=5)


@st.composite
def untidy_text(draw: st.DrawFn) -> tuple[bytes, Dialect]:
    """Text that is nearly a table, and how it is to be read."""
    delimiter = draw(st.sampled_from([",", ";", "\t", " "]))
    width = draw(st.integers(2, 3))
    quoted = draw(st.booleans()) and delimiter != " "

    def spelled(cell: str) -> str:
        special = any(sign in cell for sign in f'"{delimiter}\n\r')
        return '"' + cell.replace('"', '""') + '"' if special and draw(st.integers(0, 9)) else cell

    rows = draw(st.lists(st.lists(CELLS.map(spelled), min_size=width, max_size=width), min_size=1, max_size=5))
    lines = [delimiter.join(row) for row in rows]
    lines += draw(st.lists(st.sampled_from(["", " ", "# c", "#c", "a", f"a{delimiter}b", f"a{delimiter}"]), max_size=1))
    content = draw(st.sampled_from(["\n", "\r\n"])).join(draw(st.permutations(lines))) + draw(
        st.sampled_from(["", "\n"])
    )
    commented = delimiter == " " or draw(st.booleans())
    return content.encode(), Dialect(delimiter, quoted, commented, names=(None,) * width)


@settings(max_examples=int(os.environ.get("ISOTHERM_FUZZ", "300")))
@given(untidy_text())
def test_the_fast_way_agrees_with_the_exact_one(case: tuple[bytes, Dialect]) -> None:
    content, dialect = case
    block = text.Block(1, content.count(b"\n"), content)
    frame = _rows_or_error(text._frame, block, dialect, set(), list(range(dialect.width)))
    assert frame == _rows_or_error(text._exact, block, dialect)


@settings(max_examples=int(os.environ.get("ISOTHERM_FUZZ", "100")))
@given(untidy_text(), st.integers(1, 20))
def test_blocks_do_not_matter(case: tuple[bytes, Dialect], size: int) -> None:
    content, dialect = case
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK", size)
        cut = list(text.blocks("f", iter(pieces), 1, dialect.delimiter if dialect.quoted else None))
    assert b"".join(block.text for block in cut) == content
    line = 1
    for block in cut:
        assert block[:2] == (line, block.text.count(b"\n"))
        line += block.breaks
    wanted = list(range(dialect.width))
    whole = _rows_or_error(text._frame, text.Block(1, content.count(b"\n"), content), dialect, set(), wanted)
    parts = [_rows_or_error(text._frame, block, dialect, set(), wanted) for block in cut]
    if isinstance(whole, list):
        assert [row for part in parts for row in part] == whole
    else:
        assert any(isinstance(part, str) for part in parts)


def _rows_or_error(way: Callable[..., pl.DataFrame], *told: Any) -> list[Any] | str:
    try:
        return [[cell or None for cell in row] for row in way(pl, "f", *told).rows()]
    except FileError as error:
        return str(error)


@pytest.mark.parametrize("row", [b"a,b,\xff", b"a,\xff,c"])
def test_columns_that_are_not_read_must_be_utf_8_too(tmp_path: Path, row: bytes) -> None:
    path = tmp_path / "e.csv"
    path.write_bytes(b"source,target,note\na,b,c\n" + row + b"\n")
    with pytest.raises(FileError, match="line 3"):
        read_graph(path)


NASTY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), min_size=1, max_size=8)


@pytest.mark.filterwarnings("ignore:.* mean a missing value:isotherm.FileWarning")
@pytest.mark.filterwarnings("ignore:.* are different nodes:isotherm.FileWarning")
@settings(max_examples=int(os.environ.get("ISOTHERM_FUZZ", "100")))
@given(st.lists(st.tuples(NASTY, NASTY), min_size=1, max_size=8), st.sampled_from(["csv", "tsv"]))
def test_nasty_ids_survive(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], kind: str) -> None:
    path = tmp_path_factory.mktemp("nasty") / f"e.{kind}"
    separator = "," if kind == "csv" else "\t"
    assume(all(separator.join(pair).strip(" \t") for pair in pairs))  # a line of blanks is no row
    pl.DataFrame(pairs, schema=["source", "target"], orient="row").write_csv(path, separator=separator)
    graph = read_graph(path, header=True, directed=True)
    assert graph.nodes.tolist() == list(dict.fromkeys(end for pair in pairs for end in pair))


def test_seeds_and_graph_agree_on_ids(save: Save) -> None:
    graph = read_graph(save("e.txt", "007 7\n7 8\n"))
    assert graph.index(read_seeds(save("s.csv", "node,label\n007,a\n8,b\n"))).tolist() == [0, 2]


def test_sniffing_survives_a_sample_that_ends_inside_a_row() -> None:
    content = 'a,"' + "x\n" * 40_000 + '"\nb,c\n'
    assert sniff("f", ("k,l\n" + content)[:60_000].encode(), "csv").delimiter == ","


def test_progress_is_told(save: Save) -> None:
    content = b"".join(b"%d,%d\n" % (i, i + 1) for i in range(100_000))
    path = save("e.csv", content)
    told: list[tuple[int, int | None]] = []
    read_graph(path, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (len(content), len(content))
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_import_is_lean() -> None:
    code = "import sys, isotherm.io; print(sorted({'polars', 'zstandard', 'pandas', 'pyarrow'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
