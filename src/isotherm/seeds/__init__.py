"""Seeds: the nodes whose labels are known.

In come labels, as a mapping or as one label per node. A label may be certain, a distribution over classes, weighted by
trust, or a set of labels. Out come `Seeds`: positions in the graph, class numbers, and the temperatures at which the
nodes are held. Labels are validated here, by `as_seeds`, and nowhere else. Read ``known.py`` first. ``soft.py`` reads
uncertain labels, ``sets.py`` reads sets of labels, ``series.py`` reads the index of a pandas Series, ``advice.py``
warns about labels that hint at a mistake, and ``hiding.py`` draws seeds, deals them to folds and hides them.
"""

from typing import Any

from isotherm.graphs import Graph
from isotherm.seeds.advice import LabelWarning
from isotherm.seeds.hiding import sample, sample_balanced, sample_degree, sample_dominant, sample_uniform
from isotherm.seeds.known import RareClassWarning, Seeds
from isotherm.seeds.sets import has_label_sets, label_sets
from isotherm.seeds.soft import soft_seeds

__all__ = [
    "LabelWarning",
    "RareClassWarning",
    "Seeds",
    "as_seeds",
    "sample",
    "sample_balanced",
    "sample_degree",
    "sample_dominant",
    "sample_uniform",
]


def as_seeds(labels: Any, graph: Graph, weight: Any = None) -> Seeds:
    """Seeds from labels of any kind: sets of labels are read by ``sets.py``, all others by ``soft.py``."""
    if isinstance(labels, Seeds):
        return labels
    return (label_sets if has_label_sets(labels) else soft_seeds)(labels, graph, weight)
