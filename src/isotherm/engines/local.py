"""The engine on this machine."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm.dirichlet import Values, solve_graph, solve_in_blocks
from isotherm.graph import Graph
from isotherm.solvers import Solution

__all__ = ["LocalEngine"]


class LocalEngine:
    """Solves in this process, with threads."""

    def solve(self, graph: Graph, nodes: NDArray[np.int64], values: NDArray[np.float64], **options: Any) -> Solution:
        """Temperatures of all nodes, given those of some; see :func:`isotherm.dirichlet.solve_graph`."""
        return solve_graph(graph, nodes, values, **options)

    def solve_in_blocks(
        self, graph: Graph, nodes: NDArray[np.int64], values: Values, columns: int, **options: Any
    ) -> Iterator[tuple[slice, Solution]]:
        """The same block after block; see :func:`isotherm.dirichlet.solve_in_blocks`."""
        return solve_in_blocks(graph, nodes, values, columns, **options)
