"""Packing edges out of core gives the graph that reading them into memory gives."""

import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import isotherm as iso
from isotherm.io.packing import Buckets, balanced_bounds

TINY = 1 << 22


def weights_by_id(graph: iso.Graph) -> dict[tuple[Any, Any], float]:
    matrix, ids = graph.adjacency.tocoo(), [str(node) for node in graph.nodes[:].tolist()]
    return {(ids[i], ids[j]): w for i, j, w in zip(matrix.row, matrix.col, matrix.data, strict=True)}


def assert_same(packed: iso.Graph, read: iso.Graph) -> None:
    assert weights_by_id(packed) == pytest.approx(weights_by_id(read), rel=1e-6)
    assert set(map(str, packed.nodes[:].tolist())) == set(map(str, read.nodes[:].tolist()))
    assert packed.weighted == read.weighted
    assert iso.Graph.open(packed.folder, verify=True).n_nodes == read.n_nodes  # type: ignore[attr-defined]


EDGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([0.0, 0.5, 1.0, 2.0])), min_size=1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(
    edges=EDGES,
    weighted=st.booleans(),
    directed=st.booleans(),
    mirrored=st.booleans(),
    kind=st.sampled_from(["csv", "parquet", "text"]),
)
def test_the_graph_is_that_of_read_graph(
    tmp_path: Path, edges: list[Any], weighted: bool, directed: bool, mirrored: bool, kind: str
) -> None:
    edges = edges + [(j, i, w) for i, j, w in edges] if mirrored else edges
    frame = pl.DataFrame(edges, schema=["source", "target", "weight"], orient="row")
    frame = frame if weighted else frame.drop("weight")
    if kind == "text":
        frame = frame.with_columns(pl.col("source", "target").cast(pl.String).str.replace("^", "n"))
    path = tmp_path / ("edges.parquet" if kind == "parquet" else "edges.csv")
    frame.write_parquet(path) if kind == "parquet" else frame.write_csv(path)
    shutil.rmtree(tmp_path / "graph.iso", ignore_errors=True)
    assert_same(
        iso.pack_edges(path, tmp_path / "graph.iso", directed=directed), iso.read_graph(path, directed=directed)
    )


@pytest.mark.parametrize("ids", ["small", "gaps", "sparse", "text"])
def test_many_buckets_and_many_files(tmp_path: Path, ids: str) -> None:
    rng = np.random.default_rng(0)
    ends = (3000 * rng.random((2, 300_000)) ** 2).astype(np.int64)
    ends[:, :20_000] = np.where(rng.random((2, 20_000)) < 0.5, 7, ends[:, :20_000])  # a hub
    known: Any = {
        "small": np.arange(3000),
        "gaps": np.sort(rng.permutation(20_000)[:3000]),
        "sparse": np.sort(rng.integers(-(2**62), 2**62, 3000)),
        "text": np.array([f"node {number}" for number in range(3000)], dtype=object),
    }[ids]
    (tmp_path / "edges" / "day=1").mkdir(parents=True)
    parts = [tmp_path / "edges" / "a.parquet", tmp_path / "edges" / "day=1" / "b.parquet", tmp_path / "c.parquet"]
    for path, part in zip(parts, np.array_split(known[ends], 3, axis=1), strict=True):
        pl.DataFrame({"source": part[0], "target": part[1]}).write_parquet(path)
    (tmp_path / "edges" / "_SUCCESS").touch()
    seen = []
    packed = iso.pack_edges(
        [tmp_path / "edges", tmp_path / "c.parquet"],
        tmp_path / "graph.iso",
        max_memory=TINY,
        progress=lambda share, total, note: seen.append((share, note)),
    )
    listed = known[ends]
    assert_same(packed, iso.Graph.from_edges(listed[0], listed[1]))
    assert max(int(note.split()[3]) for _, note in seen if note.startswith("dealing")) >= 10
    assert [share for share, _ in seen][-1] == 1
    assert sorted(path.name for path in (tmp_path / "graph.iso").iterdir())[0] in ("ids.npy", "indices.npy")
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_parallel_edges_can_count_once(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source,target,weight\n1,2,5\n2,1,3\n1,2,2\n2,3,1\n3,3,9\n")
    packed = iso.pack_edges(tmp_path / "edges.csv", tmp_path / "graph.iso", simple=True)
    assert weights_by_id(packed) == {("1", "2"): 1, ("2", "1"): 1, ("2", "3"): 1, ("3", "2"): 1}
    assert not packed.weighted


def test_a_list_in_both_directions_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("a,b,2\nb,a,2\nb,c,3\nc,b,3\n")
    options = {"header": False}
    packed = iso.pack_edges(tmp_path / "edges.csv", tmp_path / "graph.iso", **options)  # type: ignore[arg-type]
    assert weights_by_id(packed)["a", "b"] == 2
    (tmp_path / "edges.csv").write_text("a,b,2\nb,a,2.5\nb,c,3\nc,b,3\n")
    packed = iso.pack_edges(tmp_path / "edges.csv", tmp_path / "graph.iso", force=True, **options)  # type: ignore[arg-type]
    assert weights_by_id(packed)["a", "b"] == 4.5


@pytest.mark.parametrize(
    ("ids", "kept"),
    [(["1", "2", "30"], [1, 2, 30]), (["1", "2", "03"], ["03", "1", "2"]), (["-1", "2", "3"], [-1, 2, 3])],
)
def test_whole_numbers_in_text_are_stored_as_integers(tmp_path: Path, ids: list[str], kept: list[Any]) -> None:
    (tmp_path / "edges.csv").write_text("source,target\n" + f"{ids[0]},{ids[1]}\n" * 3 + f"{ids[1]},{ids[2]}\n")
    packed = iso.pack_edges(tmp_path / "edges.csv", tmp_path / "graph.iso")
    assert packed.nodes[:].tolist() == kept
    seeds = iso.io.match_seeds({ids[0]: "x", ids[2]: "y"}, packed)
    assert [str(node) for node in seeds] == [ids[0], ids[2]]


def test_texts_in_parquet_stay_texts(tmp_path: Path) -> None:
    pl.DataFrame({"source": ["1", "2"], "target": ["2", "3"]}).write_parquet(tmp_path / "edges.parquet")
    assert iso.pack_edges(tmp_path / "edges.parquet", tmp_path / "graph.iso").nodes[:].tolist() == ["1", "2", "3"]


def test_other_formats_are_packed_too(tmp_path: Path) -> None:
    (tmp_path / "graph.metis").write_text("3 2\n2\n1 3\n2\n")
    packed = iso.pack_edges(tmp_path / "graph.metis", tmp_path / "graph.iso")
    assert_same(packed, iso.read_graph(tmp_path / "graph.metis"))
    assert_same(iso.pack_edges(tmp_path / "graph.iso", tmp_path / "again.iso"), packed)


def refusal(tmp_path: Path, *names: str, **options: Any) -> str:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the caller looks at it
        iso.pack_edges([tmp_path / name for name in names], tmp_path / "graph.iso", **options)
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(("iso", "tmp"))]
    return str(refused.value).replace(f"{tmp_path}{os.sep}", "")


