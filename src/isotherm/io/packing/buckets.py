"""Edges dealt to files by row, each small enough to be sorted in memory."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.errors import Option
from isotherm.files import FileError

__all__ = ["Buckets", "Rows", "balanced_bounds"]

SORTING = 48  # bytes that are planned for sorting each entry, besides three copies of it; about half are needed


class Rows(NamedTuple):
    """Some rows of a matrix: the number of entries of each, and for all entries column and weight."""

    counts: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[Any] | None


def balanced_bounds(sample: NDArray[np.int64], n: int, buckets: int) -> NDArray[np.int64]:
    """Bounds of ranges of rows, from 0 to n, with about as many entries each, judged by the rows of a sample.

    A row that is several times among the quantiles of the sample is a hub, and gets a bucket of its own.

    >>> balanced_bounds(np.array([0, 0, 0, 0, 5, 6]), 10, 3)
    array([ 0,  1,  5, 10])
    """
    quantiles = np.sort(sample)[np.arange(buckets) * len(sample) // buckets]
    after_hubs = quantiles[1:][quantiles[1:] == quantiles[:-1]] + 1
    return np.unique(np.concatenate([[0, n], quantiles, after_hubs]))


class Buckets:
    """Entries of a matrix on disk, by ranges of rows.

    Parameters
    ----------
    folder
        Where the files are.
    bounds
        (k + 1,) first row of each range, and n.
    weights
        The type of the weights, or None.
    """

    def __init__(self, folder: Path, bounds: NDArray[np.int64], weights: np.dtype[Any] | None) -> None:
        self.bounds, self.weights = bounds, weights
        fields: list[Any] = [("row", np.int32), ("column", np.int32)]
        self.entry = np.dtype(fields if weights is None else [*fields, ("weight", weights)])
        self._paths = [folder / f"bucket-{number}" for number in range(len(bounds) - 1)]
        kind = np.uint8 if len(self) <= 256 else np.uint16
        self._bucket_of = np.repeat(np.arange(len(self), dtype=kind), np.diff(bounds))  # (n,)

    def __len__(self) -> int:
        return len(self._paths)

    def deal(self, rows: NDArray[np.int32], columns: NDArray[np.int32], weights: NDArray[Any] | None) -> None:
        """Append entries to the files of their rows."""
        numbers = self._bucket_of[rows]
        order = np.argsort(numbers, kind="stable")  # a radix sort
        entries = np.empty(len(rows), dtype=self.entry)
        entries["row"], entries["column"] = rows[order], columns[order]
        if self.weights is not None:
            entries["weight"] = 1 if weights is None else weights[order]
        ends = np.cumsum(np.bincount(numbers, minlength=len(self)))
        for number, end in enumerate(ends.tolist()):
            first = int(ends[number - 1]) if number else 0
            if end > first:
                with open(self._paths[number], "ab", buffering=0) as file:
                    entries[first:end].tofile(file)

    def rows(self, number: int, *, simple: bool, memory: int) -> Rows:
        """The sorted rows of a bucket, with duplicates merged; its file is removed."""
        low, high = self.bounds[number], self.bounds[number + 1]
        path = self._paths[number]
        if not path.exists():
            return Rows(np.zeros(high - low, np.int64), np.empty(0, np.int32), None)
        self._check_fits(path, int(low), int(high), memory)
        entries = np.fromfile(path, dtype=self.entry)
        rows, columns = entries["row"] - np.int32(low), np.ascontiguousarray(entries["column"])
        weights = None if self.weights is None else np.ascontiguousarray(entries["weight"])
        path.unlink()
        del entries
        indptr, indices = np.empty(high - low + 1, np.int64), np.empty_like(columns)
        ordered = None if weights is None else np.empty_like(weights)
        kernels.active.assemble(rows, columns, weights, indptr, indices, ordered, kernels.thread_count())
        del rows, columns, weights
        return _merged(indptr, indices, ordered, simple=simple)

    def _check_fits(self, path: Path, low: int, high: int, memory: int) -> None:
        """Refuse a bucket that is too large, which happens only if one node has very many edges."""
        count = path.stat().st_size // self.entry.itemsize
        needed = count * (3 * self.entry.itemsize + SORTING) // 2  # the plan allows for twice as much
        if needed > max(memory, 1 << 26):
            alone = high - low == 1
            where = f"the node at position {low} has" if alone else f"the nodes at positions {low} to {high - 1} have"
            raise FileError(
                "{where} {count:,} edges, which need {needed:.1f} GB to be sorted; raise {max_memory}",
                where=where,
                count=count,
                needed=needed / 2**30,
                max_memory=Option("max_memory"),
            )


def _merged(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[Any] | None, *, simple: bool
) -> Rows:
    """Rows without duplicates: weights are added, or with ``simple`` an entry counts once; zeros are dropped."""
    first = np.ones(len(indices), dtype=bool)
    np.not_equal(indices[1:], indices[:-1], out=first[1:])
    first[indptr[:-1][np.diff(indptr) > 0]] = True
    if not first.all():
        starts = np.flatnonzero(first)
        if not simple and weights is not None:
            weights = np.add.reduceat(weights, starts, dtype=np.float64).astype(weights.dtype)
        elif not simple:
            weights = np.diff(starts, append=len(indices)).astype(np.float32)
        indptr, indices = np.searchsorted(starts, indptr), indices[starts]
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        indptr, indices, weights = np.searchsorted(kept, indptr), indices[kept], weights[kept]
    if weights is not None and len(weights) and not weights.max() < np.inf:
        raise FileError("the sum of the weights of parallel edges is not finite; divide all weights by a constant")
    return Rows(np.diff(indptr), indices, weights)
