"""Seeds: the nodes whose labels are known, and policies to draw them."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isotherm.labels import Ints, Labels, decode_labels, encode_labels

if TYPE_CHECKING:
    from isotherm.graph import Graph

__all__ = [
    "RareClassWarning",
    "Seeds",
    "check_classes",
    "sample",
    "sample_balanced",
    "sample_degree",
    "sample_dominant",
    "sample_uniform",
]

Floats: TypeAlias = NDArray[np.float64]


class RareClassWarning(UserWarning):
    """Some classes have a single seed, others have more."""


@dataclass(frozen=True, eq=False)
class Seeds:
    """Known labels: which nodes, and the class of each.

    Attributes
    ----------
    nodes
        (s,) positions of the seeds in the graph, ascending.
    codes
        (s,) class number of each seed: the place of its label in `classes`.
    classes
        (K,) sorted labels that have a seed, int64 or object (str); at least two.
    distribution
        (s, K) probabilities of the classes of each seed, where some have several; the code of a seed is then that of
        its most probable class.
    weights
        (s,) how far each seed is trusted: positive, infinite for a seed that is held at its temperature. None if all
        are; see `isotherm.soft_seeds`.
    """

    nodes: Ints
    codes: Ints
    classes: Labels
    distribution: csr_array | None = None
    weights: Floats | None = None

    @classmethod
    def from_labels(cls, labels: Mapping[Any, Any] | Iterable[Any], graph: "Graph") -> "Seeds":
        """Read the seeds of a graph from a mapping or an array.

        Parameters
        ----------
        labels
            ``{node: label}``, or one label for each node in the order of ``graph.nodes``: an array, a list, a
            polars Series or a pandas Series (taken by position, whatever its index). For a graph made from a
            biadjacency matrix, as many labels as the matrix has rows label the rows only. `encode_labels` says
            what is a label and what is unknown.
        graph
            The graph of these nodes.

        Raises
        ------
        ValueError
            If there are no seeds, if all have the same label, if the number of labels does not fit the graph, or
            if a seed is not in the graph.
        TypeError
            If labels are neither int nor str, or some are int and others str.
        """
        if isinstance(labels, Mapping):
            codes, classes = encode_labels(list(labels.values()))
            known = np.flatnonzero(codes >= 0)
            nodes = _positions(list(labels), known, graph)
        else:
            codes, classes = encode_labels(labels)
            _check_length(len(codes), graph)
            nodes = known = np.flatnonzero(codes >= 0)
        check_classes(classes, len(known))
        order = np.argsort(nodes)
        return cls(nodes[order], codes[known][order], classes)

    def take(self, places: NDArray[Any]) -> Self:
        """Some of the seeds, by their places or by a mask; all classes stay."""
        return replace(
            self,
            nodes=self.nodes[places],
            codes=self.codes[places],
            distribution=None if self.distribution is None else self.distribution[places],
            weights=None if self.weights is None else self.weights[places],
        )

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self.classes)

    @property
    def counts(self) -> Ints:
        """(K,) number of seeds of each class, or of which it is the most probable one."""
        return np.bincount(self.codes, minlength=self.n_classes)

    @property
    def trust(self) -> Floats:
        """(s,) with what probability a random walk that comes to each seed ends there: ``w / (1 + w)``."""
        return np.ones(len(self.nodes)) if self.weights is None else 1 / (1 + 1 / self.weights)

    @property
    def shares(self) -> Floats:
        """(K,) share of each class among the seeds, each counted as far as it is trusted."""
        return self.by_class(self.trust) / self.trust.sum()

    @property
    def certainty(self) -> Floats:
        """(s,) probability of the most probable class of each seed."""
        return np.ones(len(self.nodes)) if self.distribution is None else self.distribution.max(axis=1).toarray()

    @property
    def held(self) -> NDArray[np.bool_]:
        """(s,) whether each seed is held at its temperature."""
        return np.ones(len(self.nodes), bool) if self.weights is None else np.isinf(self.weights)

    @property
    def unknown(self) -> int | None:
        """What stands for an unknown label among labels of this type: -1 for int, None for str."""
        return None if self.classes.dtype == object else -1

    def values(self, columns: slice = slice(None)) -> Floats:
        """(s, K) temperatures of the boundary, or some columns: 1 in the column of the seed's class, 0 elsewhere.

        Where a seed has several classes, their probabilities.
        """
        if self.distribution is not None:
            return self.distribution[:, columns].toarray()
        return (self.codes[:, None] == np.arange(self.n_classes)[columns]).astype(np.float64)

    def by_class(self, amounts: Floats) -> Floats:
        """(K,) sums over the seeds of amounts (s,) that each hands on to its classes."""
        if self.distribution is None:
            return np.bincount(self.codes, amounts, minlength=self.n_classes).astype(np.float64, copy=False)
        return np.asarray(amounts @ self.distribution)

    def names(self, places: Ints) -> Labels:
        """The labels of some seeds."""
        return self.decode(self.codes[places])

    def decode(self, codes: Ints) -> Labels:
        """Labels of these class numbers; -1 becomes `unknown`."""
        return decode_labels(codes, self.classes)

    def warn_about_rare(self, *, stacklevel: int = 3) -> None:
        """Warn, once for all of them, about classes that have a single seed where others have more."""
        counts = self.counts if self.distribution is None else np.diff(self.distribution.tocsc().indptr)
        rare = self.classes[counts == 1].tolist()
        if rare and len(rare) < self.n_classes:
            names = ", ".join(map(repr, rare[:3])) + (", ..." if len(rare) > 3 else "")
            subject = f"the class {names} has" if len(rare) == 1 else f"{len(rare)} classes ({names}) have"
            warnings.warn(f"{subject} a single seed", RareClassWarning, stacklevel=stacklevel)


def _positions(ids: list[Any], known: Ints, graph: "Graph") -> Ints:
    """Positions in the graph of those ids whose label is known."""
    try:
        return graph.index([ids[place] for place in known.tolist()])
    except ValueError as error:
        raise ValueError(f"in the seeds, {error}") from None


def _check_length(length: int, graph: "Graph") -> None:
    if length not in (graph.n_nodes, graph.n_rows):
        rows = "" if graph.n_rows is None else f" ({graph.n_rows} of them rows)"
        raise ValueError(f"there are {length} labels, but the graph has {graph.n_nodes} nodes{rows}")


def check_classes(classes: Labels, n_seeds: int) -> None:
    """Refuse seeds of fewer than two classes."""
    if n_seeds == 0:
        raise ValueError("there are no seeds: label some nodes of at least two classes")
    if len(classes) == 1:
        subject = "the only seed has" if n_seeds == 1 else f"all {n_seeds} seeds have"
        raise ValueError(
            f"{subject} the label {classes.tolist()[0]!r}: one class is not enough, at least two are needed"
        )


def sample(
    policy: str,
    labels: Ints,
    size: float,
    rng: np.random.Generator,
    *,
    degrees: Floats | None = None,
    ratio: float = 1,
) -> Ints:
    """Draw seeds by a policy of the paper's experiments.

    Parameters
    ----------
    policy
        "uniform", "degree", "balanced" or "dominant": see `sample_uniform` and the other three.
    labels
        (n,) class number of each node, -1 where the label is unknown; such nodes are never drawn.
    size
        How many: a float in (0, 1] is a share of the labelled nodes (rounded, at least one), an int a number.
    rng
        Source of randomness.
    degrees, ratio
        What "degree" and "dominant" need besides.

    Returns
    -------
    (s,) array
        Positions of the seeds, ascending.
    """
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
    """Uniformly at random: all sets of so many labelled nodes are equally likely."""
    known = np.flatnonzero(labels >= 0)
    return np.sort(rng.permutation(known)[: _count(size, len(known))])


def sample_degree(labels: Ints, size: float, rng: np.random.Generator, *, degrees: Floats) -> Ints:
    """In proportion to degrees: one after another, each from the nodes that remain; never one of degree 0.

    Independent exponential clocks with the degrees as rates ring in such an order.
    """
    known = np.flatnonzero(labels >= 0)
    rates = degrees[known]
    count = _count(size, len(known))
    if count > np.count_nonzero(rates):
        raise ValueError(f"{count} seeds cannot be drawn: {np.count_nonzero(rates)} labelled nodes have edges")
    rings = np.full(len(known), np.inf)
    np.divide(rng.exponential(size=len(known)), rates, out=rings, where=rates > 0)
    return np.sort(known[np.argsort(rings)[:count]])


def sample_balanced(labels: Ints, size: float, rng: np.random.Generator) -> Ints:
    """In proportion to the labels: each class has its share of the seeds, drawn uniformly inside the class.

    Shares are rounded by largest remainder, the first class having it where remainders tie. A class whose share
    is rounded to nothing still has one seed, on top of the number asked for.
    """
    known = np.flatnonzero(labels >= 0)
    count = _count(size, len(known))
    order = rng.permutation(known)
    by_class = order[np.argsort(labels[order], kind="stable")]
    _, sizes = np.unique(labels[known], return_counts=True)
    rank = np.arange(len(known)) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # of a node inside its class
    shares = np.maximum(_largest_remainder(sizes, count), 1)
    return np.sort(by_class[rank < np.repeat(shares, sizes)])


def sample_dominant(labels: Ints, size: float, rng: np.random.Generator, *, ratio: float) -> Ints:
    """Uniformly at random, then more of the dominant class until it has `ratio` times as many seeds (figure 4).

    The dominant class is the largest, the first where sizes tie. From the same state of `rng` the draws are
    nested: a larger ratio only adds seeds.
    """
    order = rng.permutation(np.flatnonzero(labels >= 0))
    seeds = order[: _count(size, len(order))]
    classes, sizes = np.unique(labels[order], return_counts=True)
    dominant = order[labels[order] == classes[np.argmax(sizes)]]
    wanted = ratio * np.isin(dominant, seeds).sum()
    if not (ratio >= 1 and wanted <= len(dominant)):
        raise ValueError(f"ratio={ratio} is below 1 or asks for {wanted:g} seeds of a class of {len(dominant)}")
    return np.union1d(seeds, dominant[: round(wanted)])


def _count(size: float, n_labelled: int) -> int:
    """Number of seeds to draw."""
    if isinstance(size, Integral):
        if not 1 <= size <= n_labelled:
            raise ValueError(f"{size} seeds cannot be drawn from {n_labelled} labelled nodes")
        return int(size)
    if not 0 < size <= 1:
        raise ValueError(f"a fraction of the labelled nodes is above 0 and at most 1, not {size}")
    if n_labelled == 0:
        raise ValueError("seeds cannot be drawn: no node is labelled")
    return max(1, round(size * n_labelled))


def _largest_remainder(sizes: Ints, count: int) -> Ints:
    """Integers in proportion to the sizes, with this sum."""
    shares, remainders = np.divmod(sizes * count, sizes.sum())
    shares[np.argsort(-remainders, kind="stable")[: count - shares.sum()]] += 1
    return shares
