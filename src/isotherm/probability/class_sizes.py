"""Known class sizes: probabilities whose means over the nodes are the known shares of the classes.

If the share of a class among the nodes is known, and differs from the mean of its probabilities, then all probabilities
of the class are off in the same direction. So the odds of each class are multiplied by a factor, the same at all nodes,
such that the means match; classes of unknown size share one factor. The logarithms of these factors minimise

    sum over nodes of log(sum over classes of factor times probability)  -  sum over classes of log(factor) times size

where a size is a number of nodes. This is convex, so Newton's method finds the factors, and they are unique up to a
common multiple.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from isotherm.arrays import Doubles, Ints
from isotherm.errors import Option, ParameterError
from isotherm.probability.optimise import Local, fitting_threads, minimum
from isotherm.seeds import Seeds

ROUNDING = 1e-6  # how far the sizes of all classes may be from 1 in sum


def known_sizes(class_sizes: Mapping[Any, float], seeds: Seeds) -> Doubles:
    """(K,) the share of each class among the nodes, NaN where it is unknown.

    Raises `ParameterError` for a label that no seed has, and for shares that do not add up.
    """
    sizes = seeds.numbers("class_sizes", class_sizes, missing=np.nan)
    total, whole = float(np.nansum(sizes)), not np.isnan(sizes).any()
    if whole and abs(total - 1) > ROUNDING:
        message = "{given} has all classes, and its shares add up to {total:g}: make them add up to 1, or leave out one"
        raise ParameterError(message, given=Option("class_sizes"), total=total)
    if not whole and total >= 1:
        message = "the shares in {given} add up to {total:g}, which leaves nothing for other classes: make them smaller"
        raise ParameterError(message, given=Option("class_sizes"), total=total)
    return sizes


def size_factors(chances: Doubles, class_sizes: Mapping[Any, float], seeds: Seeds) -> Doubles:
    """(K,) the factors for the odds of the classes, such that the means of probabilities are the known sizes.

    ``chances`` (n, K) are the probabilities of all nodes, which for held seeds are fixed; zero rows, about which
    nothing is known, do not count.
    """
    group, targets = _groups(known_sizes(class_sizes, seeds))
    held = seeds.held.nodes
    free = np.delete(chances, held, axis=0)
    free = free[free.any(axis=1)]
    fixed = chances[held].sum(axis=0)
    wanted = targets * (len(free) + len(held)) - np.bincount(group, fixed)
    _check_feasible(wanted, targets, group, seeds)
    if not len(free):
        return np.ones(seeds.n_classes)
    merged = np.stack([free[:, group == each].sum(axis=1) for each in range(len(targets))])  # (G, m)
    logs = _log_factors(merged, wanted)
    return np.exp(logs - logs.mean())[group]


def resized(chances: Doubles, factors: Doubles | None) -> Doubles:
    """Probabilities (n, K) with the odds of the classes multiplied by factors (K,); zero rows stay.

    >>> resized(np.array([[0.5, 0.5], [0.8, 0.2], [0.0, 0.0]]), np.array([1.0, 4.0]))
    array([[0.2, 0.8],
           [0.5, 0.5],
           [0. , 0. ]])
    """
    if factors is None:
        return chances
    found = chances * factors
    total = np.einsum("nk->n", found)[:, None]
    return np.divide(found, total, out=found, where=total > 0)


def _groups(sizes: Doubles) -> tuple[Ints, Doubles]:
    """The group of each class, and the share of each group: classes of unknown size are one group."""
    known = ~np.isnan(sizes)
    group = np.where(known, np.cumsum(known) - 1, np.count_nonzero(known))
    targets = sizes[known] if known.all() else np.append(sizes[known], 1 - sizes[known].sum())
    return group, targets / targets.sum()


def _check_feasible(wanted: Doubles, targets: Doubles, group: Ints, seeds: Seeds) -> None:
    """Refuse sizes that the seeds contradict: more of them have the class than may."""
    for each in np.flatnonzero(wanted < 0).tolist():
        label = seeds.classes[np.flatnonzero(group == each)[0]]
        message = "by {given}, {share:.3g} of the nodes have the class {label!r}, but more are seeds of it: correct it"
        raise ParameterError(message, given=Option("class_sizes"), share=targets[each], label=label)


def _log_factors(chances: Doubles, wanted: Doubles) -> Doubles:
    """(G,) logarithms of the factors, given probabilities (G, m) and the wanted sums (G,) of each row."""

    def loss(x: Doubles) -> Local:
        powers = chances * np.exp(x - x.max())[:, None]
        sums = powers.sum(axis=0)
        found = powers / sums
        value = float(np.log(sums).sum() + len(sums) * x.max() - wanted @ x)

        def curve(step: Doubles) -> Doubles:
            return np.asarray(found.sum(axis=1) * step - found @ (step @ found))

        return Local(value, found.sum(axis=1) - wanted, curve)

    with fitting_threads():
        return minimum(loss, np.zeros(len(wanted)))
