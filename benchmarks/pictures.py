"""The pictures of the page: how many times faster Isotherm is, and time against size."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from benchmarks.results import Point, Result

__all__ = ["draw_default", "draw_growth", "draw_headlines"]

STYLES = {  # colours that are told apart by all eyes, and a marker and a dash for print
    "isotherm, equilibrium": ("#0072B2", "o", "-"),
    "isotherm, ten sweeps": ("#56B4E9", "s", "--"),
    "scikit-network, ten sweeps": ("#D55E00", "^", "--"),
    "SciPy cg, equilibrium": ("#009E73", "D", "-"),
    "GraphLearning, equilibrium": ("#000000", "v", "-"),
}
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


def draw_headlines(rows: list[tuple[str, Result]], path: Path) -> None:
    """A bar for each race: how many times faster Isotherm is."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 0.9 + 0.62 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for place, (_, result) in enumerate(rows):
        axes.barh(place, result.ratio, height=0.6, color="#0072B2")
        axes.text(result.ratio, place, f" {result.outcome()}", va="center", fontsize=9)
    names = [f"{title}\nagainst {result.peer.split(',')[0]}" for title, result in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=9)
    axes.set(xlim=(0, 1.35 * max(result.ratio for _, result in rows)), xlabel="times faster; 1 is as fast")
    axes.axvline(1, color="#777777", linewidth=0.8)
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


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
