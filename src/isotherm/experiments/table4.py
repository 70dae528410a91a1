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

__all__ = ["CALLED", "EXPERIMENT", "largest"]

SHARE = 0.01
COMMUNITIES = 3
CALLED = "nodes called members, for each true one"


def run(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
    """The mean over the communities; each is a draw of its own."""
    dataset = load_graph(setting.case, data)
    authors = setting.protocol == AUTHORS
    rng = draw.own()
    scores: dict[tuple[str, str], list[float]] = {}
    for members in largest(dataset.communities or (), COMMUNITIES):
        truth = np.zeros(dataset.graph.n_nodes, dtype=np.int64)
        truth[members] = 1
        seeds = balanced(truth, SHARE, rng) if authors else sample_balanced(truth, SHARE, rng)
        for rule, measure, value in _scores(dataset.graph.heat, truth, seeds, SWEEPS if authors else EQUILIBRIUM):
            scores.setdefault((rule, measure), []).append(value)
    for (rule, measure), values in scores.items():
        yield Measurement(0, rule, measure, float(np.mean(values)))


def largest(communities: tuple[Ints, ...], count: int) -> list[Ints]:
    """The largest communities, the first where sizes tie; some may have the same members."""
    return sorted(communities, key=len, reverse=True)[:count]


def _scores(heat: Csr, truth: Ints, seeds: Ints, options: dict[str, Any]) -> Iterator[tuple[str, str, float]]:
    hot = truth[seeds]
    solution = solve(interior_system(heat, seeds), hot[:, None].astype(np.float64), **options)
    temperature = solution.temperatures[:, 0].astype(np.float64)
    temperatures: Floats = np.stack([1 - temperature, temperature], axis=1)
    others: NDArray[np.bool_] = np.ones(len(truth), dtype=bool)
    others[seeds] = False
    member = truth == 1
    for rule in RULES:
        found = predict(rule, temperatures, seeds, hot, np.arange(2)) == 1
        yield rule, ALL, class_f1(member, found)
        yield rule, OTHERS, class_f1(member[others], found[others])
        yield rule, CALLED, float(found.sum() / member.sum())


EXPERIMENT = Experiment(
    "table4", "Table 4: F1, balanced seeds, overlapping communities", graph_settings(("dblp", "amazon")), run
)
