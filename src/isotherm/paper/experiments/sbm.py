"""Beyond the paper: which rules are consistent on stochastic block models? The paper leaves this open.

There are three blocks in proportion 3 : 2 : 1, edges are ten times as likely inside a block as between blocks, and
seeds are drawn in proportion to the blocks. The number n of nodes grows; the average degree is fixed or grows like
log n.
"""

from collections.abc import Iterator

import numpy as np

from isotherm.labelling.rules import RULES
from isotherm.paper.block_model import BlockModel, stochastic_block_model
from isotherm.paper.experiments.figures_2_and_3 import Model
from isotherm.paper.running.experiment import Data, Draw, Experiment, Measurement, Setting
from isotherm.paper.running.scoring import EQUILIBRIUM, UNREACHED, predict, solved
from isotherm.seeds import sample_balanced

__all__ = ["DEGREES", "ERROR", "EXPERIMENT", "NODES", "PREDICTED", "SHARES"]

PROPORTIONS = np.array([3, 2, 1]) / 6
CONTRAST = 10  # p / q
NODES = (1000, 3162, 10_000, 31_623, 100_000)
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)
DEGREES = {"fixed degree": lambda n: 10.0, "logarithmic degree": lambda n: 10 * float(np.log(n))}
ERROR, PREDICTED = "share of wrong labels", "share that the block model predicts to be wrong"


def settings(protocol: str, data: Data) -> list[Setting]:
    """One for each number of nodes."""
    return [Setting(protocol, str(n)) for n in NODES]


def model(degree: float, n: int) -> Model:
    """The block model with this average degree."""
    sizes = np.floor(PROPORTIONS * n).astype(int)
    sizes[0] += n - sizes.sum()
    inside = float((PROPORTIONS**2).sum())
    q = degree / n / (CONTRAST * inside + 1 - inside)
    return Model(tuple(sizes.tolist()), CONTRAST * q, q)


def run(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
    """One graph, and one draw of seeds for each share; an unreached node counts as wrong."""
    rng = draw.own()
    n = int(setting.case)
    blocks = model(DEGREES[setting.protocol](n), n)
    graph, labels = stochastic_block_model(*blocks, rng), blocks.labels
    for share in SHARES:
        seeds = sample_balanced(labels, share, rng)
        codes = labels[seeds]
        temperatures = solved(graph, seeds, np.eye(len(PROPORTIONS))[codes], EQUILIBRIUM)
        others = np.delete(np.arange(n), seeds)
        for rule in RULES:
            wrong = predict(rule, temperatures, seeds, codes, np.arange(len(PROPORTIONS)))[others] != labels[others]
            yield Measurement(share, rule, ERROR, float(wrong.mean()))
        yield Measurement(share, "", UNREACHED, float(np.isnan(temperatures[others, 0]).mean()))
        yield Measurement(share, "vanilla", PREDICTED, _predicted(blocks, np.bincount(codes)))


def _predicted(blocks: Model, counts: np.ndarray) -> float:
    """The share of wrong labels of vanilla according to the condition of section 4.3, given the seeds per block."""
    sizes = np.array(blocks.sizes)
    wrong = ~BlockModel(blocks.sizes, tuple(counts.tolist()), blocks.p, blocks.q).vanilla_correct()
    return float((sizes - counts)[wrong].sum() / (sizes - counts).sum())


EXPERIMENT = Experiment("sbm", "Beyond the paper: stochastic block models", settings, run, protocols=tuple(DEGREES))
