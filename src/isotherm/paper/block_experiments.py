"""Experiments on stochastic block models: figures 2 and 3, and a study of consistency beyond the paper.

Figure 2 has two blocks and figure 3 has ten. In part (a) of each the first block has 1 to 10 times as many seeds as
another, in part (b) 1 to 10 times as many nodes. The authors' programs differ from the paper's text, and each protocol
follows its own source:

- The text gives p = 0.05 for figure 3; the program has p = 50 / n = 0.005. The corrected protocol runs both.
- For part (a) the text gives the number of seeds; the program adds seeds to a reference sample (`more_seeds`).
- In figure 3b the program gives block 1 one unit more than the axis says, (x + 1) times 1000 nodes, and p and q
  shrink as the number of nodes grows.

`SBM` asks which rules are consistent, which the paper leaves open. There are three blocks in proportion 3 : 2 : 1,
edges are ten times as likely inside a block as between blocks, and seeds are drawn in proportion to the blocks. The
number n of nodes grows; the average degree is fixed or grows like log n.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from isotherm.arrays import Ints
from isotherm.labelling.rules import RULES
from isotherm.paper.block_model import BlockModel, stochastic_block_model
from isotherm.paper.experiment import AUTHORS, Data, Draw, Experiment, Measurement, Setting
from isotherm.paper.scoring import EQUILIBRIUM, UNREACHED, Point, balanced, of_class, predict, scored, solved
from isotherm.seeds.hiding import sample_balanced, sample_uniform

RATIOS = range(1, 11)
SHARE = 0.1  # share of seeds, where the text gives no number
AS_RUN, AS_WRITTEN = "p = 0.005", "p = 0.05"
P = {AS_RUN: 5e-3, AS_WRITTEN: 5e-2}

PROPORTIONS = np.array([3, 2, 1]) / 6
CONTRAST = 10  # p / q
NODES = (1000, 3162, 10_000, 31_623, 100_000)
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)
DEGREES = {"fixed degree": lambda n: 10.0, "logarithmic degree": lambda n: 10 * float(np.log(n))}
ERROR, PREDICTED = "share of wrong labels", "share that the block model predicts to be wrong"


class Model(NamedTuple):
    """The sizes and probabilities of a stochastic block model."""

    sizes: Sequence[int]
    p: float
    q: float

    @property
    def labels(self) -> Ints:
        """The block of each node."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


def figure2a(setting: Setting, draw: Draw, data: Data) -> Iterator[Point]:
    """Two equal blocks; the text has 250 seeds in block 2, the program samples a tenth of all nodes."""
    rng = draw.own()
    model = Model((5000, 5000), p=1e-3, q=1e-4)
    if setting.protocol == AUTHORS:
        return more_seeds(model, rng, sample_uniform(model.labels, SHARE, rng))
    return seeds_by_block(model, rng, 250)


