"""The equation in other fields: fates of walks along arcs, and segmentation of images."""

import warnings
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

import isotherm as iso
from benchmarks.harness import Contestant, Race
from benchmarks.results import Result

__all__ = ["races"]

NODES, ARCS, STATES = 100_000, 30, 3


def races(scale: float = 1.0, rounds: int = 3) -> Iterator[Result | Race]:
    """Absorption probabilities against a bar."""
    warnings.simplefilter("ignore")
    yield along_arcs(scale, rounds)


def along_arcs(scale: float, rounds: int) -> Result:
    """Absorption probabilities where half of the arcs of a node lead to nodes nearby, and on the whole forward."""
    n, rng = int(NODES * scale), np.random.default_rng(0)
    source = np.repeat(np.arange(n), ARCS)
    near = (source + rng.integers(-500, 1000, len(source))) % n
    target = np.where(rng.random(len(source)) < 0.5, near, rng.integers(0, n, len(source)))
    T = csr_array((rng.random(len(source)), (source, target)), shape=(n, n))
    terminal = {int(node): place % STATES for place, node in enumerate(rng.choice(n, 30, replace=False))}
    ours = Contestant("absorption_probabilities", lambda: iso.absorption_probabilities(T, terminal))
    for _ in range(rounds):
        ours.turn()
    if abs(ours.result.sum(axis=1) - 1).max() > 1e-6:
        raise SystemExit("the probabilities of the states do not sum to one")
    work = f"fates of walks along arcs, {n:,} nodes with {ARCS} arcs, {STATES} states"
    return Result(work, "30 s", [30.0] * rounds, ours.name, ours.seconds, 1.0)
