"""Parquet and Arrow: ids of their own type, columns by name, and damaged files."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import polars as pl
import pytest
from xlsxwriter import Workbook

from isotherm.io import FileError, FileWarning, read_graph, read_graph_file, read_seeds, tables
from isotherm.io.file_layout import Options
from isotherm.io.vectors import TableOptions, read_vectors

EDGES = pl.DataFrame({"source": ["a", "b", "c"], "target": ["b", "c", "a"], "weight": [1.0, 2.0, 4.0]})
WRITERS = {
    "e.parquet": pl.DataFrame.write_parquet,
    "e.pq": pl.DataFrame.write_parquet,
    "e.arrow": pl.DataFrame.write_ipc,
    "e.feather": pl.DataFrame.write_ipc,
    "e.ipc": pl.DataFrame.write_ipc_stream,
}


def save(frame: pl.DataFrame, path: Path) -> Path:
    writer: Any = WRITERS[path.name]
    writer(frame, path)
    return path


@pytest.mark.parametrize("name", WRITERS)
def test_columns_are_found_by_name(tmp_path: Path, name: str) -> None:
    graph, layout, _ = read_graph_file(
        save(EDGES.select("weight", "target", "source"), tmp_path / name), Options(directed=True)
    )
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [0, 0, 2], [4, 0, 0]]
    assert graph.nodes.tolist() == ["a", "b", "c"]
    assert str(layout) == "source=col 3 (source), target=col 2 (target), weight=col 1 (weight)"


@pytest.mark.parametrize("name", WRITERS)
def test_columns_without_telling_names(tmp_path: Path, name: str) -> None:
    path = save(EDGES.rename(dict(zip(EDGES.columns, ["x", "y", "z"], strict=True))), tmp_path / name)
    with pytest.warns(FileWarning, match="the numbers in 'z' are not read, so all edges weigh the same; .* weight='z'"):
        assert not read_graph(path).weighted  # a third column of another name is no weight
    assert not read_graph(path, weight=False).weighted  # warnings are errors here
    assert read_graph(path, weight="z").weighted
    assert read_graph(path, weight=3).weighted


@pytest.mark.parametrize("dtype", ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"])
def test_integers_stay_integers(tmp_path: Path, dtype: str) -> None:
    frame = pl.DataFrame({"u": [5, 7, 120], "v": [7, 9, 5]}, schema=dict.fromkeys("uv", getattr(pl, dtype)))
    nodes = read_graph(save(frame, tmp_path / "e.parquet")).nodes
    assert nodes.dtype == np.int64
    assert nodes.tolist() == [5, 7, 9, 120]


def test_negative_and_large_integers(tmp_path: Path) -> None:
    ids = [-(2**63), -1, 0, 2**63 - 1]
    path = save(pl.DataFrame({"u": ids, "v": ids[1:] + ids[:1]}), tmp_path / "e.parquet")
    assert read_graph(path).nodes.tolist() == ids


def test_categories_are_texts(tmp_path: Path) -> None:
    path = save(EDGES.with_columns(pl.col("source", "target").cast(pl.Categorical)), tmp_path / "e.parquet")
    assert read_graph(path).nodes.tolist() == ["a", "b", "c"]


def test_float32_weights_stay_float32(tmp_path: Path) -> None:
    path = save(EDGES.with_columns(pl.col("weight").cast(pl.Float32)), tmp_path / "e.parquet")
    weights = read_graph(path).csr.weights
    assert weights is not None
    assert weights.dtype == np.float32


def test_batches_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    ends = rng.integers(0, 500, size=(2, 5000))
    frame = pl.DataFrame({"source": ends[0].astype(str), "target": ends[1].astype(str), "w": rng.random(5000)})
    path = save(frame, tmp_path / "e.parquet")
    whole = read_graph(path, directed=True)
    monkeypatch.setattr(tables, "ROWS", 97)
    parts = read_graph(path, directed=True)
    assert parts.nodes.tolist() == whole.nodes.tolist() == list(dict.fromkeys(ends.T.ravel().astype(str).tolist()))
    np.testing.assert_array_equal(parts.adjacency.toarray(), whole.adjacency.toarray())
    expected = np.zeros((500, 500))
    position = {int(node): place for place, node in enumerate(whole.nodes)}
    for u, v, w in zip(*ends.tolist(), frame["w"], strict=True):
        expected[position[u], position[v]] += w
    np.testing.assert_allclose(whole.adjacency.toarray(), expected[: len(position), : len(position)])


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (EDGES.clear(), "has no rows"),
        (EDGES.select("source"), "has 1 column, but an edge needs"),
        (EDGES.with_columns(target=pl.Series(["b", None, "a"])), "row 2: the target is empty"),
        (EDGES.with_columns(target=pl.Series(["b", "c", ""])), "row 3: the target is empty"),
        (EDGES.with_columns(weight=pl.Series([1.0, None, 1.0])), "row 2: the weight is empty"),
        (EDGES.with_columns(weight=pl.Series([1.0, 2.0, -3.0])), r"row 3: the weight is -3\.0"),
        (EDGES.with_columns(weight=pl.Series([1.0, 2.0, np.nan])), "row 3: the weight is nan"),
        (EDGES.with_columns(weight=pl.Series(["1", "2", "x"])), "row 3: the weight is 'x'"),
        (EDGES.with_columns(weight=pl.lit([1])), r"the weight column holds List\(Int\d\d\), not numbers"),
        (EDGES.with_columns(source=pl.lit(1.5)), "the source column holds Float64; ids are text or .*, so convert the"),
        (EDGES.with_columns(source=pl.lit(1)), "both must be text, or both integers"),
        (
            EDGES.with_columns(pl.lit(2**64 - 1, dtype=pl.UInt64).alias(n) for n in ["source", "target"]),
            "store the ids",
        ),
    ],
)
def test_bad_tables(tmp_path: Path, frame: pl.DataFrame, sentence: str) -> None:
    with pytest.raises(FileError, match=sentence):
        read_graph(save(frame, tmp_path / "e.parquet"))


@pytest.mark.parametrize("name", ["e.parquet", "e.arrow", "e.ipc"])
def test_truncated(tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame({"source": range(10_000), "target": range(1, 10_001)})
    path = save(frame, tmp_path / name)
    content = path.read_bytes()
    for end in (0, 3, 8, len(content) // 2, len(content) - 1) if name != "e.ipc" else (0, 3, len(content) // 2):
        path.write_bytes(content[:end])
        with pytest.raises(FileError, match=f"{name} is (empty|not an? (Parquet|Arrow) file, or is damaged)"):
            read_graph(path)
    assert "panicked" not in capfd.readouterr().err


def test_another_kind_of_file(tmp_path: Path) -> None:
    for name in ("e.parquet", "e.arrow", "e.ipc"):
        (tmp_path / name).write_text("source,target\na,b\n" * 100)
        with pytest.raises(FileError, match=r"is not an? "):
            read_graph(tmp_path / name)
    path = save(EDGES, tmp_path / "e.parquet")
    with pytest.raises(FileError, match=r"is Parquet; end its name in \.parquet"):
        read_graph(path, format="csv")


def test_whole_ids_may_be_floats(tmp_path: Path) -> None:
    """As pandas writes integers of a column in which others are missing."""
    floats = pl.DataFrame({"source": [1.0, 2.0], "target": [2.0, 3.0]})
    assert read_graph(save(floats, tmp_path / "e.parquet")).nodes.tolist() == [1, 2, 3]


def test_sheets_of_excel(tmp_path: Path) -> None:
    path = tmp_path / "e.xlsx"
    pl.DataFrame({"source": ["a"], "leer": [None], "target": ["b"]}).write_excel(path)
    script = f"from isotherm.io import read_graph; print(read_graph({str(path)!r}).n_edges)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("1\n", ""), "a column without values is nothing to tell"
    with Workbook(path) as book:
        pl.DataFrame({"notes": ["read this"]}).write_excel(book, "notes")
        EDGES.write_excel(book, "edges")
    with pytest.raises(FileError, match=r"e\.xlsx has 1 column \(only the first sheet is read\), but an edge needs"):
        read_graph(path)


@pytest.fixture
def piped(tmp_path: Path) -> Iterator[Callable[[Path], Path]]:
    """A pipe through which the content of a file comes."""
    threads = []

    def pipe(path: Path) -> Path:
        os.mkfifo(tmp_path / "pipe")
        threads.append(Thread(target=(tmp_path / "pipe").write_bytes, args=[path.read_bytes()], daemon=True))
        threads[0].start()
        return tmp_path / "pipe"

    yield pipe
    for thread in threads:
        thread.join(10)


def test_a_sheet_from_a_pipe(tmp_path: Path, piped: Callable[[Path], Path]) -> None:
    EDGES.write_excel(tmp_path / "e.xlsx")
    assert (
        read_graph(piped(tmp_path / "e.xlsx"), format="xlsx").nodes.tolist()
        == read_graph(tmp_path / "e.xlsx").nodes.tolist()
    )


def test_vectors_from_a_pipe(tmp_path: Path, piped: Callable[[Path], Path]) -> None:
    np.savez(tmp_path / "v.npz", vectors=np.eye(2))
    assert read_vectors(piped(tmp_path / "v.npz"), TableOptions(format="npz")).vectors.tolist() == [[1, 0], [0, 1]]


def test_the_remedy_for_a_pipe_names_no_suffix(tmp_path: Path, piped: Callable[[Path], Path]) -> None:
    EDGES.write_excel(tmp_path / "e.xlsx")
    with pytest.raises(FileError, match=r"pipe is zip, npz or Excel; set format$"):
        read_graph(piped(tmp_path / "e.xlsx"))


def test_compressing_twice_is_refused(tmp_path: Path) -> None:
    path = save(EDGES, tmp_path / "e.parquet").rename(tmp_path / "e.parquet.gz")
    with pytest.raises(FileError, match="parquet files are compressed inside"):
        read_graph(path)


def test_names_with_patterns_are_names(tmp_path: Path) -> None:
    path = tmp_path / "e[1]*.parquet"
    EDGES.write_parquet(path)
    assert read_graph(path).n_edges == 3


def test_json_lines_hold_seeds_only(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text('{"node": "a", "label": 1}\n\n{"label": 2, "node": "b", "x": []}\n')
    assert read_seeds(path) == {"a": 1, "b": 2}
    with pytest.raises(FileError, match="jsonl files hold seeds or labels; edges are read from CSV or Parquet"):
        read_graph(path)
    for content, sentence in {
        "": "is empty",
        "\n": "has no rows",
        '{"node": 1, "label": 2}\n[1]\n': "line 2: '\\[1\\]' is not a JSON object",
        "node,label\n": "line 1",
        '{"node": "a", "label": 1}\n{"node": 2, "label": 1}\n': "are int and str; they must be of one kind",
    }.items():
        path.write_text(content)
        with pytest.raises(FileError, match=sentence):
            read_seeds(path)
