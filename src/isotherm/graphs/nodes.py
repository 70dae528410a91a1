"""Node ids: any hashable values, numbered in order of first appearance."""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ids: TypeAlias = NDArray[Any]

INTEGERS = {int, *(np.dtype(code).type for code in np.typecodes["AllInteger"])}


def flat(values: Any, name: str) -> NDArray[Any]:
    """A list, array or Series as a 1-D array; lists become arrays of objects."""
    values = values.to_numpy() if hasattr(values, "to_numpy") else values
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a list or an array, not {type(values).__name__}")
    array = values if isinstance(values, np.ndarray) else np.fromiter(values, dtype=object)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {array.ndim}")
    return array


def node_ids(values: Any, name: str) -> Ids:
    """Node ids: int64 if all are integers, objects otherwise."""
    array = flat(values, name)
    if array.dtype.kind in "iu" and np.can_cast(array.dtype, np.int64):
        return array.astype(np.int64, copy=False)
    items = list(array) if array.dtype.kind in "mM" else array.tolist()
    if INTEGERS.issuperset(map(type, items)):
        with suppress(OverflowError):
            return np.array(items, dtype=np.int64)
    return array if array.dtype == object else np.fromiter(items, dtype=object)


def frame_ids(frame: Any) -> Ids | None:
    """The ids in the index of a data frame of pandas, None unless they are distinct ints or texts.

    >>> import pandas as pd
    >>> frame_ids(pd.DataFrame({"x": [0.5, 1]}, index=[7, 3]))
    array([7, 3])
    """
    ids = node_ids(frame.index.tolist(), "index")
    plain = ids.dtype == np.int64 or all(type(each) is str for each in ids)
    return ids if plain and frame.index.is_unique else None


def number_ends(ends: Ids, nodes: Ids | None) -> tuple[Ids, NDArray[np.int64]]:
    """The nodes, in the given order or by first appearance, and the positions (m, 2) of the ends of each edge."""
    listed = np.empty(0, dtype=np.int64) if nodes is None else distinct_ids(nodes)
    found, positions = factorised(np.concatenate([listed, ends.ravel()]))
    if nodes is not None and len(found) > len(listed):
        unknown = not_in_the_graph(found[len(listed) :])
        raise ValueError(f"{unknown}; nodes must list every id that the edges name")
    return found, positions[len(listed) :].reshape(-1, 2)


def factorised(ids: Ids) -> tuple[Ids, NDArray[np.int64]]:
    """The distinct ids in order of first appearance, and the position of each id among them."""
    if ids.dtype == np.int64:
        return _factorised_integers(ids)
    positions: defaultdict[Any, int] = defaultdict(count().__next__)
    try:
        codes = np.fromiter(map(positions.__getitem__, ids.tolist()), dtype=np.int64, count=len(ids))
    except TypeError as error:
        raise TypeError(f"node ids must be hashable: {error}") from None
    if any(map(is_missing, positions)):
        raise ValueError(f"{next(filter(is_missing, positions))!r} cannot be the id of a node")
    return node_ids(positions, "nodes"), codes


def _factorised_integers(ids: NDArray[np.int64]) -> tuple[Ids, NDArray[np.int64]]:
    low, high = (int(ids.min()), int(ids.max())) if len(ids) else (0, -1)
    if high - low < 4 * len(ids):  # a lookup table is faster than sorting
        values, places = np.arange(low, high + 1), ids - low
        first = np.full(len(values), len(ids))
        first[places[::-1]] = np.arange(len(ids))[::-1]  # written backwards, so that the first appearance stays
    else:
        values, first, places = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return values[order[: np.count_nonzero(first < len(ids))]], rank[places]


def distinct_ids(nodes: Ids) -> Ids:
    """The ids themselves, after a check that no two are equal."""
    distinct, codes = factorised(nodes)
    if len(distinct) < len(nodes):
        again = nodes.item(int(np.argmax(codes != np.arange(len(codes)))))
        raise ValueError(f"node ids must be distinct, but {again!r} is given more than once")
    return distinct


def is_missing(node: Any) -> bool:
    """Whether a value is None, NaN or the like."""
    try:
        return node is None or bool(node != node)
    except TypeError:  # pandas.NA has no truth value
        return True


def not_in_the_graph(unknown: Ids) -> str:
    """The error message for ids that no node has."""
    names = list(dict.fromkeys(map(repr, unknown.tolist())))
    number = "1 node is" if len(names) == 1 else f"{len(names)} nodes are"
    return f"{number} not in the graph: {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}"
