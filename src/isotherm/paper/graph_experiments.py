"""Experiments on real graphs: tables 1 to 4 and figure 4, and two studies beyond the paper.

The first half of this file says which graphs are available and how directed ones are labelled. Each experiment then
follows: its seeds, and what is measured.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from isotherm.arrays import Doubles, Ints, Mask
from isotherm.graphs import Graph
from isotherm.labelling.rules import RULES
from isotherm.paper import scoring
from isotherm.paper.block_experiments import RATIOS
from isotherm.paper.experiment import AUTHORS, CORRECTED, Data, Draw, Experiment, Measurement, Setting
from isotherm.paper.scoring import ALL, EQUILIBRIUM, LOST, OTHERS, SHIFTED, SWEEPS, UNREACHED, Point, scored
from isotherm.seeds.hiding import sample_balanced, sample_degree, sample_dominant, sample_uniform
from isotherm.study import datasets
from isotherm.study.datasets.catalogue import CATALOGUE

SINGLE_LABEL = ("cora", "citeseer", "wikischools", "wikivitals", "wikilinks")
OVERLAPPING = ("dblp", "amazon")
BOTH_SIDES = ", both copies"  # suffix of a case in which both copies of a seed of a directed graph are held
HUGE = {"wikilinks"}  # only used if it was fetched before
SHARE = 0.01  # share of seeds


@lru_cache(maxsize=2)
def load_graph(name: str, data: Data) -> datasets.Dataset:
    """A dataset, kept in memory for the next run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", datasets.StandInWarning)  # the report says so
        return datasets.load(name, data=data)


def forget() -> None:
    """Empty the caches, so that the next call looks at the disk and at ``ISOTHERM_DATA`` again."""
    load_graph.cache_clear()
    _available.cache_clear()


@lru_cache
def _available(name: str, data: Data) -> str | None:
    """The graph to use under this name, possibly a stand-in; None if it is neither here nor can be downloaded."""
    found = datasets.at_hand(name, data=data)
    if found is None and name not in HUGE:
        try:
            datasets.fetch(name, data=data)
        except (datasets.DownloadError, ImportError):
            return None
        return name
    return found


def _graph_settings(names: Sequence[str]) -> Callable[[str, Data], list[Setting]]:
    """Settings for the graphs that are available; the corrected protocol runs directed graphs in two ways."""

    def settings(protocol: str, data: Data) -> list[Setting]:
        found = []
        for case in filter(None, (_available(name, data) for name in names)):
            found.append(Setting(protocol, case))
            if protocol == CORRECTED and load_graph(case, data).graph.directed:
                found.append(Setting(protocol, case + BOTH_SIDES))
        return found

    return settings


def copies(setting: Setting, data: Data) -> tuple[Graph, Ints, str]:
    """The graph of a setting, its labels, and the side on which its seeds are held.

    The authors label both copies of each node of a directed graph, and draw seeds among all 2n copies.
    """
    dataset = load_graph(setting.case.removesuffix(BOTH_SIDES), data)
    twice = setting.protocol == AUTHORS and dataset.graph.directed
    labels = np.concatenate([dataset.labels] * 2) if twice else dataset.labels
    return dataset.graph, labels, "both" if setting.case.endswith(BOTH_SIDES) else "source"


def stands_in(case: str) -> str | None:
    """The graph of the paper that this one replaces, if it is a stand-in."""
    name = case.removesuffix(BOTH_SIDES)
    return next((asked for asked, entry in CATALOGUE.items() if name in entry.stand_ins), None)


def column(case: str) -> str:
    """The paper's name for the graph of a case, with a star if this is a stand-in."""
    asked = stands_in(case)
    return CATALOGUE[asked].short + "*" if asked else CATALOGUE[case.removesuffix(BOTH_SIDES)].short


def long_column(case: str) -> str:
    """The paper's name, followed by the name of the stand-in if there is one."""
    return f"{column(case)} ({case})" if stands_in(case) else column(case)


# Table 1: the size of each dataset, as loaded.

LOADED = "as loaded"
COUNTS = ("nodes", "edges", "classes", "percent labelled")