def figure2b(setting: Setting, draw: Draw, data: Data) -> Iterator[Point]:
    """Two blocks with 10,000 nodes in all."""
    smaller = [10_000 // (1 + ratio) for ratio in RATIOS]
    return more_nodes(setting, draw, [Model((10_000 - size, size), p=1e-3, q=1e-4) for size in smaller])


def figure3a(setting: Setting, draw: Draw, data: Data) -> Iterator[Point]:
    """Ten equal blocks; the program samples a tenth of each block, and 50 seeds are 5 % as in the text of figure 2a."""
    rng = draw.own()
    model = Model((1000,) * 10, P[setting.case], 1e-4)
    if setting.protocol == AUTHORS:
        return more_seeds(model, rng, balanced(model.labels, SHARE, rng))
    return seeds_by_block(model, rng, 50)


def figure3b(setting: Setting, draw: Draw, data: Data) -> Iterator[Point]:
    """Ten blocks, the first one growing."""
    return more_nodes(setting, draw, [figure3b_model(setting, ratio) for ratio in RATIOS])


def figure3b_model(setting: Setting, ratio: int) -> Model:
    """Nine blocks of 1000 nodes after one that is larger."""
    if setting.protocol == AUTHORS:
        nodes = (ratio + 10) * 1000
        return Model(((ratio + 1) * 1000, *[1000] * 9), 50 / nodes, 1 / nodes)
    return Model((ratio * 1000, *[1000] * 9), P[setting.case], 1e-4)


def more_seeds(model: Model, rng: np.random.Generator, reference: Ints) -> Iterator[Point]:
    """The authors' way, on one graph: at ratio x, (x - 1) tenths of block 1 are added to the reference sample."""
    graph = stochastic_block_model(*model, rng)
    labels = model.labels
    for ratio in RATIOS:  # drawn anew for each; some may be in the sample already
        added = of_class(labels, 0, int(model.sizes[0] * SHARE * (ratio - 1)), rng)
        yield Point(ratio, graph, labels, np.union1d(reference, added))


def seeds_by_block(model: Model, rng: np.random.Generator, seeds: int) -> Iterator[Point]:
    """The text's way: a fixed number of seeds in each block and x times as many in block 1, on one graph."""
    graph = stochastic_block_model(*model, rng)
    labels = model.labels
    rest = np.concatenate([of_class(labels, k, seeds, rng) for k in range(1, len(model.sizes))])
    first = of_class(labels, 0, seeds * max(RATIOS), rng)
    for ratio in RATIOS:
        yield Point(ratio, graph, labels, np.union1d(first[: seeds * ratio], rest))


def more_nodes(setting: Setting, draw: Draw, models: Sequence[Model]) -> Iterator[Point]:
    """One model for each ratio, with a tenth of each block as seeds."""
    authors = setting.protocol == AUTHORS
    rng = draw.own()
    graphs = draw.shared() if authors else rng  # the authors draw new seeds for each run, and the text new graphs too
    for ratio, model in zip(RATIOS, models, strict=True):
        graph = stochastic_block_model(*model, graphs)
        seeds = balanced(model.labels, SHARE, rng) if authors else sample_balanced(model.labels, SHARE, rng)
        yield Point(ratio, graph, model.labels, seeds)


def _one_setting(protocol: str, data: Data) -> list[Setting]:
    return [Setting(protocol, "two blocks")]


def p_settings(protocol: str, data: Data) -> list[Setting]:
    """The program's p in both protocols, the text's p in the corrected one only."""
    cases = [AS_RUN] if protocol == AUTHORS else [AS_RUN, AS_WRITTEN]
    return [Setting(protocol, case) for case in cases]


FIGURES_2_AND_3 = (
    Experiment("figure2a", "Figure 2a: two blocks, seed asymmetry", _one_setting, scored(figure2a)),
    Experiment("figure2b", "Figure 2b: two blocks, size asymmetry", _one_setting, scored(figure2b)),
    Experiment("figure3a", "Figure 3a: ten blocks, seed asymmetry", p_settings, scored(figure3a)),
    Experiment("figure3b", "Figure 3b: ten blocks, size asymmetry", p_settings, scored(figure3b)),
)


def sbm_model(degree: float, n: int) -> Model:
    """Three blocks with this average degree."""
    sizes = np.floor(PROPORTIONS * n).astype(int)
    sizes[0] += n - sizes.sum()
    inside = float((PROPORTIONS**2).sum())
    q = degree / n / (CONTRAST * inside + 1 - inside)
    return Model(tuple(sizes.tolist()), CONTRAST * q, q)


def _run_sbm(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
    """One graph, and one draw of seeds for each share; an unreached node counts as wrong."""
    rng = draw.own()
    n = int(setting.case)
    model = sbm_model(DEGREES[setting.protocol](n), n)
    graph, labels = stochastic_block_model(*model, rng), model.labels
    for share in SHARES:
        seeds = sample_balanced(labels, share, rng)
        codes = labels[seeds]
        temperatures = solved(graph, seeds, np.eye(len(PROPORTIONS))[codes], EQUILIBRIUM)
        others = np.delete(np.arange(n), seeds)
        for rule in RULES:
            wrong = predict(rule, temperatures, seeds, codes, np.arange(len(PROPORTIONS)))[others] != labels[others]
            yield Measurement(share, rule, ERROR, float(wrong.mean()))
        yield Measurement(share, "", UNREACHED, float(np.isnan(temperatures[others, 0]).mean()))
        counts = np.bincount(codes)
        failing = ~BlockModel(model.sizes, tuple(counts.tolist()), model.p, model.q).vanilla_correct()  # section 4.3
        predicted = (np.array(model.sizes) - counts)[failing].sum() / len(others)
        yield Measurement(share, "vanilla", PREDICTED, float(predicted))


def _sbm_settings(protocol: str, data: Data) -> list[Setting]:
    return [Setting(protocol, str(n)) for n in NODES]


SBM = Experiment("sbm", "Beyond the paper: stochastic block models", _sbm_settings, _run_sbm, tuple(DEGREES))
