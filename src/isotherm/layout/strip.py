"""Small components: in a strip below the map, largest first, each in cells side by side."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["add_strip", "on_the_map"]

SMALL = 0.002  # a component with a smaller share of the nodes is put into the strip
FEWEST = 3  # nodes of a component on the map
GAP, LOWEST, HIGHEST = 0.06, 0.02, 0.35  # distance from the map, and height of the strip, relative to the map


def on_the_map(component: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which nodes are in components that are large enough for the map; the largest always is."""
    sizes = np.bincount(component)
    least = min(max(FEWEST, SMALL * len(component)), sizes.max(initial=0))
    return sizes[component] >= least


def add_strip(positions: NDArray[np.float32], component: NDArray[np.int32], mapped: NDArray[np.bool_]) -> None:
    """Place the nodes that are not on the map, in place; the map is within -1 and 1."""
    rest = np.flatnonzero(~mapped)
    if not len(rest):
        return
    sizes = np.bincount(component)[component[rest]]
    order = rest[np.lexsort((rest, component[rest], -sizes))]
    low, high = positions[mapped].min(axis=0), positions[mapped].max(axis=0)
    width = max(high[0] - low[0], 0.5)
    height = np.clip(0.5 * len(rest) / len(mapped), LOWEST, HIGHEST) * 2
    cell = np.sqrt(width * height / len(rest))
    columns = max(int(width / cell), 1)
    number = np.arange(len(order))
    middle = (low[0] + high[0]) / 2 - cell * min(columns - 1, len(rest) - 1) / 2
    positions[order, 0] = middle + cell * (number % columns)
    positions[order, 1] = low[1] - 2 * GAP - cell * (number // columns)
