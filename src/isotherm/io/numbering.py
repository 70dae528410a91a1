"""Node ids to positions.

A `Codebook` numbers ids in order of first appearance, as batches of edges come in. Its hash table has a secret that is
drawn for each book, so that a file cannot be made to be slow; ids with the same hash are compared, so that positions
do not depend on the secret. `Codebook.twins` finds ids that differ only by case, blanks or Unicode form.

Packed graphs have their nodes in ascending order of the ids. `Ranks` sorts what a codebook has numbered. Whole numbers
from 0 on that leave few gaps need no codebook: `SmallIntegers` looks them up in a table. If ids turn out to be of
another kind than expected, `UnsuitableError` asks for the numbering that fits, and reading starts again.
"""

import secrets
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.errors import Option, first_few, warn
from isotherm.files import FileError
from isotherm.graphs.packed_writing import PackWriter
from isotherm.io.batches import EdgeBatch, missing_id
from isotherm.io.errors import FileWarning, shorten
from isotherm.io.formats import SourceFile
from isotherm.seeds.encoding import MISSING_SPELLINGS
from isotherm.tables import size

if TYPE_CHECKING:
    import polars as pl

Words: TypeAlias = NDArray[np.uint64]
Codes: TypeAlias = NDArray[np.int32]
Places: TypeAlias = NDArray[np.int64]

MOST_NODES = 2**31 - 1
LEAST = 1 << 26  # bytes that a hash table may take whatever is allowed
SMALL = 1 << 26  # a table of ids up to this value is always allowed
PIECE = 1 << 20  # ids written at once
MOST_FOLDED = 1 << 14  # ids beyond ASCII that are compared: about a hundredth of a second
INVISIBLE = dict.fromkeys(
    [0xAD, *range(0x200B, 0x2010), *range(0x2060, 0x2065), 0xFEFF]
)  # soft hyphen, marks of width 0


class Codebook:
    """Positions of ids, in order of first appearance: row by row, source before target."""

    def __init__(self) -> None:
        self._book = kernels.active.Codebook(np.frombuffer(secrets.token_bytes(32), dtype=np.uint64))

    @property
    def size(self) -> int:
        """The number of ids so far."""
        return int(self._book.size)

    @property
    def bytes(self) -> int:
        """Memory of the book, which is needed one and a half times while it grows."""
        return int(self._book.bytes) * 3 // 2

    def hashes(self, source: "pl.Series", target: "pl.Series") -> Words:
        """The hashes of both ends of edges; another thread may call this while ids are added.

        The ids are all text or all int64, without nulls.
        """
        hashes = np.empty((2, len(source)), dtype=np.uint64)
        for ids, own in zip((source, target), hashes, strict=True):
            if _is_text(ids):
                self._book.hash_texts(ids, own)
            else:
                self._book.hash_integers(ids.to_numpy(), own)
        return hashes

    def add(self, source: "pl.Series", target: "pl.Series", hashes: Words, codes: Codes) -> Places:
        """Number the ends of edges; where each new id first appears: twice its row, plus one for a target."""
        if self.size > MOST_NODES - 2 * len(source):
            raise FileError(f"there are more than {self.size} nodes; a graph has at most {MOST_NODES}")
        if _is_text(source):
            return self._book.add_texts(source, target, *hashes, *codes)
        return self._book.add_integers(source.to_numpy(), target.to_numpy(), *hashes, *codes)

    def twins(self, nodes: "NDArray[Any] | pl.Series") -> tuple[str, str] | None:
        """Two texts among the nodes that differ only by case, blanks or Unicode form; None if there are none.

        All texts of ASCII are compared, or about 32,768 of them if more have capitals or blanks; of others the first
        `MOST_FOLDED`. Files with the same rows give the same two.
        """
        codes = self._book.beyond_ascii()[:MOST_FOLDED].tolist()
        found = self._book.twins([(code, folded(nodes[code])) for code in codes])
        return None if found is None else (nodes[found[1]], nodes[found[0]])


