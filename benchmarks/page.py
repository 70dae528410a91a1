"""Two pages: for users the default first, then other headlines; for maintainers every race, and what was missed."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.commits import stale
from benchmarks.pictures import draw_default, draw_growth, draw_headlines
from benchmarks.results import Cost, Result, Run, header

__all__ = ["BARS", "HEADLINES", "Headline", "write_page"]

INSTRUCTION_SETS = {"avx512": "AVX-512", "avx2": "AVX2", "base": "SSE2"}

INTRODUCTION = """\
# Benchmarks

How fast is Isotherm, compared with other libraries on the same work and the same machine? [How right the labels
are](accuracy.md) is a page of its own.
"""

DEFAULT = """\
## The default

`NodeClassifier().fit(graph, seeds)`, with labels and confidence, on block models of ten classes whose degrees follow
a power law. 1 % of the nodes are seeds, and nothing but the edges is known. Each cell of another method shows how
much faster or slower Isotherm is, and in brackets the share of wrong labels of that method. On small graphs, most of
Isotherm's time goes into hiding seeds, which the other methods do not do.
"""

HEADLINES_TEXT = """\
## Solving and files

`DirichletClassifier`, the paper's method, and the commands. *Equilibrium* is the exact solution within the default
tolerance. *Ten sweeps* is what scikit-network computes by default: ten steps towards that solution. Isotherm uses the
best instruction set of the processor; where there are several columns, the race was run with each.
"""

GROWTH = """\
## Time against size

![Time against the number of edges, both on logarithmic axes]({picture})

Power-law graphs of the same mean degree. Methods that take too long are left out of larger graphs.
"""

MAINTAINERS = """\
# Goals of the benchmarks

Which goals the races of [the benchmarks](../benchmarks.md) have, which of them are missed, which races were run with
older code, and every race in full. A row is stale if a file below `src` or `native` changed after its commit; `make
bench` runs the races again, and ends with the same list.
"""

HOW = """\
## How it was measured

Each row is a race: the contestants take turns on the same input, in the same run. Figures are medians. Times are end
to end, from a SciPy matrix to labels or temperatures, unless the work says otherwise. [A page for
maintainers](maintainers/{name}) lists every race, with its spread and its goal. The runs are in `benchmarks.jsonl`
beside this page.

To run the races again, all or some suites, and to make this page of the latest runs:

    make bench
    python -m benchmarks {suites}
    ISOTHERM_ISA=avx2 python -m benchmarks foundation grid
    python -m benchmarks --page docs/benchmarks.md
"""

EVERY = """\
## Every race

Figures are medians, with the least and the greatest in brackets. "Compared" is the ratio of the medians, with the
range of the ratios of each turn: a time is so many times faster or slower than that of the peer, and other figures
are a share of the peer's. A wide range means that other work ran on the same cores, or that the virtual machine had
to fetch memory from its host.
"""


@dataclass(frozen=True)
class Headline:
    """A row of the first table: what a user would say, and the race that it stands for."""

    title: str
    suite: str
    work: str  # how the work begins
    peer: str  # how the peer begins

    def find(self, runs: list[Run], isa: str) -> Result | None:
        """The race, as it was run with this instruction set; None if it was not."""
        results = (result for run in runs if (run.suite, run.isa) == (self.suite, isa) for result in run.results)
        fits = (result for result in results if result.work.startswith(self.work))
        return next((result for result in fits if result.peer.startswith(self.peer)), None)


DEFAULT_RACE = Headline(
    "labels and confidence on a million nodes", "default", "labels and confidence, 1,000,000", "scikit-network"
)
CSV = Headline("from CSV to CSV", "classify", "CSV to CSV", "pandas")
SAME_ERROR = Headline(
    "equilibrium at the same error", "laplace-learning", "equilibrium at the same error", "GraphLearning"
)
GRID = Headline("a grid of a million nodes", "grid", "grid", "PyAMG")
ROADS = Headline("the roads of the USA", "hard-graphs", "road_usroads", "PyAMG")
BARS = (DEFAULT_RACE, CSV, SAME_ERROR, GRID, ROADS)  # the first four that were run are in the picture
HEADLINES = (
    Headline("ten sweeps on a million nodes", "foundation", "ten sweeps, power-law", "scikit-network"),
    Headline("equilibrium on a million nodes", "foundation", "equilibrium, power-law", "scikit-network"),
    Headline("equilibrium on a denser graph", "foundation", "equilibrium, denser", "scikit-network"),
    SAME_ERROR,
    GRID,
    ROADS,
    Headline("a directed graph of 67 million arcs", "directed", "directed graph", "scikit-network, ten sweeps along"),
    Headline("its peak memory", "directed", "directed graph, peak memory", "scikit-network, ten sweeps along"),
    CSV,
    Headline("segment 128 x 128 x 128 voxels", "fields", "random_walker on 128", "scikit-image"),
    Headline("explain a node", "answers", "explain", "fit"),
    Headline("add one label", "answers", "update with 1 seed more", "fit"),
)


@dataclass(frozen=True)
class Group:
    """Suites that belong together, and what a reader must know about them."""

    title: str
    suites: tuple[str, ...]
    notes: str


GROUPS = (
    Group(
        "Graphs with hubs",
        ("foundation", "laplace-learning", "growth"),
        """\
