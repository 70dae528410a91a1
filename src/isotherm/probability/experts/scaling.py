"""The scale of features, chosen by the seeds.

Counts of words are best scaled to rows of length 1. Dense columns may be measurements in different units, which have to
be standardised, or coordinates of an embedding, whose directions or lengths already mean something. So dense features
are scaled in each of these ways, and the seeds choose: a ridge regression of the classes on the features of the other
seeds predicts each of them, for all penalties at once, by the formula for leaving one out. The usual way is kept unless
another one is better by more than chance.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from isotherm.arrays import Doubles, Floats, Ints, Mask
from isotherm.probability.experts.expert import Rows
from isotherm.seeds import Seeds

MOST_SEEDS = 1000  # that choose, where there are more columns
PENALTIES = 10.0 ** np.arange(-4, 2)  # ridge penalties, in mean squared lengths of a row
SAME = 1e-6  # a column with a smaller spread, relative to its size, is constant
LEAST_GAIN = 1.0  # standard errors by which the usual scale must be beaten,
ROUNDING = 1e-9  # and share of its error, since rounding errors decide nothing


def scaled_rows(features: Rows, seeds: Seeds) -> Rows:
    """Features in the scale in which they tell the classes of seeds best; sparse rows always have length 1."""
    if issparse(features):
        lengths = np.sqrt(np.asarray(features.multiply(features).sum(axis=1)).ravel())
        return csr_array(diags_array(np.divide(1, lengths, out=np.zeros(len(lengths)), where=lengths > 0)) @ features)
    usual, *others = scales(features)
    own, codes = features[seeds.nodes], seeds.codes
    if min(own.shape) > MOST_SEEDS:
        some = _evenly(own, MOST_SEEDS)
        own, codes = own[some], codes[some]
    errors = [left_out_errors(scale.apply(own), codes) for scale in (usual, *others)]
    sums = np.array([each.sum() for each in errors])
    best = int(np.argmax(sums <= sums.min() + ROUNDING * sums[0]))  # the first of equal ones
    gain = errors[0] - errors[best]
    chance = LEAST_GAIN * np.sqrt(len(gain)) * gain.std() + ROUNDING * sums[0]
    return ((usual, *others)[best] if gain.sum() > chance else usual).apply(features)


def _evenly(rows: Floats, count: int) -> Ints:
    """Places of some rows, spread evenly along a line through all of them, so their order does not matter."""
    along = np.random.default_rng(0).normal(size=rows.shape[1])
    order = np.argsort(np.einsum("nd,d->n", rows, along), kind="stable")
    return order[np.linspace(0, len(rows) - 1, count).astype(np.int64)]


class Scale(NamedTuple):
    """A way to scale rows: columns are shifted and multiplied, and rows may be brought to length 1."""

    shift: Doubles | float
    factor: Doubles | float
    unit: bool

    def apply(self, rows: Floats) -> Floats:
        """The scaled rows; rows of zeros, for nodes without features, stay."""
        known = np.any(rows != 0, axis=1, keepdims=True)
        scaled = np.where(known, (rows - self.shift) * self.factor, 0)
        if not self.unit:
            return scaled
        lengths = np.sqrt(np.einsum("nd,nd->n", scaled, scaled))
        scaled /= np.where(lengths > 0, lengths, 1)[:, None]
        return scaled


def scales(features: Floats) -> list[Scale]:
    """The scales of dense features; in each, the mean squared length of a row is 1. The usual one is the first.

    These are standardised columns in rows of length 1, standardised columns, rows of length 1, and rows as they are.
    """
    known: Mask = np.any(features != 0, axis=1)
    count = max(int(known.sum()), 1)
    mean = features.sum(axis=0, dtype=np.float64) / count
    square = np.einsum("nd,nd->d", features, features, dtype=np.float64) / count
    spread = np.sqrt(np.maximum(square - mean**2, 0))
    varies = spread > SAME * np.sqrt(square)
    standard = np.divide(1, spread, out=np.zeros_like(spread), where=varies)
    length = np.sqrt(square.sum()) or 1.0
    return [
        Scale(mean, standard, unit=True),
        Scale(mean, standard / np.sqrt(max(varies.sum(), 1)), unit=False),
        Scale(0.0, 1.0, unit=True),
        Scale(0.0, 1 / length, unit=False),
    ]


def left_out_errors(rows: Floats, codes: Ints) -> Doubles:
    """(s,) squared errors of a ridge regression of the classes on all rows but one, with the best penalty.

    >>> rows, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> left_out_errors(rows, codes).round(2)
    array([0.01, 0.46, 0.46, 0.01])
    """
    targets = (codes[:, None] == np.unique(codes)).astype(np.float64)
    targets -= targets.mean(axis=0)
    centered = np.asarray(rows - rows.mean(axis=0), np.float64)
    sides, lengths, _ = np.linalg.svd(centered, full_matrices=False)
    squares, unit = lengths**2, max(float((lengths**2).sum()), np.finfo(np.float64).tiny)
    found = []
    for penalty in PENALTIES * unit / len(rows):
        kept = squares / (squares + penalty)
        leverage = 1 / len(rows) + (sides**2) @ kept
        residual = targets - sides @ (kept[:, None] * (sides.T @ targets))
        found.append((residual**2).sum(axis=1) / np.maximum(1 - leverage, 1e-9) ** 2)
    return min(found, key=np.sum)
