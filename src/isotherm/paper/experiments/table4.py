"""Table 4: F1 of the three largest communities of DBLP and Amazon, each against the rest, with balanced seeds.

With two classes, centered and relative are the same rule: T - m > (1 - T) - (1 - m) and T / m > (1 - T) / (1 - m) are
both equivalent to T > m.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from isotherm.arrays import Doubles, Ints
from isotherm.equilibrium.options import SolveOptions
from isotherm.graphs import Csr, Graph
from isotherm.labelling.rules import RULES
from isotherm.paper.running.experiment import AUTHORS, Data, Draw, Experiment, Measurement, Setting
from isotherm.paper.running.points import balanced
from isotherm.paper.running.real_graphs import graph_settings, load_graph
from isotherm.paper.running.scoring import ALL, EQUILIBRIUM, OTHERS, SWEEPS, class_f1, predict, solved
from isotherm.seeds import sample_balanced

__all__ = ["CALLED", "EXPERIMENT", "LEAVING", "WARMTH", "largest"]

SHARE = 0.01
COMMUNITIES = 3
CALLED = "nodes called members, for each true one"
LEAVING = "share of the members' edges that leave the community"
WARMTH = "mean temperature of all nodes over that of the seeds"


def run(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
    """Facts about each community at x = 1, 2 and 3, then the mean scores over the three, with new seeds for each."""
    dataset = load_graph(setting.case, data)
    authors = setting.protocol == AUTHORS
    rng = draw.own()
    scores: dict[tuple[str, str], list[float]] = {}
    for number, members in enumerate(largest(dataset.communities or (), COMMUNITIES), start=1):
        truth = np.zeros(dataset.graph.n_nodes, dtype=np.int64)
        truth[members] = 1
        seeds = balanced(truth, SHARE, rng) if authors else sample_balanced(truth, SHARE, rng)
        temperatures = _solved(dataset.graph, truth, seeds, SWEEPS if authors else EQUILIBRIUM)
        for rule, measure, value in _scores(temperatures, truth, seeds):
            scores.setdefault((rule, measure), []).append(value)
        warmth = np.nanmean(temperatures[:, 1]) / truth[seeds].mean()
        yield Measurement(number, "", WARMTH, float(warmth))
        yield Measurement(number, "", LEAVING, _leaving(dataset.graph.heat, truth))
        yield Measurement(number, "centered", CALLED, scores["centered", CALLED][-1])
    for (rule, measure), values in scores.items():
        yield Measurement(0, rule, measure, float(np.mean(values)))


def largest(communities: tuple[Ints, ...], count: int) -> list[Ints]:
    """The largest communities; among equal sizes the first ones. Two of them may have the same members."""
    return sorted(communities, key=len, reverse=True)[:count]


def _solved(graph: Graph, truth: Ints, seeds: Ints, options: SolveOptions) -> Doubles:
    """Temperatures of both classes, the community being the second, shape (n, 2)."""
    temperature = solved(graph, seeds, truth[seeds][:, None].astype(np.float64), options)[:, 0]
    return np.stack([1 - temperature, temperature], axis=1)


def _scores(temperatures: Doubles, truth: Ints, seeds: Ints) -> Iterator[tuple[str, str, float]]:
    others: NDArray[np.bool_] = np.ones(len(truth), dtype=bool)
    others[seeds] = False
    member = truth == 1
    for rule in RULES:
        found = predict(rule, temperatures, seeds, truth[seeds], np.arange(2)) == 1
        yield rule, ALL, class_f1(member, found)
        yield rule, OTHERS, class_f1(member[others], found[others])
        yield rule, CALLED, float(found.sum() / member.sum())


def _leaving(heat: Csr, truth: Ints) -> float:
    """Share of the members' edge ends whose other end is outside the community."""
    member = truth == 1
    ends = np.repeat(member, np.diff(heat.indptr))
    return float(1 - member[heat.indices[ends]].mean())


EXPERIMENT = Experiment(
    "table4", "Table 4: F1, balanced seeds, overlapping communities", graph_settings(("dblp", "amazon")), run
)
