"""The picture of docs/accuracy.md: how far each method is behind Isotherm."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy.runs import Results
from benchmarks.accuracy.statistics import Panel
from benchmarks.accuracy.tables import OURS
from isotherm.study.tasks import PROTOCOLS

__all__ = ["draw_differences"]

SHAPES = {"accuracy": ("#0072B2", "o", -0.16), "macro_f1": ("#D55E00", "s", 0.16)}  # colour, marker, offset in a row
WORDS = {"accuracy": "accuracy", "macro_f1": "macro-F1"}


def draw_differences(results: Results, names: list[str], methods: list[str], path: Path, half: str) -> None:
    """Paired differences to Isotherm with two standard errors, a panel for each protocol, the best peer on top."""
    from matplotlib.figure import Figure

    panels = [Panel(results, names, protocol) for protocol in PROTOCOLS]
    peers = [name for name in methods if name != OURS]
    order = sorted(
        peers,
        key=lambda peer: np.nanmean([_behind(panel, peer, figure)[0] for panel in panels for figure in SHAPES]),
        reverse=True,
    )
    figure: Any = Figure(figsize=(9.6, 0.42 * len(order) + 1.9), facecolor="white", layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(panels), sharex=True, sharey=True), panels, strict=True):
        axes.axvline(0, color="black", linewidth=1)
        for name, (colour, marker, shift) in SHAPES.items():
            means, errors = zip(*(_behind(panel, peer, name) for peer in order), strict=True)
            style: dict[str, Any] = {"color": colour, "fmt": marker, "capsize": 2.5, "markersize": 5}
            axes.errorbar(means, np.arange(len(order)) + shift, xerr=2 * np.array(errors), label=WORDS[name], **style)
        axes.set_title(f"{panel.protocol} seeds" if "%" in panel.protocol else f"{panel.protocol}", fontsize=10)
        axes.set_xlabel("points compared with Isotherm", fontsize=8.5)
        axes.set_yticks(range(len(order)), order)
        axes.set_ylim(len(order) - 0.4, -0.6)
        axes.tick_params(labelsize=8.5, length=2.5)
        axes.grid(axis="x", color="0.9")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    handles, words = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, words, frameon=False, fontsize=8.5, ncols=2, loc="outside lower center")
    figure.suptitle(
        f"Mean of {len(names)} graphs ({half}), with two standard errors; left of the line, Isotherm is better",
        fontsize=10,
    )
    figure.savefig(path, dpi=130)


def _behind(panel: Panel, peer: str, figure: str) -> tuple[float, float]:
    found = panel.difference(peer, OURS, figure)
    return 100 * found.mean, 100 * found.error
