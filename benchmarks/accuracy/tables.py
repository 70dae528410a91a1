"""Tables in Markdown: for the terminal, and for docs/accuracy.md."""

from collections.abc import Iterable

import numpy as np

from benchmarks.accuracy.runs import Results
from benchmarks.accuracy.statistics import Panel

__all__ = ["OURS", "difference_table", "markdown", "method_table"]

OURS = "Isotherm"


def markdown(rows: list[list[str]]) -> str:
    """Rows of cells as a table; the first is its head."""
    head, *rest = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rest])


def method_table(results: Results, graphs: list[str], protocols: Iterable[str], methods: list[str]) -> str:
    """Accuracy and macro-F1 of each method, its mean ranks in brackets, and CPU seconds for a draw.

    The best figure of a column is bold, among methods that have all graphs. The mean of one that lacks some is over
    other graphs than the rest, which the table says.
    """
    panels = [Panel(results, graphs, protocol) for protocol in protocols]
    cells: dict[str, list[str]] = {method: [] for method in methods}
    for panel in panels:
        ranks = [panel.ranks(methods, figure) for figure in ("accuracy", "macro_f1")]
        means = {method: [panel.mean(method, figure).mean for figure in ("accuracy", "macro_f1")] for method in methods}
        lacking = {method: len(graphs) - panel.mean(method, "accuracy").graphs for method in methods}
        whole = [means[method] for method in methods if not lacking[method]]
        best = np.max(whole, axis=0) if whole else np.array([np.nan, np.nan])
        for method in methods:
            note = f", {lacking[method]} lacking" if lacking[method] else ""
            pairs = zip(means[method], np.full(2, np.nan) if note else best, strict=True)
            figures = "/".join(_figure(*pair) for pair in pairs)
            cells[method].append(f"{figures} ({ranks[0][method]:.1f}/{ranks[1][method]:.1f}{note})")
    seconds = {method: _seconds(panels, method) for method in methods}
    head = ["accuracy/macro-F1 (mean ranks)", *(panel.protocol for panel in panels), "CPU s"]
    return markdown([head, *([method, *cells[method], seconds[method]] for method in methods)])


def difference_table(results: Results, graphs: list[str], protocols: Iterable[str], peers: list[str], ours: str) -> str:
    """Ours minus each peer, in points, with the standard error over graphs; bold where it exceeds two of these."""
    rows = [[f"{ours} minus"]]
    panels = [Panel(results, graphs, protocol) for protocol in protocols]
    figures = {"accuracy": "accuracy", "macro_f1": "macro-F1"}
    rows[0] += [f"{panel.protocol}, {name}" for panel in panels for name in figures.values()]
    for peer in peers:
        found = [panel.difference(ours, peer, figure) for panel in panels for figure in figures]
        rows.append([peer, *(_points(*value[:2]) for value in found)])
    return markdown(rows)


def _points(mean: float, error: float) -> str:
    if np.isnan(mean):
        return ""
    text = f"{100 * mean:+.1f} ± {100 * error:.1f}"
    return f"**{text}**" if abs(mean) > 2 * error else text


def _figure(value: float, best: float) -> str:
    text = f"{value:.3f}".removeprefix("0")
    return f"**{text}**" if value == best else text


def _seconds(panels: list[Panel], method: str) -> str:
    values = np.concatenate([panel.by_graph(method, "seconds") for panel in panels])
    return f"{np.nanmean(values):.2f}" if not np.isnan(values).all() else ""
