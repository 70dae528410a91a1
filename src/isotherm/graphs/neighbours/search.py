"""The nearest rows of a table: by comparing all rows if there are few, by inverted lists beyond.

The lists are the cells of some centroids (k-means on a sample). A row looks through the lists of its nearest centroids.
How many these must be is measured: for a few rows all others are compared, and enough lists are probed to find the
wanted share of their true neighbours. Every step gives the same bits on any number of threads and on every run.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm import kernels

__all__ = ["Index"]

MOST_EXACT = 5e10  # products of two numbers up to which all rows are compared: about a second
LIST_ROWS = 512  # of the lists of an exact search: they fit the cache
SPARE = 4  # candidates beyond those wanted, because float32 may confuse close ones
SAMPLE = 1024  # rows on which the recall is measured
MARGIN = 0.005  # by which the recall on the sample has to exceed the one asked for
ROUNDS = 6  # of k-means
PER_LIST = 32  # rows for each list that k-means sees

Rows = NDArray[np.float32]
Places = NDArray[np.int32]


@dataclass(frozen=True)
class Index:
    """Rows in lists, ready to be searched; ``order`` has their places in the table."""

    rows: Rows
    squares: NDArray[np.float32]
    lists: NDArray[np.int64]
    order: Places
    centroids: "Index | None"
    probes: Places | None  # (n, P): the lists that each row looks through
    recall: float  # the share of true neighbours found, on a sample

    @classmethod
    def of(cls, rows: Rows, k: int, recall: float, threads: int) -> Self:
        """An index that finds at least this share of the k nearest rows."""
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
    def exact(cls, rows: Rows) -> Self:
        """An index whose queries are compared with all rows."""
        lists = np.append(np.arange(0, len(rows), LIST_ROWS), len(rows))
        return cls(rows, _squares(rows), lists, np.arange(len(rows), dtype=np.int32), None, None, 1.0)

    def candidates(self, queries: Rows, wanted: int, threads: int, probes: Places | None = None) -> Places:
        """Places in ``rows`` of the nearest of each query, by float32 distances; -1 where there are fewer."""
        nearest = np.empty((len(queries), wanted), np.int32)
        kernels.active.nearest_rows(self.rows, self.squares, self.lists, queries, probes, nearest, threads)
        return nearest

    def neighbours(self, k: int, threads: int) -> tuple[Places, NDArray[np.float64]]:
        """The k nearest other rows of each row and their distances; -1 and infinity where there are fewer."""
        own = np.arange(len(self.rows), dtype=np.int32)
        near, distances = self._refined(self.rows, own, self.probes, k, threads)
        back = np.empty_like(self.order)
        back[self.order] = own
        return near[back], distances[back]

    def nearest(self, queries: Rows, k: int, threads: int) -> tuple[Places, NDArray[np.float64]]:
        """The k nearest rows of new ones, and their distances."""
        probes = None
        if self.centroids is not None and self.probes is not None:
            probes = self.centroids.candidates(queries, self.probes.shape[1], threads)
        return self._refined(queries, np.full(len(queries), -1, np.int32), probes, k, threads)

    def _refined(
        self, queries: Rows, own: Places, probes: Places | None, k: int, threads: int
    ) -> tuple[Places, NDArray[np.float64]]:
        wanted = min(k + 1 + SPARE, len(self.rows))
        candidates = self.candidates(queries, wanted, threads, probes)
        near, distances = np.empty((len(queries), k), np.int32), np.empty((len(queries), k))
        kernels.active.refine(self.rows, queries, candidates, own, near, distances, threads)
        return np.where(near >= 0, self.order[near], np.int32(-1)), distances


def _squares(rows: Rows) -> NDArray[np.float32]:
    return np.einsum("ij,ij->i", rows, rows, dtype=np.float64).astype(np.float32)


def _centroids(rows: Rows, count: int, threads: int) -> Rows:
    """The means of some cells, by a few rounds of k-means on a sample."""
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


def _probes_needed(rows: Rows, centroids: Index, k: int, recall: float, threads: int) -> tuple[int, float]:
    """How many lists a row must look through, and the share of true neighbours that a sample finds in so many."""
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
