"""The product of cg with each instruction set of this processor: nanoseconds for an entry, and the bandwidth bound.

The bound is the time in which memory could deliver what the product needs. It counts the bytes that must move: the
matrix, the row of the block that each entry gathers, in whole cache lines and without reuse, and the output. They are
divided by the bandwidth of a copy with as many threads.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

import isotherm as iso
from benchmarks.graphs import CLASSES, small_world
from benchmarks.harness import Contestant
from benchmarks.results import Cost, Result
from isotherm import kernels
from isotherm.graphs import Csr

__all__ = ["bytes_to_move", "parallel_copy", "races"]

CACHE_LINE = 64
COPY_BYTES = 2**29
MOST = 4.0  # ns for an entry, with ten columns and two threads
OVER_BOUND = {"avx512": 1.5}  # times the bandwidth bound at most,
OVER_BOUND_ELSE = 2.0


def races(scale: float = 1.0, rounds: int = 5) -> Iterator[Result | Cost]:
    """All widths and numbers of threads in turns; then ten columns against the bound, and against a limit."""
    graph = iso.Graph.from_scipy(small_world(scale)[0])
    chosen = kernels.active.instruction_set()
    try:
        costs = {
            (width, threads): _measure(graph, width, threads, rounds) for width in kernels.WIDTHS for threads in (1, 2)
        }
    finally:
        kernels.active.use_instruction_set(chosen)
    for each in costs.values():
        yield from each
    bound = _bound(graph, scale, rounds)
    for cost in costs[kernels.width(CLASSES), 2]:
        work, ours = f"one product with {CLASSES} columns, {cost.isa}", "product"
        over = OVER_BOUND.get(cost.isa, OVER_BOUND_ELSE)
        yield Result(work, "bandwidth bound", bound, ours, cost.nanoseconds, goal=1 / over, unit="ns an entry")
        yield Result(work, "limit", [MOST] * rounds, ours, cost.nanoseconds, goal=1, unit="ns an entry")


def _measure(graph: iso.Graph, width: int, threads: int, rounds: int) -> list[Cost]:
    """The product as cg does it, in float32, with each instruction set in turns, after one turn to warm up."""
    p, q = (kernels.block(graph.n_nodes, width, np.float32) for _ in range(2))
    p[:] = np.random.default_rng(0).random(p.shape, dtype=np.float32)
    diagonal = graph.degrees.astype(np.float32)
    product = partial(kernels.active.laplacian, *graph.heat, diagonal, p, q, threads)
    contestants = [Contestant(isa, product) for isa in kernels.instruction_sets()]
    for _ in range(rounds + 1):
        for contestant in contestants:
            kernels.active.use_instruction_set(contestant.name)
            contestant.turn()
    entries = graph.heat.entries
    return [Cost(each.name, threads, width, [1e9 * s / entries for s in each.seconds[1:]]) for each in contestants]


def _bound(graph: iso.Graph, scale: float, rounds: int) -> list[float]:
    """Nanoseconds for an entry that two threads need at least."""
    source = np.ones(int(COPY_BYTES * min(scale, 1)), dtype=np.uint8)
    target = np.zeros_like(source)
    copy = Contestant("copy", lambda: parallel_copy(source, target, 2))
    for _ in range(rounds):
        copy.turn()
    bandwidths = [2 * source.nbytes / seconds for seconds in copy.seconds]  # read and written
    moved = bytes_to_move(graph.heat, kernels.block(graph.n_nodes, kernels.width(CLASSES), np.float32))
    print(f"{moved / 1e9:.2f} GB to move; a copy with two threads: {np.median(bandwidths) / 1e9:.1f} GB/s")
    return [1e9 * moved / bandwidth / graph.heat.entries for bandwidth in bandwidths]


def bytes_to_move(heat: Csr, block: NDArray[np.floating]) -> int:
    """Matrix, gathered rows, output."""
    lines = -(-block.strides[0] // CACHE_LINE)
    parts = (part.nbytes for part in heat if part is not None)
    return sum(parts) + heat.entries * lines * CACHE_LINE + block.nbytes


def parallel_copy(source: NDArray[np.uint8], target: NDArray[np.uint8], threads: int) -> None:
    """Copy an array, each thread a part of it."""
    with ThreadPoolExecutor(threads) as pool:
        parts = zip(np.array_split(target, threads), np.array_split(source, threads), strict=True)
        list(pool.map(lambda pair: np.copyto(*pair), parts))