def _is_text(ids: "pl.Series") -> bool:
    import polars as pl

    return ids.dtype == pl.String


def folded(text: str) -> str:
    r"""A text without what the eye may miss: case, blanks at the ends, wide and combined letters, invisible marks.

    >>> folded(" Jose\u0301  Luis") == folded("jos\u00e9 luis"), folded("\ufeffann")
    (True, 'ann')
    """
    return " ".join(unicodedata.normalize("NFKC", text.translate(INVISIBLE)).casefold().split())


def twins_among(nodes: Iterable[str]) -> tuple[str, str] | None:
    """The first two of these texts that differ only by case, blanks or Unicode form; None if there are none."""
    found: dict[str, str] = {}
    for node in nodes:
        form = " ".join(node.lower().split()) if node.isascii() else folded(node)
        if found.setdefault(form, node) != node:
            return found[form], node
    return None


def warn_about_twins(path: str, twins: tuple[str, str] | None) -> None:
    """Warn that two ids which differ only by case, blanks or Unicode form are different nodes."""
    if twins is None:
        return
    one, other = map(shorten, twins)
    if unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other):  # they look the same
        one, other = map(ascii, twins)
    warn(FileWarning(f"{path}: {one} and {other} are different nodes; if they are the same, write them alike"))


def warn_about_missing(path: str, edges: Mapping[str, int]) -> None:
    """Warn of ids that are words for a missing value, given their numbers of edges."""
    if edges:
        counts = [f"{shorten(word)} ({count:,} edge{'s' * (count > 1)})" for word, count in sorted(edges.items())]
        found = f"{first_few(counts, text=str)} are read as nodes, but mean a missing value elsewhere"
        warn(FileWarning(f"{path}: {found}; leave out the rows in which an id is missing"))


def missing_words(ids: "pl.Series") -> list[str]:
    """The ids that are words for a missing value."""
    return ids.filter(ids.is_in(list(MISSING_SPELLINGS))).unique().to_list() if _is_text(ids) else []