def _run_table1(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
    """Counts of one graph; as in the paper, an edge of an undirected graph counts twice."""
    dataset = load_graph(setting.case, data)
    sizes = (dataset.graph.n_nodes, dataset.graph.csr.entries, dataset.n_classes)
    for measure, value in zip(COUNTS, (*sizes, 100 * float(np.mean(dataset.labelled))), strict=True):
        yield Measurement(0, "", measure, value)


# Tables 2 and 3: macro-F1 with 1 % of the nodes as seeds, drawn uniformly or in proportion to their degrees.


def uniform(graph: Graph, labels: Ints, setting: Setting, rng: np.random.Generator) -> Ints:
    """Table 2: uniform seeds. The authors round their number down."""
    size = int(SHARE * len(labels)) if setting.protocol == AUTHORS else SHARE
    return sample_uniform(labels, size, rng)


def by_degree(graph: Graph, labels: Ints, setting: Setting, rng: np.random.Generator) -> Ints:
    """Table 3: seeds in proportion to degrees. The authors take the two copies of a node as nodes of their own."""
    if setting.protocol == AUTHORS:
        return sample_degree(labels, int(SHARE * len(labels)), rng, degrees=np.diff(graph.heat.indptr).astype(float))
    return sample_degree(labels, SHARE, rng, degrees=graph.degrees)


def one_point(
    seeds: Callable[[Graph, Ints, Setting, np.random.Generator], Ints],
) -> Callable[[Setting, Draw, Data], Iterator[Point]]:
    """The only point of a run of a table: one draw of seeds on the graph of the setting."""

    def points(setting: Setting, draw: Draw, data: Data) -> Iterator[Point]:
        graph, labels, side = copies(setting, data)
        yield Point(0, graph, labels, seeds(graph, labels, setting, draw.own()), side)

    return points


# Figure 4: 1 % uniform seeds, plus more and more seeds of the largest class.


def figure4_points(setting: Setting, draw: Draw, data: Data) -> Iterator[Point]:
    """Ten sets of seeds on one graph; at ratio x the authors add x - 1 percent of the largest class to a sample."""
    graph, labels, side = copies(setting, data)
    if setting.protocol != AUTHORS:
        for ratio in RATIOS:
            yield Point(ratio, graph, labels, sample_dominant(labels, SHARE, draw.own(), ratio=ratio), side)
        return
    rng = draw.own()
    reference = uniform(graph, labels, setting, rng)
    sizes = np.bincount(labels[labels >= 0])
    for ratio in RATIOS:
        added = scoring.of_class(labels, int(sizes.argmax()), int(sizes.max() * SHARE * (ratio - 1)), rng)
        yield Point(ratio, graph, labels, np.union1d(reference, added))


# Table 4: F1 of the three largest communities of DBLP and Amazon, each against the rest, with balanced seeds. With two
# classes, centered and relative are the same rule: T - m > (1 - T) - (1 - m) and T / m > (1 - T) / (1 - m) are both
# equivalent to T > m.

COMMUNITIES = 3
CALLED = "nodes called members, for each true one"
LEAVING = "share of the members' edges that leave the community"
WARMTH = "mean temperature of all nodes over that of the seeds"


def run_table4(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
    """Facts about each community at x = 1, 2 and 3, then the mean scores over the three, with new seeds for each."""
    dataset = load_graph(setting.case, data)
    authors = setting.protocol == AUTHORS
    rng = draw.own()
    scores: dict[tuple[str, str], list[float]] = {}
    for number, members in enumerate(largest(dataset.communities or (), COMMUNITIES), start=1):
        member = np.isin(np.arange(dataset.graph.n_nodes), members)
        truth = member.astype(np.int64)
        seeds = scoring.balanced(truth, SHARE, rng) if authors else sample_balanced(truth, SHARE, rng)
        options = SWEEPS if authors else EQUILIBRIUM
        hot = scoring.solved(dataset.graph, seeds, truth[seeds][:, None].astype(np.float64), options)[:, 0]
        for rule, measure, value in _member_scores(np.stack([1 - hot, hot], axis=1), member, seeds):
            scores.setdefault((rule, measure), []).append(value)
        yield Measurement(number, "", WARMTH, float(np.nanmean(hot) / truth[seeds].mean()))
        ends = np.repeat(member, np.diff(dataset.graph.heat.indptr))  # entries in the rows of members
        leaving = 1 - member[dataset.graph.heat.indices[ends]].mean()
        yield Measurement(number, "", LEAVING, float(leaving))
        yield Measurement(number, "centered", CALLED, scores["centered", CALLED][-1])
    for (rule, measure), values in scores.items():
        yield Measurement(0, rule, measure, float(np.mean(values)))


def largest(communities: tuple[Ints, ...], count: int) -> list[Ints]:
    """The largest communities; among equal sizes the first ones. Two of them may have the same members."""
    return sorted(communities, key=len, reverse=True)[:count]


def _member_scores(temperatures: Doubles, member: Mask, seeds: Ints) -> Iterator[tuple[str, str, float]]:
    others = np.ones(len(member), dtype=bool)
    others[seeds] = False
    for rule in RULES:
        found = scoring.predict(rule, temperatures, seeds, member[seeds].astype(np.int64), np.arange(2)) == 1
        yield rule, ALL, scoring.class_f1(member, found)
        yield rule, OTHERS, scoring.class_f1(member[others], found[others])
        yield rule, CALLED, float(found.sum() / member.sum())


# Beyond the paper: every rule on all single-label graphs of the folder with fewer than 50,000 nodes, after ten sweeps
# and at equilibrium. On directed graphs both copies of a seed are held.

MOST_NODES = 50_000
LEAST_SEEDS = 2  # fewest seeds of a class
PANEL_OPTIONS = {"ten sweeps": SWEEPS, "equilibrium": EQUILIBRIUM}


def _panel_settings(protocol: str, data: Data) -> list[Setting]:
    """One for each graph of the folder with one label per node and at least two classes."""

    def fits(dataset: datasets.Dataset) -> bool:
        return dataset.communities is None and dataset.graph.n_nodes < MOST_NODES and dataset.n_classes > 1

    names = [name for name, place in datasets.available(data).items() if place not in ("built in", "download")]
    return [Setting(protocol, name) for name in sorted(names) if fits(load_graph(name, data))]


def _run_panel(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
    """One draw of seeds, the same after ten sweeps and at equilibrium."""
    dataset = load_graph(setting.case, data)
    seeds = two_per_class(dataset.labels, draw.own())
    options = PANEL_OPTIONS[setting.protocol]
    return scoring.score_corrected(dataset.graph, dataset.labels, seeds, side="both", options=options)


def two_per_class(labels: Ints, rng: np.random.Generator) -> Ints:
    """A uniform sample of 1 %, and more seeds for each class that has fewer than two in it."""
    seeds = sample_uniform(labels, SHARE, rng)
    counts = np.bincount(labels[seeds], minlength=labels.max() + 1)
    left = np.setdiff1d(np.flatnonzero(labels >= 0), seeds)
    rare = np.flatnonzero(counts < LEAST_SEEDS)
    more = [rng.permutation(left[labels[left] == k])[: LEAST_SEEDS - counts[k]] for k in rare]
    return np.sort(np.concatenate([seeds, *more]))


_single, _overlapping = _graph_settings(SINGLE_LABEL), _graph_settings(OVERLAPPING)
TABLES = {
    "table2": Experiment("table2", "Table 2: macro-F1, uniform seeds", _single, scored(one_point(uniform))),
    "table3": Experiment("table3", "Table 3: macro-F1, seeds by degree", _single, scored(one_point(by_degree))),
    "table4": Experiment("table4", "Table 4: F1, balanced seeds, overlapping communities", _overlapping, run_table4),
}

# Beyond the paper: tables 2 to 4 with ten times as many draws, to tell sampling noise from a real difference. Only on
# the paper's own graphs. The corrected protocol leaves out table 4, where a draw takes long.


def _draws_settings(protocol: str, data: Data) -> list[Setting]:
    """One for each table and graph."""
    return [
        Setting(protocol, f"{name} {setting.case}")
        for name, table in TABLES.items()
        if (name, protocol) != ("table4", CORRECTED)
        for setting in table.settings(protocol, data)
        if not stands_in(setting.case) and not setting.case.endswith(BOTH_SIDES) and setting.case not in HUGE
    ]


def _run_draws(setting: Setting, draw: Draw, data: Data) -> Iterator[Measurement]:
    """One draw of the table; only the scores over all nodes are kept."""
    name, _, graph = setting.case.partition(" ")
    for measured in TABLES[name].run(Setting(setting.protocol, graph), draw, data):
        if measured.measure in (SHIFTED, ALL, LOST, UNREACHED) and measured.x == 0:
            yield measured


_every, _four = _graph_settings((*SINGLE_LABEL, *OVERLAPPING)), _graph_settings(SINGLE_LABEL[:4])
EXPERIMENTS = (
    Experiment("table1", "Table 1: datasets", _every, _run_table1, protocols=(LOADED,), repeated=False),
    *TABLES.values(),
    Experiment("figure4", "Figure 4: seed asymmetry on real graphs", _four, scored(figure4_points)),
    Experiment("draws", "Chance: the tables over ten times as many draws", _draws_settings, _run_draws, times=10),
    Experiment("panel", "Beyond the paper: a panel of graphs", _panel_settings, _run_panel, tuple(PANEL_OPTIONS)),
)
