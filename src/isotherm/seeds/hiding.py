"""Draw some of the known labels as seeds, deal known labels to folds, and hide labels.

Labels are class numbers here, -1 where unknown; unknown labels are never drawn. `sample` and its siblings return
positions of seeds, ascending. The size of a sample is a count if it is an int. If it is a float in (0, 1], it is a
share of the known labels, rounded, at least one label. `deal` says which labels are hidden together, and `show` and
`hide` make the labels that a classifier may see. To hide each label once::

    for hidden in deal(codes, rng.permutation(hideable(codes)), folds=5):
        visible = hide(codes, hidden)

`Seeds.without` hides seeds in the same way.
"""

from numbers import Integral

import numpy as np

from isotherm.arrays import Doubles, Ints
from isotherm.seeds.known import Seeds


def codes_of_nodes(seeds: Seeds, n_nodes: int) -> Ints:
    """(n,) class number of each node, -1 for nodes that are not seeds."""
    codes = np.full(n_nodes, -1, dtype=np.int64)
    codes[seeds.nodes] = seeds.codes
    return codes


def show(codes: Ints, places: Ints) -> Ints:
    """The class numbers at these places, and -1 elsewhere.

    >>> show(np.array([0, 1, 1]), np.array([2]))
    array([-1, -1,  1])
    """
    shown = np.full(len(codes), -1, dtype=np.int64)
    shown[places] = codes[places]
    return shown


def hide(codes: Ints, places: Ints) -> Ints:
    """The class numbers, with -1 at these places.

    >>> hide(np.array([0, 1, 1]), np.array([2]))
    array([ 0,  1, -1])
    """
    visible = codes.copy()
    visible[places] = -1
    return visible


def hideable(codes: Ints) -> Ints:
    """Positions of the labels that may be hidden, ascending: the only label of a class must stay visible.

    >>> hideable(np.array([0, 1, -1, 0]))
    array([0, 3])
    """
    known = np.flatnonzero(codes >= 0)
    return known[np.bincount(codes[known])[codes[known]] > 1]


def deal(codes: Ints, order: Ints, folds: int, *, by_class: bool = True) -> list[Ints]:
    """Deal the labels at these positions to at most ``folds`` folds in turn; positions ascend in each fold.

    With ``by_class``, class after class is dealt, so that no fold has all labels of a class of two or more.

    >>> deal(np.array([0, 1, 0, 1, 0]), np.array([4, 3, 2, 1, 0]), folds=2)
    [array([0, 1, 4]), array([2, 3])]
    """
    if by_class:
        order = order[np.argsort(codes[order], kind="stable")]
    return [np.sort(order[first::folds]) for first in range(min(folds, len(order)))]


def sample(
    policy: str,
    labels: Ints,
    size: float,
    rng: np.random.Generator,
    *,
    degrees: Doubles | None = None,
    ratio: float = 1,
) -> Ints:
    """Draw seeds by a policy of the paper's experiments: uniform, degree, balanced or dominant."""
    match policy:
        case "uniform":
            return sample_uniform(labels, size, rng)
        case "degree" if degrees is not None:
            return sample_degree(labels, size, rng, degrees=degrees)
        case "degree":
            raise ValueError("the policy 'degree' needs the degrees of the nodes")
        case "balanced":
            return sample_balanced(labels, size, rng)
        case "dominant":
            return sample_dominant(labels, size, rng, ratio=ratio)
    raise ValueError(f"there is no policy {policy!r}: choose uniform, degree, balanced or dominant")


def sample_uniform(labels: Ints, size: float, rng: np.random.Generator) -> Ints:
    """Uniformly at random, without replacement."""
    known = np.flatnonzero(labels >= 0)
    return np.sort(rng.permutation(known)[: _seed_count(size, len(known))])


