"""Figure 4: real graphs with 1 % uniform seeds, plus more and more seeds of the largest class."""

from collections.abc import Iterator

import numpy as np

from isotherm.paper.experiments.figures_2_and_3 import RATIOS
from isotherm.paper.experiments.tables_2_and_3 import SHARE, uniform
from isotherm.paper.running.experiment import AUTHORS, Data, Draw, Experiment, Setting
from isotherm.paper.running.points import Point, of_class, scored
from isotherm.paper.running.real_graphs import SINGLE_LABEL, copies, graph_settings
from isotherm.seeds import sample_dominant

__all__ = ["EXPERIMENT"]


def points(setting: Setting, draw: Draw, data: Data) -> Iterator[Point]:
    """Ten sets of seeds on one graph; at ratio x the authors add x - 1 percent of the largest class to a sample."""
    graph, labels, side = copies(setting, data)
    if setting.protocol != AUTHORS:
        for ratio in RATIOS:
            yield Point(ratio, graph, labels, sample_dominant(labels, SHARE, draw.own(), ratio=ratio), side)
        return
    rng = draw.own()
    reference = uniform(graph, labels, setting, rng)
    sizes = np.bincount(labels[labels >= 0])
    for ratio in RATIOS:
        added = of_class(labels, int(sizes.argmax()), int(sizes.max() * SHARE * (ratio - 1)), rng)
        yield Point(ratio, graph, labels, np.union1d(reference, added))


EXPERIMENT = Experiment(
    "figure4", "Figure 4: seed asymmetry on real graphs", graph_settings(SINGLE_LABEL[:4]), scored(points)
)
