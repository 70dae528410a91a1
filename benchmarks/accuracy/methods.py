"""The methods of the table: those that users can compare, and networks that are trained.

Networks are run on features scaled in several ways, and each of these variants is one of `METHODS`. Tables have one row
for a network, with its best variant on each graph under each protocol. That is chosen by the labels that are scored,
which favours the networks.
"""

from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import count, takewhile

import numpy as np
from scipy.sparse import issparse

from benchmarks.accuracy.graphs import MASKS
from benchmarks.accuracy.runs import Results, Row
from benchmarks.accuracy.vectors import TABLE_METHODS
from isotherm.study.methods import METHODS as STUDIED
from isotherm.study.methods import Method
from isotherm.study.scores import Answer
from isotherm.study.tasks import Draw, Task

__all__ = ["METHODS", "SHOWN", "VARIANTS", "applies", "best_variants", "prepare"]

MODULE = "benchmarks.accuracy.networks"  # imports PyTorch
RAW = "rows as they are"  # of dense features only
SCALES = ("rows of sum 1", "rows of length 1", RAW)


def _run(task: Task, draw: Draw, *, function: str, settings: dict[str, str]) -> Answer:
    found: Answer = getattr(import_module(MODULE), function)(task, draw, **settings)
    return found


def _method(name: str, function: str, **settings: str) -> Method:
    run = partial(_run, function=function, settings=settings)
    return Method(name, run, needs="torch_geometric", features=True)


def _variants(name: str) -> list[Method]:
    """A network on features scaled in each way; SGC with both of its weight decays as well."""
    if name != "SGC, trained":
        return [_method(f"{name}, {rows}", "network", kind=name, rows=rows) for rows in SCALES]
    decays = {"": "5e-3", ", weight decay 5e-6": "5e-6"}  # that of PyTorch Geometric, and that of its authors
    return [
        _method(f"{name}, {rows}{words}", "simple_convolution", rows=rows, decay=decay)
        for rows in SCALES
        for words, decay in decays.items()
    ]


_NETWORKS = {name: _variants(name) for name in ("GCN", "GAT", "APPNP", "SGC, trained")}
_SMOOTHED = _method("Correct and Smooth on X", "correct_and_smooth")
VARIANTS = {name: [method.name for method in variants] for name, variants in _NETWORKS.items()}
# What can be run, and what tables show: networks by their best variants.
METHODS: dict[str, Method] = {
    **STUDIED,
    **{method.name: method for variants in _NETWORKS.values() for method in variants},
    _SMOOTHED.name: _SMOOTHED,
}
SHOWN: dict[str, Method] = {
    **STUDIED,
    **{name: replace(METHODS[variants[0]], name=name) for name, variants in VARIANTS.items()},
    _SMOOTHED.name: _SMOOTHED,
    **TABLE_METHODS,
}


def applies(method: Method, task: Task) -> bool:
    """Whether a method can run on a task."""
    if not method.features:
        return True
    return task.features is not None and not (RAW in method.name and issparse(task.features))


def prepare(method: Method) -> None:
    """Import what a method needs, which is no part of its time."""
    import_module(MODULE if method.needs == "torch_geometric" else method.needs)


def best_variants(results: Results) -> Results:
    """The rows, with those of variants replaced by rows of the network, which has its best variant everywhere."""
    every = {variant for variants in VARIANTS.values() for variant in variants}
    shown = {key: row for key, row in results.items() if key[3] not in every}
    for graph, protocol in sorted({key[:2] for key in results if key[3] in every}):
        for name, variants in VARIANTS.items():
            rows = {variant: _rows(results, graph, protocol, variant) for variant in variants}
            tried = {variant: found for variant, found in rows.items() if found}
            common = min(map(len, tried.values()), default=0)  # draws that all of them have
            if common:
                best = max(tried, key=lambda variant: _merit(tried[variant][:common]))
                shown |= {(graph, protocol, row.draw, name): replace(row, method=name) for row in tried[best]}
    return shown


def _rows(results: Results, graph: str, protocol: str, variant: str) -> list[Row]:
    """The rows of a variant, by draw."""
    keys = takewhile(results.__contains__, ((graph, protocol, draw, variant) for draw in count()))
    return [results[key] for key in keys]


def _merit(rows: list[Row]) -> float:
    """Mean accuracy, or AUC where that is the usual figure; -1 for a variant that was stopped."""
    accuracy, area = (float(np.mean([getattr(row, figure) for row in rows])) for figure in ("accuracy", "auc"))
    figure = accuracy if rows[0].protocol != MASKS or np.isnan(area) else area
    return -1.0 if np.isnan(figure) else figure