def test_what_is_wrong_is_said_and_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "edges.csv").write_text("source,target,weight\na,b,1\nb,c,\n")
    (tmp_path / "more.csv").write_text("source,target\n1,2\n,3\n")
    (tmp_path / "graph.metis").write_text("3 2\n2\n1 3\n2\n")
    (tmp_path / "nothing").mkdir()
    pl.DataFrame({"source": [1], "target": [2]}).write_parquet(tmp_path / "ints.parquet")
    pl.DataFrame({"source": ["x"], "target": ["y"]}).write_parquet(tmp_path / "texts.parquet")
    os.mkfifo(tmp_path / "pipe")
    assert "edges.csv, line 3: the weight is empty" in refusal(tmp_path, "edges.csv")
    assert "more.csv, line 3: the source is empty" in refusal(tmp_path, "more.csv")
    assert "none.csv does not exist" in refusal(tmp_path, "none.csv")
    assert "nothing holds no tables of edges" in refusal(tmp_path, "nothing")
    assert "pipe: edges are read twice" in refusal(tmp_path, "pipe")
    assert "graph.metis holds a whole graph" in refusal(tmp_path, "ints.parquet", "graph.metis")
    found = refusal(tmp_path, "ints.parquet", "texts.parquet")
    assert "ints.parquet: ids are integers here but text in another file" in found
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 10))
    assert re.search(r"packing needs about \d KB of disk, but .* has only 0 KB", refusal(tmp_path, "ints.parquet"))


def test_a_node_with_too_many_edges_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    buckets = Buckets(tmp_path, np.array([0, 1, 9]), None)
    count = (1 << 26) // 36 + 2
    buckets.deal(np.zeros(count, np.int32), np.ones(count, np.int32), None)
    with pytest.raises(iso.FileError, match=r"the node at position 0 has 1,8.* raise max_memory"):
        buckets.rows(0, simple=False, memory=TINY)


@pytest.mark.parametrize("buckets", [1, 2, 7, 60])
def test_bounds_are_balanced(buckets: int) -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([(1000 * rng.random(50_000) ** 3).astype(np.int64), np.full(20_000, 123)])
    bounds = balanced_bounds(rows, 1000, buckets)
    assert (bounds[0], bounds[-1]) == (0, 1000)
    assert np.all(np.diff(bounds) > 0)
    sizes = np.diff(np.searchsorted(np.sort(rows), bounds))
    largest = max(len(rows) / buckets, np.bincount(rows).max())
    assert sizes.max() <= 2.5 * largest
