"""Changes of the seeds: the new set of seeds, and the temperatures from which to start the next solve."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from isotherm.arrays import Floats, Ints
from isotherm.graphs import Graph
from isotherm.seeds import Seeds
from isotherm.seeds.reading import label_sets, soft_seeds


def changed_seeds(seeds: Seeds, add: Mapping[Any, Any], remove: Iterable[Any], graph: Graph) -> Seeds:
    """Add and remove seeds; a node that is already a seed takes its new label or set of labels.

    A class without seeds is dropped. If seeds have sets of labels, all labels are kept, so that columns do not move.
    """
    if not isinstance(add, Mapping):
        raise TypeError(f"seeds to add must be a mapping of nodes to labels, not {type(add).__name__}")
    added, removed = graph.index(list(add)), _removed(seeds, remove, graph)
    for node in graph.nodes[np.intersect1d(added, removed)].tolist():
        raise ValueError(f"the node {node!r} is both added and removed: decide on one")
    kept = seeds.take(~np.isin(seeds.nodes, np.concatenate([added, removed])))
    if (alike := _of_known_classes(kept, added, list(add.values()))) is not None:
        return alike
    ids = graph.nodes[kept.nodes].tolist()
    weights = None if kept.weights is None else dict(zip(ids, kept.weights.tolist(), strict=True))
    if kept.several:
        sets = dict(zip(ids, kept.names(np.arange(len(ids))), strict=True))
        return label_sets(sets | dict(add), graph, weights, known=kept.classes)
    return soft_seeds(dict(zip(ids, _labels(kept), strict=True)) | dict(add), graph, weights)


def _of_known_classes(kept: Seeds, added: Ints, labels: list[Any]) -> Seeds | None:
    """The seeds with these added, if each has one certain label and the classes stay the same: none is read again."""
    number = {label: code for code, label in enumerate(kept.classes.tolist())}
    plain = kept.table is None and kept.weights is None and not kept.several and kept.classes.dtype != bool
    if not plain or not all(type(label) in (int, str) and label in number for label in labels):
        return None
    nodes, codes = np.concatenate([kept.nodes, added]), np.array([number[label] for label in labels], np.int64)
    order, codes = np.argsort(nodes), np.concatenate([kept.codes, codes])
    changed = replace(kept, nodes=nodes[order], codes=codes[order])
    return changed if changed.n_classes > 1 and changed.counts.all() else None


def _removed(seeds: Seeds, remove: Iterable[Any], graph: Graph) -> Ints:
    if isinstance(remove, (str, bytes)):
        raise TypeError(f"seeds to remove must be a list of nodes, not {remove!r}: put it in brackets")
    removed = graph.index(list(remove))
    for node in graph.nodes[removed[~np.isin(removed, seeds.nodes)]].tolist():
        raise ValueError(f"the node {node!r} cannot be removed: it is not a seed")
    return removed


def _labels(seeds: Seeds) -> list[Any]:
    """The label of each seed, or its distribution."""
    if seeds.table is None:
        return seeds.decode(seeds.codes).tolist()
    table = seeds.table
    rows = (slice(*table.indptr[row : row + 2]) for row in range(len(seeds.nodes)))
    return [dict(zip(seeds.classes[table.indices[r]].tolist(), table.data[r].tolist(), strict=True)) for r in rows]


def warm_start(temperatures: Floats, before: Seeds, after: Seeds) -> Floats:
    """Starting temperatures for the classes after a change, shape (n, K); each row sums to one.

    A new class starts at 0. The heat of a dropped class is distributed over the others in proportion. A node that was
    unreached starts at the class shares of the seeds. With sets of labels, each label is independent: rows need not sum
    to one, and a new label starts at its share.
    """
    if np.array_equal(before.classes, after.classes):
        start = temperatures.copy()
        start[np.isnan(start[:, 0])] = after.shares
        return start
    start = np.zeros((len(temperatures), after.n_classes), temperatures.dtype)
    place = {label: column for column, label in enumerate(before.classes.tolist())}
    for column, label in enumerate(after.classes.tolist()):
        if label in place:
            start[:, column] = temperatures[:, place[label]]
        elif after.several:
            start[:, column] = after.shares[column]
    if after.several:
        return np.where(np.isnan(start), after.shares, start)
    total = start.sum(axis=1)
    empty = ~(total > 0)
    start[empty], total[empty] = after.shares, 1
    return start / total[:, None]


def in_classes(temperatures: Floats, before: Seeds, after: Seeds) -> Floats:
    """The temperatures (n, K) in the columns of the classes after a change; a new class has 0 everywhere."""
    if np.array_equal(before.classes, after.classes):
        return temperatures
    place = {label: column for column, label in enumerate(before.classes.tolist())}
    columns = [place.get(label, -1) for label in after.classes.tolist()]
    known = np.column_stack([temperatures, 0 * temperatures[:, 0]])  # 0, or NaN where unreached
    return np.ascontiguousarray(known[:, columns])
