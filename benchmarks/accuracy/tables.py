"""Tables in Markdown: for the terminal, and for docs/accuracy.md."""

from collections.abc import Iterable

import numpy as np

from benchmarks.accuracy.runs import Results
from benchmarks.accuracy.statistics import Estimate, Panel, mean_difference
from isotherm.labelling.rules import DECISIONS

__all__ = ["FEATURES", "FIGURES", "OURS", "difference_table", "markdown", "method_table", "wins", "wins_table"]

OURS = "Isotherm"
FEATURES = "Isotherm, features"
FIGURES = {"accuracy": "accuracy", "macro_f1": "macro-F1"}


def markdown(rows: list[list[str]]) -> str:
    """Rows of cells as a table; the first is its head."""
    head, *rest = [[_by_decision(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rest])


def _by_decision(cell: str) -> str:
    """A method, named as `NodeClassifier` names it: what decides by probabilities was a rule when it was stored.

    >>> _by_decision("Isotherm, rule probable"), _by_decision("Isotherm, rule vanilla")
    ('Isotherm, decision probable', 'Isotherm, rule vanilla')
    """
    kind, _, name = cell.rpartition(" ")
    return f"{OURS}, decision {name}" if kind == f"{OURS}, rule" and name in DECISIONS else cell


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
    """Ours minus each peer, in points, with the standard error over graphs; bold where it exceeds two of these.

    The last columns have the mean of all protocols, on the graphs on which a peer has all of them.
    """
    panels = [Panel(results, graphs, protocol) for protocol in protocols]
    head = [f"{ours} minus", *(f"{panel.protocol}, {name}" for panel in panels for name in FIGURES.values())]
    rows = [[*head, *(f"mean, {name}" for name in FIGURES.values())]]
    for peer in peers:
        found = [panel.difference(ours, peer, figure) for panel in panels for figure in FIGURES]
        found += [mean_difference(panels, ours, peer, figure) for figure in FIGURES]
        rows.append([peer, *(_points(each, len(graphs)) for each in found)])
    return markdown(rows)


def wins_table(results: Results, graphs: list[str], protocols: Iterable[str], methods: list[str]) -> str:
    """On how many graphs each method has the best accuracy and the best macro-F1, on the draws that all have.

    Methods that tie all count.
    """
    panels = [Panel(results, graphs, protocol) for protocol in protocols]
    rows = [["best accuracy/macro-F1 on so many graphs", *(f"{panel.protocol}" for panel in panels), "all"]]
    counts = np.array([[wins(panel, methods, figure) for figure in FIGURES] for panel in panels])  # (p, 2, methods)
    for place, method in enumerate(methods):
        cells = [*counts[:, :, place].tolist(), counts[:, :, place].sum(axis=0).tolist()]
        rows.append([method, *(f"{accuracy}/{macro}" for accuracy, macro in cells)])
    return markdown([rows[0], *sorted(rows[1:], key=lambda row: -sum(map(int, row[-1].split("/"))))])


def wins(panel: Panel, methods: list[str], figure: str) -> list[int]:
    """On how many graphs each method is the best."""
    values = panel.on_common_draws(methods, figure)
    values = np.where(np.isnan(values), -np.inf, values)
    best = (values == values.max(axis=0)) & np.isfinite(values)
    return np.count_nonzero(best, axis=1).tolist()


def _points(found: Estimate, graphs: int) -> str:
    if not found.graphs:
        return ""
    text = f"{100 * found.mean:+.1f}" + ("" if np.isnan(found.error) else f" ± {100 * found.error:.1f}")
    note = f" ({found.graphs} graphs)" if found.graphs < graphs else ""
    return (f"**{text}**" if abs(found.mean) > 2 * found.error else text) + note


def _figure(value: float, best: float) -> str:
    text = f"{value:.3f}".removeprefix("0")
    return f"**{text}**" if value == best else text


def _seconds(panels: list[Panel], method: str) -> str:
    values = np.concatenate([panel.by_graph(method, "seconds") for panel in panels])
    return f"{np.nanmean(values):.2f}" if not np.isnan(values).all() else ""
