"""The benchmarks of a billion edges, at a thousandth of their size and less."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import billion, graph500  # noqa: E402 - the folder is no installed package


@pytest.mark.slow
def test_a_thousandth_of_a_billion_edges(tmp_path: Path) -> None:
    """A million edges in many buckets, packed and classified by the same commands as the billion."""
    command = [sys.executable, "-m", "benchmarks", "billion", "--scale", "0.001"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    printed = [line for line in result.stdout.splitlines() if line.startswith("| ")][1:]
    assert len(printed) == 9
    for row, work in ((printed[1], "pack"), (printed[3], "classify"), (printed[4], "wrong labels")):
        assert work in row
        assert "reached" in row  # the goals for memory, and labels; seconds depend on what else runs


def test_the_generated_graph_has_hubs_and_communities(tmp_path: Path) -> None:
    sizes = billion.Sizes.at(0.0001)
    billion.write_edges(tmp_path / "edges", sizes, part=30_000)
    edges = pl.read_parquet(tmp_path / "edges")
    assert len(list((tmp_path / "edges").iterdir())) == 4
    assert edges.height == sizes.edges == 100_000
    group = billion.communities(sizes.nodes)
    inside = group[edges["source"].to_numpy()] == group[edges["target"].to_numpy()]
    assert 0.82 < inside.mean() < 0.88  # four in five, and a quarter of the others by chance
    degrees = np.bincount(edges.to_numpy().ravel(), minlength=sizes.nodes)
    expected = 2 * sizes.edges * sizes.nodes ** (-1 / billion.SKEW)  # the share of the node of the first rank
    assert 0.7 * expected < degrees.max() < 1.3 * expected
    assert np.count_nonzero(degrees) > 0.99 * sizes.nodes
    billion.write_seeds(tmp_path / "seeds.parquet", sizes.nodes)
    seeds = pl.read_parquet(tmp_path / "seeds.parquet")
    assert seeds.height == 50
    assert seeds["label"].to_list() == group[seeds["node"].to_numpy()].tolist()


def test_the_graph_of_graph_500_has_its_quarters_and_scattered_ids() -> None:
    """Before ids are scattered, a quarter of the matrix has as many edges as its probability says."""
    bits, count = 12, 200_000
    ids = graph500.scattered(np.arange(1 << bits, dtype=np.uint64), bits)
    assert np.array_equal(np.sort(ids), np.arange(1 << bits))
    ranks = np.argsort(ids)
    source, target = (ranks[ends.astype(np.int64)] for ends in graph500.edges_of(0, count, bits))
    for bit in (0, bits - 1):
        quarters = np.bincount(2 * (source >> bit & 1) + (target >> bit & 1), minlength=4) / count
        np.testing.assert_allclose(quarters, [0.57, 0.19, 0.19, 0.05], atol=0.005)
    low = np.sort(ids[:16])  # the nodes of highest degree are not neighbours any more
    assert np.diff(low.astype(np.int64)).min() > 1
