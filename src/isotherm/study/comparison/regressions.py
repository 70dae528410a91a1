"""Logistic regression: on features, on their means over neighbours, and on a spectral embedding of the graph.

With few seeds and many features, the regression is fitted in the space that the rows of the seeds span, which changes
nothing but the time: a penalty on the squared norm does not look at directions that the seeds do not have. Means over
neighbours are taken of what the regression says, not of the features of all nodes.
"""

import warnings

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from isotherm.arrays import Doubles, Ints
from isotherm.study.comparison.scores import Answer, answer
from isotherm.study.comparison.tasks import Draw, Task

__all__ = [
    "feature_regression",
    "hop_probabilities",
    "hop_regression",
    "simple_graph_convolution",
    "spectral_regression",
]

# Inverse penalties, chosen for the best scores of each method on a few graphs for development; that of hops is a guess.
PENALTIES = {"features": 1000.0, "hops": 100.0, "convolution": 1000.0, "spectral": 10.0}
DIMENSIONS = 32
TOLERANCE = 1e-4
CHUNK = 1000  # rows at once


def feature_regression(task: Task, draw: Draw) -> Answer:
    """On the features alone, in rows of length 1."""
    rows = unit_features(task)
    classes, weights, shift = _fit(_dense(rows[draw.seeds]), draw, PENALTIES["features"])
    return answer(classes, _probabilities(rows @ weights + shift), beyond_links=True)


def simple_graph_convolution(task: Task, draw: Draw) -> Answer:
    """SGC (Wu et al. 2019): on S^2 X, with S the symmetrically normalised weights and a loop at each node."""
    rows, step = unit_features(task), task.shared("convolution", lambda: _convolution(task))
    at_seeds = _dense(csr_array(step[draw.seeds] @ step) @ rows)
    classes, weights, shift = _fit(at_seeds, draw, PENALTIES["convolution"])
    return answer(classes, _probabilities(step @ (step @ (rows @ weights)) + shift), beyond_links=True)


def hop_regression(task: Task, draw: Draw) -> Answer:
    """On [X, PX, P^2 X], with P the mean over neighbours; each of the three in rows of length 1."""
    classes = np.unique(draw.known[draw.seeds])
    return answer(classes, hop_probabilities(task, draw), beyond_links=True)


def hop_probabilities(task: Task, draw: Draw) -> Doubles:
    """The probabilities (n, k) of `hop_regression`."""
    rows, mean = unit_features(task), task.shared("mean", lambda: _mean(task))
    lengths = task.shared("lengths", lambda: [_row_lengths(rows, [mean] * hops) for hops in range(3)])
    near = csr_array(mean[draw.seeds])
    parts = rows[draw.seeds], near @ rows, csr_array(near @ mean) @ rows
    blocks = [_scaled(_dense(part), length[draw.seeds]) for part, length in zip(parts, lengths, strict=True)]
    _, weights, shift = _fit(np.hstack(blocks), draw, PENALTIES["hops"])
    here, one_away, two_away = (rows @ part for part in np.split(weights, 3))
    said = here, mean @ one_away, mean @ (mean @ two_away)
    return _probabilities(sum(map(_scaled, said, lengths)) + shift)


def spectral_regression(task: Task, draw: Draw) -> Answer:
    """On the spectral embedding of scikit-network in 32 dimensions, in rows of length 1."""
    rows = task.shared("spectral", lambda: _embedding(task))
    classes, weights, shift = _fit(rows[draw.seeds], draw, PENALTIES["spectral"])
    return answer(classes, _probabilities(rows @ weights + shift))


def unit_features(task: Task) -> csr_array:
    """Features in rows of length 1."""
    return task.shared("features", lambda: csr_array(normalize(csr_array(task.features, dtype=np.float64))))


def _fit(rows: Doubles, draw: Draw, penalty: float) -> tuple[Ints, Doubles, Doubles]:
    """The classes of the seeds, and weights (d, k) and shifts (k,) of their scores."""
    sizes, basis = np.linalg.eigh(rows @ rows.T)  # far smaller than the features, if there are few seeds
    span = sizes > 1e-12 * max(sizes[-1], 1e-300)
    span[-1] = True  # even if all features of the seeds are 0
    basis, sizes = basis[:, span], np.sqrt(np.maximum(sizes[span], 1e-12))
    model = LogisticRegression(C=penalty, max_iter=1000, tol=TOLERANCE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(basis * sizes, draw.known[draw.seeds])
    weights, shift = rows.T @ (basis / sizes) @ model.coef_.T, model.intercept_
    if len(model.classes_) == 2:  # one column, the score of the second class
        weights, shift = np.hstack([np.zeros_like(weights), weights]), np.concatenate([[0.0], shift])
    return model.classes_.astype(np.int64), weights, shift


def _probabilities(scores: Doubles) -> Doubles:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def _mean(task: Task) -> csr_array:
    """P = D^-1 A."""
    degrees = np.asarray(task.matrix.sum(axis=1)).ravel()
    inverse = np.divide(1, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    return csr_array(diags_array(inverse) @ csr_array(task.matrix))


def _convolution(task: Task) -> csr_array:
    looped = csr_array(task.matrix) + eye_array(task.matrix.shape[0])
    root = diags_array(1 / np.sqrt(looped.sum(axis=1)))
    return csr_array(root @ looped @ root)


def _embedding(task: Task) -> Doubles:
    from sknetwork.embedding import Spectral

    dimensions = min(DIMENSIONS, task.matrix.shape[0] - 2)
    return np.asarray(Spectral(dimensions).fit_transform(task.matrix))


def _row_lengths(rows: csr_array, steps: list[csr_array]) -> Doubles:
    """The length of each row of the features after some means over neighbours, without keeping these."""
    lengths = np.zeros(rows.shape[0])
    for begin in range(0, rows.shape[0], CHUNK):
        part: csr_array | None = None
        for step in steps:
            part = csr_array(step[begin : begin + CHUNK]) if part is None else csr_array(part @ step)
        values = rows[begin : begin + CHUNK] if part is None else part @ rows
        lengths[begin : begin + CHUNK] = np.sqrt(values.multiply(values).sum(axis=1))
    return lengths


def _scaled(values: Doubles, lengths: Doubles) -> Doubles:
    """Rows divided by their lengths."""
    return values / np.where(lengths > 0, lengths, 1)[:, None]


def _dense(rows: csr_array) -> Doubles:
    return np.asarray(rows.toarray())
