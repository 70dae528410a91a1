"""Beyond the paper: every rule on all single-label graphs of the data folder, after ten sweeps and at equilibrium.

The graphs have fewer than 50,000 nodes. Seeds are 1 % of the labelled nodes, drawn uniformly, and then more are added
for classes with fewer than two. On directed graphs both copies of a seed are held.
"""

from collections.abc import Iterator

import numpy as np

from isotherm.arrays import Ints
from isotherm.paper.running.experiment import Data, Draw, Experiment, Measurement, Setting
from isotherm.paper.running.real_graphs import load_graph
from isotherm.paper.running.scoring import EQUILIBRIUM, SWEEPS, score_corrected
from isotherm.seeds import sample_uniform
from isotherm.study import datasets

__all__ = ["EXPERIMENT", "OPTIONS", "two_per_class"]

SHARE = 0.01
MOST_NODES = 50_000
LEAST = 2  # seeds of each class
OPTIONS = {"ten sweeps": SWEEPS, "equilibrium": EQUILIBRIUM}


def settings(protocol: str, data: Data) -> list[Setting]:
    """One for each graph of the folder with one label per node and at least two classes."""
    names = [name for name, place in datasets.available(data).items() if place not in ("built in", "download")]
    return [Setting(protocol, name) for name in sorted(names) if _fits(load_graph(name, data))]


def run(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
    """One draw of seeds, the same after ten sweeps and at equilibrium."""
    dataset = load_graph(setting.case, data)
    seeds = two_per_class(dataset.labels, draw.own())
    options = OPTIONS[setting.protocol]
    return score_corrected(dataset.graph, dataset.labels, seeds, side="both", options=options)


def two_per_class(labels: Ints, rng: np.random.Generator) -> Ints:
    """A uniform sample of 1 %, and more seeds for each class that has fewer than two in it."""
    seeds = sample_uniform(labels, SHARE, rng)
    counts = np.bincount(labels[seeds], minlength=labels.max() + 1)
    left = np.setdiff1d(np.flatnonzero(labels >= 0), seeds)
    more = [rng.permutation(left[labels[left] == k])[: LEAST - counts[k]] for k in np.flatnonzero(counts < LEAST)]
    return np.sort(np.concatenate([seeds, *more]))


def _fits(dataset: datasets.Dataset) -> bool:
    return dataset.communities is None and dataset.graph.n_nodes < MOST_NODES and dataset.n_classes > 1


EXPERIMENT = Experiment("panel", "Beyond the paper: a panel of graphs", settings, run, protocols=tuple(OPTIONS))
