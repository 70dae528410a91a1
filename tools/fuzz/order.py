"""Labels must not depend on the order of lines, the numbering of nodes, the names of classes, or repeated lines.

A case draws a random graph, fits it, and fits it again with nodes renumbered and edges shuffled, with classes renamed,
and with edges listed twice in the other direction. Labels must be equal, and probabilities within `WITHIN`.
"""

import warnings
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

import isotherm as iso
from isotherm.choices import SideName
from isotherm.paper.block_model import stochastic_block_model
from tools.fuzz.mutate import generator

WITHIN, WITHIN_IF_LARGE = 1e-6, 1e-5  # beyond 1,000 nodes, single precision may do
SIZES, LARGER = (20, 400), (1_000, 8_000)  # least and largest number of nodes
SIDES: tuple[SideName, ...] = get_args(SideName)
NAMES = np.array(["ann", "bob", "cleo", "dan", "eve"])


class Task(NamedTuple):
    """A graph with seeds, and perhaps features."""

    ends: NDArray[np.int64]  # (m, 2)
    weight: NDArray[np.float64] | None  # (m,)
    directed: bool
    seeds: NDArray[np.int64]  # (s,) positions
    codes: NDArray[np.int64]  # (s,) classes
    features: NDArray[np.float64] | None  # (n, d)
    n: int
    side: SideName
    second: NDArray[np.int64] | None = None  # (s,) one more label of each seed


def case(seed: int, number: int) -> str | None:
    """Run one case; what is wrong, or None."""
    rng = generator(seed, 3000, number)
    task = random_task(rng)
    labels, chances = fitted(task, NAMES)
    places, lines = rng.permutation(task.n), rng.permutation(len(task.ends))
    moved = task._replace(
        ends=places[task.ends[lines]],
        weight=None if task.weight is None else task.weight[lines],
        seeds=places[task.seeds][::-1],
        codes=task.codes[::-1],
        features=None if task.features is None else task.features[np.argsort(places)],
    )
    found, numbers = fitted(moved, NAMES)
    fault = _difference("nodes are renumbered", labels, chances, found[places], numbers[places])
    names = rng.permutation(NAMES)
    found, numbers = fitted(task, names)
    back = {new: old for old, new in zip(NAMES.tolist(), names.tolist(), strict=True)} | {None: None}
    found, order = np.array([back[label] for label in found.tolist()], object), np.argsort(names[: numbers.shape[1]])
    old = np.argsort(NAMES[: numbers.shape[1]])
    restored = np.empty_like(numbers)
    restored[:, np.argsort(old)[order]] = numbers
    fault = fault or _difference("classes are renamed", labels, chances, found, restored)
    if task.weight is None and not task.directed:
        twice = np.concatenate([task.ends, task.ends[lines][:, ::-1]])
        found, numbers = fitted(task._replace(ends=twice, weight=np.full(len(twice), 0.5)), NAMES)
        fault = fault or _difference("each edge is listed in two halves", labels, chances, found, numbers)
    return fault


