"""Isotherm as it is now, compared with the rows that are stored: a quick look while something is changed."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.graphs import MASKS, PUBLIC
from benchmarks.accuracy.methods import SHOWN
from benchmarks.accuracy.reach import BEFORE, TABLE
from benchmarks.accuracy.runs import Results
from benchmarks.accuracy.statistics import Estimate, Panel, estimate
from benchmarks.accuracy.tables import FEATURES, OURS, markdown

__all__ = ["NOW", "trial_tables"]

NOW = {False: (OURS, FEATURES), True: (TABLE,)}  # on graphs, on tables
Doubles: TypeAlias = NDArray[np.float64]
FIGURES = {"accuracy": "accuracy", "macro_f1": "macro-F1", "calibration_error": "calibration error", "auc": "AUC"}
LISTED = 5  # graphs with the largest changes


def trial_tables(now: Results, stored: Results) -> Iterator[tuple[str, str]]:
    """Tables with their titles: each figure of Isotherm now, and what it is ahead of stored rows of the same draws."""
    same = {row.key[:3] for row in now.values()}
    stored = {key: row for key, row in stored.items() if key[:3] in same}
    for ours in dict.fromkeys(row.method for row in now.values()):
        graphs = sorted({row.graph for row in now.values() if row.method == ours})
        protocols = list(dict.fromkeys(row.protocol for row in now.values() if row.method == ours))
        for figure, word in FIGURES.items():
            table = _table(now, stored, graphs, protocols, ours, figure)
            if table is not None:
                yield f"{ours}, {word} in percent, {len(graphs)} graphs", table
        changes = _changes(now, stored, graphs, protocols, ours)
        if changes:
            yield f"{ours}, largest changes of accuracy since the stored rows, in points", changes


def _table(
    now: Results, stored: Results, graphs: list[str], protocols: list[str], ours: str, figure: str
) -> str | None:
    """A row for Isotherm now, and one for each stored method with the paired difference."""
    values = _by_graph(now, graphs, protocols, ours, figure)
    if np.isnan(values).all():
        return None
    # The last column: the mean over protocols with random draws that all graphs have.
    whole = ~np.isnan(values).any(axis=1) & ~np.isin(protocols, [PUBLIC, MASKS])
    rows = [["", *protocols, "mean"], [f"{ours}, now", *map(_text, _estimates(values, whole))]]
    peers = [name for name, each in SHOWN.items() if not each.ours and each.features == SHOWN[ours].features]
    for name in filter(None, [ours, BEFORE.get(ours), *peers]):
        theirs = _by_graph(stored, graphs, protocols, name, figure)
        if not np.isnan(theirs).all():
            found = _estimates(values - theirs, whole)
            rows.append([f"minus {name}{', stored' if name == ours else ''}", *(_text(each, "+") for each in found)])
    return markdown(rows)


def _by_graph(results: Results, graphs: list[str], protocols: list[str], method: str, figure: str) -> Doubles:
    """(protocols, graphs) figures in percent."""
    return 100 * np.array([Panel(results, graphs, protocol).by_graph(method, figure) for protocol in protocols])


def _estimates(values: Doubles, whole: NDArray[np.bool_]) -> list[Estimate]:
    """The mean over graphs for each protocol, and for the mean over the chosen protocols."""
    return [*map(estimate, values), estimate(values[whole].mean(axis=0) if whole.any() else np.full(1, np.nan))]


def _text(found: Estimate, sign: str = "") -> str:
    if not found.graphs:
        return ""
    return f"{found.mean:{sign}z.1f}" + ("" if np.isnan(found.error) else f" ± {found.error:.1f}")


def _changes(now: Results, stored: Results, graphs: list[str], protocols: list[str], ours: str) -> str:
    """The graphs and protocols on which the accuracy fell or rose most."""
    gaps = _by_graph(now, graphs, protocols, ours, "accuracy") - _by_graph(stored, graphs, protocols, ours, "accuracy")
    found = [
        (gap, f"{graph} at {protocol} {gap:+.1f}")
        for protocol, row in zip(protocols, gaps.tolist(), strict=True)
        for graph, gap in zip(graphs, row, strict=True)
        if abs(gap) >= 0.05
    ]
    found.sort()
    fell, rose = found[:LISTED], found[: -LISTED - 1 : -1]
    return f"fell: {', '.join(text for _, text in fell)}\nrose: {', '.join(text for _, text in rose)}" if found else ""
