"""Ids to positions in ascending order of the ids: seen once, then looked up.

Whole numbers from 0 on that leave few gaps are looked up in a table. All other ids are hashed (`Codebook`). If ids turn
out to be of another kind than expected, `UnsuitableError` asks for the numbering that fits, and reading starts again.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.graphs.packed_writing import PackWriter
from isotherm.io.packing.sources import SourceFile
from isotherm.io.tables.codebook import Codebook, keys_of
from isotherm.io.tables.edges import EdgeBatch, ids_at

if TYPE_CHECKING:
    import polars as pl

__all__ = ["NUMBERINGS", "HashedIntegers", "HashedTexts", "Numbering", "SmallIntegers", "UnsuitableError"]

LEAST = 1 << 26  # bytes that a hash table may take whatever is allowed
SMALL = 1 << 26  # a table of ids up to this value is always allowed
PIECE = 1 << 20  # ids written at once


class UnsuitableError(Exception):
    """The ids are of another kind; ``instead`` is the name of a numbering in `NUMBERINGS`."""

    def __init__(self, instead: str) -> None:
        super().__init__(instead)
        self.instead = instead


class Numbering(ABC):
    """Positions of ids.

    Parameters
    ----------
    memory
        Bytes that may be taken.
    """

    n: int  # nodes, once all ids were seen

    def __init__(self, memory: int) -> None:
        self.memory = memory

    @abstractmethod
    def see(self, file: SourceFile, batch: EdgeBatch) -> NDArray[np.uint64]:
        """Note the ids of a batch; returns 64 bits that stand for each end, shape (2, rows)."""

    @abstractmethod
    def finish(self) -> None:
        """All ids were seen."""

    @abstractmethod
    def positions(self, file: SourceFile, batch: EdgeBatch) -> NDArray[np.int32]:
        """The positions of the ends of edges, shape (2, rows), after all ids were seen."""

    @abstractmethod
    def ranks(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The positions of ends that `see` returned; only for a sample."""

    @abstractmethod
    def store(self, writer: PackWriter) -> None:
        """Write the ids."""

    def check(self, needed: int, nodes: int) -> None:
        """Refuse ids that do not fit."""
        if needed > max(self.memory, LEAST):
            raise FileError(
                "the ids of {nodes:,} nodes need more than {needed:.1f} GB of memory; raise {max_memory}",
                nodes=nodes,
                needed=needed / 2**30,
                max_memory=Option("max_memory"),
            )


