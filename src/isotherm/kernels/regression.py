"""The reference kernel of multinomial logistic regression."""

import numpy as np

from isotherm.arrays import Doubles, Ints


def regress(
    rows: Doubles, codes: Ints, penalty: Doubles, weights: Doubles, gradient: float, enough: float, threads: int
) -> None:
    """Find the weights (d, K) of the columns for which the log-loss is least, from a start that is overwritten.

    The loss of rows (s, d) with classes ``codes`` is summed; each column adds half of its ``penalty`` times its squared
    weights. At the end, the gradient is at most ``gradient`` times as long as at the start. The native kernel also ends
    where a step of Newton's method decreases the loss by at most ``enough``.
    """
    from scipy.optimize import minimize  # few fits run the reference kernels

    own = np.eye(weights.shape[1])[codes]

    def chances(x: Doubles) -> Doubles:
        logits = rows @ x.reshape(weights.shape)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        found: Doubles = powers / powers.sum(axis=1, keepdims=True)
        return found

    def loss(x: Doubles) -> tuple[float, Doubles]:
        found, pull = chances(x), penalty[:, None] * x.reshape(weights.shape)
        value = -np.log(np.maximum(found, 1e-300))[own > 0].sum() + x @ pull.ravel() / 2
        return float(value), (rows.T @ (found - own) + pull).ravel()

    def curve(x: Doubles, step: Doubles) -> Doubles:
        found, direction = chances(x), step.reshape(weights.shape)
        change = found * (rows @ direction)
        change -= found * change.sum(axis=1, keepdims=True)
        product: Doubles = (rows.T @ change + penalty[:, None] * direction).ravel()
        return product

    start = weights.ravel().copy()
    least = gradient * float(np.linalg.norm(loss(start)[1]))
    if not least:
        return
    weights[:] = minimize(loss, start, jac=True, hessp=curve, method="trust-ncg", tol=least).x.reshape(weights.shape)
