"""Figure 3a: ten equal blocks, the first with 1 to 10 times as many seeds as each other.

The text says p = 0.05; the authors' program has p = 50 / n = 0.005. Both are run in the corrected protocol.
"""

from collections.abc import Iterator

from isotherm.experiments.base import AUTHORS, Data, Draw, Experiment, Setting
from isotherm.experiments.block_curves import SHARE, Model, more_seeds, seeds_by_block
from isotherm.experiments.points import Point, balanced, scored

__all__ = ["AS_RUN", "AS_WRITTEN", "EXPERIMENT", "case_settings"]

SIZES = (1000,) * 10
AS_RUN, AS_WRITTEN = "p = 0.005", "p = 0.05"
P = {AS_RUN: 5e-3, AS_WRITTEN: 5e-2}
SECOND = 50  # seeds of each other block in the text: 5 %, as in figure 2a


def case_settings(protocol: str, data: Data) -> list[Setting]:
    """The authors' p in both protocols, the text's p in the corrected one only."""
    cases = [AS_RUN] if protocol == AUTHORS else [AS_RUN, AS_WRITTEN]
    return [Setting(protocol, case) for case in cases]


def points(setting: Setting, draw: Draw, data: Data) -> Iterator[Point]:
    """One graph and ten sets of seeds; the authors' reference sample is a tenth of each block."""
    rng = draw.own()
    model = Model(SIZES, P[setting.case], 1e-4)
    if setting.protocol == AUTHORS:
        return more_seeds(model, rng, balanced(model.labels, SHARE, rng))
    return seeds_by_block(model, rng, SECOND)


EXPERIMENT = Experiment("figure3a", "Figure 3a: ten blocks, seed asymmetry", case_settings, scored(points))
