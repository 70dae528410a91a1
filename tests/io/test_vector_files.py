"""Files of vectors: the same table in every format, and one sentence for what is wrong."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array, issparse, save_npz

from isotherm.graphs import Graph
from isotherm.io import FileError, UnclearError
from isotherm.io.vectors import TableOptions, read_feature_file, read_node_ids, read_vectors

ROWS = np.array([[0.0, 1.5], [2.0, -3.0], [4.0, 5.25]])
FRAME = pl.DataFrame(
    {"id": ["a", "b", "c"], "x": ROWS[:, 0], "y": ROWS[:, 1], "label": [1, 2, 1], "note": ["p", "q", "r"]}
)
LISTS = pl.DataFrame({"id": ["a", "b", "c"], "embedding": ROWS.tolist()})


def fixed(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("embedding").cast(pl.Array(pl.Float32, 2)))


WRITERS: dict[str, Any] = {
    "columns.csv": lambda path: FRAME.write_csv(path),
    "columns.tsv": lambda path: FRAME.write_csv(path, separator="\t"),
    "columns.jsonl": lambda path: FRAME.write_ndjson(path),
    "columns.parquet": lambda path: FRAME.write_parquet(path),
    "lists.parquet": lambda path: LISTS.write_parquet(path),
    "arrays.parquet": lambda path: fixed(LISTS).write_parquet(path),
    "lists.arrow": lambda path: LISTS.write_ipc(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_has_the_same_table(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name)
    vectors, ids, *_ = read_vectors(tmp_path / name)
    np.testing.assert_array_equal(vectors, ROWS)
    assert ids == ["a", "b", "c"]


def test_arrays_count_their_rows(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ROWS.astype(np.float32))
    np.savez(tmp_path / "one.npz", labels=np.arange(3), rows=ROWS)
    np.savez(tmp_path / "named.npz", other=np.ones((2, 2)), vectors=ROWS)
    for name in ("x.npy", "one.npz", "named.npz"):
        vectors, ids, *_ = read_vectors(tmp_path / name)
        np.testing.assert_array_equal(vectors, ROWS)
        assert ids is None
    save_npz(tmp_path / "sparse.npz", csr_array(ROWS))
    sparse, *_ = read_vectors(tmp_path / "sparse.npz")
    assert issparse(sparse)
    np.testing.assert_array_equal(sparse.toarray(), ROWS)


def test_columns_that_are_no_features_are_left_out(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "t.csv")
    read = read_vectors(tmp_path / "t.csv")
    assert (
        str(read.layout)
        == "id=col 1 (id), vectors=col 2 (x), to=col 3 (y), header=yes, delimiter=comma, left out=label, note"
    )
    numbered = FRAME.drop("id")
    numbered.write_csv(tmp_path / "n.csv")
    assert read_vectors(tmp_path / "n.csv").layout.first_id == 0
    _, ids, *_ = read_vectors(tmp_path / "t.csv", TableOptions(id="note"))
    assert ids == ["p", "q", "r"]


@pytest.mark.parametrize(
    ("names", "answers", "left_out"),
    [
        ("a,target", [0, 1, 0, 1], ("target",)),
        ("target,label", [0, 1, 0, 1], ("target", "label")),
        ("a,y", [0, 1, 0, 1], ("y",)),
        ("x,y", [0, 1, 0, 1], ()),  # a place
        ("a,y", [0.5, 1.5, 2.5, 3.5], ()),  # a measure
    ],
)
def test_columns_that_may_hold_the_answer_are_left_out(
    tmp_path: Path, names: str, answers: list[float], left_out: tuple[str, ...]
) -> None:
    rows = "".join(f"r{place},{place / 2},{answer},{answer}\n" for place, answer in enumerate(answers))
    (tmp_path / "t.csv").write_text(f"id,b,{names}\n{rows}")
    assert read_vectors(tmp_path / "t.csv").layout.left_out == left_out


def test_texts_are_compared_by_their_words(tmp_path: Path) -> None:
    pl.DataFrame({"id": [7, 8, 9], "body": ["red apple", "apple red red", None]}).write_parquet(tmp_path / "t.parquet")
    vectors, ids, *_ = read_vectors(tmp_path / "t.parquet", TableOptions(text="body"))
    assert vectors.shape == (3, 2)
    assert ids == [7, 8, 9]
    assert vectors[[2]].nnz == 0
    cosine = (vectors[[0]] @ vectors[[1]].T).toarray()[0, 0]
    assert 0.9 < cosine < 1


@pytest.mark.parametrize(
    ("frame", "message", "more"),
    [
        (pl.DataFrame({"a": ["x", "y"]}), "no numeric columns .* text", {}),
        (FRAME, "has no column named 'body' for text", {"text": "body"}),
        (FRAME, "column x holds Float64, not texts", {"text": "x"}),
        (pl.DataFrame({"v": [[1.0, 2.0], [1.0]]}), "row 2: the list has a different length from the first row", {}),
        (pl.DataFrame({"v": [[1.0]], "w": [[2.0]]}), "2 columns of lists", {}),
        (pl.DataFrame({"id": ["a", None], "x": [1.0, 2.0]}), "row 2: the id is empty", {"id": "id"}),
    ],
    ids=range(6),
)
def test_what_is_wrong_is_said(frame: pl.DataFrame, message: str, more: dict[str, Any], tmp_path: Path) -> None:
    frame.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(FileError, match=message):
        read_vectors(tmp_path / "t.parquet", TableOptions(**more))


def test_a_file_of_no_vectors_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "two.npz", a=ROWS, b=ROWS)
    with pytest.raises(FileError, match=r"2 arrays of two dimensions \(a, b\)"):
        read_vectors(tmp_path / "two.npz")
    (tmp_path / "g.mtx").write_text("x")
    with pytest.raises(FileError, match="not mtx"):
        read_vectors(tmp_path / "g.mtx")
    (tmp_path / "bad.npy").write_bytes(b"nothing")
    with pytest.raises(FileError, match="is not an array of NumPy"):
        read_vectors(tmp_path / "bad.npy")
    with pytest.raises(FileError, match="does not exist"):
        read_vectors(tmp_path / "none.npy")


def test_text_is_read_as_the_caller_says(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("caf\xe9;1,5;2\nth\xe9;2,5;3\n".replace(",", ".").encode("latin-1"))
    vectors, ids, *_ = read_vectors(path, TableOptions(delimiter=";", header=False, encoding="latin-1", id=1))
    assert ids == ["caf\xe9", "th\xe9"]
    assert vectors.tolist() == [[1.5, 2.0], [2.5, 3.0]]
    renamed = tmp_path / "t.data"
    renamed.write_text("id\tx\ty\na\t1\t2\n")
    assert read_vectors(renamed, TableOptions(format="tsv"))[0].tolist() == [[1.0, 2.0]]
    np.save(tmp_path / "x.npy", ROWS)
    with pytest.raises(FileError, match="leave out delimiter"):
        read_vectors(tmp_path / "x.npy", TableOptions(delimiter=";"))


@pytest.mark.parametrize(
    ("content", "ids", "vectors"),
    [
        ("id,x\n01,2\n3,4\n", ["01", "3"], [[2.0], [4.0]]),
        ("id,x,y\na,1,2\nb,NA,3\n", ["a", "b"], [[2.0], [3.0]]),  # x is text
        ("id,x,y\na,true,2\nb,false,3\n", ["a", "b"], [[1.0, 2.0], [0.0, 3.0]]),
        ("id;x;y\na;1,5;2\nb;1.284,5;3\n", ["a", "b"], [[1.5, 2.0], [1284.5, 3.0]]),
        ('id,x,y\na,"1,284.5",2\nb,"12",3\n', ["a", "b"], [[1284.5, 2.0], [12.0, 3.0]]),
        ("0,1,2\n1,2,3\n", None, [[1.0, 2.0, 3.0]]),  # pandas names columns so
        ("customer,x\n1,5\n1,6\n", None, [[1.0, 5.0], [1.0, 6.0]]),  # not ids, since they repeat
        ("x\n1\n2\n", None, [[1.0], [2.0]]),
        ("# made today\nid,x\na,1\n", ["a"], [[1.0]]),
    ],
)
def test_types_of_text_columns(tmp_path: Path, content: str, ids: list[Any] | None, vectors: list[Any]) -> None:
    (tmp_path / "t.csv").write_text(content)
    found, own, *_ = read_vectors(tmp_path / "t.csv")
    assert own == ids
    np.testing.assert_array_equal(found, vectors)


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("0,0\n9,9\n0,1\n", [[0, 0], [9, 9], [0, 1]]),
        ("0.000e+00 1.000e+00 2.000e+00\n3.000e+00 4.000e+00 5.000e+00\n", [[0, 1, 2], [3, 4, 5]]),  # numpy.savetxt
        ("r0,5.1,3.5\nr1,4.9,3\n", [[5.1, 3.5], [4.9, 3]]),  # ids, which no name tells
        ("1,2,3\n4,5,6\n", [[1, 2, 3], [4, 5, 6]]),
        ("0,1,2\n3,7,5\n", [[3, 7, 5]]),  # names: pandas counts columns so
        ("400,402,404\n3,7,5\n6,6,6\n", [[3, 7, 5], [6, 6, 6]]),  # wavelengths
        ("id,400,500\na,3,7\nb,6,6\n", [[3, 7], [6, 6]]),
        ("x,y\n1,2\n", [[1, 2]]),
    ],
)
def test_a_first_row_of_numbers_is_no_header(tmp_path: Path, content: str, rows: list[Any]) -> None:
    (tmp_path / "t.txt").write_text(content)
    np.testing.assert_array_equal(read_vectors(tmp_path / "t.txt")[0], rows)


def test_features_without_a_header_keep_their_first_row(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("0.5,1.5\n2.5,3.5\n4.5,0.5\n")
    graph = Graph.from_edges([0, 1], [1, 2])
    np.testing.assert_array_equal(
        read_feature_file(tmp_path / "f.csv", graph).at(graph).rows, [[0.5, 1.5], [2.5, 3.5], [4.5, 0.5]]
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,x\n7,5\n,6\n,4\n", "line 3: the id is empty"),
        ("id,x\n7,5\n\n8,6\n7,4\n", r"line 5: the id 7 in 'id' occurs twice, first in line 2; keep one .* with id"),
        ("node,x\nr7,5\nr7,6\n", "line 3: the id 'r7' in 'node' occurs twice"),
        ("row_id,x\n" + "".join(f"{n % 20},{n}\n" for n in range(21)), "line 22: the id 0 in 'row_id' occurs twice"),
    ],
)
def test_an_id_that_occurs_twice_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(FileError, match=message):
        read_vectors(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,x,y\na,1,2\n\nb,2,2\nc,n/a,3\n", r"line 5: 'n/a' in the column 'x' is not a number, .* delete the row or"),
        ("id,x\na,1\nb,2\nc,?\nd,4\n", r"line 4: '\?' in the column 'x' is not a number"),
        ("id;x\na;1,5\nb;2,5\nc;3.5\n", r"line 4: '3\.5' in the column 'x' is not a number"),
        (
            'id,x\na,"1,100"\nb,"2,107"\n',
            r"1,100 in the column 'x' may be a thousand or a fraction: set thousands=True",
        ),
        ("id;x;y\na;1.284;1,5\nb;2.500;2,5\n", r"1\.284 in the column 'x' may be a thousand .* decimal commas"),
        ("id,x,y\na,1,2\n\nb,2,\n", "line 4: the column 'y' has NaN; replace such values"),
        ("a,1,2\nb,2,inf\n", "line 2: the column '3' has infinity"),
    ],
)
def test_values_that_are_no_numbers_are_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(FileError, match=rf"t\.csv(, |: ){message}"):
        read_vectors(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("content", "options", "vectors"),
    [
        ("id;x;y\na;1.284;1,5\nb;2.500;2,5\n", {"decimal": ","}, [[1284.0, 1.5], [2500.0, 2.5]]),
        ("id;x;y\na;1.284;1,5\nb;2.500;2,5\n", {"decimal": "."}, [[1.284, 1.5], [2.5, 2.5]]),
        ('id,x\na,"1,100"\nb,"2,107"\n', {"thousands": True}, [[1100.0], [2107.0]]),
    ],
)
def test_how_numbers_are_written_can_be_said(
    tmp_path: Path, content: str, options: dict[str, Any], vectors: list[Any]
) -> None:
    (tmp_path / "t.csv").write_text(content)
    assert read_vectors(tmp_path / "t.csv", TableOptions(**options)).vectors.tolist() == vectors


def test_a_header_that_is_read_as_a_row_is_suspected(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,y\n1,2\n3,4\n5,6\n")
    with pytest.raises(
        FileError, match=r"line 1: 'x' in the column '1' is not a number, .* or header=True if this row is"
    ):
        read_vectors(tmp_path / "t.csv", TableOptions(header=False))


def test_a_column_of_a_sheet_that_is_mostly_numbers(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": list("abc"), "x": ["1", "2", "n/a"], "code": ["007", "008", "009"], "y": [1, 2, 3]})
    frame.write_excel(tmp_path / "t.xlsx")
    with pytest.raises(FileError, match=r"t\.xlsx, row 4: 'n/a' in the column 'x' is not a number"):
        read_vectors(tmp_path / "t.xlsx")
    frame.drop("x").write_excel(tmp_path / "t.xlsx")
    read = read_vectors(tmp_path / "t.xlsx")
    assert read.vectors.tolist() == [[1.0], [2.0], [3.0]]
    assert str(read.layout).endswith("left out=code")


@pytest.mark.parametrize(
    ("content", "seeds", "ids"),
    [
        ("Kunde,x\n1004,1\n1003,2\n1007,3\n", ["1003", "1007"], [1004, 1003, 1007]),
        ("x,Kunde\n1,007\n2,008\n", ["007"], ["007", "008"]),
        ("r1,1,2\nr2,3,4\n", ["r2"], ["r1", "r2"]),  # no header
        ("Kunde,x\n1004,1\n1003,2\n1007,3\n", ["0", "1"], None),
        ("Nr,x\n0,1\n1,2\n2,3\n", ["0", "1"], None),  # the same as numbers of rows
        ("id,key\n7,1\n8,2\n", ["1"], [7, 8]),  # the name tells
    ],
)
def test_seeds_tell_which_column_has_the_ids(
    tmp_path: Path, content: str, seeds: list[str], ids: list[Any] | None
) -> None:
    (tmp_path / "t.csv").write_text(content)
    assert read_vectors(tmp_path / "t.csv", seeds=seeds).ids == ids


def test_ids_that_may_be_numbers_of_rows_are_a_question(tmp_path: Path) -> None:
    pl.DataFrame({"Kunde": [2, 0, 1, 3], "x": [0.5, 1.5, 2.5, 3.5]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(
        UnclearError, match=r"values of the column 'Kunde' or numbers of rows from 0; .*, as in id='Kunde'$"
    ):
        read_vectors(tmp_path / "t.parquet", seeds=[0, 1])
    assert read_vectors(tmp_path / "t.parquet", TableOptions(id="Kunde"), seeds=[0, 1]).ids == [2, 0, 1, 3]


def test_a_row_of_another_length_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,x,y\na,1,2\nb,1\n")
    with pytest.raises(FileError, match=r"t\.csv, line 3: the row has 2 columns, not 3"):
        read_vectors(tmp_path / "t.csv")


def test_lists_and_numbers_in_json_lines(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"id": "a", "v": [1, 2.5]}\n{"id": "b", "v": [3, 4]}\n')
    vectors, ids, *_ = read_vectors(tmp_path / "t.jsonl")
    assert (vectors.tolist(), ids) == ([[1.0, 2.5], [3.0, 4.0]], ["a", "b"])
    (tmp_path / "t.jsonl").write_text('{"id": "a", "x": 1}\n{"id": "b", "x": 2.5}\n')
    assert read_vectors(tmp_path / "t.jsonl")[0].tolist() == [[1.0], [2.5]]
    (tmp_path / "t.jsonl").write_text('{"id": "a", "v": [1, "x"]}\n')
    with pytest.raises(FileError, match=r"t\.jsonl is not a table in which the lists of 'v' have numbers"):
        read_vectors(tmp_path / "t.jsonl")


def test_features_take_the_same_options(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_bytes("caf\xe9;1\nth\xe9;2\n".encode("cp1252"))
    graph = Graph.from_edges(["th\xe9"], ["caf\xe9"])
    file = read_feature_file(
        tmp_path / "f.csv", graph, TableOptions(id=1, header=False, delimiter=";", encoding="cp1252")
    )
    assert file.at(graph).rows.tolist() == [[2.0], [1.0]]


def test_features_need_an_id_in_each_row(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("id,x\na,1\n,2\n")
    with pytest.raises(FileError, match=r"f.csv, row 2: the id is empty; fill it in, or drop the row"):
        read_feature_file(tmp_path / "f.csv", options=TableOptions(id="id"))


def test_rows_without_ids_are_nodes_in_order(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("x,y\n0.5,1.5\n2.5,3.5\n4.5,0.5\n")
    graph = Graph.from_edges([0, 1], [1, 2])
    np.testing.assert_array_equal(
        read_feature_file(tmp_path / "f.csv", graph).at(graph).rows, [[0.5, 1.5], [2.5, 3.5], [4.5, 0.5]]
    )


def test_the_ids_of_a_table_of_nodes(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [1, 2, 3], "account": ["a", None, "c"], "city": ["x", "y", "z"]})
    frame.write_csv(tmp_path / "n.csv")
    assert read_node_ids(tmp_path / "n.csv") == ["a", "c"]
    assert read_node_ids(tmp_path / "n.csv", id="city") == ["x", "y", "z"]
    frame.drop("account").write_csv(tmp_path / "n.csv")
    assert read_node_ids(tmp_path / "n.csv") == ["1", "2", "3"], "the first column, if no name tells"
    np.save(tmp_path / "n.npy", ROWS)
    with pytest.raises(FileError, match=r"n.npy is an array, which has no ids of nodes; give a table"):
        read_node_ids(tmp_path / "n.npy")
