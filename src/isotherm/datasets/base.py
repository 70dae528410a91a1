"""What every source gives."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm.graph import Graph

__all__ = ["Dataset", "Nodes", "StandInWarning"]

Nodes: TypeAlias = NDArray[np.int64]


class StandInWarning(UserWarning):
    """Another graph was loaded in place of the one asked for."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A graph and the labels of its nodes.

    Attributes
    ----------
    name : str
        What the graph is called.
    graph : Graph
        The graph.
    labels : ndarray of shape (n,)
        The ground truth, in the order of ``graph.nodes``; -1 (int labels) or None (str) where there is none. Where
        communities overlap, that of the largest community of the node.
    positions : ndarray of shape (n, 2) or None
        Where to draw the nodes, if the source says so.
    label_names : ndarray of str or None
        What the int labels 0, 1, ... stand for, if the source says so.
    communities : tuple of ndarray, or None
        For labels that overlap: the nodes of each community, by position, ascending.
    stand_in_for : str or None
        The graph that was asked for, where this one merely resembles it.
    """

    name: str
    graph: Graph
    labels: NDArray[Any]
    positions: NDArray[np.float64] | None = None
    label_names: NDArray[np.str_] | None = None
    communities: tuple[Nodes, ...] | None = None
    stand_in_for: str | None = None

    @property
    def n_classes(self) -> int:
        """How many classes or communities there are."""
        if self.communities is not None:
            return len(self.communities)
        known = self.labels[self.labelled].tolist()
        return len(set(known))

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which nodes have a label, shape (n,)."""
        if self.labels.dtype == object:
            return np.array([label is not None for label in self.labels], dtype=bool)
        return np.asarray(self.labels >= 0)
