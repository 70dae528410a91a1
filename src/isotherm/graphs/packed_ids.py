"""Ids of packed nodes: none at all (0 to n - 1), sorted integers, or sorted texts.

Sorted ids are found by binary search in the mapped file, so that a few seeds can be looked up without a dictionary of
all nodes. All kinds can be indexed like an array: ``ids[5]``, ``ids[10:20]`` and ``ids[positions]`` read only these.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Positions: TypeAlias = NDArray[np.int64]
PIECE = 1 << 20  # ids decoded at once


class StoredIds(ABC):
    """Ids that stay on disk, and take the place of the array ``graph.nodes``."""

    n: int
    dtype: np.dtype[Any] = np.dtype(np.int64)
    ndim = 1

    @abstractmethod
    def find(self, wanted: Sequence[Any]) -> Positions:
        """The position of each id, -1 where there is none; ``"7"`` and 7 are different ids."""

    def find_text(self, texts: Sequence[str]) -> Positions:
        """The positions of the ids with these texts, -1 where there is none; ``"7"`` finds 7, ``"007"`` does not."""
        return self.find([_number(text) for text in texts])

    @abstractmethod
    def _at(self, places: Positions) -> NDArray[Any]:
        """The ids at these positions, which may be in any order."""

    def __len__(self) -> int:
        return self.n

    @property
    def shape(self) -> tuple[int]:
        """``(n,)``, as for an array."""
        return (self.n,)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self._at(np.arange(*key.indices(self.n)))
        places = np.asarray(key)
        if places.dtype == bool:
            places = np.flatnonzero(places)
        if places.size and not (-self.n <= places.min() and places.max() < self.n):
            raise IndexError(f"there are {self.n} nodes: positions are from 0 to {self.n - 1}")
        found = self._at(np.where(places < 0, places + self.n, places).astype(np.int64).ravel())
        return found[0] if places.ndim == 0 else found

    def __iter__(self) -> Iterator[Any]:
        for first in range(0, self.n, PIECE):
            yield from self[first : first + PIECE].tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype=dtype)

    def tolist(self) -> list[Any]:
        """All ids, read into memory."""
        return list(self)

    def item(self, position: int) -> Any:
        """The id at a position, as a plain Python object."""
        return self[position : position + 1].tolist()[0]


class Counted(StoredIds):
    """No ids: nodes are 0 to n - 1.

    >>> ids = Counted(10)
    >>> ids[3:5], ids.find([9, 10]), ids.find_text(["7", "007"])
    (array([3, 4]), array([ 9, -1]), array([ 7, -1]))
    """

    def __init__(self, n: int) -> None:
        self.n = n

    def find(self, wanted: Sequence[Any]) -> Positions:
        """The ids themselves, if they are in range."""
        return np.array([node if 0 <= node < self.n else -1 for node in _as_integers(wanted, -1)], dtype=np.int64)

    def _at(self, places: Positions) -> NDArray[Any]:
        return places


class Integers(StoredIds):
    """Integers in ascending order."""

    def __init__(self, values: NDArray[np.int64]) -> None:
        self.values, self.n = values, len(values)

    def find(self, wanted: Sequence[Any]) -> Positions:
        """Positions by binary search."""
        numbers = _as_integers(wanted, None)
        known = [place for place, number in enumerate(numbers) if number is not None]
        ids = np.array([numbers[place] for place in known], dtype=np.int64)
        found = np.full(len(numbers), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.values, ids), self.n - 1)
        found[known] = np.where(self.values[places] == ids, places, -1)
        return found

    def _at(self, places: Positions) -> NDArray[Any]:
        return np.asarray(self.values[places])


class Texts(StoredIds):
    """Texts in ascending order of their bytes: text i is ``content[ends[i]:ends[i + 1]]`` in UTF-8."""

    dtype = np.dtype(object)

    def __init__(self, ends: NDArray[np.int64], content: NDArray[np.uint8]) -> None:
        self.ends, self.content, self.n = ends, content, len(ends) - 1

    def find(self, wanted: Sequence[Any]) -> Positions:
        """Positions by binary search."""
        return np.array([self._search(node) if isinstance(node, str) else -1 for node in wanted], dtype=np.int64)

    def find_text(self, texts: Sequence[str]) -> Positions:
        """The same as `find`."""
        return self.find(texts)

    def _search(self, text: str) -> int:
        wanted = text.encode("utf-8", "surrogatepass")
        place = bisect_left(range(self.n), wanted, key=self._bytes)
        return place if place < self.n and self._bytes(place) == wanted else -1

    def _bytes(self, place: int) -> bytes:
        return self.content[self.ends[place] : self.ends[place + 1]].tobytes()

    def _at(self, places: Positions) -> NDArray[Any]:
        found = np.empty(len(places), dtype=object)
        if len(places) and places[-1] - places[0] == len(places) - 1 and (np.diff(places) == 1).all():
            ends = self.ends[places[0] : places[-1] + 2]
            content, ends = self.content[ends[0] : ends[-1]].tobytes(), ends - ends[0]
            pieces = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
            found[:] = [content[start:end].decode("utf-8", "replace") for start, end in pieces]
        else:
            found[:] = [self._bytes(place).decode("utf-8", "replace") for place in places.tolist()]
        return found


def _as_integers(wanted: Sequence[Any], other: Any) -> list[Any]:
    """The ids that are 64-bit integers, and ``other`` in place of all else."""
    fits = (isinstance(node, (int, np.integer)) and -(2**63) <= int(node) < 2**63 for node in wanted)
    return [int(node) if fine else other for node, fine in zip(wanted, fits, strict=True)]


def _number(text: str) -> int | None:
    """The integer with exactly this text, or None."""
    digits = text.removeprefix("-")
    number = int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 20 else None
    return number if str(number) == text else None
