"""The combination of experts by hidden seeds.

The logit of a class is the log of its share among the seeds, plus the weighted sum of each expert's log-odds against
that share. (A plain product of probabilities would count the shares several times.) The weights, from 0 to 3, maximise
the likelihood of the classes of hidden seeds; with few hidden seeds, a ridge penalty keeps them near their prior.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from scipy.special import softmax

from isotherm import kernels
from isotherm.arrays import Doubles, Floats, Ints
from isotherm.probability.evidence import Evidence
from isotherm.probability.experts.expert import LEAST
from isotherm.probability.optimise import Local, bounded_minimum

PRIOR_WEIGHT, RIDGE = 0.5, 12.0  # penalty on (weight - prior)^2
PRIOR_WEIGHTS = {"degree": 0.25, "features": 0.25}  # experts that overlap with stronger ones
BESIDE_FEATURES = {"spectrum": 0.0, "degree": 0.0, "trees": 0.0}  # these have to earn their weight there
BLIND = {  # weights where no seed can be hidden
    **{"heat": 0.5, "majority": 1.0},
    **dict.fromkeys(("spectrum", "degree", "compatibility"), 0.0),
}
MOST_WEIGHT = 3.0
LARGEST = 8.0  # log-odds are clipped, so that no expert is certain

Odds: TypeAlias = Floats | Sequence[Floats]  # (E, n, K) log-odds of each expert
Blends: TypeAlias = dict[str, Doubles]  # by the name of an expert: the weight of each of its penalties


@dataclass(frozen=True, eq=False)
class Combination:
    """How much each expert counts."""

    names: tuple[str, ...]  # the experts; the first is the heat
    weights: Doubles  # the weight of the log-odds of each
    shares: Doubles  # share of each class among the seeds
    first: Doubles | None = None  # weights in the first round, where a second one follows
    blends: Blends = field(default_factory=dict)  # how much each penalty counts in regressions

    @property
    def by_name(self) -> dict[str, float]:
        """The weight of each expert."""
        return dict(zip(self.names, self.weights.tolist(), strict=True))

    def probabilities(self, odds: Odds) -> Doubles:
        """(n, K) probabilities, from the log-odds (n, K) of each expert."""
        stack = odds if isinstance(odds, np.ndarray) else np.stack(odds)
        found = np.empty(stack.shape[1:])
        kernels.active.mix(stack, self.weights, np.log(self.shares), found, kernels.thread_count())
        return found


def logits(weights: Doubles, odds: Iterable[Floats], shares: Doubles) -> Doubles:
    """(n, K) logits, from the log-odds (n, K) of experts and their weights."""
    return np.log(shares) + sum(weight * each for weight, each in zip(weights, odds, strict=True))


def log_odds(logits: Floats, shares: Doubles) -> Floats:
    """Log-odds (n, K) against the shares of the classes; 0 where an expert has no opinion (NaN)."""
    odds = np.empty(logits.shape, logits.dtype)
    threads = kernels.thread_count()
    kernels.active.log_odds(np.ascontiguousarray(logits), np.log(shares), LARGEST, odds, threads)
    return odds


def odds_of(probabilities: Floats, shares: Doubles) -> Floats:
    """Log-odds (n, K) of probabilities, in single precision; 0 for a row of zeros, where nothing is known."""
    odds = np.empty(probabilities.shape, np.float32)
    threads = kernels.thread_count()
    kernels.active.odds_of(np.ascontiguousarray(probabilities), np.log(shares), LEAST, LARGEST, odds, threads)
    return odds


def prior_weights(names: tuple[str, ...], evidence: Evidence, *, blind: bool) -> Doubles:
    """(E,) the weights of experts before any seed is hidden; ``blind`` if none can be hidden.

    If heat alone counts then, its probabilities are taken as they are.
    """
    prior = PRIOR_WEIGHTS | (BESIDE_FEATURES if evidence.features is not None else {}) | dict(evidence.prior)
    if blind and evidence.clustered:
        prior = dict.fromkeys(names, 0.0)
    weights = np.array([((prior | BLIND) if blind else prior).get(name, PRIOR_WEIGHT) for name in names])
    if not weights[1:].any():
        weights[0] = 1
    return weights


def combine(
    names: tuple[str, ...],
    odds: Sequence[Floats],
    codes: Ints,
    shares: Doubles,
    prior: Doubles,
    start: Doubles | None = None,
) -> Combination:
    """Find the weights of experts, given their log-odds (h, K) for hidden seeds, and the classes of these.

    ``prior`` (E,) are the weights to stay near. ``start`` are weights that are about right, for a quicker search.
    """
    stack, rows, base = np.stack(odds, dtype=np.float64), np.arange(len(codes)), np.log(shares)
    flat, own = stack.reshape(len(stack), -1), stack[:, rows, codes].sum(axis=1)

    def loss(weights: Doubles) -> Local:
        found, off = softmax(base + (weights @ flat).reshape(stack[0].shape), axis=1), weights - prior
        value = -np.log(np.maximum(found[rows, codes], 1e-300)).sum() + RIDGE / 2 * off @ off
        weighted = stack * found
        means = weighted.sum(axis=2)  # (E, h)
        curvature = weighted.reshape(len(weights), -1) @ flat.T - means @ means.T + RIDGE * np.eye(len(weights))
        return Local(float(value), means.sum(axis=1) - own + RIDGE * off, curvature.__matmul__)

    return Combination(names, bounded_minimum(loss, prior if start is None else start, 0.0, MOST_WEIGHT), shares)
