"""The dataset: what every source gives."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isotherm.graphs import Graph

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
        The name of the graph.
    graph : Graph
        The graph.
    labels : ndarray of shape (n,)
        The true labels, in the order of ``graph.nodes``; -1 (int labels) or None (str) where there is none. If
        communities overlap, the largest community of each node.
    positions : ndarray of shape (n, 2) or None
        Where to draw the nodes, if the source has positions.
    label_names : ndarray of str or None
        The names of the int labels 0, 1, ..., if the source has them.
    communities : tuple of ndarray, or None
        If communities overlap: the positions of the nodes of each, ascending.
    stand_in_for : str or None
        The graph that was asked for, if this one is only similar to it.
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
        """The number of classes or communities."""
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
