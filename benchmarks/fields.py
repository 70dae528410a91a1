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
    """Absorption probabilities against a bar, and images against scikit-image."""
    warnings.simplefilter("ignore")
    yield along_arcs(scale, rounds)
    for shape in ((512, 512), (128, 128, 128)):
        yield image(tuple(max(8, int(side * scale)) for side in shape), rounds)


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


def image(shape: tuple[int, ...], rounds: int) -> Race:
    """A ball in noise, with a marker in it and two outside."""
    from skimage.segmentation import random_walker as theirs

    from isotherm.skimage import random_walker as ours

    centre, rng = [side // 2 for side in shape], np.random.default_rng(0)
    squares = sum((places - middle) ** 2 for places, middle in zip(np.indices(shape), centre, strict=True))
    data = (squares < (min(shape) / 4) ** 2) + 0.15 * rng.normal(size=shape)
    markers = np.zeros(shape, int)
    markers.flat[[0, -1]] = 1
    markers[tuple(centre)] = 2
    work = f"random_walker on {' x '.join(map(str, shape))} pixels"
    peer = Contestant("scikit-image, cg_j", lambda: theirs(data, markers))
    race = Race(work, peer, Contestant("isotherm.skimage", lambda: ours(data, markers)), goal=1.0)
    race.run(rounds)
    if np.mean(race.ours.result != race.peer.result) > 0.01:
        raise SystemExit("more than one pixel in a hundred differs from scikit-image: this is no race")
    return race
