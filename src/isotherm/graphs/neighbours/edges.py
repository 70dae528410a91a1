"""Rows of a table joined to their nearest neighbours by weighted edges.

Identical rows are searched once: the first of them has the neighbours, the others, its *twins*, are joined to it alone.
So copies of a row can neither fill each other's lists of neighbours nor form islands that no seed reaches.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from isotherm.errors import Option, ParameterError, warn
from isotherm.graphs.neighbours.search import Index
from isotherm.graphs.neighbours.table import Preparation, Rows, ScaleWarning, ZeroRowWarning, as_table, has_direction

__all__ = ["WEIGHTS", "Neighbours", "ScaleWarning", "ZeroRowWarning"]

Doubles = NDArray[np.float64]

FARTHEST = 16.0  # exponents are cut here, so that no weight rounds to 0 and leaves a row unreached


def _gaussian(distances: Doubles, own: Doubles, others: Doubles) -> Doubles:
    """``exp(-4 d^2 / d_k^2)``, where d_k is the distance of the row from the last of its neighbours."""
    return np.asarray(np.exp(-4 * _relative(distances, own) ** 2))


def _self_tuning(distances: Doubles, own: Doubles, others: Doubles) -> Doubles:
    """``exp(-d^2 / (d_k d'_k))``, with the distances of both rows from the last of their neighbours."""
    exponents = _relative(distances, own) * _relative(distances, others)
    return np.asarray(np.exp(-np.minimum(exponents, FARTHEST)))


def _equal(distances: Doubles, own: Doubles, others: Doubles) -> Doubles:
    return np.ones_like(distances)


WEIGHTS: dict[str | None, Callable[[Doubles, Doubles, Doubles], Doubles]] = {
    "gaussian": _gaussian,
    "self-tuning": _self_tuning,
    None: _equal,
}


@dataclass(frozen=True)
class Neighbours:
    """A table whose rows can be joined to their neighbours, and to which new rows can be joined.

    ``first`` has the place of the first of each set of identical rows, ``twin`` the place in ``first`` of every row; it
    is -1 for a row that has no neighbours, because it is zero and the metric is cosine.
    """

    preparation: Preparation
    index: Index
    first: NDArray[np.int64]  # (distinct rows,)
    twin: NDArray[np.int64]  # (n,)
    near: NDArray[np.int32]  # (distinct rows, k): places in `first`
    distances: Doubles
    weights: str | None

    @classmethod
    def of(
        cls, values: Any, *, k: int, metric: str, weights: str | None, scale: bool, recall: float, threads: int
    ) -> Self:
        """Find the k nearest rows of each row of a table."""
        _check(k, weights, recall)
        table = as_table(values)
        preparation = Preparation.of(table, metric, scale)
        rows = preparation.rows(table)
        pointing = has_direction(table) if metric == "cosine" else np.ones(len(rows), bool)
        _warn_about_zeros(pointing)
        first, twin = _distinct(rows, pointing)
        index = Index.of(rows[first] if len(first) < len(rows) else rows, k, recall, threads)
        near, distances = index.neighbours(min(k, len(first) - 1), threads)
        return cls(preparation, index, first, twin, near, distances, weights)

    def matrix(self) -> csr_array:
        """The symmetric weights (n, n), with the edges to twins.

        A weight is the mean of both directions; it is 0 in a direction where one row is no neighbour of the other.
        """
        count, n, found = len(self.first), len(self.twin), self.near >= 0
        counts = np.zeros(n + 1, np.int64)
        counts[self.first + 1] = found.sum(axis=1)
        ends = self.first.astype(np.int32)[self.near[found]]
        values = self._weigh(self.distances, self.near)[found].astype(np.float32)
        arcs = csr_array((values, ends, np.cumsum(counts)), shape=(n, n))
        joined = arcs.maximum(arcs.T) if self.weights is None else (arcs + arcs.T) * np.float32(0.5)
        return joined if count == n else csr_array(joined + self._twins(joined))

    def _twins(self, joined: csr_array) -> csr_array:
        """Edges between twins and the first of their kind, each as heavy as all edges of the latter together."""
        twins = np.flatnonzero((self.twin >= 0) & (self.first[self.twin] != np.arange(len(self.twin))))
        firsts = self.first[self.twin[twins]]
        degrees = np.asarray(joined.sum(axis=1)).ravel()[firsts]
        heavy = np.where(degrees > 0, degrees, 1).astype(np.float32)
        edges = coo_array((heavy, (twins, firsts)), shape=joined.shape)
        return csr_array(edges + edges.T)

    def _weigh(self, distances: Doubles, near: NDArray[np.int32]) -> Doubles:
        """The weights of edges from rows to the rows ``near`` them."""
        others = _reach(self.distances)[near]
        return WEIGHTS[self.weights](distances, _reach(distances)[:, None], others)

    def to_new(self, values: Any, threads: int) -> csr_array:
        """The weights (m, n) of edges from new rows to the rows of the table, by the same rule."""
        table = as_table(values)
        rows, k = self.preparation.rows(table), max(1, self.near.shape[1])
        near, distances = self.index.nearest(rows, min(k, len(self.first)), threads)
        near[distances[:, 0] == 0, 1:] = -1  # the twin of a row of the table
        if self.preparation.metric == "cosine":
            near[~has_direction(table)] = -1
        weights = self._weigh(distances, near)
        at, places = np.nonzero(near >= 0)
        shape = (len(rows), len(self.twin))
        return csr_array((weights[at, places], (at, self.first[near[at, places]])), shape=shape)


def _reach(distances: Doubles) -> Doubles:
    """The distance of each row from the last of its neighbours."""
    finite = np.where(np.isfinite(distances), distances, 0)
    return finite.max(axis=1, initial=0)


def _relative(distances: Doubles, reach: Doubles) -> Doubles:
    """Distances in units of the reach; 0 counts as 0, whatever the reach."""
    safe = np.where(np.isfinite(distances), distances, 0)
    return np.divide(safe, reach, out=np.zeros_like(safe), where=np.broadcast_to(reach > 0, safe.shape))


def _check(k: Any, weights: str | None, recall: float) -> None:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ParameterError("{k}, but a row needs at least 1 neighbour", k=Option("k", k))
    if weights not in WEIGHTS:
        choices = ", ".join(map(repr, WEIGHTS))
        raise ParameterError(
            "{weights} is unknown: choose {choices}", weights=Option("weights", weights), choices=choices
        )
    if not 0 < recall <= 1:
        raise ParameterError("{recall}, but it is a share above 0 and at most 1", recall=Option("recall", recall))


def _warn_about_zeros(pointing: NDArray[np.bool_]) -> None:
    zeros = np.flatnonzero(~pointing)
    if len(zeros) == len(pointing):
        raise ParameterError(
            "all rows of the table are zero, so none has a direction: use {metric}",
            metric=Option("metric", "euclidean"),
        )
    if len(zeros):
        warn(
            ZeroRowWarning(
                "{count} of the table {are} zero and {have} no direction, so {metric} gives {them} no neighbours "
                "and no label: drop {them}, or use {other}",
                count=f"row {zeros[0]}" if len(zeros) == 1 else f"{len(zeros)} rows (the first is {zeros[0]})",
                are="is" if len(zeros) == 1 else "are",
                have="has" if len(zeros) == 1 else "have",
                them="it" if len(zeros) == 1 else "them",
                metric=Option("metric", "cosine"),
                other=Option("metric", "euclidean"),
            )
        )


def _distinct(rows: Rows, pointing: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the first of each set of identical rows, ascending; and for every row the number of its set.

    That number is -1 for rows that are not ``pointing``: they have no direction.
    """
    keys = np.where(pointing, _hashes(rows), 0)
    places = np.flatnonzero(pointing)
    _, first, inverse = np.unique(keys[places], return_index=True, return_inverse=True)
    same = all(
        np.array_equal(rows[places[part]], rows[places[first[inverse[part]]]])
        for part in np.array_split(np.arange(len(places)), 1 + rows.size // (1 << 24))
    )
    if not same:  # two rows share a hash: compare the rows themselves
        _, first, inverse = np.unique(rows[places], axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    twin = np.full(len(rows), -1)
    twin[places] = rank[inverse.ravel()]
    return places[first[order]], twin


def _hashes(rows: Rows) -> NDArray[np.uint64]:
    """A hash of the bytes of each row."""
    odd = np.random.default_rng(0).integers(2**63, size=rows.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    words = rows.view(np.uint32)
    hashes = np.empty(len(rows), np.uint64)
    step = max(1, (1 << 20) // rows.shape[1])
    for first in range(0, len(rows), step):
        part = words[first : first + step].astype(np.uint64)
        hashes[first : first + step] = (part * odd).sum(axis=1, dtype=np.uint64)
    return hashes
