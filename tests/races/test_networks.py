"""Trained networks of the table of accuracy: they are those of PyTorch Geometric."""

import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.accuracy.graphs import homophily
from benchmarks.accuracy.methods import METHODS, RAW, VARIANTS, applies, prepare

from isotherm.paper.block_model import stochastic_block_model
from isotherm.seeds.hiding import sample_per_class
from isotherm.study.scores import score
from isotherm.study.tasks import Draw, Task, draw_seeds

REASON = "the extra bench-gnn is not installed"
LENGTH = "rows of length 1"

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture
def task() -> Task:
    """Three blocks; most words of a node are those of its block."""
    sizes = [60, 50, 40]
    graph = stochastic_block_model(sizes, 0.1, 0.01, 0)
    truth, rng = np.repeat([0, 1, 2], sizes), np.random.default_rng(0)
    own = truth[:, None] == np.arange(30) % 3
    return Task(graph, truth, csr_array((rng.random(own.shape) < np.where(own, 0.1, 0.03)).astype(np.float32)))


@pytest.fixture
def draw(task: Task) -> Draw:
    return draw_seeds(task, partial(sample_per_class, size=8), [1, 0])


@pytest.fixture
def networks() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("torch_geometric", reason=REASON)
        prepare(METHODS["Correct and Smooth on X"])
    return sys.modules["benchmarks.accuracy.networks"]


@pytest.mark.parametrize("name", [*VARIANTS, "Correct and Smooth on X"])
def test_every_network_finds_blocks_and_is_the_same_twice(networks: Any, task: Task, draw: Draw, name: str) -> None:
    method = METHODS.get(name) or METHODS[f"{name}, {LENGTH}"]
    one, other = (method.run(task, draw) for _ in range(2))
    np.testing.assert_array_equal(one.labels, other.labels)
    assert score(draw, one).accuracy > 0.8  # the largest block has 0.4 of the nodes


@pytest.mark.parametrize("dense", [False, True])
def test_convolutions_and_propagation_are_those_of_pyg(networks: Any, task: Task, dense: bool) -> None:
    import torch
    from torch_geometric.nn import APPNP, GCNConv

    if dense:
        task.features = np.random.default_rng(0).random((150, 30))
    ours = networks._Convolutions(task, LENGTH, 0, 3).eval()
    assert isinstance(ours.input.rows, np.ndarray) == dense
    rows = networks._scaled(task, LENGTH)
    inputs = torch.from_numpy(rows if dense else rows.toarray())
    near, far, edges = GCNConv(30, 16), GCNConv(16, 3), networks._edges(task)
    with torch.no_grad():
        for layer, weight, shift in ((near, ours.input.weight, ours.shifts[0]), (far, ours.weight, ours.shifts[1])):
            layer.lin.weight.copy_(weight.T)
            layer.bias.copy_(shift.normal_())
        theirs = far(near(inputs, edges).relu(), edges)
        np.testing.assert_allclose(ours().numpy(), theirs.numpy(), atol=1e-5)
        ours = networks._Propagation(task, LENGTH, 0, 3).eval()
        hidden = (inputs @ ours.input.weight + ours.shift).relu()
        theirs = APPNP(ours.STEPS, ours.TELEPORT)(ours.output(hidden), edges)
        np.testing.assert_allclose(ours().numpy(), theirs.numpy(), atol=1e-5)


def test_gradients_of_products_are_right(networks: Any, task: Task) -> None:
    import torch

    fixed = np.random.default_rng(0).random((4, 3))
    for left in (fixed, csr_array(fixed)):
        weight = torch.rand(3, 2, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(lambda right, left=left: networks._times(left, right), weight)


def test_dropout_keeps_the_mean(networks: Any, task: Task) -> None:
    first = networks._Input(np.ones((300, 200), dtype=np.float32), 2, 0.6, 0)
    dropped = first._dropped()
    assert set(np.unique(dropped)) == {0, np.float32(1 / 0.4)}
    assert dropped.mean() == pytest.approx(1, abs=0.02)
    sparse = networks._Input(csr_array(np.eye(500, dtype=np.float32)), 2, 0.6, 0)._dropped()
    assert np.count_nonzero(sparse.data) == pytest.approx(200, abs=40)


def test_simple_convolution_is_that_of_pyg(
    networks: Any, task: Task, draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    from torch_geometric.nn import SGConv

    layers = []
    monkeypatch.setattr(networks, "_train", lambda scores, targets, optimizer: layers.append(optimizer))
    found = networks.simple_convolution(task, draw, rows=LENGTH, decay="5e-3")
    model = SGConv(30, 3, K=2)
    weight, shift = layers[0].param_groups[0]["params"]
    with torch.no_grad():
        model.lin.weight.copy_(weight)
        model.lin.bias.copy_(shift)
        inputs = torch.from_numpy(networks._scaled(task, LENGTH).toarray())
        theirs = model(inputs, networks._edges(task)).softmax(dim=1).numpy()
    np.testing.assert_allclose(found.confidence, theirs.max(axis=1), atol=1e-5)


def test_weight_decay_is_that_of_the_publication_where_neighbours_are_alike(
    networks: Any, task: Task, draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    decays = []
    monkeypatch.setattr(
        networks, "_train", lambda scores, targets, optimizer: decays.append(optimizer.param_groups[0]["weight_decay"])
    )
    mixed = Task(task.graph, np.random.default_rng(0).permutation(task.truth), task.features)
    assert homophily(task) > networks.HOMOPHILOUS > homophily(mixed)
    for each in (task, mixed):
        networks.network(each, Draw.of(each, draw.seeds), kind="APPNP", rows=LENGTH)
    assert decays == [5e-3, 5e-4]


def test_rows_as_they_are_only_if_dense(task: Task) -> None:
    raw, scaled = METHODS[f"GCN, {RAW}"], METHODS[f"GCN, {LENGTH}"]
    assert not applies(raw, task)
    assert applies(scaled, task)
    assert applies(raw, Task(task.graph, task.truth, np.ones((150, 2))))
    assert not applies(scaled, Task(task.graph, task.truth))
