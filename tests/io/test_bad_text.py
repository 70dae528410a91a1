"""Text that cannot be read: each problem is one sentence that names the file and the place."""

import gzip
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isotherm.io import FileError, read_graph, text

Save = Callable[[str, str | bytes], Path]


BAD = [
    ("empty.csv", "", "empty.csv is empty"),
    ("blank.csv", "\n \n", "blank.csv is empty"),
    ("comments.txt", "# a\n% b\n", "holds comments only"),
    ("junk.csv", bytes(range(256)), "NUL"),
    ("utf16.csv", "a,b\n".encode("utf-16"), "UTF-16"),
    ("latin.csv", "a,b\né,c\n".encode("latin-1"), "line 2: the byte 0xe9 is not UTF-8"),
    ("zipped.csv", gzip.compress(b"a,b\n")[:-9] + b"x", "is truncated: its gzip data stop too early"),
    ("zipped2.csv", b"\x1f\x8b,b\n", "is damaged: write it again"),
    ("one.csv", "a\nb\n", "line 1: with the delimiter comma there is one column, 'a'"),
    ("short.csv", "a,b,1\nb,c,2\nc\n", "line 3: the row has 1 column, not 3: 'c'"),
    ("short2.csv", "a,b,1\nb,c\nc,d,3\n", "line 2: the row has 2 columns, not 3"),
    ("long.csv", "a,b\n\n\nb,c\nx, y,c\n", "line 5: the row has 3 columns, not 2"),
    ("end.csv", "a,b\nb,c\nc,", "line 3: the target is empty"),
    ("end2.csv", "a,b\nb,c\nc,d,", "line 3: the row has 3 columns, not 2"),
    ("hole.csv", "a,b\n,c\n", "line 2: the source is empty"),
    ("hole.tsv", 'a\tb\n""\tc\n', "line 2: the source is empty"),
    ("text.csv", "a,b,1\nb,c,heavy\nc,d,2\n", "line 2: the weight is 'heavy'"),
    ("text2.csv", "source,target,weight\na,b,1\nb,c,heavy\n", "line 3: the weight is 'heavy'"),
    ("void.csv", "a,b,1\nb,c,\nc,d,1\n", "line 2: the weight is empty"),
    ("minus.csv", "a,b,1\nb,c,-2\n", "line 2: the weight is -2"),
    ("nan.csv", "a,b,1\nb,c,nan\n", "line 2: the weight is nan"),
    ("inf.csv", "a,b,1\nb,c,inf\n", "line 2: the weight is inf"),
    ("huge.csv", "a,b,1\nb,c,1e999\n", "line 2: the weight is inf"),
    ("quote.csv", 'a,b\n"b,c\nc,d\n', "line 2: a quoted field is not closed"),
    ("quote2.csv", 'a,b\n"b"x,c\n', "line 2: there is text after a closing quote"),
    ("return.csv", "a,b\rc,d\n", "line 1: there is a carriage return inside a field"),
    ("nul.txt", "a b\nc \0d\n", "line 2: there is a NUL byte"),
    ("sign.txt", "a b\n#c d\n", "line 2: this may be a comment or a row"),
    ("none.xyz", "a b\n", "the name does not tell the format"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "sentence"), BAD, ids=[name for name, *_ in BAD])
def test_bad_input_is_one_sentence(save: Save, name: str, content: str | bytes, sentence: str) -> None:
    with pytest.raises(FileError) as caught:
        read_graph(save(name, content))
    said = str(caught.value)
    assert sentence in said
    assert name in said
    assert "\n" not in said
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_bad_paths(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"none\.csv does not exist"):
        read_graph(tmp_path / "none.csv")
    with pytest.raises(FileError, match="holds no tables of edges"):
        read_graph(tmp_path)
    with pytest.raises(FileError, match="cannot be the name of a file"):
        read_graph("a\0b.csv")
    with pytest.raises(FileError, match="too long"):
        read_graph("x" * 5000)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(save: Save) -> None:
    path = save("e.csv", "a,b\n")
    path.chmod(0)
    with pytest.raises(FileError, match="permission denied"):
        read_graph(path)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"delimiter": ","}, "with the delimiter comma there is one column, 'a;b;1'"),
        ({"delimiter": "xx"}, "delimiter='xx' cannot be used"),
        ({"source": "from"}, "no column named 'from' for source: it has no header"),
        ({"target": 4}, "no column 4 for target: it has 3 columns"),
        ({"source": 1, "weight": 1}, "must be different columns"),
        ({"weight": 0}, "no column 0 for weight"),
        ({"format": "excel"}, "format='excel' is not a format"),
        ({"format": "mtx"}, "does not begin with %%MatrixMarket"),
        ({"format": "mtx", "header": True}, "header is for tables, not for mtx files"),
    ],
)
def test_bad_options(save: Save, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(FileError, match=sentence):
        read_graph(save("e.csv", "a;b;1\nb;c;2\n"), **options)


def test_a_line_without_end(save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "BLOCK", 1 << 10)
    monkeypatch.setattr(text, "LONGEST", 1 << 20)
    for line in (b"x" * (1 << 22), b'"' + b"x,\n" * (1 << 20)):
        with pytest.raises(FileError, match="line 3: the row has no end within 1 MB"):
            read_graph(save("e.csv", b"a,b\nb,c\n" + line))


def test_polars_is_asked_for(save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"needs polars: pip install 'isotherm\[cli\]'"):
        read_graph(save("e.csv", "a,b\n"))


def test_reading_from_memory_like_objects_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        read_graph(io.BytesIO(b"a,b\n"))  # type: ignore[arg-type]
