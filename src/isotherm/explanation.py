"""Explanations: the seeds that heat a node, each with its share, and the way to them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.dirichlet import interior_system
from isotherm.graph import Graph
from isotherm.harmonic_measure import HarmonicMeasure
from isotherm.paths import Paths
from isotherm.seeds import Seeds
from isotherm.soft_seeds import ground
from isotherm.solvers import System

__all__ = ["Explainer", "Explanation"]

COLUMNS = ("seed", "label", "share")


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Mapping[str, NDArray[Any]]):
    """The seeds that heat a node: a table with the columns "seed", "label" and "share", the largest share first.

    A share is the probability that a random walk from the node comes to this seed before all others, or ends there if
    seeds are soft. It is what the seed contributes to the temperatures of the node: the shares of a class add up to its
    temperature, and all of them to 1. A table without rows means that no seed reaches the node.

    Attributes
    ----------
    node
        The node that is explained.
    seed, label, share : ndarrays of shape (s,)
        The columns; of a seed that has several labels, the most probable one.
    classes : dict
        The sum of the shares of each class, also of those seeds that the table leaves out.

    Examples
    --------
    >>> import isotherm as iso
    >>> rod = iso.Graph.from_edges(list("abcd"), list("bcde"))
    >>> clf = iso.DirichletClassifier().fit(rod, {"a": "hot", "e": "cold"})
    >>> print(clf.explain("b"))
    the heat of 'b'
    share  label  seed  path
      75%  hot    a     b a
      25%  cold   e     b c d e
    >>> clf.explain("b")["share"]
    array([0.75, 0.25])
    """

    node: Any
    seed: NDArray[Any]
    label: NDArray[Any]
    share: NDArray[np.float64]
    classes: dict[Any, float]
    _explainer: "Explainer"

    def __getitem__(self, column: str) -> NDArray[Any]:
        if column not in COLUMNS:
            raise KeyError(column)
        return getattr(self, column)

    def __iter__(self) -> Iterator[str]:
        return iter(COLUMNS)

    def __len__(self) -> int:
        return len(COLUMNS)

    def path(self, seed: Any) -> list[Any]:
        """The nodes of the most probable way from the node to a seed, past no other seed; empty if there is none."""
        return self._explainer.path(self.node, seed)

    def __repr__(self) -> str:
        return f"<Explanation: {self.node!r}, {len(self.seed)} seeds>"

    def __str__(self) -> str:
        return self.text()

    def text(self, rows: int = 10) -> str:
        """The first rows, for people, with the way to each of the first three seeds."""
        if not len(self.seed):
            return f"no seed reaches {self.node!r}"
        table = [("share", "label", "seed", "path")]
        for place, (seed, label, share) in enumerate(zip(self.seed, self.label, self.share, strict=True)):
            if place == rows:
                break
            path = " ".join(map(str, self.path(seed))) if place < 3 else ""
            table.append((f"{share:.0%}" if share >= 0.01 else f"{share:.1g}", str(label), str(seed), path))
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [f"{a:>{widths[0]}}  {b:<{widths[1]}}  {c:<{widths[2]}}  {d}".rstrip() for a, b, c, d in table]
        more = len(self.seed) - rows
        return "\n".join([f"the heat of {self.node!r}", *lines, *([f"and {more} seeds more"] if more > 0 else [])])


class Explainer:
    """Explains the nodes of a graph with seeds.

    Parameters
    ----------
    graph, seeds
        The graph and its seeds.
    side : {"both", "source"}
        As for `DirichletClassifier`.
    tol : float
        The largest share that may be attributed to wrong seeds.
    n_threads : int, optional
        Number of threads.
    """

    def __init__(
        self, graph: Graph, seeds: Seeds, *, side: str = "both", tol: float = 1e-3, n_threads: int | None = None
    ) -> None:
        self.graph, self.seeds, self.side, self.tol, self.n_threads = graph, seeds, side, tol, n_threads

    def __getstate__(self) -> dict[str, Any]:  # what was prepared need not travel
        return {name: self.__dict__[name] for name in ("graph", "seeds", "side", "tol", "n_threads")}

    @property
    def _both(self) -> bool:
        return self.graph.directed and self.side == "both"

    @cached_property
    def _grounded(self) -> tuple[Graph, NDArray[np.int64]]:
        return ground(self.graph, self.seeds.nodes, self.seeds.weights, self.side)

    @cached_property
    def _system(self) -> System:
        graph, nodes = self._grounded
        boundary = np.concatenate([nodes, nodes + graph.n_nodes]) if self._both else nodes
        return interior_system(graph.heat, boundary)

    @cached_property
    def _measure(self) -> HarmonicMeasure:
        return HarmonicMeasure(self._system, tol=self.tol, n_threads=self.n_threads)

    @cached_property
    def _paths(self) -> Paths:
        return Paths(self._system)

    def explain(self, nodes: Iterable[Any], *, top: int | None = None) -> list[Explanation]:
        """An explanation for each node, by its id; of ``top`` seeds, or of all that have a share."""
        ids = list(nodes)
        starts = self._starts(self.graph.index(ids))
        reached = np.flatnonzero(np.diff(starts.indptr))
        shares = np.zeros((len(ids), len(self.seeds.nodes)))
        if len(reached):
            found = self._measure(starts[reached])
            shares[reached] = found.reshape(len(reached), -1, len(self.seeds.nodes)).sum(axis=1)
        return [self._explanation(node, row, top) for node, row in zip(ids, shares, strict=True)]

    def path(self, node: Any, seed: Any) -> list[Any]:
        """The most probable way from a node to a seed, past no other seed; empty if there is none."""
        graph, held = self._grounded
        start, end = self.graph.index([node, seed]).tolist()
        goal = dict(zip(self.seeds.nodes.tolist(), held.tolist(), strict=True)).get(end, end)
        copies = (0, graph.n_nodes) if self._both else (0,)
        found = self._paths.most_probable([start + copy for copy in copies], [goal + copy for copy in copies])
        places = np.array(found, dtype=np.int64) % graph.n_nodes
        return self.graph.nodes[places[places < self.graph.n_nodes]].tolist()

    def _starts(self, positions: NDArray[np.int64]) -> csr_array:
        """Where the walks from these nodes begin: for a directed graph, as source or as destination by chance."""
        n = self._grounded[0].n_nodes
        copies = np.stack([positions, positions + n] if self._both else [positions], axis=1)
        known = self._system.reached[copies]  # (k, copies)
        row, column = np.nonzero(known)
        chance = 1 / known.sum(axis=1)[row]
        return csr_array((chance, (row, copies[row, column])), shape=(len(positions), len(self._system.degree)))

    def _explanation(self, node: Any, shares: NDArray[np.float64], top: int | None) -> Explanation:
        seeds = self.seeds
        rank = np.argsort(-shares, kind="stable")[: np.count_nonzero(shares)][:top]
        sums = seeds.by_class(shares)
        return Explanation(
            node,
            self.graph.nodes[seeds.nodes[rank]],
            seeds.names(rank),
            shares[rank],
            dict(zip(seeds.classes.tolist(), sums.tolist(), strict=True)),
            self,
        )
