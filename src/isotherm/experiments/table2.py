"""Table 2: macro-F1 with 1 % of the nodes as seeds, drawn uniformly."""

import numpy as np

from isotherm.experiments.base import AUTHORS, Experiment, Setting
from isotherm.experiments.points import scored
from isotherm.experiments.real_graphs import SINGLE_LABEL, Labelled, graph_settings, one_point
from isotherm.experiments.scoring import Ints
from isotherm.seeds import sample_uniform

__all__ = ["EXPERIMENT", "uniform"]

SHARE = 0.01


def uniform(labelled: Labelled, setting: Setting, rng: np.random.Generator) -> Ints:
    """Seeds uniformly at random; the authors round their number down."""
    size = int(SHARE * len(labelled.labels)) if setting.protocol == AUTHORS else SHARE
    return sample_uniform(labelled.labels, size, rng)


EXPERIMENT = Experiment(
    "table2", "Table 2: macro-F1, uniform seeds", graph_settings(SINGLE_LABEL), scored(one_point(uniform))
)
