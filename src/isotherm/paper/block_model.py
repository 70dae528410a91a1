"""The block model of section 4 of the paper: closed-form temperatures, and graphs from its stochastic version."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csr_array

from isotherm.arrays import Doubles, Ints, Mask
from isotherm.graphs import Graph


@dataclass(frozen=True)
class BlockModel:
    """K blocks of nodes with seeds in each, and an edge of weight p or q between any two nodes.

    Nodes are numbered block by block, and the seeds of a block come first.

    Parameters
    ----------
    sizes
        Number of nodes of each block, n_1 ... n_K; at least two blocks.
    seeds
        Number of seeds of each block, s_1 ... s_K, with 1 <= s_k <= n_k.
    p, q
        Weight of an edge inside a block and between two blocks; for `sample` they are probabilities.

    Notes
    -----
    In the appendix of the paper every node has a self-loop of weight p, so its degree is n_k p + (n - n_k) q. A
    self-loop adds the same p T_i to both sides of Laplace's equation at node i, so it does not change temperatures.
    `adjacency` and `sample` leave self-loops out.

    Examples
    --------
    Two blocks of equal size, the first with three times as many seeds. The vanilla rule is wrong on all of the second
    block, although the temperature of the second class is above its mean there.

    >>> model = BlockModel(sizes=(100, 100), seeds=(9, 3), p=0.2, q=0.1)
    >>> model.temperatures().round(3)
    array([[0.756, 0.244],
           [0.733, 0.267]])
    >>> model.mean_temperatures().round(3)
    array([0.744, 0.256])
    >>> model.vanilla_correct()
    array([ True, False])
    """

    sizes: Sequence[int]
    seeds: Sequence[int]
    p: float
    q: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(map(index, self.sizes)))
        object.__setattr__(self, "seeds", tuple(map(index, self.seeds)))
        if len(self.sizes) < 2 or len(self.sizes) != len(self.seeds):
            raise ValueError(
                f"a block model has at least two blocks and a number of seeds for each: "
                f"{len(self.sizes)} sizes and {len(self.seeds)} numbers of seeds were given"
            )
        for block, (size, count) in enumerate(zip(self.sizes, self.seeds, strict=True)):
            if not 1 <= count <= size:
                raise ValueError(f"block {block} has {size} nodes and {count} seeds: 1 <= seeds <= nodes is needed")
        if not (0 <= self.p < np.inf and 0 <= self.q < np.inf and self.p + self.q > 0):
            raise ValueError(f"weights are finite, not negative and not both zero: p={self.p}, q={self.q}")

    @property
    def n_nodes(self) -> int:
        """Number of nodes, n."""
        return sum(self.sizes)

    @property
    def n_blocks(self) -> int:
        """Number of blocks, K."""
        return len(self.sizes)

    def temperatures(self) -> Doubles:
        """Temperatures at equilibrium (Lemma 1).

        Returns
        -------
        (K, K) array
            ``[k, l]`` is the temperature of the non-seed nodes of block k if the seeds of block l are hot and all
            others cold. Rows sum to 1.
        """
        seeds = np.array(self.seeds)
        inflow = np.diag(seeds * (self.p - self.q)) + self.n_nodes * self.mean_temperatures() * self.q  # (K, K)
        return inflow / self._mixed(seeds)[:, None]

    def mean_temperatures(self) -> Doubles:
        """Mean temperature over all nodes, seeds included, in each of the K problems (Lemma 1); they sum to 1."""
        masses = self._masses()
        return np.asarray(masses / masses.sum())

    def vanilla_margin(self) -> Doubles:
        """By how much each block meets the condition of section 4.3; negative where it does not.

        The condition says whether the vanilla rule is right on the non-seed nodes of the block. The margin is its left
        side minus the largest of its K - 1 right sides.
        """
        masses = self._masses()
        bonus = np.array(self.seeds) * (self.p - self.q) * masses.sum() / self.n_nodes
        return np.asarray(self.q * masses + bonus - _largest_other(self.q * masses))

    def vanilla_correct(self) -> Mask:
        """Whether the vanilla rule is right on the non-seed nodes of each block (section 4.3)."""
        return self.vanilla_margin() > 0

    def vanilla_correct_few_seeds(self) -> Mask:
        """The limit of `vanilla_correct` for few seeds, s_k << n_k, in which at most one block is classified right.

        This is the paper's approximation to first order in s_k / n_k, with its strict inequality. Blocks of equal sizes
        and seeds tie in it and count as wrong here; `vanilla_correct` decides them by the next order.
        """
        masses = np.array(self.seeds) * self._mixed(np.array(self.sizes))
        return masses > _largest_other(masses)

    def adjacency(self) -> csr_array:
        """Weighted adjacency matrix without self-loops. It has n x n entries, so use it for small models only."""
        blocks = self.labels()
        weights = np.where(blocks[:, None] == blocks, float(self.p), float(self.q))
        np.fill_diagonal(weights, 0)
        return csr_array(weights)

    def labels(self) -> Ints:
        """Block of each node."""
        return np.repeat(np.arange(self.n_blocks), self.sizes)

    def seed_nodes(self) -> Ints:
        """The seeds in ascending order: the first s_k nodes of each block k."""
        starts = np.cumsum((0, *self.sizes[:-1]))
        return np.concatenate([start + np.arange(count) for start, count in zip(starts, self.seeds, strict=True)])

    def sample(self, rng: np.random.Generator | int | None = None) -> Graph:
        """A graph in which each edge is present with probability p or q: see `stochastic_block_model`."""
        return stochastic_block_model(self.sizes, self.p, self.q, rng)

    def _mixed(self, counts: Ints) -> Doubles:
        """c_k (p-q) + nq without cancellation: the weights to c_k nodes of the own block and n - c_k others."""
        return counts * self.p + (self.n_nodes - counts) * self.q

    def _masses(self) -> Doubles:
        """The mean temperatures up to a common factor: s_k (n_k(p-q) + nq) / (s_k(p-q) + nq).

        They sum to n times the denominator of Lemma 1, 1 - sum of (n_k - s_k) q / (s_k(p-q) + nq). The terms of that
        denominator nearly cancel if seeds are few; the terms here are all positive.
        """
        seeds = np.array(self.seeds)
        return seeds * self._mixed(np.array(self.sizes)) / self._mixed(seeds)


def stochastic_block_model(
    sizes: Sequence[int], p: float | ArrayLike, q: float | None = None, rng: np.random.Generator | int | None = None
) -> Graph:
    """A random graph with independent edges: probability p inside a block and q between two, or a K x K matrix p.

    Nodes are numbered block by block. Time and memory grow with the number of edges, not with the number of pairs.

    >>> stochastic_block_model([2, 3], p=1, q=0).degrees
    array([1., 1., 2., 2., 2.])
    >>> stochastic_block_model([2, 3], [[0, 1], [1, 0]]).degrees
    array([3., 3., 2., 2., 2.])
    """
    rng = np.random.default_rng(rng)
    blocks = np.array([index(size) for size in sizes], dtype=np.int64)
    if blocks.size == 0 or blocks.min() < 0:
        raise ValueError(f"sizes are numbers of nodes, one for each block: {sizes}")
    probabilities = _probabilities(len(blocks), p, q)
    first, second = np.triu_indices(len(blocks))  # (B,) the pairs of blocks
    n_pairs = np.where(first == second, blocks[first] * (blocks[first] - 1) // 2, blocks[first] * blocks[second])
    counts = rng.binomial(n_pairs, probabilities[first, second])
    pair = np.repeat(np.arange(len(counts)), counts)  # (m,) the pair of blocks of each edge
    place = _distinct(n_pairs, counts, rng) - _starts(n_pairs)[pair]
    source, target = _ends(place, first[pair], second[pair], blocks)
    rows, columns = (
        np.concatenate(ends, dtype=np.int32, casting="same_kind") for ends in ((source, target), (target, source))
    )
    entries = coo_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=(blocks.sum(), blocks.sum()))
    return Graph.from_scipy(entries.tocsr())


def _probabilities(n_blocks: int, p: float | ArrayLike, q: float | None) -> Doubles:
    """The K x K matrix of edge probabilities, checked."""
    given = np.asarray(p, dtype=np.float64)
    matrix = given if q is None else np.where(np.eye(n_blocks, dtype=bool), given, float(q))
    outside = matrix[~((matrix >= 0) & (matrix <= 1))]
    if outside.size:
        raise ValueError(f"probabilities lie between 0 and 1, not at {outside[0]}")
    square = given.shape == (n_blocks, n_blocks) and np.array_equal(given, given.T)
    if (q is None and not square) or (q is not None and given.ndim > 0):
        raise ValueError(f"give p and q, or a symmetric {n_blocks} x {n_blocks} matrix of probabilities")
    return matrix


def _distinct(widths: Ints, counts: Ints, rng: np.random.Generator) -> Ints:
    """``counts[b]`` distinct random integers from the b-th of consecutive ranges, in ascending order."""
    starts = _starts(widths)
    dense = counts > widths // 2  # here the integers to leave out are drawn instead
    wanted = np.where(dense, widths - counts, counts)
    drawn = np.empty(0, dtype=np.int64)
    missing = wanted
    while missing.any():  # repeated until there are enough, so every set is equally likely
        draws = rng.integers(np.repeat(widths, missing)) + np.repeat(starts, missing)
        drawn = np.sort(np.concatenate([drawn, np.sort(draws)]), kind="stable")  # a merge of two sorted runs
        drawn = drawn[np.diff(drawn, prepend=-1) > 0]
        missing = wanted - np.diff(np.searchsorted(drawn, np.append(starts, widths.sum())))
    everything = [np.arange(start, start + width) for start, width in zip(starts[dense], widths[dense], strict=True)]
    return np.setxor1d(drawn, np.concatenate(everything), assume_unique=True) if everything else drawn


def _ends(place: Ints, first: Ints, second: Ints, blocks: Ints) -> tuple[Ints, Ints]:
    """The two nodes of each edge, from its blocks and its position among the node pairs of these blocks."""
    inside = first == second
    row, column = np.divmod(place, blocks[second])
    row[inside], column[inside] = _triangle(place[inside])
    starts = _starts(blocks)
    return starts[first] + row, starts[second] + column


def _triangle(place: Ints) -> tuple[Ints, Ints]:
    """The place-th pair (i, j), i < j, in the order (0, 1), (0, 2), (1, 2), (0, 3) ...; exact up to 2^62."""
    j = ((1 + np.sqrt(8.0 * place + 1)) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > place  # rounding of the root is off by one at most
    j += j * (j + 1) // 2 <= place
    return place - j * (j - 1) // 2, j


def _largest_other(values: Doubles) -> Doubles:
    """For each position, the largest value at the other positions."""
    others = np.where(np.eye(len(values), dtype=bool), -np.inf, values)
    return np.asarray(others.max(axis=1))


def _starts(widths: Ints) -> Ints:
    """First integer of each of consecutive ranges of these widths."""
    return np.cumsum(widths) - widths
