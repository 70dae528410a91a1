"""Figure 4: real graphs, 1 % uniform seeds and ever more of the dominant class."""

from collections.abc import Iterator

import numpy as np

from isotherm.experiments.base import AUTHORS, Data, Draw, Experiment, Setting
from isotherm.experiments.block_curves import RATIOS
from isotherm.experiments.points import Point, of_class, scored
from isotherm.experiments.real_graphs import SINGLE_LABEL, Labelled, copies, graph_settings
from isotherm.experiments.table2 import SHARE, uniform
from isotherm.seeds import sample_dominant

__all__ = ["EXPERIMENT"]


def points(setting: Setting, draw: Draw, data: Data) -> Iterator[Point]:
    """Ten sets of seeds on one graph."""
    labelled, side = copies(setting, data)
    graph, labels = labelled
    if setting.protocol == AUTHORS:
        yield from _added(labelled, setting, draw.own())
        return
    for ratio in RATIOS:
        yield Point(ratio, graph, labels, sample_dominant(labels, SHARE, draw.own(), ratio=ratio), side)


def _added(labelled: Labelled, setting: Setting, rng: np.random.Generator) -> Iterator[Point]:
    """The authors': at ratio x, a share of x - 1 percent of the dominant class is added to the reference sample."""
    graph, labels = labelled
    reference = uniform(labelled, setting, rng)
    sizes = np.bincount(labels[labels >= 0])
    for ratio in RATIOS:
        added = of_class(labels, int(sizes.argmax()), int(sizes.max() * SHARE * (ratio - 1)), rng)
        yield Point(ratio, graph, labels, np.union1d(reference, added))


EXPERIMENT = Experiment(
    "figure4", "Figure 4: seed asymmetry on real graphs", graph_settings(SINGLE_LABEL[:4]), scored(points)
)
