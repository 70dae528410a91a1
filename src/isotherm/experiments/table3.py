"""Table 3: macro-F1 with 1 % of the nodes as seeds, drawn in proportion to their degrees."""

import numpy as np

from isotherm.experiments.base import AUTHORS, Experiment, Setting
from isotherm.experiments.points import scored
from isotherm.experiments.real_graphs import SINGLE_LABEL, Labelled, graph_settings, one_point
from isotherm.experiments.scoring import Ints
from isotherm.experiments.table2 import SHARE
from isotherm.seeds import sample_degree

__all__ = ["EXPERIMENT", "by_degree"]


def by_degree(labelled: Labelled, setting: Setting, rng: np.random.Generator) -> Ints:
    """Seeds in proportion to degrees; for the authors a copy of a node has a degree of its own."""
    graph, labels = labelled
    if setting.protocol == AUTHORS:
        return sample_degree(labels, int(SHARE * len(labels)), rng, degrees=np.diff(graph.heat.indptr).astype(float))
    return sample_degree(labels, SHARE, rng, degrees=graph.degrees)


EXPERIMENT = Experiment(
    "table3", "Table 3: macro-F1, seeds by degree", graph_settings(SINGLE_LABEL), scored(one_point(by_degree))
)