def alike(seed: int, number: int) -> str | None:
    """The same for rings and grids, where nodes look alike: ids decide, so they only move."""
    rng = generator(seed, 3001, number)
    rows, columns = int(rng.integers(1, 40)), int(rng.integers(30, 70))
    place = np.arange(rows * columns).reshape(rows, columns)
    across, down = np.stack([place, np.roll(place, -1, axis=1)], 2), np.stack([place[:-1], place[1:]], 2)
    ends, n = np.concatenate([across.reshape(-1, 2), down.reshape(-1, 2)]), place.size
    seeds = rng.permutation(n)[: int(rng.integers(8, 100))]
    codes = np.unique(3 * seeds // n, return_inverse=True)[1]
    return _listed(Task(ends, None, False, seeds, codes, None, n, "edges"), rng, WITHIN)


def larger(seed: int, number: int) -> str | None:
    """The same for larger graphs, where only a sample of the seeds teaches; in trees, too, many nodes look alike."""
    rng = generator(seed, 3002, number)
    return _listed(random_task(rng, LARGER, 2), rng, WITHIN_IF_LARGE)


def several(seed: int, number: int) -> str | None:
    """The same for seeds that have up to two labels each."""
    rng = generator(seed, 3003, number)
    task = random_task(rng, nodes_per_seed=2)
    second = rng.integers(0, 5, len(task.seeds))
    return _listed(task._replace(second=second, features=None), rng, WITHIN)


def _listed(task: Task, rng: np.random.Generator, within: float) -> str | None:
    """List nodes and edges in another order; what is wrong then."""
    labels, chances = fitted(task, NAMES)
    ids, lines = rng.permutation(task.n), rng.permutation(len(task.ends))
    moved = task._replace(
        ends=task.ends[lines] if task.directed else task.ends[lines][:, ::-1],
        weight=None if task.weight is None else task.weight[lines],
        features=None if task.features is None else task.features[ids],
    )
    found, numbers = fitted(moved, NAMES, ids)
    return _difference("nodes are listed in another order", labels[ids], chances[ids], found, numbers, within)


def fitted(
    task: Task, names: NDArray[np.str_], ids: NDArray[np.int64] | None = None
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Labels (n,) or (n, K) and probabilities (n, K) in the order of these ids; the classes are named so."""
    nodes = range(task.n) if ids is None else ids
    graph = iso.Graph.from_edges(task.ends[:, 0], task.ends[:, 1], task.weight, nodes=nodes, directed=task.directed)
    known: list[Any] = names[task.codes].tolist()
    if task.second is not None:
        known = [{*pair} for pair in zip(known, names[task.second].tolist(), strict=True)]
    seeds = dict(zip(task.seeds.tolist(), known, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = iso.NodeClassifier(side=task.side).fit(graph, seeds, features=task.features)
        labels = clf.labels_ if task.second is None else coo_array(clf.labels_).toarray()
        return labels, clf.predict_proba()


def _difference(
    where: str,
    labels: NDArray[Any],
    chances: NDArray[np.float64],
    found: NDArray[Any],
    numbers: NDArray[np.float64],
    within: float = WITHIN,
) -> str | None:
    changed = np.flatnonzero(labels != found)
    off = float(np.abs(chances - numbers).max())
    if not len(changed) and off <= within:
        return None
    return f"{len(changed)} labels change and probabilities by up to {off:.1g} where {where}"


def random_task(rng: np.random.Generator, sizes: tuple[int, int] = SIZES, nodes_per_seed: int = 4) -> Task:
    """Block models, random trees, graphs with hubs, weighted, directed with each side, with features."""
    n, n_classes = int(rng.integers(*sizes)), int(rng.integers(2, 6))
    truth = np.arange(n) * n_classes // n
    kind = rng.choice(["blocks", "sparse", "tree", "hubs"])
    if kind == "blocks":
        inside, outside = rng.uniform(4, 12) * n_classes / n, rng.uniform(0.5, 4) / n
        graph = stochastic_block_model(
            np.bincount(truth).tolist(), min(1, inside), min(1, outside), int(rng.integers(10**6))
        )
        ends = _upper(graph.adjacency.tocoo())
    elif kind == "sparse":
        ends = np.unique(np.sort(rng.integers(0, n, (2 * n, 2)), axis=1), axis=0)
    else:  # each node is joined to one or two earlier ones, chosen at random or by degree
        ends = np.array([(node, rng.integers(node)) for node in range(1, n)])
        if kind == "hubs":
            ends = np.unique(
                np.concatenate([ends, np.stack([np.arange(1, n), ends[rng.integers(0, n - 1, n - 1), 1]], 1)]), axis=0
            )
    ends = ends[ends[:, 0] != ends[:, 1]]
    count = int(rng.integers(2 * n_classes, max(2 * n_classes + 1, n // nodes_per_seed)))
    seeds = rng.permutation(n)[:count]
    codes = np.unique(truth[seeds], return_inverse=True)[1]
    features = rng.normal(size=(n, 8)) + 2 * np.eye(8)[truth] if rng.random() < 0.25 else None
    weight = rng.uniform(0.1, 3, len(ends)) if rng.random() < 0.4 else None
    directed = bool(rng.random() < 0.25)
    side = SIDES[rng.integers(len(SIDES))] if directed else "edges"
    return Task(ends, weight, directed, seeds, codes, features, n, side)


def _upper(matrix: coo_array) -> NDArray[np.int64]:
    """(m, 2) each edge of a symmetric matrix once."""
    once = matrix.row < matrix.col
    return np.stack([matrix.row[once], matrix.col[once]], axis=1).astype(np.int64)
