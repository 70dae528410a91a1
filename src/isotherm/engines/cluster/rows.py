"""Rows of a matrix: where a worker gets its own, and which rows of others its entries name.

A worker owns the rows of a range of nodes. Its entries also name nodes of others, the *halo*. Inside a worker its own
nodes come first, then the nodes of the halo in ascending order, so that those of one owner are next to each other.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Ints
from isotherm.engines.cluster.post import Team
from isotherm.equilibrium.solvers.base import WIDE
from isotherm.graphs import Csr
from isotherm.graphs.packed import read_rows

__all__ = ["FolderRows", "RowBlock", "Rows", "SentRows", "balanced_bounds", "is_wide", "open_rows", "take_rows"]

PIECE = 1 << 18  # entries that are renumbered at once; indexing copies them as int64


class Rows(Protocol):
    """Some rows of a square matrix, and where to get them."""

    def load(self) -> Csr:
        """The rows, with the nodes of the whole graph as columns."""
        ...


class SentRows(NamedTuple):
    """Rows that the client has sent."""

    csr: Csr

    def load(self) -> Csr:
        """The rows."""
        return self.csr


class FolderRows(NamedTuple):
    """Rows of a packed graph in a folder that the worker can see."""

    folder: Path
    first: int
    last: int

    def load(self) -> Csr:
        """Read and check the rows."""
        return read_rows(self.folder, self.first, self.last)


def balanced_bounds(indptr: NDArray[np.int64], parts: int) -> list[int]:
    """Bounds of ranges of rows with about as many entries each; some ranges may be empty.

    >>> balanced_bounds(np.array([0, 6, 7, 8, 9, 12]), 2)
    [0, 1, 5]
    """
    wanted = np.linspace(0, int(indptr[-1]), parts + 1)[1:-1]
    inner = np.searchsorted(indptr, wanted)
    return [0, *np.minimum(inner, len(indptr) - 1).tolist(), len(indptr) - 1]


@dataclass(frozen=True, eq=False)
class RowBlock:
    """The rows of one worker, in its own numbering.

    Attributes
    ----------
    csr : Csr
        Rows of the own nodes, then empty rows for the halo.
    own : int
        Number of own nodes.
    bounds : list of int
        The ranges of nodes of all workers.
    rank : int
        The place of this worker.
    halo : ndarray of shape (h,)
        Nodes of the halo, in the numbering of the whole graph.
    wanted : dict
        For each owner, the places of its nodes in the halo.
    given : dict
        For each worker that needs rows of this one, these rows.
    """

    csr: Csr
    own: int
    bounds: list[int]
    rank: int
    halo: Ints
    wanted: dict[int, slice]
    given: dict[int, NDArray[np.int32]]

    @property
    def first(self) -> int:
        """The first own node, in the numbering of the whole graph."""
        return self.bounds[self.rank]

    @property
    def size(self) -> int:
        """The number of own nodes and nodes of the halo."""
        return self.csr.n

    def fill_halo(self, team: Team, flags: NDArray[np.uint8]) -> None:
        """Give each node of the halo the flag that it has with its owner, if it has none here."""
        found = team.exchange({rank: flags[rows] for rank, rows in self.given.items()}, self.wanted)
        for rank, part in self.wanted.items():
            flags[self.own :][part] |= found[rank]


def is_wide(weights: NDArray[np.floating], team: Team) -> bool:
    """Whether the weights of all workers differ by more than float32 is good for."""
    own = (-float(weights.min()), float(weights.max())) if len(weights) else (-np.inf, -np.inf)
    low, high = team.largest(np.array(own)).tolist()
    return high > WIDE * -low


def take_rows(x: NDArray[Any], rows: NDArray[np.integer], columns: int) -> NDArray[Any]:
    """The first columns of some rows, in one piece."""
    return np.ascontiguousarray(np.take(x, rows, axis=0)[:, :columns])


def open_rows(rows: Rows, bounds: list[int], team: Team, *, single: bool = False) -> RowBlock:
    """Load rows, renumber their entries, and agree with the other workers on who sends what to whom.

    If all solves may be in ``single`` precision, weights are kept in that precision only, unless they differ too much.
    """
    indptr, indices, weights = rows.load()
    if single and weights is not None and not is_wide(weights, team):
        weights = weights.astype(np.float32, copy=False)
    first, last = bounds[team.rank], bounds[team.rank + 1]
    halo = _outside(indices, first, last, bounds[-1])
    local = _renumbered(indices, halo, first, last, bounds[-1])
    ends = np.searchsorted(halo, bounds)
    wanted = {rank: slice(*ends[rank : rank + 2].tolist()) for rank in team.others if ends[rank] < ends[rank + 1]}
    lists = {
        rank: (halo[wanted[rank]] - bounds[rank]).astype(np.int32) if rank in wanted else None for rank in team.others
    }
    asked = team.exchange(lists, team.others)
    given = {rank: nodes for rank, nodes in asked.items() if nodes is not None}
    padded = np.concatenate([indptr, np.full(len(halo), indptr[-1])])
    return RowBlock(Csr(padded, local, weights), last - first, bounds, team.rank, halo, wanted, given)


def _outside(indices: NDArray[np.int32], first: int, last: int, n: int) -> Ints:
    """The nodes that entries name outside a range, ascending."""
    named = np.zeros(n, bool)
    for start in range(0, len(indices), PIECE):
        named[indices[start : start + PIECE]] = True
    named[first:last] = False
    return np.flatnonzero(named)


def _renumbered(indices: NDArray[np.int32], halo: Ints, first: int, last: int, n: int) -> NDArray[np.int32]:
    """The entries in the numbering of a worker, in place if they may be changed."""
    places = np.zeros(n, np.int32)
    places[first:last] = np.arange(last - first)
    places[halo] = np.arange(last - first, last - first + len(halo))
    local = indices if indices.flags.writeable else np.empty_like(indices)
    for start in range(0, len(indices), PIECE):
        local[start : start + PIECE] = places[indices[start : start + PIECE]]
    return local
