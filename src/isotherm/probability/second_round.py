"""The second round: probable labels teach a regression on features.

With few seeds, a regression on features sees few rows. But once all experts have answered, some nodes of each class are
nearly certain, and their features tell more about the class. So a ridge regression on the features learns the
probabilities of these nodes, and answers for all nodes as one more expert. This is self-training. It is repeated once,
with the nodes that are most probable by both rounds.

Hidden seeds decide how much the second round counts. While they are hidden, the probabilities that teach it come from
the visible seeds only.

Nodes are weighted rather than selected, and targets are probabilities, so the result is continuous in the
probabilities: rounding errors cannot change it much. The regression is one of least squares, by a few steps of
conjugate gradient. Each step takes two products with the features of all nodes, which are never stored.
"""

import numpy as np
from scipy.special import softmax

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.probability.combination import log_odds
from isotherm.probability.experts.regression import FeatureMap
from isotherm.probability.optimise import Local, minimum

NAME = "second round"
ROUNDS = 2
SHARE = 0.15  # share of the expected size of a class that has full weight; at twice that share the weight is 0
LEAST_GAP = 1e-3  # between the probabilities of full and of no weight
PENALTY, STEPS = 0.003, 3  # ridge penalty for each unit of weight; steps of conjugate gradient
TEACHING = 2.0  # weight of the first repetition where it weights the nodes for the next one
RIDGE = 1e-3  # penalty on slope and biases, for each unit of weight


def second_round(features: FeatureMap, logits: Doubles, seeds: Ints, codes: Ints, shares: Doubles) -> Floats:
    """(n, K) log-odds, given the logits (n, K) of the first round, and the classes of the visible seeds."""
    found = logits
    for _ in range(ROUNDS):
        chances = softmax(found, axis=1)
        chances[seeds] = np.eye(len(shares))[codes]
        odds = log_odds(_taught(features, chances, _teaching_weights(chances, seeds)), shares)
        found = logits + TEACHING * odds
    return odds


def _teaching_weights(chances: Doubles, seeds: Ints) -> Doubles:
    """(n,) how much each node counts: all of the seeds, and the most probable nodes of each class."""
    others = np.delete(chances, seeds, axis=0)
    weights = np.zeros(len(chances))
    for column, ranked in zip(chances.T, -np.sort(-others, axis=0).T, strict=True):
        size = SHARE * ranked.sum()
        full, none = np.interp([size, 2 * size], np.arange(len(ranked)), ranked) if len(ranked) else (1.0, 1.0)
        np.maximum(weights, np.clip((column - none) / max(full - none, LEAST_GAP), 0, 1), out=weights)
    weights[seeds] = 1
    return weights


def _taught(features: FeatureMap, chances: Doubles, weights: Doubles) -> Doubles:
    """(n, K) logits by a regression that is taught the chances of the weighted nodes."""
    mean, some = weights @ chances / weights.sum(), np.flatnonzero(weights)
    targets = weights[:, None] * (chances - mean)
    taught = features.only(some)
    columns = _ridge(features, targets, weights) if taught is None else _ridge(taught, targets[some], weights[some])
    scores = np.asarray(features.logits(columns), np.float64)
    spread = np.sqrt(weights[some] @ (scores[some] ** 2).mean(axis=1) / weights.sum()) or 1.0
    slope, *biases = _scaled(scores[some] / spread, chances[some], weights[some])
    return np.asarray(slope / spread * scores + biases)


def _ridge(features: FeatureMap, targets: Doubles, weights: Doubles) -> Doubles:
    """(d, K) weights of the columns by least squares, each class by itself, given targets times weights (n, K)."""
    penalty = PENALTY * weights.sum()
    residual = np.asarray(features.adjoint(targets), np.float64)
    found, direction, square = np.zeros_like(residual), residual, np.einsum("dk,dk->k", residual, residual)
    for _ in range(STEPS):
        product = features.adjoint(weights[:, None] * features.logits(direction)) + penalty * direction
        curvature = np.einsum("dk,dk->k", direction, product)
        length = np.divide(square, curvature, out=np.zeros_like(square), where=curvature > 0)
        found = found + length * direction
        residual = residual - length * product
        before, square = square, np.einsum("dk,dk->k", residual, residual)
        direction = residual + np.divide(square, before, out=np.zeros_like(square), where=before > 0) * direction
    return found


def _scaled(scores: Doubles, targets: Doubles, weights: Doubles) -> Doubles:
    """(1 + K,) the slope and the biases with which scores (m, K) are the logits of the targets, by likelihood."""
    weights = weights / weights.sum()

    def loss(x: Doubles) -> Local:
        logits = x[0] * scores + x[1:]
        logits -= logits.max(axis=1, keepdims=True)
        found = np.exp(logits)
        sums = found.sum(axis=1, keepdims=True)
        found /= sums
        value = float(weights @ (np.log(sums[:, 0]) - np.einsum("nk,nk->n", targets, logits)))
        error = weights[:, None] * (found - targets)
        gradient = np.append(np.vdot(error, scores), error.sum(axis=0)) + RIDGE * x
        curvature = _curvature(scores, found, weights)
        return Local(value + RIDGE / 2 * float(x @ x), gradient, lambda step: curvature @ step + RIDGE * step)

    return minimum(loss, np.append(1.0, np.zeros(scores.shape[1])))


def _curvature(scores: Doubles, found: Doubles, weights: Doubles) -> Doubles:
    """(1 + K, 1 + K) second derivatives of the loss by the slope and the biases, without the penalty."""
    weighted = weights[:, None] * found
    tilted = weighted * (scores - np.einsum("nk,nk->n", found, scores)[:, None])
    by_both = tilted.sum(axis=0)
    by_biases = np.diag(weighted.sum(axis=0)) - weighted.T @ found
    return np.block([[np.vdot(tilted, scores), by_both], [by_both[:, None], by_biases]])
