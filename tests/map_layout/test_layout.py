"""The map: what is near and what is apart, the same every time, with any number of threads."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import KDTree

from isotherm import kernels
from isotherm.graphs import Graph
from isotherm.map_layout import forces
from isotherm.paper.block_model import stochastic_block_model


def share_of_near(positions: NDArray[Any], labels: NDArray[Any], k: int = 10) -> float:
    """Of the k nearest points of each node, how many have its label."""
    _, near = KDTree(positions).query(positions, k + 1)
    return float((labels[near[:, 1:]] == labels[:, None]).mean())


def rod(n: int) -> Graph:
    return Graph.from_edges(np.arange(n - 1), np.arange(1, n))


@pytest.mark.usefixtures("each_kernel")
def test_blocks_are_islands() -> None:
    graph = stochastic_block_model([300, 300, 300], 0.05, 0.001, 0)
    assert share_of_near(graph.layout(), np.repeat([0, 1, 2], 300)) > 0.95


def test_the_same_seed_gives_the_same_map_with_any_number_of_threads() -> None:
    graph = stochastic_block_model([4000] * 4, 0.008, 0.0005, 0)  # about 700,000 entries: enough for two threads
    one = graph.layout(n_threads=1, cache=False)
    np.testing.assert_array_equal(one, graph.layout(n_threads=4, cache=False))
    assert np.abs(one - graph.layout(seed=1, cache=False)).max() > 0.1


def test_small_components_are_in_a_strip_below() -> None:
    graph = Graph.from_edges(
        np.r_[np.arange(999), 1000, 1002], np.r_[np.arange(1, 1000), 1001, 1003], nodes=np.arange(1010)
    )
    positions = graph.layout()
    on_map, strip = positions[:1000], positions[1000:]
    assert np.abs(on_map).max() <= 1 + 1e-6
    assert strip[:, 1].max() < on_map[:, 1].min() - 0.05
    assert len(np.unique(strip, axis=0)) == len(strip)
    pairs = np.linalg.norm(strip[[0, 2]] - strip[[1, 3]], axis=1)
    assert pairs == pytest.approx(np.linalg.norm(strip[4] - strip[5]), rel=1e-3), "a component is kept together"


def test_nodes_of_a_small_graph_do_not_overlap() -> None:
    star = Graph.from_edges([0] * 12, np.arange(1, 13))
    positions = star.layout()
    distances = np.linalg.norm(positions[:, None] - positions, axis=2)[np.triu_indices(13, 1)]
    assert distances.min() > 0.2
    assert np.linalg.norm(positions[1:] - positions[0], axis=1).std() < 0.1  # all rays have the same length


def test_a_rod_is_not_folded_up() -> None:
    positions = rod(60).layout()
    steps = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    assert np.linalg.norm(positions[0] - positions[-1]) > 0.5 * steps.sum()


@pytest.mark.parametrize(
    "graph",
    [
        Graph.from_edges([], [], nodes=["alone"]),
        Graph.from_edges([], [], nodes=list("abcde")),
        Graph.from_edges(["a"], ["b"]),
        Graph.from_edges([0, 1, 2, 3], [1, 0, 2, 0], directed=True),
        Graph.from_edges([0, 1], [1, 2], [1e-300, 1e300]),
        rod(3000),
        Graph.from_edges(np.arange(4000), np.arange(4000) + 4000),  # pairs only
        Graph.from_edges(np.zeros(5000, int), np.arange(1, 5001)),  # one hub
    ],
    ids=["one", "isolated", "pair", "directed", "weights", "rod", "pairs", "hub"],
)
def test_odd_graphs(graph: Graph) -> None:
    positions = graph.layout()
    assert positions.shape == (graph.n_nodes, 2)
    assert np.isfinite(positions).all()
    assert np.abs(positions).max(initial=0) < 4


@pytest.mark.parametrize(("cell", "error"), [(0.4, 0.05), (0.2, 0.005), (0.1, 0.0005)])
def test_the_push_is_the_sum_over_all_pairs(cell: float, error: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for what the grid smooths away, which is known: what is left falls with the fourth power of its cells."""
    monkeypatch.setattr(forces, "CELL", cell)
    positions = np.random.default_rng(0).normal(0, 4, (1000, 2)).astype(np.float32)
    mass = np.full(1000, 1 / 1000, np.float32)
    values, *place = forces.push(positions, mass, 1)
    none = np.zeros(1001, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32)
    found = np.empty_like(positions)
    kernels.active.pull_and_push(*none, positions, mass, 1.0, *place, values, found, 1)
    away = positions[:, None].astype(float) - positions
    near = 1 / (1 + (away**2).sum(axis=2))
    expected = (-(near**2)[:, :, None] * away).sum(axis=1) + smoothed_away(positions, away, near, place)
    expected *= 1000 / near.sum()
    assert np.abs(found - expected).max() < error * np.abs(expected).max()


def smoothed_away(positions: NDArray[Any], away: NDArray[Any], near: NDArray[Any], place: list[float]) -> NDArray[Any]:
    """What a grid adds to the push ``-away near^2``, to the second power of its cells.

    Sharing a node among two cells, a part f of the way from one to the other, adds f (1 - f) / 2 times the second
    derivative along this axis. This happens to both nodes of a pair. The difference of two cells, in place of the
    derivative, adds a sixth of the second derivative along its own axis.
    """
    left, bottom, scale = place
    part = (positions - np.array([left, bottom])) * scale % 1
    shares = part * (1 - part) / 2  # (n, 2)
    pairs = shares[:, None] + shares  # (n, n, 2)
    added = np.empty((len(positions), 2))
    for axis in (0, 1):
        along, across = away[:, :, axis], away[:, :, 1 - axis]
        own = 12 * along * near**3 - 24 * along**3 * near**4  # second derivative of -along near^2, along
        other = 4 * along * near**3 - 24 * along * across**2 * near**4  # and across
        added[:, axis] = ((pairs[:, :, axis] + 1 / 6) * own + pairs[:, :, 1 - axis] * other).sum(axis=1) / scale**2
    return added


def test_cora(data_folder: Path) -> None:
    """Neighbours on the map are of the same class; a random map would have 0.18."""
    stored = np.load(data_folder / "cora.npz", allow_pickle=False)
    graph = Graph.from_edges(stored["row"], stored["col"], nodes=np.arange(len(stored["labels"])))
    assert share_of_near(graph.layout(cache=False), stored["labels"]) >= 0.72
