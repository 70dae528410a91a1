"""The page: what was raced, on what machine, with which outcome, and a plot of time against size."""

from collections import defaultdict
from pathlib import Path
from statistics import median

from benchmarks.results import HEADER, Point, Run

__all__ = ["page", "plot", "write_page"]

INTRODUCTION = """\
# Benchmarks

Each row is a race: the contestants take turns on the same input, in the same run. Figures are medians, with the least
and the greatest in brackets; the ratio is that of the medians, with the spread of the ratios of each turn. Times are
end to end, from a SciPy matrix to labels or temperatures, unless the work says otherwise.

To run it again, all or some suites, and make this page of the latest run of each:

    make bench
    python -m benchmarks {suites}
    python -m benchmarks --page docs/benchmarks.md
"""

NOTES = """\
- The power-law graph has a million nodes and 23 million entries, ten classes, 1% seeds. Equilibrium is at the default
  `tol`, a largest error of 1e-3 of the spread of a class; GraphLearning is held to the same error.
- The bandwidth bound is the time to move the matrix, a cache line for each entry and the output, at the speed of a
  copy with as many threads. Rows that are still in a cache when they are needed again can beat it.
- Grids, roads and other hard graphs are solved to an error of 1e-5. PyAMG is the better of smoothed aggregation and
  Ruge-Stüben; SciPy is timed on one column, times their number.
- The directed graph has 3.2 million nodes and 67 million arcs, ten classes, 1% seeds; each turn is a process of its
  own, whose peak memory includes the input. Along the arcs, scikit-network solves another problem, of half the size.
- DBLP has 317,080 nodes; the 5000 classes are its communities, the largest of each node. scikit-network would need
  several matrices of nodes times classes, 12.7 GB each.
- Labels are counted on fifty graphs, drawn into two halves: the policy of `suggest` was chosen on one, and what counts
  is the other, for confirmation. Where labels hardly follow edges, or all hubs are of one class, it may save nothing.
- `auto` is raced against the better of cg and elimination, which is known only afterwards.
- Why goals are missed: on the grid, half of an iteration is memory traffic. Graphs of ten thousand nodes are solved in
  20 ms, a third of which is Python. Small graphs of the growth series fit a cache, and large ones take 13 iterations
  instead of 10. An update needs 8 iterations where a fit needs 12 to 14: heat has as far to go from new seeds. The
  first explanation after a fit sets up what later ones use.
  `isotherm classify` solves once more to calibrate its confidence, which the script does not; and all times vary by a
  fifth on a machine that is shared.
"""

STYLES = {  # colours that are told apart by all eyes, and a marker and a dash for print
    "isotherm, equilibrium": ("#0072B2", "o", "-"),
    "isotherm, ten sweeps": ("#56B4E9", "s", "--"),
    "scikit-network, ten sweeps": ("#D55E00", "^", "--"),
    "SciPy cg, equilibrium": ("#009E73", "D", "-"),
    "GraphLearning, equilibrium": ("#000000", "v", "-"),
}


def write_page(runs: list[Run], path: Path) -> None:
    """Write the page, and beside it the plot, if there is something to plot."""
    path.parent.mkdir(parents=True, exist_ok=True)
    points = [point for run in runs for point in run.points]
    picture = path.with_suffix(".png") if points else None
    if picture is not None:
        plot(points, picture)
    path.write_text(page(runs, picture), encoding="utf-8")


def page(runs: list[Run], picture: Path | None) -> str:
    """The page as Markdown."""
    results = [result for run in runs for result in run.results]
    reached = sum(result.reached for result in results)
    parts = [
        INTRODUCTION.format(suites=" ".join(run.suite for run in runs)),
        f"Of {len(results)} goals {reached} were reached.\n",
        "\n".join([HEADER, *(result.row() for result in results)]) + "\n",
        NOTES,
    ]
    if picture is not None:
        parts.append(f"![Time against size, both on logarithmic axes]({picture.name})\n")
        parts.append(
            "Power-law graphs of the same mean degree; contestants that take too long are left out of larger ones.\n"
        )
    parts.append("## Machine\n\n" + "\n".join(_machines(runs)) + "\n")
    return "\n".join(parts)


def plot(points: list[Point], path: Path) -> None:
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


def _machines(runs: list[Run]) -> list[str]:
    """Each machine once, with the suites that ran on it and when."""
    suites: dict[tuple[str, str], list[str]] = defaultdict(list)
    for run in runs:
        suites[run.machine, run.date].append(run.suite)
    return [f"- {', '.join(names)} ({date}): {machine}" for (machine, date), names in suites.items()]
