"""Which rows of a lifted graph are read as the temperatures of the graph's nodes, and how far these spread.

The grounds of soft seeds and the two copies of the nodes of a directed graph have temperatures too. But the tolerance
that the user set is relative to the spread of the temperatures that are read.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from isotherm.arrays import Doubles, Floats, Mask

__all__ = ["Reading", "Rows", "Spread"]

CHUNK = 1 << 14  # rows that fit in the cache

Rows: TypeAlias = Callable[[slice], Floats]  # the columns of some rows


class Spread(Protocol):
    """Knows how far the temperatures that are read spread."""

    def spread(self, rows: Rows, reached: Mask, *, closed: bool = False) -> Doubles:
        """The standard deviation of each column, and of the sum of the columns if they are closed."""
        ...


class Reading(NamedTuple):
    """A node has the mean temperature of its reached copies: one row from each of the offsets on.

    Attributes
    ----------
    nodes
        Number of nodes.
    offsets
        The row of the first node in each copy.
    """

    nodes: int
    offsets: tuple[int, ...] = (0,)

    def mean(self, rows: Rows, reached: Mask, part: slice) -> Floats:
        """The columns of those nodes in a part that are reached, shape (m, k)."""
        places = [slice(part.start + offset, part.stop + offset) for offset in self.offsets]
        known = np.stack([reached[place] for place in places])
        total = np.sum([np.where(mask[:, None], rows(place), 0) for mask, place in zip(known, places, strict=True)], 0)
        copies = np.count_nonzero(known, axis=0)
        return np.asarray(total[copies > 0] / copies[copies > 0, None])

    def spread(self, rows: Rows, reached: Mask, *, closed: bool = False) -> Doubles:
        """The standard deviation of each column over the nodes, and of the sum of the columns if they are closed.

        >>> copies = np.array([[0.0], [2.0], [9.0], [4.0], [6.0], [9.0]])  # two nodes and a ground, twice
        >>> Reading(2, (0, 3)).spread(lambda rows: copies[rows], np.ones(6, bool))
        array([1.])
        """
        count, sums = 0, np.zeros((2, 1))
        for first in range(0, self.nodes, CHUNK):
            part = self.mean(rows, reached, slice(first, min(first + CHUNK, self.nodes)))
            values = np.column_stack([part, part.sum(axis=1)]) if closed else part
            count += len(values)
            sums = sums + np.array([np.sum(values**power, axis=0, dtype=np.float64) for power in (1, 2)])
        mean, square = sums / max(count, 1)
        return np.sqrt(np.maximum(square - mean**2, 0))
