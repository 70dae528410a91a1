"""Cuts text into fields, and numbers node ids by first appearance: the reference kernels for reading files."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Ints

Words: TypeAlias = NDArray[np.uint64]
Codes: TypeAlias = NDArray[np.int32]  # numbers of nodes, groups or classes

SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio
BYTES = 120  # approximate memory of an id and its entry in a dictionary


def mixed(numbers: Words) -> Words:
    """The mixing steps of SplitMix64: a pseudo-random permutation of 64-bit integers."""
    found = numbers * SPREAD
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        found = (found ^ (found >> np.uint64(shift))) * np.uint64(factor)
    return found ^ (found >> np.uint64(31))


def count_breaks(text: bytes) -> int:
    """The number of line breaks."""
    return text.count(b"\n")


def split_rows(text: bytes, delimiter: str, width: int, places: list[int]) -> list[Any]:
    """The columns at some places, ascending, of delimited text without quotes, for `polars.Series` to read.

    All lines end in a line break, perhaps after a carriage return. The list is empty if a line does not
    have ``width`` fields, or if a field is empty. Bytes are not checked to be UTF-8.
    """
    lines = (line.removesuffix(b"\r").split(delimiter.encode()) for line in text.split(b"\n")[:-1])
    rows = [fields for fields in lines if len(fields) == width and all(fields)]
    return [[fields[place] for fields in rows] for place in places] if len(rows) == text.count(b"\n") else []


class Codebook:
    """Positions of ids, in order of first appearance: all integers, or all texts of a Polars Series without nulls.

    The native one needs ``secret``, four random words, for hashes that nobody can foresee. Here a dictionary does it.
    """

    def __init__(self, secret: Words) -> None:
        del secret
        self._codes: dict[Any, int] = {}

    @property
    def size(self) -> int:
        """The number of ids."""
        return len(self._codes)

    @property
    def bytes(self) -> int:
        """Memory that is taken."""
        return BYTES * len(self._codes)

    def hash_integers(self, ids: Ints, hashes: Words) -> None:
        """Fill in the hashes that `add_integers` needs."""

    def hash_texts(self, ids: Any, hashes: Words) -> None:
        """Fill in the hashes that `add_texts` needs."""

    def add_integers(
        self,
        source: Any,
        target: Any,
        source_hashes: Words,
        target_hashes: Words,
        source_codes: Codes,
        target_codes: Codes,
    ) -> Ints:
        """Number the ends of edges, the source before the target; fills in their codes.

        Returns where each new id first appears: ``2 * row`` for a source, ``2 * row + 1`` for a target.
        """
        del source_hashes, target_hashes
        codes, first = self._codes, []
        for row, pair in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
            for end, node in enumerate(pair):
                if node not in codes:
                    codes[node] = len(codes)
                    first.append(2 * row + end)
            source_codes[row], target_codes[row] = codes[pair[0]], codes[pair[1]]
        return np.array(first, dtype=np.int64)

    def add_texts(self, source: Any, target: Any, *hashes_and_codes: Any) -> Ints:
        """The same for texts."""
        return self.add_integers(source.to_numpy(), target.to_numpy(), *hashes_and_codes)

    def beyond_ascii(self) -> Codes:
        """The codes of texts that are not ASCII, ascending."""
        found = [code for text, code in self._codes.items() if not text.isascii()]
        return np.array(found, dtype=np.int32)

    def twins(self, folded: Iterable[tuple[int, str]]) -> tuple[int, int] | None:
        """The first two texts with the same folded form, the later one first; None if there are none.

        A text of ASCII is folded to small letters and single blanks, without any at its ends. ``folded`` has the forms
        of other texts, with their codes. The native code book compares a sample if there are very many.
        """
        forms = {code: " ".join(text.lower().split()) for text, code in self._codes.items() if text.isascii()}
        found: dict[str, int] = {}
        for code, form in sorted([*forms.items(), *folded]):
            if found.setdefault(form, code) != code:
                return code, found[form]
        return None
