"""Other methods to find labels: diffusions and regressions written here, and the classifiers of other packages.

With few seeds and many features, a regression is fitted in the space that the rows of the seeds span. That changes
nothing but the time: a penalty on the squared norm does not see directions that the seeds do not have. Means over
neighbours are taken of the scores of the regression, not of the features of all nodes.

Other packages get edges without direction and classes numbered from 0 to k-1. scikit-network and GraphLearning are used
with their own defaults. GraphLearning gives NaN where a part of the graph has no seed, so it gets the reached nodes
only. Poisson learning also fails if the parts are not connected, so it gets each connected part that has seeds of two
classes; if all seeds of a part are of one class, that is its answer.
"""

import contextlib
import io
import warnings

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from isotherm.arrays import Doubles, Ints
from isotherm.study.scores import Answer, answer
from isotherm.study.tasks import Draw, Task

ALPHA = 0.8
STEPS = 50  # the error is then below 0.8 ** 50 = 1e-5
PROPAGATION_LAYERS, PROPAGATION_ALPHA = 50, 0.9
# Inverse ridge penalties, chosen for the best scores on a few graphs for development; for hops it is a guess.
PENALTIES = {"features": 1000.0, "hops": 100.0, "convolution": 1000.0, "spectral": 10.0}
DIMENSIONS = 32
TOLERANCE = 1e-4
CHUNK = 1000  # rows per product


def label_spreading(task: Task, draw: Draw) -> Answer:
    """Zhou et al. 2004: F <- alpha S F + (1 - alpha) Y, with S the symmetrically normalised weights."""
    classes, start = one_hot(draw)
    found = spread(normalised(task), start)
    mass = found.sum(axis=1, keepdims=True)
    return answer(classes, np.divide(found, mass, out=np.zeros_like(found), where=mass > 0))


def correct_and_smooth(task: Task, draw: Draw) -> Answer:
    """Huang et al. 2021, with the scaling of its authors, on the regression over [X, PX, P^2 X]."""
    classes, start = one_hot(draw)
    base = hop_probabilities(task, draw)  # (n, k)
    weights = normalised(task)
    # The errors at the seeds are spread and subtracted.
    wrong = np.zeros_like(base)
    wrong[draw.seeds] = start[draw.seeds] - base[draw.seeds]
    error = spread(weights, wrong)
    size = np.abs(wrong[draw.seeds]).sum(axis=1).mean()
    reach = np.abs(error).sum(axis=1, keepdims=True)
    scale = np.divide(size, reach, out=np.zeros_like(reach), where=reach > 0)
    corrected = base + np.where(scale > 1000, 1.0, scale) * error
    # Then the corrected probabilities are spread, with the seeds held at their labels.
    corrected[draw.seeds] = start[draw.seeds]
    return answer(classes, np.clip(spread(weights, corrected), 0, 1), beyond_links=True, proper=False)


def one_hot(draw: Draw) -> tuple[Ints, Doubles]:
    """The k classes of the seeds, and (n, k) their one-hot labels; rows of other nodes are 0."""
    classes, codes = _numbered(draw)
    return classes, (codes[:, None] == np.arange(len(classes))).astype(np.float64)


def spread(weights: csr_array, start: Doubles) -> Doubles:
    """(1 - alpha) (I - alpha S)^-1 applied to a start, by iteration."""
    found = start
    for _ in range(STEPS):
        found = ALPHA * (weights @ found) + (1 - ALPHA) * start
    return found


def normalised(task: Task) -> csr_array:
    """S = D^-1/2 A D^-1/2; isolated nodes have empty rows."""
    return task.shared("normalised", lambda: _symmetric(csr_array(task.matrix)))


def feature_regression(task: Task, draw: Draw) -> Answer:
    """Logistic regression on the features alone, in rows of unit length."""
    rows = unit_features(task)
    classes, weights, shift = _fit(rows[draw.seeds].toarray(), draw, PENALTIES["features"])
    return answer(classes, _probabilities(rows @ weights + shift), beyond_links=True)


def simple_graph_convolution(task: Task, draw: Draw) -> Answer:
    """SGC (Wu et al. 2019): regression on S^2 X; S has the symmetrically normalised weights and a loop at each node."""
    rows = unit_features(task)
    step = task.shared("convolution", lambda: _symmetric(csr_array(task.matrix) + eye_array(rows.shape[0])))
    at_seeds = csr_array(step[draw.seeds] @ step) @ rows
    classes, weights, shift = _fit(at_seeds.toarray(), draw, PENALTIES["convolution"])
    return answer(classes, _probabilities(step @ (step @ (rows @ weights)) + shift), beyond_links=True)


def hop_regression(task: Task, draw: Draw) -> Answer:
    """Regression on [X, PX, P^2 X], with P the mean over neighbours; each of the three in rows of unit length."""
    classes = np.unique(draw.known[draw.seeds])
    return answer(classes, hop_probabilities(task, draw), beyond_links=True)


