"""What a user runs: labels and confidence by the default, from two thousand nodes to a million.

Graphs are the connected parts of block models of ten classes whose degrees follow a power law; 1% of the nodes are
seeds, drawn at random, and nothing but edges is known. Each race counts seconds, and then the wrong labels among the
nodes that are no seeds. The slow peers run on graphs of up to 100,000 nodes, the network on one of 20,000.
"""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sknetwork.classification import DiffusionClassifier
from sknetwork.embedding import Spectral

import isotherm as iso
from benchmarks.graphs import block_world
from benchmarks.harness import Contestant
from benchmarks.results import Result

__all__ = ["races"]

Ints: TypeAlias = NDArray[np.int64]
Method: TypeAlias = Callable[[csr_matrix, Ints], Ints]
SWEEPS = "scikit-network, ten sweeps"
MILLISECONDS = 20.0  # at most, on the smallest graph
COLUMNS = 32  # of the spectral embedding
EPOCHS, WIDTH = 200, 16  # of the network


class Size(NamedTuple):
    """How large a graph is, and how many times faster than ten sweeps the default has to be on it, if that is said."""

    nodes: int
    edges: int
    goal: float | None


SIZES = (
    Size(2_000, 8_000, None),
    Size(20_000, 95_000, 1 / 3),
    Size(100_000, 850_000, 1),
    Size(400_000, 4_900_000, 3),
    Size(1_000_000, 11_500_000, 3),
)
SLOW, NETWORK = 100_000, 20_000  # nodes


def races(scale: float = 1.0, rounds: int = 5) -> Iterator[Result]:
    """The default against each peer, at each size."""
    warnings.simplefilter("ignore")
    for size in SIZES:
        name = f"{int(size.nodes * scale):,} nodes"
        matrix, classes, known = block_world(int(size.nodes * scale), int(size.edges * scale))
        ours = Contestant("default", partial(_labels_and_confidence, matrix, known))
        peers = [Contestant(peer, partial(run, matrix, known)) for peer, run in _peers(size.nodes).items()]
        for _ in range(rounds):
            for contestant in (*peers, ours):
                contestant.turn()
        if size is SIZES[0]:
            limit, milliseconds = [MILLISECONDS] * rounds, [1000 * seconds for seconds in ours.seconds]
            yield Result(f"labels and confidence, {name}", "limit", limit, ours.name, milliseconds, 1, "ms")
        hidden = known < 0
        wrong = {each.name: 100 * float(np.mean(each.result[hidden] != classes[hidden])) for each in (*peers, ours)}
        for peer in peers:
            goal = size.goal if peer.name == SWEEPS else 1
            yield Result(f"labels and confidence, {name}", peer.name, peer.seconds, ours.name, ours.seconds, goal)
            yield Result(f"wrong labels, {name}", peer.name, [wrong[peer.name]], ours.name, [wrong[ours.name]], 1, "%")


def _peers(nodes: int) -> dict[str, Method]:
    """What is run on a graph of so many nodes, of what is installed."""
    peers: dict[str, Method] = {SWEEPS: _sweeps}
    if nodes <= SLOW:
        peers["spectral embedding and regression"] = _embedding
        if find_spec("graphlearning"):
            peers["GraphLearning, Poisson learning"] = _poisson
    if nodes == NETWORK and find_spec("torch_geometric"):
        peers["GCN of PyG"] = _network
    return peers


def _labels_and_confidence(matrix: csr_matrix, known: Ints) -> Ints:
    clf = iso.NodeClassifier().fit(matrix, known)
    assert clf.confidence_.shape == known.shape
    return np.asarray(clf.labels_)


def _sweeps(matrix: csr_matrix, known: Ints) -> Ints:
    return np.asarray(DiffusionClassifier(n_iter=10).fit(matrix, known).labels_)


def _embedding(matrix: csr_matrix, known: Ints) -> Ints:
    rows = Spectral(COLUMNS).fit_transform(matrix)
    seeds = known >= 0
    return np.asarray(LogisticRegression(max_iter=1000).fit(rows[seeds], known[seeds]).predict(rows))


def _poisson(matrix: csr_matrix, known: Ints) -> Ints:
    from graphlearning.ssl import poisson

    seeds = np.flatnonzero(known >= 0)
    found, codes = np.unique(known[seeds], return_inverse=True)
    with np.errstate(all="ignore"):
        return np.asarray(found[poisson(matrix).fit_predict(seeds, codes)])


def _network(matrix: csr_matrix, known: Ints) -> Ints:
    """A graph convolutional network whose input is the identity, as nodes have no features."""
    import torch
    from torch.nn.functional import cross_entropy, dropout
    from torch_geometric.nn import GCNConv
    from torch_geometric.utils import from_scipy_sparse_matrix

    torch.manual_seed(0)
    edges, _ = from_scipy_sparse_matrix(matrix)
    truth, seeds = torch.from_numpy(known), torch.from_numpy(known >= 0)
    nodes = torch.nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(len(known), WIDTH)))
    first, last = GCNConv(WIDTH, WIDTH, cached=True), GCNConv(WIDTH, int(known.max()) + 1, cached=True)
    optimizer = torch.optim.Adam([nodes, *first.parameters(), *last.parameters()], lr=0.01)
    for _ in range(EPOCHS):
        optimizer.zero_grad()
        hidden = dropout(first(nodes, edges).relu(), 0.5)
        cross_entropy(last(hidden, edges)[seeds], truth[seeds]).backward()
        optimizer.step()
    with torch.no_grad():
        return np.asarray(last(first(nodes, edges).relu(), edges).argmax(1))
