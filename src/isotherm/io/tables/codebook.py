"""Node ids to positions, in order of first appearance, as batches of edges come in.

An integer is its own key. A text is hashed twice with different seeds, and 96 bits of the hashes are its key in a table
with open addressing. The probability that any two of a hundred million ids share a key is 1e-13.
"""

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.files import FileError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Codebook", "keys_of"]

Words: TypeAlias = NDArray[np.uint64]
Codes: TypeAlias = NDArray[np.int32]
Places: TypeAlias = NDArray[np.int64]

MOST_NODES = 2**31 - 1


class Codebook:
    """Positions of ids, in order of first appearance: row by row, source before target."""

    def __init__(self) -> None:
        self.size = 0
        self._table = np.zeros((1 << 10, 2), dtype=np.uint64)

    @property
    def bytes(self) -> int:
        """Memory of the table, which is needed one and a half times while it grows."""
        return self._table.nbytes * 3 // 2

    def add(self, keys: Words, codes: Codes) -> Places:
        """Number the ends of edges.

        Parameters
        ----------
        keys
            (4, rows), from `keys_of`.
        codes
            (2, rows), filled here with the positions of the sources and of the targets.

        Returns
        -------
        array
            Where new ids are, in order: twice the row, plus one for a target.
        """
        self._make_room(2 * keys.shape[1])
        first: Places = kernels.active.number(self._table, self.size, *keys, *codes)
        self.size += len(first)
        return first

    def _make_room(self, more: int) -> None:
        """Keep the table at most half full, even if all coming ids are new."""
        if self.size > MOST_NODES - more:
            raise FileError(f"there are more than {self.size} nodes; a graph has at most {MOST_NODES}")
        slots = 1 << (2 * (self.size + more) - 1).bit_length()
        if slots > len(self._table):
            table = np.zeros((slots, 2), dtype=np.uint64)
            kernels.active.rehash(self._table, table)
            self._table = table


def keys_of(source: "pl.Series", target: "pl.Series") -> Words:
    """The keys of both ends of edges: for each end 64 bits, and the upper half of 64 more.

    The ids are all text or all int64, without nulls.
    """
    keys = np.empty((4, len(source)), dtype=np.uint64)
    _fill(source, *keys[:2])
    _fill(target, *keys[2:])
    return keys


def _fill(ids: "pl.Series", words: Words, checks: Words) -> None:
    import polars as pl

    if ids.dtype == pl.String:
        kernels.active.text_keys(ids, words, checks)
    else:
        words[:], checks[:] = ids.to_numpy().view(np.uint64), 0
