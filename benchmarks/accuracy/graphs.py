"""The graphs with their labels and features, as tasks."""

import os
import zlib
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from benchmarks.accuracy.halves import HALVES
from benchmarks.accuracy.vectors import TABLES, load_table
from isotherm.graphs import Graph
from isotherm.seeds.encoding import encode_labels
from isotherm.seeds.hiding import sample_per_class
from isotherm.study import datasets
from isotherm.study.tasks import PROTOCOLS, Draw, Task, draw_seeds

__all__ = [
    *("BY_CLASS", "MASKED", "MASKS", "ONE_AGAINST_REST", "PER_CLASS", "PUBLIC", "TWENTY", "Facts", "Item"),
    *("at_hand", "facts", "homophily", "load_item", "masked_at_hand"),
]

PUBLIC = "public split"  # of Planetoid: 20 seeds per class, scored on its own test nodes
MASKS = "official masks"  # of the heterophilous graphs: about half of the nodes are seeds, scored on their test nodes
TWENTY = "20 per class"  # on graphs with features
BY_CLASS = {
    "1% of each class": partial(sample_per_class, size=0.01),
    "5% of each class": partial(sample_per_class, size=0.05),
}
WITH_MASKS = ("actor", "chameleon_filtered", "minesweeper", "squirrel_filtered", "texas_4_classes", "tolokers")
MASKED = [f"heterophilous/{name}" for name in WITH_MASKS]
ONE_AGAINST_REST = [f"amazon_photo/{number}" for number in range(8)]  # that class, and all others as the second
PER_CLASS = {"5 per class": 5, TWENTY: 20, "100 per class": 100}  # on graphs with features and on tables
MORE_PROTOCOLS = BY_CLASS | {name: partial(sample_per_class, size=size) for name, size in PER_CLASS.items()}
Split: TypeAlias = tuple[NDArray[np.int64], NDArray[np.bool_]]  # positions of seeds, and the nodes that are scored


@dataclass(frozen=True, eq=False)
class Item:
    """A task with its name, and the published splits by the name of their protocol."""

    name: str
    task: Task
    splits: dict[str, list[Split]] = field(default_factory=dict)

    def draws(self, protocol: str, count: int) -> list[Draw]:
        """The draws of a protocol; they depend on nothing but the names of graph and protocol."""
        if protocol in (PUBLIC, MASKS):
            return [Draw.of(self.task, *split) for split in self.splits.get(protocol, [])[:count]]
        if protocol in PER_CLASS and not self._enough(PER_CLASS[protocol]):
            return []
        key = zlib.crc32(f"{self.name}: {protocol}".encode())
        seeds = (PROTOCOLS | MORE_PROTOCOLS)[protocol]
        return [draw_seeds(self.task, seeds, [key, draw]) for draw in range(count)]

    def _enough(self, size: int) -> bool:
        """Whether there are features, and in tables two rows for each seed."""
        rows = len(self.task.truth) / self.task.n_classes
        return self.task.features is not None and (self.name not in TABLES or rows >= 2 * size)


def at_hand() -> list[str]:
    """The graphs of the split that are in the folder of data, small ones first."""
    folder = Path(os.environ.get("ISOTHERM_DATA", "nowhere"))
    sizes = {name: path.stat().st_size for name in HALVES if (path := folder / f"{name}.npz").exists()}
    return sorted(sizes, key=lambda name: sizes[name])


def masked_at_hand() -> list[str]:
    """The graphs with official masks that are in the folder of data."""
    folder = Path(os.environ.get("ISOTHERM_DATA", "nowhere"))
    return [name for name in MASKED if (folder / f"{name}.npz").exists()]


def load_item(name: str) -> Item:
    """A graph by its name; ``NAME/3`` has two classes, the class 3 and the others."""
    if name in MASKED:
        return _masked(name)
    if name in TABLES:
        return Item(name, load_table(name))
    graph, _, number = name.partition("/")
    data = datasets.load(graph)
    truth = encode_labels(data.labels)[0]
    if number:
        return Item(name, Task(data.graph, np.where(truth < 0, -1, truth == int(number)).astype(np.int64)))
    stored = _features(graph)
    features = None if stored is None else _matrix(stored)
    return Item(name, Task(data.graph, truth, features), _public(stored, len(truth)))


def _masked(name: str) -> Item:
    """A graph with features and official masks."""
    with np.load(Path(os.environ["ISOTHERM_DATA"]) / f"{name}.npz", allow_pickle=False) as stored:
        nodes = np.arange(int(stored["n"]))
        graph = Graph.from_edges(stored["row"], stored["col"], directed=bool(stored["directed"]), nodes=nodes)
        if "features" in stored:
            features = stored["features"]
        else:
            shape = len(nodes), int(stored["feature_columns"])
            features = csr_array((stored["feature_value"], (stored["feature_row"], stored["feature_col"])), shape)
        splits = [
            (np.flatnonzero(train), test)
            for train, test in zip(stored["train_masks"], stored["test_masks"], strict=True)
        ]
        return Item(name, Task(graph, stored["labels"].astype(np.int64), features), {MASKS: splits})


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


def _public(stored: dict[str, NDArray[np.int64]] | None, n: int) -> dict[str, list[Split]]:
    if stored is None or "train" not in stored:
        return {}
    return {PUBLIC: [(np.sort(stored["train"].astype(np.int64)), np.isin(np.arange(n), stored["test"]))]}


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
    known = truth[truth >= 0]
    parts = task.components[truth >= 0]
    return Facts(
        item.name,
        task.graph.n_nodes,
        task.graph.n_edges,
        task.n_classes,
        int(task.graph.directed),
        *_alike(task),
        float(np.bincount(known).max() / len(known)),
        float(1 - np.bincount(parts).max() / len(parts)),
    )


def homophily(task: Task) -> float:
    """Adjusted homophily: 0 if the ends of edges meet at random, 1 if they always have the same class."""
    alike, chance = _alike(task)
    return (alike - chance) / (1 - chance)


def _alike(task: Task) -> tuple[float, float]:
    """The share of edges whose ends have the same class, and that share if ends met at random."""
    entries, truth = task.matrix.tocoo(), task.truth
    both = (truth[entries.row] >= 0) & (truth[entries.col] >= 0)
    here, there, weight = truth[entries.row[both]], truth[entries.col[both]], entries.data[both]
    volume = np.bincount(here, weight, minlength=task.n_classes) / weight.sum()
    return float(weight[here == there].sum() / weight.sum()), float((volume**2).sum())
