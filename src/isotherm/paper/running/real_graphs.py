"""The real graphs of tables 2 to 4 and figure 4: which are available, and how directed ones are labelled."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from isotherm.arrays import Ints
from isotherm.graphs import Graph
from isotherm.paper.running.experiment import AUTHORS, CORRECTED, Data, Draw, Setting
from isotherm.paper.running.points import Point
from isotherm.study import datasets
from isotherm.study.datasets.catalogue import CATALOGUE

__all__ = [
    "BOTH_SIDES",
    "HUGE",
    "SINGLE_LABEL",
    "column",
    "copies",
    "forget",
    "graph_settings",
    "load_graph",
    "long_column",
    "stands_in",
]

SINGLE_LABEL = ("cora", "citeseer", "wikischools", "wikivitals", "wikilinks")
BOTH_SIDES = ", both copies"  # suffix of a case in which both copies of a seed of a directed graph are held
HUGE = {"wikilinks"}  # only used if it was fetched before


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


def graph_settings(names: Sequence[str]) -> Callable[[str, Data], list[Setting]]:
    """Settings for the graphs that are available; the corrected protocol runs directed graphs in two ways."""

    def settings(protocol: str, data: Data) -> list[Setting]:
        cases = [case for name in names if (case := _available(name, data)) is not None]
        if protocol == CORRECTED:
            cases = [side for case in cases for side in _sides(case, data)]
        return [Setting(protocol, case) for case in cases]

    return settings


def copies(setting: Setting, data: Data) -> tuple[Graph, Ints, str]:
    """The graph of a setting, its labels, and the side on which its seeds are held.

    The authors label both copies of each node of a directed graph, and draw seeds among all 2n copies.
    """
    dataset = load_graph(setting.case.removesuffix(BOTH_SIDES), data)
    twice = setting.protocol == AUTHORS and dataset.graph.directed
    labels = np.concatenate([dataset.labels] * 2) if twice else dataset.labels
    return dataset.graph, labels, "both" if setting.case.endswith(BOTH_SIDES) else "source"


def one_point(
    seeds: Callable[[Graph, Ints, Setting, np.random.Generator], Ints],
) -> Callable[[Setting, Draw, Data], Iterator[Point]]:
    """The points of a table: one draw of seeds on the graph of the setting."""

    def points(setting: Setting, draw: Draw, data: Data) -> Iterator[Point]:
        graph, labels, side = copies(setting, data)
        yield Point(0, graph, labels, seeds(graph, labels, setting, draw.own()), side)

    return points


def column(case: str) -> str:
    """The paper's name for the graph of a case, with a star if this is a stand-in."""
    name = case.removesuffix(BOTH_SIDES)
    asked = stands_in(case)
    return CATALOGUE[asked].short + "*" if asked else CATALOGUE[name].short


def long_column(case: str) -> str:
    """The paper's name, followed by that of the stand-in if there is one."""
    return f"{column(case)} ({case})" if stands_in(case) else column(case)


def stands_in(case: str) -> str | None:
    """The graph of the paper that this one replaces, if it is a stand-in."""
    name = case.removesuffix(BOTH_SIDES)
    return next((asked for asked, entry in CATALOGUE.items() if name in entry.stand_ins), None)


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


def _sides(case: str, data: Data) -> list[str]:
    return [case, case + BOTH_SIDES] if load_graph(case, data).graph.directed else [case]
