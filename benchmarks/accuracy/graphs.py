"""The graphs with their labels and features, as tasks."""

import os
import zlib
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from benchmarks.accuracy.halves import HALVES
from isotherm.seeds.encoding import encode_labels
from isotherm.seeds.hiding import sample_per_class
from isotherm.study import datasets
from isotherm.study.tasks import PROTOCOLS, Draw, Task, draw_seeds

__all__ = ["BY_CLASS", "ONE_AGAINST_REST", "PUBLIC", "Facts", "Item", "at_hand", "facts", "load_item"]

PUBLIC = "public split"  # of Planetoid: 20 seeds per class, scored on its own test nodes
BY_CLASS = {
    "1% of each class": partial(sample_per_class, size=0.01),
    "5% of each class": partial(sample_per_class, size=0.05),
}
ONE_AGAINST_REST = [f"amazon_photo/{number}" for number in range(8)]  # that class, and all others as the second


@dataclass(frozen=True, eq=False)
class Item:
    """A task with its name, and the public split if there is one."""

    name: str
    task: Task
    public: tuple[NDArray[np.int64], NDArray[np.bool_]] | None = None

    def draws(self, protocol: str, count: int) -> list[Draw]:
        """The draws of a protocol; they depend on nothing but the names of graph and protocol."""
        if protocol == PUBLIC:
            return [] if self.public is None else [Draw.of(self.task, *self.public)]
        key = zlib.crc32(f"{self.name}: {protocol}".encode())
        seeds = (PROTOCOLS | BY_CLASS)[protocol]
        return [draw_seeds(self.task, seeds, [key, draw]) for draw in range(count)]


def at_hand() -> list[str]:
    """The graphs of the split that are in the folder of data, small ones first."""
    folder = Path(os.environ.get("ISOTHERM_DATA", "nowhere"))
    sizes = {name: path.stat().st_size for name in HALVES if (path := folder / f"{name}.npz").exists()}
    return sorted(sizes, key=lambda name: sizes[name])


def load_item(name: str) -> Item:
    """A graph by its name; ``NAME/3`` has two classes, the class 3 and the others."""
    graph, _, number = name.partition("/")
    data = datasets.load(graph)
    truth = encode_labels(data.labels)[0]
    if number:
        return Item(name, Task(data.graph, np.where(truth < 0, -1, truth == int(number)).astype(np.int64)))
    stored = _features(graph)
    features = None if stored is None else _matrix(stored)
    return Item(name, Task(data.graph, truth, features), _public(stored, len(truth)))


@cache
def _features(name: str) -> dict[str, NDArray[np.int64]] | None:
    path = Path(os.environ["ISOTHERM_DATA"]) / "features" / f"{name}.npz"
    if not path.exists():
        return None
    with np.load(path, allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}


def _matrix(stored: dict[str, NDArray[np.int64]]) -> csr_array:
    values = stored.get("data", np.ones(len(stored["indices"]), dtype=np.float32))
    return csr_array((values, stored["indices"], stored["indptr"]), shape=tuple(stored["shape"]))


def _public(stored: dict[str, NDArray[np.int64]] | None, n: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]] | None:
    if stored is None or "train" not in stored:
        return None
    return np.sort(stored["train"].astype(np.int64)), np.isin(np.arange(n), stored["test"])


@dataclass(frozen=True)
class Facts:
    """What helps to see why a method does well on a graph.

    Attributes
    ----------
    graph, nodes, edges, classes, directed
        Name and size.
    alike
        The share of edges between labelled nodes whose ends have the same class.
    chance
        That share if ends met at random, in proportion to their degrees.
    largest
        The share of the largest class among the labels.
    apart
        The share of labelled nodes outside the largest connected component.
    """

    graph: str
    nodes: int
    edges: int
    classes: int
    directed: int
    alike: float
    chance: float
    largest: float
    apart: float


def facts(item: Item) -> Facts:
    """The facts about a graph."""
    task, truth = item.task, item.task.truth
    entries = task.matrix.tocoo()
    both = (truth[entries.row] >= 0) & (truth[entries.col] >= 0)
    here, there, weight = truth[entries.row[both]], truth[entries.col[both]], entries.data[both]
    volume = np.bincount(here, weight, minlength=task.n_classes) / weight.sum()
    known = truth[truth >= 0]
    parts = task.components[truth >= 0]
    return Facts(
        item.name,
        task.graph.n_nodes,
        task.graph.n_edges,
        task.n_classes,
        int(task.graph.directed),
        float(weight[here == there].sum() / weight.sum()),
        float((volume**2).sum()),
        float(np.bincount(known).max() / len(known)),
        float(1 - np.bincount(parts).max() / len(parts)),
    )