def ids_at(path: str, batch: EdgeBatch, places: Places) -> "pl.Series":
    """The ids at the places that `Codebook.add` gave, none of them empty."""
    import polars as pl

    ids = pl.concat([batch.source, batch.target], rechunk=False).gather(places // 2 + places % 2 * len(batch.source))
    if ids.dtype == pl.String and (empty := ids == "").any():
        row, end = divmod(int(places[empty.arg_max() or 0]), 2)
        raise missing_id(path, batch.place(row), ("source", "target")[end])
    return ids


class UnsuitableError(Exception):
    """The ids are of another kind, for which `numbering_of` has a numbering."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Numbering(ABC):
    """Positions of ids in their ascending order; ``memory`` is the number of bytes that may be taken."""

    n: int  # nodes, once all ids were seen
    twins: tuple[str, str] | None = None  # ids that differ only by case, blanks or Unicode form, once all were seen

    def __init__(self, memory: int) -> None:
        self.memory = memory

    @abstractmethod
    def see(self, file: SourceFile, batch: EdgeBatch) -> Words:
        """Note the ids of a batch; returns 64 bits that stand for each end, shape (2, rows)."""

    @abstractmethod
    def finish(self) -> None:
        """All ids were seen."""

    @abstractmethod
    def positions(self, file: SourceFile, batch: EdgeBatch) -> Codes:
        """The positions of the ends of edges, shape (2, rows), after all ids were seen."""

    @abstractmethod
    def ranks(self, words: Words) -> Places:
        """The positions of ends that `see` returned; only for a sample."""

    @abstractmethod
    def store(self, writer: PackWriter) -> None:
        """Write the ids."""


def numbering_of(kind: str, memory: int) -> Numbering:
    """The numbering for ids that are "small" integers, other "integers", or "text"."""
    return SmallIntegers(memory) if kind == "small" else Ranks(memory, text=kind == "text")


class SmallIntegers(Numbering):
    """Whole numbers from 0 on, with a table of all numbers up to the largest."""

    def __init__(self, memory: int) -> None:
        super().__init__(memory)
        self._seen = np.zeros(1 << 16, dtype=bool)
        self._most = -1
        self._table: Codes | None = None  # None if there are no gaps

    def see(self, file: SourceFile, batch: EdgeBatch) -> Words:
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

    def positions(self, file: SourceFile, batch: EdgeBatch) -> Codes:
        """Read from the table."""
        ends = _integer_ends(file, batch)
        return ends.astype(np.int32) if self._table is None else self._table[ends]

    def ranks(self, words: Words) -> Places:
        """Read from the table."""
        return words.astype(np.int64) if self._table is None else self._table[words].astype(np.int64)

    def store(self, writer: PackWriter) -> None:
        """Without gaps there is nothing to store."""
        if self._table is not None:
            writer.integer_ids(np.flatnonzero(self._seen))


class Ranks(Numbering):
    """Integers of 64 bits or texts, numbered by a codebook and sorted when all were seen."""

    def __init__(self, memory: int, *, text: bool) -> None:
        super().__init__(memory)
        self.text = text
        self._book, self._ids = Codebook(), list["pl.Series"]()
        self._bytes = 0
        self._rank: Codes

    def see(self, file: SourceFile, batch: EdgeBatch) -> Words:
        """Number new ids."""
        batch, codes, first = self._numbered(file, batch)
        if len(first):
            self._keep(ids_at(file.path, batch, first))
        needed = self._book.bytes + self._bytes * 2
        if needed > max(self.memory, LEAST):
            message = "the ids of {nodes:,} nodes need more than {needed} of memory; raise {max_memory}"
            facts = {"nodes": self._book.size, "needed": size(needed), "max_memory": Option("max_memory")}
            raise FileError(message, **facts)
        return codes.astype(np.uint64)

    def _numbered(self, file: SourceFile, batch: EdgeBatch) -> tuple[EdgeBatch, Codes, Places]:
        """The batch with ids of the right kind, their codes, and where new ones are."""
        import polars as pl

        if not self.text:
            source, target = _integer_ends(file, batch)
            batch = batch._replace(source=pl.Series(source), target=pl.Series(target))
        elif batch.source.dtype != pl.String:
            raise FileError(f"{file.path}: ids are integers here but text in another file; make them the same")
        codes = np.empty((2, len(batch.source)), dtype=np.int32)
        hashes = self._book.hashes(batch.source, batch.target)
        return batch, codes, self._book.add(batch.source, batch.target, hashes, codes)

    def _keep(self, ids: "pl.Series") -> None:
        import polars as pl

        own = pl.Series(ids.to_list(), dtype=ids.dtype)  # one that does not keep the texts of the whole batch alive
        self._ids.append(own)
        self._bytes += int(own.estimated_size()) + 8 * len(own)

    def finish(self) -> None:
        """Sort the ids."""
        import polars as pl

        ids = pl.concat(self._ids)
        self.twins = self._book.twins(ids) if self.text else None
        order = ids.arg_sort().to_numpy()
        self.n = len(order)
        self._rank = np.empty(self.n, dtype=np.int32)
        self._rank[order] = np.arange(self.n, dtype=np.int32)
        self._ids = [ids.gather(order)]

    def positions(self, file: SourceFile, batch: EdgeBatch) -> Codes:
        """Look the ids up."""
        _, codes, new = self._numbered(file, batch)
        if len(new):
            raise FileError(f"{file.path} has changed while it was read; pack it again")
        return self._rank[codes]

    def ranks(self, words: Words) -> Places:
        """The ranks of codes."""
        return self._rank[words].astype(np.int64)

    def store(self, writer: PackWriter) -> None:
        """Write the sorted ids."""
        ids = self._ids[0]
        if self.text:
            writer.text_ids(ids.slice(first, PIECE).to_list() for first in range(0, len(ids), PIECE))
        else:
            writer.integer_ids(ids.to_numpy())


def _integer_ends(file: SourceFile, batch: EdgeBatch) -> Places:
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
