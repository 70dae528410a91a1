"""Table 4: F1 of the three largest communities of DBLP and Amazon, a binary problem each, with balanced seeds.

With two classes, centered and relative are one rule: T - m > (1 - T) - (1 - m) and T / m > (1 - T) / (1 - m) both
say T > m.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm.dirichlet import interior_system, solve
from isotherm.experiments.base import AUTHORS, Data, Draw, Experiment, Measurement, Setting
from isotherm.experiments.points import balanced
from isotherm.experiments.real_graphs import graph_settings, load_graph
from isotherm.experiments.scoring import ALL, EQUILIBRIUM, OTHERS, SWEEPS, Floats, Ints, class_f1, predict
from isotherm.graph import Csr
from isotherm.rules import RULES
from isotherm.seeds import sample_balanced

__all__ = ["CALLED", "EXPERIMENT", "LEAVING", "WARMTH", "largest"]

SHARE = 0.01
COMMUNITIES = 3
CALLED = "nodes called members, for each true one"
LEAVING = "share of the members' edges that leave the community"
WARMTH = "mean temperature of all nodes over that of the seeds"


def run(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
    """The mean over the communities, each of which is a draw of its own; then what is told of each, at 1, 2 and 3."""
    dataset = load_graph(setting.case, data)
    authors = setting.protocol == AUTHORS
    rng = draw.own()
    scores: dict[tuple[str, str], list[float]] = {}
    for number, members in enumerate(largest(dataset.communities or (), COMMUNITIES), start=1):
        truth = np.zeros(dataset.graph.n_nodes, dtype=np.int64)
        truth[members] = 1
        seeds = balanced(truth, SHARE, rng) if authors else sample_balanced(truth, SHARE, rng)
        temperatures = _solved(dataset.graph.heat, truth, seeds, SWEEPS if authors else EQUILIBRIUM)
        for rule, measure, value in _scores(temperatures, truth, seeds):
            scores.setdefault((rule, measure), []).append(value)
        warmth = np.nanmean(temperatures[:, 1]) / truth[seeds].mean()
        yield Measurement(number, "", WARMTH, float(warmth))
        yield Measurement(number, "", LEAVING, _leaving(dataset.graph.heat, truth))
        yield Measurement(number, "centered", CALLED, scores["centered", CALLED][-1])
    for (rule, measure), values in scores.items():
        yield Measurement(0, rule, measure, float(np.mean(values)))


def largest(communities: tuple[Ints, ...], count: int) -> list[Ints]:
    """The largest communities, the first where sizes tie; some may have the same members."""
    return sorted(communities, key=len, reverse=True)[:count]


def _solved(heat: Csr, truth: Ints, seeds: Ints, options: dict[str, Any]) -> Floats:
    """Temperatures of both classes, the community being the second, shape (n, 2)."""
    solution = solve(interior_system(heat, seeds), truth[seeds][:, None].astype(np.float64), **options)
    temperature = solution.temperatures[:, 0].astype(np.float64)
    return np.stack([1 - temperature, temperature], axis=1)


def _scores(temperatures: Floats, truth: Ints, seeds: Ints) -> Iterator[tuple[str, str, float]]:
    others: NDArray[np.bool_] = np.ones(len(truth), dtype=bool)
    others[seeds] = False
    member = truth == 1
    for rule in RULES:
        found = predict(rule, temperatures, seeds, truth[seeds], np.arange(2)) == 1
        yield rule, ALL, class_f1(member, found)
        yield rule, OTHERS, class_f1(member[others], found[others])
        yield rule, CALLED, float(found.sum() / member.sum())


def _leaving(heat: Csr, truth: Ints) -> float:
    """Of the ends of edges that are at members, the share whose other end is not."""
    member = truth == 1
    ends = np.repeat(member, np.diff(heat.indptr))
    return float(1 - member[heat.indices[ends]].mean())


EXPERIMENT = Experiment(
    "table4", "Table 4: F1, balanced seeds, overlapping communities", graph_settings(("dblp", "amazon")), run
)
