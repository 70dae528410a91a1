"""The picture of docs/accuracy.md: the lead of Isotherm over each method."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.accuracy.runs import Results
from benchmarks.accuracy.statistics import Panel, estimate
from benchmarks.accuracy.tables import FIGURES

__all__ = ["Band", "draw_differences"]

SHAPES = {"accuracy": ("#0072B2", "o", -0.16), "macro_f1": ("#D55E00", "s", 0.16)}  # colour, marker, offset in a row


class Band(NamedTuple):
    """A row of panels: ours against its peers on some graphs, with a panel for each protocol."""

    title: str
    ours: str
    graphs: list[str]
    methods: list[str]
    protocols: list[str]

    def ordered(self, results: Results) -> list[str]:
        """The peers that have a figure, the best first."""
        panels = [Panel(results, self.graphs, protocol) for protocol in self.protocols]
        means = {
            peer: estimate(np.array([self.lead(panel, peer, figure)[0] for panel in panels for figure in SHAPES])).mean
            for peer in self.methods
            if peer != self.ours
        }
        return sorted((peer for peer in means if not np.isnan(means[peer])), key=lambda peer: means[peer])

    def lead(self, panel: Panel, peer: str, figure: str) -> tuple[float, float]:
        """How far ours is ahead of a peer, in points, and the standard error."""
        found = panel.difference(self.ours, peer, figure)
        return 100 * found.mean, 100 * found.error


def draw_differences(results: Results, bands: list[Band], path: Path, half: str) -> None:
    """The lead of Isotherm with two standard errors, a panel for each protocol, the best peer on top."""
    from matplotlib.figure import Figure

    rows = [(band, order) for band in bands if (order := band.ordered(results))]
    columns = max(len(band.protocols) for band, _ in rows)
    heights = [len(order) + 1.6 for _, order in rows]
    size = 2.6 * columns + 2, 0.36 * sum(heights) + 1.9
    figure: Any = Figure(figsize=size, facecolor="white", layout="constrained")
    grid = figure.subplots(len(rows), columns, sharex=True, sharey="row", squeeze=False, height_ratios=heights)
    for (band, order), line in zip(rows, grid, strict=True):
        for axes in line[len(band.protocols) :]:
            axes.set_visible(False)
        for axes, protocol in zip(line, band.protocols, strict=False):
            _draw_panel(axes, band, Panel(results, band.graphs, protocol), order)
        line[0].set_ylabel(band.title, fontsize=9)
    handles, words = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, words, frameon=False, fontsize=8.5, ncols=2, loc="outside lower center")
    figure.suptitle(
        f"Means of graphs ({half}), with two standard errors; right of the line, Isotherm is better", fontsize=10
    )
    figure.savefig(path, dpi=130)


def _draw_panel(axes: Any, band: Band, panel: Panel, order: list[str]) -> None:
    """The differences of one protocol."""
    axes.axvline(0, color="black", linewidth=1)
    for name, (colour, marker, shift) in SHAPES.items():
        means, errors = zip(*(band.lead(panel, peer, name) for peer in order), strict=True)
        style: dict[str, Any] = {"color": colour, "fmt": marker, "capsize": 2.5, "markersize": 4.5}
        axes.errorbar(means, np.arange(len(order)) + shift, xerr=2 * np.array(errors), label=FIGURES[name], **style)
    axes.set_title(f"{panel.protocol} seeds" if "%" in panel.protocol else panel.protocol, fontsize=10)
    axes.set_xlabel("lead of Isotherm, in points", fontsize=8.5)
    axes.set_yticks(range(len(order)), order)
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.tick_params(labelsize=8.5, length=2.5, labelbottom=True)
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
