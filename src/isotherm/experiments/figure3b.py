"""Figure 3b: ten blocks, the first 1 to 10 times as large as each other, seeds in proportion.

In the authors' program block 1 has 1000 nodes more than the axis says: (x + 1) times 1000; and p = 50 / n and q = 1 / n
change with the number n of nodes. The corrected protocol has x times 1000 and fixed probabilities.
"""

from collections.abc import Iterator

from isotherm.experiments.base import AUTHORS, Data, Draw, Experiment, Setting
from isotherm.experiments.block_curves import RATIOS, Model, more_nodes
from isotherm.experiments.figure3a import P, case_settings
from isotherm.experiments.points import Point, scored

__all__ = ["EXPERIMENT"]

BLOCK = 1000


def model(setting: Setting, ratio: int) -> Model:
    """Ten blocks, the first of another size."""
    if setting.protocol == AUTHORS:
        nodes = (ratio + 10) * BLOCK
        return Model(((ratio + 1) * BLOCK, *[BLOCK] * 9), 50 / nodes, 1 / nodes)
    return Model((ratio * BLOCK, *[BLOCK] * 9), P[setting.case], 1e-4)


def points(setting: Setting, draw: Draw, data: Data) -> Iterator[Point]:
    """A graph and its seeds for each ratio."""
    return more_nodes(setting, draw, [model(setting, ratio) for ratio in RATIOS])


EXPERIMENT = Experiment("figure3b", "Figure 3b: ten blocks, size asymmetry", case_settings, scored(points))
