"""Segmentation of images by random walks (Grady 2006), with the signature of scikit-image's ``random_walker``.

Pixels are nodes, joined to their neighbours along each axis. The weight of an edge falls with the difference of
their values. A pixel takes the label whose seeds a random walk from it meets first most often: a Dirichlet problem.
"""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from isotherm.arrays import Doubles, Ints
from isotherm.engines import engine_of
from isotherm.equilibrium.options import SolveOptions
from isotherm.equilibrium.problem import Problem
from isotherm.equilibrium.unconverged import ConvergenceWarning
from isotherm.errors import warn
from isotherm.graphs import Graph

MODES = ("cg_mg", "cg", "bf", "cg_j", None)
EPSILON = 1e-10  # least weight of an edge, as in scikit-image


def random_walker(
    data: Any,
    labels: Any,
    beta: float = 130,
    mode: str | None = "cg_j",
    tol: float = 1.0e-3,
    copy: bool = True,
    return_full_prob: bool = False,
    spacing: Iterable[float] | None = None,
    *,
    prob_tol: float = 1e-3,
    channel_axis: int | None = None,
) -> NDArray[Any]:
    """Segment an image from markers, as ``skimage.segmentation.random_walker`` does.

    Parameters
    ----------
    data : ndarray of shape (M, N[, P][, C])
        The image, of two or three dimensions, and channels if ``channel_axis`` is given.
    labels : ndarray of shape (M, N[, P])
        Markers: positive integers for the phases, 0 for pixels to be labelled, negative for pixels that are left out.
    beta : float
        How much walks avoid edges between different values.
    mode : {"cg_j", "cg", "cg_mg", "bf", None}
        Accepted and not used: one solver serves all images.
    tol : float
        Largest error of a probability, relative to the spread (the standard deviation) of the probabilities of a
        phase. If beta is so large that rounding hides the error, it holds for the residual, as in scikit-image.
    copy : bool
        Whether to leave ``labels`` alone; otherwise the result is written into it.
    return_full_prob : bool
        Whether to return the probabilities of all phases.
    spacing : sequence of float, optional
        The distance of pixels along each axis; 1 by default.
    prob_tol : float
        Accepted and not used: probabilities are always between 0 and 1.
    channel_axis : int, optional
        The axis of the channels of ``data``, if it has them.

    Returns
    -------
    ndarray
        The label of each pixel, in the type of ``labels``; phases are numbered from 1. With ``return_full_prob``, the
        probability of each phase, of shape (phases, M, N[, P]).

    Examples
    --------
    >>> from isotherm.skimage import random_walker
    >>> image = np.zeros((5, 6))
    >>> image[:, 3:] = 1
    >>> markers = np.zeros((5, 6), int)
    >>> markers[0, 0], markers[4, 5] = 1, 2
    >>> random_walker(image, markers)[2]
    array([1, 1, 1, 2, 2, 2])
    """
    if mode not in MODES:
        raise ValueError(f"mode={mode!r}, but it must be one of {', '.join(map(repr, MODES))}")
    image, labels = np.asarray(data), np.asarray(labels)
    channels = image[..., None] if channel_axis is None else np.moveaxis(image, channel_axis, -1)
    if labels.ndim not in (2, 3) or channels.shape[:-1] != labels.shape:
        raise ValueError(f"data of shape {image.shape} does not fit labels of shape {labels.shape}, of 2 or 3 axes")
    distances = np.ones(labels.ndim) if spacing is None else np.array(list(spacing), np.float64)
    if len(distances) != labels.ndim:
        raise ValueError(
            f"spacing has {len(distances)} numbers, but the image has {labels.ndim} axes: give one for each"
        )
    values, place = np.unique(labels, return_inverse=True)
    phases = int(np.count_nonzero(values > 0))
    if not phases:
        raise ValueError("No seeds provided: labels needs a positive number somewhere")
    if 0 not in values:
        warnings.warn("no pixel has the label 0. Returning provided labels", stacklevel=2)
        return _masks(labels) if return_full_prob else labels.copy() if copy else labels
    codes = place.reshape(labels.shape) - int(np.searchsorted(values, 0))  # consecutive, and 0 stays
    chances = _probabilities(_floats(channels), codes, phases, distances, beta, tol, many=channel_axis is not None)
    unknown, isolated = codes == 0, np.isnan(chances[:, 0]).reshape(labels.shape)
    if isolated[unknown].all():
        message = "All unlabeled pixels are isolated from seeds, and have the label -1: put a seed among them"
        warnings.warn(message, stacklevel=2)
        found = np.where(unknown, -1, labels)
        return _masks(found) if return_full_prob else _as_labels(found, labels, copy=copy)
    if return_full_prob:
        return np.moveaxis(np.nan_to_num(chances).reshape(*labels.shape, phases), -1, 0)
    best = np.nan_to_num(chances).argmax(axis=1).reshape(labels.shape) + 1
    return _as_labels(np.where(unknown & ~isolated, best, codes), labels, copy=copy)


