"""From rows to tables: means over graphs, ranks, and paired differences with standard errors."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from benchmarks.accuracy.runs import SLOW, Results

__all__ = ["Estimate", "Panel", "estimate", "mean_difference"]


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
        return _mean([figures[0] for figures in self._draws(graph, [method], figure)])

    def _draws(self, graph: str, methods: list[str], figure: str) -> Iterator[list[float]]:
        """The figures of some methods on each draw that all of them have."""
        for draw in count():
            rows = [self.results.get((graph, self.protocol, draw, method)) for method in methods]
            if None in rows:
                return
            yield [getattr(row, figure) for row in rows]

    def mean(self, method: str, figure: str) -> Estimate:
        """The mean over graphs."""
        return estimate(self.by_graph(method, figure))

    def difference(self, ours: str, theirs: str, figure: str) -> Estimate:
        """Ours minus theirs, paired by graph."""
        return estimate(self.gaps(ours, theirs, figure))

    def gaps(self, ours: str, theirs: str, figure: str) -> NDArray[np.float64]:
        """(graphs,) ours minus theirs, the mean over draws that both have."""
        pairs = [self._draws(graph, [ours, theirs], figure) for graph in self.graphs]
        return np.array([_mean([one - other for one, other in pair]) for pair in pairs])

    def on_common_draws(self, methods: list[str], figure: str) -> NDArray[np.float64]:
        """(methods, graphs) means over the draws that all methods have which were run on a graph; NaN for others."""
        values = np.full((len(methods), len(self.graphs)), np.nan)
        for place, graph in enumerate(self.graphs):
            ran = [number for number, name in enumerate(methods) if (graph, self.protocol, 0, name) in self.results]
            draws = list(self._draws(graph, [methods[number] for number in ran], figure)) if ran else []
            values[ran, place] = np.mean(draws, axis=0) if draws else np.nan
        return values

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


def mean_difference(panels: list[Panel], ours: str, theirs: str, figure: str) -> Estimate:
    """Ours minus theirs in the mean of several protocols, paired by graph; of graphs that have all of them."""
    return estimate(np.mean([panel.gaps(ours, theirs, figure) for panel in panels], axis=0))


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else np.nan
