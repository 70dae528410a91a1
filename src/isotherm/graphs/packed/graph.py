"""A graph in a folder, mapped into memory: used like any other `Graph`."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isotherm.graphs.csr import Csr, read_only
from isotherm.graphs.graph import Graph
from isotherm.graphs.nodes import flat, not_in_the_graph
from isotherm.graphs.packed.folder import Manifest, open_arrays, open_ids
from isotherm.graphs.packed.ids import StoredIds

__all__ = ["PackedGraph", "open_packed"]


class PackedGraph(Graph):
    """A `Graph` whose arrays are in a folder, and are read when they are used.

    Its nodes are in ascending order of their ids. ``nodes`` is not an array but can be indexed like one; use
    ``nodes[first:last]`` for a part of the ids rather than ``nodes.tolist()`` for all of them.

    Attributes
    ----------
    folder : Path
        Where it is.
    manifest : Manifest
        Its description.
    """

    folder: Path
    manifest: Manifest
    nodes: Any

    def __init__(self, folder: Path, manifest: Manifest, *, verify: bool = False, unread: bool = False) -> None:
        values = {
            "folder": folder,
            "manifest": manifest,
            "csr": read_only(open_arrays(folder, manifest, verify=verify, unread=unread)),
            "nodes": open_ids(folder, manifest),
            "directed": manifest.directed,
            "n_rows": manifest.n_rows,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, tuple[object, ...]]:
        """Another process maps the same folder."""
        return open_packed, (self.folder.absolute(),)

    def index(self, ids: Iterable[Any]) -> NDArray[np.int64]:
        """Positions of node ids, by binary search; unknown ids raise a ValueError."""
        wanted = flat(ids, "ids").tolist()
        positions = self._stored.find(wanted)
        if (positions < 0).any():
            unknown = np.fromiter((wanted[place] for place in np.flatnonzero(positions < 0)), dtype=object)
            raise ValueError(not_in_the_graph(unknown))
        return positions

    def matches(self, ids: Sequence[Any]) -> list[Any]:
        """The id that each of these stands for in this graph, matched by its text if necessary; None if there is none.

        ``"7"`` stands for 7 if ids are integers, and 7 for ``"7"`` if they are text.
        """
        positions = self._stored.find(ids)
        lost = np.flatnonzero(positions < 0)
        positions[lost] = self._stored.find_text([str(ids[place]) for place in lost.tolist()])
        found: list[Any] = [None] * len(positions)
        known = np.flatnonzero(positions >= 0)
        for place, node in zip(known.tolist(), self._stored[positions[known]].tolist(), strict=True):
            found[place] = node
        return found

    def loaded(self) -> Graph:
        """The same graph in memory."""
        indptr, indices, weights = self.csr
        csr = Csr(indptr.copy(), indices.copy(), None if weights is None else weights.copy())
        return Graph(csr, np.asarray(self.nodes), self.directed, self.n_rows)

    @property
    def _stored(self) -> StoredIds:
        return self.nodes

    def unweighted(self) -> Self:
        """The same graph with all weights one."""
        twin = type(self).__new__(type(self))
        for name in ("folder", "manifest", "csr", "nodes", "directed", "n_rows"):
            object.__setattr__(twin, name, getattr(self, name))
        object.__setattr__(twin, "csr", self.csr._replace(weights=None))
        return twin


def open_packed(path: str | os.PathLike[str], *, verify: bool = False, unread: bool = False) -> PackedGraph:
    """Open a packed graph; see :meth:`isotherm.Graph.open`.

    If it is to stay unread, its rows are not checked: only for whoever reads them with `read_rows`, which checks.
    """
    folder = Path(path)
    return PackedGraph(folder, Manifest.read(folder), verify=verify, unread=unread)