class SmallIntegers(Numbering):
    """Whole numbers from 0 on, with a table of all numbers up to the largest."""

    def __init__(self, memory: int) -> None:
        super().__init__(memory)
        self._seen = np.zeros(1 << 16, dtype=bool)
        self._most = -1
        self._table: NDArray[np.int32] | None = None  # None if there are no gaps

    def see(self, file: SourceFile, batch: EdgeBatch) -> NDArray[np.uint64]:
        """Mark the ids."""
        ends = _integer_ends(file, batch)
        most = int(ends.max())
        if int(ends.min()) < 0 or (most >= SMALL and 5 * most > self.memory // 2):
            raise UnsuitableError("integers")
        if most >= len(self._seen):
            seen, self._seen = self._seen, np.zeros(max(most + 1, 2 * len(self._seen)), dtype=bool)
            self._seen[: len(seen)] = seen
        self._most = max(self._most, most)
        self._seen[ends] = True
        return ends.view(np.uint64)

    def finish(self) -> None:
        """Number the ids that were marked."""
        self._seen = self._seen[: self._most + 1]
        self.n = int(np.count_nonzero(self._seen))
        if self.n < len(self._seen):
            self._table = np.cumsum(self._seen, dtype=np.int32) - np.int32(1)

    def positions(self, file: SourceFile, batch: EdgeBatch) -> NDArray[np.int32]:
        """Read from the table."""
        ends = _integer_ends(file, batch)
        return ends.astype(np.int32) if self._table is None else self._table[ends]

    def ranks(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Read from the table."""
        return words.astype(np.int64) if self._table is None else self._table[words].astype(np.int64)

    def store(self, writer: PackWriter) -> None:
        """Without gaps there is nothing to store."""
        if self._table is not None:
            writer.integer_ids(np.flatnonzero(self._seen))


class _Hashed(Numbering):
    """Ids in a hash table, which numbers them by first appearance; their ranks are found at the end."""

    def __init__(self, memory: int) -> None:
        super().__init__(memory)
        self._book, self._ids = Codebook(), list["pl.Series"]()
        self._bytes = 0
        self._rank: NDArray[np.int32]

    @abstractmethod
    def _ends(self, file: SourceFile, batch: EdgeBatch) -> EdgeBatch:
        """The batch with ids of the right kind."""

    def see(self, file: SourceFile, batch: EdgeBatch) -> NDArray[np.uint64]:
        """Number new ids."""
        batch = self._ends(file, batch)
        codes = np.empty((2, len(batch.source)), dtype=np.int32)
        first = self._book.add(keys_of(batch.source, batch.target), codes)
        if len(first):
            self._keep(ids_at(file.path, batch, first))
        self.check(self._book.bytes + self._bytes * 2, self._book.size)
        return codes.astype(np.uint64)

    def _keep(self, ids: "pl.Series") -> None:
        import polars as pl

        own = pl.Series(ids.to_list(), dtype=ids.dtype)  # one that does not keep the texts of the whole batch alive
        self._ids.append(own)
        self._bytes += int(own.estimated_size()) + 8 * len(own)

    def finish(self) -> None:
        """Sort the ids."""
        import polars as pl

        ids = pl.concat(self._ids)
        order = ids.arg_sort().to_numpy()
        self.n = len(order)
        self._rank = np.empty(self.n, dtype=np.int32)
        self._rank[order] = np.arange(self.n, dtype=np.int32)
        self._ids = [ids.gather(order)]

    def positions(self, file: SourceFile, batch: EdgeBatch) -> NDArray[np.int32]:
        """Look the ids up."""
        batch = self._ends(file, batch)
        codes = np.empty((2, len(batch.source)), dtype=np.int32)
        if len(self._book.add(keys_of(batch.source, batch.target), codes)):
            raise FileError(f"{file.path} has changed while it was read; pack it again")
        return self._rank[codes]

    def ranks(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The ranks of codes."""
        return self._rank[words].astype(np.int64)


class HashedIntegers(_Hashed):
    """Any integers of 64 bits."""

    def _ends(self, file: SourceFile, batch: EdgeBatch) -> EdgeBatch:
        import polars as pl

        ends = _integer_ends(file, batch)
        return batch._replace(source=pl.Series(ends[0]), target=pl.Series(ends[1]))

    def store(self, writer: PackWriter) -> None:
        """Sorted integers."""
        writer.integer_ids(self._ids[0].to_numpy())


class HashedTexts(_Hashed):
    """Texts."""

    def _ends(self, file: SourceFile, batch: EdgeBatch) -> EdgeBatch:
        import polars as pl

        if batch.source.dtype != pl.String:
            raise FileError(f"{file.path}: ids are integers here but text in another file; make them the same")
        return batch

    def store(self, writer: PackWriter) -> None:
        """Sorted texts."""
        ids = self._ids[0]
        writer.text_ids(ids.slice(first, PIECE).to_list() for first in range(0, len(ids), PIECE))


NUMBERINGS: dict[str, type[Numbering]] = {"small": SmallIntegers, "integers": HashedIntegers, "text": HashedTexts}


def _integer_ends(file: SourceFile, batch: EdgeBatch) -> NDArray[np.int64]:
    """The ids as integers, shape (2, rows)."""
    return np.stack([_integers(file, ids) for ids in (batch.source, batch.target)])


def _integers(file: SourceFile, ids: "pl.Series") -> NDArray[Any]:
    """Ids as integers; in delimited text, only if each is written exactly as that integer is."""
    import polars as pl

    if ids.dtype != pl.String:
        return ids.to_numpy()
    numbers = ids.cast(pl.Int64, strict=False) if file.textual else None
    if numbers is None or numbers.null_count() or not (numbers.cast(pl.String) == ids).all():
        raise UnsuitableError("text")
    return numbers.to_numpy()
