"""Trained networks, with their published settings, on one thread.

Each is trained by PyTorch for 200 epochs on the seeds, without validation labels, and answers as it is at the end.
Edges have no direction and no weights. GAT and Correct and Smooth are those of PyTorch Geometric. GCN, APPNP and SGC
give the same outputs as its layers, with products by sparse matrices left to SciPy, in about half the time.
"""

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, issparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import CorrectAndSmooth, GATConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from benchmarks.accuracy.graphs import homophily
from isotherm.study import peers
from isotherm.study.scores import Answer, answer
from isotherm.study.tasks import Draw, Task

__all__ = ["correct_and_smooth", "network", "simple_convolution"]

EPOCHS = 200
HOMOPHILOUS = 0.5  # adjusted homophily: published settings are for graphs above it
SPARSE = 0.1  # the share of nonzero features from which a dense product is faster
SCALES: dict[str, Callable[[Any], Any]] = {
    "rows of sum 1": lambda X: normalize(X, "l1"),
    "rows of length 1": lambda X: normalize(X, "l2"),
    "rows as they are": lambda X: X,
}

torch.set_num_threads(1)


class _Product(torch.autograd.Function):  # type: ignore[misc]
    """A fixed matrix, sparse or dense, times a tensor."""

    @staticmethod
    def forward(ctx: Any, right: Tensor, left: Any) -> Tensor:
        ctx.left = left
        return torch.from_numpy(left @ right.detach().numpy())

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return torch.from_numpy(np.ascontiguousarray(ctx.left.T @ gradient.numpy())), None


def _times(left: Any, right: Tensor) -> Tensor:
    found: Tensor = _Product.apply(right, left)
    return found


class _Input(nn.Module):  # type: ignore[misc]
    """The linear map of the first layer, on the features of all nodes with dropout."""

    def __init__(self, rows: Any, width: int, dropout: float, number: int) -> None:
        super().__init__()
        self.rows, self.dropout, self.rng = rows, dropout, np.random.default_rng(number)
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(rows.shape[1], width)))

    def forward(self) -> Tensor:
        return _times(self._dropped() if self.training else self.rows, self.weight)

    def _dropped(self) -> Any:
        values = self.rows.data if issparse(self.rows) else self.rows
        kept = self.rng.random(values.shape, dtype=np.float32) >= self.dropout
        dropped = values * (kept * np.float32(1 / (1 - self.dropout)))
        if not issparse(self.rows):
            return dropped
        return csr_array((dropped, self.rows.indices, self.rows.indptr), shape=self.rows.shape)


class _Network(nn.Module):  # type: ignore[misc]
    """What the networks share: the input, and groups of parameters for the optimizer."""

    WIDTH: int
    DROPOUT: float
    RATE: float

    def __init__(self, task: Task, rows: str, number: int) -> None:
        super().__init__()
        self.task = task
        self.input = _Input(_scaled(task, rows), self.WIDTH, self.DROPOUT, number)

    def groups(self, decay: float) -> list[dict[str, Any]]:
        """Weight decay on the first layer only, as published for GCN and APPNP."""
        first = list(self.first().parameters())
        numbers = {id(each) for each in first}
        return [
            {"params": first, "weight_decay": decay},
            {"params": [each for each in self.parameters() if id(each) not in numbers]},
        ]

    def first(self) -> nn.Module:
        """What weight decay is for."""
        return self.input

    def dropped(self, hidden: Tensor) -> Tensor:
        return functional.dropout(hidden, self.DROPOUT, self.training)


class _Convolutions(_Network):
    """GCN (Kipf and Welling 2017)."""

    WIDTH, DROPOUT, RATE = 16, 0.5, 0.01

    def __init__(self, task: Task, rows: str, number: int, classes: int) -> None:
        super().__init__(task, rows, number)
        self.shifts = nn.ParameterList([torch.zeros(self.WIDTH), torch.zeros(classes)])
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(self.WIDTH, classes)))

    def forward(self) -> Tensor:
        step = _step(self.task)
        hidden = (_times(step, self.input()) + self.shifts[0]).relu()
        return _times(step, self.dropped(hidden) @ self.weight) + self.shifts[1]


class _Propagation(_Network):
    """APPNP (Gasteiger et al. 2019)."""

    WIDTH, DROPOUT, RATE = 64, 0.5, 0.01
    STEPS, TELEPORT = 10, 0.1

    def __init__(self, task: Task, rows: str, number: int, classes: int) -> None:
        super().__init__(task, rows, number)
        bound = self.input.rows.shape[1] ** -0.5
        nn.init.uniform_(self.input.weight, -bound, bound)
        self.shift = nn.Parameter(torch.empty(self.WIDTH).uniform_(-bound, bound))
        self.output = nn.Linear(self.WIDTH, classes)

    def forward(self) -> Tensor:
        step = _step(self.task)
        start = self.output(self.dropped((self.input() + self.shift).relu()))
        found = start
        for _ in range(self.STEPS):
            found = (1 - self.TELEPORT) * _times(step, found) + self.TELEPORT * start
        return found


