"""The harness of the benchmarks, on a small graph."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.graphs import balanced_seeds, power_law  # noqa: E402 - the folder is no installed package
from benchmarks.harness import Contestant, Race, refuse_unless_equal  # noqa: E402


def test_a_small_run_prints_medians_spread_and_ratio() -> None:
    command = [sys.executable, "-m", "benchmarks", "foundation", "--scale", "0.01", "--rounds", "2"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    rows = [line for line in result.stdout.splitlines() if line.startswith("| ")]
    assert len(rows) == 3
    assert all(row.count("|") == 6 for row in rows)


def test_contestants_take_turns() -> None:
    order: list[str] = []
    race = Race("work", Contestant("peer", lambda: order.append("p")), Contestant("us", lambda: order.append("o")), 2)
    race.run(3)
    assert order == list("popopo")
    race.peer.seconds, race.ours.seconds = [2.0, 4.0, 3.0], [1.0, 1.0, 2.0]
    assert race.ratio == 3
    assert "3.0 (1.5 to 4.0)" in race.row()
    assert "2: reached" in race.row()
    race.goal = 3.5
    assert "MISSED" in race.row()


def test_a_peer_with_other_labels_is_refused() -> None:
    scores = np.eye(2)[[0, 1, 1, 0]]
    labels = scores.argmax(axis=1)
    refuse_unless_equal(labels, labels, scores, "same")
    with pytest.raises(SystemExit, match="1 of 4 clear labels differ"):
        refuse_unless_equal(labels, np.array([0, 1, 1, 1]), scores, "other")


def test_power_law_graph() -> None:
    matrix = power_law(2000, 20_000)
    assert (matrix != matrix.T).nnz == 0
    assert matrix.diagonal().sum() == 0
    assert set(matrix.data) == {1.0}
    degrees = np.sort(np.diff(matrix.indptr))[::-1]
    assert degrees[0] > 10 * np.median(degrees)


def test_balanced_seeds() -> None:
    labels = balanced_seeds(1000, 50, 5)
    np.testing.assert_array_equal(np.bincount(labels[labels >= 0]), [10] * 5)
