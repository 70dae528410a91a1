"""Label a whole graph from a few known nodes, by heat diffusion at equilibrium.

>>> import isotherm as iso
>>> graph = iso.Graph.from_edges(["a", "a", "b", "b", "c"], ["b", "c", "d", "c", "e"])
>>> clf = iso.DirichletClassifier().fit(graph, {"d": "left", "e": "right"})
>>> dict(zip(graph.nodes.tolist(), clf.labels_.tolist()))
{'a': 'left', 'b': 'left', 'c': 'right', 'd': 'left', 'e': 'right'}
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "BlockModel",
    "CalibrationWarning",
    "ConvergenceWarning",
    "DirichletClassifier",
    "Explanation",
    "FileError",
    "FileWarning",
    "Graph",
    "LabelSplit",
    "RareClassWarning",
    "Solution",
    "UnreachedWarning",
    "cross_val_score",
    "load",
    "read_graph",
    "read_seeds",
    "solve_dirichlet",
    "write_labels",
]

if TYPE_CHECKING:
    from isotherm.block_model import BlockModel
    from isotherm.calibration import CalibrationWarning
    from isotherm.classifier import DirichletClassifier, load
    from isotherm.dirichlet import ConvergenceWarning, UnreachedWarning, solve_dirichlet
    from isotherm.explanation import Explanation
    from isotherm.graph import Graph
    from isotherm.io import FileError, FileWarning, read_graph, read_seeds, write_labels
    from isotherm.model_selection import LabelSplit, cross_val_score
    from isotherm.seeds import RareClassWarning
    from isotherm.solvers import Solution

_HOMES = {
    "BlockModel": "block_model",
    "CalibrationWarning": "calibration",
    "ConvergenceWarning": "dirichlet",
    "DirichletClassifier": "classifier",
    "Explanation": "explanation",
    "FileError": "io",
    "FileWarning": "io",
    "Graph": "graph",
    "LabelSplit": "model_selection",
    "RareClassWarning": "seeds",
    "Solution": "solvers",
    "UnreachedWarning": "dirichlet",
    "cross_val_score": "model_selection",
    "load": "classifier",
    "read_graph": "io",
    "read_seeds": "io",
    "solve_dirichlet": "dirichlet",
    "write_labels": "io",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that ``import isotherm`` stays fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'isotherm' has no attribute {name!r}")
    value = getattr(import_module(f"isotherm.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
