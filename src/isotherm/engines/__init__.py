"""Engines: where a Dirichlet problem is solved. Same contract, same answers."""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from isotherm.dirichlet import Values
from isotherm.graph import Graph
from isotherm.solvers import Solution

__all__ = ["ENGINES", "Engine", "get_engine"]


class Engine(Protocol):
    """Solves Dirichlet problems somewhere."""

    def solve(self, graph: Graph, nodes: NDArray[np.int64], values: NDArray[np.float64], **options: Any) -> Solution:
        """Temperatures of all nodes, given those of some; see :func:`isotherm.dirichlet.solve_graph`."""
        ...

    def solve_in_blocks(
        self, graph: Graph, nodes: NDArray[np.int64], values: Values, columns: int, **options: Any
    ) -> Iterator[tuple[slice, Solution]]:
        """The same block after block; see :func:`isotherm.dirichlet.solve_in_blocks`."""
        ...


ENGINES = ("local",)


def get_engine(name: str) -> Engine:
    """The engine of that name."""
    from isotherm.engines.local import LocalEngine

    return {"local": LocalEngine}[name]()