The power-law graph has a million nodes and 23 million entries; the denser one has 400,000 nodes and 9.2 million
entries in ten communities, with heavier hubs. Both have ten classes and 1% seeds. Equilibrium is at the default `tol`,
a largest error of 1e-3 of the spread of a class; GraphLearning is held to the same error.

No edge joins two communities of the denser graph, so each warms up as a whole, by itself. cg takes out such a slow mode
for each large component, and needs 13 iterations there, 12 on the power-law graph.

The time per entry grows with the graph: a block of 16 columns takes 64 bytes for each node, so that graphs of up to
half a million nodes fit the third-level cache, and each entry of larger ones waits for memory, which is the bound of
the next section. That alone is a factor of 1.7; larger graphs also take 13 iterations instead of 10.""",
    ),
    Group(
        "Processors",
        ("processors",),
        """\
One product of the matrix of the power-law graph with a block of columns, in float32: nanoseconds for an entry. A
row of the block is kept in registers of 32 bytes with AVX2 and AVX-512, whose own 64 bytes were slower, and of 16 bytes
with SSE2. The bandwidth bound is the time to move the matrix, a cache line for each entry and the output, at the speed
of a copy with two threads. Rows that are still in a cache when they are needed again can beat it.""",
    ),
    Group(
        "Grids, roads and other hard graphs",
        ("grid", "hard-graphs", "communities"),
        """\
They are solved to an error of 1e-5. PyAMG is the better of smoothed aggregation and Ruge-Stüben; SciPy is timed on one
column, times their number. On the grid, an iteration visits each part of the graph that fits the cache of a core once,
and moves 0.33 GB: four blocks of 32 MB are read and written, the matrix and the factor are read. At the speed of a copy
with two threads that is 0.5 s for 41 iterations; they take 0.7 s, and the factor 0.3 s before. Graphs of ten thousand
nodes fit the cache too, where SciPy takes a nanosecond for an entry as well, and is given the residual at which to
stop. Of the 18 ms here 13 are spent in the kernels, on one thread: a second one made it slower. So four times faster is
hard to reach.""",
    ),
    Group(
        "The choice of a solver",
        ("choice",),
        "`auto` is raced against the better of cg and elimination, which is known only afterwards.",
    ),
    Group(
        "Directed graphs and many classes",
        ("directed", "many-classes"),
        """\
The directed graph has 3.2 million nodes and 67 million arcs, ten classes and 1% seeds. Each turn is a process of its
own, whose peak memory includes the input. Along the arcs, scikit-network solves another problem, of half the size,
and half of its memory is out of reach: the input takes 0.81 GB, both directions of the arcs 0.54 GB, four blocks of
16 columns on half of the nodes 0.82 GB, and the result 0.26 GB. If arcs out were those of the input, blocks had the
ten columns that are needed and the result were float32, 1.9 GB would be left, where half is 1.6 GB.

DBLP has 317,080 nodes; the 5000 classes are its communities, the largest of each node. scikit-network would need
several matrices of nodes times classes, 12.7 GB each.""",
    ),
    Group(
        "networkx",
        ("backend",),
        """\
networkx' own functions on a graph of 100,000 nodes and half a million edges, and the same calls with
`backend="isotherm"`, which give the same labels. The first call converts the graph, by networkx' own code; networkx
keeps the result for later calls.""",
    ),
    Group(
        "Files",
        ("classify",),
        """\
