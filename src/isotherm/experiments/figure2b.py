"""Figure 2b: two blocks, the first 1 to 10 times as large as the second, seeds in proportion."""

from collections.abc import Iterator

from isotherm.experiments.base import Data, Draw, Experiment, Setting
from isotherm.experiments.block_curves import RATIOS, Model, more_nodes
from isotherm.experiments.points import Point, scored

__all__ = ["EXPERIMENT"]

NODES = 10_000


def settings(protocol: str, data: Data) -> list[Setting]:
    """One for each protocol."""
    return [Setting(protocol, "two blocks")]


def model(ratio: int) -> Model:
    """Two blocks with this ratio of sizes."""
    second = NODES // (1 + ratio)
    return Model((NODES - second, second), p=1e-3, q=1e-4)


def points(setting: Setting, draw: Draw, data: Data) -> Iterator[Point]:
    """A graph and its seeds for each ratio."""
    return more_nodes(setting, draw, [model(ratio) for ratio in RATIOS])


EXPERIMENT = Experiment("figure2b", "Figure 2b: two blocks, size asymmetry", settings, scored(points))
