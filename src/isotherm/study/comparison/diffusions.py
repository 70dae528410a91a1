"""Methods that spread labels along the edges: label spreading, and Correct and Smooth."""

import numpy as np
from scipy.sparse import csr_array, diags_array

from isotherm.arrays import Doubles, Ints
from isotherm.study.comparison.regressions import hop_probabilities
from isotherm.study.comparison.scores import Answer, answer
from isotherm.study.comparison.tasks import Draw, Task

__all__ = ["correct_and_smooth", "label_spreading", "normalised", "spread"]

ALPHA = 0.8
STEPS = 50  # what is left of the first step then, 0.8 ** 50, is 1e-5


def label_spreading(task: Task, draw: Draw) -> Answer:
    """Zhou et al. 2004: F <- alpha S F + (1 - alpha) Y, with S the symmetrically normalised weights."""
    classes, start = one_hot(draw)
    found = spread(normalised(task), start, alpha=ALPHA)
    mass = found.sum(axis=1, keepdims=True)
    return answer(classes, np.divide(found, mass, out=np.zeros_like(found), where=mass > 0))


def correct_and_smooth(task: Task, draw: Draw) -> Answer:
    """Huang et al. 2021, with the scaling of its authors, on the regression over [X, PX, P^2 X].

    The errors at the seeds are spread and taken off; then the corrected probabilities are spread, with the seeds held
    at their labels.
    """
    classes, start = one_hot(draw)
    base = hop_probabilities(task, draw)  # (n, k)
    weights = normalised(task)
    wrong = np.zeros_like(base)
    wrong[draw.seeds] = start[draw.seeds] - base[draw.seeds]
    error = spread(weights, wrong, alpha=ALPHA)
    size = np.abs(wrong[draw.seeds]).sum(axis=1).mean()
    reach = np.abs(error).sum(axis=1, keepdims=True)
    scale = np.divide(size, reach, out=np.zeros_like(reach), where=reach > 0)
    corrected = base + np.where(scale > 1000, 1.0, scale) * error
    corrected[draw.seeds] = start[draw.seeds]
    smooth = np.clip(spread(weights, corrected, alpha=ALPHA), 0, 1)
    return answer(classes, smooth, beyond_links=True, proper=False)


def one_hot(draw: Draw) -> tuple[Ints, Doubles]:
    """The k classes of the seeds, and for each node (n, k) a 1 at the class that it is known to have."""
    classes, codes = np.unique(draw.known[draw.seeds], return_inverse=True)
    start = np.zeros((len(draw.known), len(classes)))
    start[draw.seeds, codes] = 1
    return classes, start


def spread(weights: csr_array, start: Doubles, *, alpha: float) -> Doubles:
    """(1 - alpha) (I - alpha S)^-1 applied to a start, by iteration."""
    found = start
    for _ in range(STEPS):
        found = alpha * (weights @ found) + (1 - alpha) * start
    return found


def normalised(task: Task) -> csr_array:
    """S = D^-1/2 A D^-1/2; isolated nodes have empty rows."""

    def make() -> csr_array:
        degrees = np.asarray(task.matrix.sum(axis=1)).ravel()
        root = np.divide(1, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
        return csr_array(diags_array(root) @ csr_array(task.matrix) @ diags_array(root))

    return task.shared("normalised", make)
