"""The pictures of the page: how many times less is needed, and time against size."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.results import Point, Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_default", "draw_growth", "draw_headlines"]

STYLES = {  # colours that are told apart by all eyes, and a marker and a dash for print
    "isotherm, equilibrium": ("#0072B2", "o", "-"),
    "isotherm, ten sweeps": ("#56B4E9", "s", "--"),
    "scikit-network, ten sweeps": ("#D55E00", "^", "--"),
    "SciPy cg, equilibrium": ("#009E73", "D", "-"),
    "GraphLearning, equilibrium": ("#000000", "v", "-"),
}
SHADES = {"avx512": "#0072B2", "avx2": "#56B4E9", "base": "#999999"}
PEERS = (("#D55E00", "^"), ("#009E73", "D"), ("#000000", "v"), ("#CC79A7", "P"))


def draw_default(races: Mapping[str, list[Result]], path: Path) -> None:
    """Seconds and wrong labels against the number of nodes, a line for each contestant; the first instruction set."""
    from matplotlib.figure import Figure

    results = next(iter(races.values()))
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, unit, what in zip(panels, ("s", "%"), ("seconds", "wrong labels in %"), strict=True):
        lines: dict[str, dict[int, float]] = defaultdict(dict)
        for result in (each for each in results if each.unit == unit):
            nodes = int(result.work.split(", ")[-1].split()[0].replace(",", ""))
            lines["Isotherm, with confidence"][nodes] = median(result.ours)
            lines[result.peer][nodes] = median(result.theirs)
        for (name, line), (colour, marker) in zip(lines.items(), (("#0072B2", "o"), *PEERS), strict=False):
            axes.plot(list(line), list(line.values()), color=colour, marker=marker, label=name)
        axes.set(xscale="log", xlabel="nodes", title=what)
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set(yscale="log")
    panels[0].yaxis.set_major_formatter("{x:g}")
    panels[1].set(ylim=(0, None))
    figure.legend(
        *panels[0].get_legend_handles_labels(), frameon=False, fontsize=8, loc="outside lower center", ncols=3
    )
    figure.savefig(path, dpi=150)


def draw_headlines(rows: list[tuple[str, dict[str, Result]]], names: Mapping[str, str], path: Path) -> None:
    """Bars for the ratios, one for each instruction set."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 0.8 + 0.44 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for place, (_, found) in enumerate(rows):
        height = 0.8 / len(found)
        for number, (isa, result) in enumerate(found.items()):
            y = place - 0.4 + height * (number + 0.5)
            axes.barh(y, result.ratio, height=0.9 * height, color=SHADES[isa])
            axes.text(result.ratio * 1.04, y, f"{result.ratio:.3g}", va="center", fontsize=7)
    axes.set_yticks(range(len(rows)), [f"{title}\nagainst {_peer(found)}" for title, found in rows], fontsize=7)
    axes.set(xscale="log", xlabel="times less than the other needs (logarithmic)")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.axvline(1, color="#777777", linewidth=0.8)
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.spines[["top", "right"]].set_visible(False)
    _explain(figure, [isa for isa in SHADES if any(isa in found for _, found in rows)], names)
    figure.savefig(path, dpi=150)


def _peer(found: dict[str, Result]) -> str:
    return next(iter(found.values())).peer.split(",")[0]


def _explain(figure: "Figure", sets: list[str], names: Mapping[str, str]) -> None:
    from matplotlib.patches import Patch

    patches = [Patch(color=SHADES[isa], label=names[isa]) for isa in sets]
    figure.legend(handles=patches, frameon=False, fontsize=8, loc="outside upper right", ncols=len(patches))


def draw_growth(points: list[Point], path: Path) -> None:
    """Draw time against the number of entries, log-log, a line for each contestant."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter, NullLocator

    lines: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        lines[point.contestant].append(point)
    figure = Figure(figsize=(7, 4.6), layout="constrained")
    axes = figure.subplots()
    for name, line in lines.items():
        colour, marker, dash = STYLES.get(name, ("#777777", "x", ":"))
        entries, seconds = zip(*((point.entries, median(point.seconds)) for point in line), strict=True)
        axes.plot(entries, seconds, color=colour, marker=marker, linestyle=dash, label=name)
    axes.set(xscale="log", yscale="log", xlabel="entries of the matrix", ylabel="seconds")
    axes.set_xticks([1e6 * 2**power for power in range(7)])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(EngFormatter(places=0, sep=""))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)
