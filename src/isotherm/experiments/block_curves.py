"""Figures 2 and 3: stochastic block models with ever more seeds, or nodes, in the first block."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from isotherm.block_model import stochastic_block_model
from isotherm.experiments.base import AUTHORS, Draw, Setting
from isotherm.experiments.points import Point, balanced, of_class
from isotherm.experiments.scoring import Ints
from isotherm.seeds import sample_balanced

__all__ = ["RATIOS", "Model", "more_nodes", "more_seeds", "seeds_by_block"]

RATIOS = range(1, 11)
SHARE = 0.1  # of nodes that are seeds, where the text does not give their number


class Model(NamedTuple):
    """The sizes and probabilities of a stochastic block model."""

    sizes: Sequence[int]
    p: float
    q: float

    @property
    def labels(self) -> Ints:
        """The block of each node."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


def more_seeds(model: Model, rng: np.random.Generator, reference: Ints) -> Iterator[Point]:
    """The authors' seed asymmetry: to a reference sample, ever more of block 1 are added, on one graph.

    At ratio x these are x - 1 times a tenth of the block, drawn anew for each x, and may be in the sample already.
    """
    graph = stochastic_block_model(*model, rng)
    labels = model.labels
    for ratio in RATIOS:
        added = of_class(labels, 0, int(model.sizes[0] * SHARE * (ratio - 1)), rng)
        yield Point(ratio, graph, labels, np.union1d(reference, added))


def seeds_by_block(model: Model, rng: np.random.Generator, seeds: int) -> Iterator[Point]:
    """The text's seed asymmetry: so many seeds in each block, and x times as many in block 1, on one graph."""
    graph = stochastic_block_model(*model, rng)
    labels = model.labels
    rest = np.concatenate([of_class(labels, k, seeds, rng) for k in range(1, len(model.sizes))])
    first = of_class(labels, 0, seeds * max(RATIOS), rng)
    for ratio in RATIOS:
        yield Point(ratio, graph, labels, np.union1d(first[: seeds * ratio], rest))


def more_nodes(setting: Setting, draw: Draw, models: Sequence[Model]) -> Iterator[Point]:
    """Block size asymmetry: a tenth of each block are seeds; a model for each ratio.

    The authors draw one graph for each ratio, and only the seeds anew in each run; the text draws both anew.
    """
    authors = setting.protocol == AUTHORS
    graphs, rng = draw.shared() if authors else draw.own(), draw.own()
    for ratio, model in zip(RATIOS, models, strict=True):
        graph = stochastic_block_model(*model, graphs if authors else rng)
        draws = balanced(model.labels, SHARE, rng) if authors else sample_balanced(model.labels, SHARE, rng)
        yield Point(ratio, graph, model.labels, draws)
