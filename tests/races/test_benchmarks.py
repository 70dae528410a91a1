"""The harness of the benchmarks, on a small graph."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from small_data import write_graph, write_small_data

import isotherm as iso
from isotherm import kernels

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import graphs, process  # noqa: E402 - the folder is no installed package
from benchmarks.__main__ import SUITES  # noqa: E402
from benchmarks.commits import measured_commit, stale  # noqa: E402
from benchmarks.graphs import balanced_seeds, communities, kept_power_law, power_law  # noqa: E402
from benchmarks.harness import Contestant, Race, refuse_unless_equal  # noqa: E402
from benchmarks.many_classes import draw_seeds  # noqa: E402
from benchmarks.page import BARS, HEADLINES, _bars, write_page  # noqa: E402
from benchmarks.processors import bytes_to_move, parallel_copy  # noqa: E402
from benchmarks.results import Cost, Point, Result, Run, latest, overwrite, store  # noqa: E402


def run_benchmarks(folder: Path, *arguments: str) -> list[str]:
    """The rows that a run prints, without the head of the table."""
    command = [sys.executable, "-m", "benchmarks", *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return [line for line in result.stdout.splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize(
    ("suite", "rows", "needs"),
    [
        ("foundation", 4, ()),
        ("laplace-learning", 1, ("graphlearning",)),
        ("grid", 2, ("pyamg",)),
        ("directed", 4, ()),
        ("answers", 6, ()),
        ("fields", 3, ("skimage",)),
        ("small", 3, ()),
        ("backend", 4, ()),
        ("cells", 4, ("anndata",)),
        ("growth", 1, ("graphlearning", "pyamg")),
    ],
)
def test_a_small_run_prints_medians_spread_and_ratio(
    suite: str, rows: int, needs: tuple[str, ...], tmp_path: Path
) -> None:
    for name in needs:
        pytest.importorskip(name)
    printed = run_benchmarks(tmp_path, suite, "--scale", "0.005", "--rounds", "2")
    assert len(printed) == rows
    assert all(row.count("|") == 6 for row in printed)
    assert " to " in printed[0]
    (kept,) = latest([tmp_path / "out" / "benchmarks.jsonl"], 0.005, [suite])
    assert [result.row() for result in kept.results] == printed
    assert len(kept.results[0].ours) == len(kept.results[0].theirs) == 2
    assert all(len(point.seconds) == 2 for point in kept.points)


def test_confidence_on_small_graphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTHERM_DATA", str(write_small_data(tmp_path)))
    printed = run_benchmarks(tmp_path, "confidence", "--scale", "0.01")
    works = [row.split("|")[1].strip() for row in printed]
    assert [work for work in works if "block model" in work] == works[:4]
    assert works[-4:] == [
        "calibration error, worst graph, draws together",
        "calibration error, worst graph, single draws",
        "coverage of 90% on 2 graphs, farthest from 0.905",
        "one less macro-F1, mean of 7 graphs",
    ]


def test_many_classes_on_a_small_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTHERM_DATA", str(write_small_data(tmp_path)))
    rows = run_benchmarks(tmp_path, "many-classes", "--scale", "0.02", "--rounds", "1")
    assert ["limit: 2 GB" in row for row in rows] == [True, False, True, False]  # memory and time of two graphs
    assert rows[0].endswith("at least 1: reached |")


def test_hard_graphs_on_small_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyamg")
    monkeypatch.setenv("ISOTHERM_DATA", str(write_small_data(tmp_path)))
    for name in ("road_usroads", "road_luxembourg_osm", "knn_mnist10k", "knn_usps"):
        write_graph(tmp_path, name, [1000])
    rows = run_benchmarks(tmp_path, "hard-graphs", "communities", "--rounds", "1")
    assert len([row for row in rows if "SciPy cg" in row]) == 6
    assert any("PyAMG" in row for row in rows)


@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
def test_labels_needed_on_a_small_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import labelling

    monkeypatch.setattr(labelling, "STEP", 0.06)
    monkeypatch.setattr(labelling, "MOST", 0.6)
    curve = labelling.Curve("karate", 2)
    assert curve.sizes[0] >= 3
    assert curve.suggested.shape == (2, len(curve.sizes))
    assert curve.uniform.shape == (8, len(curve.sizes))
    curve.shares, curve.sizes = np.array([0.1, 0.2, 0.3]), np.array([1, 2, 3])
    curve.uniform, curve.suggested = np.array([[0.2, 0.4, 0.6]]), np.array([[0.3, 0.6, 0.5]])
    assert curve.needed(0.2) == pytest.approx(0.14)  # 0.4 is between 0.3 and the mean of 0.6 and 0.5
    assert curve.needed(0.3) == np.inf
    labelling.draw_curves([curve] * 6, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 10_000


@pytest.mark.filterwarnings("ignore::isotherm.RareClassWarning")
def test_labels_needed_are_measured_on_each_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import labelling

    assert not set(labelling.DEVELOPMENT) & set(labelling.CONFIRMATION)
    assert len(set(labelling.DEVELOPMENT)) == len(set(labelling.CONFIRMATION)) == 25
    monkeypatch.setenv("ISOTHERM_DATA", str(tmp_path))
    monkeypatch.setattr(labelling, "HALVES", {"confirmation": ("karate", "not at hand"), "development": ()})
    monkeypatch.setattr(labelling, "GOALS", (0.2, 0.3))
    monkeypatch.setattr(labelling, "STEP", 0.06)
    monkeypatch.setattr(labelling, "MOST", 0.6)
    works = [result.work for result in labelling.races(rounds=1)]
    assert works == [f"macro-F1 of {share} uniform labels, 1 graphs for confirmation" for share in ("20%", "30%")]


def test_contestants_take_turns() -> None:
    order: list[str] = []
    race = Race("work", Contestant("peer", lambda: order.append("p")), Contestant("us", lambda: order.append("o")), 2)
    race.run(3)
    assert order == list("popopo")
    race.peer.seconds, race.ours.seconds = [2.0, 4.0, 3.0], [1.0, 1.0, 2.0]
    assert race.ratio == 3
    assert "| 3 times faster (1.5 to 4) | at least 2 times faster: reached |" in race.result().row()
    race.goal = 3.5
    assert "at least 3.5 times faster: MISSED" in race.result().row()


def test_a_goal_below_one_is_a_limit() -> None:
    row = Result("work", "bound", [1.0, 1.0], "ours", [1.2, 1.4], goal=1 / 1.5, unit="GB").row()
    assert (
        row
        == "| work | bound: 1 GB | ours: 1.3 GB (1.2 to 1.4) | 1.3 of it (1.2 to 1.4) | at most 1.5 of it: reached |"
    )
    assert not Result("work", "bound", [1.0], "ours", [1.6], goal=1 / 1.5).reached


RACE = Result("work", "peer", [2.0, 3.0], "us", [1.0, 1.5], goal=2)
COST = Cost("avx2", 2, 16, [3.25, 3.5, 4.0])
POINTS = [Point("isotherm, equilibrium", 10**6, [0.1]), Point("someone else", 2 * 10**6, [0.3])]


def test_the_last_run_of_each_suite_at_a_scale_counts(tmp_path: Path) -> None:
    path = tmp_path / "new" / "runs.jsonl"
    assert latest([path], 1, ["a", "b"]) == []
    runs = [
        Run("b", 1, "2026-01-01", "old machine"),
        Run("a", 1, "2026-01-01", "machine", [RACE]),
        Run("b", 1, "2026-01-02", "machine", [RACE], POINTS),
        Run("b", 0.1, "2026-01-03", "machine"),
        Run("b", 1, "2026-01-01", "machine", costs=[COST], isa="avx2"),
    ]
    for run in runs:
        store(run, path)
    kept = latest([path], 1, ["a", "b", "c"])
    assert kept == [runs[1], runs[2], runs[4]]
    overwrite(kept, path)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3
    later = Run("a", 1, "2026-01-04", "machine")
    store(later, tmp_path / "more.jsonl")
    assert latest([path, tmp_path / "more.jsonl"], 1, ["a", "b"]) == [later, *kept[1:]]


def test_the_page_shows_races_goals_machine_and_plot(tmp_path: Path) -> None:
    missed = Result("other work", "peer", [1.0], "us", [1.0], goal=2)
    runs = [Run("a", 1, "2026-01-01", "a machine", [RACE, missed]), Run("b", 1, "2026-01-01", "a machine", [], POINTS)]
    write_page(runs, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    goals = (tmp_path / "maintainers" / "page.md").read_text(encoding="utf-8")
    assert "Of 2 goals 1 were reached." in goals
    assert "- other work, against peer: 1 times faster, goal at least 2 times faster" in goals
    assert "- a (avx512, 2026-01-01): its commit is not known" in goals
    assert "| other work | peer: 1 s | us: 1 s | 1 times faster | at least 2 times faster: MISSED |" in goals
    assert "goal" not in text.split("## How")[0]
    assert "python -m benchmarks a b" in text
    assert "- a, b (2026-01-01): a machine" in text
    assert "(page-growth.png)" in text
    assert (tmp_path / "page-growth.png").read_bytes().startswith(b"\x89PNG")


def test_the_page_begins_with_what_users_care_about_for_each_instruction_set(tmp_path: Path) -> None:
    peer, work = "scikit-network, ten sweeps", "ten sweeps, power-law graph"
    fast, slow = (Result(work, peer, [12.0], "us", [seconds], goal=10) for seconds in (1.0, 2.0))
    runs = [
        Run("foundation", 1, "2026-01-01", "a machine", [fast]),
        Run("foundation", 1, "2026-01-01", "a machine", [slow], isa="avx2"),
        Run("processors", 1, "2026-01-01", "a machine", costs=[COST]),
    ]
    write_page(runs, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    head, _ = text.split("## How it was measured", 1)
    assert "| work | against | AVX-512 | AVX2 |" in head
    assert f"| ten sweeps on a million nodes | {peer} | 12 times faster | 6 times faster |" in head
    goals = (tmp_path / "maintainers" / "page.md").read_text(encoding="utf-8")
    assert f"- {work} (AVX2), against {peer}: 6 times faster, goal at least 10 times faster" in goals
    assert "| AVX2 | 2 | 3.50 |" in goals.split("## Every race", 1)[1]
    assert not (tmp_path / "page.png").exists(), "none of the races of the picture was run"


def test_the_default_is_shown_first(tmp_path: Path) -> None:
    rows = [
        Result("labels and confidence, 2,000 nodes", "limit", [20.0], "default", [30.0], 1, "ms"),
        Result("labels and confidence, 2,000 nodes", "sweeps", [0.01], "default", [0.02], None),
        Result("wrong labels, 2,000 nodes", "sweeps", [30.0], "default", [20.0], 1, "%"),
        Result("labels and confidence, 100,000 nodes", "sweeps", [3.0], "default", [1.0], 1),
        Result("wrong labels, 100,000 nodes", "sweeps", [20.0], "default", [10.0], 1, "%"),
    ]
    write_page(
        [Run("foundation", 1, "2026-01-01", "m", [RACE]), Run("default", 1, "2026-01-01", "m", rows)], tmp_path / "p.md"
    )
    head = (tmp_path / "p.md").read_text(encoding="utf-8").split("## How it was measured")[0]
    assert "| 2,000 nodes | 0.02 s (20 %) | 2 times slower (30 %) |" in head
    assert "| 100,000 nodes | 1 s (10 %) | 3 times faster (20 %) |" in head
    assert (tmp_path / "p-default.png").read_bytes().startswith(b"\x89PNG")
    assert "limit" not in head
    assert "Of 4 goals" not in head
    assert "Of 5 goals 4 were reached." in (tmp_path / "maintainers" / "p.md").read_text(encoding="utf-8")


def test_runs_of_other_code_are_stale() -> None:
    """The first commit of this repository is other code; the present one is not, as far as it has no changes."""
    first = subprocess.run(
        ["git", "-C", ROOT, "log", "--format=%h", "--diff-filter=A", "--", "benchmarks/harness.py"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    if not first:
        pytest.skip("no history of git here")
    runs = [Run("a", 1, "2026-01-01", "m", commit=first[-1]), Run("b", 1, "2026-01-01", "m", commit=measured_commit())]
    words = stale(runs)
    assert re.match(rf"a \(avx512, {first[-1]}\): \d+ files changed since", words[0])
    assert len(words) == (2 if not runs[1].commit else 1)


def test_the_picture_has_at_most_four_bars(tmp_path: Path) -> None:
    runs = [
        Run(each.suite, 1, "2026-01-01", "m", [Result(f"{each.work} x", each.peer, [3.0], "us", [1.0], 1)])
        for each in BARS
    ]
    assert [title for title, _ in _bars(runs)] == [each.title for each in BARS[:4]]
    assert [title for title, _ in _bars(runs[1:])] == [each.title for each in BARS[1:]]
    write_page(runs[1:], tmp_path / "page.md")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")


def test_headlines_are_races_that_exist() -> None:
    titles = [headline.title for headline in HEADLINES]
    assert len(set(titles)) == len(titles) <= 12
    assert {headline.suite for headline in (*HEADLINES, *BARS)} <= set(SUITES)


def test_a_page_without_points_has_no_plot(tmp_path: Path) -> None:
    write_page([Run("a", 1, "2026-01-01", "a machine", [RACE])], tmp_path / "page.md")
    assert "page-growth.png" not in (tmp_path / "page.md").read_text(encoding="utf-8")
    assert not (tmp_path / "page-growth.png").exists()


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


def test_communities_have_hubs_and_no_edge_between_them() -> None:
    matrix = communities(2000, 20_000, parts=4)
    assert (matrix != matrix.T).nnz == 0
    assert matrix.diagonal().sum() == 0
    count, part = connected_components(matrix, directed=False)
    assert sorted(np.bincount(part))[-4:] == pytest.approx([500] * 4, abs=25)
    assert count < 50
    degrees = np.sort(np.diff(matrix.indptr))[::-1]
    assert degrees[0] > 10 * np.median(degrees)


def test_each_instruction_set_is_measured_at_each_width(tmp_path: Path) -> None:
    printed = run_benchmarks(tmp_path, "processors", "--scale", "0.005", "--rounds", "2")
    (kept,) = latest([tmp_path / "out" / "benchmarks.jsonl"], 0.005, ["processors"])
    assert [result.row() for result in kept.results] == printed
    sets = kernels.instruction_sets()
    assert len(kept.results) == 2 * len(sets)
    assert {(cost.isa, cost.threads, cost.width) for cost in kept.costs} == {
        (isa, threads, width) for isa in sets for threads in (1, 2) for width in kernels.WIDTHS
    }
    assert all(len(cost.nanoseconds) == 2 for cost in kept.costs)


def test_balanced_seeds() -> None:
    labels = balanced_seeds(1000, 50, 5)
    np.testing.assert_array_equal(np.bincount(labels[labels >= 0]), [10] * 5)


def test_a_graph_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "FOLDER", tmp_path)
    made, expected = kept_power_law(500, 3000), power_law(500, 3000)
    monkeypatch.delattr(graphs, "power_law")
    kept = kept_power_law(500, 3000)
    assert (made != expected).nnz == (kept != expected).nnz == 0


def test_bytes_of_a_product() -> None:
    square = iso.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], weight=[1.0, 2.0, 3.0, 4.0])
    block = np.zeros((4, 16), dtype=np.float32)
    indptr, indices, weights, rows, output = 5 * 8, 8 * 4, 8 * 8, 8 * 64, 4 * 64
    assert bytes_to_move(square.heat, block) == indptr + indices + weights + rows + output
    narrow = np.zeros((4, 2), dtype=np.float32)  # a line is moved for eight bytes
    assert bytes_to_move(square.heat, narrow) == indptr + indices + weights + rows + 4 * 8


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_parallel_copy(threads: int) -> None:
    source = np.arange(1000, dtype=np.uint16).view(np.uint8)
    target = np.zeros_like(source)
    parallel_copy(source, target, threads)
    np.testing.assert_array_equal(target, source)


def test_peak_memory_is_that_of_the_new_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = np.ones(2**25)  # 256 MB that the new process must not count
    work = "import sys, process\nwith process.reported():\n    b'1' * (int(sys.argv[1]) * 2**20)\n"
    (tmp_path / "work.py").write_text(work)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT / "benchmarks")]))
    small, large = (process.measure("work", megabytes) for megabytes in (1, 120))
    assert small.peak < here.nbytes / 2**30 / 2
    assert 0.1 < large.peak - small.peak < 0.15
    assert large.seconds > 0


def test_seeds_of_many_classes() -> None:
    labels = np.where(np.arange(5000) < 1000, -1, np.arange(5000) % 300)
    known = draw_seeds(labels)
    drawn = known >= 0
    np.testing.assert_array_equal(known[drawn], labels[drawn])
    assert set(known[drawn]) == set(range(300))
    assert 300 <= drawn.sum() <= 340  # 1% of 4000, and one of each class without