def sample_degree(labels: Ints, size: float, rng: np.random.Generator, *, degrees: Doubles) -> Ints:
    """In proportion to degrees, without replacement; nodes of degree 0 are never drawn.

    Give each node an exponential waiting time whose rate is its degree. The first nodes in order of waiting time are
    such a sample.
    """
    known = np.flatnonzero(labels >= 0)
    rates = degrees[known]
    count = _seed_count(size, len(known))
    if count > np.count_nonzero(rates):
        raise ValueError(f"{count} seeds cannot be drawn: only {np.count_nonzero(rates)} labelled nodes have edges")
    waiting = np.full(len(known), np.inf)
    np.divide(rng.exponential(size=len(known)), rates, out=waiting, where=rates > 0)
    return np.sort(known[np.argsort(waiting)[:count]])


def sample_balanced(labels: Ints, size: float, rng: np.random.Generator) -> Ints:
    """In proportion to the labels: each class has its share of the seeds, drawn uniformly within the class.

    Shares are rounded by the largest-remainder method; ties go to the first class. A class whose share is rounded to 0
    still gets one seed, in addition to the requested number.
    """
    known = np.flatnonzero(labels >= 0)
    count = _seed_count(size, len(known))
    order = rng.permutation(known)
    by_class = order[np.argsort(labels[order], kind="stable")]
    _, sizes = np.unique(labels[known], return_counts=True)
    rank = np.arange(len(known)) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # index of a node within its class
    shares = np.maximum(_largest_remainder(sizes, count), 1)
    return np.sort(by_class[rank < np.repeat(shares, sizes)])


def sample_two_classes(labels: Ints, size: float, rng: np.random.Generator) -> Ints:
    """Uniformly at random; if all these seeds have one class, more are drawn until there is a second class."""
    order = rng.permutation(np.flatnonzero(labels >= 0))
    other = int(np.argmax(labels[order] != labels[order[0]]))  # the first label of another class
    return np.sort(order[: max(_seed_count(size, len(order)), other + 1)])


def sample_per_class(labels: Ints, size: float, rng: np.random.Generator) -> Ints:
    """The same number of seeds of each class, or the same share.

    An int is a number of seeds; if a class has no more labels than that, one of them is left out. A float is a share of
    the labels of the class, rounded. At least one seed of each class is drawn.
    """
    seeds = []
    for code in range(labels.max() + 1):
        members = rng.permutation(np.flatnonzero(labels == code))
        wanted = size * len(members)
        if isinstance(size, Integral):
            wanted = min(size, len(members) - 1)
        seeds.append(members[: max(1, round(wanted))])
    return np.sort(np.concatenate(seeds))


def sample_dominant(labels: Ints, size: float, rng: np.random.Generator, *, ratio: float) -> Ints:
    """Uniformly at random; then add seeds of the dominant class until it has `ratio` times as many (figure 4).

    The dominant class is the largest; ties go to the first. Draws from the same state of `rng` are nested: a larger
    ratio only adds seeds.
    """
    order = rng.permutation(np.flatnonzero(labels >= 0))
    seeds = order[: _seed_count(size, len(order))]
    classes, sizes = np.unique(labels[order], return_counts=True)
    dominant = order[labels[order] == classes[np.argmax(sizes)]]
    wanted = ratio * np.isin(dominant, seeds).sum()
    if not (ratio >= 1 and wanted <= len(dominant)):
        raise ValueError(f"ratio={ratio} is below 1 or asks for {wanted:g} seeds of a class of {len(dominant)} nodes")
    return np.union1d(seeds, dominant[: round(wanted)])


def _seed_count(size: float, n_labelled: int) -> int:
    if isinstance(size, Integral):
        if not 1 <= size <= n_labelled:
            raise ValueError(f"{size} seeds cannot be drawn from {n_labelled} labelled nodes")
        return int(size)
    if not 0 < size <= 1:
        raise ValueError(f"a fraction of the labelled nodes must be above 0 and at most 1, not {size}")
    if n_labelled == 0:
        raise ValueError("seeds cannot be drawn: no node is labelled")
    return max(1, round(size * n_labelled))


def _largest_remainder(sizes: Ints, count: int) -> Ints:
    """Integers that sum to `count`, in proportion to the sizes."""
    shares, remainders = np.divmod(sizes * count, sizes.sum())
    shares[np.argsort(-remainders, kind="stable")[: count - shares.sum()]] += 1
    return shares