`isotherm classify` finds the equilibrium, not ten sweeps, and solves once more to calibrate its confidence, which the
script does not. From CSV to CSV, of 3.0 s about 0.8 go into reading, 1.6 into building and solving, and 0.6 into the
start of Python and its libraries; 5 s of processor time on two cores cannot take less than 2.5 s. Reading from Parquet,
each end of an arc is hashed and looked up in a table of 128 MB, which does not fit a cache; Polars alone ends where
that begins.""",
    ),
    Group(
        "The equation in other fields",
        ("fields", "cells"),
        """\
Walks go on the whole forward, and half of their arcs lead to nodes nearby. The image is a ball in noise with three
markers. The cells are made up: counts of 400 genes, 50 principal components, 15 neighbours; `python -m benchmarks
cells` has the details.""",
    ),
    Group("Kinds of edges", ("edge-kinds",), "Wrong labels of a default fit, on graphs of the development half."),
    Group("Confidence and rules", ("confidence",), "Errors of probabilities, on made-up and real graphs."),
    Group(
        "Labelling",
        ("labelling", "doubtful", "answers", "small"),
        """\
Labels are counted on fifty graphs, drawn into two halves: the policy of `suggest` was chosen on one, and what counts is
the other, for confirmation. Where labels hardly follow edges, or all hubs are of one class, it may save nothing.

