"""Graphs of communities, by the rules of hard_graphs.py; PyAMG takes minutes for each."""

import os
from collections.abc import Iterator
from pathlib import Path

from benchmarks.hard_graphs import Problem, both_races, com_graph
from benchmarks.harness import Race

__all__ = ["races"]


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Race]:
    """For each graph, ours against PyAMG at its best, and against SciPy; they have one size only."""
    folder = os.environ.get("ISOTHERM_DATA")
    if folder is None:
        print("real graphs left out: set ISOTHERM_DATA to their folder")
        return
    for name in ("com-amazon", "com-dblp"):
        graph = com_graph(Path(folder), name)
        yield from both_races(Problem(f"{name}, 10 classes, 1% seeds", graph, graph.n_edges // 300, 10), rounds)
