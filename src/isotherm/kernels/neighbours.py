"""The search for nearest rows in plain NumPy, with the signatures of the native kernels.

Rows are cut into lists: list ``l`` holds rows ``lists[l]`` to ``lists[l + 1] - 1``. A query looks through the lists
that it probes, or through all of them. Squared distances are compared as ``|y|^2 - 2 x.y``.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["nearest_rows", "refine"]


def nearest_rows(
    rows: NDArray[np.float32],
    squares: NDArray[np.float32],
    lists: NDArray[np.int64],
    queries: NDArray[np.float32],
    probes: NDArray[np.int32] | None,
    nearest: NDArray[np.int32],
    threads: int,
) -> None:
    """The nearest rows of each query in the lists that it probes, nearest first; -1 where there are fewer."""
    nearest[:] = -1
    everything = np.arange(len(lists) - 1)
    for query, x in enumerate(queries):
        probed = everything if probes is None else np.sort(probes[query])
        seen = np.concatenate([np.arange(lists[probe], lists[probe + 1]) for probe in probed])
        distances = squares[seen] - 2 * (rows[seen] @ x)
        order = np.lexsort((seen, distances))[: nearest.shape[1]]
        nearest[query, : len(order)] = seen[order]


def refine(
    rows: NDArray[np.float32],
    queries: NDArray[np.float32],
    candidates: NDArray[np.int32],
    own: NDArray[np.int32],
    nearest: NDArray[np.int32],
    distances: NDArray[np.float64],
    threads: int,
) -> None:
    """The nearest candidates of each query, by exact differences; never its own row, nor a candidate below 0."""
    nearest[:], distances[:] = -1, np.inf
    for query, x in enumerate(queries.astype(np.float64)):
        seen = candidates[query][(candidates[query] >= 0) & (candidates[query] != own[query])]
        apart = np.sqrt(((rows[seen] - x) ** 2).sum(axis=1))
        order = np.lexsort((seen, apart))[: nearest.shape[1]]
        nearest[query, : len(order)], distances[query, : len(order)] = seen[order], apart[order]