class _Attention(_Network):
    """GAT (Velickovic et al. 2018)."""

    WIDTH, DROPOUT, RATE = 64, 0.6, 0.005
    HEADS = 8

    def __init__(self, task: Task, rows: str, number: int, classes: int) -> None:
        super().__init__(task, rows, number)
        self.near = GATConv(self.WIDTH, self.WIDTH // self.HEADS, self.HEADS, dropout=self.DROPOUT)
        self.near.lin = nn.Identity()  # which the input has done
        self.far = GATConv(self.WIDTH, classes, 1, concat=False, dropout=self.DROPOUT)

    def first(self) -> nn.Module:
        return self  # all layers

    def forward(self) -> Tensor:
        edges = _edges(self.task)
        found: Tensor = self.far(self.dropped(functional.elu(self.near(self.input(), edges))), edges)
        return found


NETWORKS: dict[str, Callable[..., _Network]] = {"GCN": _Convolutions, "GAT": _Attention, "APPNP": _Propagation}
DECAYS = {"GCN": 5e-4, "GAT": 5e-4, "APPNP": 5e-3}  # published, for graphs on which neighbours are alike
LOW_DECAY = 5e-4  # elsewhere


def network(task: Task, draw: Draw, *, kind: str, rows: str) -> Answer:
    """The probabilities of a network, on features scaled by one of the `SCALES`."""
    torch.manual_seed(_number(draw))
    classes, codes = np.unique(draw.known[draw.seeds], return_inverse=True)
    model = NETWORKS[kind](task, rows, _number(draw), len(classes))
    alike = task.shared("homophily", lambda: homophily(task)) > HOMOPHILOUS
    optimizer = torch.optim.Adam(model.groups(DECAYS[kind] if alike else LOW_DECAY), lr=model.RATE)
    seeds = torch.from_numpy(draw.seeds)
    _train(lambda: model()[seeds], torch.from_numpy(codes), optimizer)
    model.eval()
    with torch.no_grad():
        return answer(classes, model().softmax(dim=1).numpy().astype(np.float64), beyond_links=True)


def _train(scores: Callable[[], Tensor], targets: Tensor, optimizer: torch.optim.Optimizer) -> None:
    """Make the scores (seeds, k) fit the classes of the seeds."""
    for _ in range(EPOCHS):
        optimizer.zero_grad()
        functional.cross_entropy(scores(), targets).backward()
        optimizer.step()


def simple_convolution(task: Task, draw: Draw, *, rows: str, decay: str) -> Answer:
    """SGC (Wu et al. 2019): a regression on S^2 X, trained as a network; S^2 is applied at the seeds and to scores."""
    scaled, step = csr_array(_scaled(task, rows)), _step(task)
    inputs = torch.from_numpy((csr_array(step[draw.seeds] @ step) @ scaled).toarray())
    classes, codes = np.unique(draw.known[draw.seeds], return_inverse=True)
    torch.manual_seed(_number(draw))
    model = nn.Linear(inputs.shape[1], len(classes))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.2, weight_decay=float(decay))
    _train(lambda: model(inputs), torch.from_numpy(codes), optimizer)
    weight, shift = (each.detach().numpy() for each in model.parameters())
    scores = torch.from_numpy(step @ (step @ (scaled @ weight.T)) + shift)
    return answer(classes, scores.softmax(dim=1).numpy().astype(np.float64), beyond_links=True)


def correct_and_smooth(task: Task, draw: Draw) -> Answer:
    """Correct and Smooth (Huang et al. 2021) on logistic regression over features in rows of length 1."""
    rows, seeds = peers.unit_features(task), torch.from_numpy(draw.seeds)
    base = LogisticRegression(C=peers.PENALTIES["features"], max_iter=1000).fit(
        rows[draw.seeds], draw.known[draw.seeds]
    )
    chances = torch.from_numpy(base.predict_proba(rows).astype(np.float32))
    classes, codes = np.unique(draw.known[draw.seeds], return_inverse=True)
    model = CorrectAndSmooth(50, 0.8, 50, 0.8)
    given = torch.from_numpy(codes), seeds, _edges(task)
    found = model.smooth(model.correct(chances, *given).nan_to_num(), *given)
    return answer(classes, found.numpy().astype(np.float64), beyond_links=True, proper=False)


def _number(draw: Draw) -> int:
    """The start of all random numbers for a draw."""
    return zlib.crc32(draw.seeds.tobytes())


def _edges(task: Task) -> Tensor:
    """(2, entries) the ends of edges, in both directions."""
    return task.shared("edges", lambda: torch.from_numpy(np.stack(task.matrix.nonzero()).astype(np.int64)))


def _step(task: Task) -> csr_array:
    """S = D^-1/2 A D^-1/2, with a loop at each node."""
    return task.shared("step", lambda: _with_loops(_edges(task), task.graph.n_nodes))


def _with_loops(edges: Tensor, n: int) -> csr_array:
    ends, weights = gcn_norm(edges, num_nodes=n, add_self_loops=True)
    return csr_array((weights.numpy(), tuple(ends.numpy())), shape=(n, n))


def _scaled(task: Task, rows: str) -> Any:
    """Features in float32, dense where that is faster."""
    return task.shared(rows, lambda: _scale(task.features, rows))


def _scale(features: Any, rows: str) -> Any:
    scaled = SCALES[rows](csr_array(features, dtype=np.float32))
    dense = scaled.nnz > SPARSE * scaled.shape[0] * scaled.shape[1]
    return scaled.toarray() if dense else scaled
