"""Graphs of nearest neighbours: the rows of a table, joined to their nearest rows by weighted edges.

*Search.* Small tables are searched by comparing all pairs of rows, larger ones by inverted lists. The lists are the
cells of some centroids (k-means on a sample), and a row looks through the lists of its nearest centroids. How many
lists are enough is measured on a sample of rows whose true neighbours are found by comparing them with all others.
Every step gives the same bits on any number of threads and on every run.

*Twins.* Identical rows are searched once: the first of them has the neighbours, and the others, its twins, are joined
to it alone. So copies of a row can neither fill each other's lists of neighbours nor form islands that no seed reaches.

*Order.* Rows are searched in the order of hashes of their content, and the first of identical rows is that with the
first id. So it does not depend on the order of the rows which of several equally near rows are neighbours.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from isotherm import kernels
from isotherm.arrays import Doubles
from isotherm.errors import Option, ParameterError, Worded, warn
from isotherm.graphs.colours import ranked
from isotherm.graphs.nodes import Ids
from isotherm.graphs.vector_rows import Preparation, Vectors, as_table, has_direction, names_of

FARTHEST = 16.0  # largest exponent: no weight rounds to 0 and leaves a row unreached
MOST_EXACT = 5e10  # multiplications up to which all pairs of rows are compared: about a second
LIST_ROWS = 512  # rows in a list of an exact search, so that it fits the cache
SPARE = 4  # extra candidates, because float32 may swap rows at similar distances
SAMPLE = 1024  # rows on which the recall is measured
MARGIN = 0.005  # safety margin of the recall on the sample
ROUNDS = 6  # iterations of k-means
PER_LIST = 32  # rows per list in the k-means sample

Places = NDArray[np.int32]


class ZeroRowWarning(Worded, UserWarning):
    """Rows of zeros have no direction, so the cosine metric gives them no neighbours."""


@dataclass(frozen=True)
class Index:
    """Rows sorted into lists, ready to be searched."""

    rows: Vectors
    squares: NDArray[np.float32]  # squared norms of the rows
    lists: NDArray[np.int64]  # where each list begins, and where the last one ends
    order: Places  # position of each row in the table
    centroids: "Index | None"
    probes: Places | None  # (n, P): the lists that each row looks through; None: all
    recall: float  # the share of true neighbours found, on a sample

    @classmethod
    def of(cls, rows: Vectors, k: int, recall: float, threads: int) -> Self:
        """An index that finds at least the share ``recall`` of the k nearest rows."""
        n, columns = rows.shape
        if recall >= 1 or float(n) * n * columns <= MOST_EXACT:
            return cls.exact(rows)
        centroids = cls.exact(_centroids(rows, int(4 * np.sqrt(n)), threads))
        width, found = _probes_needed(rows, centroids, min(k, n - 1), recall, threads)
        if width * 2 > len(centroids.rows):
            return cls.exact(rows)
        probes = centroids.candidates(rows, width, threads)
        order = np.argsort(probes[:, 0], kind="stable").astype(np.int32)
        lists = np.searchsorted(probes[order, 0], np.arange(len(centroids.rows) + 1))
        rows = rows[order]
        return cls(rows, _squares(rows), lists.astype(np.int64), order, centroids, probes[order], found)

    @classmethod
    def exact(cls, rows: Vectors) -> Self:
        """An index whose queries are compared with all rows."""
        lists = np.append(np.arange(0, len(rows), LIST_ROWS), len(rows))
        return cls(rows, _squares(rows), lists, np.arange(len(rows), dtype=np.int32), None, None, 1.0)

    def candidates(self, queries: Vectors, wanted: int, threads: int, probes: Places | None = None) -> Places:
        """Positions in ``rows`` of the rows nearest to each query, by float32 distances; -1 where there are fewer."""
        nearest = np.empty((len(queries), wanted), np.int32)
        kernels.active.nearest_rows(self.rows, self.squares, self.lists, queries, probes, nearest, threads)
        return nearest

    def neighbours(self, k: int, threads: int) -> tuple[Places, Doubles]:
        """The k nearest other rows of each row and their distances; -1 and infinity where there are fewer."""
        own = np.arange(len(self.rows), dtype=np.int32)
        near, distances = self._refined(self.rows, own, self.probes, k, threads)
        back = np.empty_like(self.order)
        back[self.order] = own
        return near[back], distances[back]

    def nearest(self, queries: Vectors, k: int, threads: int) -> tuple[Places, Doubles]:
        """The k rows nearest to each new row, and their distances."""
        probes = None
        if self.centroids is not None and self.probes is not None:
            probes = self.centroids.candidates(queries, self.probes.shape[1], threads)
        return self._refined(queries, np.full(len(queries), -1, np.int32), probes, k, threads)

    def _refined(
        self, queries: Vectors, own: Places, probes: Places | None, k: int, threads: int
    ) -> tuple[Places, Doubles]:
        """The k nearest of the candidates by float64 distances, without the query itself."""
        wanted = min(k + 1 + SPARE, len(self.rows))
        candidates = self.candidates(queries, wanted, threads, probes)
        near, distances = np.empty((len(queries), k), np.int32), np.empty((len(queries), k))
        kernels.active.refine(self.rows, queries, candidates, own, near, distances, threads)
        return np.where(near >= 0, self.order[near], np.int32(-1)), distances


def _squares(rows: Vectors) -> NDArray[np.float32]:
    return np.einsum("ij,ij->i", rows, rows, dtype=np.float64).astype(np.float32)


def _centroids(rows: Vectors, count: int, threads: int) -> Vectors:
    """The centroids of ``count`` cells, by a few iterations of k-means on a sample."""
    rng = np.random.default_rng(0)
    sample = rows[np.sort(rng.choice(len(rows), min(len(rows), PER_LIST * count), replace=False))]
    centroids = sample[np.sort(rng.choice(len(sample), count, replace=False))]
    for _ in range(ROUNDS):
        cell = Index.exact(centroids).candidates(sample, 1, threads)[:, 0]
        members = csr_array((np.ones(len(cell)), (cell, np.arange(len(cell)))), shape=(count, len(cell)))
        sizes = np.bincount(cell, minlength=count)
        means = (members @ sample) / np.maximum(sizes, 1)[:, None]
        centroids = np.where(sizes[:, None] > 0, means, centroids).astype(np.float32)
    return centroids


def _probes_needed(rows: Vectors, centroids: Index, k: int, recall: float, threads: int) -> tuple[int, float]:
    """How many lists a row must look through, and the recall that this gives on a sample of rows."""
    asked = np.sort(np.random.default_rng(1).choice(len(rows), min(len(rows), SAMPLE), replace=False))
    queries = rows[asked]
    true, _ = Index.exact(rows)._refined(queries, asked.astype(np.int32), None, k, threads)
    lists_of_true = centroids.candidates(rows[true.ravel()], 1, threads).reshape(true.shape)  # (sample, k)
    ranked = centroids.candidates(queries, len(centroids.rows), threads)  # (sample, lists)
    rank = np.empty_like(ranked)
    np.put_along_axis(rank, ranked, np.arange(ranked.shape[1], dtype=np.int32)[None], axis=1)
    ranks = np.sort(np.take_along_axis(rank, lists_of_true, axis=1).ravel())
    needed = int(np.ceil(min(recall + MARGIN, 1) * len(ranks))) - 1
    width = int(ranks[needed]) + 1
    return width, float(np.mean(ranks < width))


def _gaussian(distances: Doubles, own: Doubles, others: Doubles) -> Doubles:
    """``exp(-4 d^2 / d_k^2)``, where d_k is the distance of the row from its k-th neighbour."""
    return np.asarray(np.exp(-4 * _relative(distances, own) ** 2))


def _self_tuning(distances: Doubles, own: Doubles, others: Doubles) -> Doubles:
    """``exp(-d^2 / (d_k d'_k))``, with the distances of both rows from their k-th neighbours."""
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
    """A table whose rows can be joined to their neighbours, and to which new rows can be joined."""

    preparation: Preparation
    index: Index
    first: NDArray[np.int64]  # (distinct rows,) the first row of each set of identical rows
    twin: NDArray[np.int64]  # (n,) the set of each row; -1 for a row of zeros under the cosine metric
    near: Places  # (distinct rows, k) numbers of sets
    distances: Doubles  # (distinct rows, k)
    weights: str | None

    @classmethod
    def of(
        cls,
        values: Any,
        *,
        k: int,
        metric: str,
        weights: str | None,
        scale: bool,
        recall: float,
        threads: int,
        ids: Ids | None = None,  # (n,) distinct; by default the positions of the rows
    ) -> Self:
        """Find the k nearest rows of each row of a table."""
        _check(k, weights, recall)
        table = as_table(values)
        preparation = Preparation.of(table, metric, scale, names_of(values))
        rows = preparation.rows(table)
        pointing = has_direction(table) if metric == "cosine" else np.ones(len(rows), bool)
        _warn_about_zeros(pointing)
        if ids is not None and len(ids) != len(rows):
            raise ValueError(f"ids has {len(ids)} values for {len(rows)} rows of the table")
        first, twin = _distinct(rows, pointing, ids)
        rows = rows[first]
        index = Index.of(rows, k, recall, threads)
        near, distances = index.neighbours(min(k, len(first) - 1), threads)
        return cls(preparation, index, first, twin, near, distances, weights)

    def matrix(self) -> csr_array:
        """The symmetric weights (n, n): the mean of both directions (0 where it has no edge), and edges to twins."""
        count, n, order = len(self.first), len(self.twin), np.argsort(self.first)
        near = self.near[order]
        found, counts = near >= 0, np.zeros(n + 1, np.int64)
        counts[self.first[order] + 1] = found.sum(axis=1)
        ends = self.first.astype(np.int32)[near[found]]
        values = self._weigh(self.distances[order], near)[found].astype(np.float32)
        arcs = csr_array((values, ends, np.cumsum(counts)), shape=(n, n))
        joined = arcs.maximum(arcs.T) if self.weights is None else (arcs + arcs.T) * np.float32(0.5)
        return joined if count == n else csr_array(joined + self._twins(joined))

    def _twins(self, joined: csr_array) -> csr_array:
        """Edges from twins to the first row of their set, each as heavy as all other edges of that row together."""
        twins = np.flatnonzero((self.twin >= 0) & (self.first[self.twin] != np.arange(len(self.twin))))
        firsts = self.first[self.twin[twins]]
        degrees = np.asarray(joined.sum(axis=1)).ravel()[firsts]
        heavy = np.where(degrees > 0, degrees, 1).astype(np.float32)
        edges = coo_array((heavy, (twins, firsts)), shape=joined.shape)
        return csr_array(edges + edges.T)

    def _weigh(self, distances: Doubles, near: Places) -> Doubles:
        """The weights of the edges from rows to the rows ``near`` them."""
        return WEIGHTS[self.weights](distances, _reach(distances)[:, None], _reach(self.distances)[near])

    def to_new(self, values: Any, threads: int) -> csr_array:
        """The weights (m, n) of edges from new rows to the rows of the table, by the same rule."""
        table = as_table(values)
        rows, k = self.preparation.rows(table), max(1, self.near.shape[1])
        near, distances = self.index.nearest(rows, min(k, len(self.first)), threads)
        near[distances[:, 0] == 0, 1:] = -1  # a copy of a row of the table is joined to that row alone
        if self.preparation.metric == "cosine":
            near[~has_direction(table)] = -1
        weights = self._weigh(distances, near)
        at, places = np.nonzero(near >= 0)
        return csr_array((weights[at, places], (at, self.first[near[at, places]])), (len(rows), len(self.twin)))


def _reach(distances: Doubles) -> Doubles:
    """The distance of each row from its k-th neighbour."""
    return np.where(np.isfinite(distances), distances, 0).max(axis=1, initial=0)


def _relative(distances: Doubles, reach: Doubles) -> Doubles:
    """Distances relative to the reach; 0/0 counts as 0."""
    safe = np.where(np.isfinite(distances), distances, 0)
    return np.divide(safe, reach, out=np.zeros_like(safe), where=np.broadcast_to(reach > 0, safe.shape))


def _check(k: Any, weights: str | None, recall: float) -> None:
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise ParameterError("{k}, but it must be a whole number", k=Option("k", k))
    if k < 1:
        raise ParameterError("{k}, but a row needs at least 1 neighbour", k=Option("k", k))
    if weights not in WEIGHTS:
        message = f"{{weights}} is unknown: choose {', '.join(map(repr, WEIGHTS))}"
        raise ParameterError(message, weights=Option("weights", weights))
    if not 0 < recall <= 1:
        raise ParameterError("{recall}, but it is a share above 0 and at most 1", recall=Option("recall", recall))


def _warn_about_zeros(pointing: NDArray[np.bool_]) -> None:
    zeros = np.flatnonzero(~pointing)
    if len(zeros) == len(pointing):
        message = "all rows of the table are zero, so none has a direction: use {metric}"
        raise ParameterError(message, metric=Option("metric", "euclidean"))
    if len(zeros):
        several = f"{len(zeros)} rows (the first is {zeros[0]}) of the table are zero and have", "them"
        subject, them = several if len(zeros) > 1 else (f"row {zeros[0]} of the table is zero and has", "it")
        problem = f"{subject} no direction, so {{metric}} gives {them} no neighbours and no label"
        cosine, euclidean = Option("metric", "cosine"), Option("metric", "euclidean")
        warn(ZeroRowWarning(f"{problem}: drop {them}, or use {{other}}", metric=cosine, other=euclidean))


def _distinct(
    rows: Vectors, pointing: NDArray[np.bool_], ids: Ids | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the first row of each set of identical rows, by content, and the set of every row (or -1)."""
    places = np.flatnonzero(pointing)
    if ids is not None:
        places = places[np.argsort(ranked(ids[places]))]
    _, first, inverse = np.unique(_hashes(rows)[places], return_index=True, return_inverse=True)
    same = all(
        np.array_equal(rows[places[part]], rows[places[first[inverse[part]]]])
        for part in np.array_split(np.arange(len(places)), 1 + rows.size // (1 << 24))
    )
    if not same:  # two rows share a hash: compare the rows themselves
        _, first, inverse = np.unique(rows[places], axis=0, return_index=True, return_inverse=True)
    twin = np.full(len(rows), -1)
    twin[places] = inverse.ravel()
    return places[first], twin


def _hashes(rows: Vectors) -> NDArray[np.uint64]:
    """A hash of the bytes of each row."""
    odd = np.random.default_rng(0).integers(2**63, size=rows.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    words = rows.view(np.uint32)
    hashes = np.empty(len(rows), np.uint64)
    step = max(1, (1 << 20) // rows.shape[1])
    for first in range(0, len(rows), step):
        part = words[first : first + step].astype(np.uint64)
        hashes[first : first + step] = (part * odd).sum(axis=1, dtype=np.uint64)
    return hashes
