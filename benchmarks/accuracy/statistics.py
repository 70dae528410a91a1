"""From rows to tables: means over graphs, ranks, and paired differences with standard errors."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from benchmarks.accuracy.runs import SLOW, Results

__all__ = ["Estimate", "Panel", "estimate"]


class Estimate(NamedTuple):
    """A mean over graphs, its standard error, and the number of graphs."""

    mean: float
    error: float
    graphs: int

    def __format__(self, spec: str) -> str:
        """The mean and its standard error."""
        return f"{self.mean:{spec}} ± {self.error:.3f}"


def estimate(values: NDArray[np.float64]) -> Estimate:
    """The mean of the values that are known, with its standard error.

    >>> estimate(np.array([1.0, 3.0, np.nan]))
    Estimate(mean=2.0, error=1.0, graphs=2)
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return Estimate(np.nan, np.nan, 0)
    error = float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else np.nan
    return Estimate(float(known.mean()), error, len(known))


@dataclass(frozen=True)
class Panel:
    """The rows of some graphs under one protocol; figures of a graph are means over its draws."""

    results: Results
    graphs: list[str]
    protocol: str

    def methods(self) -> list[str]:
        """The methods that were tried on any of these graphs, in the order of the file."""
        graphs = set(self.graphs)
        tried = (row.method for row in self.results.values() if row.graph in graphs and row.protocol == self.protocol)
        return list(dict.fromkeys(tried))

    def by_graph(self, method: str, figure: str) -> NDArray[np.float64]:
        """(graphs,) the figure of a method on each graph, NaN where it has none or not on every draw."""
        return np.array([self._mean(graph, method, figure) for graph in self.graphs])

    def _mean(self, graph: str, method: str, figure: str) -> float:
        found, draw = [], 0
        while (row := self.results.get((graph, self.protocol, draw, method))) is not None:
            found.append(getattr(row, figure))
            draw += 1
        return float(np.mean(found)) if found else np.nan

    def mean(self, method: str, figure: str) -> Estimate:
        """The mean over graphs."""
        return estimate(self.by_graph(method, figure))

    def difference(self, ours: str, theirs: str, figure: str) -> Estimate:
        """Ours minus theirs, paired by graph."""
        return estimate(self.by_graph(ours, figure) - self.by_graph(theirs, figure))

    def ranks(self, methods: Iterable[str], figure: str) -> dict[str, float]:
        """The mean rank of each method, the best first; where a method has no figure it is last."""
        names = list(methods)
        values = np.array([self.by_graph(name, figure) for name in names])  # (methods, graphs)
        ranked = rankdata(np.where(np.isnan(values), np.inf, -values), axis=0)
        return dict(zip(names, ranked.mean(axis=1).tolist(), strict=True)) if self.graphs else {}

    def unfinished(self, method: str) -> dict[str, str]:
        """Graphs on which a method has no score on some draw, and why."""
        graphs = set(self.graphs)
        return {
            row.graph: row.status if row.status == SLOW else "failed"
            for row in self.results.values()
            if row.method == method and row.protocol == self.protocol and row.graph in graphs and row.status
        }
