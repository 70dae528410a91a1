"""Estimates of the memory and time of a fit, before it starts.

Memory is what the process holds by itself. The arrays of a packed graph are mapped: they fill whatever memory is left,
and are read again from disk in each iteration if that is too little.
"""

from dataclasses import dataclass

from isotherm import kernels
from isotherm.errors import Option, ParameterError
from isotherm.graphs import Graph
from isotherm.graphs.packed import PackedGraph
from isotherm.labelling.outcomes import needed_memory
from isotherm.labelling.settings import Settings
from isotherm.tables import size

BASE = 150 << 20  # bytes of the process itself
NODE = 80  # bytes for each node besides blocks and classes: degrees, scales, masks, codes
CLASS = 16  # bytes for each node and class: temperatures, scores, probabilities
BEST = 100  # bytes for each node if only the best scores are kept
ITERATIONS, CONFIDENCE_ITERATIONS = 20, 9  # usual numbers for power-law graphs
ENTRY, COLUMN = 2.0e-9, 0.9e-9  # seconds for each entry, and for each of its columns, on one thread
SWEEP = 6.0e-9  # seconds for each node and column
CALIBRATION = 1.0e-6  # seconds for each node and class, on one thread
SINGLE_TOL = 1e-4  # smaller tolerances need float64
STRUCTURE = 300  # bytes for each node while the spectrum of a graph is found


@dataclass(frozen=True)
class Estimate:
    """The memory and time that a fit will take."""

    memory: int  # bytes that the process holds by itself
    mapped: int  # bytes of a packed graph that are mapped
    seconds: float  # about how long it takes; graphs on which solvers converge slowly take several times as long

    def __str__(self) -> str:
        mapped = f", {size(self.mapped)} mapped" if self.mapped else ""
        return f"about {size(self.memory)} of memory{mapped}, and {_duration(self.seconds)}"


def estimate_fit(
    graph: Graph, n_classes: int, settings: Settings, *, confidence: bool = True, structure: bool = False
) -> Estimate:
    """Estimate a fit on a graph with this number of classes, with or without the graph's structure as evidence.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> estimate_fit(ring, 2, Settings()).memory >> 20
    150
    """
    rows = graph.n_nodes * (2 if graph.directed else 1)
    entries = graph.csr.entries * (2 if graph.directed else 1)
    single = settings.solving.tol is None or settings.solving.tol >= SINGLE_TOL
    columns = min(max(n_classes - 1, 1), kernels.WIDTHS[-1] - 1)
    width, itemsize = kernels.width(columns + 1), 4 if single else 8
    memory = BASE + rows * (4 * width * itemsize + NODE)
    kept = needed_memory(graph.n_nodes, n_classes) <= settings.allowed_memory
    if kept and structure:
        memory += STRUCTURE * graph.n_nodes
    memory += graph.n_nodes * (CLASS * n_classes if kept else BEST)
    if graph.directed:
        memory += entries * 4  # the matrix with both copies of each node is not mapped
    if graph.csr.weights is not None and graph.csr.weights.itemsize != itemsize:
        memory += entries * itemsize
    blocks = -(-max(n_classes - 1, 1) // columns)
    iterations = blocks * (ITERATIONS + CONFIDENCE_ITERATIONS * confidence)
    each = entries * (ENTRY + COLUMN * width * itemsize / 4) + rows * width * SWEEP
    seconds = iterations * each / kernels.thread_count(settings.solving.threads)
    seconds += CALIBRATION * graph.n_nodes * n_classes * (confidence and kept)
    mapped = sum(file[0] for file in graph.manifest.files.values()) if isinstance(graph, PackedGraph) else 0
    return Estimate(int(memory), mapped, seconds)


def check_memory(graph: Graph, n_classes: int, settings: Settings, *, structure: bool) -> None:
    """Refuse a fit on a packed graph that does not fit in memory; other graphs are in memory already."""
    from isotherm.io.memory import available_memory  # with the readers of files, which few fits need

    estimate, free = estimate_fit(graph, n_classes, settings, structure=structure), available_memory()
    if free is not None and estimate.memory > free:
        raise ParameterError(
            "a fit of {classes} classes on {nodes:,} nodes takes {needed} of memory, but {free} are free; "
            "free some, or keep fewer scores with {max_memory}",
            classes=n_classes,
            nodes=graph.n_nodes,
            needed=size(estimate.memory),
            free=size(free),
            max_memory=Option("max_memory"),
        )


def _duration(seconds: float) -> str:
    """A time in words.

    >>> _duration(1.6e-05), _duration(3.14159), _duration(1234.5)
    ('less than 0.1 seconds', '3.1 seconds', '1,234 seconds')
    """
    if seconds < 0.1:
        return "less than 0.1 seconds"
    return f"{seconds:.2g} seconds" if seconds < 10 else f"{seconds:,.0f} seconds"
