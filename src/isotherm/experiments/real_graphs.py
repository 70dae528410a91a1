"""Tables 2 to 4 and figure 4: which graphs are at hand, and seeds on them."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from isotherm import datasets
from isotherm.datasets.catalogue import CATALOGUE
from isotherm.experiments.base import AUTHORS, CORRECTED, Data, Draw, Setting
from isotherm.experiments.points import Point
from isotherm.experiments.scoring import Ints
from isotherm.graph import Graph

__all__ = [
    "BOTH_SIDES",
    "HUGE",
    "SINGLE_LABEL",
    "Labelled",
    "column",
    "copies",
    "forget",
    "graph_settings",
    "load_graph",
    "stands_in",
]

SINGLE_LABEL = ("cora", "citeseer", "wikischools", "wikivitals", "wikilinks")
BOTH_SIDES = ", both copies"  # ends a case in which the seeds of a directed graph are held on both copies of a node
HUGE = {"wikilinks"}  # never downloaded without being asked for


class Labelled(NamedTuple):
    """A graph and the classes of its nodes."""

    graph: Graph
    labels: Ints


@lru_cache(maxsize=2)
def load_graph(name: str, data: Data) -> datasets.Dataset:
    """A dataset, kept while runs on it go on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", datasets.StandInWarning)  # the report says so
        return datasets.load(name, data=data)


def forget() -> None:
    """Look again for what could not be had, and where ``ISOTHERM_DATA`` points to now."""
    load_graph.cache_clear()
    _had.cache_clear()


def graph_settings(names: Sequence[str]) -> Callable[[str, Data], list[Setting]]:
    """Settings for those graphs that can be had; in the corrected protocol directed ones are run in two ways."""

    def settings(protocol: str, data: Data) -> list[Setting]:
        cases = [case for name in names if (case := _had(name, data)) is not None]
        if protocol == CORRECTED:
            cases = [side for case in cases for side in _sides(case, data)]
        return [Setting(protocol, case) for case in cases]

    return settings


def copies(setting: Setting, data: Data) -> tuple[Labelled, str]:
    """The graph of a setting, and the side on which its seeds are held.

    The authors label both copies of each node of a directed graph, and draw seeds among all of them.
    """
    dataset = load_graph(setting.case.removesuffix(BOTH_SIDES), data)
    twice = setting.protocol == AUTHORS and dataset.graph.directed
    labels = np.concatenate([dataset.labels] * 2) if twice else dataset.labels
    return Labelled(dataset.graph, labels), "both" if setting.case.endswith(BOTH_SIDES) else "source"


def one_point(
    seeds: Callable[[Labelled, Setting, np.random.Generator], Ints],
) -> Callable[[Setting, Draw, Data], Iterator[Point]]:
    """The points of a table: each run is one draw of seeds on the graph of the setting."""

    def points(setting: Setting, draw: Draw, data: Data) -> Iterator[Point]:
        labelled, side = copies(setting, data)
        yield Point(0, *labelled, seeds(labelled, setting, draw.own()), side)

    return points


def column(case: str) -> str:
    """What the paper's tables call the graph of a case, with a star if another one stands in for it."""
    name = case.removesuffix(BOTH_SIDES)
    asked = stands_in(case)
    return CATALOGUE[asked].short + "*" if asked else CATALOGUE[name].short


def stands_in(case: str) -> str | None:
    """The graph that the one of a case stands in for, if it does."""
    name = case.removesuffix(BOTH_SIDES)
    return next((asked for asked, entry in CATALOGUE.items() if name in entry.stand_ins), None)


@lru_cache
def _had(name: str, data: Data) -> str | None:
    """The name of the graph that will be used for this one, if it is at hand or can be downloaded."""
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
