"""Tables 2 and 3: macro-F1 with 1 % of the nodes as seeds, drawn uniformly or in proportion to their degrees."""

import numpy as np

from isotherm.arrays import Ints
from isotherm.graphs import Graph
from isotherm.paper.running.experiment import AUTHORS, Experiment, Setting
from isotherm.paper.running.points import scored
from isotherm.paper.running.real_graphs import SINGLE_LABEL, graph_settings, one_point
from isotherm.seeds import sample_degree, sample_uniform

__all__ = ["EXPERIMENTS", "SHARE", "by_degree", "uniform"]

SHARE = 0.01


def uniform(graph: Graph, labels: Ints, setting: Setting, rng: np.random.Generator) -> Ints:
    """Table 2: uniform seeds. The authors round their number down."""
    size = int(SHARE * len(labels)) if setting.protocol == AUTHORS else SHARE
    return sample_uniform(labels, size, rng)


def by_degree(graph: Graph, labels: Ints, setting: Setting, rng: np.random.Generator) -> Ints:
    """Table 3: seeds in proportion to degrees. The authors take the two copies of a node as nodes of their own."""
    if setting.protocol == AUTHORS:
        return sample_degree(labels, int(SHARE * len(labels)), rng, degrees=np.diff(graph.heat.indptr).astype(float))
    return sample_degree(labels, SHARE, rng, degrees=graph.degrees)


_SETTINGS = graph_settings(SINGLE_LABEL)
EXPERIMENTS = (
    Experiment("table2", "Table 2: macro-F1, uniform seeds", _SETTINGS, scored(one_point(uniform))),
    Experiment("table3", "Table 3: macro-F1, seeds by degree", _SETTINGS, scored(one_point(by_degree))),
)
