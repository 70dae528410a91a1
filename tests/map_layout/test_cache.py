"""Finished maps are kept on disk: found again, harmless when damaged, and never too many."""

import os
from pathlib import Path

import numpy as np
import pytest

from isotherm.graphs import Graph
from isotherm.map_layout import cache, placement
from isotherm.map_layout.cache import fetch, fingerprint, keep

N = 3000
MAP = np.arange(2 * N, dtype=np.float32).reshape(N, 2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "isotherm" / "maps"


def ring(shift: int = 1) -> Graph:
    return Graph.from_edges(np.arange(N), (np.arange(N) + shift) % N)


def test_a_map_is_found_again_without_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ring().layout()
    assert [path.suffix for path in folder.iterdir()] == [".map"]
    monkeypatch.setattr(placement, "place", lambda *_, **__: pytest.fail("placed again"))
    np.testing.assert_array_equal(ring().layout(), first)


def test_another_graph_or_seed_has_another_name() -> None:
    names = {fingerprint(graph.csr, seed) for graph in (ring(), ring(7)) for seed in (0, 1)}
    assert len(names) == 4


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-1], lambda b: b"", lambda b: b[:50] + b"x" + b[51:], lambda b: b + b"0"]
)
def test_a_damaged_map_is_replaced(folder: Path, damage: "type[bytes]") -> None:
    first = ring().layout()
    (path,) = folder.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    np.testing.assert_array_equal(ring().layout(), first)
    assert fetch(path.stem, N) is not None


def test_the_map_of_another_graph_under_this_name_is_ignored(folder: Path) -> None:
    keep("one", MAP)
    (folder / "one.map").rename(folder / "two.map")
    assert fetch("two", N) is None


def test_what_was_not_used_for_longest_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_BYTES", 3 * 8 * N)
    for age, name in enumerate(["a", "b"]):
        keep(name, MAP)
        os.utime(folder / f"{name}.map", (age, age))
    assert fetch("a", N) is not None  # used now
    keep("c", MAP)
    assert {path.stem for path in folder.iterdir()} == {"a", "c"}


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert ring().layout().shape == (N, 2)