Answers come after a fit of the default, with labels and confidence, on the block model of a million nodes. They are
bounded by products over the whole graph, where heat is everywhere after three steps.""",
    ),
)


def write_page(runs: list[Run], path: Path) -> None:
    """Write the page, that for maintainers in a folder beside it, and the pictures."""
    maintainers = path.parent / "maintainers" / path.name
    maintainers.parent.mkdir(parents=True, exist_ok=True)
    default = _default(runs)
    if default:
        draw_default(default, path.with_name(f"{path.stem}-default.png"))
    if bars := _bars(runs):
        draw_headlines(bars, path.with_suffix(".png"))
    points = [point for run in runs for point in run.points]
    if points:
        draw_growth(points, path.with_name(f"{path.stem}-growth.png"))
    path.write_text(_page(runs, path), encoding="utf-8")
    maintainers.write_text(_maintainers(runs), encoding="utf-8")


def _page(runs: list[Run], path: Path) -> str:
    """The page for users as Markdown."""
    parts = [INTRODUCTION]
    if _bars(runs):
        parts.append(f"![How many times faster Isotherm is]({path.stem}.png)\n")
    parts += [*_default_part(runs, path.stem), *_headlines(runs)]
    if any(run.points for run in runs):
        parts.append(GROWTH.format(picture=f"{path.stem}-growth.png"))
    suites = " ".join(dict.fromkeys(run.suite for run in runs))
    return "\n".join([*parts, HOW.format(suites=suites, name=path.name), _machines(runs)])


def _maintainers(runs: list[Run]) -> str:
    """The page for maintainers: how many goals were reached, which were not, what is stale, and every race."""
    results = [(run, result) for run in runs for result in run.results if result.goal is not None]
    missed = [
        f"- {result.work}{_with(run)}, against {result.peer}: {result.outcome()}, goal {result.goal_in_words()}"
        for run, result in results
        if not result.reached
    ]
    score = f"Of {len(results)} goals {len(results) - len(missed)} were reached."
    parts = [MAINTAINERS, "## Missed\n", score + (" These were missed:\n" if missed else "\n"), *missed]
    if old := stale(runs):
        parts += ["\n## Stale\n", *(f"- {words}" for words in old)]
    parts.append("\n" + EVERY)
    for group in (*GROUPS, Group("More", tuple(_ungrouped(runs)), "")):
        parts += _group(group, [run for run in runs if run.suite in group.suites])
    return "\n".join(parts).rstrip() + "\n"


def _default(runs: list[Run]) -> dict[str, list[Result]]:
    """The races of the default, by instruction set."""
    return {run.isa: run.results for run in runs if run.suite == "default" and run.results}


def _default_part(runs: list[Run], stem: str) -> Iterator[str]:
    """A picture, and a row for each size with a column for each peer."""
    for place, (isa, results) in enumerate(_default(runs).items()):
        if not place:
            yield DEFAULT
            yield f"![Seconds, and wrong labels, against the number of nodes]({stem}-default.png)\n"
        yield f"With {INSTRUCTION_SETS.get(isa, isa)}:\n"
        timed = [result for result in results if result.unit == "s"]
        wrong = {(result.work.split(", ")[-1], result.peer): result for result in results if result.unit == "%"}
        peers = list(dict.fromkeys(result.peer for result in timed))
        rows = []
        for size in dict.fromkeys(result.work.split(", ")[-1] for result in timed):
            races = {result.peer: result for result in timed if result.work.split(", ")[-1] == size}
            first = next(iter(races))
            cells = [size, f"{median(races[first].ours):.2g} s ({wrong[size, first].ours[0]:.0f} %)"]
            cells += [
                f"{_times(races[peer].ratio)} ({wrong[size, peer].theirs[0]:.0f} %)" if peer in races else ""
                for peer in peers
            ]
            rows.append(f"| {' | '.join(cells)} |")
        columns = ["", "Isotherm", *peers]
        yield "\n".join([f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *rows]) + "\n"


def _times(ratio: float) -> str:
    return f"{ratio:.2g} times faster" if ratio >= 1 else f"{1 / ratio:.2g} times slower"


def _found(headline: Headline, runs: list[Run]) -> dict[str, Result]:
    """The race of each instruction set, of those it was run with."""
    pairs = ((isa, headline.find(runs, isa)) for isa in INSTRUCTION_SETS)
    return {isa: result for isa, result in pairs if result is not None}


def _bars(runs: list[Run]) -> list[tuple[str, Result]]:
    """The races of the picture, with the first instruction set that they were run with."""
    found = ((each.title, next(iter(_found(each, runs).values()), None)) for each in BARS)
    return [(title, result) for title, result in found if result is not None][:4]


def _headlines(runs: list[Run]) -> Iterator[str]:
    rows = [(headline, found) for headline in HEADLINES if (found := _found(headline, runs))]
    if not rows:
        return
    sets = [isa for isa in INSTRUCTION_SETS if any(isa in found for _, found in rows)]
    yield HEADLINES_TEXT
    columns = ["work", "against", *(INSTRUCTION_SETS[isa] for isa in sets)]
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    for headline, found in rows:
        cells = [found[isa].outcome() if isa in found else "" for isa in sets]
        lines.append("| " + " | ".join([headline.title, next(iter(found.values())).peer, *cells]) + " |")
    yield "\n".join(lines) + "\n"


def _with(run: Run) -> str:
    return "" if run.isa == "avx512" else f" ({INSTRUCTION_SETS.get(run.isa, run.isa)})"


def _group(group: Group, runs: list[Run]) -> Iterator[str]:
    if not runs:
        return
    yield f"### {group.title}\n"
    if group.notes:
        yield group.notes + "\n"
    sets = dict.fromkeys(run.isa for run in runs)
    for isa in sets:
        if len(sets) > 1:
            yield f"With {INSTRUCTION_SETS.get(isa, isa)}:\n"
        yield from _tables([run for run in runs if run.isa == isa])


def _tables(runs: list[Run]) -> Iterator[str]:
    costs, results = ([each for run in runs for each in getattr(run, kind)] for kind in ("costs", "results"))
    if costs:
        yield _cost_table(costs)
    if results:
        yield "\n".join([header(), *(result.row() for result in results)]) + "\n"


def _cost_table(costs: list[Cost]) -> str:
    """A row for each instruction set and number of threads, a column for each width."""
    cells: dict[tuple[str, int], dict[int, float]] = defaultdict(dict)
    for cost in costs:
        cells[cost.isa, cost.threads][cost.width] = median(cost.nanoseconds)
    widths = sorted({cost.width for cost in costs})
    lines = [
        "| instruction set | threads | " + " | ".join(f"{width} column{'s' * (width > 1)}" for width in widths) + " |"
    ]
    lines.append("|---|---" + "|---" * len(widths) + "|")
    for (isa, threads), row in sorted(
        cells.items(), key=lambda item: (list(INSTRUCTION_SETS).index(item[0][0]), item[0][1])
    ):
        values = " | ".join(f"{row[width]:.2f}" for width in widths)
        lines.append(f"| {INSTRUCTION_SETS[isa]} | {threads} | {values} |")
    return "\n".join(lines) + "\n"


def _ungrouped(runs: list[Run]) -> Iterator[str]:
    grouped = {"default", *(suite for group in GROUPS for suite in group.suites)}
    yield from (run.suite for run in runs if run.suite not in grouped)


def _machines(runs: list[Run]) -> str:
    """Each machine once, with the suites that ran on it, when, and the commit."""
    suites: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for run in runs:
        suites[run.machine, run.date, run.commit].append(run.suite)
    lines = [
        f"- {', '.join(names)} ({date}{', commit ' + commit if commit else ''}): {machine}"
        for (machine, date, commit), names in suites.items()
    ]
    return "\n".join(["## Machine\n", *lines, ""])
