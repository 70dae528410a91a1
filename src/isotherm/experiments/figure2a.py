"""Figure 2a: two equal blocks, the first with 1 to 10 times as many seeds as the second."""

from collections.abc import Iterator

from isotherm.experiments.base import AUTHORS, Data, Draw, Experiment, Setting
from isotherm.experiments.block_curves import SHARE, Model, more_seeds, seeds_by_block
from isotherm.experiments.points import Point, scored
from isotherm.seeds import sample_uniform

__all__ = ["EXPERIMENT"]

MODEL = Model((5000, 5000), p=1e-3, q=1e-4)
SECOND = 250  # seeds of block 2 in the text


def settings(protocol: str, data: Data) -> list[Setting]:
    """One for each protocol."""
    return [Setting(protocol, "two blocks")]


def points(setting: Setting, draw: Draw, data: Data) -> Iterator[Point]:
    """One graph and ten sets of seeds; the authors' reference sample is a tenth of all nodes."""
    rng = draw.own()
    if setting.protocol == AUTHORS:
        return more_seeds(MODEL, rng, sample_uniform(MODEL.labels, SHARE, rng))
    return seeds_by_block(MODEL, rng, SECOND)


EXPERIMENT = Experiment("figure2a", "Figure 2a: two blocks, seed asymmetry", settings, scored(points))