def hop_probabilities(task: Task, draw: Draw) -> Doubles:
    """The probabilities (n, k) of `hop_regression`."""
    rows, mean = unit_features(task), task.shared("mean", lambda: _mean(task))
    lengths = task.shared("lengths", lambda: [_row_lengths(rows, [mean] * hops) for hops in range(3)])
    near = csr_array(mean[draw.seeds])
    parts = rows[draw.seeds], near @ rows, csr_array(near @ mean) @ rows
    blocks = [_scaled(part.toarray(), length[draw.seeds]) for part, length in zip(parts, lengths, strict=True)]
    _, weights, shift = _fit(np.hstack(blocks), draw, PENALTIES["hops"])
    here, one_away, two_away = (rows @ part for part in np.split(weights, 3))
    scores = here, mean @ one_away, mean @ (mean @ two_away)
    return _probabilities(sum(map(_scaled, scores, lengths)) + shift)


def spectral_regression(task: Task, draw: Draw) -> Answer:
    """Regression on the spectral embedding of scikit-network in 32 dimensions, whose rows have unit length."""
    rows = task.shared("spectral", lambda: _embedding(task))
    classes, weights, shift = _fit(rows[draw.seeds], draw, PENALTIES["spectral"])
    return answer(classes, _probabilities(rows @ weights + shift))


def unit_features(task: Task) -> csr_array:
    """Features in rows of unit length."""
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
    weights = csr_array(task.matrix)
    degrees = weights.sum(axis=1)
    inverse = np.divide(1, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    return csr_array(diags_array(inverse) @ weights)


def _symmetric(weights: csr_array) -> csr_array:
    """D^-1/2 A D^-1/2."""
    degrees = weights.sum(axis=1)
    root = diags_array(np.divide(1, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0))
    return csr_array(root @ weights @ root)


def _embedding(task: Task) -> Doubles:
    from sknetwork.embedding import Spectral

    dimensions = min(DIMENSIONS, task.matrix.shape[0] - 2)
    return np.asarray(Spectral(dimensions).fit_transform(task.matrix))


def _row_lengths(rows: csr_array, steps: list[csr_array]) -> Doubles:
    """The length of each row of the features after some means over neighbours, which are not kept."""
    lengths = np.zeros(rows.shape[0])
    for begin in range(0, rows.shape[0], CHUNK):
        first, *others = (*steps, rows)
        values = csr_array(first[begin : begin + CHUNK])
        for step in others:
            values = csr_array(values @ step)
        lengths[begin : begin + CHUNK] = np.sqrt(values.multiply(values).sum(axis=1))
    return lengths


def _scaled(values: Doubles, lengths: Doubles) -> Doubles:
    """Rows divided by their lengths."""
    return values / np.where(lengths > 0, lengths, 1)[:, None]


def network_classifier(task: Task, draw: Draw, name: str) -> Answer:
    """A classifier of scikit-network."""
    import sknetwork.classification as theirs

    classes, codes = _numbered(draw)
    model = getattr(theirs, name)().fit(task.matrix, codes)
    labels = np.asarray(model.labels_)
    found = np.where(labels >= 0, classes[np.maximum(labels, 0)], -1)
    return Answer(found, np.asarray(model.predict_proba().max(axis=1)).ravel())


def graph_learning(task: Task, draw: Draw, name: str) -> Answer:
    """Laplace learning, Poisson learning or random walks of GraphLearning."""
    classes, codes = _numbered(draw)
    values = np.full((len(codes), len(classes)), -np.inf)
    for part in _parts(task, draw) if name == "poisson" else [np.flatnonzero(draw.reached)]:
        _learn(task, name, part, codes, values)
    return answer(classes, values, proper=False)


def torch_propagation(task: Task, draw: Draw) -> Answer:
    """Label propagation of PyTorch Geometric."""
    import torch
    from torch_geometric.nn import LabelPropagation

    classes, codes = _numbered(draw)
    edges = normalised(task).tocoo()  # given weights are taken as they are
    ends = torch.from_numpy(np.stack([edges.row, edges.col]).astype(np.int64))
    model = LabelPropagation(num_layers=PROPAGATION_LAYERS, alpha=PROPAGATION_ALPHA)
    mask, labels = torch.from_numpy(codes >= 0), torch.from_numpy(np.maximum(codes, 0))
    found = model(labels, ends, mask=mask, edge_weight=torch.from_numpy(edges.data.astype(np.float32)))
    values = found.numpy().astype(np.float64)[:, : len(classes)]
    return answer(classes, values, proper=False)


def _numbered(draw: Draw) -> tuple[Ints, Ints]:
    """The classes of the seeds, and (n,) the seeds' places among them, -1 elsewhere."""
    classes, places = np.unique(draw.known[draw.seeds], return_inverse=True)
    codes = np.full(len(draw.known), -1, dtype=np.int64)
    codes[draw.seeds] = places
    return classes, codes


def _parts(task: Task, draw: Draw) -> list[Ints]:
    """The nodes of each connected part that has a seed."""
    nodes = np.flatnonzero(draw.reached)
    nodes = nodes[np.argsort(task.components[nodes], kind="stable")]
    return np.split(nodes, np.flatnonzero(np.diff(task.components[nodes])) + 1)


def _learn(task: Task, name: str, nodes: Ints, codes: Ints, values: Doubles) -> None:
    """Set the values (n, k) of these nodes."""
    import graphlearning

    inside = codes[nodes]
    seeds = np.flatnonzero(inside >= 0)
    present, places = np.unique(inside[seeds], return_inverse=True)
    if len(present) == 1:
        values[nodes, present[0]] = 1
        return
    model = getattr(graphlearning.ssl, name)(task.matrix[nodes][:, nodes])
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        found = model.fit(seeds, places)
    values[np.ix_(nodes, present)] = found
