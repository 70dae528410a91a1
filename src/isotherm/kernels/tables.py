"""The reference kernels on plain tables: a row for each node, and a column for each class or feature.

In a table of classes, the rows of unreached nodes begin with NaN. In a search for nearest rows, the table is cut into
lists: list ``l`` holds rows ``lists[l]`` to ``lists[l + 1] - 1``. A query looks through the lists that it probes, or
through all of them. Squared distances are compared as ``|y|^2 - 2 x.y``.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import log_softmax

from isotherm.arrays import Doubles, Floats, Ints
from isotherm.kernels.numbering import Codes

Singles: TypeAlias = NDArray[np.float32]

LEAST_MEAN = 1e-12  # least mean temperature, for a class without a visible seed


def table_moments(x: Floats, threads: int) -> Doubles:
    """Number of reached rows, the sums of the columns over them, and the sums of their squares: 1 + 2 K numbers."""
    known = x[~np.isnan(x[:, 0])].astype(np.float64)
    return np.concatenate([[len(known)], known.sum(axis=0), (known**2).sum(axis=0)])


def best_columns(x: Floats, tie: float, best: Ints, threads: int) -> None:
    """The first column whose entry is within ``tie`` of the largest of its row; -1 where unreached."""
    largest = x.max(axis=1, keepdims=True)
    first = (x >= largest - x.dtype.type(tie)).argmax(axis=1)
    best[:] = np.where(np.isnan(x[:, 0]), -1, np.where(np.isnan(largest[:, 0]), x.argmax(axis=1), first))


def combine(
    base: Floats, block: Floats, near: Floats, times: Floats, group: Codes, mixed: Floats, out: Floats, threads: int
) -> None:
    """``out = base + block near + times mixed``; ``mixed`` has a row for each group, and group -1 takes none."""
    out[:] = base + block[:, : len(near)] @ near
    grouped = group >= 0
    out[grouped] += times[grouped, None] * mixed[group[grouped]]


def place_rows(x: Floats, offset: Floats, places: Ints | None, out: Floats, threads: int) -> None:
    """Rows ``places`` of ``out``, or its first rows, become ``x + offset``; further columns of these rows become 0."""
    rows = slice(len(x)) if places is None else places
    padded = np.zeros((len(x), out.shape[1]), out.dtype)
    np.add(x, offset, out=padded[:, : x.shape[1]])
    out[rows] = padded


def rank(x: Floats, first: int, scores: Doubles, classes: Codes, mass: Doubles, threads: int) -> None:
    """Enter the scores x (n, k) of classes from ``first`` on into the best of each row so far, best first.

    ``mass`` is the sum of exp(score - best score) over all classes so far. Unreached rows stay as they are.
    """
    known = np.flatnonzero(~np.isnan(x[:, 0]))
    every = np.concatenate([scores[known], x[known]], axis=1)
    numbers = np.tile(np.arange(first, first + x.shape[1], dtype=np.int32), (len(known), 1))
    order = np.argsort(-every, axis=1, kind="stable")[:, : scores.shape[1]]
    top = every.max(axis=1, initial=-np.inf)
    mass[known] *= np.exp(scores[known, 0] - top)
    mass[known] += np.exp(x[known] - top[:, None]).sum(axis=1)
    scores[known] = np.take_along_axis(every, order, axis=1)
    classes[known] = np.take_along_axis(np.concatenate([classes[known], numbers], axis=1), order, axis=1)


def chances(
    x: Floats,
    indptr: Ints,
    indices: Codes,
    direct: Doubles,
    neighbours: Doubles,
    mean: Doubles,
    shares: Doubles,
    slopes: Doubles,
    covariance: Doubles,
    bias: Doubles,
    lapse: float,
    out: Doubles,
    threads: int,
) -> None:
    """Calibrated probabilities (n, K) from temperatures x; 0 where unreached. Means must be positive."""
    from_seeds = csr_array((direct, indices, indptr), shape=x.shape).toarray()
    kinds = evidence(x, from_seeds, neighbours, mean, shares)[: len(slopes)]
    out[:] = np.nan_to_num(weigh(kinds, slopes, covariance, bias, lapse, shares))


def evidence(temperatures: Floats, direct: Floats, neighbours: Doubles, mean: Doubles, shares: Doubles) -> Doubles:
    """The five kinds of evidence of `isotherm.probability.calibration`, shape (5, n, K); NaN where unreached."""
    T, R, d, m = np.maximum(temperatures, 0, dtype=np.float64), direct, neighbours[:, None], mean
    r = np.minimum(R.sum(axis=1, keepdims=True), 1)
    non_seeds = d * np.maximum(T - R, 0)
    return np.stack(
        [
            np.log((d * T + m) / ((d + 1) * m)),
            T - m,
            (T - m) * np.sqrt(d),
            np.log((non_seeds + m) / ((d * (1 - r) + 1) * m)),
            np.where(np.isnan(T), T, np.log((d * R + shares) / ((d * r + 1) * shares))),
        ]
    )


def weigh(
    kinds: Doubles, slopes: Doubles, covariance: Doubles, bias: Doubles, lapse: float, shares: Doubles
) -> Doubles:
    """Probabilities (n, K), given the evidence (s, n, K); NaN where the evidence is NaN."""
    logits = np.einsum("s,shk->hk", slopes, kinds) + bias
    followed = np.log(shares) + logits * _trust(kinds, covariance)[:, None]
    powers = np.exp(followed - followed.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray((1 - lapse) * powers / powers.sum(axis=1, keepdims=True) + lapse * shares)


def _trust(kinds: Doubles, covariance: Doubles) -> Doubles:
    """Factor (n,) by which logits shrink: 1 if certain, less if their differences have a large variance."""
    centered = kinds - kinds.mean(axis=2, keepdims=True)
    variance = np.einsum("shk,shk->h", np.tensordot(covariance, centered, 1), centered)
    return np.asarray(1 / np.sqrt(1 + np.pi / 8 * variance * 2 / max(1, kinds.shape[2] - 1)))


def odds_of(chances: Floats, shares: Doubles, least: float, limit: float, out: Floats, threads: int) -> None:
    """Log-odds of probabilities against class shares, whose logarithms are given; 0 in rows of zeros."""
    odds = np.log(np.maximum(chances, least, dtype=np.float64)) - shares
    out[:] = np.where(chances.any(axis=1, keepdims=True), np.clip(odds, -limit, limit), 0)


def decide(
    chances: Doubles, weights: Doubles, factors: Doubles, most: float, tie: float, best: Ints, threads: int
) -> None:
    """The first class with the best score of each row, up to a share ``tie`` of their sum; -1 in rows of zeros.

    Scores are probabilities times weights times factors. No factor is more than ``most`` times that of the class that
    would be the best without factors.
    """
    costs = chances * weights
    scores = costs * np.minimum(factors / factors[costs.argmax(axis=1), None], most)
    sums = scores.sum(axis=1, keepdims=True)
    first = (scores >= scores.max(axis=1, keepdims=True) - tie * sums).argmax(axis=1)
    best[:] = np.where(sums[:, 0] > 0, first, -1)


def log_odds(logits: Floats, shares: Doubles, limit: float, out: Floats, threads: int) -> None:
    """Log-odds against class shares, whose logarithms are given, at most ``limit``; 0 in rows that begin with NaN."""
    out[:] = np.clip(np.nan_to_num(log_softmax(logits, axis=1) - shares), -limit, limit)


def mix(odds: Floats, weights: Doubles, shares: Doubles, out: Doubles, threads: int) -> None:
    """Probabilities from the weighted sum of log-odds (E, n, K) and the logarithms of the class shares."""
    logits = shares + np.tensordot(weights, odds, 1)
    np.exp(logits - logits.max(axis=1, keepdims=True), out=out)
    out /= out.sum(axis=1, keepdims=True)


def nearest_rows(
    rows: Singles, squares: Singles, lists: Ints, queries: Singles, probes: Codes | None, nearest: Codes, threads: int
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
    rows: Singles, queries: Singles, candidates: Codes, own: Codes, nearest: Codes, distances: Doubles, threads: int
) -> None:
    """The nearest candidates of each query, by exact differences; never its own row, nor a candidate below 0."""
    nearest[:], distances[:] = -1, np.inf
    for query, x in enumerate(queries.astype(np.float64)):
        seen = candidates[query][(candidates[query] >= 0) & (candidates[query] != own[query])]
        apart = np.sqrt(((rows[seen] - x) ** 2).sum(axis=1))
        order = np.lexsort((seen, apart))[: nearest.shape[1]]
        nearest[query, : len(order)], distances[query, : len(order)] = seen[order], apart[order]
