"""Files of vectors: the same table in every format, and one sentence for what is wrong."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array, issparse, save_npz

from isotherm.io import FileError
from isotherm.io.vectors import read_vectors, read_vectors_file

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
    vectors, ids = read_vectors(tmp_path / name)
    np.testing.assert_array_equal(vectors, ROWS)
    assert ids == ["a", "b", "c"]


def test_arrays_count_their_rows(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", ROWS.astype(np.float32))
    np.savez(tmp_path / "one.npz", labels=np.arange(3), rows=ROWS)
    np.savez(tmp_path / "named.npz", other=np.ones((2, 2)), vectors=ROWS)
    for name in ("x.npy", "one.npz", "named.npz"):
        vectors, ids = read_vectors(tmp_path / name)
        np.testing.assert_array_equal(vectors, ROWS)
        assert ids is None
    save_npz(tmp_path / "sparse.npz", csr_array(ROWS))
    sparse, _ = read_vectors(tmp_path / "sparse.npz")
    assert issparse(sparse)
    np.testing.assert_array_equal(sparse.toarray(), ROWS)


def test_columns_that_are_no_features_are_left_out(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "t.csv")
    read = read_vectors_file(tmp_path / "t.csv")
    assert str(read.layout) == "id=col 1 (id), vectors=col 2 (x), to=col 3 (y)"
    numbered = FRAME.drop("id")
    numbered.write_csv(tmp_path / "n.csv")
    assert read_vectors_file(tmp_path / "n.csv").layout.first_id == 0
    _, ids = read_vectors(tmp_path / "t.csv", id="note")
    assert ids == ["p", "q", "r"]


def test_texts_are_compared_by_their_words(tmp_path: Path) -> None:
    pl.DataFrame({"id": [7, 8, 9], "body": ["red apple", "apple red red", None]}).write_parquet(tmp_path / "t.parquet")
    vectors, ids = read_vectors(tmp_path / "t.parquet", text="body")
    assert vectors.shape == (3, 2)
    assert ids == [7, 8, 9]
    assert vectors[[2]].nnz == 0
    cosine = (vectors[[0]] @ vectors[[1]].T).toarray()[0, 0]
    assert 0.9 < cosine < 1


@pytest.mark.parametrize(
    ("frame", "message", "more"),
    [
        (pl.DataFrame({"a": ["x", "y"]}), "no numeric columns .* text", {}),
        (FRAME, "has no column 'body' for text", {"text": "body"}),
        (FRAME, "column x holds Float64, not texts", {"text": "x"}),
        (pl.DataFrame({"v": [[1.0, 2.0], [1.0]]}), "row 2: the list has not as many numbers", {}),
        (pl.DataFrame({"v": [[1.0]], "w": [[2.0]]}), "2 columns of lists", {}),
        (pl.DataFrame({"id": ["a", None], "x": [1.0, 2.0]}), "row 2: the id is empty", {"id": "id"}),
    ],
    ids=range(6),
)
def test_what_is_wrong_is_said(frame: pl.DataFrame, message: str, more: dict[str, str], tmp_path: Path) -> None:
    frame.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(FileError, match=message):
        read_vectors(tmp_path / "t.parquet", **more)


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
