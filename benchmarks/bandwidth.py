"""One product with ten columns against the time in which memory could deliver what it needs.

The bound counts the bytes that must move: the matrix, the row of the block that each entry gathers, in whole cache
lines and without reuse, and the output. They are divided by the bandwidth of a copy with as many threads.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

import isotherm as iso
from benchmarks.graphs import CLASSES, small_world
from benchmarks.harness import Contestant
from benchmarks.results import Result
from isotherm import kernels
from isotherm.graph import Csr

__all__ = ["bytes_to_move", "parallel_copy", "races"]

CACHE_LINE = 64
COPY_BYTES = 2**29


def races(scale: float = 1.0, rounds: int = 5) -> Iterator[Result]:
    """The product as cg does it, in float32, and a copy in turns."""
    matrix, _ = small_world(scale)
    graph = iso.Graph.from_scipy(matrix)
    threads = kernels.thread_count()
    p, q = (kernels.block(graph.n_nodes, kernels.width(CLASSES), np.float32) for _ in range(2))
    p[:] = np.random.default_rng(0).random(p.shape, dtype=np.float32)
    q[:] = 0
    diagonal = graph.degrees.astype(np.float32)
    product = Contestant("product", lambda: kernels.active.laplacian(*graph.heat, diagonal, p, q, threads))
    source = np.ones(int(COPY_BYTES * min(scale, 1)), dtype=np.uint8)
    target = np.zeros_like(source)
    copy = Contestant("copy", lambda: parallel_copy(source, target, threads))
    for turn in range(rounds + 1):
        copy.turn()
        product.turn()
        if turn == 0:  # to warm up
            copy.seconds.clear()
            product.seconds.clear()
    bandwidths = [2 * source.nbytes / seconds for seconds in copy.seconds]  # read and written
    moved = bytes_to_move(graph.heat, p)
    print(f"{moved / 1e9:.2f} GB to move; a copy with {threads} threads: {np.median(bandwidths) / 1e9:.1f} GB/s")
    bound = [moved / bandwidth for bandwidth in bandwidths]
    work = f"one product with {CLASSES} columns, power-law graph"
    yield Result(work, "bandwidth bound", bound, product.name, product.seconds, goal=1 / 1.5)


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
