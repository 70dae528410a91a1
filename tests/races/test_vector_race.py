"""The race on tables of vectors: draws are the same for all, and a run that was ended goes on where it stopped."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("graphlearning", reason="a peer of the benchmarks")
vectors = pytest.importorskip("benchmarks.vectors", reason="benchmarks are not installed")


@pytest.fixture
def task() -> Any:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    # The classes touch, because Poisson learning needs a connected graph.
    return vectors.Task("made", rng.standard_normal((90, 4)) + 2.5 * y[:, None], y)


def test_a_draw_shows_as_many_labels_of_each_class(task: Any) -> None:
    shown = task.shown(4, draw=1)
    assert np.bincount(shown[shown >= 0]).tolist() == [4, 4, 4]
    assert (shown == task.shown(4, draw=1)).all()
    assert (shown != task.shown(4, draw=2)).any()
    assert (task.labels[shown >= 0] == shown[shown >= 0]).all()


@pytest.mark.parametrize("method", vectors.METHODS)
@pytest.mark.filterwarnings("ignore")
def test_every_method_labels_easy_rows(task: Any, method: str) -> None:
    shown = task.shown(10, draw=0)
    found = vectors.METHODS[method](task, shown)
    assert np.mean(found == task.labels) > 0.9


@pytest.mark.filterwarnings("ignore")
def test_outcomes_are_kept(task: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "KEPT", tmp_path / "kept.jsonl")
    first = vectors._wrong(task, vectors.OURS, 3, 0, {})
    monkeypatch.setattr(vectors, "METHODS", {})
    assert vectors._wrong(task, vectors.OURS, 3, 0, vectors._kept()) == first
