"""Label a whole graph from a few known nodes, by heat diffusion at equilibrium.

>>> import isotherm as iso
>>> graph = iso.Graph.from_edges(["a", "a", "b", "b", "c"], ["b", "c", "d", "c", "e"])
>>> clf = iso.DirichletClassifier().fit(graph, {"d": "left", "e": "right"})
>>> dict(zip(graph.nodes.tolist(), clf.labels_.tolist()))
{'a': 'left', 'b': 'left', 'c': 'right', 'd': 'left', 'e': 'right'}
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.3.0"

__all__ = [
    "BlockModel",
    "CalibrationWarning",
    "Comparison",
    "ConvergenceWarning",
    "CutGraphWarning",
    "DirichletClassifier",
    "DoubtfulSeeds",
    "Evaluation",
    "EvidenceWarning",
    "Explanation",
    "FeatureTable",
    "FileError",
    "FileWarning",
    "Graph",
    "LabelSplit",
    "LabelWarning",
    "NodeClassifier",
    "RareClassWarning",
    "ScaleWarning",
    "Solution",
    "UnreachedWarning",
    "VectorClassifier",
    "WholeGraph",
    "ZeroRowWarning",
    "absorption_probabilities",
    "compare",
    "cross_val_score",
    "evaluate",
    "explore",
    "load",
    "pack_edges",
    "read_graph",
    "read_labelled",
    "read_seeds",
    "solve_dirichlet",
    "suggest",
    "write_labels",
]

if TYPE_CHECKING:
    from isotherm.dirichlet_classifier import DirichletClassifier
    from isotherm.engines.dirichlet import absorption_probabilities, solve_dirichlet
    from isotherm.equilibrium.problem import UnreachedWarning
    from isotherm.equilibrium.solvers import Solution
    from isotherm.equilibrium.unconverged import ConvergenceWarning
    from isotherm.graphs import Graph
    from isotherm.graphs.neighbours import ZeroRowWarning
    from isotherm.graphs.vector_rows import ScaleWarning
    from isotherm.insight.doubt import DoubtfulSeeds
    from isotherm.insight.explanation import Explanation
    from isotherm.insight.suggestion import suggest
    from isotherm.io import FileError, FileWarning, pack_edges, read_graph, read_labelled, read_seeds
    from isotherm.io.feature_table import FeatureTable
    from isotherm.labelling.inputs import CutGraphWarning, WholeGraph
    from isotherm.labelling.rows import write_labels
    from isotherm.node_classifier import NodeClassifier, explore, load
    from isotherm.paper.block_model import BlockModel
    from isotherm.probability.calibration import CalibrationWarning
    from isotherm.probability.evidence import EvidenceWarning
    from isotherm.seeds import LabelWarning, RareClassWarning
    from isotherm.study.comparison import Comparison, compare
    from isotherm.study.evaluation import Evaluation, evaluate
    from isotherm.study.splits import LabelSplit, cross_val_score
    from isotherm.vector_classifier import VectorClassifier

_HOMES = {
    "BlockModel": "paper.block_model",
    "CalibrationWarning": "probability.calibration",
    "Comparison": "study.comparison",
    "ConvergenceWarning": "equilibrium.unconverged",
    "CutGraphWarning": "labelling.inputs",
    "DirichletClassifier": "dirichlet_classifier",
    "DoubtfulSeeds": "insight.doubt",
    "Evaluation": "study.evaluation",
    "EvidenceWarning": "probability.evidence",
    "Explanation": "insight.explanation",
    "FeatureTable": "io.feature_table",
    "FileError": "io",
    "FileWarning": "io",
    "Graph": "graphs",
    "LabelSplit": "study.splits",
    "LabelWarning": "seeds",
    "NodeClassifier": "node_classifier",
    "RareClassWarning": "seeds",
    "ScaleWarning": "graphs.vector_rows",
    "Solution": "equilibrium.solvers",
    "UnreachedWarning": "equilibrium.problem",
    "VectorClassifier": "vector_classifier",
    "WholeGraph": "labelling.inputs",
    "ZeroRowWarning": "graphs.neighbours",
    "absorption_probabilities": "engines.dirichlet",
    "compare": "study.comparison",
    "cross_val_score": "study.splits",
    "evaluate": "study.evaluation",
    "explore": "node_classifier",
    "load": "node_classifier",
    "pack_edges": "io",
    "read_graph": "io",
    "read_labelled": "io",
    "read_seeds": "io",
    "solve_dirichlet": "engines.dirichlet",
    "suggest": "insight.suggestion",
    "write_labels": "labelling.rows",
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