def _as_labels(found: NDArray[Any], labels: NDArray[Any], *, copy: bool) -> NDArray[Any]:
    """The result in the type of the labels; written into the labels unless ``copy``."""
    if copy:
        return found.astype(labels.dtype)
    labels[...] = found
    return labels


def _masks(labels: NDArray[Any]) -> NDArray[Any]:
    """The pixels of each phase, where all pixels are labelled: phases along the last axis, as in scikit-image."""
    return np.concatenate([np.atleast_3d(labels == value) for value in np.unique(labels) if value > 0], axis=-1)


def _floats(data: NDArray[Any]) -> NDArray[Any]:
    """Values of pixels as scikit-image scales them: integers are divided by the largest of their type."""
    if data.dtype.kind in "ui":
        return np.maximum(data / np.iinfo(data.dtype).max, -1.0)
    return data.astype(np.float64)


def _probabilities(
    image: Doubles, codes: Ints, phases: int, spacing: Doubles, beta: float, tol: float, *, many: bool
) -> Doubles:
    """(n, phases) the probability of each phase; NaN at pixels that are left out or isolated from seeds."""
    seeds = np.flatnonzero(codes > 0)
    graph = Graph.from_scipy(_grid(image, codes >= 0, spacing, beta, many=many))
    values = np.eye(phases)[codes.ravel()[seeds] - 1]
    options = SolveOptions(tol=tol)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # edges of weight 1e-10 hide the error behind rounding
        solution = engine_of(options).solve(Problem.of(graph, seeds, values), options)
    if not solution.converged and not solution.residual <= tol:
        warn(f"the residual is {solution.residual:.2g}, above tol={tol}: lower beta", ConvergenceWarning)
    return np.clip(np.asarray(solution.temperatures, np.float64), 0, 1)


def _grid(image: Doubles, active: NDArray[np.bool_], spacing: Doubles, beta: float, *, many: bool) -> csr_array:
    """The weights between neighbouring pixels (n, n), in the order of the raveled image."""
    shape, size = active.shape, active.size
    scale = 10 * image.std() * (np.sqrt(image.shape[-1]) if many else 1)
    diagonals, offsets = [], []
    for axis, distance in enumerate(spacing):
        before = tuple(slice(None, -1) if each == axis else slice(None) for each in range(len(shape)))
        squares = ((np.diff(image, axis=axis) / distance) ** 2).sum(axis=-1)
        weights = np.zeros(shape)
        weights[before] = np.exp(-beta * squares / scale) + EPSILON if scale > 0 else 1.0
        weights[before] *= active[before] & np.roll(active, -1, axis)[before]
        step = int(np.prod(shape[axis + 1 :]))
        diagonals += [weights.ravel()[: size - step]] * 2
        offsets += [step, -step]
    return csr_array(diags_array(diagonals, offsets=offsets, shape=(size, size)))
