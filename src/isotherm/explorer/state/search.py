"""Search by name: all names are one long text, in which Python finds a part within milliseconds."""

from collections.abc import Iterator, Sequence

import numpy as np

__all__ = ["NameIndex"]


class NameIndex:
    """Finds names that have a text in them, in upper or lower case.

    Parameters
    ----------
    names
        The names; a name that has lines is found by any of them.

    Examples
    --------
    >>> NameIndex(["xab", "ab", "abc", "zz"]).find("AB", most=3)
    [1, 2, 0]
    """

    def __init__(self, names: Sequence[str]) -> None:
        lower = [name.lower() for name in names]
        self._text = "\n".join(["", *lower, ""])
        self._ends = np.cumsum([len(name) + 1 for name in lower])  # of each name in the text

    def find(self, text: str, most: int) -> list[int]:
        """The first names that are the text, then those that begin with it, then those that have it in them."""
        wanted = text.lower().strip()
        found: dict[int, None] = {}
        for part in (f"\n{wanted}\n", f"\n{wanted}", wanted) if wanted else ():
            for place in self._places(part):
                found[place] = None
                if len(found) == most:
                    return list(found)
        return list(found)

    def _places(self, part: str) -> Iterator[int]:
        """The number of each name that has a part, in their order."""
        at, shift = self._text.find(part), part.startswith("\n")
        while at >= 0:
            place = int(np.searchsorted(self._ends, at + shift, side="left"))
            yield place
            at = self._text.find(part, int(self._ends[place]))
